/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/poller_priv.h"

#include "console/io/progress_line.h"
#include "console/update/agents_away.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SM_S	   5.0
#define SM_AGAIN_S 1.0 /* when it has not answered */
#define RETRY_S	   3.0
#define HURRY_S	   10.0 /* a link may go up and down all the time */
#define MANY	   4	/* ports that do not answer any more, at once */
#define STEP_MS	   100
/* SL2VL tables are read for at least so long between two readings of counters, and for so many
 * times what these take. */
#define SLICE_S	    1.0
#define SLICE_SHARE 2
#define PLUGIN_MS   300
#define PATIENCE_MS 400 /* before there is a word of it */

static void poller_report_loss(struct poller *p, const char *why)
{
	struct msg *msg;

	if (p->lost)
		return;
	p->lost = true;
	log_add(LOG_ERROR, "wire", "%s", why);
	msg = msg_new(MSG_LOST);
	snprintf(msg->text, sizeof(msg->text), "%s", why);
	mailbox_send(p->box, msg);
}

static void poller_report_found(struct poller *p)
{
	if (!p->lost)
		return;
	p->lost = false;
	log_add(LOG_INFO, "wire", "the fabric is responding again");
	mailbox_send(p->box, msg_new(MSG_FOUND));
}

/* Tables and counters: nothing where it is done at once. */
static void poller_reading_step(struct poller *p, const char *step, uint64_t done, uint64_t total,
				uint64_t now)
{
	struct msg *msg;

	if (p->step != step || !done) {
		p->step = step;
		p->step_ms = now;
	}
	if (now - p->step_ms < PATIENCE_MS || now - p->last_step_ms < STEP_MS)
		return;
	p->last_step_ms = now;
	msg = msg_new(MSG_READING);
	progress_words(msg->text, sizeof(msg->text), step, done, total,
		       (double)(now - p->step_ms) / 1e3);
	mailbox_send(p->box, msg);
}

static void poller_sweep_step(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct poller *p = ctx;
	uint64_t now = clock_ms();
	struct msg *msg;

	if (poller_tables_step(p, step, done, total, now))
		return;
	if (!p->discovering)
		poller_reading_step(p, step, done, total, now);
	if (!p->discovering || now - p->last_step_ms < STEP_MS)
		return;
	p->last_step_ms = now;
	msg = msg_new(MSG_DISCOVERING);
	msg->done = p->discovering->switches;
	msg->total = p->discovering->cas;
	sweep_pace_words(msg->text, sizeof(msg->text), &p->pace, done, total);
	mailbox_send(p->box, msg);
}

static void poller_set_sweeping(struct poller *p, bool on)
{
	pthread_mutex_lock(&p->lock);
	p->sweeping = on;
	if (!p->stop)
		atomic_store(&p->progress.cancel, false);
	pthread_mutex_unlock(&p->lock);
}

static void poller_report_ended(struct poller *p)
{
	struct msg *msg = msg_new(MSG_DISCOVERING);

	msg->rc = -ECANCELED;
	mailbox_send(p->box, msg);
}

/* Nobody waits for it any more, nor for the tables that were to follow. */
static void poller_sweep_ended(struct poller *p)
{
	if (p->tables) {
		p->tables_read = true;
		p->tables_at = poller_due(p->opts.tables_s, 0);
	}
	poller_report_ended(p);
}

/* The same fabric, perhaps with other names; not while something reads on it piece by piece. */
static void poller_take_names(struct poller *p, const struct fabric *f)
{
	bool same = fabric_same_rates(p->fabric, f);

	for (uint32_t t = 0; t < f->nend && same; t++)
		same = !strcmp(p->fabric->term_desc[t], f->term_desc[t]);
	if (same || p->sl2vl) {
		fabric_put(f);
		return;
	}
	fabric_put(p->fabric);
	p->fabric = f;
	fabric_shape_put(p->shape); /* racks have names, too */
	p->shape = fabric_shape_new(f, p->opts.racks, p->opts.racks_path);
}

/* part: of what has been heard of only; that is no reason to look at the rest later. */
static void poller_ask_sm(struct poller *p);

static void poller_do_sweep(struct poller *p, bool part)
{
	double start = clock_s();
	const struct fabric *f;
	bool partial = false, same;
	char *silent = NULL;
	struct err err;
	struct msg *msg;
	int rc;

	wire_pace(p->wire, p->tables_read && !p->lost);
	poller_set_sweeping(p, true);
	rc = poller_discover(&f, p, &part, &partial, &silent, &err);
	poller_set_sweeping(p, false);
	wire_pace(p->wire, false);
	poller_forget_heard(p);
	if (!part)
		p->sweep_at = poller_due(p->opts.sweep_s, clock_s() - start);
	if (rc == -ECANCELED) {
		poller_sweep_ended(p);
		return;
	}
	if (rc) {
		poller_report_loss(p, err.text);
		p->sweep_at = clock_s() + RETRY_S;
		return;
	}
	poller_report_found(p);
	same = p->fabric && digest_equal(&p->fabric->fingerprint, &f->fingerprint);
	if (same) {
		poller_take_names(p, f);
	} else {
		fabric_put(p->fabric);
		p->fabric = f;
		free(p->engines);
		p->engines = engine_list_new(f);
		fabric_shape_put(p->shape);
		p->shape = fabric_shape_new(f, p->opts.racks, p->opts.racks_path);
		log_add(LOG_INFO, "sweep", "%u switch%s, %u host%s, %u ISL%s in %.2f s", f->nsw,
			plural_es(f->nsw), f->nterm, plural(f->nterm), f->nchan / 2,
			plural(f->nchan / 2), clock_s() - start);
	}
	msg = msg_new(MSG_FABRIC);
	msg->fabric = fabric_get(p->fabric);
	msg->engines = engine_list_copy(p->engines);
	msg->shape = fabric_shape_get(p->shape);
	msg->findings = poller_watch_findings(p);
	msg->partial = partial;
	msg->silent = silent;
	msg->seconds = clock_s() - start;
	mailbox_send(p->box, msg);
	/* what fell silent may have lost its way in the middle of the sweep */
	if (!same && partial)
		p->sweep_at = fmin(p->sweep_at, clock_s() + RETRY_S);
	if (!same) {
		poller_forget_tables(p);
		if (clock_s() >=
		    p->sm_at) /* first: its plugin knows SLs, and who has made the tables */
			poller_ask_sm(p);
		poller_read_tables(p);
	} else if (p->aside) {
		poller_tables_take_aside(p);
	} else if (clock_s() >= p->tables_at) {
		poller_tables_due(p);
	}
}

/* A link that has gone is still a port of the last discovery. */
static bool poller_went_down(const struct sample *before, const struct sample *now)
{
	uint32_t bit = 1u << CTR_LINK_DOWNED;

	if (!before || before->nport != now->nport)
		return false;
	for (uint32_t i = 0; i < now->nport; i++)
		if ((before->port[i].valid & now->port[i].valid & bit) &&
		    now->port[i].v[CTR_LINK_DOWNED] > before->port[i].v[CTR_LINK_DOWNED])
			return true;
	return false;
}

/* A cable on the way to many, without an SM that leads around it; a host that hangs is one. */
static bool poller_lost_many(const struct sample *before, const struct sample *now)
{
	return before && before->nport == now->nport &&
	       now->asked - now->answered >= before->asked - before->answered + MANY;
}

static void poller_hurry(struct poller *p)
{
	double now = clock_s();

	p->sweep_at = fmin(p->sweep_at, fmax(now, p->hurry_at));
	if (now >= p->hurry_at)
		p->hurry_at = now + HURRY_S;
}

static unsigned poller_what(const struct poller *p)
{
	unsigned what = ((p->opts.needs & NEED_TRAFFIC) ? SAMPLE_TRAFFIC : 0) |
			((p->opts.needs & NEED_ERRORS) ? SAMPLE_ERRORS : 0) |
			((p->opts.needs & NEED_WAIT) ? SAMPLE_WAIT : 0);

	if (what != SAMPLE_ALL)
		return what;
	return what | SAMPLE_SUMS | (p->opts.exact ? 0 : SAMPLE_CALM);
}

static void poller_sample(struct poller *p)
{
	struct sample *s;
	struct err err;
	struct msg *msg;
	double interval;
	int rc;

	if (!(p->opts.needs & NEED_COUNTERS)) {
		p->sample_at = INFINITY;
		return;
	}
	pthread_mutex_lock(&p->lock);
	interval = p->interval_s;
	pthread_mutex_unlock(&p->lock);
	p->sample_at = clock_s() + interval;
	mailbox_send(p->box, msg_new(MSG_POLLING));
	wire_pace(p->wire, true);
	rc = wire_read_sample(&s, p->wire, p->fabric, poller_what(p), &p->progress, &err);
	wire_pace(p->wire, false);
	if (rc == -ECANCELED)
		return;
	if (rc) {
		poller_report_loss(p, err.text);
		p->sample_at = clock_s() + RETRY_S;
		return;
	}
	if (s->asked && !s->answered)
		poller_report_loss(
			p, "no switch responds: the port to the fabric or everything behind it is "
			   "down");
	else
		poller_report_found(p);
	msg = msg_new(MSG_SAMPLE);
	msg->fabric = fabric_get(p->fabric);
	msg->reading = sample_reading_new(p->readings, p->shape, s);
	if (poller_went_down(msg->reading->before, s) || poller_lost_many(msg->reading->before, s))
		poller_hurry(p);
	mailbox_send(p->box, msg);
}

/* As the plugin has heard them. */
static void poller_ask_agents(struct poller *p, struct msg *msg)
{
	struct osm_agent *heard = NULL;
	struct agent_away *away;
	uint32_t nheard = 0, n;

	if (!p->fabric || osm_link_agents(p->osm, &heard, &nheard, NULL))
		return;
	agents_away_merge(&away, &n, NULL, NULL, 0, heard, nheard, time(NULL));
	agents_away_text(msg->away, sizeof(msg->away), away, n, p->fabric);
	free(away);
	free(heard);
}

/* What really routes, where our plugin is in that SM on this machine.  A local socket: it answers
 * at once or never. */
static bool poller_ask_plugin(struct osm_status *status, struct poller *p, struct msg *msg)
{
	struct osm_status s;

	if (p->opts.simulated ||
	    (!p->osm && osm_link_open(&p->osm, p->opts.socket, PLUGIN_MS, NULL)) ||
	    (osm_link_fd(p->osm) < 0 && osm_link_reopen(p->osm, NULL)) ||
	    osm_link_status(p->osm, &s, NULL) || s.sm_guid != msg->sm.guid)
		return false;
	snprintf(msg->engine, sizeof(msg->engine), "%.23s", s.ours ? s.engine : s.routes);
	if (!s.ours)
		snprintf(msg->requested, sizeof(msg->requested), "ibroute");
	snprintf(msg->replaces, sizeof(msg->replaces), "%s", s.replaces);
	msg->counted = true;
	osm_status_counts(&msg->counts, &s);
	poller_count_links(p, &s);
	memcpy(msg->update, s.update, sizeof(msg->update));
	memcpy(msg->owner, s.owner, sizeof(msg->owner));
	if (!s.update[0]) /* its agents are where it wants them */
		poller_ask_agents(p, msg);
	if (!s.ours && s.why[0])
		snprintf(msg->text, sizeof(msg->text), "%s", s.why);
	*status = s;
	return true;
}

static void poller_ask_osm(struct poller *p, struct msg *msg)
{
	struct mad_local local = { 0 };
	struct osm_status s;
	bool told = poller_ask_plugin(&s, p, msg);

	if (!p->opts.simulated)
		wire_local(p->wire, &local);
	load_adaptive(&msg->adapts, p->opts.adaptive, told ? &s : NULL,
		      msg->sm.guid && local.port_guid == msg->sm.guid);
	adaptive_text(msg->adaptive, sizeof(msg->adaptive), &msg->adapts);
}

static void poller_ask_sm(struct poller *p)
{
	struct wire_sm sm;
	struct err err;
	struct msg *msg;
	int rc = wire_sm_info(&sm, p->wire, &err);

	p->sm_at = clock_s() + (rc ? SM_AGAIN_S : SM_S);
	/* its path may have been lost a moment ago, and be found again */
	if (rc && !p->sm_lost && !p->sm_doubt) {
		p->sm_doubt = true;
		return;
	}
	p->sm_doubt = false;
	if (rc && !p->sm_lost)
		log_add(LOG_WARN, "sm", "%s", err.text);
	if (!rc && p->sm_lost)
		log_add(LOG_INFO, "sm", "the subnet manager is responding again");
	p->sm_lost = rc != 0;
	msg = msg_new(MSG_SM);
	msg->rc = rc;
	if (!rc) {
		msg->sm = sm;
		poller_listen(p, sm.guid);
		poller_ask_osm(p, msg);
	} else {
		snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	}
	mailbox_send(p->box, msg);
}

/* --- the thread ----------------------------------------------------------------------------- */

static void poller_do_want(struct poller *p, enum want_type want)
{
	switch (want) {
	case WANT_SWEEP:
		p->sweep_at = p->tables_at = 0;
		p->tables_read = p->ended = false; /* somebody waits */
		break;
	case WANT_TABLES:
		poller_read_again(p);
		break;
	case WANT_READ_ON:
		poller_read_on(p);
		break;
	case WANT_READ_END:
		poller_read_end(p);
		break;
	case WANT_SAMPLE:
		p->sample_at = 0;
		break;
	case WANT_ERRORS:
		poller_watch_want(p);
		break;
	case WANT_COUNT:
		break;
	}
}

static double poller_next_due(const struct poller *p)
{
	double at = fmin(fmin(p->sweep_at, p->part_at), p->sm_at);

	if (p->links_known)
		at = fmin(at, p->links_at);
	if (p->fabric)
		at = fmin(at, p->sample_at);
	if (p->fabric && !p->lost) /* else these wait for an answer to the others */
		at = fmin(at, fmin(p->errors_at, p->heard ? INFINITY : p->tables_at));
	return at;
}

static void poller_do_due(struct poller *p)
{
	double now = clock_s(), took = 0;

	if (!p->fabric || now >= fmin(p->sweep_at, p->part_at))
		poller_do_sweep(p, p->fabric && now < p->sweep_at);
	if (now >= p->sm_at)
		poller_ask_sm(p);
	poller_watch_updates(p);
	if (p->fabric && now >= p->sample_at) {
		now = clock_s();
		poller_sample(p);
		took = clock_s() - now;
	}
	if (p->fabric && !p->lost && clock_s() >= p->errors_at)
		poller_watch_errors(p);
	if (p->fabric && !p->lost && !p->heard && clock_s() >= p->tables_at)
		poller_tables_due(p); /* else after the sweep that is to come */
	if (poller_reads_sl2vl(p))
		poller_sl2vl_run(
			p, fmax(clock_s() + fmax(SLICE_S, took * SLICE_SHARE), poller_next_due(p)));
}

static void poller_wait_until(struct poller *p, double at)
{
	double left = fmax(0, fmin(at - clock_s(), 1.0));
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += (long)(fmod(left, 1.0) * 1e9);
	ts.tv_sec += (time_t)left + ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	pthread_mutex_lock(&p->lock);
	if (!p->wants.n && !p->stop && left > 0)
		pthread_cond_timedwait(&p->wake, &p->lock, &ts);
	pthread_mutex_unlock(&p->lock);
}

static void *poller_run(void *arg)
{
	struct poller *p = arg;
	enum want_type want;

	for (;;) {
		bool stop;

		pthread_mutex_lock(&p->lock);
		stop = p->stop;
		pthread_mutex_unlock(&p->lock);
		if (stop)
			return NULL;
		if (poller_wants_take(&want, p)) {
			poller_do_want(p, want);
			continue;
		}
		poller_ask_links(p);
		poller_hear(p);
		poller_do_due(p);
		if (!poller_reads_sl2vl(p))
			poller_wait_until(p, poller_hears_again(p, poller_next_due(p)));
	}
}

void poller_free(struct poller *p)
{
	if (!p)
		return;
	vec_free(&p->wants);
	poller_forget_tables(p);
	free(p->engines);
	fabric_shape_put(p->shape);
	fabric_put(p->fabric);
	sample_readings_free(p->readings);
	fabric_watch_free(p->watch);
	update_watch_free(p->updates);
	free(p->name);
	osm_link_close(p->osm);
	wire_close(p->wire);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* --- as a feed ------------------------------------------------------------------------------ */

static void poller_op_want(struct feed *f, enum want_type want)
{
	poller_want((struct poller *)f, want);
}

static void poller_op_interval(struct feed *f, double interval_s)
{
	poller_interval((struct poller *)f, interval_s);
}

static void poller_op_end_sweep(struct feed *f)
{
	poller_end_sweep((struct poller *)f);
}

static void poller_op_tables_end(struct feed *f)
{
	poller_tables_end((struct poller *)f);
}

static void poller_op_stop(struct feed *f)
{
	poller_stop((struct poller *)f);
}

static void poller_op_free(struct feed *f)
{
	poller_free((struct poller *)f);
}

static const struct feed_ops poller_ops = {
	.want = poller_op_want,
	.interval = poller_op_interval,
	.end_sweep = poller_op_end_sweep,
	.tables_end = poller_op_tables_end,
	.stop = poller_op_stop,
	.free = poller_op_free,
};

struct feed *poller_feed(struct poller *p)
{
	return &p->feed;
}

int poller_start(struct poller **out, struct wire *w, const struct poller_opts *opts,
		 struct mailbox *box, struct err *err)
{
	struct poller *p = xcalloc(1, sizeof(*p));
	pthread_condattr_t attr;
	int rc;

	p->feed.ops = &poller_ops;
	p->opts = *opts;
	if (!p->opts.needs)
		p->opts.needs = NEED_ALL;
	p->interval_s = opts->interval_s;
	p->wire = w;
	p->box = box;
	p->readings = sample_readings_new();
	p->part_at = INFINITY;
	poller_watch_begin(p);
	p->progress.report = poller_sweep_step;
	p->progress.ctx = p;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = thread_start(&p->thread, "poller", poller_run, p, err);
	if (rc) {
		poller_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void poller_stop(struct poller *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->progress.cancel, true);
	pthread_join(p->thread, NULL);
}

void poller_interval(struct poller *p, double interval_s)
{
	pthread_mutex_lock(&p->lock);
	p->interval_s = interval_s;
	pthread_mutex_unlock(&p->lock);
	poller_want(p, WANT_SAMPLE);
}

void poller_end_sweep(struct poller *p)
{
	bool waits = false;
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->wants.n; i++) {
		if (p->wants.v[i] == WANT_SWEEP)
			waits = true;
		else
			p->wants.v[n++] = p->wants.v[i];
	}
	p->wants.n = n;
	if (!waits && p->sweeping)
		atomic_store(&p->progress.cancel, true);
	pthread_mutex_unlock(&p->lock);
	if (waits)
		poller_report_ended(p);
}

void poller_tables_end(struct poller *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->reading_lfts)
		atomic_store(&p->progress.cancel, true);
	pthread_mutex_unlock(&p->lock);
	poller_want(p, WANT_READ_END);
}
