/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The five phases with agents: plan, journal, notices through the SM, SMPs, simulated switches. */
#include "fabric/update/executor.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/model/topology/host_names.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/installer/smp.h"
#include "fabric/update/protocol/site_key.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/agent_crowd.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#define MS   1000000ull
#define JOBS "7:0-1:4 8:2-3:6" /* 8 and 12 nodes */
#define ALL  20

struct world {
	struct fabric *made, *f;
	struct sim *sim;
	struct wire *w;
	struct tables *from, *to;
	struct jobset *jobs;
	struct plan *p;
	struct installer in;
	const struct installer_ops *smp;
	struct executor_opts o;
	struct executor *a;
	struct installer_ops ops;
	uint64_t sm_asked, sm_moves_at; /* times; the one it is another from */
	uint32_t written;		/* blocks since then */
	bool sm_moved;
	struct crowd_kit k;
	struct agent_link link;
	char *base, *disk; /* disk: what is left after the crash */
	char said[4000];

	uint64_t points, stop_at; /* steps of any kind; the one that something happens at */
	void (*happen)(struct world *w);
	bool no_proof; /* somebody is not drained, and that is known */
	uint64_t cancelled_ns;
	uint64_t job_over;
	const char *more; /* jobs besides, from the first wave on; NULL: none */
	const char *late; /* likewise, once all waves are written */
	bool all_written;
	unsigned unpaths; /* notices */
	struct phase_notice forged; /* what somebody else says at stop_at, or as soon as agents are
				     * asked */
	struct phase_notice asked;  /* last */
	struct notice_port *forger;
	bool answers, inside; /* what is forged is an answer; by the agent's own node */
	uint32_t asleep;  /* agents, the last ones, that start when jobs begin */
	uint64_t deaf_ns,
		deaf_until; /* nothing gets through an SM for so long, from the first write on */
	int64_t start_s;    /* when those began */
	/* as it was at the crash */
	struct tables *left;
	struct crowd_node *nodes;
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

static void need(int rc, const struct err *err)
{
	if (rc)
		fail_msg("%s", err->text);
}

static uint64_t now_ns(const struct world *w)
{
	return wire_now_ns(w->w);
}

static void point(struct world *w)
{
	if (w->happen && ++w->points == w->stop_at)
		w->happen(w);
}

static void on_event(void *ctx, const struct executor_event *ev)
{
	struct world *w = ctx;
	size_t len = strlen(w->said);

	if (ev->kind == APPLY_PHASE_END && ev->phase == PHASE_WRITE)
		w->all_written = ev->wave + 1 == w->p->changes->nwaves;
	if (ev->kind == APPLY_PHASE_BEGIN)
		snprintf(w->said + len, sizeof(w->said) - len, "%s ", phase_name(ev->phase));
	else if (ev->text[0])
		snprintf(w->said + len, sizeof(w->said) - len, "[%s] ", ev->text);
	point(w);
}

static void on_ask(void *ctx, const struct phase_notice *n)
{
	struct world *w = ctx;

	w->unpaths += n->phase == PHASE_UNPATH;
	w->asked = *n;
	point(ctx);
}

static void on_wait(void *ctx)
{
	point(ctx);
}

/* Nobody who counts may be on the base LIDs when a table is written. */
static int proved_write(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
			struct progress *progress, struct err *err)
{
	struct world *w = ctx;

	point(w);
	if (w->deaf_ns && !w->deaf_until) {
		w->deaf_until = now_ns(w) + w->deaf_ns;
		executor_cancel(w->a);
	}
	if (!w->no_proof)
		assert_int_equal(crowd_in(&w->k, AGENT_ESCAPE), w->k.n);
	if (w->sm_moved && !strstr(w->said, "ROLLBACK"))
		w->written += n;
	return w->smp->write(w->w, f, items, n, progress, err);
}

static int proved_read(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		       struct progress *progress, struct err *err)
{
	struct world *w = ctx;

	return w->smp->read(w->w, f, items, n, progress, err);
}

static void ended(void *ctx, const uint64_t *id, bool *over, uint32_t n)
{
	struct world *w = ctx;

	for (uint32_t i = 0; i < n; i++)
		over[i] = id[i] == w->job_over;
}

static int same_sm(void *ctx, struct err *err)
{
	struct world *w = ctx;

	if (++w->sm_asked < w->sm_moves_at || !w->sm_moves_at)
		return 0;
	if (!w->sm_moved) {
		w->sm_moved = true;
		sim_move_sm(w->sim, 4);
		crowd_subscribe(&w->k);
	}
	return err_set(err, -ESTALE, "another subnet manager");
}

/* The jobs of a set, which it puts, begun at that time. */
static const struct jobset *with_start(struct jobset *jobs, int64_t start_s)
{
	for (uint32_t i = 0; i < jobs->njob; i++)
		jobs->jobs[i].start_s = start_s;
	return jobs;
}

static const struct jobset *running(void *ctx)
{
	struct world *w = ctx;

	for (; w->asleep && strstr(w->said, "WRITE"); w->asleep--)
		w->k.node[w->k.n - w->asleep].dead = false;
	if (w->late && w->all_written)
		return with_start(net_jobs(w->f, w->late), w->start_s);
	return net_jobs(w->f, w->more && strstr(w->said, "WRITE") ? w->more : JOBS);
}

static void need_drain(struct world *w, bool escape, bool needed)
{
	struct drain d = { .known = true, .jobs = true, .escape = escape };

	d.lid = xcalloc(1, sizeof(*d.lid));
	d.job = xcalloc(2, sizeof(*d.job));
	d.lid[0] = (struct drain_lid){ 20, DRAIN_NO_ORDER };
	d.nlid = needed;
	d.job[0] = (struct drain_job){ 0, needed };
	d.job[1] = (struct drain_job){ 1, needed };
	d.njob = 2;
	d.nneeded = needed ? 2 : 0;
	plan_with_drain(w->p, &d);
	drain_clear(&d);
}

static void raise_crowd(struct world *w, const uint32_t *terms, uint32_t n)
{
	struct agent_link link;

	agent_link_over(&link, wire_notices(w->w));
	crowd_up(&w->k, w->sim, terms, n, &link);
	w->k.asked = on_ask;
	w->k.waits = on_wait;
	w->k.ctx = w;
	w->link = crowd_link(&w->k);
}

static void agents_up(struct world *w)
{
	uint32_t terms[ALL], n = 0;

	for (uint32_t i = 0; i < w->jobs->njob; i++)
		for (uint32_t k = 0; k < w->jobs->jobs[i].nterm; k++)
			terms[n++] = w->jobs->jobs[i].terms[k];
	raise_crowd(w, terms, n);
}

static void world_up(struct world *w, const struct sim_opts *faults)
{
	struct wire_opts wo = { .term = 60, .notices = true };
	struct tables *t;
	struct err err = { "" };

	*w = (struct world){ 0 };
	log_set_sink(quiet, NULL);
	w->made = net_fabric(NULL);
	need(sim_new(&w->sim, w->made, faults, &err), &err);
	t = net_tables(w->made, 0, true);
	need(sim_install_tables(w->sim, t, &err), &err);
	tables_put(t);
	need(wire_open_sim(&w->w, w->sim, &wo, &err), &err);
	need(wire_sweep(&w->f, NULL, w->w, NULL, NULL, &err), &err);
	need(wire_read_tables(&w->from, w->w, w->f, true, NULL, NULL, &err), &err);
	w->to = net_tables(w->f, 1, true);
	w->jobs = net_jobs(w->f, JOBS);
	need(plan_new(&w->p, w->f, w->from, w->to, w->jobs, NULL, 0, &err), &err);
	need_drain(w, true, true);
	w->smp = smp_installer(w->w).ops;
	w->ops = (struct installer_ops){ .name = "proved",
					 .write = proved_write,
					 .read = proved_read };
	w->in = (struct installer){ &w->ops, w };
	w->base = net_tmpdir();
	agents_up(w);
	w->o = (struct executor_opts){ .base = w->base,
				       .event = on_event,
				       .ended = ended,
				       .running = running,
				       .agents = &w->link,
				       .ctx = w };
}

static void world_down(struct world *w)
{
	executor_free(w->a);
	notice_port_close(w->forger);
	crowd_down(&w->k);
	plan_free(w->p);
	jobset_put(w->jobs);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	wire_close(w->w);
	sim_free(w->sim);
	fabric_put(w->made);
	net_rmdir(w->base);
}

static void plain(struct sim_opts *o)
{
	sim_opts_init(o);
	o->virtual_clock = true;
	o->delay_us = 20;
}

static int setup(void **state)
{
	static struct world w;
	struct sim_opts o;

	plain(&o);
	world_up(&w, &o);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	world_down(*state);
	return 0;
}

static int run(struct world *w, struct err *err)
{
	w->a = executor_new(w->p, &w->in, &w->o);
	return executor_run(w->a, err);
}

/* Are those tables in the switches, asked for behind the wire's back? */
static bool installed(struct world *w, const struct tables *want)
{
	struct tables *t = sim_tables(w->sim);
	struct tables_diff *d = tables_diff_new(w->made, t, want);
	bool same = !d->nblocks && !d->nsl2vl;

	tables_diff_free(d);
	tables_put(t);
	return same;
}

static struct executor_status status(struct world *w)
{
	struct executor_status st;

	executor_status(w->a, &st);
	return st;
}

static void everybody_is_back(struct world *w)
{
	uint32_t living = 0;

	crowd_go(&w->k, 20 * MS);
	for (uint32_t i = 0; i < w->k.n; i++)
		living += !w->k.node[i].dead;
	assert_int_equal(crowd_in(&w->k, AGENT_BASE), living);
}

/* ---- all goes well ---- */

static void all_five_phases_with_an_answer_from_every_agent(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need(run(w, &err), &err);
	assert_int_equal(strncmp(w->said, "PREPARE ", 8), 0);
	assert_non_null(strstr(w->said, "UNPATH [20 of 20 agents are on their escape LIDs"));
	assert_non_null(strstr(w->said, "WRITE "));
	assert_non_null(strstr(w->said, "REPATH [20 of 20 agents have returned"));
	assert_non_null(strstr(w->said, "CONFIRM"));
	assert_int_equal(status(w).agents.expected, ALL);
	assert_int_equal(status(w).agents.done, ALL);
	assert_int_equal(status(w).agents.asked, PHASE_REPATH);
	assert_true(installed(w, w->p->to));
	everybody_is_back(w);
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 1);
	need(executor_confirm(w->a, &err), &err);
}

static void the_way_back_goes_through_the_same_phases(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need(run(w, &err), &err);
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 2);
}

/* ---- somebody else speaks to the agents ---- */

/* Through the SM, from a host of no job; it names whoever it likes as the issuer. */
static void forge(struct world *w)
{
	struct phase_notice n = w->forged;
	const struct mad_port *port;
	struct notice_sender from;
	struct notice_local local;
	struct err err = { "" };
	struct mad_packet p;
	struct notice said;

	if (!w->asked.txn) { /* not yet */
		w->stop_at++;
		return;
	}
	n.txn = w->asked.txn;
	n.seq += w->asked.seq;
	if (!w->forger) {
		struct notice_opts no = { .term = 61 };

		need(notice_port_open_sim(&w->forger, w->sim, &no, &err), &err);
	}
	need(notice_port_refresh(w->forger, &local, &err), &err);
	/* an answer in the name of an agent, a question in that of the coordinator */
	from.lid = w->made->term_lid[w->answers ? w->k.node[3].term : 60];
	from.cap_mask = local.cap_mask;
	phase_codec_encode(&said, &n, w->answers, &from);
	trap_build(&p, local.sm_lid, &said, 77);
	port = notice_port_mad(w->inside ? w->k.node[3].np : w->forger);
	need(port->ops->send(port->ctx, &p, &err), &err);
}

/* At every moment of the drain: those who have moved are called back, those who have not yet are
 * called off. */
static void who_calls_agents_back_ends_the_update_before_it_writes(void **state)
{
	unsigned disputed = 0;

	(void)state;
	for (uint64_t at = 1; at < 30; at++) {
		struct err err = { "" };
		struct sim_opts o;
		struct world w;

		plain(&o);
		world_up(&w, &o);
		w.k.drain_ns = 100 * MS;
		w.forged = (struct phase_notice){ .version = PHASE_NOTICE_VERSION,
						  .phase = PHASE_REPATH,
						  .seq = 1000 };
		w.happen = forge;
		w.stop_at = at;
		assert_int_not_equal(run(&w, &err), 0);
		assert_int_equal(executor_outcome(w.a), OUTCOME_REFUSED);
		assert_true(installed(&w, w.from));
		assert_non_null(strstr(err.text, "nothing is written"));
		disputed += strstr(w.said, "was told to return while it should be drained: "
					   "somebody else speaks to the agents, or for it") != NULL;
		assert_int_equal(status(&w).why, WHY_DISPUTED);
		assert_non_null(strstr(w.said, "[20 of 20 agents have returned"));
		everybody_is_back(&w);
		world_down(&w);
	}
	assert_int_equal(disputed, 29);
}

static struct site_keys *a_key(const struct world *w)
{
	char path[200];
	struct site_keys *k;
	struct err err = { "" };

	snprintf(path, sizeof(path), "%s/agents.key", w->base);
	need(site_key_new(path, &err), &err);
	need(site_keys_load(&k, path, &err), &err);
	unlink(path);
	return k;
}

/* With a key nobody else is heard, whatever he says, and whenever. */
static void with_a_key_only_the_coordinator_and_the_agents_are_heard(void **state)
{
	static const struct phase_notice forged[] = {
		{ .phase = PHASE_REPATH, .seq = 1000 },
		{ .phase = PHASE_UNPATH, .seq = PHASE_SEQ_MAX - 1 },
		{ .phase = PHASE_UNPATH, .flags = NOTICE_FAILED, .seq = 5 },
		{ .phase = PHASE_UNPATH, .repeat = 999 },
	};

	(void)state;
	for (uint64_t at = 1; at < 40; at++) {
		struct err err = { "" };
		struct site_keys *keys;
		struct sim_opts o;
		struct world w;

		plain(&o);
		world_up(&w, &o);
		keys = a_key(&w);
		crowd_keys(&w.k, keys);
		w.k.drain_ns = 50 * MS;
		w.forged = forged[at % 4];
		w.forged.version = PHASE_NOTICE_VERSION;
		w.answers = at % 4 > 1;
		w.happen = forge;
		w.stop_at = at;
		if (run(&w, &err))
			fail_msg("%u: %s\n%s", (unsigned)at, err.text, w.said);
		assert_int_equal(w.unpaths, 1); /* and nobody has to be asked twice */
		assert_null(strstr(w.said, "somebody else"));
		for (uint32_t i = 0; i < w.k.n; i++)
			assert_int_equal(w.k.node[i].drains, 1);
		need(executor_confirm(w.a, &err), &err);
		everybody_is_back(&w);
		world_down(&w);
		site_keys_free(keys);
	}
}

/* The SM tells whose port it was, whatever LID the notice has. */
static void nobody_answers_for_another_agent(void **state)
{
	(void)state;
	for (uint64_t at = 1; at < 20; at++) {
		struct err err = { "" };
		struct sim_opts o;
		struct world w;

		plain(&o);
		world_up(&w, &o);
		w.k.drain_ns = 50 * MS;
		w.forged = (struct phase_notice){ .version = PHASE_NOTICE_VERSION,
						  .phase = PHASE_UNPATH,
						  .flags = at & 1 ? NOTICE_FAILED : 0,
						  .repeat = 999 };
		w.answers = true;
		w.happen = forge;
		w.stop_at = at;
		if (run(&w, &err)) /* proved at each write */
			fail_msg("%u: %s\n%s", (unsigned)at, err.text, w.said);
		everybody_is_back(&w);
		world_down(&w);
	}
}

static void an_answer_to_what_was_not_asked_ends_the_update(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->forged = (struct phase_notice){ .version = PHASE_NOTICE_VERSION,
					   .phase = PHASE_UNPATH,
					   .flags = NOTICE_FAILED,
					   .seq = 5 };
	w->answers = w->inside = true;
	w->happen = forge;
	w->stop_at = 1;
	assert_int_equal(run(w, &err), -EREMOTEIO);
	assert_non_null(strstr(err.text, "has answered a question that was not asked"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_int_equal(status(w).why, WHY_DISPUTED);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* Of another machine's update, or of somebody who means harm. */
static void who_has_seen_a_later_transaction_refuses_and_is_named(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->k.node[0].a.txn = 1ull << 39;
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "refuses to drain: it has seen a later transaction, and "
					 "nothing is written"));
	assert_non_null(strstr(err.text, "ibroute-top agent --forget-transaction"));
	assert_non_null(strstr(w->said, "refuses: it has seen a later transaction: drain"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

static void numbers_of_transactions_grow_though_the_clock_does_not(void **state)
{
	struct world *w = *state;
	struct txn_info *list;
	uint64_t last = 0;
	uint32_t n;
	struct err err = { "" };

	for (int i = 0; i < 3; i++) {
		need(run(w, &err), &err);
		need(executor_rollback(w->a, &err), &err);
		executor_free(w->a);
	}
	w->a = NULL;
	assert_int_equal(journal_list(&list, &n, w->base, &err), 0);
	assert_int_equal(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(list[i].head.number > last);
		assert_true(list[i].asked);
		last = list[i].head.number;
	}
	free(list);
}

static void loss_doubles_and_reorder_change_nothing_but_the_time(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct err err = { "" };
		struct sim_opts o;
		struct world w;

		plain(&o);
		o.seed = seed;
		o.duplicate = 0.3;
		o.reorder = 0.3;
		o.jitter_us = 100;
		world_up(&w, &o);
		sim_loss(w.sim, 0.02 * (double)(seed % 6));
		w.o.answer_ms = 600000; /* whoever is silent is so by chance only */
		if (run(&w, &err))
			fail_msg("seed %lu: %s\n%s", (unsigned long)seed, err.text, w.said);
		assert_int_equal(status(&w).agents.done, ALL);
		if (seed % 2)
			need(executor_confirm(w.a, &err), &err);
		else
			need(executor_rollback(w.a, &err), &err);
		assert_true(installed(&w, seed % 2 ? w.p->to : w.from));
		everybody_is_back(&w);
		world_down(&w);
	}
}

/* ---- somebody is not there ---- */

static void a_silent_agent_is_named_and_nothing_is_written(void **state)
{
	struct world *w = *state;
	struct err err = { "" };
	const char *name = w->f->term_name[w->k.node[3].term];

	w->k.node[3].dead = true;
	w->o.answer_ms = 2000;
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, name));
	assert_non_null(strstr(err.text, "--on-silent continue"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_null(strstr(w->said, "WRITE"));
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* Two ports of one name, of a host with two or of another one that calls itself so: the answer of
 * one says nothing about the other. */
static void each_port_of_a_name_has_to_answer(void **state)
{
	struct world *w = *state;
	uint32_t silent = w->k.node[3].term;
	struct err err = { "" };

	w->f->term_name[silent] = w->f->term_name[w->k.node[2].term];
	w->k.node[3].dead = true;
	w->o.answer_ms = 2000;
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_int_equal(status(w).agents.expected, ALL);
	assert_int_equal(status(w).agents.silent, 1);
	assert_null(strstr(w->said, "WRITE"));
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* Nobody is drained across two hosts of one name until somebody has said that it is meant so. */
static void nobody_drains_by_an_ambiguous_name_until_it_was_accepted(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->f->nambiguous = 1;
	w->f->term_ambiguous[w->k.node[3].term] = true;
	assert_int_equal(run(w, &err), -EPERM);
	assert_non_null(strstr(err.text, "--accept-names"));
	assert_non_null(strstr(err.text, "node-name-map"));
	assert_non_null(strstr(err.text, w->f->term_name[w->k.node[3].term]));
	assert_int_equal(w->unpaths, 0);
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	executor_free(w->a);
	w->o.accept_names = true;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "each port of these names is asked to drain"));
	assert_int_equal(status(w).agents.done, ALL);
	everybody_is_back(w);
}

/* Only its order is at stake: it goes on without the job, and says so. */
static void a_job_of_an_ambiguous_name_that_need_not_drain_is_left_alone(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need_drain(w, true, false);
	w->no_proof = true;
	w->f->nambiguous = 1;
	w->f->term_ambiguous[w->k.node[3].term] = true;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "is not asked to drain: "));
	everybody_is_back(w);
}

static void policy_goes_on_without_who_is_silent_or_could_not(void **state)
{
	struct world *w = *state;
	struct err err = { "" };
	struct executor_status st;
	struct txn_agent *away;
	uint32_t n;

	w->k.node[3].dead = true;
	w->k.node[5].cannot = true;
	w->o.answer_ms = 2000;
	w->o.without_silent = w->no_proof = true;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, w->f->term_name[w->k.node[3].term]));
	assert_non_null(strstr(w->said, w->f->term_name[w->k.node[5].term]));
	assert_non_null(strstr(w->said, "could not: drain"));
	assert_true(installed(w, w->p->to));
	everybody_is_back(w);
	st = status(w);
	assert_int_equal(st.agents.silent, 1);
	assert_int_equal(st.agents.done, ALL - 1);
	need(executor_confirm(w->a, &err), &err);
	need(journal_read_agents(&away, &n, w->base, st.txn, true, &err), &err);
	assert_int_equal(n, 1);
	assert_string_equal(away->name, w->f->term_name[w->k.node[3].term]);
	free(away);
}

static void an_agent_whose_drain_fails_stops_the_update(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->k.node[5].cannot = true;
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

static void a_job_that_ends_is_not_waited_for(void **state)
{
	struct world *w = *state;
	uint64_t start = now_ns(w);
	struct err err = { "" };

	for (uint32_t i = 0; i < w->jobs->jobs[1].nterm; i++)
		w->k.node[w->jobs->jobs[0].nterm + i].dead = true;
	w->job_over = w->jobs->jobs[1].id;
	w->no_proof = true;
	need(run(w, &err), &err);
	assert_true(now_ns(w) - start < 5000 * MS);
	assert_int_equal(status(w).agents.gone, w->jobs->jobs[1].nterm);
	assert_int_equal(status(w).agents.done, w->jobs->jobs[0].nterm);
}

static void a_needed_drain_that_cannot_be_is_refused_with_the_way_out(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need_drain(w, false, true);
	assert_int_equal(run(w, &err), -EADDRNOTAVAIL);
	assert_non_null(strstr(err.text, "--escape"));
	executor_free(w->a);
	need_drain(w, true, true);
	w->o.agents = NULL;
	assert_int_equal(run(w, &err), -ENOTCONN);
	assert_non_null(strstr(err.text, "--without-agents"));
	executor_free(w->a);
	w->o.agents = &w->link;
	sim_stop_sm(w->sim, true);
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_true(installed(w, w->from));
	sim_stop_sm(w->sim, false);
}

static void lids_of_no_job_are_named_and_have_to_be_accepted(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->p->drain.unassigned_lids = 1;
	w->p->drain.lid[0].lid = w->f->term_lid[w->f->nterm - 1];
	assert_int_equal(run(w, &err), -EPERM);
	assert_non_null(strstr(err.text, "1 LID of no job must be drained"));
	assert_non_null(strstr(err.text, w->f->term_name[w->f->nterm - 1]));
	assert_true(installed(w, w->from));
	executor_free(w->a);
	w->o.accept_unassigned = true;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, w->f->term_name[w->f->nterm - 1]));
	assert_true(installed(w, w->p->to));
}

static void without_agents_it_is_written_all_the_same_and_said(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->o.without_agents = w->no_proof = true;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "continuing without 2 jobs"));
	assert_true(installed(w, w->p->to));
	assert_int_equal(status(w).agents.expected, 0);
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 0);
}

/* ---- something happens ---- */

static void cancel(struct world *w)
{
	w->cancelled_ns = now_ns(w);
	executor_cancel(w->a);
}

static void cancel_at_any_step_brings_everybody_back(void **state)
{
	bool more = true;

	(void)state;
	for (uint64_t at = 1; more; at++) {
		struct err err = { "" };
		struct sim_opts o;
		struct world w;
		int rc;

		plain(&o);
		world_up(&w, &o);
		w.happen = cancel;
		w.stop_at = at;
		rc = run(&w, &err);
		more = w.points >= at;
		if (!rc) { /* too late to be heard: the operator may still say so */
			assert_true(w.points < at || status(&w).waiting);
			rc = executor_rollback(w.a, &err) ? -EUCLEAN : -ECANCELED;
		}
		assert_int_equal(rc, -ECANCELED);
		assert_true(installed(&w, w.from));
		everybody_is_back(&w);
		world_down(&w);
	}
}

static void cancel_is_heard_within_50_ms_while_agents_are_awaited(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	for (uint32_t i = 0; i < w->k.n; i++)
		w->k.node[i].dead = true;
	w->happen = cancel;
	w->stop_at = 10;
	w->o.answer_ms = 1000;
	assert_int_equal(run(w, &err), -ECANCELED);
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	/* a deadline for those who may have heard the first question to return */
	assert_true(now_ns(w) - w->cancelled_ns < 1050 * MS);
}

static void move_sm(struct world *w)
{
	sim_move_sm(w->sim, 4);
	crowd_subscribe(&w->k);
}

static void another_sm_ends_the_update(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->k.drain_ns = 3000 * MS;
	w->happen = move_sm;
	w->stop_at = 8;
	assert_int_equal(run(w, &err), -ESTALE);
	assert_non_null(strstr(err.text, "another subnet manager"));
	assert_true(installed(w, w->from));
	crowd_go(&w->k, 4000 * MS);
	everybody_is_back(w);
}

/* Whenever it is looked at: checking, asking, in the middle of a wave, reading back, calling back.
 * Nothing is written any more, and all agents answer through the new one. */
static void another_sm_at_any_moment_is_seen_at_once(void **state)
{
	uint32_t in_wave = 0, refused = 0, back = 0;
	bool more = true;

	(void)state;
	for (uint64_t at = 1; more; at++) {
		struct err err = { "" };
		struct sim_opts o;
		struct world w;
		int rc;

		plain(&o);
		world_up(&w, &o);
		w.ops.batch = 4;
		w.o.sm = same_sm;
		w.sm_moves_at = at;
		rc = run(&w, &err);
		more = w.sm_moved;
		if (!more) {
			need(rc, &err);
			world_down(&w);
			break;
		}
		assert_int_equal(rc, -ESTALE);
		assert_string_equal(status(&w).text, "another subnet manager");
		assert_int_equal(status(&w).why, WHY_SM);
		assert_int_equal(w.written, 0);
		assert_true(installed(&w, w.from));
		refused += executor_outcome(w.a) == OUTCOME_REFUSED;
		back += executor_outcome(w.a) == OUTCOME_ROLLED_BACK;
		in_wave += strstr(w.said, "WRITE ROLLBACK") != NULL;
		if (status(&w).agents.expected && status(&w).agents.asked)
			assert_int_equal(status(&w).agents.done, ALL);
		everybody_is_back(&w);
		world_down(&w);
	}
	print_message("called off %u times before and %u after the first write, %u in a wave\n",
		      refused, back, in_wave);
	assert_true(refused > 3 && back > 3 && in_wave > 1);
}

/* ---- the process dies ---- */

static void copy_disk(struct world *w)
{
	char *cmd = xasprintf("cp -r %s/. %s", w->base, w->disk);

	assert_int_equal(system(cmd), 0);
	free(cmd);
}

/* What would be left if the process died now; it does not, and its further doings are undone. */
static void crash(struct world *w)
{
	copy_disk(w);
	w->left = sim_tables(w->sim);
	w->nodes = xcalloc(w->k.n, sizeof(*w->nodes));
	memcpy(w->nodes, w->k.node, w->k.n * sizeof(*w->nodes));
}

static void after_the_crash(struct world *w)
{
	uint64_t now = now_ns(w);
	struct err err = { "" };

	executor_free(w->a);
	w->a = NULL;
	crowd_go(&w->k, 20 * MS); /* what was still under way */
	need(sim_install_tables(w->sim, w->left, &err), &err);
	tables_put(w->left);
	memcpy(w->k.node, w->nodes, w->k.n * sizeof(*w->nodes));
	for (uint32_t i = 0; i < w->k.n; i++)
		w->k.node[i].done_ns = now;
	free(w->nodes);
	w->happen = NULL;
	w->o.base = w->disk;
	w->no_proof = true; /* back it is written whoever is silent; here nobody is */
}

static void recover(struct world *w, bool keep)
{
	struct err err = { "" };
	struct txn_info *list;
	struct journal *j;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->disk, &err), 0);
	if (!n || txn_state_final(list[0].state)) {
		free(list);
		return;
	}
	need(journal_open(&j, w->disk, list[0].head.id, &err), &err);
	free(list);
	w->a = executor_recover(j, w->f, &w->in, &w->o);
	if (!keep || executor_confirm(w->a, &err))
		need(executor_rollback(w->a, &err), &err);
}

static bool kept(struct world *w)
{
	struct txn_info *list;
	bool yes;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->disk, NULL), 0);
	yes = n && list[0].state == TXN_CONFIRMED;
	assert_true(!n || txn_state_final(list[0].state));
	free(list);
	return yes;
}

static void crash_at_any_step_leaves_nobody_on_escape_lids(void **state)
{
	bool more = true;
	uint64_t at;

	(void)state;
	for (at = 1; more; at++) {
		bool keep = at % 2;
		struct err err = { "" };
		struct sim_opts o;
		struct world w;

		plain(&o);
		world_up(&w, &o);
		w.disk = net_tmpdir();
		w.happen = crash;
		w.stop_at = at;
		if (!run(&w, &err))
			executor_confirm(w.a, &err);
		more = w.points >= at;
		if (more) {
			after_the_crash(&w);
			recover(&w, keep);
			if (!installed(&w, kept(&w) ? w.p->to : w.from))
				fail_msg("at step %lu: not what the journal says",
					 (unsigned long)at);
			everybody_is_back(&w);
		}
		net_rmdir(w.disk);
		world_down(&w);
	}
	assert_true(at > 20);
}

/* ---- jobs that begin meanwhile ---- */

#define BEGAN "7:0-1:4 8:2-3:6 9:0-1:12" /* 9: with LID 20 */

static void job_that_began_and_needs_the_drain_stops_it(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->more = BEGAN;
	assert_int_equal(run(w, &err), -EBUSY);
	assert_non_null(strstr(err.text, "job 9"));
	assert_non_null(strstr(w->said, "it sends to LIDs that must be drained"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

static void by_policy_it_goes_on_and_names_the_job_that_began(void **state)
{
	struct world *w = *state;
	const char *first;
	struct err err = { "" };

	w->more = BEGAN;
	w->o.without_silent = true;
	need(run(w, &err), &err);
	first = strstr(w->said, "[job 9 ");
	assert_non_null(first);
	assert_null(strstr(first + 1, "[job 9 ")); /* once */
	assert_null(strstr(w->said, "job 8 "));
	assert_true(installed(w, w->p->to));
}

static void job_that_began_on_other_nodes_under_its_old_number_counts(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->more = "7:0-1:12 8:2-3:6";
	assert_int_equal(run(w, &err), -EBUSY);
	assert_non_null(strstr(err.text, "job 7"));
}

/* It has its service levels from the new tables and never met an old one. */
static void job_that_began_after_the_last_write_is_nobodys_trouble(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->late = BEGAN;
	w->start_s = time(NULL) + 1000;
	need(run(w, &err), &err);
	assert_null(strstr(w->said, "job 9"));
	everybody_is_back(w);
}

static void job_that_began_before_the_last_write_is_named_with_the_way_out(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->late = BEGAN;
	w->start_s = time(NULL) - 1000;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "job 9 "));
	assert_non_null(strstr(w->said, "requeue it or roll back"));
	everybody_is_back(w);
}

static void job_that_began_and_whose_order_alone_is_at_stake_is_only_named(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need_drain(w, true, false);
	w->no_proof = true; /* nobody has to be asked */
	w->more = BEGAN;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "[job 9 "));
	assert_non_null(strstr(w->said, "may be reordered"));
	assert_true(installed(w, w->p->to));
}

static struct world *the_world;

static uint32_t add_terms(uint32_t *terms, uint32_t n, const struct jobset *set)
{
	for (uint32_t i = 0; i < set->njob; i++)
		for (uint32_t k = 0; k < set->jobs[i].nterm; k++) {
			uint32_t seen = 0;

			while (seen < n && terms[seen] != set->jobs[i].terms[k])
				seen++;
			terms[seen] = set->jobs[i].terms[k];
			n += seen == n;
		}
	return n;
}

/* It is known who listens. */
static int present(void *ctx, struct agent_place *at, uint32_t n, struct progress *progress,
		   struct err *err)
{
	const struct crowd_kit *k = ctx;

	(void)progress;
	(void)err;
	for (uint32_t i = 0; i < n; i++) {
		at[i].there = AGENT_ABSENT;
		for (uint32_t j = 0; j < k->n; j++)
			if (the_world->f->term_guid[k->node[j].term] == at[i].guid)
				at[i].there = AGENT_PRESENT;
	}
	return 0;
}

/* Agents also on the nodes of those jobs. */
static void agents_of(struct world *w, const char *jobs)
{
	static struct agent_link_ops ops;
	struct jobset *set = net_jobs(w->f, jobs);
	uint32_t *terms = xcalloc(w->f->nterm, sizeof(*terms));
	uint32_t n = add_terms(terms, add_terms(terms, 0, w->jobs), set);

	crowd_down(&w->k);
	raise_crowd(w, terms, n);
	the_world = w;
	ops = *w->link.ops;
	ops.present = present;
	w->link.ops = &ops;
	free(terms);
	jobset_put(set);
}

#define MORE 16 /* nodes of job 9 and of no other */

static void agents_of_a_job_that_began_join_the_update(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	agents_of(w, BEGAN);
	assert_int_equal(w->k.n, ALL + MORE);
	w->asleep = MORE;
	for (uint32_t i = ALL; i < w->k.n; i++)
		w->k.node[i].dead = true;
	w->more = BEGAN;
	w->no_proof = false;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "16 agents join"));
	assert_non_null(strstr(w->said, "[20 of 20 agents are on their escape LIDs"));
	assert_non_null(strstr(w->said, "[36 of 36 agents are on their escape LIDs"));
	assert_non_null(strstr(w->said, "[36 of 36 agents have returned"));
	assert_int_equal(status(w).agents.expected, ALL + MORE);
	assert_true(installed(w, w->p->to));
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 1);
	everybody_is_back(w);
}

/* What they have under way was led by tables that changed meanwhile. */
static void
agents_of_a_job_that_began_in_the_last_wave_drain_before_they_are_called_back(void **state)
{
	struct world *w = *state;
	const char *joined;
	struct err err = { "" };

	agents_of(w, BEGAN);
	for (uint32_t i = ALL; i < w->k.n; i++)
		w->k.node[i].dead = true;
	w->asleep = MORE;
	w->no_proof = true;
	w->late = BEGAN;
	w->start_s = time(NULL) - 1000;
	need(run(w, &err), &err);
	joined = strstr(w->said, "16 agents join");
	assert_non_null(joined);
	assert_non_null(strstr(joined, "UNPATH [36 of 36 agents are on their escape LIDs"));
	assert_non_null(strstr(joined, "REPATH [36 of 36 agents have returned"));
	assert_null(strstr(joined, "WRITE"));
	assert_int_equal(status(w).agents.expected, ALL + MORE);
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 1);
	everybody_is_back(w);
}

static int other_name(void *ctx, struct fabric **out, struct err *err)
{
	struct world *w = ctx;
	char **desc = xcalloc(w->f->nend, sizeof(*desc)), name[] = "elsewhere";

	(void)err;
	desc[w->k.node[w->k.n - 1].term] = name;
	*out = fabric_renamed(w->f, desc);
	free(desc);
	return 0;
}

/* One of its nodes is called otherwise by now: where does it run? */
static void a_job_that_began_on_a_name_that_changed_does_not_join(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	agents_of(w, BEGAN);
	w->more = BEGAN;
	w->no_proof = true;
	w->o.names = other_name;
	assert_int_equal(run(w, &err), -EBUSY);
	assert_non_null(strstr(w->said, "1 ports changed their names during the update: port 0x"));
	assert_non_null(strstr(w->said, "and is elsewhere"));
	assert_non_null(strstr(err.text, "it is not certain which host is "));
	assert_null(strstr(w->said, "agents join"));
	everybody_is_back(w);
}

/* Where one of them cannot, and the policy is to abort, the old routes come back. */
static void when_such_a_job_cannot_drain_the_policy_decides(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	agents_of(w, BEGAN);
	w->no_proof = true;
	for (uint32_t i = ALL; i < w->k.n; i++)
		w->k.node[i].cannot = true;
	w->late = BEGAN;
	w->start_s = time(NULL) - 1000;
	assert_int_equal(run(w, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "the new routing is not kept without them"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* Proved at each write. */
static void agents_of_a_job_that_began_while_it_waits_drain_before_the_way_back(void **state)
{
	struct world *w = *state;
	const char *back;
	struct err err = { "" };

	agents_of(w, BEGAN);
	w->late = BEGAN;
	w->start_s = time(NULL) + 1000;
	need(run(w, &err), &err);
	assert_null(strstr(w->said, "join"));
	need(executor_rollback(w->a, &err), &err);
	back = strstr(w->said, "ROLLBACK");
	assert_non_null(back);
	assert_non_null(strstr(back, "16 agents join"));
	assert_non_null(strstr(back, "[36 of 36 agents are on their escape LIDs"));
	assert_non_null(strstr(back, "[36 of 36 agents have returned"));
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* Where nobody was to be asked when the plan was made. */
static void the_first_job_of_all_joins_as_well(void **state)
{
	struct world *w = *state;
	struct drain d = { .known = true, .jobs = true, .escape = true };
	struct err err = { "" };

	plan_with_drain(w->p, &d);
	agents_of(w, BEGAN);
	w->more = BEGAN;
	need(run(w, &err), &err);
	assert_null(strstr(w->said, "of 20 agents"));
	assert_non_null(strstr(w->said, "[24 of 24 agents are on their escape LIDs"));
	assert_non_null(strstr(w->said, "[24 of 24 agents have returned"));
	assert_true(installed(w, w->p->to));
	everybody_is_back(w);
}

/* All begin at once, while the others drain, and did not hear what these were asked. */
static void begin_together(struct world *w)
{
	for (uint32_t i = ALL; i < w->k.n; i++) {
		w->k.node[i].dead = false;
		crowd_news(&w->k, i);
	}
	w->happen = NULL;
}

static void agents_that_begin_together_are_told_by_a_few_notices(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	agents_of(w, BEGAN);
	for (uint32_t i = ALL; i < w->k.n; i++)
		w->k.node[i].dead = true;
	w->k.drain_ns = 40 * MS;
	w->happen = begin_together;
	w->stop_at = 6;
	need(run(w, &err), &err);
	assert_null(w->happen);
	assert_true(w->unpaths < MORE / 2); /* with those that are sent again anyway */
	for (uint32_t i = 0; i < w->k.n; i++)
		assert_int_equal(w->k.node[i].drains, 1);
	everybody_is_back(w);
}

/* The nodes of a job that was over when the others were asked. */
static void nodes_of_a_job_that_ended_are_asked_again_for_the_next(void **state)
{
	struct world *w = *state;
	const char *joined;
	struct err err = { "" };

	agents_of(w, JOBS);
	w->job_over = 7;
	w->more = "10:0-1:4 8:2-3:6";
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "(job 7) its jobs have ended"));
	joined = strstr(w->said, "job 10 ");
	assert_non_null(joined);
	assert_non_null(strstr(joined, "[20 of 20 agents are on their escape LIDs"));
	assert_non_null(strstr(joined, "[20 of 20 agents have returned"));
	everybody_is_back(w);
}

static void they_do_where_their_order_alone_is_at_stake(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	need_drain(w, true, false);
	agents_of(w, BEGAN);
	w->more = BEGAN;
	need(run(w, &err), &err);
	assert_non_null(strstr(w->said, "16 agents join"));
	assert_int_equal(status(w).agents.expected, ALL + MORE);
	everybody_is_back(w);
}

static void without_an_agent_on_each_of_its_nodes_it_does_not(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	agents_of(w, "7:0-1:4 8:2-3:6 9:0-1:11");
	w->more = BEGAN;
	assert_int_equal(run(w, &err), -EBUSY);
	assert_non_null(strstr(err.text, "job 9"));
	assert_null(strstr(w->said, "join"));
	assert_true(installed(w, w->from));
	everybody_is_back(w);
}

/* ---- no SM ---- */

static const struct agent_link_ops *hearing;

static bool deaf(void)
{
	return the_world->deaf_until && now_ns(the_world) < the_world->deaf_until;
}

static int deaf_listen(void *ctx, struct progress *progress, struct err *err)
{
	return deaf() ? err_set(err, -ETIMEDOUT, "no SM") : hearing->listen(ctx, progress, err);
}

static int deaf_send(void *ctx, const struct phase_notice *n, struct err *err)
{
	return deaf() ? err_set(err, -EAGAIN, "no SM") : hearing->send(ctx, n, err);
}

static uint64_t without_an_sm(struct world *w, uint64_t seconds)
{
	static struct agent_link_ops ops;
	struct err err = { "" };

	the_world = w;
	hearing = w->link.ops;
	ops = *hearing;
	ops.listen = deaf_listen;
	ops.send = deaf_send;
	w->link.ops = &ops;
	w->deaf_ns = seconds * 1000 * MS;
	assert_int_equal(run(w, &err), -ECANCELED);
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_true(installed(w, w->from));
	return (now_ns(w) - w->deaf_until) / (1000 * MS);
}

static void agents_are_called_back_once_there_is_an_sm_again(void **state)
{
	struct world *w = *state;

	assert_in_range(without_an_sm(w, 35), 0, 5); /* longer than they have to answer */
	assert_int_equal(status(w).agents.done, ALL);
	everybody_is_back(w);
}

static void agents_that_nobody_can_call_back_are_named_when_their_patience_ends(void **state)
{
	struct world *w = *state;

	w->o.hold_s = 5;
	w->o.answer_ms = 2000;
	without_an_sm(w, 100000);
	assert_in_range(now_ns(w) / (1000 * MS), 5, 12);
	assert_int_equal(status(w).agents.silent, ALL);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(all_five_phases_with_an_answer_from_every_agent),
		T(the_way_back_goes_through_the_same_phases),
		cmocka_unit_test(who_calls_agents_back_ends_the_update_before_it_writes),
		cmocka_unit_test(with_a_key_only_the_coordinator_and_the_agents_are_heard),
		cmocka_unit_test(nobody_answers_for_another_agent),
		T(an_answer_to_what_was_not_asked_ends_the_update),
		T(who_has_seen_a_later_transaction_refuses_and_is_named),
		T(numbers_of_transactions_grow_though_the_clock_does_not),
		cmocka_unit_test(loss_doubles_and_reorder_change_nothing_but_the_time),
		T(a_silent_agent_is_named_and_nothing_is_written),
		T(each_port_of_a_name_has_to_answer),
		T(nobody_drains_by_an_ambiguous_name_until_it_was_accepted),
		T(a_job_of_an_ambiguous_name_that_need_not_drain_is_left_alone),
		T(policy_goes_on_without_who_is_silent_or_could_not),
		T(an_agent_whose_drain_fails_stops_the_update),
		T(a_job_that_ends_is_not_waited_for),
		T(a_needed_drain_that_cannot_be_is_refused_with_the_way_out),
		T(lids_of_no_job_are_named_and_have_to_be_accepted),
		T(without_agents_it_is_written_all_the_same_and_said),
		cmocka_unit_test(cancel_at_any_step_brings_everybody_back),
		T(cancel_is_heard_within_50_ms_while_agents_are_awaited),
		T(another_sm_ends_the_update),
		cmocka_unit_test(another_sm_at_any_moment_is_seen_at_once),
		cmocka_unit_test(crash_at_any_step_leaves_nobody_on_escape_lids),
		T(job_that_began_and_needs_the_drain_stops_it),
		T(agents_of_a_job_that_began_join_the_update),
		T(a_job_that_began_on_a_name_that_changed_does_not_join),
		T(agents_of_a_job_that_began_in_the_last_wave_drain_before_they_are_called_back),
		T(when_such_a_job_cannot_drain_the_policy_decides),
		T(agents_of_a_job_that_began_while_it_waits_drain_before_the_way_back),
		T(the_first_job_of_all_joins_as_well),
		T(agents_that_begin_together_are_told_by_a_few_notices),
		T(nodes_of_a_job_that_ended_are_asked_again_for_the_next),
		T(they_do_where_their_order_alone_is_at_stake),
		T(without_an_agent_on_each_of_its_nodes_it_does_not),
		T(agents_are_called_back_once_there_is_an_sm_again),
		T(agents_that_nobody_can_call_back_are_named_when_their_patience_ends),
		T(by_policy_it_goes_on_and_names_the_job_that_began),
		T(job_that_began_on_other_nodes_under_its_old_number_counts),
		T(job_that_began_after_the_last_write_is_nobodys_trouble),
		T(job_that_began_before_the_last_write_is_named_with_the_way_out),
		T(job_that_began_and_whose_order_alone_is_at_stake_is_only_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
