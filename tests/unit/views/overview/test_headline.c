/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first line of the overview names what is the matter, and why. */
#include "tests/unit/kit/console_kit.h"

#include "engines/predict/predict.h"
#include "engines/weak/failure_cost.h"
#include "views/data/summary/headline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void open_tree(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	k->s.sls_known = true;
}

static void nobody_waits(struct console_kit *k)
{
	for (uint32_t i = 0; i < k->fabric->nport; i++) {
		k->rates->port[i].wait_pct = fmin(k->rates->port[i].wait_pct, 3);
		k->rates->port[i].util_pct = fmin(k->rates->port[i].util_pct, 55);
	}
}

static void nobody_is_slow(struct console_kit *k)
{
	struct prediction *p = k->usage->together;

	p->slowdown_max = fmin(p->slowdown_max, 1.2);
	for (uint32_t j = 0; j < p->njob; j++)
		p->job[j].slowdown = fmin(p->job[j].slowdown, 1.2);
}

/* A tree whose jobs are not in each other's way, and nothing waits. */
static void open_well(struct console_kit *k)
{
	open_tree(k);
	nobody_is_slow(k);
	nobody_waits(k);
}

static struct headline headline_of(struct console_kit *k)
{
	struct headline h;

	console_keys(k, "1");
	headline_make(&h, &k->s, &shell_context(k->shell)->summary);
	return h;
}

static void is(struct console_kit *k, enum headline_kind kind, const char *golden)
{
	assert_int_equal(headline_of(k).kind, kind);
	console_golden(k, golden);
	console_close(k);
}

static void the_routing_hurts(void **state)
{
	struct console_kit k;
	struct headline h;
	char said[40];

	(void)state;
	open_tree(&k);
	nobody_waits(&k);
	h = headline_of(&k);
	snprintf(said, sizeof(said), "up to %.1fx", k.usage->together->slowdown_max);
	assert_non_null(strstr(h.text, said));
	snprintf(said, sizeof(said), ": %llu, ",
		 (unsigned long long)k.usage->jobs->jobs[k.usage->together->worst].id);
	assert_non_null(strstr(h.text, said));
	assert_non_null(strstr(h.text, "6 computes better"));
	/* at 80 columns words go, names and numbers stay */
	assert_non_null(strstr(h.least, said));
	assert_non_null(strstr(h.least, "->"));
	assert_non_null(strstr(h.least, "6 computes better"));
	assert_true(strlen(h.least) < strlen(h.brief));
	is(&k, HEAD_ROUTING, "verdict-routing");
}

/* Among the jobs with paths over a link, which are several, and not the one with most of them. */
static uint32_t loses_most(struct link_usage *u, uint32_t chan)
{
	const struct job_routes *r = u->routes;
	uint64_t first = r->chan_off[chan], last = r->chan_off[chan + 1] - 1;

	assert_true(last > first);
	for (uint64_t i = first; i < last; i++)
		assert_true(u->together->job[r->job[i]].flows > 0);
	u->together->job[r->job[last]].slowdown = u->together->slowdown_max + 1;
	return r->job[last];
}

/* Links wait for a full one: that one is the cause, with the job on it that loses most. */
static void congestion_has_its_cause(void **state)
{
	struct console_kit k;
	struct headline h;
	char label[200], said[40];
	uint32_t victim, root, loser;

	(void)state;
	open_well(&k);
	victim = k.fabric->chan_off[0]; /* of the first switch */
	root = k.fabric->chan_off[k.fabric->chan_dst[victim]];
	if (k.fabric->chan_dst[root] == k.fabric->chan_src[victim])
		root++;
	k.rates->port[chan_fabric_port(k.fabric, victim)].wait_pct = 62;
	k.rates->port[chan_fabric_port(k.fabric, root)].util_pct = 99.6;
	loser = loses_most(k.usage, root);
	console_keys(&k, "1");
	h = headline_of(&k);
	assert_int_equal(h.kind, HEAD_CONGESTION);
	chan_label(label, sizeof(label), k.fabric, root);
	snprintf(said, sizeof(said),
		 ", cause job %llu:", (unsigned long long)k.usage->jobs->jobs[loser].id);
	assert_ptr_equal(strstr(h.text, label), h.text);
	assert_non_null(strstr(h.text, said));
	assert_non_null(strstr(h.text, ": 1 link waits up to 62%"));
	is(&k, HEAD_CONGESTION, "verdict-congestion");
}

static void lost_paths_are_told_with_their_cause(void **state)
{
	struct failure_cost cost = {
		.since = { .cables_away = 2, .gone = "leaf03/25-spine07/3, leaf05/20-spine02/5" },
		.lost = 68,
		.jobs = true,
		.touched = 3,
		.ids = { 1137, 1140, 1152 },
	};
	struct verdict cut;
	struct console_kit k;
	struct headline h;

	(void)state;
	open_well(&k);
	cut = *k.s.verdict;
	cut.connected = false;
	k.s.verdict = &cut;
	h = headline_of(&k);
	assert_int_equal(h.kind, HEAD_BROKEN);
	assert_string_equal(h.text,
			    "the routing is incomplete: hosts cannot reach each other; 6: repair");
	k.s.failure = &cost;
	h = headline_of(&k);
	assert_string_equal(h.text, "2 cables gone (leaf03/25-spine07/3, leaf05/20-spine02/5): 68 "
				    "paths lost, 3 jobs touched (1137, 1140, 1152); 6: repair");
	assert_string_equal(h.brief, "leaf03/25-spine07/3 and 1 more gone: 68 paths lost, 3 jobs "
				     "touched; 6: repair");
	assert_string_equal(h.least,
			    "leaf03/25-spine07/3 and 1 more gone: 68 paths lost; 6: repair");
	is(&k, HEAD_BROKEN, "verdict-failure");
}

static void what_is_gone_is_named_with_its_jobs(void **state)
{
	struct failure_cost cost = {
		.since = { .switches_away = 1, .away = 2, .gone = "leaf03, n0037, n0038" },
		.jobs = true,
		.touched = 1,
		.ids = { 1137 },
	};
	struct console_kit k;
	struct headline h;

	(void)state;
	open_well(&k);
	k.s.poll.missing_sw = 1;
	k.s.poll.missing_ca = 2;
	h = headline_of(&k);
	assert_string_equal(h.text, "1 switch and 2 hosts gone; 8: events");
	k.s.failure = &cost;
	h = headline_of(&k);
	assert_int_equal(h.kind, HEAD_DOWN);
	assert_string_equal(h.text, "1 switch and 2 hosts gone (leaf03, n0037, n0038), 1 job "
				    "touched (1137); 8: events");
	assert_string_equal(h.brief, "leaf03 and 2 more gone, 1 job touched (1137); 8: events");
	assert_string_equal(h.least, "leaf03 and 2 more gone; 8: events");
	cost.lost = 274;
	cost.repaired = true;
	h = headline_of(&k);
	assert_string_equal(h.text, "1 switch and 2 hosts gone (leaf03, n0037, n0038): 274 paths "
				    "lost, repaired, 1 job touched (1137); 8: events");
	assert_string_equal(h.brief, "leaf03 and 2 more gone: 274 paths lost, repaired, 1 job "
				     "touched; 8: events");
	assert_string_equal(h.least, "leaf03 and 2 more gone, repaired; 8: events");
	k.s.poll.missing_ca = 0;
	k.s.failure = NULL;
	h = headline_of(&k);
	assert_string_equal(h.text, "1 switch gone; 8: events");
	console_close(&k);
}

static void a_cable_is_down(void **state)
{
	struct failure_cost cost = { .since = { .cables_away = 1, .gone = "leaf03/25-spine07/3" },
				     .lost = 44,
				     .repaired = true,
				     .jobs = true,
				     .touched = 2,
				     .ids = { 81234, 81240 } };
	struct console_kit k;
	uint32_t port;
	char label[200];

	(void)state;
	open_well(&k);
	console_shows(&k, "no port problems");
	port = chan_fabric_port(k.fabric, 30);
	k.fabric->port[port].state = PORT_INIT;
	console_no_reply(&k, 17); /* and another kind, less bad */
	console_keys(&k, "1");
	k.s.now_s += 4 * 60;
	port_label(label, sizeof(label), k.fabric, k.fabric->chan_src[30], k.fabric->chan_port[30]);
	assert_non_null(strstr(headline_of(&k).text, label));
	assert_non_null(strstr(headline_of(&k).text, "for 4m"));
	assert_int_equal(headline_of(&k).more, 2); /* congestion, and that port */
	k.s.failure = &cost;
	assert_non_null(strstr(headline_of(&k).text,
			       ": 44 paths lost, repaired, 2 jobs touched (81234, 81240); Tab, "));
	assert_non_null(strstr(headline_of(&k).brief, ", repaired"));
	k.s.failure = NULL;
	is(&k, HEAD_DOWN, "verdict-down");
}

static void the_subnet_manager_is_gone(void **state)
{
	struct failure_cost cost = { .since = { .cables_away = 1, .gone = "leaf03/25-spine07/3" },
				     .lost = 528,
				     .jobs = true,
				     .touched = 2 };
	struct console_kit k;

	(void)state;
	open_tree(&k);
	k.s.sm.known = true;
	k.s.sm.lost = true;
	k.s.failure = &cost;
	assert_non_null(strstr(headline_of(&k).text,
			       " is gone, and 528 paths lost (leaf03/25-spine07/3), "
			       "2 jobs touched: 6: repair"));
	assert_string_equal(headline_of(&k).brief,
			    "subnet manager gone, 528 paths lost, 2 jobs touched; 6: repair");
	k.s.failure = NULL;
	is(&k, HEAD_SM, "verdict-sm");
}

static void slurm_is_gone(void **state)
{
	struct console_kit k;

	(void)state;
	open_well(&k);
	k.s.jobs_source.state = JOBS_UNREACHABLE;
	k.s.jobs_source.age_s = 250;
	snprintf(k.s.jobs_source.source, sizeof(k.s.jobs_source.source), "slurm");
	snprintf(k.s.jobs_source.sentence, sizeof(k.s.jobs_source.sentence),
		 "slurmctld on adm1 does not answer since 23:10");
	assert_non_null(strstr(headline_of(&k).text, "slurmctld on adm1"));
	is(&k, HEAD_JOBS, "verdict-slurm");
}

static void no_history_is_kept(void **state)
{
	struct console_kit k;

	(void)state;
	open_well(&k);
	k.s.collector.keeping = KEEPING_FAILS;
	snprintf(k.s.collector.why, sizeof(k.s.collector.why), "the disk is full");
	assert_int_equal(headline_of(&k).kind, HEAD_KEEPING);
	assert_string_equal(headline_of(&k).text, "no history is kept: the disk is full");
	console_close(&k);
}

static void nothing_is_wrong(void **state)
{
	struct console_kit k;
	const struct rates *rates;

	(void)state;
	open_well(&k);
	rates = k.s.rates;
	k.s.rates = NULL; /* who has not looked does not say so */
	assert_int_equal(headline_of(&k).kind, HEAD_UNKNOWN);
	k.s.rates = rates;
	is(&k, HEAD_WELL, "verdict-well");
}

/* Ports of a damaged dump lead to nodes that it does not have: nobody knows whether all is well. */
static void a_file_that_lacks_something_is_not_called_well(void **state)
{
	struct console_kit k;

	(void)state;
	open_well(&k);
	k.s.incomplete = true;
	assert_int_equal(headline_of(&k).kind, HEAD_UNKNOWN);
	assert_non_null(strstr(headline_of(&k).text, "the file is incomplete"));
	assert_string_equal(headline_of(&k).brief, "the file is incomplete; 8: events");
	console_close(&k);
}

/* What is worst comes first, on all screens without a number cut. */
static void the_worst_is_told_first(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	k.rates->port[chan_fabric_port(k.fabric, 9)].wait_pct = 80;
	assert_int_equal(headline_of(&k).kind, HEAD_ROUTING);
	assert_true(headline_of(&k).more >= 1);
	nobody_is_slow(&k);
	assert_int_equal(headline_of(&k).kind, HEAD_CONGESTION);
	k.s.mode = RUN_LOST;
	snprintf(k.s.lost_why, sizeof(k.s.lost_why), "mlx5_0/1 is down");
	assert_int_equal(headline_of(&k).kind, HEAD_LOST);
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_routing_hurts),
		cmocka_unit_test(congestion_has_its_cause),
		cmocka_unit_test(lost_paths_are_told_with_their_cause),
		cmocka_unit_test(what_is_gone_is_named_with_its_jobs),
		cmocka_unit_test(a_cable_is_down),
		cmocka_unit_test(the_subnet_manager_is_gone),
		cmocka_unit_test(slurm_is_gone),
		cmocka_unit_test(no_history_is_kept),
		cmocka_unit_test(nothing_is_wrong),
		cmocka_unit_test(a_file_that_lacks_something_is_not_called_well),
		cmocka_unit_test(the_worst_is_told_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
