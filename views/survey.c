/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/survey.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TIER 255

char problem_glyph(enum problem p)
{
	return " ~s!x"[p];
}

const char *problem_word(enum problem p)
{
	static const char *const words[] = { "", "reduced", "errors", "no reply", "down" };

	return words[p];
}

/* Most common rate of the ports that lead to switches, or to hosts. */
static uint32_t common_rate(const struct fabric *f, bool isl)
{
	struct {
		uint32_t rate, count;
	} seen[16] = { 0 }, *best = seen;

	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *p = &f->port[i];
		size_t k = 0;

		if (!p->rate_Mbps || (isl ? p->chan : p->term) == FAB_NONE)
			continue;
		while (k < 15 && seen[k].rate && seen[k].rate != p->rate_Mbps)
			k++;
		seen[k].rate = p->rate_Mbps;
		seen[k].count++;
	}
	for (size_t k = 1; k < 16; k++)
		if (seen[k].count > best->count)
			best = &seen[k];
	return best->rate;
}

static uint8_t tier_find(struct survey *v, const char *name)
{
	uint32_t t = 0;

	while (t < v->ntier && strcmp(v->tier[t].name, name) != 0)
		t++;
	if (t == TIERS)
		return NO_TIER;
	if (t == v->ntier)
		snprintf(v->tier[v->ntier++].name, sizeof(v->tier[t].name), "%s", name);
	return (uint8_t)t;
}

static uint8_t tier_between(struct survey *v, const char *from, const char *to)
{
	char name[20];

	snprintf(name, sizeof(name), "%.8s -> %.7s", from, to);
	return tier_find(v, name);
}

static uint8_t tier_of_chan(struct survey *v, const struct fabric *f, uint32_t c)
{
	const struct shape *s = v->shape;
	uint32_t a = f->chan_src[c], b = f->chan_dst[c];
	char from[16], to[16], dim[16];

	if (s->kind == SHAPE_TREE)
		return tier_between(v, shape_level_name(from, s, s->level[a]),
				    shape_level_name(to, s, s->level[b]));
	if (s->kind == SHAPE_GENERAL)
		return tier_find(v, "switch -> switch");
	if (s->kind == SHAPE_GROUPS)
		return tier_find(v,
				 s->group[a] == s->group[b] ? "inside groups" : "group -> group");
	for (uint32_t d = 0; d < s->ndim; d++) {
		if (s->coord[a * SHAPE_DIMS + d] == s->coord[b * SHAPE_DIMS + d])
			continue;
		snprintf(dim, sizeof(dim), "dim %u", d + 1);
		return tier_between(v, "switch", dim);
	}
	return NO_TIER;
}

static void take_fabric(struct survey *v, const struct fabric *f)
{
	uint8_t out;

	struct troubles *troubles = v->troubles ? v->troubles : troubles_new();

	v->troubles = NULL;
	survey_done(v);
	v->troubles = troubles;
	troubles_fabric(troubles, f);
	v->fabric = fabric_get(f);
	v->shape = shape_new(f);
	v->racks = racks_new(f);
	v->isl_Mbps = common_rate(f, true);
	v->host_Mbps = common_rate(f, false);
	v->cables = f->nchan / 2;
	v->hosts = f->nterm;
	v->problem = xcalloc(f->nport, 1);
	v->tier_of = xcalloc(f->nport, 1);
	memset(v->tier_of, NO_TIER, f->nport);
	tier_between(v, "hosts", v->shape->kind == SHAPE_TREE ? "leaf" : "switch");
	for (uint32_t c = 0; c < f->nchan; c++)
		v->tier_of[chan_fabric_port(f, c)] = tier_of_chan(v, f, c);
	out = tier_between(v, v->shape->kind == SHAPE_TREE ? "leaf" : "switch", "hosts");
	for (uint32_t t = 0; t < f->nterm; t++)
		v->tier_of[f->port_off[f->term_sw[t]] + f->term_port[t]] = out;
}

static enum problem problem_find(const struct survey *v, uint32_t i, const struct port *p,
				 const struct port_counters *pc, const struct port_rate *r)
{
	uint32_t expect = p->chan != FAB_NONE ? v->isl_Mbps : v->host_Mbps;

	if (p->chan == FAB_NONE && p->term == FAB_NONE)
		return troubles_was(v->troubles, i) ? PROBLEM_DOWN : PROBLEM_NONE;
	if (p->state != PORT_UNKNOWN && p->state != PORT_ACTIVE)
		return PROBLEM_DOWN;
	if (pc && !pc->valid)
		return PROBLEM_NO_REPLY;
	if (r && r->errors_per_min > v->errors_limit)
		return PROBLEM_ERRORS;
	if (p->rate_Mbps && p->rate_Mbps < expect)
		return PROBLEM_REDUCED;
	return PROBLEM_NONE;
}

static void list_problems(struct survey *v, const struct fabric *f, const uint32_t *count)
{
	v->nproblem = 0;
	for (int kind = PROBLEM_DOWN; kind > PROBLEM_NONE; kind--) {
		for (uint32_t sw = 0; count[kind] && sw < f->nsw; sw++) {
			for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
				if (v->problem[f->port_off[sw] + p] != kind)
					continue;
				if (v->nproblem == PROBLEM_MAX)
					return;
				v->problem_sw[v->nproblem] = sw;
				v->problem_port[v->nproblem++] = (uint8_t)p;
			}
		}
	}
}

static void find_problems(struct survey *v, const struct state *s)
{
	const struct fabric *f = v->fabric;
	const struct sample *sample = v->sample;
	uint32_t count[PROBLEM_DOWN + 1] = { 0 };

	if (sample && sample->nport != f->nport)
		sample = NULL;
	for (uint32_t i = 0; i < f->nport; i++) {
		v->problem[i] = (uint8_t)problem_find(
			v, i, &f->port[i], sample ? &sample->port[i] : NULL, state_rate(s, i));
		count[v->problem[i]]++;
	}
	v->down = count[PROBLEM_DOWN];
	v->no_reply = count[PROBLEM_NO_REPLY];
	v->errors = count[PROBLEM_ERRORS];
	v->reduced = count[PROBLEM_REDUCED];
	list_problems(v, f, count);
	if (!s->past.on)
		troubles_note(v->troubles, v->problem, s->now_s);
}

static void tier_add(struct tier *t, double util, double wait)
{
	t->links++;
	if (isfinite(wait))
		t->wait_max = isfinite(t->wait_max) ? fmax(t->wait_max, wait) : wait;
	if (!isfinite(util))
		return;
	t->util_avg = t->known ? t->util_avg + util : util; /* a sum until the end */
	t->util_min = t->known ? fmin(t->util_min, util) : util;
	t->util_max = t->known ? fmax(t->util_max, util) : util;
	t->known++;
}

static void sum_tiers(struct survey *v, const struct state *s)
{
	const struct fabric *f = v->fabric;
	double sum = 0;
	uint32_t known = 0;

	for (uint32_t t = 0; t < v->ntier; t++) {
		struct tier *x = &v->tier[t];

		x->links = x->known = 0;
		x->util_min = x->util_avg = x->util_max = x->wait_max = NAN;
	}
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port_rate *r = state_rate(s, i);

		if (v->tier_of[i] == NO_TIER)
			continue;
		tier_add(&v->tier[v->tier_of[i]], r ? r->util_pct : NAN, r ? r->wait_pct : NAN);
		if (f->port[i].chan != FAB_NONE && r && isfinite(r->util_pct)) {
			sum += r->util_pct;
			known++;
		}
		if (f->port[i].term != FAB_NONE) /* what the host sends comes in here */
			tier_add(&v->tier[0],
				 r && f->port[i].rate_Mbps ? r->rx_Bps * 8e-4 / f->port[i].rate_Mbps
							   : NAN,
				 NAN);
	}
	for (uint32_t t = 0; t < v->ntier; t++)
		v->tier[t].util_avg /= v->tier[t].known ? v->tier[t].known : 1;
	v->load_pct = known ? sum / known : NAN;
}

static void find_hot(struct survey *v, const struct state *s)
{
	const struct fabric *f = v->fabric;
	double util[HOT_LINKS];

	v->nhot = 0;
	for (uint32_t c = 0; c < f->nchan; c++) {
		const struct port_rate *r = state_rate(s, chan_fabric_port(f, c));
		uint32_t k;

		if (!r || !isfinite(r->util_pct))
			continue;
		if (v->nhot == HOT_LINKS && r->util_pct <= util[HOT_LINKS - 1])
			continue;
		k = v->nhot < HOT_LINKS ? v->nhot++ : HOT_LINKS - 1;
		for (; k && util[k - 1] < r->util_pct; k--) {
			util[k] = util[k - 1];
			v->hot[k] = v->hot[k - 1];
		}
		util[k] = r->util_pct;
		v->hot[k] = c;
	}
}

static double job_rate(const struct survey *v, const struct state *s, const struct job *j)
{
	const struct fabric *f = v->fabric;
	double sum = 0;

	for (uint32_t i = 0; i < j->nterm; i++) {
		uint32_t t = j->terms[i];
		const struct port_rate *r =
			state_rate(s, f->port_off[f->term_sw[t]] + f->term_port[t]);

		if (!r || v->jobs->term_off[t + 1] - v->jobs->term_off[t] != 1)
			return NAN;
		sum += r->rx_Bps;
	}
	return j->nterm ? sum : NAN;
}

struct busy {
	double Bps;
	uint32_t job;
};

/* Unknown last; equals in the order of the job set, which is by size. */
static int busy_cmp(const void *pa, const void *pb)
{
	const struct busy *a = pa, *b = pb;
	double x = isfinite(a->Bps) ? a->Bps : -1, y = isfinite(b->Bps) ? b->Bps : -1;

	if (x != y)
		return x > y ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

static void sort_by_traffic(struct survey *v)
{
	uint32_t n = v->jobs->njob;
	struct busy *all = xcalloc(n + 1ull, sizeof(*all));

	v->by_traffic = xcalloc(n + 1ull, sizeof(*v->by_traffic));
	for (uint32_t j = 0; j < n; j++)
		all[j] = (struct busy){ v->job_Bps[j], j };
	qsort(all, n, sizeof(*all), busy_cmp);
	for (uint32_t j = 0; j < n; j++)
		v->by_traffic[j] = all[j].job;
	free(all);
}

static void rate_jobs(struct survey *v, const struct state *s)
{
	const struct jobset *js = v->jobs;

	free(v->job_Bps);
	free(v->by_traffic);
	v->job_Bps = NULL;
	v->by_traffic = NULL;
	if (!js || js->nterm != v->fabric->nterm)
		return;
	v->job_Bps = xcalloc(js->njob, sizeof(*v->job_Bps));
	for (uint32_t j = 0; j < js->njob; j++)
		v->job_Bps[j] = job_rate(v, s, &js->jobs[j]);
	sort_by_traffic(v);
}

static void load_of_job(struct job_load *l, const struct state *s, const struct job_routes *r,
			uint32_t job)
{
	double routes = 0;

	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, r->chan[i]));

		routes += r->routes[i];
		if (!p || !isfinite(p->util_pct))
			continue;
		l->hot += p->util_pct >= HOT_PCT;
		if (l->worst != FAB_NONE && p->util_pct <= l->util_max)
			continue;
		l->util_max = p->util_pct;
		l->worst = r->chan[i];
	}
	l->links = (uint32_t)(r->off[job + 1] - r->off[job]);
	if (l->links)
		l->efi_mean = routes / l->links;
}

static void load_jobs(struct survey *v, const struct state *s)
{
	const struct usage *u = state_usage(s);

	free(v->job_load);
	v->job_load = NULL;
	v->usage_serial = u ? u->serial : 0;
	if (!u || !u->routes || !v->jobs)
		return;
	v->job_load = xcalloc(v->jobs->njob + 1u, sizeof(*v->job_load));
	for (uint32_t j = 0; j < v->jobs->njob; j++) {
		uint32_t at = usage_job(u, v->jobs->jobs[j].id);

		v->job_load[j] =
			(struct job_load){ .worst = FAB_NONE, .util_max = NAN, .efi_mean = NAN };
		if (at != FAB_NONE)
			load_of_job(&v->job_load[j], s, u->routes, at);
	}
}

void survey_update(struct survey *v, const struct state *s)
{
	const struct usage *usage = state_usage(s);
	bool fresh = false, same_usage = v->usage_serial == (usage ? usage->serial : 0);

	if (!s->fabric) {
		survey_done(v);
		return;
	}
	if (v->fabric != s->fabric) {
		take_fabric(v, s->fabric);
		fresh = true;
	}
	if (v->errors_limit > s->limits.errors_per_min ||
	    v->errors_limit < s->limits.errors_per_min)
		fresh = true;
	v->errors_limit = s->limits.errors_per_min;
	if (v->rates == s->rates && v->sample == s->sample && v->jobs == s->jobs && same_usage &&
	    !fresh)
		return;
	rates_put(v->rates);
	sample_put(v->sample);
	jobset_put(v->jobs);
	v->jobs = s->jobs ? jobset_get(s->jobs) : NULL;
	v->rates = s->rates ? rates_get(s->rates) : NULL;
	v->sample = s->sample ? sample_get(s->sample) : NULL;
	find_problems(v, s);
	sum_tiers(v, s);
	find_hot(v, s);
	rate_jobs(v, s);
	load_jobs(v, s);
}

void survey_done(struct survey *v)
{
	fabric_put(v->fabric);
	rates_put(v->rates);
	sample_put(v->sample);
	jobset_put(v->jobs);
	shape_free(v->shape);
	racks_free(v->racks);
	free(v->job_Bps);
	free(v->by_traffic);
	free(v->job_load);
	troubles_free(v->troubles);
	free(v->problem);
	free(v->tier_of);
	memset(v, 0, sizeof(*v));
}
