/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installed tables of a whole fabric.  Requests go round the switches, so that none of them
 * has to answer many at once. */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct wire *w;
	const struct fabric *f;
	struct tables *t;
	struct tables_report *report;
	uint8_t *via;
	uint32_t *blocks; /* of each switch; 0: its SwitchInfo did not come */
	bool *missing;
	uint32_t sw, round, rounds; /* round: block, or in << 8 | out, or of VL arbitration high
				     * priority << 8 | out */
	uint64_t total;
	uint16_t attr;
	uint8_t *arb;  /* by fabric port: enum arb_seen */
	bool arb_rest; /* the upper halves of these tables */
	bool paused;   /* nothing more is asked for at the moment */
};

enum arb_seen { ARB_LOW = 1, ARB_HIGH = 2, ARB_BOTH = 3, ARB_LOST = 4 };

static bool wire_tables_cabled(const struct fabric *f, uint32_t sw, uint32_t port)
{
	const struct port *p = fabric_port(f, sw, (uint8_t)port);

	return p->chan != FAB_NONE || p->term != FAB_NONE;
}

/* With one VL there is nothing to choose from; the rest only matters where VLs have no weight yet.
 */
static bool wire_tables_wants_arb(const struct reader *x, uint32_t sw, uint32_t out)
{
	const struct fabric *f = x->f;
	uint32_t vls, at = f->port_off[sw] + out;

	if (!out || out > f->sw_nports[sw] || !wire_tables_cabled(f, sw, out))
		return false;
	vls = fabric_port(f, sw, (uint8_t)out)->op_vls;
	if (!x->arb_rest)
		return vls != 1;
	vls = (1u << (vls ? vls : 15)) - 1;
	return x->arb[at] == ARB_BOTH && (vls & ~x->t->weighted[at]);
}

static bool wire_tables_wanted(const struct reader *x, uint32_t sw, uint32_t round)
{
	uint32_t in = round >> 8, out = round & 0xff, n = x->f->sw_nports[sw];

	if (x->via[sw] == VIA_NONE)
		return false;
	if (x->attr == SMP_SWITCH_INFO)
		return true;
	if (x->attr == SMP_LFT)
		return round < x->blocks[sw];
	if (x->attr == SMP_VL_ARB)
		return wire_tables_wants_arb(x, sw, out);
	return in <= n && out && out <= n && wire_tables_cabled(x->f, sw, out) &&
	       (!in || wire_tables_cabled(x->f, sw, in));
}

static uint32_t wire_tables_modifier(const struct reader *x)
{
	uint32_t part = (x->round >> 8 ? VL_ARB_HIGH : VL_ARB_LOW) + x->arb_rest;

	return x->attr == SMP_VL_ARB ? part << 16 | (x->round & 0xff) : x->round;
}

static bool wire_tables_reader_next(void *ctx, struct queue_request *out)
{
	struct reader *x = ctx;

	for (; !x->paused && x->round < x->rounds; x->round++, x->sw = 0)
		for (; x->sw < x->f->nsw; x->sw++) {
			if (!wire_tables_wanted(x, x->sw, x->round))
				continue;
			wire_smp(x->w, &out->mad, MAD_GET, x->attr, wire_tables_modifier(x));
			wire_address(x->w, x->f, x->sw, (enum wire_via)x->via[x->sw], &out->mad);
			out->tag = (uint64_t)x->round << 32 | x->sw;
			out->node = x->sw++;
			return true;
		}
	return false;
}

static void wire_tables_note_linear(struct tables_report *r, uint32_t sw,
				    const struct switch_info *si)
{
	if (si->linear_top > r->top_max)
		r->top_max = si->linear_top;
	if (si->linear_top < r->top_min) {
		r->top_min = si->linear_top;
		r->top_min_sw = sw;
	}
	if (si->linear_cap < r->cap_min) {
		r->cap_min = si->linear_cap;
		r->cap_min_sw = sw;
	}
}

static void wire_tables_got_switch_info(struct reader *x, uint32_t sw, const uint8_t *d)
{
	struct switch_info si;
	uint32_t blocks;

	if (switch_info_decode(&si, d)) {
		x->missing[sw] = true;
		return;
	}
	wire_tables_note_linear(x->report, sw, &si);
	blocks = si.linear_top / LFT_BLOCK + 1u;
	x->blocks[sw] = blocks < tables_blocks(x->t) ? blocks : tables_blocks(x->t);
}

/* A switch without such a table refuses: then no VL has a weight in it. */
static void wire_tables_got_arb(struct reader *x, uint32_t sw, uint32_t round, int rc,
				const uint8_t *d)
{
	uint32_t at = x->f->port_off[sw] + (round & 0xff);

	x->arb[at] |= rc && rc != -EPROTO ? ARB_LOST : round >> 8 ? ARB_HIGH : ARB_LOW;
	if (!rc)
		x->t->weighted[at] |= vl_arb_decode(d);
}

static void wire_tables_reader_done(void *ctx, const struct queue_request *req, int rc,
				    const struct mad_answer *a)
{
	struct reader *x = ctx;
	uint32_t sw = (uint32_t)req->tag, round = (uint32_t)(req->tag >> 32);

	if (x->attr == SMP_VL_ARB) {
		wire_tables_got_arb(x, sw, round, rc, rc ? NULL : a->data);
		return;
	}
	x->report->blocks += x->attr == SMP_LFT;
	x->report->sl2vl += x->attr == SMP_SL2VL;
	if (rc) {
		x->report->blocks_missing += x->attr == SMP_LFT;
		x->report->sl2vl_missing += x->attr == SMP_SL2VL;
		x->missing[sw] = true;
	} else if (x->attr == SMP_SWITCH_INFO) {
		wire_tables_got_switch_info(x, sw, a->data);
	} else if (x->attr == SMP_LFT) {
		memcpy(tables_row(x->t, sw) + (size_t)round * LFT_BLOCK, a->data, LFT_BLOCK);
	} else {
		sl2vl_decode(tables_sl2vl_row(x->t, sw, round >> 8, round & 0xff), a->data);
	}
}

static void wire_tables_reader_aim(struct reader *x, uint16_t attr, uint32_t rounds)
{
	x->attr = attr;
	x->rounds = rounds;
	x->sw = x->round = 0;
	x->total = 0;
	for (uint32_t r = 0; r < rounds; r++)
		for (uint32_t sw = 0; sw < x->f->nsw; sw++)
			x->total += wire_tables_wanted(x, sw, r);
}

/* From where it stands. */
static int wire_tables_reader_run(struct reader *x, const char *step, struct progress *progress,
				  struct err *err)
{
	struct queue_source src = { .next = wire_tables_reader_next,
				    .done = wire_tables_reader_done,
				    .ctx = x,
				    .total = &x->total };

	return queue_run(x->w->queue, &src, progress, step, err);
}

static int wire_tables_read_all(struct reader *x, uint16_t attr, uint32_t rounds, const char *step,
				struct progress *progress, struct err *err)
{
	wire_tables_reader_aim(x, attr, rounds);
	return wire_tables_reader_run(x, step, progress, err);
}

/* What no switch is asked for: pairs with an empty port. */
static void wire_tables_sl2vl_identity(struct tables *t, const struct fabric *f)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					tables_sl2vl_row(t, sw, in, out)[sl] = sl;
}

static uint32_t wire_tables_most_ports(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (f->sw_nports[sw] > n)
			n = f->sw_nports[sw];
	return n;
}

static void wire_tables_aim_at_sl2vl(struct reader *x)
{
	tables_sl2vl_form(x->t, SL2VL_FULL, x->f);
	wire_tables_sl2vl_identity(x->t, x->f);
	wire_tables_reader_aim(x, SMP_SL2VL, (wire_tables_most_ports(x->f) + 1) << 8);
}

static void wire_tables_aim_at_arb(struct reader *x, bool rest)
{
	if (!rest) {
		tables_weighted_form(x->t, x->f);
		x->arb = xcalloc(x->f->nport, 1);
	}
	x->arb_rest = rest;
	wire_tables_reader_aim(x, SMP_VL_ARB, 2 << 8);
}

/* Half of an answer is none.  Who does not answer this is not silent otherwise. */
static void wire_tables_forget_lost_arb(struct reader *x)
{
	bool lost = false;

	for (uint32_t i = 0; i < x->f->nport; i++) {
		lost |= x->arb[i] & ARB_LOST;
		if (x->arb[i] != ARB_BOTH)
			x->t->weighted[i] = 0;
	}
	if (lost)
		queue_forget(x->w->queue);
}

/* After the SL2VL tables; false: there is nothing more. */
static bool wire_tables_aim_further(struct reader *x)
{
	if (x->round < x->rounds)
		return false;
	if (x->attr == SMP_VL_ARB && x->arb_rest) {
		wire_tables_forget_lost_arb(x);
		return false;
	}
	wire_tables_aim_at_arb(x, x->attr == SMP_VL_ARB);
	return true;
}

/* -EIO: nobody answers. */
static int wire_tables_find_paths(struct reader *x, struct progress *progress, struct err *err)
{
	bool *want = xcalloc(x->f->nsw, sizeof(bool));
	int *sw_rc = xcalloc(x->f->nsw, sizeof(int));
	uint32_t answered = 0;
	int rc;

	memset(want, true, x->f->nsw);
	rc = wire_identify(x->w, x->f, want, x->via, sw_rc, progress, err);
	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		x->missing[sw] = x->via[sw] == VIA_NONE;
		answered += x->via[sw] != VIA_NONE;
	}
	if (!rc && !answered)
		rc = err_set(err, -EIO, "no switch returned its tables, the first is %s: %s",
			     x->f->sw_name[0], wire_rc_text(sw_rc[0]));
	free(want);
	free(sw_rc);
	return rc;
}

static int wire_tables_read_parts(struct reader *x, bool want_sl2vl, struct progress *progress,
				  struct err *err)
{
	int rc = wire_tables_find_paths(x, progress, err);

	if (!rc)
		rc = wire_tables_read_all(x, SMP_SWITCH_INFO, 1, "ask switches", progress, err);
	if (!rc)
		rc = wire_tables_read_all(x, SMP_LFT, tables_blocks(x->t), "read LFTs", progress,
					  err);
	if (!rc && want_sl2vl) {
		wire_tables_aim_at_sl2vl(x);
		do
			rc = wire_tables_reader_run(x, "read SL2VL", progress, err);
		while (!rc && wire_tables_aim_further(x));
	}
	return rc;
}

void tables_report_clear(struct tables_report *r)
{
	free(r->missing_sw);
	*r = (struct tables_report){ 0 };
}

static struct reader wire_tables_reader_new(struct wire *w, const struct fabric *f,
					    struct tables *t)
{
	return (struct reader){ .w = w,
				.f = f,
				.t = t,
				.via = xcalloc(f->nsw, 1),
				.blocks = xcalloc(f->nsw, sizeof(uint32_t)),
				.missing = xcalloc(f->nsw, sizeof(bool)) };
}

static void wire_tables_reader_clear(struct reader *x)
{
	free(x->via);
	free(x->blocks);
	free(x->missing);
	free(x->arb);
}

static void wire_tables_list_missing(struct tables_report *r, const struct reader *x)
{
	r->missing_sw = xcalloc(x->f->nsw, sizeof(uint32_t));
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		if (x->missing[sw])
			r->missing_sw[r->nmissing++] = sw;
}

int wire_read_tables(struct tables **out, struct wire *w, const struct fabric *f, bool want_sl2vl,
		     struct tables_report *report, struct progress *progress, struct err *err)
{
	struct tables_report own = { 0 };
	struct reader x = wire_tables_reader_new(w, f, tables_new(f, TABLES_WIRE));
	uint64_t start = wire_now_ns(w), sent = queue_stats(w->queue)->sent;
	int rc;

	tables_sl2vl_form(x.t, SL2VL_UNREAD, f);
	x.report = report ? report : &own;
	*x.report = (struct tables_report){ .top_min = UINT16_MAX, .cap_min = UINT16_MAX };
	rc = wire_tables_read_parts(&x, want_sl2vl, progress, err);
	if (rc == -ECANCELED)
		err_set(err, rc, "reading the tables was cancelled");
	x.report->mads = queue_stats(w->queue)->sent - sent;
	x.report->took_ns = wire_now_ns(w) - start;
	wire_tables_list_missing(x.report, &x);
	wire_tables_reader_clear(&x);
	tables_report_clear(&own);
	if (rc)
		tables_put(x.t);
	else
		*out = x.t;
	return rc;
}

/* --- SL2VL, bit by bit ----------------------------------------------------------------------- */

struct sl2vl_reading {
	struct reader x;
	struct tables_report report;
	struct progress inner; /* counts what was read by earlier runs as well */
	struct progress *outer;
	uint64_t before; /* pairs answered or given up in earlier runs */
};

static void wire_tables_add_earlier(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct sl2vl_reading *r = ctx;

	if (r->x.attr == SMP_VL_ARB) { /* little, compared with these */
		done = 0;
		total = r->report.sl2vl;
	}
	if (progress_step(r->outer, step, r->before + done, total))
		atomic_store(&r->inner.cancel, true);
}

static struct tables *wire_tables_with_room_for_sl2vl(const struct fabric *f,
						      const struct tables *lfts)
{
	struct tables *t = tables_new_blank(f, lfts->engine);

	memcpy(t->lft, lfts->lft, (size_t)f->nsw * t->stride);
	return t;
}

int wire_sl2vl_begin(struct sl2vl_reading **out, struct wire *w, const struct fabric *f,
		     const struct tables *lfts, struct progress *progress, struct err *err)
{
	struct sl2vl_reading *r = xcalloc(1, sizeof(*r));
	int rc;

	r->x = wire_tables_reader_new(w, fabric_get(f), wire_tables_with_room_for_sl2vl(f, lfts));
	r->x.report = &r->report;
	r->inner.report = wire_tables_add_earlier;
	r->inner.ctx = r;
	rc = wire_tables_find_paths(&r->x, progress, err);
	if (rc == -ECANCELED)
		err_set(err, rc, "reading the tables was cancelled");
	if (rc) {
		wire_sl2vl_free(r);
		return rc;
	}
	wire_tables_aim_at_sl2vl(&r->x);
	*out = r;
	return 0;
}

void wire_sl2vl_pause(struct sl2vl_reading *r)
{
	r->x.paused = true;
}

int wire_sl2vl_read(struct sl2vl_reading *r, struct progress *progress, struct err *err)
{
	uint64_t start = wire_now_ns(r->x.w), sent = queue_stats(r->x.w->queue)->sent;
	int rc;

	r->x.paused = false;
	r->outer = progress;
	atomic_store(&r->inner.cancel, false);
	do {
		rc = wire_tables_reader_run(&r->x, "read SL2VL", &r->inner, err);
		r->before = r->report.sl2vl;
	} while (!rc && wire_tables_aim_further(&r->x));
	r->report.mads += queue_stats(r->x.w->queue)->sent - sent;
	r->report.took_ns += wire_now_ns(r->x.w) - start;
	if (rc == -ECANCELED)
		return err_set(err, rc, "reading the tables was cancelled");
	if (!rc && r->x.round < r->x.rounds)
		return -EAGAIN;
	return rc;
}

struct tables *wire_sl2vl_take(struct tables_report *report, struct sl2vl_reading *r)
{
	struct tables *t = r->x.t;

	wire_tables_list_missing(&r->report, &r->x);
	*report = r->report;
	r->report = (struct tables_report){ 0 };
	r->x.t = NULL;
	wire_sl2vl_free(r);
	return t;
}

void wire_sl2vl_free(struct sl2vl_reading *r)
{
	if (!r)
		return;
	tables_put(r->x.t);
	tables_report_clear(&r->report);
	fabric_put(r->x.f);
	wire_tables_reader_clear(&r->x);
	free(r);
}
