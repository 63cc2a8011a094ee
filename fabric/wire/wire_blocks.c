/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of LFT blocks and SL2VL tables, read and written. */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_BACK (1ull << 32) /* in a tag */

/* A list of either kind; exactly one of blocks and sl2vl is set. */
struct list {
	struct wire *w;
	const struct fabric *f;
	struct wire_block *blocks;
	struct wire_sl2vl *sl2vl;
	uint32_t n, at;
	uint64_t total;
	bool write;
	uint8_t *via; /* of each switch */
	int *sw_rc;
	struct list *back;		   /* what is read after it was written; NULL: nothing */
	uint32_t *open;			   /* by switch: writes without an answer */
	uint32_t *first;		   /* by switch: its first item, FAB_NONE */
	uint32_t *after;		   /* by item: the next one of its switch, FAB_NONE */
	uint32_t *done_sw, ndone, done_at; /* switches without an open write, in that order */
	uint32_t reading;		   /* item to be read next, FAB_NONE */
};

static uint32_t wire_blocks_item_sw(const struct list *l, uint32_t i)
{
	return l->blocks ? l->blocks[i].sw : l->sl2vl[i].sw;
}

static int *wire_blocks_item_rc(const struct list *l, uint32_t i)
{
	return l->blocks ? &l->blocks[i].rc : &l->sl2vl[i].rc;
}

static void wire_blocks_ask_item(const struct list *l, uint32_t i, struct queue_request *out)
{
	uint8_t method = l->write ? MAD_SET : MAD_GET;
	uint32_t sw = wire_blocks_item_sw(l, i);

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
	wire_address(l->w, l->f, sw, (enum wire_via)l->via[sw], &out->mad);
	out->tag = i;
	out->node = sw;
}

/* Of a switch all of whose writes were answered, or failed. */
static bool wire_blocks_next_back(struct list *l, struct queue_request *out)
{
	if (l->reading == FAB_NONE) {
		if (l->done_at == l->ndone)
			return false;
		l->reading = l->first[l->done_sw[l->done_at++]];
	}
	wire_blocks_ask_item(l->back, l->reading, out);
	out->tag |= READ_BACK;
	l->reading = l->after[l->reading];
	return true;
}

static bool wire_blocks_list_next(void *ctx, struct queue_request *out)
{
	struct list *l = ctx;

	for (; l->at < l->n; l->at++)
		if (l->via[wire_blocks_item_sw(l, l->at)] != VIA_NONE)
			break;
	if (l->at == l->n)
		return l->back && wire_blocks_next_back(l, out);
	wire_blocks_ask_item(l, l->at++, out);
	return true;
}

static int wire_blocks_block_done(const struct list *l, struct wire_block *b, const uint8_t *d)
{
	if (l->write)
		return memcmp(b->port, d, LFT_BLOCK) ? -EIO : 0;
	memcpy(b->port, d, LFT_BLOCK);
	return 0;
}

static int wire_blocks_sl2vl_done(const struct list *l, struct wire_sl2vl *s, const uint8_t *d)
{
	uint8_t vl[FAB_SLS];

	sl2vl_decode(vl, d);
	if (l->write)
		return memcmp(s->vl, vl, FAB_SLS) ? -EIO : 0;
	memcpy(s->vl, vl, FAB_SLS);
	return 0;
}

static void wire_blocks_list_done(void *ctx, const struct queue_request *req, int rc,
				  const struct mad_answer *a)
{
	struct list *l = ctx;
	uint32_t i = (uint32_t)req->tag, sw = wire_blocks_item_sw(l, i);

	if (req->tag & READ_BACK)
		l = l->back;
	else if (l->back && !--l->open[sw])
		l->done_sw[l->ndone++] = sw;
	if (!rc)
		rc = l->blocks ? wire_blocks_block_done(l, &l->blocks[i], a->data)
			       : wire_blocks_sl2vl_done(l, &l->sl2vl[i], a->data);
	*wire_blocks_item_rc(l, i) = rc == -EHOSTDOWN ? -ETIMEDOUT : rc;
}

/* The sentence about a list that was not done in full. */
static int wire_blocks_sum_up(const struct list *l, struct err *err)
{
	const char *what = l->blocks ? "LFT blocks" : "SL2VL tables";
	const char *verb = l->write ? "written" : "read";
	uint32_t bad = 0, first = 0;
	bool keyed;
	int rc;

	for (uint32_t i = 0; i < l->n; i++)
		if (*wire_blocks_item_rc(l, i) && !bad++)
			first = i;
	if (!bad)
		return 0;
	rc = *wire_blocks_item_rc(l, first);
	/* it answered a Get a moment ago */
	keyed = l->write && rc == -ETIMEDOUT && l->via[wire_blocks_item_sw(l, first)] != VIA_NONE;
	return err_set(err, -EIO, "%u of %u %s not %s, the first on switch %s: %s%s", bad, l->n,
		       what, verb, l->f->sw_name[wire_blocks_item_sw(l, first)], wire_rc_text(rc),
		       keyed ? "; it responds to reads, so the M_Key may be wrong or missing" : "");
}

/* Memory for reading back; items are the list's, by switch. */
static void wire_blocks_plan_back(struct list *l)
{
	uint32_t nsw = l->f->nsw;

	l->open = xcalloc(nsw, sizeof(*l->open));
	l->first = xcalloc(nsw, sizeof(*l->first));
	l->after = xcalloc(l->n, sizeof(*l->after));
	l->done_sw = xcalloc(nsw, sizeof(*l->done_sw));
	l->reading = FAB_NONE;
	for (uint32_t sw = 0; sw < nsw; sw++)
		l->first[sw] = FAB_NONE;
	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t sw = wire_blocks_item_sw(l, i);

		l->after[i] = l->first[sw];
		l->first[sw] = i;
		l->open[sw]++;
	}
	l->back->via = l->via;
	l->total += l->n;
}

static bool wire_blocks_as_written(const struct list *l, uint32_t i)
{
	if (*wire_blocks_item_rc(l, i) || (l->back && *wire_blocks_item_rc(l->back, i)))
		return false;
	if (!l->back)
		return true;
	return l->blocks ? !memcmp(l->blocks[i].port, l->back->blocks[i].port, LFT_BLOCK)
			 : !memcmp(l->sl2vl[i].vl, l->back->sl2vl[i].vl, FAB_SLS);
}

/* Sets what no switch was asked for, and who is to be asked. */
static void wire_blocks_no_answer_yet(struct list *l, bool *want)
{
	for (uint32_t i = 0; i < l->n; i++) {
		*wire_blocks_item_rc(l, i) = -ECANCELED;
		if (l->back)
			*wire_blocks_item_rc(l->back, i) = -ECANCELED;
		want[wire_blocks_item_sw(l, i)] = true;
	}
}

static void wire_blocks_unreachable(struct list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t sw = wire_blocks_item_sw(l, i);

		if (l->via[sw] != VIA_NONE)
			continue;
		*wire_blocks_item_rc(l, i) = l->sw_rc[sw];
		if (l->back)
			*wire_blocks_item_rc(l->back, i) = l->sw_rc[sw];
	}
}

static int wire_blocks_run_list(struct list *l, struct progress *progress, struct err *err)
{
	struct queue_source src = { .next = wire_blocks_list_next,
				    .done = wire_blocks_list_done,
				    .ctx = l,
				    .total = &l->total };
	bool *want = xcalloc(l->f->nsw, sizeof(bool));
	const char *step = l->blocks  ? l->write ? "write LFTs" : "read LFTs"
			   : l->write ? "write SL2VL"
				      : "read SL2VL";
	int rc;

	l->total = l->n;
	l->via = xcalloc(l->f->nsw, 1);
	l->sw_rc = xcalloc(l->f->nsw, sizeof(int));
	if (l->back)
		wire_blocks_plan_back(l);
	wire_blocks_no_answer_yet(l, want);
	rc = wire_recall(l->w, l->f, want, l->via, l->sw_rc, progress, err);
	if (rc)
		goto out;
	wire_blocks_unreachable(l);
	rc = queue_run(l->w->queue, &src, progress, step, err);
out:
	for (uint32_t i = 0; i < l->n && l->w->nknown; i++)
		if (!wire_blocks_as_written(l, i))
			wire_forget(l->w);
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled: not everything was %s", l->write ? "written" : "read");
	if (!rc)
		rc = wire_blocks_sum_up(l, err);
	if (!rc && l->back)
		rc = wire_blocks_sum_up(l->back, err);
	free(want);
	free(l->via);
	free(l->sw_rc);
	free(l->open);
	free(l->first);
	free(l->after);
	free(l->done_sw);
	return rc;
}

int wire_read_blocks(struct wire *w, const struct fabric *f, struct wire_block *b, uint32_t n,
		     struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .blocks = b, .n = n };

	return n ? wire_blocks_run_list(&l, progress, err) : 0;
}

int wire_read_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s, uint32_t n,
		    struct progress *progress, struct err *err)
{
	struct list l = { .w = w, .f = f, .sl2vl = s, .n = n };

	return n ? wire_blocks_run_list(&l, progress, err) : 0;
}

int wire_write_blocks(struct wire *w, const struct fabric *f, struct wire_block *b,
		      struct wire_block *back, uint32_t n, struct progress *progress,
		      struct err *err)
{
	struct list r = { .w = w, .f = f, .blocks = back, .n = n };
	struct list l = {
		.w = w, .f = f, .blocks = b, .n = n, .write = true, .back = back ? &r : NULL
	};

	return n ? wire_blocks_run_list(&l, progress, err) : 0;
}

int wire_write_sl2vl(struct wire *w, const struct fabric *f, struct wire_sl2vl *s,
		     struct wire_sl2vl *back, uint32_t n, struct progress *progress,
		     struct err *err)
{
	struct list r = { .w = w, .f = f, .sl2vl = back, .n = n };
	struct list l = {
		.w = w, .f = f, .sl2vl = s, .n = n, .write = true, .back = back ? &r : NULL
	};

	return n ? wire_blocks_run_list(&l, progress, err) : 0;
}
