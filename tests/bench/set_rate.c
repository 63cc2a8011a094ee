/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_rate: how fast an OpenSM writes LFT blocks, by itself.
 *
 *   set_rate FILE SECONDS
 *
 * FILE is that of its UMAD_COUNT (tests/lab/umad_timeouts.c).  Waits at most so many seconds for
 * the first Set(LinearForwardingTable), then until none came for QUIET_MS, and prints how many
 * there were, the seconds from the first to the last and what that is per second.  Nothing is read
 * back.  Exit code 1: there were none, or too few to tell.
 */
#include "fabric/base/time/clock.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ATTRIBUTES 256
#define ATTR_LFT   0x19
#define LOOK_US	   100
#define QUIET_MS   500
#define LEAST	   100

static const volatile uint64_t *counts_of(const char *path)
{
	size_t bytes = ATTRIBUTES * sizeof(uint64_t);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return NULL;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

struct burst {
	uint64_t from, n, first_ns, last_ns;
};

/* The first that is seen is the beginning: what was sent before the look does not count. */
static void watch(struct burst *b, const volatile uint64_t *lft, uint64_t wait_ns)
{
	uint64_t start = clock_ns(), before = *lft, seen = before, now = start;

	*b = (struct burst){ 0 };
	while (b->first_ns ? now - b->last_ns < QUIET_MS * 1000000ull : now - start < wait_ns) {
		clock_rest_us(LOOK_US);
		seen = *lft;
		now = clock_ns();
		if (seen == before)
			continue;
		if (!b->first_ns) {
			b->first_ns = now;
			b->from = seen;
		}
		b->last_ns = now;
		b->n = seen - b->from;
		before = seen;
	}
}

int main(int argc, char **argv)
{
	const volatile uint64_t *counts = argc > 2 ? counts_of(argv[1]) : NULL;
	struct burst b;
	double s;

	if (!counts) {
		fprintf(stderr, "set_rate FILE SECONDS\n");
		return 64;
	}
	watch(&b, &counts[ATTR_LFT], strtoull(argv[2], NULL, 10) * 1000000000ull);
	s = (double)(b.last_ns - b.first_ns) / 1e9;
	if (b.n < LEAST || s <= 0)
		return 1;
	printf("%lu %.4f %.0f\n", (unsigned long)b.n, s, (double)b.n / s);
	return 0;
}
