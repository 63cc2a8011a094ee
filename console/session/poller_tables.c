/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the switches: LFTs at once, and the SL2VL tables, which are nine tenths of them
 * all, a run at a time between the readings of counters. */
#include "console/session/poller_priv.h"

#include "console/io/progress_line.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/installer/osm_foreign.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SL2VL tables hardly change while no route does. */
#define SL2VL_S	    300.0
#define SL2VL_SHARE 60
#define SLS_MAX	    20000 /* queries to the SM for the service levels of paths */
#define SLS_TRIES   5	  /* of the SLs of the same LFTs, which may not be known at once */
#define STEP_MS	    100
#define PATIENCE_S  0.3 /* before LFTs are sent without their SL2VL */
#define AGAIN_S	    1.0
#define ASIDE_S	    10.0 /* between two sweeps for tables that somebody else has changed */

/* How often OpenSM has routed; 0: nobody tells, or it is about to write, or an update is. */
static uint64_t poller_tables_plugin_routings(struct poller *p)
{
	struct osm_status s;

	if (!p->osm || osm_link_fd(p->osm) < 0 || osm_link_status(p->osm, &s, NULL) || s.busy ||
	    !s.ours || s.base[0])
		return 0;
	return s.routings;
}

/* How often OpenSM has routed, by whatever engine; 0: it is at work, or nobody tells. */
static uint64_t poller_tables_settled(struct poller *p, bool *known)
{
	struct osm_status s;

	*known = p->osm && osm_link_fd(p->osm) >= 0 && !osm_link_status(p->osm, &s, NULL);
	return *known && !s.busy ? s.routings + s.refused + 1 : 0;
}

/* Was OpenSM at work while they were read?  Then SLs and SL2VL may be of before, and are read
 * again. */
static void poller_tables_distrust(struct poller *p, double took_s)
{
	bool known;
	uint64_t now = poller_tables_settled(p, &known);

	if (!known || (now && now == p->begun))
		return;
	p->sl2vl_at = 0;
	p->tables_at = fmin(p->tables_at, poller_due(AGAIN_S, took_s));
}

/* before: what poller_tables_plugin_routings() was before t was read. */
static void poller_tables_watch_writers(struct poller *p, const struct tables *t, uint64_t before)
{
	struct tables *known;
	struct err err = { "" };
	int rc;

	if (!before)
		return;
	rc = osm_foreign(&known, p->osm, p->fabric, t, &err);
	tables_put(known);
	if (before != poller_tables_plugin_routings(p))
		return;
	if (rc == -EUCLEAN && !p->foreign)
		log_add(LOG_WARN, "sm", "%s", err.text);
	if (!rc && p->foreign)
		log_add(LOG_INFO, "sm", "the switches hold the tables of OpenSM again");
	p->foreign = rc == -EUCLEAN;
}

/* Takes t. */
static void poller_tables_tell_tables(struct poller *p, const struct tables *t,
				      const struct tables_report *r)
{
	struct msg *msg = msg_new(MSG_TABLES);

	msg->fabric = fabric_get(p->fabric);
	msg->tables = t;
	msg->total = r->mads;
	msg->seconds = (double)r->took_ns / 1e9;
	msg->since_s = p->read_since;
	msg->partial = r->nmissing > 0;
	mailbox_send(p->box, msg);
}

static void poller_tables_tell_end(struct poller *p, int rc)
{
	struct msg *msg = msg_new(MSG_TABLES_READING);

	msg->rc = rc;
	mailbox_send(p->box, msg);
}

static bool poller_tables_same_lfts(const struct tables *a, const struct tables *b, uint32_t nsw)
{
	bool same = a->max_lid == b->max_lid;

	for (uint32_t sw = 0; same && sw < nsw; sw++)
		same = !memcmp(tables_row(a, sw), tables_row(b, sw), a->max_lid + 1ull);
	return same;
}

static void poller_tables_drop_sl2vl(struct poller *p)
{
	wire_sl2vl_free(p->sl2vl);
	p->sl2vl = NULL;
}

static void poller_tables_drop_told(struct poller *p)
{
	tables_put(p->tables);
	p->tables = NULL;
	p->partial = false;
}

static void poller_tables_drop_aside(struct poller *p)
{
	tables_put(p->aside);
	p->aside = NULL;
}

void poller_forget_tables(struct poller *p)
{
	poller_tables_drop_sl2vl(p);
	poller_tables_drop_told(p);
	tables_put(p->lfts);
	p->lfts = NULL;
	poller_tables_drop_aside(p);
	p->ended = false;
}

/* --- SL2VL ----------------------------------------------------------------------------------- */

bool poller_reads_sl2vl(const struct poller *p)
{
	return p->sl2vl && !p->ended && !p->lost;
}

/* As OpenSM has them by our plugin: all of them, where the SM's answers are looked at by chance. */
static bool poller_tables_plugin_sls(struct poller *p, struct tables *t)
{
	struct tables *known = NULL;
	bool same;

	if (!poller_tables_plugin_routings(p))
		return false;
	same = !osm_foreign(&known, p->osm, p->fabric, t, NULL) && known->stride == t->stride;
	if (same) {
		tables_sl_form(t, known->sl_kind, p->fabric);
		t->sl_const = known->sl_const;
		if (known->sl)
			memcpy(t->sl, known->sl,
			       tables_sl_rows(t->sl_kind, t->nsw, t->nend) * t->stride);
		t->sls_told = true;
		/* they are the same: so is who has made them */
		memcpy(t->engine, known->engine, sizeof(t->engine));
		memcpy(t->params, known->params, sizeof(t->params));
	}
	tables_put(known);
	return same;
}

/* In one piece: so many take about a second. */
static void poller_tables_ask_sls(struct poller *p, struct tables *t)
{
	struct err err = { "" };
	int rc;

	p->sls_again = false;
	if (p->opts.simulated)
		return;
	if (poller_tables_plugin_sls(p, t)) {
		p->sls_failed = false;
		return;
	}
	if (p->sm_lost) {
		p->sls_again = true;
		return;
	}
	wire_pace(p->wire, p->tables_read);
	rc = wire_learn_path_sls(t, p->wire, p->fabric, SLS_MAX, NULL, &err);
	wire_pace(p->wire, false);
	if (rc && !p->sls_failed)
		log_add(LOG_INFO, "tables", "%s: SL 0 is assumed", err.text);
	p->sls_failed = rc != 0;
	p->sls_again = rc && rc != -E2BIG;
}

static void poller_tables_all_read(struct poller *p)
{
	struct tables_report r;
	struct tables *t = wire_sl2vl_take(&r, p->sl2vl);
	double took_s;

	p->sl2vl = NULL;
	r.mads += p->of_lfts.mads;
	r.took_ns += p->of_lfts.took_ns;
	r.blocks_missing = p->of_lfts.blocks_missing;
	if (r.nmissing < p->of_lfts.nmissing)
		r.nmissing = p->of_lfts.nmissing;
	poller_tables_ask_sls(p, t);
	took_s = (double)r.took_ns / 1e9;
	if (r.nmissing)
		log_add(LOG_WARN, "tables",
			"%u of %u LFT blocks and %u of %u SL2VL tables could not be read, on %u "
			"switch%s",
			r.blocks_missing, p->of_lfts.blocks, r.sl2vl_missing, r.sl2vl, r.nmissing,
			plural_es(r.nmissing));
	tables_put(p->lfts);
	p->lfts = tables_get(t);
	poller_tables_drop_told(p);
	p->tables = t;
	p->partial = r.nmissing > 0;
	p->tables_read = true;
	p->sl2vl_at = clock_s() + fmax(SL2VL_S, took_s * SL2VL_SHARE);
	poller_tables_distrust(p, took_s);
	if (p->sls_again && p->sls_tries++ < SLS_TRIES) {
		p->sl2vl_at = 0;
		p->tables_at = fmin(p->tables_at, poller_due(AGAIN_S, took_s));
	}
	if (!p->partial)
		poller_tables_watch_writers(p, t, p->routings);
	poller_tables_tell_tables(p, tables_get(t), &r);
	tables_report_clear(&r);
}

void poller_sl2vl_run(struct poller *p, double until_s)
{
	struct err err = { "" };
	int rc;

	p->slice_end = until_s;
	p->slicing = true;
	wire_pace(p->wire, p->tables_read);
	rc = wire_sl2vl_read(p->sl2vl, &p->progress, &err);
	wire_pace(p->wire, false);
	p->slicing = false;
	if (rc == -EAGAIN)
		return;
	if (!rc) {
		poller_tables_all_read(p);
		return;
	}
	poller_tables_drop_sl2vl(p);
	poller_tables_tell_end(p, rc == -ECANCELED ? -EINTR : rc);
	if (rc != -ECANCELED)
		log_add(LOG_WARN, "tables", "%s", err.text);
}

static void poller_tables_begin_sl2vl(struct poller *p)
{
	struct err err = { "" };
	int rc;

	poller_tables_drop_sl2vl(p);
	rc = wire_sl2vl_begin(&p->sl2vl, p->wire, p->fabric, p->lfts, &p->progress, &err);
	if (rc && rc != -ECANCELED)
		log_add(LOG_WARN, "tables", "%s", err.text);
	p->slice_from = UINT64_MAX;
	if (!rc)
		poller_sl2vl_run(p, clock_s() + PATIENCE_S);
}

bool poller_tables_step(struct poller *p, const char *step, uint64_t done, uint64_t total,
			uint64_t now_ms)
{
	double now = (double)now_ms / 1e3, share;
	struct msg *msg;

	if (p->slicing && (now >= p->slice_end || poller_wants_any(p)))
		wire_sl2vl_pause(p->sl2vl);
	if (p->tables || !(p->slicing || p->reading_lfts))
		return p->slicing;
	if (p->step != step || p->slice_from == UINT64_MAX) {
		p->step = step;
		p->slice_since = now;
		p->slice_from = done;
	}
	if (done <= p->slice_from)
		return true;
	if (now - p->slice_since < PATIENCE_S || now_ms - p->last_step_ms < STEP_MS)
		return true;
	p->last_step_ms = now_ms;
	msg = msg_new(MSG_TABLES_READING);
	msg->done = done;
	msg->total = total;
	/* as if all of it had gone as fast as since it began, or went on */
	share = (double)done / (double)(done - p->slice_from);
	progress_words(msg->text, sizeof(msg->text), step, done, total,
		       (now - p->slice_since) * share);
	mailbox_send(p->box, msg);
	return true;
}

/* --- LFTs, and all --------------------------------------------------------------------------- */

static void poller_tables_set_reading(struct poller *p, bool on)
{
	pthread_mutex_lock(&p->lock);
	p->reading_lfts = on;
	if (!p->stop)
		atomic_store(&p->progress.cancel, false);
	pthread_mutex_unlock(&p->lock);
}

/* Those that were read are sent alone when the rest does not follow soon. */
static void poller_tables_take_lfts(struct poller *p, struct tables *t)
{
	poller_tables_drop_told(p);
	tables_put(p->lfts);
	p->lfts = t;
	p->sls_tries = 0;
	if (p->ended) {
		poller_tables_drop_sl2vl(p);
	} else if ((p->opts.needs & NEED_SL2VL)) {
		poller_tables_begin_sl2vl(p);
	} else {
		p->tables = tables_get(t);
		p->tables_read = true;
	}
	if (!p->tables || !(p->opts.needs & NEED_SL2VL))
		poller_tables_tell_tables(p, tables_get(t), &p->of_lfts);
	if (!p->tables && !p->sl2vl && !p->ended)
		poller_tables_tell_end(p, -EIO);
}

void poller_tables_take_aside(struct poller *p)
{
	struct tables *t = p->aside;

	p->aside = NULL;
	p->written = false;
	poller_tables_take_lfts(p, t);
}

/* Whoever has changed them has perhaps done so because the fabric has changed: what that costs is
 * found from the tables of before, so the fabric is discovered first.  Takes t if so. */
static bool poller_tables_put_aside(struct poller *p, struct tables *t)
{
	if (!p->lfts || p->written)
		return false;
	if (clock_s() < p->aside_at) {
		p->sweep_at = fmin(p->sweep_at, p->aside_at);
		return false;
	}
	p->aside = t;
	p->aside_at = clock_s() + ASIDE_S;
	p->sweep_at = 0;
	return true;
}

static void poller_tables_read_lfts(struct poller *p, bool again)
{
	bool waited = !p->lfts;
	struct tables_report report = { 0 };
	double start = clock_s();
	struct tables *t;
	struct err err;
	bool same, known;
	int rc;

	p->slice_from = UINT64_MAX;
	poller_tables_drop_aside(p);
	p->routings = poller_tables_plugin_routings(p);
	p->begun = poller_tables_settled(p, &known);
	if (waited)
		poller_tables_set_reading(p, true);
	wire_pace(p->wire, p->tables_read);
	rc = wire_read_tables(&t, p->wire, p->fabric, false, &report, &p->progress, &err);
	wire_pace(p->wire, false);
	free(report.missing_sw);
	report.missing_sw = NULL; /* their number is all that is told */
	if (waited)
		poller_tables_set_reading(p, false);
	p->tables_at = poller_due(p->opts.tables_s, clock_s() - start);
	if (rc == -ECANCELED && waited) {
		p->ended = true;
		poller_tables_tell_end(p, rc);
	} else if (rc && rc != -ECANCELED) {
		log_add(LOG_WARN, "tables", "%s", err.text);
	}
	if (rc)
		return;
	tables_report_clear(&p->of_lfts);
	p->of_lfts = report;
	same = p->lfts && !p->written && poller_tables_same_lfts(t, p->lfts, p->fabric->nsw);
	if (!p->sl2vl || again || !same)
		p->read_since = start;
	if (!same && poller_tables_put_aside(p, t))
		return;
	if (!same) {
		p->written = false;
		poller_tables_take_lfts(p, t);
		return;
	}
	tables_put(t);
	if (again)
		poller_tables_begin_sl2vl(p);
	else if (p->tables && !p->sl2vl && !p->partial) {
		poller_tables_watch_writers(p, p->tables, p->routings);
		poller_tables_tell_tables(p, tables_get(p->tables), &report);
	}
}

void poller_read_tables(struct poller *p)
{
	p->ended = false;
	p->written = true;
	if (p->opts.needs & (NEED_LFTS | NEED_SL2VL))
		poller_tables_read_lfts(p, p->opts.needs & NEED_SL2VL);
	else
		p->tables_at = INFINITY;
}

void poller_tables_due(struct poller *p)
{
	bool stand = p->sl2vl || p->ended || !(p->opts.needs & NEED_SL2VL) ||
		     (p->tables && !p->partial && p->tables_read && clock_s() < p->sl2vl_at);

	if (p->ended && !p->lfts)
		p->tables_at = poller_due(p->opts.tables_s, 0);
	else
		poller_tables_read_lfts(p, !stand);
}

void poller_read_again(struct poller *p)
{
	p->ended = false;
	p->written = true;
	p->tables_at = 0;
	p->tables_read = false;
}

void poller_read_on(struct poller *p)
{
	p->ended = false;
	p->slice_from = UINT64_MAX;
	if (p->sl2vl)
		return;
	p->tables_at = 0;
	p->tables_read = false;
}

void poller_read_end(struct poller *p)
{
	if (!p->sl2vl || p->tables || p->ended)
		return;
	p->ended = true;
	poller_tables_tell_end(p, -ECANCELED);
}
