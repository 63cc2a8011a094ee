/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/collector.h"

#include "console/alert/alerts.h"
#include "console/collect/update_watch.h"
#include "console/collector/collector_dir.h"
#include "console/collector/history/history_desk.h"
#include "console/collector/history/history_keeper.h"
#include "console/collector/newest.h"
#include "console/collector/viewers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/baseline/findings.h"
#include "fabric/version.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define WAIT_MS	       500
#define OTHER_FDS      5
#define STEP_S	       1.0  /* times of steps are whole seconds */
#define ALERTS_WAIT_MS 5000 /* until the last ones are delivered, at the end */

struct collector {
	const struct collector_opts *o;
	struct collector_dir dir;
	struct mailbox *box; /* borrowed, as the next */
	struct job_source *jobs;
	struct feed *feed;
	struct newest newest;
	struct viewers *viewers;
	struct history_keeper *keeper; /* NULL: nothing is kept, as the next */
	struct history_desk *desk;
	bool told_keeping, keeping; /* keeping: what was told last of the keeper */
	struct alerts *alerts;	    /* NULL: nobody wants them */
	int64_t since_ms;
	bool acted;	    /* it is known what was done before ... */
	int64_t update_ms;  /* ... and when the last update took its last step */
	double tables_at;   /* they are to be read again then, after that */
	struct pollfd *fds; /* OTHER_FDS + VIEWERS_MAX */
};

/* --- what it learns --------------------------------------------------------------------------- */

/* Samples are kept in columns, and what people have done in tables of its own. */
static bool collector_keeps(uint32_t kind)
{
	return kind != FRAME_SAMPLE && kind != FRAME_ACTS && kind != FRAME_UPDATES;
}

/* Takes f. */
static void collector_tell(struct collector *c, struct frame *f)
{
	bool same;

	if (!f)
		return;
	same = newest_take(&c->newest, f);
	if (!same || f->head.kind != FRAME_TABLES)
		viewers_send(c->viewers, f, same);
	if (c->keeper && !same && collector_keeps(f->head.kind))
		history_keeper_add(c->keeper, f);
	frame_put(f);
}

static void collector_keep_sample(struct collector *c, const struct msg *m)
{
	const struct frame *told = c->newest.of[FRAME_SAMPLE];
	struct frame *f = c->keeper && told ? frame_of_columns(m, told->head.time_ms) : NULL;

	if (f)
		history_keeper_add(c->keeper, f);
	frame_put(f);
}

/* What was found while nothing could be written is true still, and samples mean nothing without. */
static void collector_keep_again(struct collector *c)
{
	static const enum frame_kind kinds[] = { FRAME_FABRIC, FRAME_TABLES, FRAME_JOBS, FRAME_SM,
						 FRAME_FINDINGS };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (c->newest.of[kinds[i]])
			history_keeper_add(c->keeper, c->newest.of[kinds[i]]);
}

/* Whether the history is written: to all who look, and to those who come. */
static void collector_tell_keeping(struct collector *c)
{
	struct err why = { "" };
	int rc = history_keeper_state(c->keeper, &why);
	struct msg *m;

	if (c->told_keeping && c->keeping == !rc)
		return;
	if (c->told_keeping && !rc)
		collector_keep_again(c);
	c->told_keeping = true;
	c->keeping = !rc;
	m = msg_new(MSG_KEEPING);
	m->rc = rc;
	snprintf(m->text, sizeof(m->text), "%s", why.text);
	collector_tell(c, frame_of_msg(m));
	msg_drop(m);
}

/* An update that has begun or come farther has written, or is about to: who looks is not to take
 * the tables of before for those that are there. */
static void collector_look_at_updates(struct collector *c, const struct update_counts *now)
{
	if (c->acted && now->step_ms > c->update_ms)
		c->tables_at = clock_s() + STEP_S;
	c->acted = true;
	c->update_ms = now->step_ms;
}

static void collector_want_tables(struct collector *c)
{
	if (clock_s() < c->tables_at)
		return;
	c->tables_at = INFINITY;
	feed_want(c->feed, WANT_TABLES);
}

static void collector_tell_acts(struct collector *c)
{
	const struct acts *l = history_keeper_acts(c->keeper);
	struct msg *m;

	if (!l)
		return;
	m = msg_new(MSG_ACTS);
	m->acts = l;
	collector_tell(c, frame_of_msg(m));
	msg_drop(m);
}

/* On stderr, which is the journal of a service. */
static void collector_print(const struct log_line *line)
{
	fprintf(stderr, "%s: %s: %s\n", log_level_name(line->level), line->area, line->text);
}

static void collector_take(struct collector *c, struct msg *m)
{
	if (m->type == MSG_LOG && m->line.level > LOG_DEBUG) {
		collector_print(&m->line);
		alerts_line(c->alerts, &m->line);
	}
	if (m->type == MSG_FABRIC) {
		alerts_fabric(c->alerts, m->fabric->name);
		collector_tell(c, frame_of_findings(m->findings));
	}
	if (m->type == MSG_UPDATES)
		collector_look_at_updates(c, m->updates);
	if (m->type == MSG_FABRIC || m->type == MSG_FINDINGS)
		alerts_findings(c->alerts, m->findings);
	collector_tell(c, frame_of_msg(m));
	if (m->type == MSG_SAMPLE)
		collector_keep_sample(c, m);
	msg_drop(m);
}

static void collector_take_messages(struct collector *c)
{
	struct msg *m;

	while ((m = mailbox_take(c->box)))
		collector_take(c, m);
}

static void collector_take_jobs(struct collector *c)
{
	const struct source_status *st;
	const struct job_list *list;
	struct msg *m;

	if (!c->jobs || !source_poll(c->jobs))
		return;
	st = source_status(c->jobs);
	m = msg_new(MSG_JOBS_SOURCE);
	m->rc = (int)st->state;
	snprintf(m->text, sizeof(m->text), "%s", st->text);
	collector_take(c, m);
	list = source_take(c->jobs);
	if (!list)
		return;
	m = msg_new(MSG_JOBS);
	m->list = list;
	collector_take(c, m);
}

/* --- viewers ---------------------------------------------------------------------------------- */

static void collector_ask_past(void *ctx, uint64_t viewer, const struct past_ask *ask)
{
	struct collector *c = ctx;
	struct past_answer none = { .serial = ask->serial, .rc = -ENOENT };
	struct frame *f;

	if (c->desk) {
		history_desk_ask(c->desk, viewer, ask);
		return;
	}
	none.text = "this collector keeps no history: it was started with --history none";
	f = frame_of_past(&none);
	viewers_answer(c->viewers, viewer, f);
	frame_put(f);
}

static void collector_ask_want(void *ctx, enum want_type want)
{
	struct collector *c = ctx;

	feed_want(c->feed, want);
}

static void collector_answer(struct collector *c)
{
	struct frame *f;
	uint64_t viewer;

	while ((f = history_desk_take(c->desk, &viewer))) {
		viewers_answer(c->viewers, viewer, f);
		frame_put(f);
	}
}

static void collector_accept(struct collector *c, int listening, bool may_write)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct hello h = { .interval_s = c->o->poll.interval_s, .since_ms = c->since_ms };
	const struct frame *first[NEWEST_MAX];
	struct frame *hello;
	uint32_t n;

	if (fd < 0)
		return;
	h.may_write = may_write;
	h.oldest_ms = c->keeper ? history_keeper_oldest_ms(c->keeper) : 0;
	snprintf(h.source, sizeof(h.source), "%s", c->o->source);
	snprintf(h.jobs, sizeof(h.jobs), "%s", c->o->jobs);
	snprintf(h.version, sizeof(h.version), "%s", IBROUTE_VERSION);
	hello = frame_of_hello(&h);
	n = newest_list(first, &c->newest, hello);
	viewers_add(c->viewers, fd, may_write, first, n);
	frame_put(hello);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void collector_loop(struct collector *c, const volatile sig_atomic_t *stop)
{
	while (!*stop) {
		struct pollfd *fds = c->fds;
		uint32_t n;

		fds[0] = (struct pollfd){ .fd = mailbox_fd(c->box), .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = c->jobs ? source_fd(c->jobs) : -1,
					  .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = c->desk ? history_desk_fd(c->desk) : -1,
					  .events = POLLIN };
		fds[3] = (struct pollfd){ .fd = c->dir.look, .events = POLLIN };
		fds[4] = (struct pollfd){ .fd = c->dir.ask, .events = POLLIN };
		n = viewers_poll(c->viewers, fds + OTHER_FDS);
		if (poll(fds, OTHER_FDS + n, WAIT_MS) <= 0)
			memset(fds, 0, (OTHER_FDS + n) * sizeof(*fds));
		viewers_serve(c->viewers, fds + OTHER_FDS, n);
		collector_take_messages(c);
		collector_take_jobs(c);
		if (c->desk)
			collector_answer(c);
		if (c->keeper) {
			collector_tell_keeping(c);
			collector_tell_acts(c);
		}
		collector_want_tables(c);
		if (fds[3].revents)
			collector_accept(c, c->dir.look, false);
		if (fds[4].revents)
			collector_accept(c, c->dir.ask, true);
	}
}

static void collector_sink(void *ctx, const struct log_line *line)
{
	struct msg *m = msg_new(MSG_LOG);

	m->line = *line;
	mailbox_send(ctx, m);
}

static int collector_start(struct collector *c, struct wire *w, struct err *err)
{
	const struct collector_opts *o = c->o;
	const struct viewers_ops ops = { .past = collector_ask_past,
					 .want = collector_ask_want,
					 .ctx = c };
	struct poller *p;
	int rc;

	c->viewers = viewers_new(&ops);
	c->alerts = o->alert ? alerts_new(o->alert) : NULL;
	c->fds = xcalloc(OTHER_FDS + VIEWERS_MAX, sizeof(*c->fds));
	rc = collector_dir_open(&c->dir, o->dir, err);
	if (!rc && o->history)
		rc = history_keeper_start(&c->keeper, o->history, &o->keep, &o->dirs, err);
	if (!rc && o->history)
		rc = history_desk_start(&c->desk, o->history, err);
	if (rc) {
		wire_close(w);
		return rc;
	}
	rc = poller_start(&p, w, &o->poll, c->box, err);
	if (!rc)
		c->feed = poller_feed(p);
	return rc;
}

static void collector_end(struct collector *c)
{
	feed_stop(c->feed);
	if (c->viewers)
		collector_take_messages(c);
	log_set_sink(NULL, NULL);
	alerts_free(c->alerts, ALERTS_WAIT_MS);
	history_keeper_stop(c->keeper);
	history_desk_stop(c->desk);
	feed_free(c->feed);
	viewers_free(c->viewers);
	newest_free(&c->newest);
	collector_dir_close(&c->dir);
	free(c->fds);
}

int collector_run(const struct collector_opts *o, struct wire *w, struct job_source *jobs,
		  struct mailbox *box, const volatile sig_atomic_t *stop, struct err *err)
{
	struct collector c = { .o = o,
			       .box = box,
			       .jobs = jobs,
			       .since_ms = (int64_t)time(NULL) * 1000,
			       .tables_at = INFINITY,
			       .dir = { .look = -1, .ask = -1, .lock = -1, .dir = -1 } };
	int rc;

	log_set_sink(collector_sink, box);
	rc = collector_start(&c, w, err);
	if (!rc)
		collector_loop(&c, stop);
	collector_end(&c);
	return rc;
}
