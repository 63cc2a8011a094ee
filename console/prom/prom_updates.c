/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates of the routing: what became of them, what they were to gain, whom they drained.  All
 * engines, results and causes are there from the beginning, so that a first one is a rise. */
#include "console/prom/prom_priv.h"

#include "console/app/app_priv.h"
#include "console/prom/prom_effect.h"
#include "console/collect/update_watch.h"
#include "engines/engine.h"
#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of each engine, in their order; the last: of those that are not known here, as of files. */
struct prom_engines {
	struct journal_count *of, all;
	size_t n;
};

static const char *prom_engine_name(size_t i)
{
	size_t n;
	const struct engine *const *all = engine_all(&n);

	return i < n ? all[i]->name : "other";
}

static void prom_engines_count(struct prom_engines *out, const struct journal_counts *l)
{
	engine_all(&out->n);
	out->of = xcalloc(++out->n, sizeof(*out->of));
	for (size_t i = 0; i < l->n; i++) {
		size_t e = 0;

		while (e + 1 < out->n && strcmp(l->v[i].engine, prom_engine_name(e)) != 0)
			e++;
		journal_count_sum(&out->of[e], &l->v[i]);
		journal_count_sum(&out->all, &l->v[i]);
	}
}

static void prom_updates_by_result(FILE *out, const struct batch_record *r,
				   const struct prom_engines *e)
{
	static const char name[] = "ibroute_updates_total";

	prom_head(
		out, name,
		"Updates of the routing that are over, by engine and result; confirmed: the fabric "
		"was rerouted.",
		"counter");
	for (size_t i = 0; i < e->n; i++)
		for (int s = TXN_ABANDONED; s < TXN_STATES; s++) {
			prom_name(out, r, name);
			prom_label(out, ',', "engine", prom_engine_name(i));
			prom_label(out, ',', "result", txn_state_name((enum txn_state)s));
			fprintf(out, "} %lu\n", (unsigned long)e->of[i].ended[s]);
		}
}

static void prom_updates_rolled_back(FILE *out, const struct batch_record *r,
				     const struct journal_count *c)
{
	static const char name[] = "ibroute_update_rollbacks_total";

	prom_head(out, name,
		  "Updates that were rolled back, by cause; unknown: of earlier versions.",
		  "counter");
	for (int w = 0; w < COORD_WHYS; w++) {
		prom_name(out, r, name);
		prom_label(out, ',', "cause", w ? coord_why_name((enum coord_why)w) : "unknown");
		fprintf(out, "} %lu\n", (unsigned long)c->why[w]);
	}
}

static void prom_updates_drained(FILE *out, const struct batch_record *r,
				 const struct journal_count *c)
{
	prom_count(out, r, "ibroute_update_drains_total",
		   "Updates that asked jobs to drain, also those that were rolled back.",
		   c->drains);
	prom_count(out, r, "ibroute_update_drained_jobs_total", "Jobs that updates asked to drain.",
		   c->jobs);
	prom_count(out, r, "ibroute_update_drained_ports_total",
		   "Ports of hosts that updates asked to drain.", c->ports);
}

/* --- gains ----------------------------------------------------------------------------------- */

/* offset: of the number in a count; share: it is of type double. */
struct prom_gain {
	const char *name, *help;
	size_t offset;
	bool share;
};

static const struct prom_gain prom_gains[] = {
	{ "ibroute_update_gains_total",
	  "Confirmed updates by which the time of jobs was to fall, as predicted; times are those that "
	  "the plan was made from.",
	  offsetof(struct journal_count, gains), false },
	{ "ibroute_update_gain_ratio_total",
	  "Shares of their time that jobs were to gain by these updates, added up: 0.1 for each that "
	  "takes 10 % off.",
	  offsetof(struct journal_count, gain), true },
	{ "ibroute_update_losses_total",
	  "Confirmed updates by which the time of jobs was to rise, as predicted.",
	  offsetof(struct journal_count, losses), false },
	{ "ibroute_update_loss_ratio_total",
	  "Shares of their time that jobs were to lose by these updates, added up.",
	  offsetof(struct journal_count, loss), true },
	{ 0 },
};

static void prom_updates_gained(FILE *out, const struct batch_record *r,
				const struct prom_engines *e)
{
	for (const struct prom_gain *g = prom_gains; g->name; g++) {
		prom_head(out, g->name, g->help, "counter");
		for (size_t i = 0; i < e->n; i++) {
			const char *at = (const char *)&e->of[i] + g->offset;
			double v = g->share ? *(const double *)at : (double)*(const uint64_t *)at;

			prom_name(out, r, g->name);
			prom_label(out, ',', "engine", prom_engine_name(i));
			fputc('}', out);
			prom_number(out, v);
		}
	}
}

/* As when it was planned. */
static void prom_updates_times(FILE *out, const struct batch_record *r, const struct txn_gain *g)
{
	static const char name[] = "ibroute_update_job_time_ratio";

	prom_head(
		out, name,
		"Of the update that was confirmed last: the predicted time of jobs before and after "
		"it, mean over the jobs, as a multiple of what they take without contention.",
		"gauge");
	for (int after = 0; after < 2; after++) {
		prom_name(out, r, name);
		prom_label(out, ',', "routing", after ? "after" : "before");
		prom_label(out, ',', "pattern", g->pattern);
		fputc('}', out);
		prom_number(out, after ? g->after : g->before);
	}
}

static void prom_updates_measured(FILE *out, const struct batch_record *r)
{
	static const char name[] = "ibroute_update_job_rate_bytes_per_second";
	double rate[2];

	if (!prom_effect_rates(r->effect, &rate[0], &rate[1]))
		return;
	prom_head(
		out, name,
		"What jobs sent before the update that was confirmed last and send after it, as "
		"measured: of up to 16 that suffered most and run still, in sum, means of up to 30 "
		"samples.",
		"gauge");
	for (int after = 0; after < 2; after++) {
		prom_name(out, r, name);
		prom_label(out, ',', "routing", after ? "after" : "before");
		fputc('}', out);
		prom_number(out, round(rate[after]));
	}
}

void prom_updates_print(FILE *out, const struct batch_record *r)
{
	const struct update_counts *c = r->a ? r->a->updates : NULL;
	struct prom_engines e = { 0 };

	if (!c)
		return;
	prom_engines_count(&e, &c->by);
	prom_updates_by_result(out, r, &e);
	prom_updates_rolled_back(out, r, &e.all);
	prom_updates_drained(out, r, &e.all);
	prom_updates_gained(out, r, &e);
	prom_one(out, r, "ibroute_updates_running", "Updates that are under way.", c->open);
	prom_one(out, r, "ibroute_updates_interrupted",
		 "Updates that are not over and that no process works on.", c->left);
	if (c->confirmed_s)
		prom_one(out, r, "ibroute_update_confirmed_timestamp_seconds",
			 "Unix time at which an update was confirmed last, in seconds.",
			 (double)c->confirmed_s);
	if (c->gain.before > 0)
		prom_updates_times(out, r, &c->gain);
	prom_updates_measured(out, r);
	free(e.of);
}
