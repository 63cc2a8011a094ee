/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/smp.h"

#include "fabric/base/memory/mem.h"
#include "fabric/wire/wire.h"

#include <stdlib.h>
#include <string.h>

struct call {
	bool write;
	struct wire *w;
	const struct fabric *f;
	struct install_item *items, *back;
	struct progress *progress;
};

static struct wire_block *smp_blocks_of(const struct install_item *items, uint32_t n)
{
	struct wire_block *b = xcalloc(n, sizeof(*b));

	for (uint32_t i = 0; i < n; i++) {
		b[i].sw = items[i].sw;
		b[i].block = items[i].block;
		memcpy(b[i].port, items[i].data, LFT_BLOCK);
	}
	return b;
}

static void smp_from_blocks(struct install_item *items, struct wire_block *b, uint32_t n)
{
	for (uint32_t i = 0; b && i < n; i++) {
		items[i].rc = b[i].rc;
		memcpy(items[i].data, b[i].port, LFT_BLOCK);
	}
	free(b);
}

static int smp_run_blocks(const struct call *c, uint32_t first, uint32_t n, struct err *err)
{
	struct install_item *back = c->back ? c->back + first : NULL;
	struct wire_block *b = smp_blocks_of(c->items + first, n),
			  *r = back ? smp_blocks_of(back, n) : NULL;
	int rc;

	if (c->write)
		rc = wire_write_blocks(c->w, c->f, b, r, n, c->progress, err);
	else
		rc = wire_read_blocks(c->w, c->f, b, n, c->progress, err);
	smp_from_blocks(c->items + first, b, n);
	smp_from_blocks(back, r, n);
	return rc;
}

static struct wire_sl2vl *smp_sl2vl_of(const struct install_item *items, uint32_t n)
{
	struct wire_sl2vl *s = xcalloc(n, sizeof(*s));

	for (uint32_t i = 0; i < n; i++) {
		s[i].sw = items[i].sw;
		s[i].in = items[i].in;
		s[i].out = items[i].out;
		for (int sl = 0; sl < FAB_SLS; sl++)
			s[i].vl[sl] = items[i].data[sl / 2] >> (sl & 1 ? 0 : 4) & 0xf;
	}
	return s;
}

static void smp_from_sl2vl(struct install_item *items, struct wire_sl2vl *s, uint32_t n)
{
	for (uint32_t i = 0; s && i < n; i++) {
		items[i].rc = s[i].rc;
		for (int sl = 0; sl < FAB_SLS; sl += 2)
			items[i].data[sl / 2] =
				(uint8_t)(s[i].vl[sl] << 4 | (s[i].vl[sl + 1] & 0xf));
	}
	free(s);
}

static int smp_run_sl2vl(const struct call *c, uint32_t first, uint32_t n, struct err *err)
{
	struct install_item *back = c->back ? c->back + first : NULL;
	struct wire_sl2vl *s = smp_sl2vl_of(c->items + first, n),
			  *r = back ? smp_sl2vl_of(back, n) : NULL;
	int rc;

	if (c->write)
		rc = wire_write_sl2vl(c->w, c->f, s, r, n, c->progress, err);
	else
		rc = wire_read_sl2vl(c->w, c->f, s, n, c->progress, err);
	smp_from_sl2vl(c->items + first, s, n);
	smp_from_sl2vl(back, r, n);
	return rc;
}

/* Runs of one kind at a time; a failure of one does not keep the next from being tried. */
static int smp_run(const struct call *c, uint32_t n, struct err *err)
{
	const struct install_item *it = c->items;
	int first = 0, rc;

	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && it[k].kind == it[i].kind;)
			k++;
		if (it[i].kind == CHANGE_LFT)
			rc = smp_run_blocks(c, i, k - i, first ? NULL : err);
		else
			rc = smp_run_sl2vl(c, i, k - i, first ? NULL : err);
		if (!first)
			first = rc;
	}
	return first;
}

static int smp_write(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		     struct progress *progress, struct err *err)
{
	struct call c = { true, ctx, f, items, NULL, progress };

	return smp_run(&c, n, err);
}

static int smp_read(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		    struct progress *progress, struct err *err)
{
	struct call c = { false, ctx, f, items, NULL, progress };

	return smp_run(&c, n, err);
}

static int smp_put(void *ctx, const struct fabric *f, struct install_item *items,
		   struct install_item *back, uint32_t n, struct progress *progress,
		   struct err *err)
{
	struct call c = { true, ctx, f, items, back, progress };

	return smp_run(&c, n, err);
}

struct installer smp_installer(struct wire *w)
{
	static const struct installer_ops ops = {
		.name = "SMPs",
		.write = smp_write,
		.read = smp_read,
		.put = smp_put,
	};

	return (struct installer){ .ops = &ops, .ctx = w };
}
