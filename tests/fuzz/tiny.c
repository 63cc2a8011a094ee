/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/tiny.h"

#include "engines/engine.h"
#include "engines/transition/transition.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"

#include <stdio.h>
#include <stdlib.h>

static void need(int rc, const struct err *err)
{
	if (rc) {
		fprintf(stderr, "tiny: %s\n", err->text);
		abort();
	}
}

struct fabric *tiny_fabric(void)
{
	static struct fabric *f;
	struct freeze_opts opts = { .lmc = -1 };
	struct err err = { "" };
	struct builder *b;

	if (f)
		return f;
	need(topo_build(&b, "fattree2:leaves=2,spines=2,hosts=1,lmc=1", &err), &err);
	need(builder_freeze(&f, b, &opts, &err), &err);
	builder_free(b);
	return f;
}

struct tables *tiny_tables(unsigned i)
{
	static const char *const engine[TINY_TABLES] = { "minhop", "nue", "dfsssp" };
	static struct tables *t[TINY_TABLES];
	struct engine_params params = { .vls = 4, .threads = 1, .seed = 1, .spread = true };
	struct err err = { "" };

	i %= TINY_TABLES;
	if (!t[i])
		need(engine_run(engine_find(engine[i], &err), &t[i], tiny_fabric(), NULL, NULL,
				&params, NULL, &err),
		     &err);
	return t[i];
}

static struct jobset *jobs(void)
{
	const struct fabric *f = tiny_fabric();
	const char *names[2] = { f->term_name[0], f->term_name[1] };
	struct jobset_builder *b = jobset_builder_new(f, "test");
	struct job head = { .id = 7, .nnodes = 2 };

	jobset_builder_add(b, &head, names, 2);
	return jobset_build(b);
}

static void order(struct plan *p)
{
	struct change_order o = { .nwaves = 1 };
	struct err err = { "" };
	struct transition *t;

	need(transition_plan(&t, p->fabric, p->from, p->to, NULL, NULL, &err), &err);
	o.n = t->nwrites;
	o.nwaves = t->nwaves ? t->nwaves : 1;
	o.sl2vl_wave = t->sl2vl_wave;
	o.v = xcalloc(o.n, sizeof(*o.v));
	for (uint32_t i = 0; i < o.n; i++)
		o.v[i] = (struct change_write){ t->writes[i].wave, t->writes[i].sw,
						t->writes[i].block, t->writes[i].now };
	need(plan_in_order(p, &o, &err), &err);
	free(o.v);
	transition_free(t);
}

/* One LID, whose traffic has to be gone first. */
static void drain(struct plan *p)
{
	struct drain_lid lid = { p->fabric->term_lid[0], DRAIN_OTHERS };
	struct drain d = { .lid = xcalloc(1, sizeof(lid)), .nlid = 1 };
	struct err err = { "" };

	*d.lid = lid;
	need(drain_find(&d, p->fabric, p->from, p->to, p->jobs, p->diff, NULL, &err), &err);
	plan_with_drain(p, &d);
	drain_clear(&d);
}

struct plan *tiny_plan(unsigned i)
{
	struct sm_pin sm = { 0x8001, 5 };
	struct jobset *j = jobs();
	struct err err = { "" };
	struct plan *p;

	need(plan_new(&p, tiny_fabric(), tiny_tables(i), tiny_tables(i + 1), j, &sm, 1000, &err),
	     &err);
	jobset_put(j);
	if (i == 1)
		order(p);
	if (!i)
		drain(p);
	return p;
}
