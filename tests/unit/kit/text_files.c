/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/text_files.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct tables *random_tables(const struct fabric *f, uint64_t seed)
{
	struct tables *t = tables_new(f, "file");
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (f->lid_end[lid] != FAB_NONE)
				tables_row(t, sw)[lid] =
					(uint8_t)(rng_below(&r, f->sw_nports[sw]) + 1);
	return t;
}

FILE *text_file(const char *text, size_t len)
{
	FILE *f = len ? fmemopen((void *)text, len, "r") : fopen("/dev/null", "r");

	assert_non_null(f);
	return f;
}

char *text_of(write_fn fn, const struct fabric *f, const struct tables *t)
{
	struct err err = { "" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (fn(out, f, t, &err))
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

static size_t cut(char *s, size_t len, size_t at, size_t n)
{
	if (n > len - at)
		n = len - at;
	memmove(s + at, s + at + n, len - at - n);
	return len - n;
}

static size_t insert(char *s, size_t len, size_t at, const char *what, size_t n)
{
	memmove(s + at + n, s + at, len - at);
	memcpy(s + at, what, n);
	return len + n;
}

#define PIECE 40u

/* One wound; s has room for 2 * PIECE more bytes. */
static size_t wound(char *s, size_t len, struct rng *r)
{
	static const char *const junk[] = { "\xef\xbb\xbf",
					    "\r\n",
					    "[root@login01 ~]# cat x\n",
					    "\0\0\0",
					    "999999999999999999999999",
					    "[-,]]",
					    "0xffffffffffffffffffff",
					    "%s%n" };
	size_t at = rng_below(r, len + 1), n = rng_below(r, PIECE);
	char copy[PIECE];

	switch (rng_below(r, 7)) {
	case 0:
		return len && at < len ? (s[at] = (char)rng_u64(r), len) : len;
	case 1:
		return cut(s, len, at, n);
	case 2:
		n = n > len - at ? len - at : n;
		memcpy(copy, s + at, n);
		return insert(s, len, rng_below(r, len + 1), copy, n);
	case 3:
		return rng_below(r, 4) ? len : at;
	case 4:
		for (size_t i = at; i < len; i++)
			if (s[i] >= '0' && s[i] <= '9') {
				s[i] = (char)('0' + rng_below(r, 10));
				break;
			}
		return len;
	case 5: {
		const char *j = junk[rng_below(r, sizeof(junk) / sizeof(*junk))];

		return insert(s, len, at, j, *j ? strlen(j) : 3);
	}
	default:
		return insert(s, len, 0, "\xef\xbb\xbf", 3);
	}
}

struct survived damage(const char *text, size_t len, uint64_t seed, unsigned rounds, survive_fn fn,
		       void *ctx)
{
	struct survived result = { 0, 0 };
	char *s = xcalloc(len + 32 * PIECE, 1);
	struct rng r;

	rng_seed(&r, seed);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned wounds = 1 + (unsigned)rng_below(&r, 12);
		size_t n = len;
		FILE *f;

		memcpy(s, text, len);
		while (wounds--)
			n = wound(s, n, &r);
		f = text_file(s, n);
		if (fn(f, ctx))
			result.refused++;
		else
			result.accepted++;
		fclose(f);
	}
	free(s);
	return result;
}

char *shared_file(const char *name)
{
	const char *shared = getenv("SHARED");
	char *path = xasprintf("%s/data/fabrics/%s", shared ? shared : "../shared", name);

	if (!access(path, R_OK))
		return path;
	print_message("skipped: %s is not there (set SHARED)\n", path);
	free(path);
	return NULL;
}
