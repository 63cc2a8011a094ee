/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/foreign_tables.h"

#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/ib/codec.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS  3000
#define READS	   20
#define SL_QUERIES 200000
#define SL_EXTRA   64
#define SL_MS	   30000
#define NOBODY_MS  15000
#define LOOK_MS	   500

void foreign_tables_open(struct foreign_tables *t, const struct live *l, const struct live_opts *o,
			 const struct plan *p, const char *id)
{
	char *path;

	*t = (struct foreign_tables){ .w = l->w, .opts = o, .plan = p, .settle_ms = SETTLE_MS };
	snprintf(t->name, sizeof(t->name), "%s", l->f->name);
	if (p)
		return;
	path = xasprintf("%s/%s/%s", journal_base(o->state_dir), id, JOURNAL_PLAN);
	if (!plan_load(&t->own, path, NULL))
		t->plan = t->own;
	free(path);
}

void foreign_tables_close(struct foreign_tables *t)
{
	plan_free(t->own);
	*t = (struct foreign_tables){ 0 };
}

/* Twice the same: nobody writes any more. */
static int foreign_tables_read_settled(struct live *now, const struct foreign_tables *t,
				       struct err *err)
{
	const struct tables *before = NULL;
	int rc = live_read(now, t->w, t->opts, t->name, err);

	for (int i = 0; !rc && i < READS; i++) {
		bool same;

		before = tables_get(now->t);
		clock_rest_us(1000ull * t->settle_ms);
		rc = live_read(now, t->w, t->opts, t->name, err);
		same = !rc && tables_forward_same(now->f, before, now->t);
		tables_put(before);
		if (same)
			return 0;
	}
	return rc ? rc : err_set(err, -EAGAIN, "the tables keep changing");
}

struct patience {
	uint64_t until_ms;
	struct progress progress;
};

static void foreign_tables_lose_patience(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct patience *p = ctx;

	(void)step;
	(void)done;
	(void)total;
	if (clock_ms() > p->until_ms)
		atomic_store(&p->progress.cancel, true);
}

/* false: the SM does not tell, or not in time. */
static bool foreign_tables_ask_sls(struct live *now, struct wire *w)
{
	struct patience p = { .until_ms = clock_ms() + SL_MS };
	struct path_sl_report report = { 0 };
	struct err err = { "" };
	int rc;

	p.progress.report = foreign_tables_lose_patience;
	p.progress.ctx = &p;
	rc = wire_check_path_sls(w, now->f, now->t, 4, 1, &report, &p.progress, &err);
	if (!rc)
		rc = wire_read_path_sls(now->t, w, now->f, SL_QUERIES, SL_EXTRA, 1, &report,
					&p.progress, &err);
	if (rc)
		log_add(LOG_INFO, "apply", "service levels of the routing found: %s", err.text);
	return !rc && !report.differ;
}

/* All on one VL: what is free of deadlocks then is so whatever the service levels are. */
static const struct tables *foreign_tables_on_one_vl(const struct live *now)
{
	struct tables *t = tables_new(now->f, TABLES_WIRE);

	memcpy(t->lft, now->t->lft, (size_t)t->nsw * t->stride);
	tables_sl2vl_form(t, SL2VL_BY_INPUT, now->f);
	return t;
}

static void foreign_tables_put_verdict(struct executor_foreign *out, const struct verdict *v,
				       const struct fabric *f, bool sls)
{
	char text[300];

	verdict_sentence(text, sizeof(text), v, f);
	if (verdict_ok(v)) {
		out->verdict = FOREIGN_SOUND;
		snprintf(out->text, sizeof(out->text), "connected, free of loops and deadlocks");
	} else if (v->connected && v->loop_free && !sls) {
		out->verdict = FOREIGN_UNPROVED;
		snprintf(out->text, sizeof(out->text),
			 "connected, free of loops; deadlocks depend on unknown service levels");
	} else {
		out->verdict = FOREIGN_FAULTY;
		snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(out->text) - 1, text);
	}
}

static int foreign_tables_verify(struct executor_foreign *out, struct live *now, struct wire *w,
				 struct err *err)
{
	struct verify_opts vo = { .terminals_only = true };
	bool sls = foreign_tables_ask_sls(now, w);
	const struct tables *t = sls ? tables_get(now->t) : foreign_tables_on_one_vl(now);
	struct verdict *v;
	int rc = verify_tables(&v, now->f, t, &vo, NULL, err);

	if (!rc)
		foreign_tables_put_verdict(out, v, now->f, sls);
	if (!rc)
		verdict_free(v);
	tables_put(t);
	return rc;
}

/* Against those of the plan, on the same fabric.  Of another one nobody knows what is missing. */
static void foreign_tables_count(struct executor_foreign *out, const struct live *now,
				 const struct plan *p)
{
	struct tables_diff *old, *new;
	char text[sizeof(out->text)];

	if (!p)
		return;
	if (!digest_equal(&p->fabric->fingerprint, &now->f->fingerprint)) {
		memcpy(text, out->text, sizeof(text));
		snprintf(out->text, sizeof(out->text),
			 "fabric changed; the responding part is %.80s", text);
		if (out->verdict == FOREIGN_SOUND)
			out->verdict = FOREIGN_UNPROVED;
		return;
	}
	old = tables_diff_new(now->f, p->from, now->t);
	new = tables_diff_new(now->f, p->to, now->t);
	out->blocks = old->blocks_all;
	out->old_lft = old->nblocks;
	out->old_sl2vl = old->nsl2vl;
	out->new_lft = new->nblocks;
	out->new_sl2vl = new->nsl2vl;
	tables_diff_free(old);
	tables_diff_free(new);
}

int foreign_tables_judge(const struct foreign_tables *t, struct executor_foreign *out,
			 struct err *err)
{
	struct live now = { 0 };
	int rc = foreign_tables_read_settled(&now, t, err);

	*out = (struct executor_foreign){ 0 };
	if (!rc)
		rc = foreign_tables_verify(out, &now, t->w, err);
	if (!rc)
		foreign_tables_count(out, &now, t->plan);
	live_close(&now);
	return rc;
}

int foreign_tables_others(const struct foreign_tables *t)
{
	uint64_t begin = clock_ms(), other = begin;
	uint64_t was = t->plan ? t->plan->sm.guid : 0;
	struct wire_sm sm;

	while (was && clock_ms() - begin < NOBODY_MS) {
		bool heard = !wire_sm_info(&sm, t->w, NULL);

		if (heard && sm.guid == was)
			return 0;
		if (!heard || sm.state != SM_MASTER)
			other = clock_ms();
		else if (clock_ms() - other >= t->settle_ms)
			return 1;
		clock_rest_us(1000 * LOOK_MS);
	}
	return 0;
}
