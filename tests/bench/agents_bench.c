/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agents_bench: phases 2 and 4 with many agents, over the simulator's SM.
 *
 *   agents_bench [AGENTS [DRAIN_MS [LOSS_PERCENT]]]
 *
 * All agents are of one job that needs the drain.  The time is the simulator's (a round trip of a
 * packet takes 20 us, nothing else costs any), from the first notice until nobody is awaited; and
 * the CPU time of coordinator, agents, SM and switches together.  Exit code 1 when either phase
 * takes a second longer than the agents' own time, or an agent is lost.
 */
#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/smp.h"
#include "fabric/wire/wire.h"
#include "tests/bench/bench_kit.h"
#include "tests/unit/kit/agent_crowd.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

struct bench {
	struct fabric *made, *f; /* built, and as discovered */
	struct sim *sim;
	struct wire *w;
	struct crowd_kit k;
	uint64_t own_ns[2]; /* of the agents: drain and migrate, return */
	uint64_t asked_ns;
	double asked_cpu_s;
	bool ok;
};

static void need(int rc, const struct err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "agents_bench: %s\n", err->text);
	exit(1);
}

static struct tables *route(const struct fabric *f, const char *name)
{
	struct engine_params params = { .threads = 1 };
	struct tables *t;
	struct err err = { "" };

	need(engine_run(engine_find(name, &err), &t, f, NULL, NULL, &params, NULL, &err), &err);
	return t;
}

static void event(void *ctx, const struct executor_event *ev)
{
	struct bench *b = ctx;
	uint64_t took;
	bool back = ev->asked == PHASE_REPATH;

	if (ev->kind == APPLY_ASK) {
		b->asked_ns = wire_now_ns(b->w);
		b->asked_cpu_s = cpu_s();
	}
	if (ev->kind != APPLY_SETTLED)
		return;
	took = wire_now_ns(b->w) - b->asked_ns;
	printf("%s: %u of %u agents in %.3f s, of which %.3f s are their own; %.2f s of CPU\n",
	       phase_name(ev->asked), ev->items, b->k.n, (double)took / 1e9,
	       (double)b->own_ns[back] / 1e9, cpu_s() - b->asked_cpu_s);
	b->ok = b->ok && ev->items == b->k.n && took < b->own_ns[back] + 1000 * MS;
}

/* One job on the first n hosts but two. */
static struct jobset *one_job(const struct fabric *f, uint32_t n)
{
	struct jobset_builder *jb = jobset_builder_new(f, "bench");
	const char **names = xcalloc(n, sizeof(*names));
	struct job head = { .id = 1, .nnodes = n };

	for (uint32_t i = 0; i < n; i++)
		names[i] = f->term_name[i + 2];
	jobset_builder_add(jb, &head, names, n);
	free(names);
	return jobset_build(jb);
}

static void all_need_drain(struct plan *p)
{
	struct drain d = {
		.known = true, .jobs = true, .escape = true, .nlid = 1, .njob = 1, .nneeded = 1
	};
	struct drain_lid lid = { p->fabric->term_lid[2], DRAIN_NO_ORDER };
	struct drain_job job = { 0, true };

	d.lid = &lid;
	d.job = &job;
	plan_with_drain(p, &d);
}

static void up(struct bench *b, uint32_t n, uint64_t drain_ns, const struct jobset *jobs)
{
	uint32_t *terms = xcalloc(n, sizeof(*terms));
	struct agent_link link;

	memcpy(terms, jobs->jobs[0].terms, n * sizeof(*terms));
	agent_link_over(&link, wire_notices(b->w));
	crowd_up(&b->k, b->sim, terms, n, &link);
	b->k.drain_ns = drain_ns;
	b->own_ns[0] = drain_ns + b->k.migrate_ns;
	b->own_ns[1] = b->k.return_ns;
	free(terms);
}

static void transact(struct bench *b, struct plan *p)
{
	struct agent_link link = crowd_link(&b->k);
	char *dir = net_tmpdir();
	struct executor_opts o = { .base = dir, .agents = &link, .event = event, .ctx = b };
	struct installer in = smp_installer(b->w);
	struct executor *a = executor_new(p, &in, &o);
	struct err err = { "" };

	o.accept_sl_change = true;
	need(executor_run(a, &err), &err);
	need(executor_confirm(a, &err), &err);
	executor_free(a);
	net_rmdir(dir);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
	uint64_t drain_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 100) * MS;
	double loss = argc > 3 ? atof(argv[3]) / 100 : 0;
	struct wire_opts wo = { .term = 1, .notices = true };
	struct bench b = { .ok = true };
	struct tables *from, *to;
	struct jobset *jobs;
	struct plan *p;
	struct sim_opts so;
	struct err err = { "" };
	char spec[80];

	snprintf(spec, sizeof(spec), "fattree2:leaves=%u,spines=8,hosts=16", (n + 2 + 15) / 16);
	need(make_fabric(&b.made, spec, &err), &err);
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 20;
	need(sim_new(&b.sim, b.made, &so, &err), &err);
	from = route(b.made, "minhop");
	need(sim_install_tables(b.sim, from, &err), &err);
	need(wire_open_sim(&b.w, b.sim, &wo, &err), &err);
	need(wire_sweep(&b.f, NULL, b.w, NULL, NULL, &err), &err);
	to = route(b.f, "updn");
	jobs = one_job(b.f, n);
	need(plan_new(&p, b.f, from, to, jobs, NULL, 0, &err), &err);
	all_need_drain(p);
	up(&b, n, drain_ns, jobs);
	sim_loss(b.sim, loss);
	transact(&b, p);
	crowd_down(&b.k);
	plan_free(p);
	jobset_put(jobs);
	tables_put(from);
	tables_put(to);
	wire_close(b.w);
	sim_free(b.sim);
	fabric_put(b.f);
	fabric_put(b.made);
	puts(b.ok ? "ok" : "FAILED");
	return !b.ok;
}
