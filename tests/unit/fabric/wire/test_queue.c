/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue against a scripted port with a clock of its own. */
#include "fabric/wire/queue.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define MS	  1000000ull
#define LIDS	  64
#define REQUESTS  4000
#define SLOT_MASK 1023u
#define WAY_AT	  129 /* the first port of a directed route */

/* How the node with a LID behaves. */
struct node_script {
	bool dead;
	uint32_t drop_first; /* loses the first requests of each kind */
	uint64_t delay_ns;
	uint16_t status;
};

struct coming {
	uint64_t due_ns;
	struct mad_packet p;
};

struct fake {
	uint64_t now_ns;
	struct node_script lid[LIDS];
	uint32_t seen[LIDS]; /* packets */
	VEC(struct coming) coming;
	double loss, duplicate;
	bool shuffle; /* delays at random: reordered */
	bool driver_gives_back;
	bool forged; /* before each answer one from another LID, or of another way, with the same id
		      */
	bool anywhere; /* directed routes: all lead to LID 1 */
	uint32_t first_tid, next_of_slot[SLOT_MASK + 1], foretold;
	uint32_t send_fails_after, again_every;
	uint32_t sends, max_slot;
	struct rng rng;
	atomic_bool *cancel_at_send_500;
};

static void come(struct fake *f, const struct mad_packet *p, uint64_t after_ns)
{
	struct coming c = { f->now_ns + after_ns, *p };

	vec_push(&f->coming, c);
}

static void come_forged(struct fake *f, const struct mad_packet *p)
{
	static const uint8_t lies[SMP_DATA] = { 0xff };
	struct mad_packet a = *p;

	mad_reply(&a, 0, lies, sizeof(lies));
	if (p->addr.lid == MAD_PERMISSIVE_LID)
		a.data[WAY_AT] ^= 1;
	else
		a.addr.lid++;
	come(f, &a, 0);
}

static int fake_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct fake *f = ctx;
	uint16_t lid = f->anywhere ? 1 : p->addr.lid;
	struct node_script *n = &f->lid[lid];
	static const uint8_t data[SMP_DATA];
	struct mad_packet a = *p;
	uint64_t delay = n->delay_ns;

	f->sends++;
	if (f->send_fails_after && f->sends > f->send_fails_after)
		return err_set(err, -ENODEV, "unplugged");
	if (f->again_every && f->sends % f->again_every == 0)
		return -EAGAIN;
	if (f->cancel_at_send_500 && f->sends == 500)
		*f->cancel_at_send_500 = true;
	if ((mad_tid(p) & SLOT_MASK) > f->max_slot)
		f->max_slot = mad_tid(p) & SLOT_MASK;
	if (!f->first_tid)
		f->first_tid = mad_tid(p);
	f->foretold += mad_tid(p) == f->next_of_slot[mad_tid(p) & SLOT_MASK];
	f->next_of_slot[mad_tid(p) & SLOT_MASK] = mad_tid(p) + SLOT_MASK + 1;
	if (f->forged)
		come_forged(f, p);
	f->seen[lid]++;
	if (n->dead || f->seen[lid] <= n->drop_first ||
	    (f->loss > 0 && rng_unit(&f->rng) < f->loss)) {
		a.status = -ETIMEDOUT;
		if (f->driver_gives_back)
			come(f, &a, p->timeout_ms * MS / 2);
		return 0;
	}
	mad_reply(&a, n->status, data, sizeof(data));
	if (f->shuffle)
		delay += rng_below(&f->rng, 20 * MS);
	come(f, &a, delay);
	if (f->duplicate > 0 && rng_unit(&f->rng) < f->duplicate)
		come(f, &a, delay + 5 * MS);
	return 0;
}

static int fake_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct fake *f = ctx;
	size_t first = 0;

	(void)err;
	for (size_t i = 1; i < f->coming.n; i++)
		if (f->coming.v[i].due_ns < f->coming.v[first].due_ns)
			first = i;
	if (!f->coming.n || f->coming.v[first].due_ns > f->now_ns + wait_ns) {
		f->now_ns += wait_ns;
		return 0;
	}
	if (f->coming.v[first].due_ns > f->now_ns)
		f->now_ns = f->coming.v[first].due_ns;
	*p = f->coming.v[first].p;
	memmove(&f->coming.v[first], &f->coming.v[first + 1],
		(f->coming.n - first - 1) * sizeof(*f->coming.v));
	f->coming.n--;
	return 1;
}

static uint64_t fake_now(void *ctx)
{
	return ((struct fake *)ctx)->now_ns;
}

static const struct mad_ops fake_ops = { .send = fake_send, .recv = fake_recv, .now_ns = fake_now };

/* A source of n requests to nodes 1 .. nodes, and what became of each. */
struct source {
	uint32_t n, at, nodes;
	uint8_t tries;
	uint32_t timeout_ms;
	int rc[REQUESTS];
	uint8_t done[REQUESTS];
	uint64_t done_ns[REQUESTS];
	struct fake *fake;
};

static bool source_next(void *ctx, struct queue_request *out)
{
	struct source *s = ctx;

	if (s->at == s->n)
		return false;
	out->tag = s->at++;
	out->node = (uint32_t)(out->tag % s->nodes);
	out->tries = s->tries;
	out->timeout_ms = s->timeout_ms;
	out->mad = (struct mad_request){ .mgmt_class = MAD_SMP,
					 .method = MAD_GET,
					 .attr = SMP_LFT,
					 .mod = (uint32_t)out->tag,
					 .lid = (uint16_t)(1 + out->node) };
	return true;
}

static void source_done(void *ctx, const struct queue_request *req, int rc,
			const struct mad_answer *a)
{
	struct source *s = ctx;

	if (!rc) {
		assert_int_equal(a->mod, req->tag);
		assert_int_equal(a->data[0], 0);
	}
	s->done[req->tag]++;
	s->rc[req->tag] = rc;
	s->done_ns[req->tag] = s->fake->now_ns;
}

struct bench {
	struct fake fake;
	struct source source;
	struct queue_source src;
	struct queue *q;
};

static void setup(struct bench *b, uint32_t n, uint32_t nodes, const struct queue_opts *opts)
{
	struct mad_port port = { &fake_ops, &b->fake };

	memset(b, 0, sizeof(*b));
	b->fake.now_ns = 1000 * MS;
	rng_seed(&b->fake.rng, 7);
	for (int i = 0; i < LIDS; i++)
		b->fake.lid[i].delay_ns = MS;
	b->source.n = n;
	b->source.nodes = nodes;
	b->source.fake = &b->fake;
	b->src = (struct queue_source){ source_next, source_done, &b->source, NULL };
	b->q = queue_new(&port, opts);
}

static void teardown(struct bench *b)
{
	queue_free(b->q);
	vec_free(&b->fake.coming);
}

static uint32_t count(const struct bench *b, int rc)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->source.n; i++) {
		assert_int_equal(b->source.done[i], 1);
		n += b->source.rc[i] == rc;
	}
	return n;
}

static int run(struct bench *b)
{
	struct err e;

	return queue_run(b->q, &b->src, NULL, "test", &e);
}

static struct bench bench; /* too large for a stack */

static void every_request_is_answered_once_within_the_window(void **state)
{
	struct queue_opts o = { .window = 8 };

	(void)state;
	setup(&bench, REQUESTS, 40, &o);
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), REQUESTS);
	assert_int_equal(queue_stats(bench.q)->most_on_wire, 8);
	assert_true(bench.fake.max_slot < 8);
	assert_int_equal(bench.fake.sends, REQUESTS);
	/* 8 at a time, 1 ms each */
	assert_true(bench.fake.now_ns - 1000 * MS <= (REQUESTS / 8 + 2) * MS);
	teardown(&bench);
}

static void loss_duplicates_and_reordering_change_nothing(void **state)
{
	struct queue_opts o = { .window = 16, .timeout_ms = 30, .retries = 20 };

	(void)state;
	setup(&bench, REQUESTS, 50, &o);
	bench.fake.loss = 0.2;
	bench.fake.duplicate = 0.3;
	bench.fake.shuffle = true;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), REQUESTS);
	assert_true(queue_stats(bench.q)->most_on_wire <= 16);
	assert_true(queue_stats(bench.q)->retried > REQUESTS / 10);
	assert_true(queue_stats(bench.q)->late > REQUESTS / 10);
	teardown(&bench);
}

static void answers_to_an_earlier_try_count(void **state)
{
	struct queue_opts o = { .window = 4, .timeout_ms = 10, .retries = 3 };

	(void)state;
	setup(&bench, 1, 1, &o);
	bench.fake.lid[1].delay_ns = 25 * MS; /* after the second try */
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), 1);
	assert_int_equal(bench.fake.now_ns, 1025 * MS);
	assert_int_equal(bench.fake.sends, 2);
	teardown(&bench);
}

static void late_answers_of_another_request_are_dropped(void **state)
{
	struct queue_opts o = { .window = 1, .timeout_ms = 10, .retries = UINT32_MAX };

	(void)state;
	setup(&bench, 6, 6, &o);
	for (int i = 1; i <= 3; i++)
		bench.fake.lid[i].delay_ns = 12 * MS; /* comes while the next one is under way */
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, -ETIMEDOUT), 3);
	assert_int_equal(count(&bench, 0), 3);
	assert_int_equal(queue_stats(bench.q)->late, 3);
	teardown(&bench);
}

static void timeouts_double_with_each_try(void **state)
{
	struct queue_opts o = { .timeout_ms = 100, .retries = 3 };

	(void)state;
	setup(&bench, 1, 1, &o);
	bench.fake.lid[1].dead = true;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(bench.source.rc[0], -ETIMEDOUT);
	assert_int_equal(bench.fake.sends, 4);
	assert_int_equal(bench.fake.now_ns - 1000 * MS, (100 + 200 + 400 + 800) * MS);
	teardown(&bench);
}

static void a_dead_node_does_not_stall_the_others(void **state)
{
	struct queue_opts o = { .window = 8, .timeout_ms = 100, .retries = 2 };
	uint64_t last_alive = 0;

	(void)state;
	setup(&bench, REQUESTS, 10, &o); /* 400 requests to each */
	bench.fake.lid[3].dead = true;
	assert_int_equal(run(&bench), 0);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (i % 10 == 2)
			continue;
		assert_int_equal(bench.source.rc[i], 0);
		if (bench.source.done_ns[i] > last_alive)
			last_alive = bench.source.done_ns[i];
	}
	/* 3,600 ms of answers over 7 or 8 places, with half a window lost for the first timeout */
	assert_true(last_alive - 1000 * MS < 700 * MS);
	assert_int_equal(count(&bench, -ETIMEDOUT) + count(&bench, -EHOSTDOWN), 400);
	/* 4 under way before the first timeout, then one at a time, then none */
	assert_true(bench.fake.seen[3] <= 6);
	teardown(&bench);
}

static void many_dead_nodes_wait_beside_the_window(void **state)
{
	struct queue_opts o = { .window = 4, .timeout_ms = 100, .retries = 3 };

	(void)state;
	setup(&bench, 60, 60, &o);
	for (int i = 1; i <= 40; i++)
		bench.fake.lid[i].dead = true;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, -ETIMEDOUT), 40);
	assert_int_equal(count(&bench, 0), 20);
	/* one after the other in the window they would take 40 / 4 * 1.5 s */
	assert_true(bench.fake.now_ns - 1000 * MS < 4000 * MS);
	assert_true(queue_stats(bench.q)->most_on_wire <= 4);
	teardown(&bench);
}

static void a_request_may_ask_for_fewer_tries(void **state)
{
	(void)state;
	setup(&bench, 1, 1, NULL);
	bench.fake.lid[1].dead = true;
	bench.source.tries = 2;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(bench.source.rc[0], -ETIMEDOUT);
	assert_int_equal(bench.fake.sends, 2);
	teardown(&bench);
}

static void a_request_may_have_more_time_than_others(void **state)
{
	struct queue_opts o = { .timeout_ms = 100 };

	(void)state;
	setup(&bench, 1, 1, &o);
	bench.fake.lid[1].dead = true;
	bench.source.tries = 2;
	bench.source.timeout_ms = 2000;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(bench.source.rc[0], -ETIMEDOUT);
	assert_int_equal(bench.fake.now_ns - 1000 * MS, (2000 + 4000) * MS);
	teardown(&bench);
}

static void a_slow_starter_gets_everything_through(void **state)
{
	struct queue_opts o = { .window = 8, .timeout_ms = 50, .retries = 3 };

	(void)state;
	setup(&bench, 200, 2, &o);
	bench.fake.lid[1].drop_first = 5;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), 200);
	teardown(&bench);
}

static void silent_nodes_are_asked_less_and_less_often(void **state)
{
	struct queue_opts o = { .window = 8, .timeout_ms = 100, .retries = 2 };
	uint32_t packets[8];

	(void)state;
	setup(&bench, 1, 1, &o);
	bench.fake.lid[1].dead = true;
	for (int i = 0; i < 8; i++) {
		uint32_t before = bench.fake.sends;

		bench.source.at = 0;
		bench.source.done[0] = 0;
		assert_int_equal(run(&bench), 0);
		assert_int_equal(bench.source.done[0], 1);
		packets[i] = bench.fake.sends - before;
		bench.fake.now_ns += 150 * MS;
	}
	assert_int_equal(packets[0], 3); /* in earnest; then pauses of 100, 200, 400 ... ms */
	assert_int_equal(packets[1], 1);
	assert_int_equal(packets[2], 0);
	assert_int_equal(packets[3], 1);
	assert_int_equal(packets[4] + packets[5], 0);
	bench.fake.lid[1].dead = false;
	queue_forget(bench.q);
	bench.source.at = 0;
	bench.source.done[0] = 0;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(bench.source.rc[0], 0);
	teardown(&bench);
}

static void a_refusal_is_told_with_its_status(void **state)
{
	(void)state;
	setup(&bench, 10, 2, NULL);
	bench.fake.lid[2].status = MAD_STATUS_VALUE;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, -EPROTO), 5);
	assert_int_equal(count(&bench, 0), 5);
	teardown(&bench);
}

static void answers_from_elsewhere_do_not_count(void **state)
{
	(void)state;
	setup(&bench, REQUESTS, 40, NULL);
	bench.fake.forged = true;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), REQUESTS);
	assert_int_equal(queue_stats(bench.q)->foreign, REQUESTS);
	teardown(&bench);
}

/* Over a directed route: the LID is that of nobody. */
static void answers_of_another_way_do_not_count(void **state)
{
	struct mad_request r = { .mgmt_class = MAD_SMP_DIRECTED,
				 .method = MAD_GET,
				 .attr = SMP_NODE_INFO,
				 .route = { .hops = 2, .port = { 0, 1, 7 } } };
	struct queue_answer a;
	struct err e;

	(void)state;
	setup(&bench, 0, 1, NULL);
	bench.fake.forged = true;
	bench.fake.anywhere = true;
	assert_int_equal(queue_ask(&a, bench.q, &r, NULL, "test", &e), 0);
	assert_int_equal(a.data[0], 0);
	assert_int_equal(queue_stats(bench.q)->foreign, 1);
	teardown(&bench);
}

static void the_next_id_is_not_foretold_by_the_last(void **state)
{
	uint32_t first[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		setup(&bench, REQUESTS, 40, NULL);
		assert_int_equal(run(&bench), 0);
		assert_true(bench.fake.foretold <= 2); /* by chance */
		first[i] = bench.fake.first_tid;
		teardown(&bench);
	}
	assert_int_not_equal(first[0] >> 10, 1);
	assert_int_not_equal(first[0], first[1]);
}

static void busy_answers_are_tried_again(void **state)
{
	struct queue_opts o = { .timeout_ms = 10, .retries = 1 };

	(void)state;
	setup(&bench, 1, 1, &o);
	bench.fake.lid[1].status = MAD_STATUS_BUSY;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(bench.source.rc[0], -ETIMEDOUT);
	assert_int_equal(bench.fake.sends, 2);
	teardown(&bench);
}

static void requests_given_back_by_the_driver_are_tried_again(void **state)
{
	struct queue_opts o = { .window = 8, .timeout_ms = 100, .retries = 3 };

	(void)state;
	setup(&bench, 20, 20, &o);
	bench.fake.driver_gives_back = true;
	for (int i = 1; i <= 20; i++)
		bench.fake.lid[i].drop_first = 1;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), 20);
	assert_int_equal(bench.fake.sends, 40);
	teardown(&bench);
}

static void cancel_gives_everything_back(void **state)
{
	struct progress p = { 0 };
	struct err e;

	(void)state;
	setup(&bench, REQUESTS, 40, NULL);
	bench.fake.lid[5].dead = true;
	bench.fake.cancel_at_send_500 = &p.cancel;
	assert_int_equal(queue_run(bench.q, &bench.src, &p, "test", &e), -ECANCELED);
	for (uint32_t i = 0; i < REQUESTS; i++)
		assert_int_equal(bench.source.done[i], i < bench.source.at);
	assert_true(bench.source.at < REQUESTS);
	/* and the next run is not disturbed by what comes late */
	p.cancel = false;
	bench.fake.cancel_at_send_500 = NULL;
	assert_int_equal(queue_run(bench.q, &bench.src, &p, "test", &e), 0);
	for (uint32_t i = 0; i < REQUESTS; i++)
		assert_int_equal(bench.source.done[i], 1);
	teardown(&bench);
}

static void a_failing_port_ends_the_run_with_its_sentence(void **state)
{
	struct err e;

	(void)state;
	setup(&bench, REQUESTS, 40, NULL);
	bench.fake.send_fails_after = 100;
	assert_int_equal(queue_run(bench.q, &bench.src, NULL, "test", &e), -ENODEV);
	assert_string_equal(e.text, "unplugged");
	for (uint32_t i = 0; i < bench.source.at; i++)
		assert_int_equal(bench.source.done[i], 1);
	teardown(&bench);
}

static void a_full_port_is_tried_again(void **state)
{
	(void)state;
	setup(&bench, REQUESTS, 40, NULL);
	bench.fake.again_every = 7;
	bench.fake.loss = 0.05;
	assert_int_equal(run(&bench), 0);
	assert_int_equal(count(&bench, 0), REQUESTS);
	teardown(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_is_answered_once_within_the_window),
		cmocka_unit_test(loss_duplicates_and_reordering_change_nothing),
		cmocka_unit_test(answers_to_an_earlier_try_count),
		cmocka_unit_test(late_answers_of_another_request_are_dropped),
		cmocka_unit_test(timeouts_double_with_each_try),
		cmocka_unit_test(a_dead_node_does_not_stall_the_others),
		cmocka_unit_test(many_dead_nodes_wait_beside_the_window),
		cmocka_unit_test(a_request_may_ask_for_fewer_tries),
		cmocka_unit_test(a_request_may_have_more_time_than_others),
		cmocka_unit_test(a_slow_starter_gets_everything_through),
		cmocka_unit_test(silent_nodes_are_asked_less_and_less_often),
		cmocka_unit_test(a_refusal_is_told_with_its_status),
		cmocka_unit_test(answers_from_elsewhere_do_not_count),
		cmocka_unit_test(answers_of_another_way_do_not_count),
		cmocka_unit_test(the_next_id_is_not_foretold_by_the_last),
		cmocka_unit_test(busy_answers_are_tried_again),
		cmocka_unit_test(requests_given_back_by_the_driver_are_tried_again),
		cmocka_unit_test(cancel_gives_everything_back),
		cmocka_unit_test(a_failing_port_ends_the_run_with_its_sentence),
		cmocka_unit_test(a_full_port_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
