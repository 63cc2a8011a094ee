/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/smp.h"

#include "fabric/base/mem.h"
#include "fabric/mad/wire.h"

#include <stdlib.h>
#include <string.h>

typedef int (*blocks_fn)(struct wire *w, const struct fabric *f, struct wire_block *b, uint32_t n,
			 struct progress *progress, struct err *err);
typedef int (*sl2vl_fn)(struct wire *w, const struct fabric *f, struct wire_sl2vl *s, uint32_t n,
			struct progress *progress, struct err *err);

static int run_blocks(blocks_fn fn, struct wire *w, const struct fabric *f,
		      struct install_item *items, uint32_t n, struct progress *progress,
		      struct err *err)
{
	struct wire_block *b = xcalloc(n, sizeof(*b));
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		b[i].sw = items[i].sw;
		b[i].block = items[i].block;
		memcpy(b[i].port, items[i].data, LFT_BLOCK);
	}
	rc = fn(w, f, b, n, progress, err);
	for (uint32_t i = 0; i < n; i++) {
		items[i].rc = b[i].rc;
		memcpy(items[i].data, b[i].port, LFT_BLOCK);
	}
	free(b);
	return rc;
}

static int run_sl2vl(sl2vl_fn fn, struct wire *w, const struct fabric *f,
		     struct install_item *items, uint32_t n, struct progress *progress,
		     struct err *err)
{
	struct wire_sl2vl *s = xcalloc(n, sizeof(*s));
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		s[i].sw = items[i].sw;
		s[i].in = items[i].in;
		s[i].out = items[i].out;
		for (int sl = 0; sl < FAB_SLS; sl++)
			s[i].vl[sl] = items[i].data[sl / 2] >> (sl & 1 ? 0 : 4) & 0xf;
	}
	rc = fn(w, f, s, n, progress, err);
	for (uint32_t i = 0; i < n; i++) {
		items[i].rc = s[i].rc;
		for (int sl = 0; sl < FAB_SLS; sl += 2)
			items[i].data[sl / 2] =
				(uint8_t)(s[i].vl[sl] << 4 | (s[i].vl[sl + 1] & 0xf));
	}
	free(s);
	return rc;
}

/* Runs of one kind at a time; a failure of one does not keep the next from being tried. */
static int run(blocks_fn blocks, sl2vl_fn sl2vl, struct wire *w, const struct fabric *f,
	       struct install_item *items, uint32_t n, struct progress *progress, struct err *err)
{
	int first = 0;

	for (uint32_t i = 0, k; i < n; i = k) {
		int rc;

		for (k = i + 1; k < n && items[k].kind == items[i].kind;)
			k++;
		rc = items[i].kind == CHANGE_LFT ? run_blocks(blocks, w, f, items + i, k - i,
							      progress, first ? NULL : err)
						 : run_sl2vl(sl2vl, w, f, items + i, k - i,
							     progress, first ? NULL : err);
		if (!first)
			first = rc;
	}
	return first;
}

static int smp_write(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		     struct progress *progress, struct err *err)
{
	return run(wire_write_blocks, wire_write_sl2vl, ctx, f, items, n, progress, err);
}

static int smp_read(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		    struct progress *progress, struct err *err)
{
	return run(wire_read_blocks, wire_read_sl2vl, ctx, f, items, n, progress, err);
}

struct installer smp_installer(struct wire *w)
{
	static const struct installer_ops ops = {
		.name = "SMPs",
		.write = smp_write,
		.read = smp_read,
	};

	return (struct installer){ .ops = &ops, .ctx = w };
}
