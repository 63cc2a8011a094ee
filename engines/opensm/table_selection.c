/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/table_selection.h"

#include "engines/limits/exclusion.h"
#include "engines/route_judge.h"
#include "fabric/format/native/demand_file.h"
#include "fabric/format/native/guid_list.h"
#include "fabric/format/native/jobs_file.h"
#include "fabric/format/native/limits_text.h"
#include "fabric/format/native/rank_file.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/model/demand.h"
#include "fabric/model/jobset.h"

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
		[CHOICE_ENGINE] = "engine",
		[CHOICE_FILE] = "file",
		[CHOICE_CONFIRMED] = "confirmed",
		[CHOICE_CONSOLE] = "console",
	};

	return names[s];
}

/* Does a packet to lid that is at a switch with hosts come back to where it was? */
static bool table_selection_lid_loops(const struct fabric *f, const struct tables *t, uint32_t lid)
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

static void table_selection_count_loops(struct table_selection *out, const struct fabric *f,
					const struct tables *t)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (!table_selection_lid_loops(f, t, lid))
			continue;
		if (!out->looping++)
			out->loop_lid = (uint16_t)lid;
	}
}

/* Of tables that did not pass the verdict, which are a step of an update: not less than they say.
 */
static void table_selection_figures(struct table_selection *out, const struct fabric *f,
				    const struct tables *t, const struct verdict *v, bool step)
{
	bool least = !verdict_ok(v);

	out->vls_used = least && t->vls > v->vls_used ? t->vls : v->vls_used;
	out->sls_used = least && t->sls > v->sls_used ? t->sls : v->sls_used;
	out->hops_max = v->hops_max;
	out->step = step;
	out->looping = out->loop_lid = 0;
	if (v->looping)
		table_selection_count_loops(out, f, t);
}

int table_selection_judge(struct table_selection *out, const struct fabric *f,
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
		table_selection_figures(out, f, t, v, step);
	verdict_free(v);
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
					       "a step of an update may not end a way: %s has none "
					       "to LID %u any more",
					       f->sw_name[sw], lid);
			if (stays && fabric_lid_escape(f, lid))
				return err_set(err, -EPROTO,
					       "a step of an update may not change where escape "
					       "LIDs lead: %s, LID %u",
					       f->sw_name[sw], lid);
		}
	}
	return 0;
}

static int table_selection_take(struct table_selection *out, const struct fabric *f,
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

static int table_selection_from_file(struct table_selection *out, const struct fabric *f,
				     const char *path, const struct route_limits *l,
				     enum table_source source, struct err *err)
{
	struct tables *t;
	int rc = tables_ibr_load(&t, path, f, err);

	if (rc)
		return rc;
	rc = table_selection_take(out, f, t, l, source, false, err);
	tables_put(t);
	return rc;
}

static int table_selection_from_console(struct table_selection *out, const struct fabric *f,
					const struct table_offer *o, const struct route_limits *l,
					struct err *err)
{
	if (!digest_equal(&o->given->fingerprint, &f->fingerprint))
		return err_set(err, -ESTALE, "the fabric is not the one that they are for");
	return table_selection_take(out, f, o->given, o->anyway ? NULL : l, o->given_is, o->step,
				    err);
}

static FILE *table_selection_open_input(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");

	if (!file)
		err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	return file;
}

/* Jobs and demand make routes better, not right: without them the engine routes all the same. */
static struct jobset *table_selection_load_jobs(const struct fabric *f, const char *path,
						const struct table_selection_log *log)
{
	struct jobset *jobs = NULL;
	struct job_log *list;
	struct err why;
	FILE *file = table_selection_open_input(path, &why);
	int rc = -EINVAL;

	if (file) {
		rc = jobs_file_read(&list, file, path, NULL, &why);
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

static int table_selection_load_ranks(struct rank_file **out, const char *path, struct err *err)
{
	FILE *file = table_selection_open_input(path, err);
	int rc = -EINVAL;

	if (file) {
		rc = rank_file_read(out, file, path, NULL, err);
		fclose(file);
	}
	return rc;
}

static struct demand *table_selection_load_demand(const struct fabric *f, const struct policy *p,
						  const struct table_selection_log *log)
{
	struct rank_file *ranks = NULL;
	struct demand *demand = NULL;
	struct err why;
	int rc = p->text[PARAM_RANKS]
			 ? table_selection_load_ranks(&ranks, p->text[PARAM_RANKS], &why)
			 : 0;
	FILE *file = rc ? NULL : table_selection_open_input(p->text[PARAM_DEMAND], &why);

	if (file) {
		rc = demand_file_read(&demand, file, p->text[PARAM_DEMAND], ranks, f, NULL, &why);
		fclose(file);
	} else {
		rc = -EINVAL;
	}
	rank_file_free(ranks);
	if (rc)
		say(log, "routing without a demand: %s", why.text);
	return rc ? NULL : demand;
}

static int table_selection_load_roots(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	FILE *file = table_selection_open_input(path, err);
	int rc;

	if (!file)
		return -EINVAL;
	rc = guid_list_read(out, n, file, path, err);
	fclose(file);
	return rc;
}

static void table_selection_say_missing(void *ctx, const char *sentence)
{
	say(ctx, "left out of what is excluded: %s", sentence);
}

/* Maintenance must not keep a subnet manager from routing. */
static void table_selection_say_all_is_routed(const struct table_selection_log *log,
					      const struct err *why)
{
	say(log, "routing through what is excluded, too: %s", why->text);
}

void table_selection_limits(struct route_limits **out, const struct fabric *f,
			    const struct policy *p, const struct table_selection_log *log)
{
	struct limits_missing missing = { table_selection_say_missing, (void *)log };
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
		table_selection_say_all_is_routed(log, &why);
		route_limits_free(*out);
		*out = NULL;
	}
	fabric_put(left);
}

static int table_selection_from_engine(struct table_selection *out, const struct fabric *f,
				       const struct policy *p, const struct route_limits *l,
				       const struct tables *current,
				       const struct table_selection_log *log, struct err *err)
{
	struct engine_params params = p->params;
	struct jobset *jobs = NULL;
	struct demand *demand = NULL;
	struct tables *t = NULL;
	uint64_t *roots = NULL;
	int rc = p->text[PARAM_ROOTS] ? table_selection_load_roots(&roots, &params.nroots,
								   p->text[PARAM_ROOTS], err)
				      : 0;

	if (rc)
		return rc;
	params.current = current;
	params.limits = l;
	params.roots = roots;
	engine_spec_apply(&p->spec, &params);
	if (p->text[PARAM_JOBS])
		jobs = table_selection_load_jobs(f, p->text[PARAM_JOBS], log);
	if (p->text[PARAM_DEMAND])
		demand = table_selection_load_demand(f, p, log);
	rc = engine_run(p->spec.engine, &t, f, jobs, demand, &params, NULL, err);
	if (!rc) {
		rc = table_selection_take(out, f, t, l, CHOICE_ENGINE, false, err);
		tables_put(t);
	}
	demand_put(demand);
	jobset_put(jobs);
	free(roots);
	return rc;
}

/* Also said when there is nothing wrong with what is used instead. */
static void table_selection_note_away(struct table_selection *out,
				      const struct table_selection_log *log, const char *what,
				      const struct policy *policy, const struct err *why)
{
	char sentence[sizeof(out->away)];

	snprintf(sentence, sizeof(sentence), "not %s, but %s: %.300s", what, policy->spec.label,
		 why->text);
	if (!out->away[0])
		snprintf(out->away, sizeof(out->away), "%s", sentence);
	say(log, "%s", sentence);
}

static bool table_selection_on_disk(const char *path)
{
	return path && !access(path, F_OK);
}

static bool table_selection_take_confirmed(struct table_selection *out, const struct fabric *f,
					   const char *path, const struct route_limits *l,
					   struct err *why)
{
	int rc;

	if (!table_selection_on_disk(path))
		return false;
	rc = table_selection_from_file(out, f, path, l, CHOICE_CONFIRMED, why);
	if (rc)
		snprintf(out->confirmed_away, sizeof(out->confirmed_away), "%.390s", why->text);
	return !rc;
}

static const char *table_selection_given_name(const struct table_offer *o)
{
	switch (o->given_is) {
	case CHOICE_CONFIRMED:
		return "the confirmed tables";
	case CHOICE_CONSOLE:
		return "the tables of the console";
	default: /* an update was rolled back */
		return "the tables of before";
	}
}

static int table_selection_choose(struct table_selection *out, const struct fabric *f,
				  const struct policy *policy, const struct route_limits *l,
				  const struct table_offer *offer,
				  const struct table_selection_log *log, struct err *err)
{
	const struct tables *current;
	struct err why = { "" };

	*out = (struct table_selection){ 0 };
	if (offer->given) {
		if (!table_selection_from_console(out, f, offer, l, &why))
			return 0;
		if (offer->given_is != CHOICE_CONFIRMED ||
		    !table_selection_on_disk(offer->confirmed))
			table_selection_note_away(out, log, table_selection_given_name(offer),
						  policy, &why);
	}
	if (table_selection_take_confirmed(out, f, offer->confirmed, l, &why))
		return 0;
	if (out->confirmed_away[0])
		table_selection_note_away(out, log, "the confirmed tables", policy, &why);
	if (policy->text[PARAM_TABLES]) {
		if (!table_selection_from_file(out, f, policy->text[PARAM_TABLES], l, CHOICE_FILE,
					       &why))
			return 0;
		table_selection_note_away(out, log, "the given tables", policy, &why);
	}
	current = offer->current;
	if (current && !digest_equal(&current->fingerprint, &f->fingerprint))
		current = NULL;
	return table_selection_from_engine(out, f, policy, l, current, log, err);
}

int table_selection_make(struct table_selection *out, const struct fabric *f,
			 const struct policy *policy, const struct table_offer *offer,
			 const struct table_selection_log *log, struct err *err)
{
	static const struct table_offer nothing = { 0 };
	struct route_limits *l;
	struct err why = { "" };
	int rc;

	if (!offer)
		offer = &nothing;
	table_selection_limits(&l, f, policy, log);
	rc = table_selection_choose(out, f, policy, l, offer, log, l ? &why : err);
	if (rc && l) {
		table_selection_say_all_is_routed(log, &why);
		rc = table_selection_choose(out, f, policy, NULL, offer, log, err);
	}
	route_limits_free(l);
	return rc;
}
