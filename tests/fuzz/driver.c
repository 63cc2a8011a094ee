/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * driver: a fuzzer without libFuzzer, for a short look with any compiler.
 *
 *	fuzz_NAME [RUNS [SEED]]		the seeds, then RUNS inputs made from them by chance
 *	fuzz_NAME -f FILE...		these inputs
 *
 * The input under test stands in $FUZZ_LAST while it runs, if that is set.
 */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROOM 4096 /* that an input may grow by */

struct seed {
	uint8_t *data;
	size_t len;
};

static VEC(struct seed) seeds;

static void save(const char *path, const uint8_t *data, size_t len)
{
	FILE *f = fopen(path, "we");

	if (f) {
		fwrite(data, 1, len, f);
		fclose(f);
	}
}

static void run(const uint8_t *data, size_t len)
{
	const char *last = getenv("FUZZ_LAST");
	uint8_t *copy = fuzz_copy(data, len);

	if (last)
		save(last, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "re");
	uint8_t *data = xcalloc(1 << 24, 1);
	size_t len;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(data);
		return 1;
	}
	len = fread(data, 1, 1 << 24, f);
	fclose(f);
	run(data, len);
	free(data);
	return 0;
}

/* A part of any seed over or between what is there. */
static size_t splice(uint8_t *data, size_t len, size_t room, struct rng *r)
{
	const struct seed *s = &seeds.v[rng_below(r, seeds.n)];
	size_t from = s->len ? rng_below(r, s->len) : 0;
	size_t n = s->len ? 1 + rng_below(r, s->len - from) : 0, at = rng_below(r, len + 1);

	if (rng_below(r, 2)) { /* between */
		if (n > room - len)
			n = room - len;
		memmove(data + at + n, data + at, len - at);
		len += n;
	} else if (n > len - at) {
		n = len - at;
	}
	if (n)
		memcpy(data + at, s->data + from, n);
	return len;
}

static size_t cut(uint8_t *data, size_t len, struct rng *r)
{
	size_t at = rng_below(r, len), n = 1 + rng_below(r, len - at);

	if (rng_below(r, 4))
		n = n > 8 ? 1 + n % 8 : n;
	memmove(data + at, data + at + n, len - at - n);
	return len - n;
}

static void change(uint8_t *data, size_t len, struct rng *r)
{
	static const uint8_t telling[] = { 0, 1, 0x7f, 0x80, 0xff, ' ', '\n', '"', '0', '-', '/' };
	size_t at = rng_below(r, len), n = 1;

	switch (rng_below(r, 5)) {
	case 0:
		data[at] ^= (uint8_t)(1u << rng_below(r, 8));
		return;
	case 1:
		data[at] = (uint8_t)rng_u64(r);
		return;
	case 2:
		data[at] = (uint8_t)(data[at] + 1 - 2 * (int)rng_below(r, 2));
		return;
	case 3:
		data[at] = telling[rng_below(r, sizeof(telling))];
		return;
	default: /* a number of some bytes, all bits set or none */
		n += rng_below(r, 8);
		memset(data + at, rng_below(r, 2) ? 0xff : 0, n > len - at ? len - at : n);
	}
}

static void run_changed(struct rng *r)
{
	const struct seed *s = &seeds.v[rng_below(r, seeds.n)];
	size_t len = s->len, room = len + ROOM;
	uint8_t *data = xcalloc(room, 1);

	memcpy(data, s->data, len);
	for (uint64_t n = 1 + rng_below(r, 4); n; n--) {
		switch (rng_below(r, 6)) {
		case 0:
			len = splice(data, len, room, r);
			break;
		case 1:
			len = len ? cut(data, len, r) : 0;
			break;
		default:
			if (len)
				change(data, len, r);
		}
	}
	run(data, len);
	free(data);
}

int main(int argc, char **argv)
{
	uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	struct seed s;
	struct rng r;
	int rc = 0;

	LLVMFuzzerInitialize(&argc, &argv);
	if (argc > 1 && !strcmp(argv[1], "-f")) {
		for (int i = 2; i < argc; i++)
			rc |= run_file(argv[i]);
		return rc;
	}
	for (unsigned i = 0; fuzz_seed(&s.data, &s.len, i); i++)
		vec_push(&seeds, s);
	if (!seeds.n) {
		fprintf(stderr, "%s: without seeds\n", argv[0]);
		return 1;
	}
	for (size_t i = 0; i < seeds.n; i++)
		run(seeds.v[i].data, seeds.v[i].len);
	rng_seed(&r, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
	for (uint64_t i = 0; i < runs; i++)
		run_changed(&r);
	printf("%zu seeds and %" PRIu64 " inputs made from them: nothing found\n", seeds.n, runs);
	for (size_t i = 0; i < seeds.n; i++)
		free(seeds.v[i].data);
	vec_free(&seeds);
	return 0;
}
