/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/sm_session.h"

#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/format/native/tables_ibr.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN_VERSION "0.1"

struct desk {
	pthread_mutex_t lock; /* of all below but the paths */
	char *policy_path, *confirmed_path;

	struct policy *policy;	   /* the last one that could be read from the file */
	struct policy *override;   /* given over the socket, goes before it; may be NULL */
	const struct fabric *seen; /* that routes were last asked for */

	const struct tables *given; /* by the console; NULL: none */
	enum choice_source given_is;
	bool step;
	bool open;		   /* a transaction: loaded, neither kept nor returned from */
	const struct tables *base; /* of ours before it; NULL: OpenSM's own engine routed */
	enum choice_source base_is;
	struct digest base_hash;

	const struct tables *installed; /* ours; NULL: OpenSM's own engine routes */
	struct choice last;		/* without its tables */
	struct digest tables_hash;
	char refusal[400];

	uint64_t ordered, begun, finished; /* orders; of the routing under way; written */
	uint64_t back; /* the order to route by what an update returned to; 0: it was, or none */
	bool all;
	struct osm_status count; /* only the counters, and routes */
};

struct desk *desk_new(const char *policy, const char *confirmed)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	pthread_mutex_init(&d->lock, NULL);
	d->policy_path = xstrdup(policy);
	d->confirmed_path = xstrdup(confirmed);
	return d;
}

void desk_free(struct desk *d)
{
	if (!d)
		return;
	tables_put(d->given);
	tables_put(d->base);
	tables_put(d->installed);
	fabric_put(d->seen);
	policy_free(d->policy);
	policy_free(d->override);
	free(d->policy_path);
	free(d->confirmed_path);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- routing ---- */

/* A file that is broken now does not take the routes away: the one before holds. */
static int renew_policy(struct desk *d, const struct choice_log *log, struct err *err)
{
	struct policy *fresh, *old = NULL;
	char sentence[600];
	struct err why = { "" };
	int rc = policy_load(&fresh, d->policy_path, &why);

	pthread_mutex_lock(&d->lock);
	if (!rc) {
		old = d->policy;
		d->policy = fresh;
	}
	if (rc && (d->policy || d->override)) {
		snprintf(sentence, sizeof(sentence), "the policy of before holds: %s", why.text);
		rc = 1;
	}
	pthread_mutex_unlock(&d->lock);
	policy_free(old);
	if (rc > 0)
		log->say(log->ctx, sentence);
	return rc < 0 ? err_set(err, rc, "%s", why.text) : 0;
}

/* Policies are only exchanged by renew_policy(), in the same thread, and by the socket, which
 * replaces the override: that one is copied. */
static struct policy *policy_now(struct desk *d)
{
	return policy_copy(d->override ? d->override : d->policy);
}

int desk_choose(struct desk *d, struct choice *out, const struct fabric *f,
		const struct choice_log *log, struct err *err)
{
	struct choice_offer o = { .confirmed = d->confirmed_path };
	const struct fabric *old;
	struct policy *policy;
	int rc;

	*out = (struct choice){ 0 };
	pthread_mutex_lock(&d->lock);
	d->begun = d->ordered;
	pthread_mutex_unlock(&d->lock);
	rc = renew_policy(d, log, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&d->lock);
	policy = policy_now(d);
	old = d->seen;
	d->seen = fabric_get(f);
	if (d->given)
		o.given = tables_get(d->given);
	o.given_is = d->given_is;
	o.step = d->step;
	o.anyway = d->given_is == CHOICE_CONSOLE || d->back;
	if (d->installed)
		o.current = tables_get(d->installed);
	pthread_mutex_unlock(&d->lock);
	rc = choice_make(out, f, policy, &o, log, err);
	tables_put(o.given);
	tables_put(o.current);
	fabric_put(old);
	policy_free(policy);
	return rc;
}

void desk_routed(struct desk *d, const struct fabric *f, const struct choice *c)
{
	const struct tables *old;
	struct digest hash;

	tables_hash(&hash, c->tables, f);
	pthread_mutex_lock(&d->lock);
	old = d->installed;
	d->installed = tables_get(c->tables);
	d->last = *c;
	d->last.tables = NULL;
	d->tables_hash = hash;
	d->refusal[0] = '\0';
	d->count.routings++;
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
}

/* From here on what the policy excludes goes before what was returned to, too. */
static void finish_orders(struct desk *d)
{
	d->finished = d->begun;
	if (d->finished >= d->back)
		d->back = 0;
}

void desk_refused(struct desk *d, const char *why)
{
	const struct tables *old;

	pthread_mutex_lock(&d->lock);
	old = d->installed;
	d->installed = NULL;
	d->last = (struct choice){ 0 };
	snprintf(d->refusal, sizeof(d->refusal), "%s", why);
	d->count.routes[0] = '\0'; /* until another has routed, nobody has */
	d->count.refused++;
	finish_orders(d);
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
}

void desk_finished(struct desk *d, const char *routes, bool again)
{
	pthread_mutex_lock(&d->lock);
	snprintf(d->count.routes, sizeof(d->count.routes), "%s", routes);
	if (!again)
		finish_orders(d);
	pthread_mutex_unlock(&d->lock);
}

void desk_count(struct desk *d, enum desk_event e)
{
	struct osm_status *c = &d->count;

	pthread_mutex_lock(&d->lock);
	c->reroutes += e == DESK_REROUTE;
	c->heavy_sweeps += e == DESK_HEAVY;
	c->state_changes += e == DESK_STATE;
	c->traps += e == DESK_TRAP;
	c->link_events += e == DESK_LINK;
	c->acks += e == DESK_ACK;
	pthread_mutex_unlock(&d->lock);
}

/* ---- questions ---- */

static void tell_tables(const struct desk *d, struct osm_status *s)
{
	const struct tables *t = d->installed;

	if (!t)
		return;
	s->ours = true;
	snprintf(s->source, sizeof(s->source), "%s", choice_source_name(d->last.source));
	s->step = d->last.step;
	snprintf(s->engine, sizeof(s->engine), "%s", t->engine);
	snprintf(s->params, sizeof(s->params), "%s", t->params);
	s->seed = t->seed;
	s->vls = d->last.vls_used;
	s->sls = d->last.sls_used;
	s->hops_max = d->last.hops_max;
	digest_hex(s->tables, &d->tables_hash);
}

/* The policy of the next routing, NULL when there is none yet. */
static struct policy *policy_next(struct desk *d)
{
	struct policy *fresh = NULL, *p;

	pthread_mutex_lock(&d->lock);
	p = d->override ? policy_copy(d->override) : NULL;
	pthread_mutex_unlock(&d->lock);
	if (p || !policy_load(&fresh, d->policy_path, NULL))
		return p ? p : fresh;
	pthread_mutex_lock(&d->lock);
	p = d->override || d->policy ? policy_now(d) : NULL;
	pthread_mutex_unlock(&d->lock);
	return p;
}

void desk_status(struct desk *d, struct osm_status *s)
{
	struct policy *next = policy_next(d);

	pthread_mutex_lock(&d->lock);
	*s = d->count;
	snprintf(s->plugin, sizeof(s->plugin), "%s", PLUGIN_VERSION);
	tell_tables(d, s);
	snprintf(s->why, sizeof(s->why), "%s", d->refusal[0] ? d->refusal : d->last.away);
	snprintf(s->away, sizeof(s->away), "%s", d->last.confirmed_away);
	if (d->seen) {
		digest_hex(s->fabric, &d->seen->fingerprint);
		s->switches = d->seen->nsw;
		s->hosts = d->seen->nterm;
		s->links = d->seen->nchan / 2;
	}
	if (d->base)
		digest_hex(s->base, &d->base_hash);
	if (d->override || d->policy)
		snprintf(s->policy_engine, sizeof(s->policy_engine), "%s",
			 (d->override ? d->override : d->policy)->spec.label);
	s->policy_unsaved = d->override != NULL;
	pthread_mutex_unlock(&d->lock);
	snprintf(s->policy, sizeof(s->policy), "%s", d->policy_path);
	snprintf(s->confirmed, sizeof(s->confirmed), "%s", d->confirmed_path);
	s->confirmed_there = !access(d->confirmed_path, F_OK);
	if (next && next->exclude)
		snprintf(s->exclude, sizeof(s->exclude), "%s", next->exclude);
	policy_free(next);
}

static const struct fabric *fabric_now(struct desk *d, struct err *err)
{
	const struct fabric *f;

	pthread_mutex_lock(&d->lock);
	f = d->seen ? fabric_get(d->seen) : NULL;
	pthread_mutex_unlock(&d->lock);
	if (!f)
		err_set(err, -EAGAIN,
			"OpenSM has not asked for routes yet: it is starting, or a "
			"standby");
	return f;
}

/* Takes over t.  What routes now is what there is to return to, unless that is known already. */
static void give(struct desk *d, const struct tables *t, bool step)
{
	const struct tables *old;

	pthread_mutex_lock(&d->lock);
	if (!d->open && d->installed) {
		d->base = tables_get(d->installed);
		d->base_is = d->last.source;
		d->base_hash = d->tables_hash;
	}
	d->open = true;
	old = d->given;
	d->given = t;
	d->given_is = CHOICE_CONSOLE;
	d->step = step;
	d->back = 0;
	d->count.loads++;
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
}

static void answer_tables(struct osm_answer *a, const struct tables *t, const struct fabric *f)
{
	struct digest hash;

	tables_hash(&hash, t, f);
	digest_hex(a->tables, &hash);
}

static int judge_step(struct desk *d, const struct fabric *f, const struct tables *t,
		      struct err *err)
{
	const struct tables *before;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	before = d->open ? d->base : d->installed;
	if (before)
		tables_get(before);
	pthread_mutex_unlock(&d->lock);
	if (before && digest_equal(&before->fingerprint, &f->fingerprint))
		rc = choice_judge_step(f, before, t, err);
	tables_put(before);
	return rc;
}

static void keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

/* Where an update ends may not be what the routing after it would not use.  What is on the way may
 * pass what is excluded: it may be the update that leads around it. */
static int judge_target(struct desk *d, struct choice *c, const struct fabric *f,
			const struct tables *t, struct err *err)
{
	static const struct choice_log quiet = { keep_quiet, NULL };
	struct policy *p = policy_next(d);
	struct route_limits *l = NULL;
	struct err why = { "" };
	int rc = choice_judge(c, f, t, NULL, false, err);

	if (p)
		choice_limits(&l, f, p, &quiet);
	if (!rc && l && choice_judge(c, f, t, l, false, &why))
		rc = err_set(err, -EPROTO,
			     "the policy's exclude %.100s: %s Plan with --exclude, or take it out "
			     "of %s",
			     p->exclude, why.text, d->policy_path);
	route_limits_free(l);
	policy_free(p);
	return rc;
}

/* What the console sent, and the fabric it is of; the caller puts both. */
static int take_tables(struct tables **t, const struct fabric **f, struct desk *d,
		       const uint8_t *buf, size_t len, struct err *err)
{
	int rc;

	*f = fabric_now(d, err);
	if (!*f)
		return -EAGAIN;
	rc = tables_ibr_decode(t, buf, len, *f, "tables of the console", err);
	if (rc)
		fabric_put(*f);
	return rc;
}

int desk_load(struct desk *d, const uint8_t *buf, size_t len, bool step, struct osm_answer *a,
	      struct err *err)
{
	const struct fabric *f;
	struct choice c;
	struct tables *t;
	int rc = take_tables(&t, &f, d, buf, len, err);

	if (rc)
		return rc;
	rc = step ? choice_judge(&c, f, t, NULL, true, err) : judge_target(d, &c, f, t, err);
	if (!rc && step)
		rc = judge_step(d, f, t, err);
	if (!rc) {
		answer_tables(a, t, f);
		if (c.looping)
			snprintf(a->text, sizeof(a->text),
				 "until the next step packets to %u LIDs go round in a circle "
				 "(LID %u first): whoever sends there has to be drained",
				 c.looping, c.loop_lid);
		give(d, t, step);
	} else {
		tables_put(t);
	}
	fabric_put(f);
	return rc;
}

int desk_judge(struct desk *d, const uint8_t *buf, size_t len, struct osm_answer *a,
	       struct err *err)
{
	const struct fabric *f;
	struct choice c;
	struct tables *t;
	int rc = take_tables(&t, &f, d, buf, len, err);

	if (rc)
		return rc;
	rc = judge_target(d, &c, f, t, err);
	if (!rc)
		answer_tables(a, t, f);
	tables_put(t);
	fabric_put(f);
	return rc;
}

static int save_confirmed(struct desk *d, const struct tables *t, struct err *err)
{
	char *dir = xstrdup(d->confirmed_path), *slash = strrchr(dir, '/');
	int rc = 0;

	if (slash && slash != dir) {
		*slash = '\0';
		rc = store_mkdir(dir, err);
	}
	if (!rc)
		rc = tables_ibr_save(d->confirmed_path, t, err);
	free(dir);
	return rc;
}

int desk_keep(struct desk *d, struct osm_answer *a, struct err *err)
{
	const struct tables *t = NULL, *base = NULL;
	const struct fabric *f = fabric_now(d, err);
	int rc = f ? 0 : -EAGAIN;

	if (!rc) {
		pthread_mutex_lock(&d->lock);
		if (!d->given)
			rc = err_set(err, -ENOENT, "there are no tables of the console to keep");
		else if (d->step)
			rc = err_set(err, -EINVAL,
				     "these tables are a step between two others, nothing to keep");
		else
			t = tables_get(d->given);
		pthread_mutex_unlock(&d->lock);
	}
	if (!rc)
		rc = save_confirmed(d, t, err);
	if (!rc) {
		answer_tables(a, t, f);
		pthread_mutex_lock(&d->lock);
		if (d->given == t) {
			d->given_is = CHOICE_CONFIRMED;
			if (d->last.source == CHOICE_CONSOLE && d->installed == t)
				d->last.source = CHOICE_CONFIRMED;
			base = d->base;
			d->base = NULL;
			d->open = false;
		}
		pthread_mutex_unlock(&d->lock);
	}
	tables_put(base);
	tables_put(t);
	fabric_put(f);
	return rc;
}

/* They are given again, so that an engine that would find other routes by now is not asked. */
void desk_return(struct desk *d, struct osm_answer *a)
{
	const struct tables *old = NULL;

	pthread_mutex_lock(&d->lock);
	if (d->open) {
		old = d->given;
		d->given = d->base;
		d->given_is = d->base_is;
		d->step = d->open = false;
		d->base = NULL;
		d->back = d->ordered + 1;
		a->change = true;
	}
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
}

int desk_tables(struct desk *d, bool base, uint8_t **buf, size_t *len, struct err *err)
{
	const struct tables *t;

	pthread_mutex_lock(&d->lock);
	t = base ? d->base : d->installed;
	if (t)
		tables_get(t);
	pthread_mutex_unlock(&d->lock);
	if (!t)
		return err_set(err, -ENOENT, "%s",
			       base ? "no transaction is under way"
				    : "OpenSM does not route by our tables");
	tables_ibr_encode(buf, len, t);
	tables_put(t);
	return 0;
}

/* Beside it, synced, renamed. */
static int save_policy(const char *path, const char *text, size_t len, struct err *err)
{
	char *tmp = xasprintf("%s.%d", path, (int)getpid());
	int rc;

	unlink(tmp);
	rc = store_write(tmp, text, len, err);
	if (!rc && rename(tmp, path))
		rc = err_set(err, -errno, "%s cannot be replaced: %s", path, strerror(errno));
	if (rc)
		unlink(tmp);
	free(tmp);
	return rc;
}

static int read_policy(struct policy **out, const struct desk *d, const char *text, size_t len,
		       struct err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	*out = NULL;
	if (!in)
		return err_set(err, -errno, "the policy cannot be read: %s", strerror(errno));
	rc = policy_read(out, in, d->policy_path, err);
	fclose(in);
	return rc;
}

static int forget(struct desk *d, struct err *err)
{
	const struct tables *given, *base;

	if (unlink(d->confirmed_path) && errno != ENOENT)
		return err_set(err, -errno, "%s cannot be removed: %s", d->confirmed_path,
			       strerror(errno));
	pthread_mutex_lock(&d->lock);
	given = d->given;
	base = d->base;
	d->given = d->base = NULL;
	d->step = d->open = false;
	d->back = 0;
	pthread_mutex_unlock(&d->lock);
	tables_put(given);
	tables_put(base);
	return 0;
}

int desk_policy(struct desk *d, const char *text, size_t len, unsigned flags, struct osm_answer *a,
		struct err *err)
{
	struct policy *p = NULL, *old;
	int rc = len ? read_policy(&p, d, text, len, err) : 0;

	if (!rc && len && flags & OSM_POLICY_SAVE) {
		rc = save_policy(d->policy_path, text, len, err);
		policy_free(p);
		p = NULL;
	}
	if (!rc && flags & OSM_POLICY_FORGET)
		rc = forget(d, err);
	if (rc) {
		policy_free(p);
		return rc;
	}
	pthread_mutex_lock(&d->lock);
	old = d->override;
	d->override = p;
	pthread_mutex_unlock(&d->lock);
	policy_free(old);
	a->change = true;
	return 0;
}

/* ---- orders ---- */

uint64_t desk_order(struct desk *d, bool all)
{
	uint64_t order;

	pthread_mutex_lock(&d->lock);
	order = ++d->ordered;
	d->all |= all;
	pthread_mutex_unlock(&d->lock);
	return order;
}

bool desk_wants_all(struct desk *d)
{
	bool all;

	pthread_mutex_lock(&d->lock);
	all = d->all;
	d->all = false;
	pthread_mutex_unlock(&d->lock);
	return all;
}

bool desk_answered(struct desk *d, uint64_t order, struct osm_answer *a)
{
	bool done;

	pthread_mutex_lock(&d->lock);
	done = d->finished >= order;
	if (done) {
		a->ours = d->installed != NULL;
		a->rc = a->ours ? 0 : -EPROTO;
		snprintf(a->source, sizeof(a->source), "%s",
			 a->ours ? choice_source_name(d->last.source) : "");
		snprintf(a->text, sizeof(a->text), "%s", a->ours ? d->last.away : d->refusal);
		if (a->ours)
			digest_hex(a->tables, &d->tables_hash);
	}
	pthread_mutex_unlock(&d->lock);
	return done;
}
