/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/repair_play.h"

#include "engines/metrics/metrics.h"
#include "engines/transition/transition.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"
#include "tests/unit/kit/write_judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(struct repair_play *p, const char *what)
{
	snprintf(p->why, sizeof(p->why), "event %u: %s", p->events, what);
	return false;
}

static bool make(struct repair_play *p)
{
	struct engine_params params = { .threads = 1, .current = p->t };
	struct err err;
	int rc = repairer_new(&p->r, p->e.f, &params, NULL, &err);

	if (rc == -EDEADLK)
		return kept_verdict_new(&p->k, p->e.f, p->t, false, NULL, &err) == -EDOM ||
		       wrong(p, "the kept verdict accepts what can deadlock");
	if (rc || kept_verdict_new(&p->k, p->e.f, p->t, false, NULL, &err) ||
	    kept_metrics_new(&p->m, p->e.f, p->t, NULL, &err))
		return wrong(p, err.text);
	return true;
}

bool repair_play_begin(struct repair_play *p, const struct fabric *f, const struct tables *t,
		       uint64_t seed)
{
	p->t = t;
	cable_events_init(&p->e, f, seed);
	return make(p);
}

static void forget(struct repair_play *p)
{
	repairer_free(p->r);
	kept_verdict_free(p->k);
	kept_metrics_free(p->m);
	p->m = NULL;
	p->r = NULL;
	p->k = NULL;
}

void repair_play_end(struct repair_play *p)
{
	forget(p);
	entry_changes_done(&p->changes);
	cable_events_done(&p->e);
}

/* --- judged ----------------------------------------------------------------------------------- */

static bool same(const struct verdict *a, const struct verdict *b)
{
	return a->connected == b->connected && a->deadlock_free == b->deadlock_free &&
	       a->vls_fit == b->vls_fit && a->pairs == b->pairs && a->vl_mask == b->vl_mask &&
	       a->vls_used == b->vls_used && a->sls_used == b->sls_used &&
	       a->hops_max == b->hops_max &&
	       !memcmp(&a->hops_mean, &b->hops_mean, sizeof(a->hops_mean)) &&
	       a->vertices == b->vertices && a->edges == b->edges;
}

/* What is left, judged by the whole verifier. */
static bool verified(struct repair_play *p, const struct fabric *now, const struct tables *t)
{
	struct verdict *full, kept;
	char text[300];
	struct err err;
	bool fine;

	if (verify_tables(&full, now, t, NULL, NULL, &err))
		return wrong(p, err.text);
	verdict_sentence(text, sizeof(text), full, now);
	fine = full->connected && full->loop_free && full->deadlock_free;
	if (!fine)
		wrong(p, text);
	if (fine && p->k) {
		kept_verdict_get(p->k, &kept);
		fine = same(&kept, full) ||
		       wrong(p, "the kept verdict has other figures than the whole one");
	}
	verdict_free(full);
	return fine;
}

static bool measured(struct repair_play *p, const struct fabric *now, const struct tables *t)
{
	struct kept_figures kept;
	struct metrics *full;
	struct err err;
	bool fine;

	if (metrics_compute(&full, now, t, NULL, NULL, NULL, &err))
		return wrong(p, err.text);
	kept_metrics_get(p->m, &kept);
	fine = kept.efi_max == full->efi_max && kept.hops_max == full->hops_max &&
	       !memcmp(&kept.efi_mean, &full->efi_mean, sizeof(kept.efi_mean)) &&
	       !memcmp(&kept.efi_stddev, &full->efi_stddev, sizeof(kept.efi_stddev)) &&
	       !memcmp(&kept.hops_mean, &full->hops_mean, sizeof(kept.hops_mean));
	metrics_free(full);
	return fine || wrong(p, "the kept metrics have other figures than the whole ones");
}

/* The writes in random orders, as the plan has them. */
static bool safe(struct repair_play *p, const struct fabric *now, const struct tables *was,
		 const struct tables *t)
{
	struct judge_count count = { 0 };
	struct transition *plan;
	const char *what;
	struct err err;

	if (!p->orders || tables_same(was, t, now))
		return true;
	if (transition_plan(&plan, now, was, t, NULL, NULL, &err))
		return wrong(p, err.text);
	what = judge_transition(now, was, t, plan, false, p->orders, 1, &count);
	p->one_wave += plan->nwaves <= 1 && !plan->ndrain;
	p->waves += plan->nwaves > 1 && !plan->ndrain;
	p->drained += plan->ndrain > 0;
	transition_free(plan);
	return !what || wrong(p, what);
}

/* Of the tables before; the changes are told. */
static bool judged(struct repair_play *p, const struct tables *was)
{
	struct tables_diff *diff = tables_diff_new(p->e.f, was, repairer_tables(p->r));
	uint64_t entries = diff->entries;
	struct fabric *now;
	struct tables *before, *after;
	bool fine, accepted;

	tables_diff_free(diff);
	if (entries != entry_changes_entries(&p->changes) || entries != p->report.changed)
		return wrong(p, "the changes are not those that were told");
	accepted = kept_verdict_update(p->k, repairer_tables(p->r), p->e.down, &p->changes);
	now = cable_events_fabric(&p->e);
	before = cable_events_tables(&p->e, now, was);
	after = cable_events_tables(&p->e, now, repairer_tables(p->r));
	fine = verified(p, now, after) &&
	       (!kept_metrics_update(p->m, repairer_tables(p->r), p->e.down, &p->changes)
			? wrong(p, "the kept metrics do not accept it")
			: measured(p, now, after)) &&
	       (accepted || wrong(p, "only the kept verdict does not accept it")) &&
	       safe(p, now, before, after);
	tables_put(before);
	tables_put(after);
	fabric_put(now);
	return fine;
}

/* The engine on its own, with what is left of the installed tables; then from the beginning. */
static bool routed_instead(struct repair_play *p)
{
	struct fabric *now = cable_events_fabric(&p->e);
	struct tables *was = cable_events_tables(&p->e, now, repairer_tables(p->r)), *t;
	struct engine_params params = { .threads = 1, .current = was };
	struct err err;
	int rc = engine_run(engine_find("repair", NULL), &t, now, NULL, NULL, &params, NULL, &err);
	bool fine = true;

	forget(p);
	p->refused++;
	if (rc)
		wrong(p, err.text);
	else
		fine = verified(p, now, t);
	if (!rc)
		tables_put(t);
	tables_put(was);
	fabric_put(now);
	cable_events_all_back(&p->e);
	return (!rc || rc == -ENOSPC) && fine && make(p);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool repaired(struct repair_play *p)
{
	struct tables *was = tables_onto(p->e.f, repairer_tables(p->r), repairer_tables(p->r));
	struct err err;
	bool fine;
	int rc;

	p->changes.n = 0;
	rc = repairer_update(p->r, p->e.down, &p->changes, &p->report, &err);
	if (rc == -ENOSPC)
		fine = routed_instead(p);
	else
		fine = rc ? wrong(p, err.text) : judged(p, was);
	tables_put(was);
	if (rc || !fine)
		return fine;
	p->events++;
	p->needed += p->report.needed;
	p->changed += p->report.changed;
	return p->report.needed <= p->report.changed || wrong(p, "fewer changed than had to");
}

bool repair_play_event(struct repair_play *p, enum cable_event kind)
{
	return !cable_events_happen(&p->e, kind) || repaired(p);
}

bool repair_play_move_back(struct repair_play *p, uint32_t most)
{
	uint32_t before;

	do {
		struct tables *was =
			tables_onto(p->e.f, repairer_tables(p->r), repairer_tables(p->r));
		bool fine;

		p->changes.n = 0;
		before = p->report.away;
		repairer_move_back(p->r, most, &p->changes, &p->report);
		fine = judged(p, was);
		tables_put(was);
		if (!fine)
			return false;
	} while (p->report.away && p->report.away < before);
	return true;
}

bool repair_play_all_back(struct repair_play *p)
{
	cable_events_all_back(&p->e);
	if (!repaired(p) || !repair_play_move_back(p, 0))
		return false;
	p->stuck += p->report.forgot && p->report.away;
	if (p->report.forgot && p->report.away)
		return true;
	if (p->report.away ||
	    memcmp(repairer_tables(p->r)->lft, p->t->lft, (size_t)p->t->nsw * p->t->stride))
		return wrong(p, "not all paths came back");
	return true;
}
