/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/demo.h"

#include "engines/engine.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/sim/device/source_sim.h"
#include "fabric/sim/device/workload.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define TICK_MS	     100
#define SPEED	     2.0
#define FIRST_ENGINE "minhop"

/* Mean run time of jobs by size of the machine: some job starts or ends every minute or two on
 * any, which leaves time to read a preview before it is out of date. */
#define MEAN_S_PER_HOST 30.0

struct demo {
	struct sim *sim;
	struct workload *load;
	struct job_source *jobs;
	const struct tables *first;
	struct mailbox *box;
	double speed;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	uint64_t flows_serial;
};

static void demo_send_jobs(struct demo *d)
{
	const struct job_list *list;
	struct msg *msg;

	source_poll(d->jobs);
	list = source_take(d->jobs);
	if (!list)
		return;
	msg = msg_new(MSG_JOBS);
	msg->list = list;
	mailbox_send(d->box, msg);
}

static void demo_set_flows(struct demo *d)
{
	uint64_t serial = workload_flows_serial(d->load);
	const struct sim_flow *flows;
	uint32_t n;

	if (serial == d->flows_serial)
		return;
	d->flows_serial = serial;
	flows = workload_flows(d->load, &n);
	sim_set_flows(d->sim, flows, n);
}

static void *demo_run(void *arg)
{
	struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
	struct demo *d = arg;
	double last = clock_s();

	pthread_setname_np(pthread_self(), "simulator");
	while (!atomic_load(&d->stop)) {
		double now = clock_s(), dt = now - last;

		last = now;
		workload_advance(d->load, dt * d->speed);
		demo_set_flows(d);
		sim_traffic_follow(d->sim);
		demo_send_jobs(d);
		nanosleep(&tick, NULL);
	}
	return NULL;
}

/* The routes that the operator finds: what a subnet manager that knows no jobs installs. */
static int demo_install_first(struct demo *d, const struct fabric *f, struct err *err)
{
	const struct engine *e = engine_find(FIRST_ENGINE, err);
	struct engine_params params = { 0 };
	struct tables *t;
	int rc;

	if (!e)
		return -ENOENT;
	rc = engine_run(e, &t, f, NULL, NULL, &params, NULL, err);
	if (rc)
		return rc;
	d->first = t;
	return sim_install_tables(d->sim, t, err);
}

static int demo_build(struct demo *d, const struct demo_opts *o, struct err *err)
{
	struct freeze_opts fo = { .lmc = -1, .name = o->name ? o->name : "demo" };
	struct workload_opts wo = { .seed = o->seed, .start_s = time(NULL) };
	struct source_opts so = { 0 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct sim_opts opts;
	int rc;

	sim_opts_init(&opts);
	opts.seed = o->seed;
	opts.loss = o->loss;
	rc = topo_build(&b, o->spec ? o->spec : DEMO_SPEC, err);
	if (!rc)
		rc = builder_freeze(&f, b, &fo, err);
	if (!rc)
		rc = sim_new(&d->sim, f, &opts, err);
	if (!rc)
		rc = demo_install_first(d, f, err);
	if (rc)
		goto out;
	wo.mean_s = f->nterm * MEAN_S_PER_HOST;
	d->load = workload_new(f, &wo);
	if (!d->load) {
		rc = err_set(err, -EINVAL, "a demo needs a fabric with at least two hosts");
		goto out;
	}
	so.workload = d->load;
	rc = source_open(&d->jobs, &job_source_sim, &so, err);
out:
	builder_free(b);
	fabric_put(f);
	return rc;
}

int demo_start(struct demo **out, const struct demo_opts *opts, struct mailbox *box,
	       struct err *err)
{
	struct demo *d = xcalloc(1, sizeof(*d));
	int rc;

	d->box = box;
	d->speed = opts->speed > 0 ? opts->speed : SPEED;
	d->flows_serial = UINT64_MAX;
	rc = demo_build(d, opts, err);
	if (rc) {
		demo_stop(d);
		return rc;
	}
	d->running = !pthread_create(&d->thread, NULL, demo_run, d);
	*out = d;
	return 0;
}

int demo_wire(struct wire **out, struct demo *d, const struct wire_opts *opts, struct err *err)
{
	return wire_open_sim(out, d->sim, opts, err);
}

const struct tables *demo_tables(const struct demo *d)
{
	return d->first;
}

void demo_stop(struct demo *d)
{
	if (!d)
		return;
	atomic_store(&d->stop, true);
	if (d->running)
		pthread_join(d->thread, NULL);
	source_close(d->jobs);
	tables_put(d->first);
	workload_free(d->load);
	sim_free(d->sim);
	free(d);
}
