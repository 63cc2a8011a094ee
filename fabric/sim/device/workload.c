/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/workload.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/sim/device/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY	   0.87
#define MEAN_S	   1800.0
#define START_S	   1767225600 /* 2026-01-01 */
#define EXCHANGE_S 0.1
#define OFFERED	   1.3	   /* work that arrives, as a multiple of what fits */
#define SLACK	   0.015   /* the machine is filled to busy + SLACK */
#define WARM_UP	   3.0	   /* mean run times before the first step, to fragment the machine */
#define RATE_Mbps  100000u /* of a link whose rate is unknown */

struct wjob {
	uint64_t id, seed;
	char name[24];
	const char *user;
	uint32_t size;
	uint32_t *nodes; /* ascending; NULL while it waits */
	double queued, start, run_s;
	/* its exchange: every rank sends to the one `shift` ranks on; the next shift is `stride` on
	 */
	uint32_t shift, stride;
	double sent_s; /* of the exchange, as if at full rate */
	double pace;   /* of full rate */
};

struct workload {
	const struct fabric *f;
	struct workload_opts o;
	struct rng rng;
	double now, zero;	    /* seconds; what start_s stands for */
	double next_arrival, gap_s; /* mean time between arrivals */
	uint64_t next_id, jobs_serial, flows_serial, flows_made;
	struct machine m;
	uint32_t fill, max_exp; /* nodes to fill; largest usual size is 2^max_exp */
	VEC(struct wjob) run;
	VEC(struct wjob) queue;
	VEC(struct sim_flow) flows;
	const struct job_list *list; /* of list_serial */
	uint64_t list_serial;
};

/* --- jobs --- */

static double workload_exponential(struct workload *w, double mean)
{
	return -mean * log1p(-rng_unit(&w->rng));
}

/* Weights of sizes 1, 2, 4, 8, ...: small jobs are many, large ones hold most nodes. */
static double workload_weight(const struct workload *w, uint32_t exp)
{
	static const double few[] = { 1.0, 1.5, 2.0, 2.0, 1.6 };

	if (w->o.sizes)
		return exp < w->o.nsizes ? w->o.sizes[exp] : 0;
	return exp < 5 ? few[exp] : 1.6 * pow(0.6, exp - 4.0);
}

static uint32_t workload_draw_size(struct workload *w)
{
	double sum = 0, at;
	uint32_t e = 0, size;

	for (uint32_t i = 0; i <= w->max_exp; i++)
		sum += workload_weight(w, i);
	at = rng_unit(&w->rng) * sum;
	while (e < w->max_exp && at >= workload_weight(w, e))
		at -= workload_weight(w, e++);
	size = 1u << e;
	/* one in five is odd: between the power below and this one */
	if (size > 2 && rng_unit(&w->rng) < 0.2)
		size = size / 2 + 1 + (uint32_t)rng_below(&w->rng, size / 2 - 1);
	/* the tail: a few large ones */
	if (rng_unit(&w->rng) < 0.01)
		size = w->m.nnode / 8 + (uint32_t)rng_below(&w->rng, w->m.nnode / 8 + 1);
	return size ? size : 1;
}

/* Many short runs, some long ones; the mean is 1. */
static double workload_draw_run(struct workload *w)
{
	return workload_exponential(w, rng_unit(&w->rng) < 0.7 ? 0.5 : 13.0 / 6);
}

static void workload_draw_names(struct workload *w, struct wjob *j)
{
	static const char *const codes[] = { "wrf",	"lammps", "gromacs", "vasp",  "openfoam",
					     "namd",	"cp2k",	  "nemo",    "qe",    "nwchem",
					     "su2",	"alya",	  "icon",    "amber", "nek5000",
					     "specfem", "chroma", "hpl",     "flash", "train" };
	static const char *const users[] = { "abe",	 "bauer",  "chen",  "dubois", "eriksen",
					     "fischer",	 "garcia", "haas",  "ito",    "jansen",
					     "kowalski", "larsen", "meier", "novak",  "okada",
					     "petrov",	 "rossi",  "sato",  "tanaka", "weber" };
	const char *code = codes[rng_below(&w->rng, sizeof(codes) / sizeof(codes[0]))];

	snprintf(j->name, sizeof(j->name), "%s-%02u", code, (unsigned)rng_below(&w->rng, 100));
	j->user = users[rng_below(&w->rng, sizeof(users) / sizeof(users[0]))];
}

static struct wjob workload_draw_job(struct workload *w)
{
	struct wjob j = { .id = w->next_id++, .queued = w->now };

	workload_draw_names(w, &j);
	j.size = workload_draw_size(w);
	j.run_s = 30 + workload_draw_run(w) * w->o.mean_s;
	j.seed = rng_u64(&w->rng);
	return j;
}

static uint32_t workload_common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* An all-to-all from a shift of its own on.  The stride is near the golden section, so that any few
 * exchanges in a row are of near and far ranks, and has every shift once before one comes again. */
static void workload_first_exchange(struct wjob *j)
{
	uint32_t shifts = j->size - 1;
	struct rng r;

	if (!shifts)
		return;
	rng_seed(&r, j->seed);
	j->shift = 1 + (uint32_t)rng_below(&r, shifts);
	j->sent_s = rng_unit(&r);
	j->stride = (uint32_t)(0.618 * shifts) + 1;
	while (workload_common_divisor(j->stride, shifts) > 1)
		j->stride++;
}

static void workload_next_exchange(struct wjob *j)
{
	uint32_t shifts = j->size - 1;

	j->shift = 1 + (uint32_t)(((uint64_t)j->shift - 1 + j->stride) % shifts);
}

static void workload_start_job(struct workload *w, struct wjob j)
{
	workload_first_exchange(&j);
	j.sent_s *= w->o.exchange_s;
	j.start = w->now;
	j.nodes = machine_take(&w->m, j.size, (uint32_t)w->run.n);
	vec_push(&w->run, j);
	w->jobs_serial++;
	w->flows_serial++;
}

/* The last job takes the place of the one that ends. */
static void workload_end_job(struct workload *w, uint32_t at)
{
	struct wjob *j = &w->run.v[at];

	machine_give(&w->m, j->nodes, j->size);
	free(j->nodes);
	*j = w->run.v[--w->run.n];
	for (uint32_t i = 0; at < w->run.n && i < j->size; i++)
		w->m.nodes[j->nodes[i]].owner = at;
	w->jobs_serial++;
	w->flows_serial++;
}

/* First come, first served, and what fits may overtake; when the first one has waited for a
 * mean run time, only those of half its size may. */
static void workload_schedule(struct workload *w)
{
	for (size_t q = 0; q < w->queue.n;) {
		const struct wjob *head = &w->queue.v[0], *j = &w->queue.v[q];
		bool held = q && w->now - head->queued > w->o.mean_s && j->size > head->size / 2;

		if (held || w->m.busy + j->size > w->fill) {
			q++;
			continue;
		}
		workload_start_job(w, *j);
		memmove(&w->queue.v[q], &w->queue.v[q + 1],
			(w->queue.n - q - 1) * sizeof(w->queue.v[0]));
		w->queue.n--;
	}
}

/* --- time --- */

static void workload_arrive(struct workload *w)
{
	size_t limit = 8 + w->run.n;
	struct wjob j = workload_draw_job(w);

	if (j.size > w->fill)
		j.size = w->fill;
	if (w->queue.n < limit)
		vec_push(&w->queue, j);
	w->next_arrival += workload_exponential(w, w->gap_s);
}

static double workload_end_of(const struct wjob *j)
{
	return j->start + j->run_s;
}

static uint32_t workload_next_end(const struct workload *w)
{
	uint32_t at = FAB_NONE;

	for (uint32_t i = 0; i < w->run.n; i++) {
		if (at == FAB_NONE ||
		    workload_end_of(&w->run.v[i]) < workload_end_of(&w->run.v[at]))
			at = i;
	}
	return at;
}

static void workload_run_until(struct workload *w, double end)
{
	for (;;) {
		uint32_t at = workload_next_end(w);
		double t = at == FAB_NONE ? w->next_arrival : workload_end_of(&w->run.v[at]);
		bool arrives = w->next_arrival <= t;

		if (arrives)
			t = w->next_arrival;
		if (t > end)
			break;
		w->now = t;
		if (arrives)
			workload_arrive(w);
		else
			workload_end_job(w, at);
		workload_schedule(w);
	}
	w->now = end;
}

void workload_advance(struct workload *w, double dt_s)
{
	workload_run_until(w, w->now + (dt_s > 0 ? dt_s : 0));
}

void workload_send(struct workload *w, const double *Bps, uint32_t n, double dt_s)
{
	bool changed = false;

	if (w->flows_made != w->flows_serial)
		return;
	for (size_t i = 0; i < w->run.n; i++)
		w->run.v[i].pace = w->run.v[i].size > 1;
	for (uint32_t i = 0; i < n && i < w->flows.n; i++) {
		const struct sim_flow *fl = &w->flows.v[i];
		struct wjob *j = &w->run.v[w->m.nodes[w->m.node_of[fl->src]].owner];

		j->pace = fmin(j->pace, Bps[i] / fl->Bps);
	}
	for (size_t i = 0; i < w->run.n; i++) {
		struct wjob *j = &w->run.v[i];

		j->sent_s += j->pace * dt_s;
		if (j->sent_s < w->o.exchange_s)
			continue;
		j->sent_s = fmod(j->sent_s, w->o.exchange_s);
		workload_next_exchange(j);
		changed = true;
	}
	w->flows_serial += changed;
}

/* --- life --- */

static void workload_set_options(struct workload *w, const struct workload_opts *opts)
{
	if (opts)
		w->o = *opts;
	w->o.busy = w->o.busy > 0 && w->o.busy <= 1 ? w->o.busy : BUSY;
	w->o.mean_s = w->o.mean_s > 0 ? w->o.mean_s : MEAN_S;
	w->o.exchange_s = w->o.exchange_s > 0 ? w->o.exchange_s : EXCHANGE_S;
	w->o.start_s = w->o.start_s ? w->o.start_s : START_S;
}

/* Sizes go to an eighth of the machine, the tail apart; arrivals follow from their mean. */
static void workload_set_rates(struct workload *w)
{
	uint32_t largest = w->m.nnode >= 64   ? w->m.nnode / 8
			   : w->m.nnode >= 16 ? 8
					      : w->m.nnode / 2;
	double sum = 0, nodes = 0, fill = (w->o.busy + SLACK) * w->m.nnode;

	w->fill = (uint32_t)(fill < 1 ? 1 : fill > w->m.nnode ? w->m.nnode : fill);
	while ((2u << w->max_exp) <= largest)
		w->max_exp++;
	for (uint32_t e = 0; e <= w->max_exp; e++) {
		sum += workload_weight(w, e);
		nodes += workload_weight(w, e) * (double)(1u << e);
	}
	w->gap_s = nodes / sum * w->o.mean_s / (OFFERED * w->fill);
}

struct workload *workload_new(const struct fabric *f, const struct workload_opts *opts)
{
	struct workload *w = xcalloc(1, sizeof(*w));

	w->f = fabric_get(f);
	machine_init(&w->m, f);
	if (w->m.nnode < 2) {
		workload_free(w);
		return NULL;
	}
	workload_set_options(w, opts);
	workload_set_rates(w);
	rng_seed(&w->rng, w->o.seed);
	w->next_id = 1000;
	while (w->m.busy < w->fill - w->fill / 16) {
		struct wjob j = workload_draw_job(w);

		if (w->m.busy + j.size <= w->fill)
			workload_start_job(w, j);
	}
	/* then on to a moment between two large jobs, if one comes soon */
	workload_advance(w, WARM_UP * w->o.mean_s);
	for (int k = 0; k < 200 && w->m.busy < w->fill - w->fill / 32; k++)
		workload_advance(w, w->o.mean_s / 50);
	w->zero = w->now;
	return w;
}

void workload_free(struct workload *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->run.n; i++)
		free(w->run.v[i].nodes);
	vec_free(&w->run);
	vec_free(&w->queue);
	vec_free(&w->flows);
	job_list_put(w->list);
	machine_fini(&w->m);
	fabric_put(w->f);
	free(w);
}

/* --- what others see --- */

static int64_t workload_unix_s(const struct workload *w, double t)
{
	return w->o.start_s + (int64_t)floor(t - w->zero);
}

int64_t workload_now_s(const struct workload *w)
{
	return workload_unix_s(w, w->now);
}

uint32_t workload_nodes(const struct workload *w)
{
	return w->m.nnode;
}

uint32_t workload_busy(const struct workload *w)
{
	return w->m.busy;
}

uint64_t workload_jobs_serial(const struct workload *w)
{
	return w->jobs_serial;
}

uint64_t workload_flows_serial(const struct workload *w)
{
	return w->flows_serial;
}

static void workload_list_job(struct job_list *l, const struct workload *w, const struct wjob *j)
{
	const char **hosts = xcalloc(j->size, sizeof(*hosts));
	struct job_rec r = { .id = j->id, .name = j->name, .user = j->user };
	char *nodes;

	for (uint32_t i = 0; i < j->size; i++)
		hosts[i] = w->m.nodes[j->nodes[i]].name;
	nodes = hostlist_compress(hosts, j->size);
	r.nodes = nodes;
	r.hosts = hosts;
	r.nhost = j->size;
	r.start_s = workload_unix_s(w, j->start);
	job_list_add(l, &r);
	free(nodes);
	free(hosts);
}

const struct job_list *workload_jobs(struct workload *w)
{
	struct job_list *l;

	if (w->list && w->list_serial == w->jobs_serial)
		return job_list_get(w->list);
	l = job_list_new("sim", workload_now_s(w));
	for (size_t i = 0; i < w->run.n; i++)
		workload_list_job(l, w, &w->run.v[i]);
	l->pending = (uint32_t)w->queue.n;
	job_list_sort(l);
	job_list_put(w->list);
	w->list = l;
	w->list_serial = w->jobs_serial;
	return job_list_get(l);
}

static double workload_term_Bps(const struct fabric *f, uint32_t term)
{
	uint32_t Mbps = fabric_port(f, f->term_sw[term], f->term_port[term])->rate_Mbps;

	return (Mbps ? Mbps : RATE_Mbps) * 1e6 / 8;
}

static void workload_add_flow(struct workload *w, uint32_t term)
{
	const struct machine_node *node = &w->m.nodes[w->m.node_of[term]];
	const struct wjob *j = node->owner == FAB_NONE ? NULL : &w->run.v[node->owner];
	uint32_t rail = 0, dst;

	if (!j || j->size < 2)
		return;
	while (w->m.rail[node->first + rail] != term)
		rail++;
	dst = machine_term(&w->m, j->nodes[(node->rank + j->shift) % j->size], rail);
	vec_push(&w->flows, (struct sim_flow){ .src = term,
					       .dlid = w->f->term_lid[dst],
					       .Bps = workload_term_Bps(w->f, term),
					       .group = (uint32_t)j->id });
}

const struct sim_flow *workload_flows(struct workload *w, uint32_t *n)
{
	if (w->flows_made != w->flows_serial) {
		w->flows.n = 0;
		for (uint32_t t = 0; t < w->f->nterm; t++) {
			if (w->m.node_of[t] != FAB_NONE)
				workload_add_flow(w, t);
		}
		w->flows_made = w->flows_serial;
	}
	*n = (uint32_t)w->flows.n;
	return w->flows.v;
}
