/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/console_kit.h"

#include "console/io/glossary_page.h"
#include "console/plan/plan_order.h"
#include "engines/engine.h"
#include "engines/predict/job_rate.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/route_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW_S 1763680742 /* 2025-11-20 23:19:02 UTC */

void console_open(struct console_kit *k, int w, int h)
{
	size_t n;
	const struct binding *b = keymap_all(&n);

	setenv("TZ", "UTC", 1);
	memset(k, 0, sizeof(*k));
	state_init(&k->s);
	k->s.glossary = glossary_page();
	k->s.now_s = NOW_S;
	k->s.poll.interval_s = 2;
	k->s.events = &k->events;
	snprintf(k->s.source, sizeof(k->s.source), "test");
	k->shell = shell_new(b, n);
	k->c = canvas_new(w, h, true);
}

static void free_fabric(struct console_kit *k)
{
	metrics_free(k->metrics);
	link_usage_free(k->usage);
	metrics_free(k->plan_metrics);
	job_time_changes_done(&k->jobs_time);
	metrics_free(k->before);
	verdict_free(k->verdict);
	verdict_free(k->plan_verdict);
	tables_diff_free(k->diff);
	plan_free(k->ordered);
	tables_put(k->tables);
	tables_put(k->plan);
	jobset_put(k->jobs);
	rates_put(k->rates);
	sample_put(k->samples[0]);
	sample_put(k->samples[1]);
	history_free(k->history);
	fabric_put(k->fabric);
}

void console_close(struct console_kit *k)
{
	shell_free(k->shell);
	canvas_free(k->c);
	free_fabric(k);
}

void console_size(struct console_kit *k, int w, int h)
{
	canvas_free(k->c);
	k->c = canvas_new(w, h, true);
}

static void make_jobs(struct console_kit *k, const uint32_t *sizes)
{
	static const char *const users[] = { "ana", "wei", "tom", "lea" };
	struct fabric *f = k->fabric;
	struct jobset_builder *b = jobset_builder_new(f, "slurm");
	uint32_t t = 0;

	for (uint32_t j = 0; sizes[j]; j++) {
		const char **names = xcalloc(sizes[j], sizeof(*names));
		char nodes[64], app[16];
		struct job head = { .id = 81200 + 7 * j,
				    .name = app,
				    .user = (char *)users[j % 4],
				    .nodes = nodes,
				    .start_s = NOW_S - 3600 };

		snprintf(app, sizeof(app), "app%u", j);
		for (uint32_t i = 0; i < sizes[j]; i++, t++)
			names[i] = f->term_name[(t * 5) % f->nterm];
		snprintf(nodes, sizeof(nodes), "%s and %u more", names[0], sizes[j] - 1);
		jobset_builder_add(b, &head, names, sizes[j]);
		free(names);
	}
	jobset_builder_pending(b, 12);
	k->jobs = jobset_build(b);
	k->jobs->time_s = NOW_S - 6;
	k->s.jobs = k->jobs;
	k->s.jobs_source.state = JOBS_OK;
	snprintf(k->s.jobs_source.source, sizeof(k->s.jobs_source.source), "slurm");
	k->s.jobs_source.age_s = 4;
}

static void set_counter(struct port_counters *p, enum counter c, double v)
{
	p->v[c] = (uint64_t)v;
	p->valid |= 1u << c;
	p->wide |= 1u << c;
}

/* Counters two seconds apart: utilisation follows the routes of jobs over a link. */
static void make_traffic(struct console_kit *k)
{
	const struct fabric *f = k->fabric;
	const struct metrics *m = k->metrics;

	for (int i = 0; i < 2; i++) {
		k->samples[i] = sample_new(f);
		k->samples[i]->time_ns = 1000000000ull + 2000000000ull * (uint64_t)i;
		k->samples[i]->asked = k->samples[i]->answered = f->nterm + f->nchan;
		for (uint32_t p = 0; p < f->nport; p++) {
			const struct port *hw = &f->port[p];
			struct port_counters *pc = &k->samples[i]->port[p];
			double share = 0.3, bytes;

			if (hw->chan == FAB_NONE && hw->term == FAB_NONE)
				continue;
			if (hw->chan != FAB_NONE && m->eff_efi_max)
				share = (double)m->eff_efi[hw->chan] / (double)m->eff_efi_max;
			else if (hw->chan != FAB_NONE)
				share = (double)m->efi[hw->chan] / (double)m->efi_max;
			bytes = share * hw->rate_Mbps * 1e6 / 8 * 2;
			pc->time_ns = k->samples[i]->time_ns;
			set_counter(pc, CTR_TX_BYTES, i * bytes);
			set_counter(pc, CTR_RX_BYTES, i * bytes * 0.9);
			set_counter(pc, CTR_TX_WAIT, i * fmax(0, share - 0.6) * bytes / 4);
			set_counter(pc, CTR_SYMBOL_ERR, 0);
		}
	}
}

static void take_rates(struct console_kit *k)
{
	rates_put(k->rates);
	k->rates = rates_new(k->fabric, k->samples[0], k->samples[1]);
	assert_non_null(k->rates);
	k->s.rates = k->rates;
	k->s.sample = k->samples[1];
	k->s.poll.asked = k->samples[1]->asked;
	k->s.poll.answered = k->samples[1]->answered;
}

/* Which of n next hops to a LID: spread over all when even, else every third on the first. */
static uint32_t pick_hop(uint32_t lid, uint32_t n, bool even)
{
	return even || lid % 3 ? lid % n : 0;
}

/* Channels nearer to a switch, by switch. */
struct nearer {
	uint32_t *off, *chan;
};

static void find_nearer(struct nearer *n, const struct fabric *f, const uint32_t *hops)
{
	uint32_t at = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		n->off[sw] = at;
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			if (hops[f->chan_dst[c]] + 1 == hops[sw])
				n->chan[at++] = c;
	}
	n->off[f->nsw] = at;
}

/* The output ports of all switches to one LID, on shortest paths. */
static void route_lid(const struct fabric *f, struct tables *t, const struct nearer *near,
		      uint32_t lid, bool even)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t first = near->off[sw], n = near->off[sw + 1] - first;

		if (n)
			tables_row(t, sw)[lid] =
				f->chan_port[near->chan[first + pick_hop(lid, n, even)]];
	}
}

/* Routes of its own, so that no golden changes with an engine. */
static struct tables *route(struct console_kit *k, const char *name, bool even)
{
	const struct fabric *f = k->fabric;
	struct tables *t = tables_new(f, name);
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops)), from = FAB_NONE;
	struct nearer near = { xcalloc(f->nsw + 1ull, sizeof(*near.off)),
			       xcalloc(f->nchan + 1ull, sizeof(*near.chan)) };

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t to = fabric_lid_switch(f, lid, &port);

		if (to == FAB_NONE)
			continue;
		if (to != from) {
			bfs_hops(hops, f, to);
			find_nearer(&near, f, hops);
		}
		from = to;
		route_lid(f, t, &near, lid, even);
		tables_row(t, to)[lid] = port;
	}
	t->vls = t->sls = 1;
	free(near.chan);
	free(near.off);
	free(hops);
	return t;
}

static void judge(struct console_kit *k, const struct tables *t, struct metrics **m,
		  struct verdict **v)
{
	struct verify_opts opts = { 0 };
	struct err err;

	if (metrics_compute(m, k->fabric, t, k->jobs, NULL, NULL, &err))
		fail_msg("%s", err.text);
	if (v && verify_tables(v, k->fabric, t, &opts, NULL, &err))
		fail_msg("%s", err.text);
}

static void list_engines(struct console_kit *k)
{
	static const struct engine engines[] = {
		{ .name = "minhop", .summary = "shortest paths, spread over the links" },
		{ .name = "updn", .summary = "up, then down: no deadlock on any fabric" },
		{ .name = "sar", .summary = "spreads the pairs of each job", .uses_jobs = true },
		{ .name = "parx", .summary = "four paths per pair on a HyperX" },
		{ .name = "file", .summary = "no engine: tables of a file" },
	};
	struct state_preview *p = &k->s.preview;

	for (p->nengines = 0; p->nengines < 4; p->nengines++) {
		p->engines[p->nengines].engine = &engines[p->nengines];
		p->engines[p->nengines].suits = p->nengines < 3;
	}
	snprintf(p->engines[3].why, sizeof(p->engines[3].why),
		 "this fabric is a tree: parx needs a HyperX and LMC 2");
	p->engines[p->nengines++] =
		(struct engine_choice){ .engine = &engines[4], .suits = true, .file = true };
}

static void find_usage(struct console_kit *k)
{
	struct err err;
	int rc = link_usage_compute(&k->usage, k->fabric, k->tables, k->quick ? NULL : k->jobs,
				    !k->quick, NULL, &err);

	if (!rc && k->quick && k->jobs) {
		k->usage->jobs = jobset_get(k->jobs);
		rc = job_routes_compute(&k->usage->routes, k->fabric, k->tables, k->jobs, NULL,
					&err);
	}
	if (rc)
		fail_msg("%s", err.text);
	k->s.usage = k->usage;
}

void console_fabric(struct console_kit *k, const char *spec, const uint32_t *jobs)
{
	struct freeze_opts opts = { .name = "hpc1", .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	console_fabric_is(k, f, jobs);
}

void console_fabric_is(struct console_kit *k, struct fabric *f, const uint32_t *jobs)
{
	k->fabric = f;
	k->s.fabric = k->fabric;
	if (jobs)
		make_jobs(k, jobs);
	k->tables = route(k, "minhop", false);
	k->s.tables = k->tables;
	k->s.sls_known = true;
	judge(k, k->tables, &k->metrics, &k->verdict);
	find_usage(k);
	k->s.metrics = k->metrics;
	k->s.metrics_jobs = k->jobs;
	k->s.verdict = k->verdict;
	make_traffic(k);
	take_rates(k);
	k->history = history_new(k->fabric->nchan);
	for (int i = 0; i < 30; i++)
		history_push(k->history, k->fabric, i % 7 == 3 ? NULL : k->rates);
	k->s.history = k->history;
	k->s.poll.age_s = 0.8;
	k->s.poll.took_s = 0.62;
	k->s.poll.next_s = 1.2;
	k->s.sm = (struct state_sm){ .known = true, .lid = 1, .guid = 0x2 };
	snprintf(k->s.sm.name, sizeof(k->s.sm.name), "opensm 3.3.23");
	snprintf(k->s.sm.state, sizeof(k->s.sm.state), "MASTER");
	list_engines(k);
}

/* The plan with its order, as the worker finds it. */
static void order(struct console_kit *k, struct plan_preview *x)
{
	struct sm_pin pin = { .guid = 2, .priority = 1 };
	struct plan *p;
	struct err err;

	if (plan_new(&p, k->fabric, k->tables, k->plan, k->jobs, &pin, NOW_S, &err) ||
	    plan_order_find(p, NULL, NULL, &err))
		fail_msg("%s", err.text);
	plan_free(k->ordered);
	k->ordered = p;
	x->order = ORDER_FOUND;
	x->ordered = p;
}

static void time_jobs(struct console_kit *k)
{
	struct job_rate_opts few = { .steps = 256 };
	double *rate_was, *rate_is;
	struct time_sheet *was, *is;
	struct err err;

	if (!k->jobs)
		return;
	rate_was = xcalloc(k->jobs->njob + 1u, sizeof(*rate_was));
	rate_is = xcalloc(k->jobs->njob + 1u, sizeof(*rate_is));
	if (job_rate_compute(rate_was, k->fabric, k->tables, k->jobs, &few, NULL, &err) ||
	    job_rate_compute(rate_is, k->fabric, k->plan, k->jobs, &few, NULL, &err))
		fail_msg("%s", err.text);
	if (time_sheet_compute(&was, k->fabric, k->tables, k->jobs, NULL, NULL, &err))
		fail_msg("%s", err.text);
	if (time_sheet_compute(&is, k->fabric, k->plan, k->jobs, NULL, NULL, &err))
		fail_msg("%s", err.text);
	job_time_changes_done(&k->jobs_time);
	job_time_changes_take(&k->jobs_time, was->of[PREDICT_ALLTOALL], is->of[PREDICT_ALLTOALL],
			      k->jobs);
	job_time_changes_add_rates(&k->jobs_time, rate_was, rate_is, k->jobs);
	free(rate_was);
	free(rate_is);
	time_sheet_put(was);
	time_sheet_put(is);
}

void console_preview(struct console_kit *k, const char *engine)
{
	struct state_preview *p = &k->s.preview;
	struct plan_preview *x = &p->list[0];
	struct err err;

	k->plan = route(k, engine, true);
	judge(k, k->tables, &k->before, NULL);
	judge(k, k->plan, &k->plan_metrics, &k->plan_verdict);
	k->diff = tables_diff_new(k->fabric, k->tables, k->plan);
	p->state = PREVIEW_DONE;
	for (p->engine = 0; strcmp(p->engines[p->engine].engine->name, engine); p->engine++)
		assert_true(p->engine + 1 < p->nengines);
	p->mads_per_s = 4000;
	p->sweep_s = 0.4;
	*x = (struct plan_preview){ .options.params.seed = 1,
				    .id = "p-7f3a",
				    .engine = p->engine,
				    .made_s = NOW_S - 22,
				    .seconds = 0.34,
				    .from = k->tables,
				    .tables = k->plan,
				    .jobs = k->jobs,
				    .before = k->before,
				    .after = k->plan_metrics,
				    .verdict = k->plan_verdict,
				    .diff = k->diff };
	if (time_summary_compute(&x->time_now, NULL, k->fabric, k->tables, k->jobs, NULL, NULL,
				 &err) ||
	    time_summary_compute(&x->time_plan, NULL, k->fabric, k->plan, k->jobs, NULL, NULL,
				 &err) ||
	    forecast_compute(&x->now, k->fabric, k->tables, k->jobs, NULL, NULL, &err) ||
	    forecast_compute(&x->plan, k->fabric, k->plan, k->jobs, NULL, NULL, &err) ||
	    traffic_predict(&x->traffic_now, k->fabric, k->tables, k->jobs, k->rates, NULL, NULL,
			    &err) ||
	    traffic_predict(&x->traffic_plan, k->fabric, k->plan, k->jobs, k->rates, NULL, NULL,
			    &err))
		fail_msg("%s", err.text);
	time_jobs(k);
	x->jobs_time = &k->jobs_time;
	if (k->plan_verdict->deadlock_free)
		order(k, x);
	p->n = 1;
	p->at = 0;
}

void console_file(struct console_kit *k)
{
	k->s.rates = NULL;
	k->s.sample = NULL;
	k->s.mode = RUN_FILE;
}

void console_dump(struct console_kit *k)
{
	console_file(k);
	k->s.metrics = NULL;
	k->s.usage = NULL;
	k->s.tables = NULL;
	k->s.preview.list[0].before = NULL;
}

void console_plan(struct console_kit *k)
{
	static const char *const steps[] = { "PREPARE", "UNPATH", "WRITE",
					     "VERIFY",	"REPATH", "CONFIRM" };
	static const uint8_t phases[] = { 1, 2, 3, 0, 4, 5 };
	struct state_apply *a = &k->s.apply;

	a->state = APPLY_READY;
	snprintf(a->plan, sizeof(a->plan), "%s -> %s", k->tables->engine,
		 state_plan(&k->s)->tables->engine);
	snprintf(a->installer, sizeof(a->installer), "smp");
	a->diff = k->diff;
	a->confirm_left_s = a->confirm_all_s = a->took_s = a->pred_util = a->pred_dark = NAN;
	a->nsteps = 6;
	for (int i = 0; i < 6; i++) {
		a->steps[i].phase = phases[i];
		snprintf(a->steps[i].name, sizeof(a->steps[i].name), "%s", steps[i]);
	}
}

void console_no_reply(struct console_kit *k, uint32_t chan)
{
	struct port_counters *pc = &k->samples[1]->port[chan_fabric_port(k->fabric, chan)];

	pc->valid = 0;
	k->samples[1]->answered--;
	take_rates(k);
}

void console_event(struct console_kit *k, enum log_level level, const char *area, const char *text)
{
	struct log_line line = { .time_ns = (NOW_S + k->events.total) * 1000000000ull,
				 .level = level };

	snprintf(line.area, sizeof(line.area), "%s", area);
	snprintf(line.text, sizeof(line.text), "%s", text);
	events_add(&k->events, &line);
}

void console_key(struct console_kit *k, uint32_t key)
{
	struct input in;
	struct request out;

	if (shell_menu(k->shell) && !shell_typing(k->shell, &k->s))
		keymap_menu(&in, key);
	else
		keymap_translate(&in, key, shell_view(k->shell), shell_typing(k->shell, &k->s),
				 k->s.rw);
	shell_input(k->shell, &in, &k->s, &out);
	if (out.type != REQ_NONE)
		k->last = out;
	/* as the loop does: drawing settles what depends on the size */
	shell_draw(k->shell, k->c, &k->s);
}

void console_keys(struct console_kit *k, const char *keys)
{
	for (; *keys; keys++)
		console_key(k, (uint32_t)(unsigned char)*keys);
}

char *console_screen(struct console_kit *k)
{
	shell_draw(k->shell, k->c, &k->s);
	return canvas_dump(k->c);
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	char *buf = xcalloc(1, 100000);
	size_t n = f ? fread(buf, 1, 99999, f) : 0;

	buf[n] = '\0';
	if (f)
		fclose(f);
	return buf;
}

void console_golden(struct console_kit *k, const char *name)
{
	char path[256], *text = console_screen(k), *want;
	const char *update = getenv("UPDATE_GOLDEN");
	FILE *f;

	snprintf(path, sizeof(path), "tests/screens/%s-%dx%d.txt", name, k->c->w, k->c->h);
	if (update && update[0] == '1') {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
	}
	want = read_all(path);
	if (strcmp(text, want) != 0)
		fail_msg("%s differs; the screen is now:\n%s", path, text);
	free(want);
	free(text);
}

static bool on_screen(struct console_kit *k, const char *text)
{
	char *screen = console_screen(k);
	bool there = strstr(screen, text) != NULL;

	free(screen);
	return there;
}

void console_shows(struct console_kit *k, const char *text)
{
	if (on_screen(k, text))
		return;
	fail_msg("\"%s\" is not on the screen:\n%s", text, console_screen(k));
}

void console_hides(struct console_kit *k, const char *text)
{
	if (!on_screen(k, text))
		return;
	fail_msg("\"%s\" is on the screen:\n%s", text, console_screen(k));
}
