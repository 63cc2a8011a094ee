/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/link/collected.h"

#include "console/collector/collector_dir.h"
#include "console/collector/link/collector_link.h"
#include "console/input/load/load_jobs.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/source.h"
#include "fabric/update/journal/journal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_S  5.0 /* it tells all that it has at once */
#define RATES_S	  0.5
#define SAMPLE_S  10.0 /* and so many of its intervals may pass before it counts as blind */
#define INTERVALS 5
#define FRESH_S	  300 /* a discovery, a reading of tables */

struct collected {
	const struct fabric *fabric; /* own references; NULL: not told, as the next ones */
	const struct tables *tables;
	const struct job_list *list;
	const struct rates *rates;
	bool told_jobs, told_sm, told_sample, partial, lost;
	double interval_s, sample_at; /* by clock_s(), when it came */
	int64_t fabric_ms, tables_ms, sample_ms;
	double tables_s; /* by clock_s(), when their reading began */
	char *silent;
	struct wire_sm sm;
	struct adaptive adaptive;
};

static void collected_done(struct collected *c)
{
	rates_put(c->rates);
	job_list_put(c->list);
	tables_put(c->tables);
	fabric_put(c->fabric);
	free(c->silent);
}

/* --- what it tells --------------------------------------------------------------------------- */

static void collected_take_fabric(struct collected *c, struct msg *m)
{
	if (c->fabric != m->fabric) {
		tables_put(c->tables);
		rates_put(c->rates);
		c->tables = NULL;
		c->rates = NULL;
		c->told_sample = false;
	}
	fabric_put(c->fabric);
	free(c->silent);
	c->fabric = m->fabric;
	c->silent = m->silent;
	c->fabric_ms = m->time_ms;
	m->fabric = NULL;
	m->silent = NULL;
}

static void collected_take_tables(struct collected *c, struct msg *m)
{
	tables_put(c->tables);
	c->tables = m->tables;
	c->tables_ms = m->time_ms;
	c->tables_s = m->since_s;
	c->partial = m->partial;
	m->tables = NULL;
}

static void collected_take_sample(struct collected *c, const struct msg *m)
{
	rates_put(c->rates);
	c->rates = m->reading->rates ? rates_get(m->reading->rates) : NULL;
	c->sample_ms = m->time_ms;
	if (!c->told_sample)
		c->sample_at = clock_s();
	c->told_sample = true;
}

static void collected_take(struct collected *c, struct msg *m)
{
	switch (m->type) {
	case MSG_COLLECTOR:
		c->interval_s = m->seconds;
		break;
	case MSG_FABRIC:
		collected_take_fabric(c, m);
		break;
	case MSG_TABLES:
		collected_take_tables(c, m);
		break;
	case MSG_SAMPLE:
		collected_take_sample(c, m);
		break;
	case MSG_JOBS:
		job_list_put(c->list);
		c->list = m->list;
		m->list = NULL;
		break;
	case MSG_JOBS_SOURCE:
		c->told_jobs = m->rc == SOURCE_OK;
		break;
	case MSG_SM:
		c->told_sm = !m->rc;
		c->sm = m->sm;
		c->adaptive = m->adapts;
		break;
	case MSG_LOST:
		c->lost = true;
		break;
	default:
		break;
	}
}

static bool collected_has_tables(const struct collected *c, const struct live_opts *o)
{
	return c->tables && !c->partial && (o->lfts_only || tables_know_vls(c->tables));
}

static bool collected_has_all(const struct collected *c, const struct live_opts *o)
{
	return c->fabric && collected_has_tables(c, o) && c->told_sample &&
	       (c->rates || clock_s() > c->sample_at + RATES_S);
}

static void collected_listen(struct collected *c, struct mailbox *box, const struct live_opts *o)
{
	double until = clock_s() + ANSWER_S;
	struct msg *m;

	while (!collected_has_all(c, o) && !c->lost && clock_s() < until) {
		struct pollfd fd = { .fd = mailbox_fd(box), .events = POLLIN };

		poll(&fd, 1, 100);
		while ((m = mailbox_take(box))) {
			collected_take(c, m);
			msg_drop(m);
		}
	}
}

/* --- whether that will do -------------------------------------------------------------------- */

static int64_t collected_age_s(int64_t time_ms)
{
	int64_t age = (int64_t)time(NULL) - time_ms / 1000;

	return age > 0 ? age : 0;
}

static double collected_wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* An update of this machine that has gone on since they were read has written, or is about to. */
static bool collected_written_since(char id[48], const struct collected *c,
				    const struct live_opts *o)
{
	double read_s = collected_wall_s() - (clock_s() - c->tables_s);
	struct txn_info *list = NULL;
	uint32_t n = 0;
	bool written = false;

	if (journal_list(&list, &n, journal_base(o->state_dir), NULL))
		return false; /* who may not see them writes nothing */
	for (uint32_t i = 0; i < n && !written; i++) {
		written = read_s < (double)list[i].state_s + 1; /* of whole seconds */
		snprintf(id, 48, "%s", list[i].head.id);
	}
	free(list);
	return written;
}

static int collected_check(const struct collected *c, const struct live_opts *o, const char *dir,
			   struct err *err)
{
	char id[48] = "";
	double blind_s = fmax(SAMPLE_S, INTERVALS * c->interval_s);

	if (c->lost || !collected_has_all(c, o))
		return err_set(err, -EAGAIN, "%s: the collector does not know the fabric%s", dir,
			       c->fabric ? "'s tables" : "");
	if (o->name && strcmp(o->name, c->fabric->name) != 0)
		return err_set(err, -EAGAIN, "%s: the fabric of this collector is %s, not %s", dir,
			       c->fabric->name, o->name);
	if (collected_age_s(c->sample_ms) > blind_s || collected_age_s(c->fabric_ms) > FRESH_S ||
	    collected_age_s(c->tables_ms) > FRESH_S || c->tables_s < o->tables_after_s)
		return err_set(err, -EAGAIN, "%s: what the collector knows is too old", dir);
	if (collected_written_since(id, c, o))
		return err_set(err, -EAGAIN,
			       "%s: update %s has written since the collector read the tables, "
			       "%.0f s ago; it reads them again within seconds",
			       dir, id, clock_s() - c->tables_s);
	return 0;
}

/* A port, keys and names of its own are for those who ask the fabric themselves. */
static bool collected_may(const struct live_opts *o)
{
	return !o->ca && !o->port && !o->simulator && !o->node_names && !o->names && !o->io_nodes &&
	       !o->ask_m_key && !o->m_key && !o->m_keys;
}

/* --- as of a fabric that was read ------------------------------------------------------------ */

/* What OpenSM says of yes wins over what was declared, and that over the rest. */
static void collected_adaptive(struct adaptive *out, const struct adaptive *told,
			       enum adaptive_state declared)
{
	if (told->state == ADAPTIVE_YES || declared == ADAPTIVE_UNKNOWN)
		*out = *told;
	else
		load_adaptive_declared(out, declared);
	if (!out->why[0])
		snprintf(out->why, sizeof(out->why), "the collector does not say");
}

static int collected_jobs(struct live *l, const struct collected *c, const struct live_opts *o,
			  struct err *err)
{
	int rc;

	if (!o->jobs || strcmp(o->jobs, "slurm") || !c->list || !c->told_jobs ||
	    (o->moment && o->moment->since))
		return 0; /* they are asked for elsewhere */
	rc = jobset_from_list(&l->jobs, c->list, l->f, err);
	if (!rc)
		load_jobs_tell_names(l->jobs, l->f);
	return rc;
}

/* Once: a service reads again and again. */
static void collected_tell(const struct collected *c)
{
	static bool told;
	int64_t fabric_s = collected_age_s(c->fabric_ms), tables_s = collected_age_s(c->tables_ms);

	if (told)
		return;
	told = true;
	for (const char *at = c->silent; at && *at; at += strcspn(at, "\n") + 1)
		fprintf(stderr, "warning: %.*s does not respond\n", (int)strcspn(at, "\n"), at);
	fprintf(stderr,
		"note: fabric and tables are the collector's, read %lld s ago; --collector none "
		"reads them now\n",
		(long long)(fabric_s > tables_s ? fabric_s : tables_s));
}

static int collected_give(struct live *l, struct collected *c, const struct live_opts *o,
			  struct err *err)
{
	int rc;

	*l = (struct live){ .collected = true,
			    .sm = { .guid = c->sm.guid, .priority = c->sm.priority },
			    .lfts_only = o->lfts_only };
	if (c->told_sm)
		l->told_sm = c->sm;
	/* nobody else has them by now */
	l->f = (struct fabric *)c->fabric;
	l->t = (struct tables *)c->tables;
	l->rates = c->rates;
	c->fabric = NULL;
	c->tables = NULL;
	c->rates = NULL;
	collected_adaptive(&l->adaptive, &c->adaptive, o->adaptive);
	rc = collected_jobs(l, c, o, err);
	if (rc)
		live_close(l);
	else
		collected_tell(c);
	return rc;
}

static int collected_read(struct collected *c, const char *dir, const struct live_opts *o,
			  struct err *err)
{
	struct collector_link_opts lo = { .dir = dir };
	struct mailbox *box;
	struct feed *feed;
	int rc = collector_link_try(dir, err);

	if (rc)
		return rc;
	box = mailbox_new();
	rc = collector_link_start(&feed, &lo, box, err);
	if (!rc) {
		collected_listen(c, box, o);
		feed_stop(feed);
		feed_free(feed);
		rc = collected_check(c, o, dir, err);
	}
	mailbox_free(box);
	return rc;
}

int collected_open(struct live *l, const struct live_opts *o, struct err *err)
{
	struct collected c = { 0 };
	char *dir;
	int rc;

	if (!collected_may(o) || (o->collector && !strcmp(o->collector, "none")))
		return -EAGAIN;
	dir = o->collector ? xstrdup(o->collector) : collector_dir_default(o->name);
	rc = collected_read(&c, dir, o, err);
	if (!rc)
		rc = collected_give(l, &c, o, err);
	else if (!o->collector)
		rc = -EAGAIN;
	else if (rc == -EAGAIN)
		rc = -ENODATA;
	if (rc == -EAGAIN)
		err->text[0] = '\0';
	collected_done(&c);
	free(dir);
	return rc;
}
