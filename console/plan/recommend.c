/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/recommend.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is better ---------------------------------------------------------------------- */

static const struct pattern_time *recommend_times(const struct route_report *r)
{
	return r->time.known && r->time.jobs ? &r->time.of[r->pattern] : NULL;
}

static struct phase_mean recommend_time(const struct route_report *r)
{
	const struct pattern_time *x = recommend_times(r);

	return x ? x->mean : (struct phase_mean){ NAN, 0 };
}

static struct phase_mean recommend_demand(const struct route_report *r)
{
	bool known = r->time.known && r->time.demand.known;

	return (struct phase_mean){ known ? r->time.demand.time : NAN, 0 };
}

static bool recommend_has_shifts(const struct route_report *r)
{
	return r->time.known && r->time.shift.flows;
}

static struct phase_mean recommend_sync(const struct route_report *r)
{
	return recommend_has_shifts(r) ? r->time.shift.sync : (struct phase_mean){ NAN, 0 };
}

static struct phase_mean recommend_rate(const struct route_report *r)
{
	return recommend_has_shifts(r) ? r->time.shift.rate : (struct phase_mean){ NAN, 0 };
}

/* The first that is known decides, and where it names another then that. */
static const struct merit {
	const char *title;
	struct phase_mean (*of)(const struct route_report *r);
	bool more; /* is better */
	bool then; /* the next one decides among equals */
} merits[] = {
	{ "time of jobs", recommend_time, false, false },
	{ "time of the demand", recommend_demand, false, false },
	{ "sync", recommend_sync, true, true },
	{ "mean rate", recommend_rate, true, false },
};

#define NMERIT (sizeof(merits) / sizeof(*merits))

/* Share by which it is worse than the best one; below 0: better. */
static double recommend_loss(const struct merit *m, const struct route_report *r,
			     const struct route_report *best)
{
	double a = m->of(r).mean, b = m->of(best).mean;

	return m->more ? (b - a) / b : (a - b) / b;
}

static bool recommend_worse(const struct merit *m, const struct route_report *r,
			    const struct route_report *best)
{
	double noise = m->of(best).error / m->of(best).mean;

	return recommend_loss(m, r, best) > fmax(noise, RECOMMEND_TIE);
}

static uint32_t recommend_vls(const struct route_report *r)
{
	uint32_t vls = r->v->vls_used;

	return !r->v->vls_fit && vls <= r->v->misfit_vl ? r->v->misfit_vl + 1u : vls;
}

static double recommend_cost_vls(const struct route_report *r)
{
	return recommend_vls(r);
}

static double recommend_cost_blocks(const struct route_report *r)
{
	return r->diff ? r->diff->nblocks : 0;
}

static double recommend_cost_hops(const struct route_report *r)
{
	return r->v->hops_mean;
}

static const struct cost {
	const char *more;
	double (*of)(const struct route_report *r);
} costs[] = {
	{ "more VLs", recommend_cost_vls },
	{ "more blocks changed", recommend_cost_blocks },
	{ "more hops", recommend_cost_hops },
};

#define NCOST (sizeof(costs) / sizeof(*costs))

/* NULL: all the same. */
static const struct cost *recommend_costlier(const struct route_report *r,
					     const struct route_report *than)
{
	for (size_t i = 0; i < NCOST; i++)
		if (costs[i].of(r) != costs[i].of(than))
			return costs[i].of(r) > costs[i].of(than) ? &costs[i] : NULL;
	return NULL;
}

/* --- the choice -------------------------------------------------------------------------- */

struct choice {
	const struct recommend_case *list;
	size_t n, pick;
	const struct merit *merit; /* that decides first; NULL: cost alone */
	bool *left;		   /* candidates that are still as good as the best */
	const struct merit **lost; /* by which each of the others was left behind */
};

static bool recommend_ok(const struct recommend_case *c)
{
	return c->report && route_report_ok(c->report);
}

static size_t recommend_best(const struct choice *c, const struct merit *m)
{
	size_t best = c->n;

	for (size_t i = 0; i < c->n; i++)
		if (c->left[i] && (best == c->n ||
				   recommend_loss(m, c->list[i].report, c->list[best].report) < 0))
			best = i;
	return best;
}

/* Known of all that are left? */
static bool recommend_applies(const struct choice *c, const struct merit *m)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->left[i])
			continue;
		if (isnan(m->of(c->list[i].report).mean))
			return false;
		any = true;
	}
	return any;
}

static void recommend_narrow(struct choice *c, const struct merit *m)
{
	size_t best = recommend_best(c, m);

	for (size_t i = 0; i < c->n; i++)
		if (c->left[i] && recommend_worse(m, c->list[i].report, c->list[best].report)) {
			c->left[i] = false;
			c->lost[i] = m;
		}
}

static void recommend_find_merit(struct choice *c)
{
	const struct merit *m = merits, *end = merits + NMERIT;

	while (m < end && !recommend_applies(c, m))
		m++;
	if (m == end)
		return;
	c->merit = m;
	recommend_narrow(c, m);
	for (; m->then; m++)
		recommend_narrow(c, m + 1);
}

static void recommend_choose(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->left[i] = recommend_ok(&c->list[i]);
	recommend_find_merit(c);
	c->pick = c->n;
	for (size_t i = 0; i < c->n; i++)
		if (c->left[i] && (c->pick == c->n ||
				   recommend_costlier(c->list[c->pick].report, c->list[i].report)))
			c->pick = i;
}

/* --- in words ---------------------------------------------------------------------------- */

static void recommend_put_value(FILE *out, const struct merit *m, const struct route_report *r)
{
	struct phase_mean x = m->of(r);

	fprintf(out, "%s %.3f", m->title, x.mean);
	if (x.error > 0)
		fprintf(out, " +- %.3f", x.error);
}

static void recommend_put_fault(FILE *out, const struct route_report *r)
{
	const struct verdict *v = r->v;

	fputs(!v->connected	  ? "some LIDs cannot be reached"
	      : !v->loop_free	  ? "has loops"
	      : !v->vls_fit	  ? ""
	      : !v->deadlock_free ? "is not free of deadlocks"
	      : v->passes.n	  ? "passes what is excluded"
	      : v->pinned.changed ? "changes paths to pinned hosts"
				  : "fails the check of its LIDs",
	      out);
	if (v->connected && v->loop_free && !v->vls_fit)
		fprintf(out, "needs %u VLs, and links have %u", recommend_vls(r), v->misfit_op_vls);
}

static void recommend_put_lost(FILE *out, const struct choice *c, size_t i)
{
	const struct route_report *r = c->list[i].report, *pick = c->list[c->pick].report;
	const struct merit *m = c->lost[i] ? c->lost[i] : c->merit;
	const struct cost *cost = recommend_costlier(r, pick);

	if (m)
		recommend_put_value(out, m, r);
	if (c->lost[i])
		fprintf(out, ", %.1f %% worse than %s", 100 * recommend_loss(m, r, pick),
			c->list[c->pick].name);
	else
		fprintf(out, "%sas good as %s, %s", m ? ", " : "", c->list[c->pick].name,
			cost ? cost->more : "either will do");
}

static void recommend_put_pick(FILE *out, const struct choice *c)
{
	const struct route_report *r = c->list[c->pick].report;
	const struct pattern_time *t = recommend_times(r);

	if (!c->merit) {
		fputs("nothing is known of times", out);
		return;
	}
	recommend_put_value(out, c->merit, r);
	if (c->merit->of == recommend_time && t) {
		fprintf(out, " on average (%s)", predict_pattern_name(r->pattern));
		fprintf(out, ", %.3f of the slowest, job %" PRIu64, t->worst.mean, t->worst_job);
	} else if (c->merit->then) {
		fputs(", ", out);
		recommend_put_value(out, c->merit + 1, r);
	}
}

static char *recommend_reason(const struct choice *c, size_t i)
{
	const struct recommend_case *x = &c->list[i];
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (i == c->pick)
		recommend_put_pick(out, c);
	else if (recommend_ok(x))
		recommend_put_lost(out, c, i);
	else if (x->report)
		recommend_put_fault(out, x->report);
	else
		fputs("gave no routing", out);
	fclose(out);
	return text;
}

/* The best of the others. */
static size_t recommend_next(const struct choice *c)
{
	size_t next = c->n;

	for (size_t i = 0; i < c->n && c->merit; i++)
		if (i != c->pick && recommend_ok(&c->list[i]) &&
		    (next == c->n ||
		     recommend_loss(c->merit, c->list[i].report, c->list[next].report) < 0))
			next = i;
	return next;
}

static char *recommend_why(const struct choice *c, const char *reason)
{
	size_t next = recommend_next(c);
	const struct recommend_case *x = &c->list[c->pick];
	char *text = NULL, *other;
	size_t len;
	FILE *out;

	if (c->pick == c->n)
		return xstrdup("No recommendation: none of these routings passed all checks.");
	out = open_memstream(&text, &len);
	fprintf(out, "Recommended: %s%s: %s.", x->installed ? "keep what is " : "", x->name,
		reason);
	if (next < c->n) {
		other = recommend_reason(c, next);
		fprintf(out, " Next is %s: %s.", c->list[next].name, other);
		free(other);
	}
	fclose(out);
	return text;
}

/* The hosts have to send with service levels that only OpenSM's plugin gives them. */
static bool recommend_needs_plugin(const struct recommend_case *c)
{
	const struct route_report *r = c->report;

	return !c->installed && (r->diff ? r->diff->sl_pairs > 0 : r->v->sls_used > 1);
}

/* A routing for several LIDs holds what it says for software alone that knows them. */
static void recommend_put_lids(FILE *out, const struct merit *m, const struct route_report *r)
{
	struct route_report base = { .pattern = r->pattern };

	if (!r->messages)
		return;
	fprintf(out, "; large messages have to go to the LIDs of its table");
	base.time = r->messages[MESSAGES_BASE].time;
	if (!m || isnan(m->of(&base).mean))
		return;
	fprintf(out, ", on base LIDs alone: ");
	recommend_put_value(out, m, &base);
}

static char *recommend_cost(const struct choice *c)
{
	const struct recommend_case *x = &c->list[c->pick];
	const struct route_report *r = x->report;
	char *text = NULL, gate[300];
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t vls = recommend_vls(r);

	fprintf(out, "%u VL%s, %.2f hops on average, LMC %u", vls, plural(vls), r->v->hops_mean,
		r->f->lmc);
	if (r->diff)
		fprintf(out, ", %u of %u LFT blocks to be written", r->diff->nblocks,
			r->diff->blocks_all);
	recommend_put_lids(out, c->merit, r);
	if (recommend_needs_plugin(x))
		fprintf(out, "; hosts need its service levels, which OpenSM's plugin gives them");
	if (time_gate_slower(&r->gate))
		fprintf(out, "; slower than the installed routing: %s",
			time_gate_text(gate, sizeof(gate), &r->gate));
	fclose(out);
	return text;
}

/* --- what would have to change ----------------------------------------------------------- */

/* What it would be like if there were enough VLs; NULL: that is not what it lacks. */
static const struct route_report *recommend_with_vls(const struct recommend_case *c)
{
	const struct route_report *r = c->report ? c->report : c->with_vls;

	if (!r || (c->report && r->v->vls_fit) || !r->v->connected || !r->v->loop_free ||
	    !r->v->deadlock_free || r->v->passes.n || r->v->pinned.changed)
		return NULL;
	return r;
}

static void recommend_put_vls(FILE *out, const struct choice *c, size_t i)
{
	const struct route_report *r = recommend_with_vls(&c->list[i]);
	const struct route_report *pick = c->pick < c->n ? c->list[c->pick].report : NULL;

	if (pick &&
	    (!c->merit || isnan(c->merit->of(r).mean) || !recommend_worse(c->merit, pick, r)))
		return;
	fprintf(out, " With %u VLs %s would be %s", recommend_vls(r), c->list[i].name,
		pick ? "better: " : "possible");
	if (pick)
		recommend_put_value(out, c->merit, r);
	fputc('.', out);
}

/* The best that OpenSM's plugin is not needed for, where the pick needs it. */
static void recommend_put_without_plugin(FILE *out, const struct choice *c)
{
	size_t best = c->n;

	if (c->pick == c->n || !c->merit || !recommend_needs_plugin(&c->list[c->pick]))
		return;
	for (size_t i = 0; i < c->n; i++)
		if (recommend_ok(&c->list[i]) && !recommend_needs_plugin(&c->list[i]) &&
		    (best == c->n ||
		     recommend_loss(c->merit, c->list[i].report, c->list[best].report) < 0))
			best = i;
	if (best == c->n)
		return;
	fprintf(out, " Without the plugin the best is %s: ", c->list[best].name);
	recommend_put_value(out, c->merit, c->list[best].report);
	fputc('.', out);
}

/* Those that gave none for what the operator can change come with their reason; of those whom the
 * fabric does not suit the names are enough, for each has its own beside it. */
static void recommend_put_refusals(FILE *out, const struct choice *c)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].report && !recommend_with_vls(&c->list[i]) && !c->list[i].unsuited)
			fprintf(out, " %s could not be judged: %s.", c->list[i].name,
				c->list[i].why);
	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].report && c->list[i].unsuited)
			fprintf(out, "%s%s",
				n++ ? ", " : " Not for a fabric of this shape: ", c->list[i].name);
	if (n)
		fputc('.', out);
}

static char *recommend_change(const struct choice *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < c->n; i++)
		if (recommend_with_vls(&c->list[i]))
			recommend_put_vls(out, c, i);
	recommend_put_without_plugin(out, c);
	recommend_put_refusals(out, c);
	fclose(out);
	if (!len) {
		free(text);
		return NULL;
	}
	memmove(text, text + 1, len); /* the blank before the first sentence */
	return text;
}

void recommend(struct recommendation *out, const struct recommend_case *list, size_t n)
{
	struct choice c = { .list = list, .n = n };

	c.left = xcalloc(n, sizeof(*c.left));
	c.lost = xcalloc(n, sizeof(*c.lost));
	recommend_choose(&c);
	*out = (struct recommendation){ .n = n, .pick = c.pick };
	out->reason = xcalloc(n, sizeof(*out->reason));
	for (size_t i = 0; i < n; i++)
		out->reason[i] = recommend_reason(&c, i);
	out->why = recommend_why(&c, c.pick < n ? out->reason[c.pick] : NULL);
	out->cost = c.pick < n ? recommend_cost(&c) : NULL;
	out->change = recommend_change(&c);
	free(c.left);
	free(c.lost);
}

void recommendation_free(struct recommendation *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->reason[i]);
	free(r->reason);
	free(r->why);
	free(r->cost);
	free(r->change);
	*r = (struct recommendation){ 0 };
}
