/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Agents on the simulated fabric, with real commands and real clients on their sockets. */
#include "fabric/agent/agent.h"

#include "fabric/agent/ibroute-agent.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/site_key.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define COORD	  1 /* terminals */
#define FIRST	  2
#define AGENTS	  2
#define CLIENTS	  3
#define WAIT_MS	  8000
#define RESEND_MS 30

/* Queue pairs of a process: where they are, as it does what it is told. */
struct rank {
	struct ibroute_agent a;
	const char *job;
	uint32_t nr, offset;
	bool drained, same, refuses, deaf;
};

struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct notice_port *coord, *np[AGENTS];
	struct agent *agent[AGENTS];
	struct agent_opts o[AGENTS];
	char state[AGENTS][64], sock[AGENTS][64];
	struct rank rank[CLIENTS];
	uint32_t nranks, seq;
	struct phase_notice ack[AGENTS]; /* last heard */
	uint32_t acks[AGENTS];
	struct err err;
};

static char dir[] = "/tmp/test_agent.XXXXXX";
static char logged[1 << 16];

static void keep_log(void *ctx, const struct log_line *l)
{
	size_t n = strlen(logged);

	(void)ctx;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", l->text);
}

static void port_open(struct world *x, struct notice_port **np, uint32_t term)
{
	struct notice_opts no = { .term = term, .timeout_ms = 20, .retries = 3 };

	assert_int_equal(notice_port_open_sim(np, x->sim, &no, &x->err), 0);
}

static void world_up(struct world *x, const struct sim_opts *faults, int lmc)
{
	struct net_opts net = { .lmc = lmc };

	memset(x, 0, sizeof(*x));
	logged[0] = 0;
	x->f = net_tree(3, 2, 2, &net);
	x->t = kit_bfs(x->f);
	assert_int_equal(sim_new(&x->sim, x->f, faults, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	port_open(x, &x->coord, COORD);
	assert_int_equal(notice_subscribe(x->coord, NOTICE_LOCAL_CHANGES, &x->err), 0);
	for (uint32_t i = 0; i < AGENTS; i++) {
		port_open(x, &x->np[i], FIRST + i);
		snprintf(x->state[i], sizeof(x->state[i]), "%s/state%u", dir, i);
		snprintf(x->sock[i], sizeof(x->sock[i]), "%s/sock%u", dir, i);
		x->o[i] = (struct agent_opts){ .state = x->state[i],
					       .socket = x->sock[i],
					       .socket_mode = 0600,
					       .limit_ms = 3000,
					       .greet_ms = 3,
					       .poll_ms = 100 };
	}
}

static void world_down(struct world *x)
{
	char path[128];

	for (uint32_t i = 0; i < x->nranks; i++)
		ibroute_agent_drop(&x->rank[i].a);
	for (uint32_t i = 0; i < AGENTS; i++) {
		agent_close(x->agent[i]);
		notice_port_close(x->np[i]);
		unlink(x->state[i]);
		snprintf(path, sizeof(path), "%s.lock", x->state[i]);
		unlink(path);
	}
	notice_port_close(x->coord);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
}

static void start(struct world *x, uint32_t i)
{
	assert_int_equal(agent_open(&x->agent[i], x->np[i], &x->o[i], &x->err), 0);
}

static void join(struct world *x, uint32_t agent, const char *job, uint32_t nr)
{
	struct rank *r = &x->rank[x->nranks++];

	*r = (struct rank){ .job = job, .nr = nr };
	assert_int_equal(ibroute_agent_open(&r->a, x->sock[agent], job, nr, "base"), 0);
}

/* ---- time passes ---- */

static void rank_turn(struct rank *r)
{
	struct ibroute_order o;

	while (!r->deaf && ibroute_agent_next(&r->a, &o) == 1) {
		if (o.what != IBROUTE_DRAIN && o.what != IBROUTE_MIGRATE &&
		    o.what != IBROUTE_RETURN)
			continue;
		if (r->refuses && o.what == IBROUTE_DRAIN) {
			ibroute_agent_failed(&r->a, &o, "the peer is dead");
			continue;
		}
		assert_true(o.what != IBROUTE_MIGRATE || r->drained);
		r->drained = o.what == IBROUTE_DRAIN;
		if (o.what == IBROUTE_MIGRATE)
			r->offset = o.escape_offset;
		if (o.what == IBROUTE_RETURN)
			r->offset = 0;
		r->same = o.same;
		ibroute_agent_done(&r->a, &o);
	}
}

static void hear(struct world *x)
{
	struct phase_notice a;
	struct notice_in in;
	bool answer;

	while (notice_recv(x->coord, &in, 0, &x->err) == 1) {
		if (phase_codec_decode(&a, &answer, &in.notice) || !answer)
			continue;
		for (uint32_t i = 0; i < AGENTS; i++) {
			if (in.notice.issuer_guid != x->f->term_guid[FIRST + i])
				continue;
			x->acks[i]++;
			/* may be late: only what is newer counts */
			if (a.txn > x->ack[i].txn || a.seq > x->ack[i].seq ||
			    (a.seq == x->ack[i].seq && a.repeat > x->ack[i].repeat))
				x->ack[i] = a;
		}
	}
}

static void turn(struct world *x)
{
	for (uint32_t i = 0; i < AGENTS; i++) {
		if (x->agent[i])
			assert_int_equal(agent_turn(x->agent[i], 1, &x->err), 0);
	}
	for (uint32_t i = 0; i < x->nranks; i++)
		rank_turn(&x->rank[i]);
	hear(x);
}

static void say(struct world *x, uint8_t phase, uint64_t txn, uint16_t flags)
{
	struct phase_notice n = { .version = PHASE_NOTICE_VERSION,
				  .phase = phase,
				  .flags = flags,
				  .seq = ++x->seq,
				  .txn = txn };

	assert_int_equal(notice_send_phase(x->coord, &n, false, &x->err), 0);
}

/* The agent's answer to the question that was asked last, with these flags. */
static void await_answer(struct world *x, uint32_t i, uint8_t phase, uint16_t flags)
{
	uint64_t end = clock_ms() + WAIT_MS;

	do
		turn(x);
	while (clock_ms() < end && (x->ack[i].seq != x->seq || x->ack[i].flags != flags));
	assert_int_equal(x->ack[i].phase, phase);
	assert_int_equal(x->ack[i].seq, x->seq);
	assert_int_equal(x->ack[i].flags, flags);
}

static void await_ack(struct world *x, uint32_t i)
{
	uint64_t end = clock_ms() + WAIT_MS;

	while (clock_ms() < end && !x->acks[i])
		turn(x);
	assert_true(x->acks[i]);
}

static void await_mode(struct world *x, uint32_t i, enum agent_mode mode)
{
	uint64_t end = clock_ms() + WAIT_MS;

	do
		turn(x);
	while (clock_ms() < end && agent_now(x->agent[i])->mode != mode);
	assert_int_equal(agent_now(x->agent[i])->mode, mode);
}

static void await_ready(struct world *x, uint32_t i)
{
	uint64_t end = clock_ms() + WAIT_MS;

	while (clock_ms() < end && !agent_ready(x->agent[i]))
		turn(x);
	assert_true(agent_ready(x->agent[i]));
}

static void await_log(struct world *x, const char *text)
{
	uint64_t end = clock_ms() + WAIT_MS;

	while (clock_ms() < end && !strstr(logged, text))
		turn(x);
	assert_non_null(strstr(logged, text));
}

static void some_turns(struct world *x)
{
	for (int k = 0; k < 20; k++)
		turn(x);
}

/* As a process that is killed: nothing is said to anybody, but hooks end. */
static void cut_off(struct world *x, uint32_t i)
{
	agent_close(x->agent[i]);
	x->agent[i] = NULL;
}

/* ---- tests ---- */

static void commands_of_every_job_run_in_order_and_the_answer_follows_them(void **state)
{
	char trace[64], command[200], text[512] = "";
	const char *const jobs[] = { "41", "42" };
	struct world x;
	FILE *f;

	(void)state;
	world_up(&x, NULL, 2);
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	snprintf(
		command, sizeof(command),
		"echo $IBROUTE_PHASE $IBROUTE_TXN $IBROUTE_ESCAPE_OFFSET $IBROUTE_SAME_ROUTES >>%s",
		trace);
	x.o[0].jobs = jobs;
	x.o[0].njobs = 2;
	x.o[0].drain = x.o[0].migrate = command;
	start(&x, 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	say(&x, PHASE_REPATH, 7, NOTICE_ABORT);
	await_answer(&x, 0, PHASE_REPATH, 0);
	f = fopen(trace, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	unlink(trace);
	assert_string_equal(text, "drain 7 2 0\ndrain 7 2 0\nmigrate 7 2 0\nmigrate 7 2 0\n"
				  "return 7 2 1\nreturn 7 2 1\n");
	world_down(&x);
}

/* As if another machine had led a later one; or somebody who means harm. */
static void a_later_transaction_is_told_and_can_be_forgotten(void **state)
{
	uint64_t now = (uint64_t)time(NULL), end;
	struct ibroute_agent end_of;
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	await_ready(&x, 0);
	/* a number that cannot be is refused */
	say(&x, PHASE_UNPATH, now + 10 * 86400, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED | NOTICE_BOUNDS);
	await_log(&x, "refused: a number of it is out of bounds");
	say(&x, PHASE_UNPATH, now + 3600, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	say(&x, PHASE_UNPATH, now, 0);
	/* once a second */
	for (end = clock_ms() + WAIT_MS; clock_ms() < end && x.ack[0].seq != x.seq;) {
		say(&x, PHASE_UNPATH, now, 0);
		some_turns(&x);
	}
	assert_int_equal(x.ack[0].flags, NOTICE_FAILED | NOTICE_LATER);
	assert_int_equal(x.ack[0].txn, now);
	await_log(&x, "ibroute-top agent --forget-transaction");
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_ESCAPE);
	/* whoever waits for it on the escape LIDs is told that they were left */
	assert_int_equal(ibroute_agent_connect(&end_of, x.sock[0]), 0);
	assert_int_equal(ibroute_agent_say(&end_of, "FORGET\n"), 0);
	await_mode(&x, 0, AGENT_BASE);
	some_turns(&x);
	ibroute_agent_drop(&end_of);
	assert_int_equal(agent_now(x.agent[0])->txn, 0);
	say(&x, PHASE_UNPATH, now, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	world_down(&x);
}

/* Of a coordinator without, and of one with another key. */
static void with_a_key_nobody_else_is_obeyed(void **state)
{
	struct site_keys *ours, *theirs;
	struct ibroute_agent asks;
	char path[80], text[2000];
	struct world x;
	ssize_t n;

	(void)state;
	world_up(&x, NULL, 1);
	snprintf(path, sizeof(path), "%s/key", dir);
	assert_int_equal(site_key_new(path, &x.err), 0);
	assert_int_equal(site_keys_load(&ours, path, &x.err), 0);
	x.o[0].keys = ours;
	start(&x, 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_log(&x, "1 notices without a seal");
	assert_int_equal(agent_now(x.agent[0])->txn, 0);
	unlink(path);
	assert_int_equal(site_key_new(path, &x.err), 0);
	assert_int_equal(site_keys_load(&theirs, path, &x.err), 0);
	unlink(path);
	notice_port_keys(x.coord, theirs);
	say(&x, PHASE_UNPATH, 7, 0);
	some_turns(&x);
	assert_int_equal(notice_stats(x.np[0])->forged, 1);
	assert_int_equal(agent_now(x.agent[0])->txn, 0);
	assert_int_equal(x.ack[0].flags, NOTICE_ASK); /* only that of its start */
	assert_int_equal(ibroute_agent_connect(&asks, x.sock[0]), 0);
	assert_int_equal(ibroute_agent_say(&asks, "STATUS\n"), 0);
	some_turns(&x);
	n = read(asks.fd, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = 0;
	assert_non_null(strstr(text, "\nunsealed 1\nforged 1\n"));
	assert_non_null(strstr(text, "\nkey "));
	ibroute_agent_drop(&asks);
	notice_port_keys(x.coord, ours);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	world_down(&x);
	site_keys_free(ours);
	site_keys_free(theirs);
}

static void clients_of_several_jobs_are_led_there_and_back(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	join(&x, 0, "41", 0);
	join(&x, 0, "41", 1);
	join(&x, 0, "42", 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(x.rank[i].offset == 1 && !x.rank[i].drained);
	say(&x, PHASE_REPATH, 7, 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(x.rank[i].offset == 0 && !x.rank[i].drained && !x.rank[i].same);
	world_down(&x);
}

/* Until both have answered the question, however often it is asked again. */
static void ask_until_answered(struct world *x, uint8_t phase, uint64_t txn)
{
	uint64_t end = clock_ms() + WAIT_MS, next = 0;

	for (;;) {
		bool all = true;

		for (uint32_t i = 0; i < AGENTS; i++)
			all &= x->ack[i].txn == txn && x->ack[i].phase == phase && !x->ack[i].flags;
		if (all)
			return;
		assert_true(clock_ms() < end);
		if (clock_ms() >= next) {
			say(x, phase, txn, 0);
			next = clock_ms() + RESEND_MS;
		}
		turn(x);
	}
}

static void an_answer_is_true_whatever_is_lost_doubled_or_overtaken(void **state)
{
	struct sim_opts o;
	struct world x;

	(void)state;
	sim_opts_init(&o);
	o.loss = 0.2;
	o.duplicate = 0.3;
	o.reorder = 0.3;
	o.delay_us = 300;
	o.seed = 5;
	world_up(&x, &o, 1);
	for (uint32_t i = 0; i < AGENTS; i++) {
		start(&x, i);
		await_ready(&x, i);
	}
	join(&x, 0, "41", 0);
	join(&x, 1, "41", 1);
	some_turns(&x);
	for (uint64_t txn = 1; txn <= 8; txn++) {
		ask_until_answered(&x, PHASE_UNPATH, txn);
		assert_true(x.rank[0].offset == 1 && x.rank[1].offset == 1);
		ask_until_answered(&x, PHASE_REPATH, txn);
		assert_true(x.rank[0].offset == 0 && x.rank[1].offset == 0);
	}
	world_down(&x);
}

static void who_fails_is_named_and_all_go_back(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	join(&x, 0, "41", 0);
	join(&x, 0, "41", 1);
	x.rank[1].refuses = true;
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_BASE);
	assert_true(x.rank[0].offset == 0 && !x.rank[0].drained);
	await_log(&x, "rank 1 of job 41");
	await_log(&x, "the peer is dead");
	x.rank[1].refuses = false;
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	world_down(&x);
}

static void a_job_that_nobody_can_drain_is_no_success(void **state)
{
	const char *const jobs[] = { "41" };
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].jobs = jobs;
	x.o[0].njobs = 1;
	start(&x, 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	await_log(&x, "job 41 has neither a command nor a client");
	join(&x, 0, "41", 0);
	some_turns(&x);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	world_down(&x);
}

static void without_escape_lids_nobody_can_go_there(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, NULL, 0);
	start(&x, 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0); /* nobody there: nothing to do */
	say(&x, PHASE_REPATH, 7, 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	join(&x, 0, "41", 0);
	some_turns(&x);
	say(&x, PHASE_UNPATH, 8, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	await_log(&x, "LMC of 0");
	world_down(&x);
}

static void who_hangs_up_is_waited_for_only_while_it_lives(void **state)
{
	struct world x;
	pid_t other;
	int fds[2];
	char c;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].limit_ms = 300;
	start(&x, 0);
	await_ready(&x, 0);
	/* a process that says hello and hangs up, but lives on */
	assert_int_equal(pipe(fds), 0);
	other = fork();
	if (!other) {
		struct ibroute_agent a;

		if (ibroute_agent_open(&a, x.sock[0], "41", 5, "base"))
			_exit(1);
		usleep(50000);
		ibroute_agent_drop(&a);
		if (write(fds[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	await_log(&x, "rank 5 of job 41 (pid");
	assert_int_equal(read(fds[0], &c, 1), 1);
	await_log(&x, "has hung up without BYE");
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	await_log(&x, "have hung up without BYE and are still running after 1 s");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	say(&x, PHASE_REPATH, 7, NOTICE_ABORT);
	await_answer(&x, 0, PHASE_REPATH, 0);
	say(&x, PHASE_UNPATH, 8, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	close(fds[0]);
	close(fds[1]);
	world_down(&x);
}

static void rubbish_on_the_socket_keeps_no_client_from_being_led(void **state)
{
	struct ibroute_agent bad[40];
	char line[300];
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	join(&x, 0, "41", 0);
	await_ready(&x, 0);
	memset(line, 'x', sizeof(line));
	line[299] = 0;
	for (int i = 0; i < 40; i++) {
		assert_int_equal(ibroute_agent_connect(&bad[i], x.sock[0]), 0);
		if (i % 4 == 0)
			ibroute_agent_say(&bad[i], line);
		else if (i % 4 == 1)
			ibroute_agent_say(&bad[i], "DONE 1\nDONE 2\n");
		else if (i % 4 == 2)
			ibroute_agent_say(&bad[i], "HELLO 1 41 0 ba");
	}
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	assert_int_equal(x.rank[0].offset, 1);
	for (int i = 0; i < 40; i++)
		ibroute_agent_drop(&bad[i]);
	world_down(&x);
}

static void killed_on_the_escape_lids_it_asks_and_its_clients_come_back(void **state)
{
	struct rank *r;
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	join(&x, 0, "41", 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	cut_off(&x, 0);
	start(&x, 0);
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_ESCAPE);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_ASK);
	/* on the way back it waits for the client that it knew */
	say(&x, PHASE_REPATH, 7, 0);
	await_mode(&x, 0, AGENT_RETURNING);
	some_turns(&x);
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_RETURNING);
	r = &x.rank[0];
	ibroute_agent_drop(&r->a);
	assert_int_equal(ibroute_agent_open(&r->a, x.sock[0], "41", 0, "escape"), 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	assert_int_equal(r->offset, 0);
	world_down(&x);
}

/* Its clients are told before their first packet where to begin. */
static void one_that_begins_under_an_update_is_led_away_first(void **state)
{
	struct phase_notice n = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_UNPATH,
				  .txn = 7 };
	const char *const job = "41"; /* without a client so far */
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].held = true;
	x.o[0].jobs = &job;
	x.o[0].njobs = 1;
	x.o[0].greet_ms = 3 * WAIT_MS;
	start(&x, 0);
	await_ack(&x, 0);
	assert_int_equal(x.ack[0].txn, 0);
	assert_int_equal(x.ack[0].flags, NOTICE_ASK);
	assert_false(agent_ready(x.agent[0]));
	n.seq = x.seq = 12;
	assert_int_equal(notice_send_phase(x.coord, &n, false, &x.err), 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	await_ready(&x, 0);
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_ESCAPE);
	assert_true(ibroute_agent_open(&x.rank[0].a, x.sock[0], "41", 0, "base") == 0);
	x.nranks = 1;
	for (uint64_t end = clock_ms() + WAIT_MS; clock_ms() < end && !x.rank[0].offset;)
		turn(&x);
	assert_true(x.rank[0].offset);
	say(&x, PHASE_REPATH, 7, 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	assert_int_equal(x.rank[0].offset, 0);
	world_down(&x);
}

/* Who cannot be led away is not ready before all are called back. */
static void one_that_cannot_be_led_away_begins_when_the_update_is_over(void **state)
{
	const char *const job = "41"; /* which cannot be suspended yet */
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].held = true;
	x.o[0].drain = "exit 1";
	x.o[0].back = "true";
	x.o[0].greet_ms = 3 * WAIT_MS;
	x.o[0].limit_ms = 10 * WAIT_MS;
	x.o[0].jobs = &job;
	x.o[0].njobs = 1;
	start(&x, 0);
	await_ack(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	some_turns(&x);
	assert_false(agent_ready(x.agent[0]));
	say(&x, PHASE_REPATH, 7, 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	assert_true(agent_ready(x.agent[0]));
	world_down(&x);
}

static void another_sm_or_one_that_comes_back_gets_a_subscription(void **state)
{
	struct sim_sm_counts c;
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	await_ready(&x, 0);
	sim_move_sm(x.sim, 5);
	await_log(&x, "subscribes again");
	await_ready(&x, 0);
	sim_sm_counts(x.sim, &c);
	assert_int_equal(c.subscriptions, 2);
	logged[0] = 0;
	sim_stop_sm(x.sim, true);
	await_log(&x, "does not identify itself");
	sim_stop_sm(x.sim, false);
	await_log(&x, "the subnet manager is back: subscribes again");
	await_ready(&x, 0);
	sim_sm_counts(x.sim, &c);
	assert_int_equal(c.subscriptions, 2);
	agent_end(x.agent[0]);
	assert_true(agent_over(x.agent[0]));
	sim_sm_counts(x.sim, &c);
	assert_int_equal(c.subscriptions, 0);
	world_down(&x);
}

/* Quicker than anybody can see, and with an activity count that goes on. */
static void a_quick_restart_of_the_sm_is_noticed_and_asked_about(void **state)
{
	struct sim_sm_counts c;
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].ask_ms = x.o[1].ask_ms = 600000;
	start(&x, 0);
	start(&x, 1);
	await_ready(&x, 0);
	await_ready(&x, 1);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	await_answer(&x, 1, PHASE_UNPATH, 0);
	logged[0] = 0;
	sim_stop_sm(x.sim, true);
	sim_stop_sm(x.sim, false);
	assert_int_equal(notice_subscribe(x.coord, NOTICE_LOCAL_CHANGES, &x.err), 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_ASK);
	await_answer(&x, 1, PHASE_UNPATH, NOTICE_ASK);
	assert_non_null(strstr(logged, "the subnet manager has been restarted: subscribes again"));
	sim_sm_counts(x.sim, &c);
	assert_int_equal(c.subscriptions, 5);
	say(&x, PHASE_REPATH, 7, 0);
	await_answer(&x, 0, PHASE_REPATH, 0);
	await_answer(&x, 1, PHASE_REPATH, 0);
	/* on the base LIDs, too: is an update in progress? */
	logged[0] = 0;
	sim_stop_sm(x.sim, true);
	sim_stop_sm(x.sim, false);
	await_log(&x, "asks whether an update is in progress");
	world_down(&x);
}

static void silence_ends_the_escape_after_the_hold_and_not_before(void **state)
{
	uint64_t t0;
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].hold_ms = 400;
	start(&x, 0);
	join(&x, 0, "41", 0);
	await_ready(&x, 0);
	t0 = clock_ms(); /* before the hold begins, however late this thread gets its turn */
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	assert_true(clock_ms() - t0 >= 390);
	assert_int_equal(x.rank[0].offset, 0);
	world_down(&x);
}

static void nothing_is_drained_that_could_not_be_remembered(void **state)
{
	struct world x;
	char next[100];

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	join(&x, 0, "41", 0);
	await_ready(&x, 0);
	some_turns(&x);
	/* what the next state would be written to is a directory */
	snprintf(next, sizeof(next), "%s.new-%ld", x.state[0], (long)getpid());
	assert_int_equal(mkdir(next, 0700), 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, NOTICE_FAILED);
	assert_false(x.rank[0].drained);
	rmdir(next);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	world_down(&x);
}

static void a_second_agent_and_a_damaged_state_are_refused(void **state)
{
	struct agent *second;
	struct world x;
	FILE *f;

	(void)state;
	world_up(&x, NULL, 1);
	start(&x, 0);
	assert_int_equal(agent_open(&second, x.np[1], &x.o[0], &x.err), -EBUSY);
	assert_non_null(strstr(x.err.text, "another agent (pid "));
	x.o[1].socket = x.sock[0];
	assert_int_equal(agent_open(&second, x.np[1], &x.o[1], &x.err), -EBUSY);
	cut_off(&x, 0);
	f = fopen(x.state[0], "a");
	fprintf(f, "more\n");
	fclose(f);
	assert_int_equal(agent_open(&x.agent[0], x.np[0], &x.o[0], &x.err), -EINVAL);
	assert_non_null(strstr(x.err.text, "is not one of an agent's state"));
	x.agent[0] = NULL;
	world_down(&x);
}

static void the_escape_of_another_job_is_not_taken_over(void **state)
{
	const char *const old[] = { "41" }, *const new[] = { "42" };
	struct world x;

	(void)state;
	world_up(&x, NULL, 1);
	x.o[0].jobs = old;
	x.o[0].njobs = 1;
	x.o[0].drain = x.o[0].migrate = "true";
	start(&x, 0);
	await_ready(&x, 0);
	say(&x, PHASE_UNPATH, 7, 0);
	await_answer(&x, 0, PHASE_UNPATH, 0);
	cut_off(&x, 0);
	x.o[0].jobs = new;
	start(&x, 0);
	assert_int_equal(agent_now(x.agent[0])->mode, AGENT_BASE);
	assert_int_equal(agent_now(x.agent[0])->txn, 7);
	world_down(&x);
}

static int set_up(void **state)
{
	(void)state;
	log_set_sink(keep_log, NULL);
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_of_every_job_run_in_order_and_the_answer_follows_them),
		cmocka_unit_test(a_later_transaction_is_told_and_can_be_forgotten),
		cmocka_unit_test(with_a_key_nobody_else_is_obeyed),
		cmocka_unit_test(clients_of_several_jobs_are_led_there_and_back),
		cmocka_unit_test(an_answer_is_true_whatever_is_lost_doubled_or_overtaken),
		cmocka_unit_test(who_fails_is_named_and_all_go_back),
		cmocka_unit_test(a_job_that_nobody_can_drain_is_no_success),
		cmocka_unit_test(without_escape_lids_nobody_can_go_there),
		cmocka_unit_test(who_hangs_up_is_waited_for_only_while_it_lives),
		cmocka_unit_test(rubbish_on_the_socket_keeps_no_client_from_being_led),
		cmocka_unit_test(killed_on_the_escape_lids_it_asks_and_its_clients_come_back),
		cmocka_unit_test(one_that_begins_under_an_update_is_led_away_first),
		cmocka_unit_test(one_that_cannot_be_led_away_begins_when_the_update_is_over),
		cmocka_unit_test(another_sm_or_one_that_comes_back_gets_a_subscription),
		cmocka_unit_test(a_quick_restart_of_the_sm_is_noticed_and_asked_about),
		cmocka_unit_test(silence_ends_the_escape_after_the_hold_and_not_before),
		cmocka_unit_test(nothing_is_drained_that_could_not_be_remembered),
		cmocka_unit_test(a_second_agent_and_a_damaged_state_are_refused),
		cmocka_unit_test(the_escape_of_another_job_is_not_taken_over),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
