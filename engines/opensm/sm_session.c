/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/sm_session.h"

#include "engines/opensm/io_list.h"
#include "fabric/base/message/plural.h"
#include "engines/opensm/sm_update.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/version.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sm_session {
	pthread_mutex_t lock; /* of what follows the paths; whoever has it allocates nothing */
	char *policy_path, *confirmed_path;

	struct policy *policy;	   /* the last one that could be read from the file */
	struct policy *override;   /* given over the socket, goes before it; may be NULL */
	const struct fabric *seen; /* that routes were last asked for */

	const struct tables *given;	   /* by the console; NULL: none */
	const struct endports *given_ends; /* of the fabric it is of */
	struct table_judged judged;	   /* when it was loaded */
	enum table_source given_is;
	bool given_since; /* the same as when routes were last asked for */
	bool step;
	struct sm_update update;

	const struct tables *installed; /* ours; NULL: OpenSM's own engine routes */
	const struct fabric *installed_on;
	const struct tables *better, *better_of; /* a step, and what was installed then; or NULL */
	struct policy
		*chosen_by; /* by which they were asked for last; NULL: they are not to be kept */
	/* installed last without a repair, and not by an update that nobody has confirmed */
	const struct tables *origin;
	const struct endports *origin_ends;
	enum table_source origin_is;
	struct table_selection last; /* without its tables */
	struct digest tables_hash;
	char refusal[400];

	uint64_t ordered, begun, finished; /* orders; of the routing under way; written */
	uint64_t back; /* the order to route by what an update returned to; 0: it was, or none */
	bool all;
	struct osm_status count; /* only the counters, and routes */
	struct link_reports links;
};

struct sm_session *sm_session_new(const char *policy, const char *confirmed)
{
	struct sm_session *d = xcalloc(1, sizeof(*d));

	pthread_mutex_init(&d->lock, NULL);
	d->policy_path = xstrdup(policy);
	d->confirmed_path = xstrdup(confirmed);
	return d;
}

void sm_session_free(struct sm_session *d)
{
	struct sm_update_rest rest;

	if (!d)
		return;
	sm_update_close(&d->update, NULL, &rest);
	sm_update_rest_free(&rest);
	tables_put(d->given);
	endports_put(d->given_ends);
	fabric_put(d->judged.f);
	tables_put(d->installed);
	fabric_put(d->installed_on);
	tables_put(d->better);
	tables_put(d->better_of);
	fabric_put(d->seen);
	tables_put(d->origin);
	endports_put(d->origin_ends);
	policy_put(d->chosen_by);
	policy_put(d->policy);
	policy_put(d->override);
	free(d->policy_path);
	free(d->confirmed_path);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- routing ---- */

/* A file that is broken now does not take the routes away: the one before holds. */
static int sm_session_renew_policy(struct sm_session *d, const struct table_selection_log *log,
				   struct err *err)
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
		snprintf(sentence, sizeof(sentence), "the previous policy stays in effect: %s",
			 why.text);
		rc = 1;
	}
	pthread_mutex_unlock(&d->lock);
	policy_put(old);
	if (rc > 0)
		log->say(log->ctx, sentence);
	return rc < 0 ? err_set(err, rc, "%s", why.text) : 0;
}

/* Under the lock. */
static struct policy *sm_session_policy_now(struct sm_session *d)
{
	return policy_get(d->override ? d->override : d->policy);
}

/* Other tables than those that were loaded last; judged: theirs, which is copied, or NULL; under
 * the lock. */
static void sm_session_take_given(struct sm_session *d, const struct tables *t,
				  const struct table_judged *judged)
{
	d->given = t;
	d->given_since = false;
	fabric_put(d->judged.f);
	d->judged = judged ? *judged : (struct table_judged){ 0 };
	if (d->judged.f)
		fabric_get(d->judged.f);
}

/* What nobody confirmed does not outlive the switches and cables that it was made for. */
static void sm_session_leave_other_fabric(struct sm_session *d, const struct fabric *f,
					  const struct table_selection_log *log)
{
	struct sm_update_rest rest = { 0 };
	const struct tables *given = NULL;
	char sentence[300] = "";

	pthread_mutex_lock(&d->lock);
	if (d->given_ends && !digest_equal(&d->given_ends->switch_graph, &f->switch_graph)) {
		given = d->given;
		sm_session_take_given(d, NULL, NULL);
		d->step = false;
		d->back = 0;
	}
	if (d->update.open && !digest_equal(&d->update.ends->switch_graph, &f->switch_graph)) {
		snprintf(sentence, sizeof(sentence),
			 "the fabric has changed during update %s: its tables are discarded",
			 d->update.who.id);
		sm_update_close(&d->update, sentence, &rest);
	}
	pthread_mutex_unlock(&d->lock);
	tables_put(given);
	sm_update_rest_free(&rest);
	if (sentence[0])
		log->say(log->ctx, sentence);
}

/* What nobody has confirmed is not, nor are steps on the way there.  Under the lock. */
static bool sm_session_may_repair(const struct sm_session *d)
{
	return d->installed && d->installed_on && !d->last.step && d->last.source != CHOICE_CONSOLE;
}

/* Under the lock; everything in it is referenced. */
static void sm_session_offer(const struct sm_session *d, const struct policy *policy,
			     struct table_offer *o)
{
	*o = (struct table_offer){
		.given = tables_get(d->given),
		.given_is = d->given_is,
		.ends = endports_get(d->given_ends),
		.base = d->update.open && d->given ? tables_get(d->update.base) : NULL,
		.base_is = d->update.base_is,
		.step = d->step,
		.judged = d->judged,
		.anyway = d->given_is == CHOICE_CONSOLE || d->back,
		.confirmed = d->confirmed_path,
		.current = tables_get(d->installed),
		.current_on = sm_session_may_repair(d) ? fabric_get(d->installed_on) : NULL,
		.current_is = d->last.source,
		.origin = tables_get(d->origin),
		.origin_ends = endports_get(d->origin_ends),
		.origin_is = d->origin_is,
		.same_policy = d->chosen_by && policy_same(d->chosen_by, policy),
		.better = d->better && d->better_of == d->installed ? tables_get(d->better) : NULL,
	};
	if (o->judged.f)
		fabric_get(o->judged.f);
}

static void sm_session_offer_put(const struct table_offer *o)
{
	tables_put(o->given);
	endports_put(o->ends);
	tables_put(o->base);
	tables_put(o->current);
	fabric_put(o->current_on);
	tables_put(o->origin);
	endports_put(o->origin_ends);
	fabric_put(o->judged.f);
	tables_put(o->better);
}

void sm_session_mark_io(struct sm_session *d, struct fabric *f, const char *guid_file,
			const struct table_selection_log *log)
{
	struct policy *p = NULL;
	char sentence[400];
	struct err err = { "" };
	int rc;

	if (policy_load(&p, d->policy_path, NULL)) /* which is said when it is routed by */
		p = NULL;
	rc = io_list_mark(f, p, d->policy_path, guid_file, &err);
	policy_put(p);
	if (!rc)
		return;
	if (rc < 0)
		snprintf(sentence, sizeof(sentence), "no hosts for I/O are known: %.340s",
			 err.text);
	else
		snprintf(sentence, sizeof(sentence), "%d port%s of hosts for I/O", rc, plural(rc));
	log->say(log->ctx, sentence);
}

int sm_session_choose(struct sm_session *d, struct table_selection *out, const struct fabric *f,
		      const struct table_selection_log *log, struct err *err)
{
	struct table_offer o;
	const struct fabric *old;
	struct policy *policy, *was;
	int rc;

	*out = (struct table_selection){ 0 };
	pthread_mutex_lock(&d->lock);
	d->begun = d->ordered;
	pthread_mutex_unlock(&d->lock);
	rc = sm_session_renew_policy(d, log, err);
	if (rc)
		return rc;
	sm_session_leave_other_fabric(d, f, log);
	pthread_mutex_lock(&d->lock);
	policy = sm_session_policy_now(d);
	old = d->seen;
	d->seen = fabric_get(f);
	sm_session_offer(d, policy, &o);
	was = d->chosen_by;
	d->chosen_by = policy;
	policy_get(policy);
	d->given_since = true;
	pthread_mutex_unlock(&d->lock);
	rc = table_selection_make(out, f, policy, &o, log, err);
	sm_session_offer_put(&o);
	fabric_put(old);
	policy_put(was);
	policy_put(policy);
	return rc;
}

/* Under the lock, as it is confirmed or routed by the policy; the caller puts what is given back.
 */
static void sm_session_take_origin(struct sm_session *d, const struct tables **t,
				   const struct endports **ends, enum table_source is)
{
	const struct tables *old = d->origin;
	const struct endports *old_ends = d->origin_ends;

	d->origin = *t;
	d->origin_ends = *ends;
	d->origin_is = is;
	*t = old;
	*ends = old_ends;
}

static bool sm_session_is_origin(const struct table_selection *c)
{
	return !c->step && c->source != CHOICE_CONSOLE && c->source != CHOICE_REPAIRED;
}

bool sm_session_at_hand(struct sm_session *d)
{
	bool known;

	pthread_mutex_lock(&d->lock);
	known = !d->all && d->given && d->judged.f && (d->given_is == CHOICE_CONSOLE || d->back);
	pthread_mutex_unlock(&d->lock);
	return known;
}

void sm_session_routed(struct sm_session *d, const struct fabric *f,
		       const struct table_selection *c)
{
	bool origin = sm_session_is_origin(c);
	const struct tables *t = origin ? tables_get(c->tables) : NULL;
	const struct endports *ends = origin ? endports_of(f) : NULL;
	const struct fabric *old_on;
	const struct tables *old;
	struct digest hash;
	bool known;

	pthread_mutex_lock(&d->lock);
	known = d->given == c->tables && d->judged.f;
	hash = d->judged.hash;
	pthread_mutex_unlock(&d->lock);
	if (!known)
		tables_hash(&hash, c->tables, f);
	pthread_mutex_lock(&d->lock);
	old = d->installed;
	old_on = d->installed_on;
	d->installed = tables_get(c->tables);
	d->installed_on = fabric_get(f);
	d->last = *c;
	d->last.tables = NULL;
	if (c->source == CHOICE_CONSOLE && d->given_since) /* confirmed meanwhile? */
		d->last.source = d->given_is;
	d->tables_hash = hash;
	d->refusal[0] = '\0';
	d->count.routings++;
	if (origin)
		sm_session_take_origin(d, &t, &ends, c->source);
	pthread_mutex_unlock(&d->lock);
	tables_put(t);
	endports_put(ends);
	tables_put(old);
	fabric_put(old_on);
}

bool sm_session_improve(struct sm_session *d, const struct tables *of, const struct tables *step)
{
	const struct tables *old, *old_of;
	bool may;

	pthread_mutex_lock(&d->lock);
	may = d->installed == of && !d->update.open && !d->given;
	old = d->better;
	old_of = d->better_of;
	d->better = may ? tables_get(step) : NULL;
	d->better_of = may ? tables_get(of) : NULL;
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
	tables_put(old_of);
	return may;
}

struct policy *sm_session_chosen_by(struct sm_session *d)
{
	struct policy *p;

	pthread_mutex_lock(&d->lock);
	p = policy_get(d->chosen_by);
	pthread_mutex_unlock(&d->lock);
	return p;
}

/* From here on what the policy excludes goes before what was returned to, too. */
static void sm_session_finish_orders(struct sm_session *d)
{
	d->finished = d->begun;
	if (d->finished >= d->back)
		d->back = 0;
}

void sm_session_refused(struct sm_session *d, const char *why)
{
	const struct tables *old;

	pthread_mutex_lock(&d->lock);
	old = d->installed;
	d->installed = NULL;
	d->last = (struct table_selection){ 0 };
	snprintf(d->refusal, sizeof(d->refusal), "%s", why);
	d->count.routes[0] = '\0'; /* until another has routed, nobody has */
	d->count.refused++;
	sm_session_finish_orders(d);
	pthread_mutex_unlock(&d->lock);
	tables_put(old);
}

void sm_session_finished(struct sm_session *d, const char *routes, bool again)
{
	pthread_mutex_lock(&d->lock);
	snprintf(d->count.routes, sizeof(d->count.routes), "%s", routes);
	if (!again)
		sm_session_finish_orders(d);
	pthread_mutex_unlock(&d->lock);
}

void sm_session_count(struct sm_session *d, enum sm_session_event e)
{
	struct osm_status *c = &d->count;

	pthread_mutex_lock(&d->lock);
	c->reroutes += e == SM_SESSION_REROUTE;
	c->heavy_sweeps += e == SM_SESSION_HEAVY;
	c->state_changes += e == SM_SESSION_STATE;
	c->traps += e == SM_SESSION_TRAP;
	c->acks += e == SM_SESSION_ACK;
	pthread_mutex_unlock(&d->lock);
}

void sm_session_link(struct sm_session *d, uint16_t lid)
{
	pthread_mutex_lock(&d->lock);
	link_reports_add(&d->links, lid);
	pthread_mutex_unlock(&d->lock);
}

/* ---- questions ---- */

static void sm_session_tell_tables(const struct sm_session *d, struct osm_status *s)
{
	const struct tables *t = d->installed;

	if (!t)
		return;
	s->ours = true;
	snprintf(s->source, sizeof(s->source), "%s", table_source_name(d->last.source));
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
static struct policy *sm_session_policy_next(struct sm_session *d)
{
	struct policy *fresh = NULL, *p;

	pthread_mutex_lock(&d->lock);
	p = policy_get(d->override);
	pthread_mutex_unlock(&d->lock);
	if (p || !policy_load(&fresh, d->policy_path, NULL))
		return p ? p : fresh;
	pthread_mutex_lock(&d->lock);
	p = sm_session_policy_now(d);
	pthread_mutex_unlock(&d->lock);
	return p;
}

void sm_session_status(struct sm_session *d, struct osm_status *s)
{
	struct policy *next = sm_session_policy_next(d);

	pthread_mutex_lock(&d->lock);
	*s = d->count;
	snprintf(s->plugin, sizeof(s->plugin), "%s", IBROUTE_VERSION);
	s->link_events = d->links.n;
	link_reports_put(s->link_lids, &d->links);
	sm_session_tell_tables(d, s);
	snprintf(s->why, sizeof(s->why), "%s", d->refusal[0] ? d->refusal : d->last.away);
	snprintf(s->away, sizeof(s->away), "%s", d->last.confirmed_away);
	if (d->seen) {
		digest_hex(s->fabric, &d->seen->fingerprint);
		s->switches = d->seen->nsw;
		s->hosts = d->seen->nterm;
		s->links = d->seen->nchan / 2;
	}
	if (d->update.base)
		digest_hex(s->base, &d->update.base_hash);
	if (d->update.open) {
		snprintf(s->update, sizeof(s->update), "%s", d->update.who.id);
		snprintf(s->owner, sizeof(s->owner), "%s", d->update.who.owner);
	}
	snprintf(s->ended, sizeof(s->ended), "%s", d->update.ended);
	if (d->override || d->policy)
		snprintf(s->policy_engine, sizeof(s->policy_engine), "%s",
			 (d->override ? d->override : d->policy)->spec.label);
	s->policy_unsaved = d->override != NULL;
	pthread_mutex_unlock(&d->lock);
	snprintf(s->policy, sizeof(s->policy), "%s", d->policy_path);
	snprintf(s->confirmed, sizeof(s->confirmed), "%s", d->confirmed_path);
	s->confirmed_there = !access(d->confirmed_path, F_OK);
	s->ahead = true;
	if (next && next->text[PARAM_EXCLUDE])
		snprintf(s->exclude, sizeof(s->exclude), "%s", next->text[PARAM_EXCLUDE]);
	policy_put(next);
}

static const struct fabric *sm_session_fabric_now(struct sm_session *d, struct err *err)
{
	const struct fabric *f;

	pthread_mutex_lock(&d->lock);
	f = d->seen ? fabric_get(d->seen) : NULL;
	pthread_mutex_unlock(&d->lock);
	if (!f)
		err_set(err, -EAGAIN,
			"OpenSM has not asked for a routing yet: it is starting, or a standby");
	return f;
}

/* Takes over t. */
static int sm_session_give(struct sm_session *d, const char *id, const struct tables *t,
			   const struct table_judged *judged, struct err *err)
{
	const struct tables *old = t;
	const struct fabric *old_judged = NULL;
	const struct endports *old_ends = NULL;
	struct sm_update_rest rest = { 0 };
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = sm_update_check(&d->update, id, err);
	if (!rc) {
		sm_update_step(&d->update, tables_get(t), &rest);
		old = d->given;
		old_ends = d->given_ends;
		d->given = t;
		d->given_since = false;
		d->given_ends = endports_get(d->update.ends);
		d->given_is = CHOICE_CONSOLE;
		d->step = judged->figures.step;
		d->back = 0;
		d->count.loads++;
		old_judged = d->judged.f;
		d->judged = *judged;
		fabric_get(judged->f);
	}
	pthread_mutex_unlock(&d->lock);
	sm_update_rest_free(&rest);
	tables_put(old);
	fabric_put(old_judged);
	endports_put(old_ends);
	return rc;
}

static int sm_session_judge_step(struct sm_session *d, const struct fabric *f,
				 const struct tables *t, struct err *err)
{
	const struct tables *before;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	before = tables_get(d->update.open ? d->update.base : d->installed);
	pthread_mutex_unlock(&d->lock);
	if (before && digest_equal(&before->fingerprint, &f->fingerprint))
		rc = table_selection_judge_step(f, before, t, err);
	tables_put(before);
	return rc;
}

static void sm_session_keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

/* Where an update ends may not be what the routing after it would not use.  What comes in between
 * may pass what is excluded: it may be the update that leads around it. */
static int sm_session_judge_target(struct sm_session *d, struct table_selection *c,
				   const struct fabric *f, const struct tables *t, struct err *err)
{
	static const struct table_selection_log quiet = { sm_session_keep_quiet, NULL };
	struct policy *p = sm_session_policy_next(d);
	struct route_limits *l = NULL;
	struct err why = { "" };
	int rc = table_selection_judge(c, f, t, NULL, false, err);

	if (p)
		table_selection_limits(&l, f, p, &quiet);
	if (!rc && l && table_selection_judge(c, f, t, l, false, &why))
		rc = err_set(err, -EPROTO,
			     "the policy's exclude %.100s: %s Plan with --exclude, or remove it "
			     "from %s",
			     p->text[PARAM_EXCLUDE], why.text, d->policy_path);
	route_limits_free(l);
	policy_put(p);
	return rc;
}

/* What the console sent, and the fabric it is of; the caller puts both. */
static int sm_session_take_tables(struct tables **t, const struct fabric **f, struct sm_session *d,
				  const uint8_t *buf, size_t len, struct err *err)
{
	int rc;

	*f = sm_session_fabric_now(d, err);
	if (!*f)
		return -EAGAIN;
	rc = tables_ibr_decode(t, buf, len, *f, "tables of the console", err);
	if (rc)
		fabric_put(*f);
	return rc;
}

static void sm_session_answer_judged(struct osm_answer *a, const struct table_judged *judged)
{
	const struct table_selection *c = &judged->figures;

	digest_hex(a->tables, &judged->hash);
	if (c->looping)
		snprintf(a->text, sizeof(a->text),
			 "until the next step packets to %u LIDs loop (LID %u first): "
			 "whoever sends there must be drained",
			 c->looping, c->loop_lid);
}

/* What the console sent, as it was judged; the caller puts t and judged->f. */
static int sm_session_take_judged(struct tables **t, struct table_judged *judged,
				  struct sm_session *d, const uint8_t *buf, size_t len, bool step,
				  struct err *err)
{
	struct table_selection *c = &judged->figures;
	int rc = sm_session_take_tables(t, &judged->f, d, buf, len, err);

	if (rc)
		return rc;
	rc = step ? table_selection_judge(c, judged->f, *t, NULL, true, err)
		  : sm_session_judge_target(d, c, judged->f, *t, err);
	if (!rc && step)
		rc = sm_session_judge_step(d, judged->f, *t, err);
	if (!rc) {
		tables_hash(&judged->hash, *t, judged->f);
		return 0;
	}
	tables_put(*t);
	fabric_put(judged->f);
	return rc;
}

int sm_session_load(struct sm_session *d, const char *id, const uint8_t *buf, size_t len, bool step,
		    struct osm_answer *a, struct err *err)
{
	struct table_judged judged = { 0 };
	struct tables *t;
	int rc = sm_session_take_judged(&t, &judged, d, buf, len, step, err);

	if (rc)
		return rc;
	sm_session_answer_judged(a, &judged);
	rc = sm_session_give(d, id, t, &judged, err);
	fabric_put(judged.f);
	return rc;
}

int sm_session_judge(struct sm_session *d, const uint8_t *buf, size_t len, struct osm_answer *a,
		     struct err *err)
{
	struct table_judged judged = { 0 };
	struct tables *t;
	int rc = sm_session_take_judged(&t, &judged, d, buf, len, false, err);

	if (rc)
		return rc;
	sm_session_answer_judged(a, &judged);
	tables_put(t);
	fabric_put(judged.f);
	return 0;
}

/* The policy's exclude of the next routing; the caller frees, NULL: nothing. */
static char *sm_session_exclude_next(struct sm_session *d)
{
	struct policy *p = sm_session_policy_next(d);
	char *text = p && p->text[PARAM_EXCLUDE] ? xstrdup(p->text[PARAM_EXCLUDE]) : NULL;

	policy_put(p);
	return text;
}

/* Waves mostly have the SL2VL tables of the one before: they are kept once. */
static struct tables *sm_session_share(struct sm_session *d, struct tables *t,
				       const struct fabric *f)
{
	const struct tables *like;
	struct tables *shared = NULL;

	pthread_mutex_lock(&d->lock);
	like = tables_get(known_tables_last(d->update.known));
	pthread_mutex_unlock(&d->lock);
	if (like)
		shared = tables_borrow_sl2vl(f, t, like);
	tables_put(like);
	if (!shared)
		return t;
	tables_put(t);
	return shared;
}

int sm_session_ahead(struct sm_session *d, const char *id, const uint8_t *buf, size_t len,
		     bool step, struct osm_answer *a, struct err *err)
{
	struct known x = { .step = step };
	struct tables *t;
	bool kept = false;
	int rc = sm_session_mine(d, id, err);

	if (!rc)
		rc = sm_session_take_judged(&t, &x.judged, d, buf, len, step, err);
	if (rc)
		return rc;
	x.t = sm_session_share(d, t, x.judged.f);
	x.exclude = step ? NULL : sm_session_exclude_next(d);
	sm_session_answer_judged(a, &x.judged);
	pthread_mutex_lock(&d->lock);
	rc = sm_update_check(&d->update, id, err);
	if (!rc)
		kept = known_tables_add(d->update.known, &x);
	pthread_mutex_unlock(&d->lock);
	if (!kept) {
		known_free(&x);
		a->tables[0] = '\0';
	}
	return rc;
}

/* A verdict is of a fabric, and of what the policy excludes. */
static bool sm_session_known_holds(const struct known *x, const struct fabric *seen,
				   const char *exclude)
{
	if (!seen || !digest_equal(&x->judged.f->fingerprint, &seen->fingerprint))
		return false;
	return x->step ||
	       (exclude && x->exclude ? !strcmp(exclude, x->exclude) : !exclude && !x->exclude);
}

int sm_session_load_known(struct sm_session *d, const char *id, const struct digest *hash,
			  bool step, struct osm_answer *a, struct err *err)
{
	char *exclude = step ? NULL : sm_session_exclude_next(d);
	struct table_judged judged = { 0 };
	const struct tables *t = NULL;
	const struct known *x;
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = sm_update_check(&d->update, id, err);
	x = rc ? NULL : known_tables_find(d->update.known, hash, step);
	if (x && sm_session_known_holds(x, d->seen, exclude)) {
		t = tables_get(x->t);
		judged = x->judged;
		fabric_get(judged.f);
	}
	pthread_mutex_unlock(&d->lock);
	free(exclude);
	if (rc)
		return rc;
	if (!t)
		return err_set(err, -ENOENT, "these tables are not known here");
	sm_session_answer_judged(a, &judged);
	rc = sm_session_give(d, id, t, &judged, err);
	fabric_put(judged.f);
	return rc;
}

static int sm_session_save_confirmed(struct sm_session *d, const struct tables *t,
				     const struct endports *ends, struct err *err)
{
	char *dir = xstrdup(d->confirmed_path), *slash = strrchr(dir, '/');
	int rc = 0;

	if (slash && slash != dir) {
		*slash = '\0';
		rc = store_mkdir(dir, err);
	}
	if (!rc)
		rc = tables_ibr_save_with(d->confirmed_path, t, ends, err);
	free(dir);
	return rc;
}

/* What is to be kept, with a reference; under the lock. */
static int sm_session_to_keep(const struct sm_session *d, const char *id, const struct tables **t,
			      const struct endports **ends, struct err *err)
{
	int rc = sm_update_check(&d->update, id, err);

	if (!rc && (!d->given || d->given_is != CHOICE_CONSOLE))
		rc = err_set(err, -ENOENT, "there are no tables of the console to confirm");
	if (!rc && d->step)
		rc = err_set(err, -EINVAL,
			     "these tables are a step between two others, not to be confirmed");
	if (!rc && (!d->installed || d->last.source != CHOICE_CONSOLE || d->last.step))
		rc = err_set(err, -ESTALE,
			     "OpenSM does not route by the tables that are to be confirmed");
	if (!rc) {
		*t = tables_get(d->given);
		*ends = endports_get(d->given_ends);
	}
	return rc;
}

/* Once they are on the disk. */
static void sm_session_kept(struct sm_session *d, const struct tables *given)
{
	struct sm_update_rest rest = { 0 };
	const struct tables *t = tables_get(given);
	const struct endports *ends = NULL;

	pthread_mutex_lock(&d->lock);
	if (d->given == given) {
		d->given_is = CHOICE_CONFIRMED;
		if (d->last.source == CHOICE_CONSOLE)
			d->last.source = CHOICE_CONFIRMED;
		sm_update_close(&d->update, NULL, &rest);
		ends = endports_get(d->given_ends);
		sm_session_take_origin(d, &t, &ends, CHOICE_CONFIRMED);
	}
	pthread_mutex_unlock(&d->lock);
	tables_put(t);
	endports_put(ends);
	sm_update_rest_free(&rest);
}

int sm_session_keep(struct sm_session *d, const char *id, struct osm_answer *a, struct err *err)
{
	const struct tables *t = NULL;
	const struct endports *ends = NULL;
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = sm_session_to_keep(d, id, &t, &ends, err);
	if (!rc)
		digest_hex(a->tables, &d->tables_hash);
	pthread_mutex_unlock(&d->lock);
	if (!rc)
		rc = sm_session_save_confirmed(d, t, ends, err);
	if (!rc)
		sm_session_kept(d, t);
	tables_put(t);
	endports_put(ends);
	return rc;
}

/* ---- updates ---- */

/* What routes now, with references; under the lock. */
static void sm_session_base(const struct sm_session *d, struct sm_update_base *b)
{
	b->t = tables_get(d->installed);
	b->is = d->last.source;
	b->hash = d->tables_hash;
	if (!b->t || d->last.step)
		return;
	b->judged = (struct table_judged){
		.f = fabric_get(d->installed_on),
		.hash = d->tables_hash,
		.figures = { .vls_used = d->last.vls_used,
			     .sls_used = d->last.sls_used,
			     .hops_max = d->last.hops_max,
			     .sl_mask = d->last.sl_mask,
			     .sl_maps = d->last.sl_maps },
	};
}

int sm_session_begin(struct sm_session *d, const struct osm_update *who, struct err *err)
{
	const struct fabric *f = sm_session_fabric_now(d, err);
	struct sm_update_base base = { .ends = f ? endports_of(f) : NULL };
	struct known_tables *known = known_tables_new();
	struct sm_update_rest rest = { 0 };
	char hex[DIGEST_HEX];
	bool mine;
	int rc = f ? 0 : -EAGAIN;

	pthread_mutex_lock(&d->lock);
	mine = d->update.open && !strcmp(d->update.who.id, who->id);
	if (!rc && (d->update.open || !strcmp(d->update.ended_id, who->id)))
		rc = sm_update_check(&d->update, who->id, err);
	if (!rc && !mine && *who->fabric && strcmp(digest_hex(hex, &f->fingerprint), who->fabric))
		rc = err_set(err, -ESTALE,
			     "OpenSM has discovered another fabric than the one of the plan");
	if (!rc && mine) {
		sm_update_alive(&d->update, who, clock_ms());
	} else if (!rc) {
		sm_update_close(&d->update, NULL, &rest);
		sm_session_base(d, &base);
		sm_update_open(&d->update, who, &base, known, clock_ms());
		known = NULL;
		base.ends = NULL;
	}
	pthread_mutex_unlock(&d->lock);
	sm_update_rest_free(&rest);
	known_tables_free(known);
	endports_put(base.ends);
	fabric_put(f);
	return rc;
}

int sm_session_alive(struct sm_session *d, const struct osm_update *who, struct err *err)
{
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = sm_update_check(&d->update, who->id, err);
	if (!rc)
		sm_update_alive(&d->update, who, clock_ms());
	pthread_mutex_unlock(&d->lock);
	return rc;
}

void sm_session_heard(struct sm_session *d, const char *id)
{
	pthread_mutex_lock(&d->lock);
	if (d->update.open && *id && !strcmp(d->update.who.id, id))
		d->update.lease_ms = clock_ms() + d->update.who.lease_ms;
	pthread_mutex_unlock(&d->lock);
}

void sm_session_asked(struct sm_session *d, const char *id, uint64_t txn, uint32_t seq)
{
	pthread_mutex_lock(&d->lock);
	if (d->update.open && *id && !strcmp(d->update.who.id, id)) {
		d->update.who.txn = txn;
		d->update.who.seq = seq;
	}
	pthread_mutex_unlock(&d->lock);
}

bool sm_session_open(struct sm_session *d, struct osm_update *who)
{
	bool open;

	pthread_mutex_lock(&d->lock);
	open = d->update.open;
	*who = d->update.who;
	pthread_mutex_unlock(&d->lock);
	return open;
}

int sm_session_mine(struct sm_session *d, const char *id, struct err *err)
{
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = sm_update_check(&d->update, id, err);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

bool sm_session_overdue(struct sm_session *d, struct osm_update *who, char *why, size_t size)
{
	const char *text;

	pthread_mutex_lock(&d->lock);
	text = sm_update_overdue(&d->update, clock_ms());
	if (text) {
		*who = d->update.who;
		snprintf(why, size, "%s", text);
	}
	pthread_mutex_unlock(&d->lock);
	return text;
}

/* Takes what routed before the update, under the lock.  It is given again, so that an engine that
 * would find other routes by now is not asked. */
static void sm_session_give_base(struct sm_session *d, const char *why, const struct tables **old,
				 struct sm_update_rest *rest)
{
	*old = d->given;
	sm_session_take_given(d, tables_get(d->update.base), &d->update.base_judged);
	d->given_is = d->update.base_is;
	d->step = false;
	d->back = d->ordered + 1;
	sm_update_close(&d->update, why, rest);
}

void sm_session_return(struct sm_session *d, const char *id, struct osm_answer *a)
{
	const struct tables *old = NULL;
	struct sm_update_rest rest = { 0 };
	const char *why = *id ? NULL : "the return to the tables from before it was ordered";
	bool open;

	pthread_mutex_lock(&d->lock);
	open = d->update.open && (!*id || !strcmp(d->update.who.id, id));
	a->change = open && d->update.nsteps;
	if (a->change)
		sm_session_give_base(d, why, &old, &rest);
	else if (open) /* nothing was loaded */
		sm_update_close(&d->update, why, &rest);
	if (open)
		d->update.overruled = why;
	pthread_mutex_unlock(&d->lock);
	sm_update_rest_free(&rest);
	tables_put(old);
}

bool sm_session_back(struct sm_session *d, const char *why)
{
	const struct tables *old = NULL, *t = NULL;
	struct sm_update_rest rest = { 0 };
	const struct known *known;
	bool more = false;

	pthread_mutex_lock(&d->lock);
	if (d->update.open) {
		d->update.going_back = true;
		t = d->update.steps_lost ? NULL : sm_update_step_back(&d->update, &rest);
		more = t;
		if (more) {
			known = known_tables_of(d->update.known, t);
			old = d->given;
			sm_session_take_given(d, tables_get(t), known ? &known->judged : NULL);
			d->step = true;
		} else if (d->update.nsteps) {
			sm_session_give_base(d, why, &old, &rest);
		} else {
			sm_update_close(&d->update, why, &rest);
		}
	}
	pthread_mutex_unlock(&d->lock);
	sm_update_rest_free(&rest);
	tables_put(old);
	return more;
}

int sm_session_tables(struct sm_session *d, bool base, uint8_t **buf, size_t *len, struct err *err)
{
	const struct tables *t;

	pthread_mutex_lock(&d->lock);
	t = tables_get(base ? d->update.base : d->installed);
	pthread_mutex_unlock(&d->lock);
	if (!t)
		return err_set(err, -ENOENT, "%s",
			       base ? "no transaction is in progress"
				    : "OpenSM does not route by our tables");
	tables_ibr_encode(buf, len, t);
	tables_put(t);
	return 0;
}

static int sm_session_read_policy(struct policy **out, const struct sm_session *d, const char *text,
				  size_t len, struct err *err)
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

static int sm_session_forget(struct sm_session *d, struct err *err)
{
	const struct tables *given, *origin = NULL;
	const struct endports *ends = NULL;
	struct policy *chosen_by;
	struct sm_update_rest rest;
	bool open;

	if (unlink(d->confirmed_path) && errno != ENOENT)
		return err_set(err, -errno, "%s cannot be removed: %s", d->confirmed_path,
			       strerror(errno));
	pthread_mutex_lock(&d->lock);
	given = d->given;
	sm_session_take_given(d, NULL, NULL);
	sm_session_take_origin(d, &origin, &ends, CHOICE_ENGINE);
	chosen_by = d->chosen_by;
	d->chosen_by = NULL;
	d->step = false;
	d->back = 0;
	open = d->update.open;
	sm_update_close(&d->update, open ? "the policy was ordered to route" : NULL, &rest);
	d->update.overruled = open;
	pthread_mutex_unlock(&d->lock);
	tables_put(given);
	tables_put(origin);
	endports_put(ends);
	policy_put(chosen_by);
	sm_update_rest_free(&rest);
	return 0;
}

int sm_session_policy(struct sm_session *d, const char *text, size_t len, unsigned flags,
		      struct osm_answer *a, struct err *err)
{
	struct policy *p = NULL, *old;
	int rc = len ? sm_session_read_policy(&p, d, text, len, err) : 0;

	if (!rc && len && flags & OSM_POLICY_SAVE) {
		rc = store_replace(d->policy_path, text, len, 0600, err);
		policy_put(p);
		p = NULL;
	}
	if (!rc && flags & OSM_POLICY_FORGET)
		rc = sm_session_forget(d, err);
	if (rc) {
		policy_put(p);
		return rc;
	}
	pthread_mutex_lock(&d->lock);
	old = d->override;
	d->override = p;
	pthread_mutex_unlock(&d->lock);
	policy_put(old);
	a->change = true;
	return 0;
}

/* ---- orders ---- */

uint64_t sm_session_order(struct sm_session *d, bool all)
{
	uint64_t order;

	pthread_mutex_lock(&d->lock);
	order = ++d->ordered;
	d->all |= all;
	pthread_mutex_unlock(&d->lock);
	return order;
}

bool sm_session_wants_all(struct sm_session *d)
{
	bool all;

	pthread_mutex_lock(&d->lock);
	all = d->all;
	d->all = false;
	pthread_mutex_unlock(&d->lock);
	return all;
}

bool sm_session_answered(struct sm_session *d, uint64_t order, struct osm_answer *a)
{
	bool done;

	pthread_mutex_lock(&d->lock);
	done = d->finished >= order;
	if (done) {
		a->ours = d->installed != NULL;
		a->rc = a->ours ? 0 : -EPROTO;
		snprintf(a->source, sizeof(a->source), "%s",
			 a->ours ? table_source_name(d->last.source) : "");
		snprintf(a->text, sizeof(a->text), "%s", a->ours ? d->last.away : d->refusal);
		if (a->ours)
			digest_hex(a->tables, &d->tables_hash);
	}
	pthread_mutex_unlock(&d->lock);
	return done;
}
