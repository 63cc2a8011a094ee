/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/fabric_summary.h"

#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char problem_glyph(enum problem p)
{
	return " ~s!x"[p];
}

const char *problem_word(enum problem p)
{
	static const char *const words[] = { "", "reduced", "errors", "no reply", "down" };

	return words[p];
}

/* Ports that lead nowhere, but did before. */
static void fabric_summary_find_lost(struct fabric_summary *v)
{
	const struct fabric *f = v->fabric;

	v->lost = xcalloc(f->nport + 1ull, sizeof(*v->lost));
	v->nlost = 0;
	for (uint32_t i = 0; i < f->nport; i++)
		if (!port_cabled(&f->port[i]) && port_problems_was(v->port_problems, i))
			v->lost[v->nlost++] = i;
	v->lost = xrealloc(v->lost, v->nlost + 1ull, sizeof(*v->lost));
}

static void fabric_summary_take_fabric(struct fabric_summary *v, const struct state *s)
{
	const struct fabric *f = s->fabric;
	bool known = v->port_problems;
	struct port_problems *port_problems = known ? v->port_problems : port_problems_new();

	v->port_problems = NULL;
	fabric_summary_done(v);
	v->port_problems = port_problems;
	if (!known && s->findings && s->findings->expected)
		port_problems_fabric(port_problems, s->findings->expected);
	port_problems_fabric(port_problems, f);
	v->fabric = fabric_get(f);
	if (s->shape && s->shape->fabric == f)
		v->shape = fabric_shape_get(s->shape);
	else
		v->shape = fabric_shape_new(f, s->racks_file, s->racks_path);
	v->topology = v->shape->topology;
	v->racks = v->shape->racks;
	v->tiers = v->shape->tiers;
	v->problem = xcalloc(f->nport + 1ull, 1);
	fabric_summary_find_lost(v);
}

static void fabric_summary_list_problem(struct fabric_summary *v, uint32_t port)
{
	uint32_t sw = fabric_port_switch(v->fabric, port);

	v->problem_sw[v->nproblem] = sw;
	v->problem_port[v->nproblem++] = (uint8_t)(port - v->fabric->port_off[sw]);
}

/* The worst kind first, each in the order of ports; most ports have none. */
static void fabric_summary_list_problems(struct fabric_summary *v, const uint32_t *count)
{
	uint32_t n = v->fabric->nport;

	v->nproblem = 0;
	for (int kind = PROBLEM_DOWN; kind > PROBLEM_NONE; kind--) {
		const uint8_t *p = v->problem, *end = v->problem + n;
		uint32_t left = count[kind];

		for (; left && v->nproblem < PROBLEM_MAX; left--) {
			p = memchr(p, kind, (size_t)(end - p));
			fabric_summary_list_problem(v, (uint32_t)(p++ - v->problem));
		}
	}
}

static void fabric_summary_find_problems(struct fabric_summary *v, const struct state *s)
{
	const struct sample_summary *t = v->sample_summary;
	uint32_t count[PROBLEM_KINDS];

	memcpy(v->problem, t->problem, v->fabric->nport);
	sample_summary_problems(count, t, v->errors_limit);
	for (uint32_t i = 0; i < v->nlost; i++)
		v->problem[v->lost[i]] = PROBLEM_DOWN;
	count[PROBLEM_DOWN] += v->nlost;
	count[PROBLEM_NONE] -= v->nlost;
	for (uint32_t i = 0; i < t->nrising; i++)
		if (t->rising[i].per_min > v->errors_limit)
			v->problem[t->rising[i].port] = PROBLEM_ERRORS;
	v->down = count[PROBLEM_DOWN];
	v->no_reply = count[PROBLEM_NO_REPLY];
	v->errors = count[PROBLEM_ERRORS];
	v->reduced = count[PROBLEM_REDUCED];
	fabric_summary_list_problems(v, count);
	if (!s->history_at.on)
		port_problems_note(v->port_problems, v->problem, s->now_s);
}

static double fabric_summary_job_rate(const struct fabric_summary *v, const struct rates *rates,
				      const struct job *j)
{
	const struct fabric *f = v->fabric;
	double sum = 0;

	for (uint32_t i = 0; i < j->nterm; i++) {
		uint32_t t = j->terms[i];
		const struct port_rate *r;

		if (!rates || rates->nport != f->nport)
			return NAN;
		r = &rates->port[f->port_off[f->term_sw[t]] + f->term_port[t]];
		if (v->jobs->term_off[t + 1] - v->jobs->term_off[t] != 1)
			return NAN;
		sum += r->rx_Bps;
	}
	return j->nterm ? sum : NAN;
}

struct sufferer {
	double lost_pct, slowdown, Bps;
	uint32_t job;
};

static int fabric_summary_higher(double a, double b)
{
	double x = isfinite(a) ? a : -1, y = isfinite(b) ? b : -1;

	return (x < y) - (x > y);
}

/* Unknown last; equals in the order of the job set, which is by size. */
static int fabric_summary_suffer_cmp(const void *pa, const void *pb)
{
	const struct sufferer *a = pa, *b = pb;
	int c = fabric_summary_higher(a->lost_pct, b->lost_pct);

	if (!c)
		c = fabric_summary_higher(a->slowdown, b->slowdown);
	if (!c)
		c = fabric_summary_higher(a->Bps, b->Bps);
	return c ? c : a->job < b->job ? -1 : a->job > b->job;
}

/* As shown: a hundredth more or less is the same. */
static double fabric_summary_rounded(double slowdown)
{
	return isfinite(slowdown) ? rint(10 * slowdown) / 10 : slowdown;
}

static void fabric_summary_sort_jobs(struct fabric_summary *v, const struct link_usage *u)
{
	uint32_t n = v->jobs->njob;
	struct sufferer *all = xcalloc(n + 1ull, sizeof(*all));

	v->by_suffering = xcalloc(n + 1ull, sizeof(*v->by_suffering));
	v->job_slowdown = xcalloc(n + 1ull, sizeof(*v->job_slowdown));
	v->job_lost_pct = xcalloc(n + 1ull, sizeof(*v->job_lost_pct));
	for (uint32_t j = 0; j < n; j++) {
		v->job_slowdown[j] = link_usage_slowdown(u, v->jobs->jobs[j].id);
		v->job_lost_pct[j] = link_usage_lost_pct(u, v->jobs->jobs[j].id);
		all[j] = (struct sufferer){ v->job_lost_pct[j],
					    fabric_summary_rounded(v->job_slowdown[j]),
					    v->job_Bps[j], j };
	}
	qsort(all, n, sizeof(*all), fabric_summary_suffer_cmp);
	for (uint32_t j = 0; j < n; j++)
		v->by_suffering[j] = all[j].job;
	free(all);
}

static void fabric_summary_rate_jobs(struct fabric_summary *v, const struct state *s)
{
	const struct jobset *js = v->jobs;

	free(v->job_Bps);
	free(v->by_suffering);
	free(v->job_slowdown);
	v->job_Bps = NULL;
	v->by_suffering = NULL;
	v->job_slowdown = NULL;
	free(v->job_lost_pct);
	v->job_lost_pct = NULL;
	if (!js || js->nterm != v->fabric->nterm)
		return;
	v->job_Bps = xcalloc(js->njob, sizeof(*v->job_Bps));
	for (uint32_t j = 0; j < js->njob; j++)
		v->job_Bps[j] = fabric_summary_job_rate(v, s->rates, &js->jobs[j]);
	fabric_summary_sort_jobs(v, state_usage(s));
}

double fabric_summary_hot_pct(const struct state *s)
{
	return s->limits.util_pct > 0 ? s->limits.util_pct : HOT_PCT;
}

static void fabric_summary_load_of_job(struct job_load *l, const struct sample_summary *t,
				       const struct job_routes *r, uint32_t job, double hot_pct)
{
	double routes = 0;

	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		double util = t->util[r->chan[i]];

		routes += r->routes[i];
		if (!isfinite(util))
			continue;
		l->hot += util >= hot_pct;
		if (l->worst != FAB_NONE && util <= l->util_max)
			continue;
		l->util_max = util;
		l->worst = r->chan[i];
	}
	l->links = (uint32_t)(r->off[job + 1] - r->off[job]);
	if (l->links)
		l->efi_mean = routes / l->links;
}

double fabric_summary_job_then(const struct fabric_summary *v, const struct state *s, uint32_t job)
{
	const struct job *j = &v->jobs->jobs[job];

	if (!v->job_Bps || (j->start_s && j->start_s > s->against_s))
		return NAN;
	return fabric_summary_job_rate(v, s->against, j);
}

static void fabric_summary_then_of_job(struct job_load *l, const struct state *s,
				       const struct job_routes *r, uint32_t job)
{
	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		const struct port_rate *then =
			state_rate_then(s, chan_fabric_port(s->fabric, r->chan[i]));

		if (then && isfinite(then->util_pct) && !(then->util_pct <= l->util_then))
			l->util_then = then->util_pct;
	}
}

static void fabric_summary_forget_loads(struct fabric_summary *v)
{
	free(v->job_load);
	free(v->job_load_made);
	v->job_load = NULL;
	v->job_load_made = NULL;
}

/* Room for what fabric_summary_job_load() will be asked for. */
static void fabric_summary_load_jobs(struct fabric_summary *v, const struct state *s)
{
	const struct link_usage *u = state_usage(s);

	fabric_summary_forget_loads(v);
	v->usage_serial = u ? u->serial : 0;
	if (!u || !u->routes || !v->jobs)
		return;
	v->job_load = xcalloc(v->jobs->njob + 1u, sizeof(*v->job_load));
	v->job_load_made = xcalloc(v->jobs->njob + 1u, 1);
}

const struct job_load *fabric_summary_job_load(const struct fabric_summary *v,
					       const struct state *s, uint32_t job)
{
	const struct link_usage *u = state_usage(s);
	uint32_t at;

	if (!v->job_load || !u || u->serial != v->usage_serial)
		return NULL;
	if (v->job_load_made[job])
		return &v->job_load[job];
	at = link_usage_job(u, v->jobs->jobs[job].id);
	v->job_load[job] = (struct job_load){
		.worst = FAB_NONE, .util_max = NAN, .efi_mean = NAN, .util_then = NAN
	};
	if (at != FAB_NONE)
		fabric_summary_load_of_job(&v->job_load[job], v->sample_summary, u->routes, at,
					   fabric_summary_hot_pct(s));
	if (at != FAB_NONE && s->against)
		fabric_summary_then_of_job(&v->job_load[job], s, u->routes, at);
	v->job_load_made[job] = 1;
	return &v->job_load[job];
}

/* That of the state where it is of what the state shows: another thread has made it. */
static void fabric_summary_take_tally(struct fabric_summary *v, const struct state *s)
{
	const struct sample_summary *t = s->sample_summary;

	sample_summary_put(v->sample_summary);
	if (t && digest_equal(&t->fabric->fingerprint, &v->fabric->fingerprint) &&
	    t->sample == v->sample && t->rates == v->rates)
		v->sample_summary = sample_summary_get(t);
	else
		v->sample_summary =
			sample_summary_new(v->fabric, &v->shape->reference, v->sample, v->rates);
}

void fabric_summary_update(struct fabric_summary *v, const struct state *s)
{
	const struct link_usage *usage = state_usage(s);
	bool fresh = false, same_usage = v->usage_serial == (usage ? usage->serial : 0);

	if (!s->fabric) {
		fabric_summary_done(v);
		return;
	}
	if (v->fabric != s->fabric) {
		fabric_summary_take_fabric(v, s);
		fresh = true;
	}
	if (v->errors_limit > s->limits.errors_per_min ||
	    v->errors_limit < s->limits.errors_per_min)
		fresh = true;
	v->errors_limit = s->limits.errors_per_min;
	if (v->against != s->against || v->against_s != s->against_s)
		fresh = true;
	v->against = s->against;
	v->against_s = s->against_s;
	if (v->congestion.wait_pct > congestion_limit(s->limits.wait_pct) ||
	    v->congestion.wait_pct < congestion_limit(s->limits.wait_pct))
		fresh = true;
	if (v->rates == s->rates && v->sample == s->sample && v->jobs == s->jobs && same_usage &&
	    !fresh)
		return;
	rates_put(v->rates);
	sample_put(v->sample);
	jobset_put(v->jobs);
	v->jobs = s->jobs ? jobset_get(s->jobs) : NULL;
	v->rates = s->rates ? rates_get(s->rates) : NULL;
	v->sample = s->sample ? sample_get(s->sample) : NULL;
	if (!v->sample_summary || v->sample_summary->rates != v->rates ||
	    v->sample_summary->sample != v->sample)
		fabric_summary_take_tally(v, s);
	congestion_find(&v->congestion, v->sample_summary, congestion_limit(s->limits.wait_pct));
	fabric_summary_find_problems(v, s);
	fabric_summary_rate_jobs(v, s);
	fabric_summary_load_jobs(v, s);
}

void fabric_summary_done(struct fabric_summary *v)
{
	fabric_put(v->fabric);
	rates_put(v->rates);
	sample_put(v->sample);
	jobset_put(v->jobs);
	fabric_shape_put(v->shape);
	free(v->job_Bps);
	free(v->by_suffering);
	free(v->job_slowdown);
	free(v->job_lost_pct);
	fabric_summary_forget_loads(v);
	port_problems_free(v->port_problems);
	free(v->problem);
	free(v->lost);
	congestion_done(&v->congestion);
	sample_summary_put(v->sample_summary);
	memset(v, 0, sizeof(*v));
}
