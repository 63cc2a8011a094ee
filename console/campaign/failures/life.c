/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/life.h"

#include "console/campaign/failures/packet_load.h"
#include "console/cli/text/summary.h"
#include "console/plan/route_report.h"
#include "engines/metrics/metrics.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/tables_diff.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_FORM (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* What a step leaves to the next. */
struct life_before {
	const struct fabric *f;
	const struct tables *t; /* NULL: there was no routing */
};

struct living {
	const struct life_rules *r;
	const struct engine_spec *e;
	FILE *lines, *seconds;
	uint64_t seed;
	uint32_t step;
	struct life_before before;
	/* of a step */
	struct fabric *f;
	struct jobset *jobs;
	struct damage_state state;
	json_t *o;
};

static double life_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct route_inputs life_inputs(const struct living *x)
{
	struct route_inputs in = { .f = x->f,
				   .jobs = x->jobs,
				   .params = x->r->params,
				   .opts = { .seed = x->r->params.seed,
					     .bisections = x->r->bisections,
					     .jobs = true,
					     .pattern = x->r->pattern,
					     .threads = 1 } };

	in.params.threads = 1;
	return in;
}

/* The same for the engine whose life it is. */
static struct route_inputs life_inputs_of(const struct living *x)
{
	struct route_inputs in = life_inputs(x);

	in.engine = x->e->engine;
	engine_spec_apply(x->e, &in.params);
	return in;
}

/* --- what every line has ------------------------------------------------------------------ */

static void life_begin_line(struct living *x)
{
	const struct damage_rules *d = &x->r->damage;

	x->o = json_object();
	json_object_set_new(x->o, "seed", json_integer((json_int_t)x->seed));
	json_object_set_new(x->o, "step", json_integer(x->step));
	json_object_set_new(x->o, d->by_time ? "days" : "rate_pct",
			    json_real(d->by_time ? d->rate[x->step] : 100 * d->rate[x->step]));
	json_object_set_new(x->o, "engine", json_text(x->e->label));
	for (int k = 0; k < DAMAGE_KINDS; k++) {
		char key[32];

		if (!d->kills[k])
			continue;
		snprintf(key, sizeof(key), "%s_down", damage_kind_name((enum damage_kind)k));
		json_object_set_new(x->o, key, json_integer(x->state.down[k]));
	}
	json_object_set_new(x->o, "hosts_cut", json_integer(x->state.cut.hosts_cut));
	json_object_set_new(x->o, "switches_cut", json_integer(x->state.cut.switches_cut));
}

static void life_put(FILE *out, json_t *o)
{
	json_dumpf(o, out, LINE_FORM);
	fputc('\n', out);
	json_decref(o);
}

static void life_end_line(struct living *x, double cpu_s)
{
	json_t *s = json_pack("{s:I, s:I, s:s, s:f}", "seed", (json_int_t)x->seed, "step",
			      (json_int_t)x->step, "engine", x->e->label, "cpu_s", cpu_s);

	life_put(x->lines, x->o);
	life_put(x->seconds, s);
	x->o = NULL;
}

/* --- figures ------------------------------------------------------------------------------ */

/* Of all pairs of hosts: no tables have a smaller maximum. */
static uint64_t life_efi_bound(const struct fabric *f)
{
	struct jobset_builder *b = jobset_builder_new(f, "all");
	struct job head = { .id = 1, .nnodes = f->nterm };
	uint32_t *all = xcalloc(f->nterm, sizeof(*all));
	struct jobset *js;
	uint64_t bound;

	for (uint32_t t = 0; t < f->nterm; t++)
		all[t] = t;
	jobset_builder_add_ports(b, &head, all, f->nterm);
	js = jobset_build(b);
	bound = metrics_eff_efi_bound(f, js);
	jobset_put(js);
	free(all);
	return bound;
}

struct life_bound {
	pthread_mutex_t lock;
	bool known;
	uint64_t efi;
};

struct life_bounds {
	uint64_t first_seed;
	uint32_t seeds, nstep;
	struct life_bound *v;
};

struct life_bounds *life_bounds_new(uint64_t first_seed, uint32_t seeds, uint32_t nstep)
{
	struct life_bounds *b = xcalloc(1, sizeof(*b));

	*b = (struct life_bounds){ first_seed, seeds, nstep, NULL };
	b->v = xcalloc((size_t)seeds * nstep, sizeof(*b->v));
	for (size_t i = 0; i < (size_t)seeds * nstep; i++)
		pthread_mutex_init(&b->v[i].lock, NULL);
	return b;
}

void life_bounds_free(struct life_bounds *b)
{
	for (size_t i = 0; b && i < (size_t)b->seeds * b->nstep; i++)
		pthread_mutex_destroy(&b->v[i].lock);
	free(b ? b->v : NULL);
	free(b);
}

/* Who comes first finds it, the others wait. */
static uint64_t life_bound(const struct living *x)
{
	struct life_bounds *b = x->r->bounds;
	struct life_bound *one = &b->v[(x->seed - b->first_seed) * b->nstep + x->step];

	pthread_mutex_lock(&one->lock);
	if (!one->known) {
		one->efi = life_efi_bound(x->f);
		one->known = true;
	}
	pthread_mutex_unlock(&one->lock);
	return one->efi;
}

/* How many entries another state of the fabric had otherwise; NAN: there was none. */
static double life_changed(const struct living *x, const struct tables *before,
			   const struct tables *t)
{
	struct tables_diff *d;
	double n;

	if (!before)
		return NAN;
	d = tables_diff_new(x->f, before, t);
	n = (double)d->entries;
	tables_diff_free(d);
	return n;
}

/* The tables of the step before, as far as they still stand. */
static struct tables *life_carried(const struct living *x)
{
	struct carry_report report;
	struct endports *was;
	struct tables *t = NULL;
	struct err err;

	if (!x->before.t)
		return NULL;
	was = endports_of(x->before.f);
	if (tables_carry(&t, x->f, x->before.t, was, &report, &err))
		t = NULL;
	endports_put(was);
	return t;
}

static json_t *life_number(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static void life_add_figures(struct living *x, const struct route_report *e)
{
	json_t *figures = summary_json(e);
	uint64_t bound = life_bound(x);

	json_object_del(figures, "engine");
	json_object_del(figures, "seconds"); /* clocks have a file of their own */
	json_object_update(x->o, figures);
	json_decref(figures);
	json_object_set_new(x->o, "efi_bound", json_integer((json_int_t)bound));
	/* of all hosts that there were */
	json_object_set_new(x->o, "throughput",
			    e->ebb.bisections
				    ? json_real(e->ebb.mean * x->f->nterm / x->r->f->nterm)
				    : json_null());
}

/* Of all hosts that there were. */
static int life_packets(struct living *x, const struct tables *t, struct err *err)
{
	double left = (double)x->f->nterm / x->r->f->nterm;
	struct packet_load p;
	int rc = packet_load_measure(&p, x->f, t, x->seed, err);

	json_object_set_new(x->o, "packets",
			    json_pack("{s:f, s:f, s:i}", "shift_GBps", p.shift_GBps * left,
				      "all_to_all_GBps", p.all_to_all_GBps * left, "deadlocks",
				      (int)p.deadlocks));
	return rc;
}

/* Entries that the engine repair changes, and what it gives. */
static int life_repair(struct living *x, const struct tables *carried, struct err *err)
{
	struct route_inputs in = life_inputs(x);
	struct route_report e;
	json_t *o;
	int rc;

	in.engine = engine_find("repair", err);
	in.installed = carried;
	route_report_begin(&e, &in);
	rc = route_report_steps(&e, &in, ROUTE_MAKE | ROUTE_VERIFY | ROUTE_METRICS | ROUTE_PREDICT,
				NULL, err);
	o = json_pack("{s:b}", "usable", !rc && route_report_ok(&e));
	json_object_set_new(o, "why", rc ? json_text(err->text) : json_null());
	json_object_set_new(o, "entries_changed",
			    life_number(rc ? NAN : life_changed(x, carried, e.t)));
	json_object_set_new(o, "ebb", life_number(!rc && e.ebb.bisections ? e.ebb.mean : NAN));
	json_object_set_new(o, "vls_used", rc ? json_null() : json_integer(e.v->vls_used));
	json_object_set_new(x->o, "repair", o);
	route_report_free(&e);
	return rc == -ECANCELED ? rc : 0;
}

static void life_remember(struct living *x, const struct route_report *e)
{
	tables_put(x->before.t);
	fabric_put(x->before.f);
	x->before = (struct life_before){ fabric_get(x->f), e ? tables_get(e->t) : NULL };
}

/* --- a step ------------------------------------------------------------------------------- */

static int life_route(struct living *x, struct err *err)
{
	struct route_inputs in = life_inputs_of(x);
	struct tables *carried = x->step ? life_carried(x) : NULL;
	struct route_report e;
	bool ok;
	int rc;

	route_report_begin(&e, &in);
	rc = route_report_steps(&e, &in, ROUTE_MAKE | ROUTE_JUDGE, NULL, err);
	ok = !rc && route_report_ok(&e);
	json_object_set_new(x->o, "applicable", json_boolean(!rc));
	json_object_set_new(x->o, "usable", json_boolean(ok));
	json_object_set_new(x->o, "why", rc ? json_text(err->text) : json_null());
	if (!rc) {
		life_add_figures(x, &e);
		json_object_set_new(x->o, "entries_changed_before",
				    life_number(life_changed(x, carried, e.t)));
	}
	if (rc != -ECANCELED)
		rc = x->r->repair && carried ? life_repair(x, carried, err) : 0;
	if (!rc && ok && x->r->packets)
		rc = life_packets(x, e.t, err);
	life_remember(x, ok ? &e : NULL);
	tables_put(carried);
	route_report_free(&e);
	return rc;
}

static int life_step(struct living *x, const struct damage *d, struct err *err)
{
	double begin = life_cpu_s();
	int rc = damage_at(&x->f, &x->state, d, x->step, err);

	if (rc == -EINVAL) {
		x->state.cut.hosts_cut = x->r->f->nterm;
		life_begin_line(x);
		json_object_set_new(x->o, "applicable", json_false());
		json_object_set_new(x->o, "usable", json_false());
		json_object_set_new(x->o, "why", json_text(err->text));
		rc = 0;
	} else if (!rc) {
		life_begin_line(x);
		x->jobs = x->r->jobs ? jobset_on(x->r->jobs, x->r->f, x->f) : NULL;
		rc = life_route(x, err);
		jobset_put(x->jobs);
		fabric_put(x->f);
	}
	if (!rc)
		life_end_line(x, life_cpu_s() - begin);
	json_decref(x->o);
	x->o = NULL;
	return rc;
}

int life_run(FILE *lines, FILE *seconds, const struct life_rules *r, const struct engine_spec *e,
	     uint64_t seed, struct err *err)
{
	struct living x = { .r = r, .e = e, .lines = lines, .seconds = seconds, .seed = seed };
	struct damage *d = damage_new(r->f, &r->damage, seed);
	int rc = 0;

	for (; x.step < r->damage.nstep && !rc; x.step++)
		rc = life_step(&x, d, err);
	tables_put(x.before.t);
	fabric_put(x.before.f);
	damage_free(d);
	return rc;
}

int life_tables(struct fabric **f, const struct tables **t, const struct life_rules *r,
		const struct engine_spec *e, uint64_t seed, uint32_t step, struct err *err)
{
	struct living x = { .r = r, .e = e, .seed = seed, .step = step };
	struct damage *d = damage_new(r->f, &r->damage, seed);
	struct route_inputs in;
	struct route_report made;
	int rc = damage_at(&x.f, &x.state, d, step, err);

	*t = NULL;
	*f = x.f;
	damage_free(d);
	if (rc)
		return rc;
	x.jobs = r->jobs ? jobset_on(r->jobs, r->f, x.f) : NULL;
	in = life_inputs_of(&x);
	route_report_begin(&made, &in);
	rc = route_report_steps(&made, &in, ROUTE_MAKE, NULL, err);
	if (!rc)
		*t = tables_get(made.t);
	route_report_free(&made);
	jobset_put(x.jobs);
	return rc;
}
