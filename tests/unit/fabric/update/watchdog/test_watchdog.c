/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/watchdog.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/watchdog/control_socket.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct net_sim *s;
	struct sim *sim;
	struct wire *wire; /* NULL: nothing is watched */
	struct installer in;
	char *base;
	unsigned confirm_s;
	unsigned watch;	    /* bits of enum watch_what */
	atomic_bool theirs; /* another writer is at it */

	pthread_t thread;
	struct control_link l;
	int server; /* the other end of l */
	int code;
	enum outcome outcome;
	struct err err;
	unsigned notes;
	bool slow_record;
	sem_t recording, recorded;
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, true);
	w->to = net_tables(w->f, 1, true);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 1000, NULL), 0);
	w->s = net_sim_new(w->f, w->from);
	w->in = net_installer(w->s);
	w->base = net_tmpdir();
	w->confirm_s = 30;
	w->watch = 1u << WATCH_SM;
	log_set_sink(quiet, NULL);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	control_close(&w->l);
	net_rmdir(w->base);
	net_sim_free(w->s);
	wire_close(w->wire);
	sim_free(w->sim);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	free(w);
	return 0;
}

static void note(void *ctx, const char *type, json_t *data)
{
	struct world *w = ctx;

	assert_non_null(data);
	w->notes += !strcmp(type, "request");
	if (w->slow_record) {
		sem_post(&w->recording);
		sem_wait(&w->recorded);
	}
	json_decref(data);
}

static void *serve(void *arg)
{
	struct world *w = arg;
	struct watchdog_opts o = { .base = w->base,
				   .confirm_s = w->confirm_s,
				   .client = w->server };
	struct watchdog_job job = {
		.plan = w->p,
		.fabric = w->f,
		.wire = w->wire,
		.in = &w->in,
		.apply = { .user = "ana",
			   .accept_sl_change = true,
			   .overwrite_foreign = true,
			   .ctx = w },
		.watch = { .mask = w->watch, .interval_ms = { 20, 20, 20, 20 }, .blocks_ms = 20 },
		.file = "the plan",
		.file_len = 8,
		.note = note,
	};
	struct watchdog *d;

	assert_int_equal(watchdog_new(&d, &o, &w->err), 0);
	watchdog_step(d, "begin");
	w->code = watchdog_run(d, &job, &w->outcome, &w->err);
	watchdog_end(d, w->code, w->outcome, "ana", w->err.text);
	return NULL;
}

static void start(struct world *w)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	control_link_init(&w->l, pair[0]);
	w->server = pair[1];
	assert_int_equal(pthread_create(&w->thread, NULL, serve, w), 0);
}

static const char *str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* The next line of which key has that value; the caller's. */
static json_t *until(struct world *w, const char *key, const char *value)
{
	for (;;) {
		json_t *j = NULL;

		if (control_next(&j, &w->l, 10000) != 1)
			fail_msg("no %s %s", key, value);
		if (!strcmp(str(j, key), value))
			return j;
		json_decref(j);
	}
}

static void skip_to(struct world *w, const char *key, const char *value)
{
	json_decref(until(w, key, value));
}

static void ends(struct world *w, int code, bool new)
{
	json_t *j = until(w, "event", "over");

	assert_int_equal(json_integer_value(json_object_get(j, "exit")), code);
	json_decref(j);
	pthread_join(w->thread, NULL);
	assert_int_equal(w->code, code);
	assert_true(net_holds(w->s, new ? w->p->to : w->from, true));
}

static struct txn_info only(const struct world *w)
{
	struct txn_info *list, one;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
	assert_int_equal(n, 1);
	one = list[0];
	free(list);
	return one;
}

static void what_is_confirmed_stays(void **state)
{
	struct world *w = *state;

	start(w);
	skip_to(w, "event", "waiting");
	assert_true(net_holds(w->s, w->p->to, true));
	control_ask(&w->l, CONTROL_CONFIRM, 0);
	ends(w, 0, true);
	assert_int_equal(w->outcome, OUTCOME_CONFIRMED);
	assert_int_equal(only(w).state, TXN_CONFIRMED);
	assert_int_equal(w->notes, 1);
}

static void rollback_is_done_at_any_time(void **state)
{
	struct world *w = *state;

	start(w);
	control_ask(&w->l, CONTROL_ROLLBACK, 0); /* before, while or after it writes */
	skip_to(w, "event", "over");
	pthread_join(w->thread, NULL);
	assert_true(w->code == 4 || w->code == 5);
	assert_true(net_holds(w->s, w->from, true));
	control_close(&w->l);
	start(w);
	skip_to(w, "event", "waiting");
	control_ask(&w->l, CONTROL_ROLLBACK, 0);
	ends(w, 5, false);
}

static void nobody_confirms_and_the_deadline_rolls_back(void **state)
{
	struct world *w = *state;

	w->confirm_s = 1;
	start(w);
	skip_to(w, "event", "waiting");
	ends(w, 7, false);
	assert_non_null(strstr(w->err.text, "nobody confirmed in time (1 s)"));
	assert_int_equal(only(w).state, TXN_ROLLED_BACK);
}

static void deadline_goes_on_without_the_client(void **state)
{
	struct world *w = *state;

	w->confirm_s = 1;
	start(w);
	skip_to(w, "event", "waiting");
	control_close(&w->l);
	pthread_join(w->thread, NULL);
	assert_int_equal(w->code, 7);
	assert_true(net_holds(w->s, w->from, true));
}

static void more_time_can_be_asked_for(void **state)
{
	struct world *w = *state;
	uint64_t start_ms;
	json_t *j;

	w->confirm_s = 1;
	start(w);
	skip_to(w, "event", "waiting");
	control_ask(&w->l, CONTROL_EXTEND, 600);
	j = until(w, "re", "extend");
	assert_true(json_is_true(json_object_get(j, "ok")));
	json_decref(j);
	control_ask(&w->l, CONTROL_STATUS, 0);
	j = until(w, "re", "status");
	assert_true(json_number_value(json_object_get(j, "deadline_s")) > 500);
	assert_true(json_is_true(json_object_get(json_object_get(j, "status"), "waiting")));
	json_decref(j);
	control_ask(&w->l, CONTROL_EXTEND, 2);
	start_ms = clock_ms();
	ends(w, 7, false);
	assert_true(clock_ms() - start_ms > 1500);
}

static void others_find_the_socket_beside_the_journal(void **state)
{
	struct world *w = *state;
	struct control_link other;
	char *dir, *data;
	size_t len;
	json_t *j = NULL;

	start(w);
	skip_to(w, "event", "waiting");
	dir = xasprintf("%s/%s", w->base, only(w).head.id);
	assert_int_equal(control_connect(&other, dir, NULL), 0);
	control_ask(&other, CONTROL_CONFIRM, 0);
	assert_int_equal(control_next(&j, &other, 5000), 1);
	assert_true(json_is_true(json_object_get(j, "ok")));
	json_decref(j);
	control_close(&other);
	ends(w, 0, true);
	assert_int_not_equal(control_connect(&other, dir, NULL), 0);
	free(dir);
	dir = xasprintf("%s/%s/%s", w->base, only(w).head.id, JOURNAL_PLAN);
	assert_int_equal(store_read(&data, &len, dir, NULL), 0);
	assert_string_equal(data, "the plan");
	free(data);
	free(dir);
}

static void refusal_says_why_and_leaves_nothing(void **state)
{
	struct world *w = *state;

	net_sim_free(w->s);
	w->s = net_sim_new(w->f, w->to); /* not what the plan found */
	w->in = net_installer(w->s);
	start(w);
	skip_to(w, "event", "over");
	pthread_join(w->thread, NULL);
	assert_int_equal(w->code, 4);
	assert_non_null(strstr(w->err.text, "differ from what the plan was made for"));
}

static void signals_decide(void **state)
{
	struct world *w = *state;

	start(w);
	skip_to(w, "event", "waiting");
	raise(SIGHUP);
	raise(SIGUSR1);
	ends(w, 0, true);
	assert_int_equal(w->notes, 1); /* as if it had been asked for */
	control_close(&w->l);
	net_sim_free(w->s);
	w->s = net_sim_new(w->f, w->from);
	w->in = net_installer(w->s);
	start(w);
	skip_to(w, "event", "waiting");
	raise(SIGTERM);
	ends(w, 5, false);
}

static void a_slow_record_delays_no_answer(void **state)
{
	struct world *w = *state;

	sem_init(&w->recording, 0, 0);
	sem_init(&w->recorded, 0, 0);
	w->slow_record = true;
	start(w);
	skip_to(w, "event", "waiting");
	raise(SIGUSR1);
	sem_wait(&w->recording);
	control_ask(&w->l, CONTROL_STATUS, 0);
	skip_to(w, "re", "status");
	w->slow_record = false;
	sem_post(&w->recorded);
	ends(w, 0, true);
	sem_destroy(&w->recorded);
	sem_destroy(&w->recording);
}

static void open_sim(struct world *w)
{
	struct wire_opts wo = { .timeout_ms = 20, .retries = 1 };
	struct sim_opts so;

	sim_opts_init(&so);
	assert_int_equal(sim_new(&w->sim, w->f, &so, NULL), 0);
	assert_int_equal(sim_install_tables(w->sim, w->from, NULL), 0);
	assert_int_equal(wire_open_sim(&w->wire, w->sim, &wo, NULL), 0);
}

static void other_sm_rolls_back_by_itself(void **state)
{
	struct world *w = *state;

	open_sim(w);
	start(w);
	skip_to(w, "event", "waiting");
	sim_move_sm(w->sim, 5);
	ends(w, 5, false);
	assert_non_null(strstr(w->err.text, "sm: another subnet manager"));
}

/* Before each operation of ours, as somebody else's may come at any time. */
static void another_writer(void *ctx, struct net_sim *s, bool write)
{
	const struct change *c;
	struct world *w = ctx;

	if (write || !atomic_exchange(&w->theirs, false))
		return;
	c = &w->p->changes->v[0];
	s->lft[(size_t)c->sw * s->stride + c->block * 64u + 9] = 77;
}

/* It is not the new routes' fault, nor the operator's wish. */
static void another_writer_while_it_waits_rolls_back_by_itself(void **state)
{
	struct world *w = *state;

	open_sim(w);
	w->watch = 1u << WATCH_REACH;
	w->s->hook = another_writer;
	w->s->hook_ctx = w;
	start(w);
	skip_to(w, "event", "waiting");
	atomic_store(&w->theirs, true);
	ends(w, 10, false);
	assert_non_null(strstr(w->err.text, "of another writer"));
	assert_int_equal(w->outcome, OUTCOME_ROLLED_BACK);
	assert_int_equal(only(w).why, WHY_FOREIGN);
}

static bool first_sl2vl_again(const struct world *w)
{
	const struct change *c = &w->p->changes->v[0];
	size_t at = ((size_t)c->sw * 32 + c->in) * 32 + c->out;

	return !memcmp(w->s->sl2vl[at], change_old(w->p->changes, c), CHANGE_SL2VL_BYTES);
}

static void another_writer_of_sl2vl(void *ctx, struct net_sim *s, bool write)
{
	struct world *w = ctx;
	const struct change *c = &w->p->changes->v[0];
	size_t at = ((size_t)c->sw * 32 + c->in) * 32 + c->out;

	if (!write && atomic_exchange(&w->theirs, false))
		memcpy(s->sl2vl[at], change_old(w->p->changes, c), CHANGE_SL2VL_BYTES);
}

static void sl2vl_tables_that_others_write_are_seen_as_well(void **state)
{
	struct world *w = *state;

	open_sim(w);
	assert_int_equal(w->p->changes->v[0].kind, CHANGE_SL2VL);
	w->watch = 1u << WATCH_REACH;
	w->s->hook = another_writer_of_sl2vl;
	w->s->hook_ctx = w;
	start(w);
	skip_to(w, "event", "waiting");
	assert_false(first_sl2vl_again(w));
	atomic_store(&w->theirs, true);
	ends(w, 5, false);
	assert_non_null(strstr(w->err.text, "SL2VL tables no longer hold what was written"));
	assert_true(first_sl2vl_again(w));
}

static void what_others_have_written_is_seen_when_it_is_confirmed(void **state)
{
	struct world *w = *state;

	w->s->hook = another_writer;
	w->s->hook_ctx = w;
	start(w);
	skip_to(w, "event", "waiting");
	atomic_store(&w->theirs, true);
	control_ask(&w->l, CONTROL_CONFIRM, 0);
	ends(w, 10, false);
	assert_non_null(strstr(w->err.text, "not confirmed"));
	assert_int_equal(only(w).why, WHY_FOREIGN);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_is_confirmed_stays),
		T(rollback_is_done_at_any_time),
		T(nobody_confirms_and_the_deadline_rolls_back),
		T(deadline_goes_on_without_the_client),
		T(more_time_can_be_asked_for),
		T(others_find_the_socket_beside_the_journal),
		T(refusal_says_why_and_leaves_nothing),
		T(signals_decide),
		T(a_slow_record_delays_no_answer),
		T(other_sm_rolls_back_by_itself),
		T(another_writer_while_it_waits_rolls_back_by_itself),
		T(sl2vl_tables_that_others_write_are_seen_as_well),
		T(what_others_have_written_is_seen_when_it_is_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
