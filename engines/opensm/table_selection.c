/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/table_selection.h"

#include "engines/limits/exclusion.h"
#include "engines/opensm/sl_maps.h"
#include "engines/repair/repair.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/process/isolate.h"
#include "fabric/format/native/demand_apart.h"
#include "fabric/format/native/tables_apart.h"
#include "fabric/format/site/guid_list_apart.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/model/traffic/jobset.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void say(const struct table_selection_log *log,
						      const char *fmt, ...)
{
	char sentence[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	log->say(log->ctx, sentence);
}

const char *table_source_name(enum table_source s)
{
	static const char *const names[] = {
		[CHOICE_ENGINE] = "engine",	  [CHOICE_FILE] = "file",
		[CHOICE_CONFIRMED] = "confirmed", [CHOICE_CONSOLE] = "console",
		[CHOICE_REPAIRED] = "repaired",
	};

	return names[s];
}

/* Does a packet to lid that is at a switch with hosts come back to where it was? */
static bool selection_lid_loops(const struct fabric *f, const struct tables *t, uint32_t lid)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t at = sw, hops = 0;

		while (f->term_off[sw] < f->term_off[sw + 1] && hops++ < f->nsw) {
			uint8_t port = tables_row(t, at)[lid];
			uint32_t c = port == FAB_NO_PORT ? FAB_NONE : fabric_chan(f, at, port);

			if (c == FAB_NONE)
				break;
			at = f->chan_dst[c];
		}
		if (hops > f->nsw)
			return true;
	}
	return false;
}

static void selection_count_loops(struct table_selection *out, const struct fabric *f,
				  const struct tables *t)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (!selection_lid_loops(f, t, lid))
			continue;
		if (!out->looping++)
			out->loop_lid = (uint16_t)lid;
	}
}

/* Of tables that did not pass the verdict, which are a step of an update: not less than they say.
 */
static void selection_figures(struct table_selection *out, const struct fabric *f,
			      const struct tables *t, const struct verdict *v, bool step)
{
	bool least = !verdict_ok(v);

	out->vls_used = least && t->vls > v->vls_used ? t->vls : v->vls_used;
	out->sls_used = least && t->sls > v->sls_used ? t->sls : v->sls_used;
	out->hops_max = v->hops_max;
	out->sl_mask = tables_sl_mask(t, f);
	sl_maps_hash(&out->sl_maps, t, f);
	out->step = step;
	out->looping = out->loop_lid = 0;
	if (v->looping)
		selection_count_loops(out, f, t);
}

/* In the process that computes. */
static int selection_verify(struct table_selection *out, const struct fabric *f,
			    const struct tables *t, const struct route_limits *l, bool step,
			    struct err *err)
{
	struct route_judge_opts opts = { .verify = { .limits = l } };
	struct verdict *v;
	int rc = route_judge(&v, f, t, &opts, NULL, err);

	if (rc)
		return rc;
	if (!step)
		rc = route_judge_refusal(v, f, err);
	if (!rc)
		selection_figures(out, f, t, v, step);
	verdict_free(v);
	return rc;
}

struct judging {
	struct table_selection selection;
	const struct fabric *f;
	const struct tables *t;
	const struct route_limits *l;
	bool step;
};

static int selection_judge_isolated(void *ctx, struct isolated_out *out, struct err *err)
{
	struct judging *j = ctx;
	int rc = selection_verify(&j->selection, j->f, j->t, j->l, j->step, err);

	if (!rc)
		isolated_put(out, &j->selection, sizeof(j->selection));
	return rc;
}

int table_selection_judge(struct table_selection *out, const struct fabric *f,
			  const struct tables *t, const struct route_limits *l, bool step,
			  struct err *err)
{
	struct judging j = { *out, f, t, l, step };
	struct isolated result;
	int rc = isolated_run(&result, selection_judge_isolated, &j, err);

	if (!rc)
		memcpy(out, result.data, sizeof(*out));
	isolated_free(&result);
	return rc;
}

int table_selection_judge_step(const struct fabric *f, const struct tables *before,
			       const struct tables *t, struct err *err)
{
	bool stays = before->escape && t->escape;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint8_t *was = tables_row(before, sw), *is = tables_row(t, sw);

		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			if (was[lid] == is[lid])
				continue;
			if (was[lid] != FAB_NO_PORT && is[lid] == FAB_NO_PORT)
				return err_set(err, -EPROTO,
					       "a step of an update must not remove a path: %s "
					       "has none to LID %u any more",
					       f->sw_name[sw], lid);
			if (stays && fabric_lid_escape(f, lid))
				return err_set(err, -EPROTO,
					       "a step of an update must not change the paths of "
					       "escape LIDs: %s, LID %u",
					       f->sw_name[sw], lid);
		}
	}
	return 0;
}

static int selection_take(struct table_selection *out, const struct fabric *f,
			  const struct tables *t, const struct route_limits *l,
			  enum table_source source, bool step, struct err *err)
{
	int rc = table_selection_judge(out, f, t, l, step, err);

	if (rc)
		return rc;
	out->tables = tables_get(t);
	out->source = source;
	return 0;
}

static int selection_from_file(struct table_selection *out, const struct fabric *f,
			       const char *path, const struct route_limits *l,
			       enum table_source source, struct err *err)
{
	struct tables *t;
	int rc = tables_apart_load_ibr(&t, path, f, &out->grafted, err);

	if (rc)
		return rc;
	rc = selection_take(out, f, t, l, source, false, err);
	tables_put(t);
	return rc;
}

static int selection_grafted(struct table_selection *out, const struct fabric *f,
			     const struct tables *t, const struct table_offer *o,
			     const struct route_limits *l, enum table_source source,
			     struct err *err)
{
	struct tables *kept;
	int rc;

	if (!o->ends)
		return err_set(err, -ESTALE, "they are for another fabric");
	rc = tables_graft(&kept, f, t, o->ends, &out->grafted, err);
	if (rc)
		return rc;
	rc = selection_take(out, f, kept, l, source, false, err);
	tables_put(kept);
	return rc;
}

/* The same ports with the same VLs: the fingerprint, which covers the rest, is the tables'. */
static bool selection_same_vls(const struct fabric *a, const struct fabric *b)
{
	if (!a || a->nport != b->nport)
		return false;
	for (uint32_t p = 0; p < a->nport; p++)
		if (a->port[p].op_vls != b->port[p].op_vls)
			return false;
	return true;
}

/* Each wave of an update comes here just after it was judged, while drained jobs wait. */
static bool selection_was_judged(struct table_selection *out, const struct fabric *f,
				 const struct table_offer *o)
{
	if (!o->anyway || !selection_same_vls(o->judged.f, f))
		return false;
	*out = o->judged.figures;
	out->tables = tables_get(o->given);
	out->source = o->given_is;
	return true;
}

static int selection_from_console(struct table_selection *out, const struct fabric *f,
				  const struct table_offer *o, const struct route_limits *l,
				  struct err *err)
{
	if (o->anyway)
		l = NULL;
	if (!digest_equal(&o->given->fingerprint, &f->fingerprint))
		return selection_grafted(out, f, o->given, o, l, o->given_is, err);
	if (selection_was_judged(out, f, o))
		return 0;
	return selection_take(out, f, o->given, l, o->given_is, o->step, err);
}

static int selection_from_base(struct table_selection *out, const struct fabric *f,
			       const struct table_offer *o, const struct route_limits *l,
			       struct err *err)
{
	if (!digest_equal(&o->base->fingerprint, &f->fingerprint))
		return selection_grafted(out, f, o->base, o, l, o->base_is, err);
	return selection_take(out, f, o->base, l, o->base_is, false, err);
}

static FILE *selection_open_input(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");

	if (!file)
		err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	return file;
}

/* Jobs and demand make routes better, not right: without them the engine routes all the same. */
static struct jobset *selection_load_jobs(const struct fabric *f, const char *path,
					  const struct table_selection_log *log)
{
	struct jobset *jobs = NULL;
	struct job_log *list;
	struct err why;
	FILE *file = selection_open_input(path, &why);
	int rc = -EINVAL;

	if (file) {
		rc = jobs_apart_read(&list, file, path, NULL, &why);
		fclose(file);
	}
	if (!rc) {
		rc = job_log_jobset(&jobs, list, f, JOB_LOG_ALL, "policy", &why);
		job_log_free(list);
	}
	if (rc)
		say(log, "routing without jobs: %s", why.text);
	return rc ? NULL : jobs;
}

static int selection_open_demand(struct demand_input *in, const char *path, struct err *err)
{
	in->path = path;
	in->file = path ? selection_open_input(path, err) : NULL;
	return path && !in->file ? -EINVAL : 0;
}

static struct demand *selection_load_demand(const struct fabric *f, const struct policy *p,
					    const struct table_selection_log *log)
{
	struct demand_input in = { 0 }, ranks = { 0 };
	struct demand *demand = NULL;
	struct err why;
	int rc = selection_open_demand(&ranks, p->text[PARAM_RANKS], &why);

	if (!rc)
		rc = selection_open_demand(&in, p->text[PARAM_DEMAND], &why);
	if (!rc)
		rc = demand_apart_read(&demand, &in, &ranks, f, &why);
	if (in.file)
		fclose(in.file);
	if (ranks.file)
		fclose(ranks.file);
	if (rc)
		say(log, "routing without a demand: %s", why.text);
	return rc ? NULL : demand;
}

static int selection_load_roots(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	FILE *file = selection_open_input(path, err);
	int rc;

	if (!file)
		return -EINVAL;
	rc = guid_list_apart_read(out, n, file, path, err);
	fclose(file);
	return rc;
}

static void selection_say_missing(void *ctx, const char *sentence)
{
	say(ctx, "ignored in the exclude list: %s", sentence);
}

/* Maintenance must not keep a subnet manager from routing. */
static void selection_say_all_is_routed(const struct table_selection_log *log,
					const struct err *why)
{
	say(log, "routing through excluded parts as well: %s", why->text);
}

void table_selection_limits(struct route_limits **out, const struct fabric *f,
			    const struct policy *p, const struct table_selection_log *log)
{
	struct limits_missing missing = { selection_say_missing, (void *)log };
	const struct fabric *left = NULL;
	struct err why = { "" };
	int rc;

	*out = NULL;
	if (!p->text[PARAM_EXCLUDE])
		return;
	rc = route_limits_exclude_there(out, f, p->text[PARAM_EXCLUDE], &missing, &why);
	if (!rc)
		rc = exclusion_left(&left, f, *out, &why);
	if (rc) {
		selection_say_all_is_routed(log, &why);
		route_limits_free(*out);
		*out = NULL;
	}
	fabric_put(left);
}

/* What an engine computes from, and what comes of it. */
struct routing {
	const struct fabric *f;
	const struct policy *policy;
	const struct engine *engine;
	const struct route_limits *l;
	const struct table_selection_log *log;
	struct engine_params params;
	struct jobset *jobs;
	struct demand *demand;
	uint64_t *roots;
	struct table_selection selection;
	struct isolated result;
	struct tables *t;
};

static uint64_t selection_note(const struct notes *notes, const char *key)
{
	const struct note *n = notes_find(notes, key);

	return n ? n->value : 0;
}

static int selection_route_isolated(void *ctx, struct isolated_out *out, struct err *err)
{
	struct routing *r = ctx;
	struct table_repair *repair = &r->selection.repair;
	struct notes notes = { 0 };
	struct tables *t;
	int rc;

	r->params.notes = &notes;
	rc = engine_run(r->engine, &t, r->f, r->jobs, r->demand, &r->params, NULL, err);
	repair->changed = selection_note(&notes, "entries_changed");
	repair->needed = selection_note(&notes, "entries_needed");
	repair->lids = (uint32_t)selection_note(&notes, "lids_repaired");
	repair->sls_again = notes_find(&notes, "sls_assigned_again");
	if (!rc)
		rc = selection_verify(&r->selection, r->f, t, r->l, false, err);
	if (rc)
		return rc;
	isolated_put(out, &r->selection, sizeof(r->selection));
	isolated_put(out, t, sizeof(*t));
	isolated_put(out, t->lft, (size_t)t->nsw * t->stride);
	isolated_put(out, t->sl, tables_sl_bytes(t));
	isolated_put(out, t->sl2vl, tables_sl2vl_bytes(t));
	return 0;
}

/* The tables as the other process has put them. */
static void selection_copy_tables(struct routing *r, const uint8_t *data)
{
	struct tables from, *t;

	memcpy(&from, data, sizeof(from));
	data += sizeof(from);
	r->t = t = tables_new_blank(r->f, from.engine);
	memcpy(t->lft, data, (size_t)t->nsw * t->stride);
	data += (size_t)t->nsw * t->stride;
	tables_sl_form(t, from.sl_kind, r->f);
	if (tables_sl_bytes(t))
		memcpy(t->sl, data, tables_sl_bytes(t));
	data += tables_sl_bytes(t);
	tables_sl2vl_form(t, from.sl2vl_kind, r->f);
	if (tables_sl2vl_bytes(t))
		memcpy(t->sl2vl, data, tables_sl2vl_bytes(t));
	t->sl_const = from.sl_const;
	t->vls = from.vls;
	t->sls = from.sls;
	t->escape = from.escape;
	t->seed = from.seed;
	memcpy(t->params, from.params, sizeof(t->params));
}

static int selection_run(struct routing *r, struct err *err)
{
	int rc;

	engine_spec_apply(&r->policy->spec, &r->params);
	if (r->engine == &engine_repair)
		r->params.vls = (uint8_t)repair_vls(r->f, r->params.current, r->params.vls);
	rc = isolated_run(&r->result, selection_route_isolated, r, err);
	if (!rc)
		selection_copy_tables(r, r->result.data + sizeof(r->selection));
	return rc;
}

static int selection_route(void *ctx, struct err *err)
{
	struct routing *r = ctx;
	const struct policy *p = r->policy;
	int rc = 0;

	if (p->text[PARAM_ROOTS])
		rc = selection_load_roots(&r->roots, &r->params.nroots, p->text[PARAM_ROOTS], err);
	if (rc)
		return rc;
	r->params.roots = r->roots;
	if (p->text[PARAM_JOBS])
		r->jobs = selection_load_jobs(r->f, p->text[PARAM_JOBS], r->log);
	if (p->text[PARAM_DEMAND])
		r->demand = selection_load_demand(r->f, p, r->log);
	return selection_run(r, err);
}

static int selection_compute(struct table_selection *out, struct routing *r,
			     enum table_source source, int (*work)(void *ctx, struct err *err),
			     struct err *err)
{
	int rc;

	r->selection = *out;
	r->params.limits = r->l;
	rc = guarded_call(work, r, err);
	if (!rc) {
		memcpy(out, r->result.data, sizeof(*out));
		out->tables = r->t;
		out->source = source;
	} else {
		tables_put(r->t);
	}
	isolated_free(&r->result);
	demand_put(r->demand);
	jobset_put(r->jobs);
	free(r->roots);
	return rc;
}

static int selection_from_engine(struct table_selection *out, const struct fabric *f,
				 const struct policy *p, const struct route_limits *l,
				 const struct tables *current,
				 const struct table_selection_log *log, struct err *err)
{
	struct routing r = { .f = f,
			     .policy = p,
			     .engine = p->spec.engine,
			     .l = l,
			     .log = log,
			     .params = p->params };

	r.params.current = current;
	return selection_compute(out, &r, CHOICE_ENGINE, selection_route, err);
}

static bool selection_on_disk(const char *path)
{
	return path && !access(path, F_OK);
}

/* --- after a failure ------------------------------------------------------------------------- */

/* What may be repaired, and what of it still stands. */
struct repairing {
	const struct fabric *f;
	const struct table_offer *o;
	bool confirmed_only;
	enum table_source of;
	struct carry_report since;
	struct tables *stands;
};

static bool repair_has_come(const struct carry_report *c)
{
	return c->switches_came || c->cables_came || c->came || c->moved;
}

static int repair_carry(struct repairing *r, const struct tables *t, const struct endports *ends,
			enum table_source of, struct err *err)
{
	tables_put(r->stands);
	r->stands = NULL;
	r->of = of;
	return tables_carry(&r->stands, r->f, t, ends, &r->since, err);
}

static int repair_carry_current(struct repairing *r, struct err *err)
{
	struct endports *ends = endports_of(r->o->current_on);
	int rc = repair_carry(r, r->o->current, ends, r->o->current_is, err);

	endports_put(ends);
	return rc;
}

/* Tables of before the first failure.  -ENOENT: none are known. */
static int repair_carry_origin(struct repairing *r, struct err *err)
{
	const struct table_offer *o = r->o;

	tables_put(r->stands);
	r->stands = NULL;
	if (o->origin && (o->origin_is != CHOICE_ENGINE || o->same_policy))
		return repair_carry(r, o->origin, o->origin_ends, o->origin_is, err);
	if (!selection_on_disk(o->confirmed))
		return err_set(err, -ENOENT, "no tables of before are known");
	r->of = CHOICE_CONFIRMED;
	return tables_apart_load_ibr_before(&r->stands, o->confirmed, r->f, &r->since, err);
}

/* What routes now, as long as nothing has come back that other tables had paths for.  Engines are
 * to route what they have never seen: a fabric that starts comes piece by piece. */
static int repair_find(struct repairing *r, struct err *err)
{
	const struct table_offer *o = r->o;
	bool made = o->current_is == CHOICE_ENGINE || (o->current_is == CHOICE_REPAIRED &&
						       o->origin && o->origin_is == CHOICE_ENGINE);
	bool usable = o->current && o->current_on && (!made || o->same_policy);
	char text[8];
	int rc;

	if (usable && !r->confirmed_only) {
		rc = repair_carry_current(r, err);
		if (rc || !repair_has_come(&r->since))
			return rc;
	}
	rc = repair_carry_origin(r, err);
	if (!rc && !carry_report_text(text, sizeof(text), &r->since))
		return -ENOENT; /* there is another reason why they do not route */
	if (!rc && r->of == CHOICE_ENGINE && repair_has_come(&r->since))
		rc = err_set(err, -ESTALE,
			     "switches, cables or hosts have come that the engine has not routed");
	return rc;
}

static int repair_work(void *ctx, struct err *err)
{
	return selection_run(ctx, err);
}

static int repair_find_guarded(void *ctx, struct err *err)
{
	return repair_find(ctx, err);
}

/* 0, or -errno: why nothing can be repaired; -ENOENT: nothing was there. */
static int selection_repair(struct table_selection *out, const struct fabric *f,
			    const struct policy *p, const struct route_limits *l,
			    const struct table_offer *o, const struct table_selection_log *log,
			    struct err *err)
{
	struct repairing x = { .f = f,
			       .o = o,
			       .confirmed_only = p->on_change == ON_CHANGE_CONFIRMED };
	struct routing r = { .f = f,
			     .policy = p,
			     .engine = &engine_repair,
			     .l = l,
			     .log = log,
			     .params = p->params };
	struct table_selection with = *out;
	int rc = guarded_call(repair_find_guarded, &x, err);

	r.params.current = x.stands;
	with.repair.of = x.of;
	memcpy(with.repair.gone, x.since.gone, sizeof(with.repair.gone));
	if (!rc && !carry_report_text(with.repair.what, sizeof(with.repair.what), &x.since))
		snprintf(with.repair.what, sizeof(with.repair.what), "nothing gone or new");
	if (!rc)
		rc = selection_compute(&with, &r, CHOICE_REPAIRED, repair_work, err);
	if (!rc)
		*out = with;
	tables_put(x.stands);
	return rc;
}

/* Tables of this very fabric that need no repair, or had theirs. */
static bool selection_as_before(struct table_selection *out, const struct fabric *f,
				const struct table_offer *o, const struct route_limits *l)
{
	bool repaired = o->current && o->current_is == CHOICE_REPAIRED && o->same_policy;
	struct err why;

	if (!repaired)
		return false;
	if (o->origin && digest_equal(&o->origin->fingerprint, &f->fingerprint))
		return !selection_take(out, f, o->origin, l, o->origin_is, false, &why);
	if (!digest_equal(&o->current->fingerprint, &f->fingerprint))
		return false;
	if (o->better && !selection_take(out, f, o->better, l, CHOICE_REPAIRED, false, &why))
		return true;
	return !selection_take(out, f, o->current, l, CHOICE_REPAIRED, false, &why);
}

/* Also said when there is nothing wrong with what is used instead. */
static void selection_note_away(struct table_selection *out, const struct table_selection_log *log,
				const char *what, const char *instead, const struct err *why)
{
	char sentence[sizeof(out->away)];

	snprintf(sentence, sizeof(sentence), "not %s, but %s: %.300s", what, instead, why->text);
	if (!out->away[0])
		snprintf(out->away, sizeof(out->away), "%s", sentence);
	say(log, "%s", sentence);
}

static bool selection_take_confirmed(struct table_selection *out, const struct fabric *f,
				     const char *path, const struct route_limits *l,
				     struct err *why)
{
	int rc;

	if (!selection_on_disk(path))
		return false;
	rc = selection_from_file(out, f, path, l, CHOICE_CONFIRMED, why);
	if (rc)
		snprintf(out->confirmed_away, sizeof(out->confirmed_away), "%.390s", why->text);
	return !rc;
}

static const char *selection_given_name(const struct table_offer *o)
{
	switch (o->given_is) {
	case CHOICE_CONFIRMED:
		return "the confirmed tables";
	case CHOICE_CONSOLE:
		return "the tables of the console";
	default: /* an update was rolled back */
		return "the previous tables";
	}
}

/* What else there is where none of the tables that are given can be used. */
static int selection_compute_any(struct table_selection *out, const struct fabric *f,
				 const struct policy *policy, const struct route_limits *l,
				 const struct table_offer *o, const struct table_selection_log *log,
				 struct err *err)
{
	const struct tables *current = o->current;
	bool same = current && digest_equal(&current->fingerprint, &f->fingerprint);
	struct err why = { "" };
	int rc;

	if (policy->on_change != ON_CHANGE_REROUTE) {
		if (selection_as_before(out, f, o, l))
			return 0;
		rc = same ? -ENOENT : selection_repair(out, f, policy, l, o, log, &why);
		if (!rc)
			return 0;
		if (rc != -ENOENT)
			selection_note_away(out, log, "a repair", policy->spec.label, &why);
	}
	return selection_from_engine(out, f, policy, l, same ? current : NULL, log, err);
}

static int selection_choose(struct table_selection *out, const struct fabric *f,
			    const struct policy *policy, const struct route_limits *l,
			    const struct table_offer *offer, const struct table_selection_log *log,
			    struct err *err)
{
	bool repairs = policy->on_change != ON_CHANGE_REROUTE;
	const char *left = "what is left of them";
	struct err why = { "" };

	*out = (struct table_selection){ 0 };
	if (offer->given) {
		if (!selection_from_console(out, f, offer, l, &why))
			return 0;
		if (offer->given_is != CHOICE_CONFIRMED || !selection_on_disk(offer->confirmed))
			selection_note_away(out, log, selection_given_name(offer),
					    offer->base ? "those from before the update"
							: policy->spec.label,
					    &why);
	}
	if (offer->base && !selection_from_base(out, f, offer, l, &why))
		return 0;
	if (selection_take_confirmed(out, f, offer->confirmed, l, &why))
		return 0;
	if (out->confirmed_away[0])
		selection_note_away(out, log, "the confirmed tables",
				    repairs ? left : policy->spec.label, &why);
	if (policy->text[PARAM_TABLES]) {
		if (!selection_from_file(out, f, policy->text[PARAM_TABLES], l, CHOICE_FILE, &why))
			return 0;
		selection_note_away(out, log, "the given tables",
				    repairs && offer->current_on ? left : policy->spec.label, &why);
	}
	return selection_compute_any(out, f, policy, l, offer, log, err);
}

struct making {
	struct table_selection *out;
	const struct fabric *f;
	const struct policy *policy;
	const struct table_offer *offer;
	const struct table_selection_log *log;
	struct route_limits *l;
};

static int selection_make_guarded(void *ctx, struct err *err)
{
	struct making *m = ctx;
	struct err why = { "" };
	int rc;

	table_selection_limits(&m->l, m->f, m->policy, m->log);
	rc = selection_choose(m->out, m->f, m->policy, m->l, m->offer, m->log, m->l ? &why : err);
	if (!rc || !m->l)
		return rc;
	selection_say_all_is_routed(m->log, &why);
	return selection_choose(m->out, m->f, m->policy, NULL, m->offer, m->log, err);
}

int table_selection_make(struct table_selection *out, const struct fabric *f,
			 const struct policy *policy, const struct table_offer *offer,
			 const struct table_selection_log *log, struct err *err)
{
	static const struct table_offer nothing = { 0 };
	struct making m = {
		.out = out, .f = f, .policy = policy, .offer = offer ? offer : &nothing, .log = log
	};
	int rc = guarded_call(selection_make_guarded, &m, err);

	route_limits_free(m.l);
	return rc;
}
