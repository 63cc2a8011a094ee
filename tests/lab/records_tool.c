/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_tool: asks the SA for path records a thousand times a second at most, until SIGTERM, for failover.sh.
 *
 *   records_tool SLID DLID...
 *
 * One line for each answer: microseconds of CLOCK_MONOTONIC, the milliseconds that it took, its
 * status; -1: none came in a second.  Knows nothing of our program.
 */
#include <infiniband/umad.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAD_BYTES 256
#define SA_CLASS  3
#define PATH_RECORD 0x35
#define WAIT_MS	  1000
/* where they are in a MAD of the SA */
#define AT_MASK	  48
#define AT_RECORD 56
#define AT_DLID	  (AT_RECORD + 40)
#define AT_SLID	  (AT_RECORD + 42)
#define AT_PATHS  (AT_RECORD + 51)
#define MASK	  (1u << 4 | 1u << 5 | 1u << 12) /* DLID, SLID, number of paths */

static volatile sig_atomic_t ends;

static void end(int sig)
{
	(void)sig;
	ends = 1;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void make_request(uint8_t *mad, unsigned slid, unsigned dlid, uint32_t serial)
{
	memset(mad, 0, MAD_BYTES);
	mad[0] = 1;
	mad[1] = SA_CLASS;
	mad[2] = 2;
	mad[3] = 1; /* Get */
	put16(mad + 12, serial >> 16);
	put16(mad + 14, serial & 0xffff);
	put16(mad + 16, PATH_RECORD);
	put16(mad + AT_MASK + 4, MASK >> 16);
	put16(mad + AT_MASK + 6, MASK & 0xffff);
	put16(mad + AT_DLID, dlid);
	put16(mad + AT_SLID, slid);
	mad[AT_PATHS] = 1;
}

/* Its status; -1: there is none. */
static int ask(int port, int agent, unsigned sm, unsigned slid, unsigned dlid, uint32_t serial)
{
	uint8_t umad[4096] = { 0 }, *mad = umad_get_mad(umad);
	int len = MAD_BYTES;

	make_request(mad, slid, dlid, serial);
	umad_set_addr(umad, (int)sm, 1, 0, 0x80010000);
	if (umad_send(port, agent, umad, MAD_BYTES, WAIT_MS, 0) < 0)
		return -1;
	for (uint64_t until = now_us() + 1000ull * WAIT_MS; now_us() < until && !ends;) {
		if (umad_recv(port, umad, &len, 50) < 0 || umad_status(umad)) {
			len = MAD_BYTES;
			continue;
		}
		if (mad[3] == 0x81 && mad[14] == (uint8_t)(serial >> 8) && mad[15] == (uint8_t)serial)
			return mad[4] << 8 | mad[5];
	}
	return -1;
}

int main(int argc, char **argv)
{
	int port, agent;
	umad_port_t info;

	if (argc < 3 || umad_init() < 0)
		return 2;
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1 : umad_register(port, SA_CLASS, 2, 0, NULL);
	if (agent < 0 || umad_get_port(NULL, 0, &info))
		return 1;
	signal(SIGTERM, end);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (uint32_t i = 0; !ends; i++) {
		unsigned dlid = (unsigned)strtoul(argv[2 + i % (unsigned)(argc - 2)], NULL, 0);
		uint64_t begin = now_us();
		int status = ask(port, agent, info.sm_lid, (unsigned)strtoul(argv[1], NULL, 0),
				 dlid, i + 1);

		if (!ends)
			usleep(1000);
		if (!ends)
			printf("%llu %.3f %d\n", (unsigned long long)now_us(),
			       (double)(now_us() - begin) / 1000, status);
	}
	return 0;
}
