/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/demo.h"

#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/site/limits_text.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_remote.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/sim/device/source_sim.h"
#include "fabric/sim/device/workload.h"
#include "fabric/sim/topology/topo.h"
#include "fabric/update/journal/journal.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TICK_MS	     100
#define SPEED	     2.0
#define FIRST_ENGINE "minhop"
#define SOCKET_NAME  "simulator"
#define JOBS_NAME    "jobs"
#define END_MS	     3000 /* for a watchdog to see that it has nothing to do any more */

/* Mean run time of jobs by size of the machine: some job starts or ends every minute or two on
 * any, which leaves time to read a preview before it is out of date. */
#define MEAN_S_PER_HOST 30.0

struct demo {
	struct sim *sim;
	struct workload *load;
	struct job_source *jobs;
	const struct fabric *fabric; /* with all its cables */
	bool *unplugged;	     /* by channel, the one that begins at the end of lower index */
	const struct tables *first;
	struct mailbox *box;
	double speed;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	uint64_t flows_serial;
	double *flow_Bps; /* nflow of them */
	uint32_t nflow;
	struct sim_server *server;
	char *dir, *socket, *jobs_file;
};

/* For the watchdog, which asks what runs before it writes: a line a job, always whole. */
static void demo_write_jobs(const struct demo *d, const struct job_list *l)
{
	char *path = xasprintf("%s.new", d->jobs_file);
	FILE *out = fopen(path, "we");

	for (uint32_t i = 0; out && i < l->njob; i++) {
		fprintf(out, "%lu ", (unsigned long)l->jobs[i].id);
		for (uint32_t k = 0; k < l->jobs[i].nhost; k++)
			fprintf(out, "%s%s", k ? "," : "", l->jobs[i].hosts[k]);
		fputc('\n', out);
	}
	if (!out || fclose(out) || rename(path, d->jobs_file))
		log_add(LOG_WARN, "jobs", "%s: %s", path, strerror(errno));
	free(path);
}

static void demo_send_jobs(struct demo *d)
{
	const struct job_list *list;
	struct msg *msg;

	source_poll(d->jobs);
	list = source_take(d->jobs);
	if (!list)
		return;
	demo_write_jobs(d, list);
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
	d->flow_Bps = xrealloc(d->flow_Bps, n + 1ull, sizeof(*d->flow_Bps));
	d->nflow = n;
}

/* The next exchange of a job follows when this one is sent, however long that takes. */
static void demo_send(struct demo *d, double dt_s)
{
	sim_flow_rates(d->sim, d->flow_Bps, d->nflow);
	workload_send(d->load, d->flow_Bps, d->nflow, dt_s);
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
		demo_send(d, dt);
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
	d->fabric = fabric_get(f);
	d->unplugged = xcalloc(f->nchan, sizeof(*d->unplugged));
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

static int demo_make_dir(struct demo *d, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	d->dir = xasprintf("%s/ibroute-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->dir)) {
		int rc = err_set(err, -errno, "%s: %s", d->dir, strerror(errno));

		free(d->dir);
		d->dir = NULL;
		return rc;
	}
	d->socket = xasprintf("%s/%s", d->dir, SOCKET_NAME);
	d->jobs_file = xasprintf("%s/%s", d->dir, JOBS_NAME);
	return 0;
}

static int demo_remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static bool demo_is_updated(const struct demo *d)
{
	struct txn_info *list = NULL;
	bool any = false;
	uint32_t n = 0;

	if (journal_list(&list, &n, d->dir, NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		any = any || list[i].live;
	free(list);
	return any;
}

/* Whoever writes into it finds the fabric gone, and ends. */
static void demo_remove_dir(struct demo *d)
{
	double until = clock_s() + END_MS / 1e3;
	struct timespec pause = { .tv_nsec = 50000000 };

	if (!d->dir)
		return;
	while (demo_is_updated(d) && clock_s() < until)
		nanosleep(&pause, NULL);
	nftw(d->dir, demo_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(d->jobs_file);
	free(d->socket);
	free(d->dir);
}

int demo_start(struct demo **out, const struct demo_opts *opts, struct mailbox *box,
	       struct err *err)
{
	struct demo *d = xcalloc(1, sizeof(*d));
	int rc;

	d->box = box;
	d->speed = opts->speed > 0 ? opts->speed : SPEED;
	d->flows_serial = UINT64_MAX;
	rc = demo_make_dir(d, err);
	if (!rc)
		rc = demo_build(d, opts, err);
	if (!rc)
		rc = sim_server_start(&d->server, d->sim, 0, d->dir, SOCKET_NAME, err);
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

const char *demo_dir(const struct demo *d)
{
	return d->dir;
}

void demo_watchdog(const struct demo *d, struct watchdog_config *c)
{
	c->live.simulator = d->socket;
	c->live.jobs = d->jobs_file;
	c->accept_sl = true; /* simulated hosts take new SLs by themselves */
	c->agents.without = true;
	c->watch &= ~(1u << WATCH_JOBS); /* no simulated job fails */
}

const struct tables *demo_tables(const struct demo *d)
{
	return d->first;
}

static uint32_t demo_set_cables(struct demo *d, const struct route_limits *l, bool up)
{
	const struct fabric *f = d->fabric;
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c];

		if (f->chan_rev[c] < c || d->unplugged[c] != up)
			continue;
		if (l && !(l->exclude_chan && l->exclude_chan[c]) &&
		    !(l->exclude_sw && (l->exclude_sw[a] || l->exclude_sw[b])))
			continue;
		sim_link_set(d->sim, a, f->chan_port[c], up);
		d->unplugged[c] = !up;
		n++;
	}
	return n;
}

static int demo_cables(uint32_t *n, struct demo *d, const char *text, bool up, struct err *err)
{
	struct route_limits *l = NULL;
	int rc = *text ? route_limits_exclude(&l, d->fabric, text, err) : 0;

	/* a text of blanks names none, not all */
	*n = rc || (*text && !l) ? 0 : demo_set_cables(d, l, up);
	route_limits_free(l);
	return rc;
}

int demo_unplug(uint32_t *n, struct demo *d, const char *text, struct err *err)
{
	return demo_cables(n, d, text, false, err);
}

int demo_plug(uint32_t *n, struct demo *d, const char *text, struct err *err)
{
	return demo_cables(n, d, text, true, err);
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
	fabric_put(d->fabric);
	free(d->unplugged);
	workload_free(d->load);
	free(d->flow_Bps);
	sim_server_stop(d->server);
	sim_free(d->sim);
	demo_remove_dir(d);
	free(d);
}
