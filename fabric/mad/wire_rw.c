/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of LFT blocks and SL2VL tables, read and written. */
#include "fabric/mad/wire.h"

#include "fabric/base/mem.h"
#include "fabric/mad/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A list of either kind; exactly one of blocks and sl2vl is set. */
struct list {
	struct wire *w;
	const struct fabric *f;
	struct wire_block *blocks;
	struct wire_sl2vl *sl2vl;
	uint32_t n, at;
	uint64_t total;
	bool write;
	uint8_t *way; /* of each switch */
	int *sw_rc;
};

static uint32_t item_sw(const struct list *l, uint32_t i)
{
	return l->blocks ? l->blocks[i].sw : l->sl2vl[i].sw;
}

static int *item_rc(const struct list *l, uint32_t i)
{
	return l->blocks ? &l->blocks[i].rc : &l->sl2vl[i].rc;
}

static bool list_next(void *ctx, struct queue_request *out)
{
	struct list *l = ctx;
	uint8_t method = l->write ? MAD_SET : MAD_GET;
	uint32_t i, sw;

	for (; l->at < l->n; l->at++)
		if (l->way[item_sw(l, l->at)] != WAY_NONE)
			break;
	if (l->at == l->n)
		return false;
	i = l->at++;
	sw = item_sw(l, i);
	if (l->blocks) {
		wire_smp(l->w, &out->mad, method, SMP_LFT, l->blocks[i].block);
		if (l->write)
			memcpy(out->mad.data, l->blocks[i].port, LFT_BLOCK);
	} else {
		wire_smp(l->w, &out->mad, method, SMP_SL2VL,
			 (uint32_t)l->sl2vl[i].in << 8 | l->sl2vl[i].out);
		if (l->write)
			sl2vl_encode(out->mad.data, l->sl2vl[i].vl);
	}
	wire_address(l->w, l->f, sw, (enum wire_way)l->way[sw], &out->mad);
	out->tag = i;
	out->node = sw;
	return true;
}

static int block_done(const struct list *l, struct wire_block *b, const uint8_t *d)
{
	if (l->write)
		return memcmp(b->port, d, LFT_BLOCK) ? -EIO : 0;
	memcpy(b->port, d, LFT_BLOCK);
	return 0;
}

static int sl2vl_done(const struct list *l, struct wire_sl2vl *s, const uint8_t *d)
{
	uint8_t vl[FAB_SLS];

	sl2vl_decode(vl, d);
	if (l->write)
		return memcmp(s->vl, vl, FAB_SLS) ? -EIO : 0;
	memcpy(s->vl, vl, FAB_SLS);
	return 0;
}

static void list_done(void *ctx, const struct queue_request *req, int rc,
		      const struct mad_answer *a)
{
	struct list *l = ctx;
	uint32_t i = (uint32_t)req->tag;

	if (!rc)
		rc = l->blocks ? block_done(l, &l->blocks[i], a->data)
			       : sl2vl_done(l, &l->sl2vl[i], a->data);
	*item_rc(l, i) = rc == -EHOSTDOWN ? -ETIMEDOUT : rc;
}

/* The sentence about a list that was not done in full. */
static int sum_up(const struct list *l, struct err *err)
{
	const char *what = l->blocks ? "LFT blocks" : "SL2VL tables";
	const char *verb = l->write ? "written" : "read";
	uint32_t bad = 0, first = 0;
	bool keyed;
	int rc;

	for (uint32_t i = 0; i < l->n; i++)
		if (*item_rc(l, i) && !bad++)
			first = i;
	if (!bad)
		return 0;
	rc = *item_rc(l, first);
	/* it answered a Get a moment ago */
	keyed = l->write && rc == -ETIMEDOUT && l->way[item_sw(l, first)] != WAY_NONE;
	return err_set(err, -EIO, "%u of %u %s not %s, the first on switch %s: %s%s", bad, l->n,
		       what, verb, l->f->sw_name[item_sw(l, first)], wire_rc_text(rc),
		       keyed ? "; it answers reads, so the M_Key may be wrong or missing" : "");
}

static int run_list(struct list *l, struct progress *progress, struct err *err)
{
	struct queue_source src = {
		.next = list_next, .done = list_done, .ctx = l, .total = &l->total
	};
	bool *want = xcalloc(l->f->nsw, sizeof(bool));
	const char *step = l->blocks  ? l->write ? "write LFTs" : "read LFTs"
			   : l->write ? "write SL2VL"
				      : "read SL2VL";
	int rc;

	l->total = l->n;
	l->way = xcalloc(l->f->nsw, 1);
	l->sw_rc = xcalloc(l->f->nsw, sizeof(int));
	for (uint32_t i = 0; i < l->n; i++) {
		*item_rc(l, i) = -ECANCELED;
		want[item_sw(l, i)] = true;
	}
	rc = wire_identify(l->w, l->f, want, l->way, l->sw_rc, progress, err);
	if (rc)
		goto out;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->way[item_sw(l, i)] == WAY_NONE)
			*item_rc(l, i) = l->sw_rc[item_sw(l, i)];
	rc = queue_run(l->w->queue, &src, progress, step, err);
out:
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled: not everything was %s", l->write ? "written" : "read");
	if (!rc)
		rc = sum_up(l, err);
	free(want);
	free(l->way);
	free(l->sw_rc);
	return rc;
}

int wire_read_blocks(struct wire *w, const struct fabric *f, struct wire_block *b, uint32_t n,
		     struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .blocks = b, .n = n };

	return n ? run_list(&l, progress, err) : 0;
}

int wire_write_blocks(struct wire *w, const struct fabric *f, struct wire_block *b, uint32_t n,
		      struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .blocks = b, .n = n, .write = true };

	return n ? run_list(&l, progress, err) : 0;
}

int wire_read_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s, uint32_t n,
		    struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .sl2vl = s, .n = n };

	return n ? run_list(&l, progress, err) : 0;
}

int wire_write_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s, uint32_t n,
		     struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .sl2vl = s, .n = n, .write = true };

	return n ? run_list(&l, progress, err) : 0;
}
