/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/source_sim.h"
#include "fabric/sim/device/workload.h"

#include "fabric/base/memory/mem.h"
#include "fabric/jobs/source.h"
#include "fabric/sim/packet/pattern.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct workload *start(const struct fabric *f, uint64_t seed)
{
	struct workload_opts o = { .seed = seed };
	struct workload *w = workload_new(f, &o);

	assert_non_null(w);
	return w;
}

static double share(const struct workload *w)
{
	return (double)workload_busy(w) / workload_nodes(w);
}

static void same_flows(struct workload *a, struct workload *b)
{
	uint32_t na, nb;
	const struct sim_flow *x = workload_flows(a, &na), *y = workload_flows(b, &nb);

	assert_int_equal(na, nb);
	for (uint32_t i = 0; i < na; i++) {
		assert_int_equal(x[i].src, y[i].src);
		assert_int_equal(x[i].dlid, y[i].dlid);
		assert_true(x[i].Bps == y[i].Bps);
	}
}

static void one_seed_gives_the_same_jobs_and_flows(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct workload *a = start(f, 7), *b = start(f, 7), *c = start(f, 8);

	(void)state;
	for (int k = 0; k < 20; k++) {
		const struct job_list *x = workload_jobs(a), *y = workload_jobs(b);

		assert_true(job_list_same(x, y));
		assert_string_equal(x->jobs[0].name, y->jobs[0].name);
		same_flows(a, b);
		job_list_put(x);
		job_list_put(y);
		workload_advance(a, 100);
		workload_advance(b, 100);
	}
	{
		const struct job_list *x = workload_jobs(a), *z = workload_jobs(c);

		assert_false(job_list_same(x, z));
		job_list_put(x);
		job_list_put(z);
	}
	workload_free(a);
	workload_free(b);
	workload_free(c);
	fabric_put(f);
}

static void the_size_of_steps_does_not_matter(void **state)
{
	struct fabric *f = net_tree(4, 4, 16, NULL);
	struct workload *a = start(f, 3), *b = start(f, 3);
	const struct job_list *x, *y;

	(void)state;
	workload_advance(a, 4096);
	for (int k = 0; k < 4096 * 2; k++)
		workload_advance(b, 0.5);
	x = workload_jobs(a);
	y = workload_jobs(b);
	assert_true(job_list_same(x, y));
	same_flows(a, b);
	job_list_put(x);
	job_list_put(y);
	workload_free(a);
	workload_free(b);
	fabric_put(f);
}

/* Mean and smallest share of busy nodes over six hours, on one seed. */
static void utilisation(const struct fabric *f, uint64_t seed, double *mean, double *least)
{
	struct workload *w = start(f, seed);

	*mean = 0;
	*least = 1;
	for (int k = 0; k < 360; k++) {
		*mean += share(w) / 360;
		*least = share(w) < *least ? share(w) : *least;
		workload_advance(w, 60);
	}
	workload_free(w);
}

static void the_machine_is_busy_from_the_first_moment_on(void **state)
{
	struct fabric *f = net_tree(18, 18, 18, NULL);

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct workload *w = start(f, seed);
		double mean, least;

		assert_true(share(w) > 0.8 && share(w) < 0.9);
		workload_free(w);
		utilisation(f, seed, &mean, &least);
		if (getenv("VERBOSE"))
			print_message("seed %d: mean %.3f least %.3f\n", (int)seed, mean, least);
		assert_true(mean > 0.84 && mean < 0.9);
		assert_true(least > 0.5); /* after a large job ended */
	}
	fabric_put(f);
}

static void the_share_of_busy_nodes_can_be_chosen(void **state)
{
	struct fabric *f = net_tree(18, 18, 18, NULL);
	struct workload_opts o = { .seed = 1, .busy = 0.4 };
	struct workload *w = workload_new(f, &o);

	(void)state;
	assert_true(share(w) > 0.3 && share(w) < 0.45);
	workload_free(w);
	fabric_put(f);
}

static void no_node_has_two_jobs(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct workload *w = start(f, 2);

	(void)state;
	for (int k = 0; k < 50; k++) {
		const struct job_list *l = workload_jobs(w);
		struct jobset *js;
		uint32_t nodes = 0;

		assert_int_equal(jobset_from_list(&js, l, f, NULL), 0);
		for (uint32_t t = 0; t < f->nterm; t++)
			assert_in_range(js->term_off[t + 1] - js->term_off[t], 0, 1);
		for (uint32_t j = 0; j < js->njob; j++) {
			assert_int_equal(js->jobs[j].unknown, 0);
			nodes += js->jobs[j].nnodes;
		}
		assert_int_equal(nodes, workload_busy(w));
		jobset_put(js);
		job_list_put(l);
		workload_advance(w, 300);
	}
	workload_free(w);
	fabric_put(f);
}

static void jobs_are_many_and_a_good_part_spans_switches(void **state)
{
	struct fabric *f = net_tree(80, 18, 18, NULL);
	struct workload *w = start(f, 4);
	const struct job_list *l = workload_jobs(w);
	uint32_t powers = 0, largest = 0;
	struct jobset *js;

	(void)state;
	jobset_from_list(&js, l, f, NULL);
	for (uint32_t i = 0; i < l->njob; i++) {
		powers += !(l->jobs[i].nhost & (l->jobs[i].nhost - 1));
		largest = l->jobs[i].nhost > largest ? l->jobs[i].nhost : largest;
		assert_true(l->jobs[i].start_s <= l->time_s && l->jobs[i].start_s > 0);
		assert_true(*l->jobs[i].user && *l->jobs[i].name && *l->jobs[i].nodes);
	}
	if (getenv("VERBOSE"))
		print_message("%u jobs, %u multi, %u powers, largest %u\n", js->njob, js->nmulti,
			      powers, largest);
	assert_in_range(js->njob, 50, 300);
	assert_true(js->nmulti * 4 > js->njob);
	assert_true(powers * 3 > l->njob * 2);
	assert_true(largest >= 64);
	jobset_put(js);
	job_list_put(l);
	workload_free(w);
	fabric_put(f);
}

/* Every flow goes at full rate from a busy node to another of the same job, whose group it has. */
static void check_flows(const struct fabric *f, struct workload *w)
{
	const struct job_list *l = workload_jobs(w);
	uint32_t n, *sent = xcalloc(f->nterm, sizeof(*sent)),
		    *got = xcalloc(f->nterm, sizeof(*got));
	const struct sim_flow *v = workload_flows(w, &n);
	struct jobset *js;

	jobset_from_list(&js, l, f, NULL);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t src = v[i].src, dst = fabric_lid_end(f, v[i].dlid);
		const struct port *p = fabric_port(f, f->term_sw[src], f->term_port[src]);
		const struct job *j = &js->jobs[js->term_job[js->term_off[src]]];

		assert_true(!i || src >= v[i - 1].src);
		assert_true(src < f->nterm && dst < f->nterm && src != dst);
		assert_int_not_equal(js->term_off[src], js->term_off[src + 1]);
		assert_int_not_equal(js->term_off[dst], js->term_off[dst + 1]);
		assert_ptr_equal(j, &js->jobs[js->term_job[js->term_off[dst]]]);
		assert_int_equal(v[i].group, j->id);
		assert_true(fabs(v[i].Bps - (p->rate_Mbps ? p->rate_Mbps : 100000) * 1e6 / 8) < 1);
		sent[src]++;
		got[dst]++;
	}
	for (uint32_t t = 0; t < f->nterm; t++) {
		bool busy = js->term_off[t] < js->term_off[t + 1] &&
			    js->jobs[js->term_job[js->term_off[t]]].nterm > 1;

		assert_int_equal(sent[t], busy);
		assert_int_equal(got[t], busy);
	}
	assert_true(n > 0);
	jobset_put(js);
	job_list_put(l);
	free(sent);
	free(got);
}

/* All flows get that share of what they offer, for so long. */
static void send_for(struct workload *w, double share, double dt_s)
{
	uint32_t n;
	const struct sim_flow *v = workload_flows(w, &n);
	double *Bps = xcalloc(n + 1u, sizeof(*Bps));

	for (uint32_t i = 0; i < n; i++)
		Bps[i] = share * v[i].Bps;
	workload_send(w, Bps, n, dt_s);
	free(Bps);
}

static void all_nodes_of_jobs_send_at_full_rate_all_the_time(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct workload *w = start(f, 5);

	(void)state;
	for (int k = 0; k < 50; k++) {
		check_flows(f, w);
		send_for(w, 0.7, 1);
		workload_advance(w, 17);
	}
	workload_free(w);
	fabric_put(f);
}

/* Exchanges in so many seconds: how often the flows become others. */
static uint32_t exchanges(struct workload *w, double share, int seconds)
{
	uint32_t changes = 0;

	for (int k = 0; k < 10 * seconds; k++) {
		uint64_t serial = workload_flows_serial(w);

		send_for(w, share, 0.1);
		changes += serial != workload_flows_serial(w);
	}
	return changes;
}

static void the_next_exchange_begins_when_the_bytes_are_sent(void **state)
{
	/* a pair of hosts for each job, so that all exchanges end together or nearly so */
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct workload_opts o = { .seed = 6, .busy = 1, .exchange_s = 2, .mean_s = 1e9 };
	struct workload *w = workload_new(f, &o);
	uint32_t fast, slow;

	(void)state;
	workload_advance(w, 1e9);
	fast = exchanges(w, 1, 100);
	slow = exchanges(w, 0.25, 100);
	assert_true(fast >= 49);
	assert_in_range(slow, fast / 4 - 2, fast / 4 + 2);
	assert_int_equal(exchanges(w, 0, 100), 0);
	/* time alone sends nothing */
	fast = (uint32_t)workload_flows_serial(w);
	workload_advance(w, 10);
	assert_int_equal(workload_flows_serial(w), fast);
	workload_free(w);
	fabric_put(f);
}

static uint32_t shift_of(const struct fabric *f, struct workload *w, uint32_t src)
{
	uint32_t n;
	const struct sim_flow *v = workload_flows(w, &n);

	for (uint32_t i = 0; i < n; i++)
		if (v[i].src == src)
			return fabric_lid_end(f, v[i].dlid);
	return FAB_NONE;
}

static void a_job_sends_to_all_its_ranks_before_it_comes_back_to_one(void **state)
{
	struct fabric *f = net_tree(18, 18, 18, NULL);
	struct workload *w = start(f, 1);
	const struct job_list *l = workload_jobs(w);
	struct jobset *js;

	(void)state;
	assert_int_equal(jobset_from_list(&js, l, f, NULL), 0);
	for (uint32_t j = 0; j < js->njob; j++) {
		uint32_t n = js->jobs[j].nterm, src = js->jobs[j].terms[0];
		bool *seen = xcalloc(f->nterm, sizeof(*seen));

		for (uint32_t k = 0; k + 1 < n; k++) {
			uint32_t dst = shift_of(f, w, src);

			assert_true(dst < f->nterm && !seen[dst] && dst != src);
			seen[dst] = true;
			send_for(w, 1, 0.5);
		}
		free(seen);
	}
	jobset_put(js);
	job_list_put(l);
	workload_free(w);
	fabric_put(f);
}

static void storage_runs_no_jobs_and_tiny_fabrics_are_refused(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, &(struct net_opts){ .storage = 3 });
	struct fabric *tiny = net_tree(1, 1, 1, NULL);
	struct workload *w = start(f, 1);

	(void)state;
	assert_int_equal(workload_nodes(w), 13);
	for (int k = 0; k < 20; k++) {
		const struct job_list *l = workload_jobs(w);

		for (uint32_t i = 0; i < l->njob; i++)
			for (uint32_t h = 0; h < l->jobs[i].nhost; h++)
				assert_true(strcmp(l->jobs[i].hosts[h], "n0013") < 0);
		job_list_put(l);
		workload_advance(w, 500);
	}
	assert_null(workload_new(tiny, NULL));
	workload_free(w);
	fabric_put(f);
	fabric_put(tiny);
}

static void the_sim_source_hands_out_a_list_when_jobs_changed(void **state)
{
	struct fabric *f = net_tree(10, 18, 18, NULL);
	struct workload *w = start(f, 9);
	struct source_opts o = { .workload = w };
	struct job_source *s;
	const struct job_list *l;
	struct pollfd p;
	uint64_t serial = workload_jobs_serial(w);

	(void)state;
	assert_int_equal(source_open(&s, &job_source_sim, &o, NULL), 0);
	p = (struct pollfd){ .fd = source_fd(s), .events = POLLIN };
	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_true(source_poll(s));
	l = source_take(s);
	assert_non_null(l);
	assert_string_equal(l->source, "sim");
	job_list_put(l);
	source_poll(s);
	assert_null(source_take(s));
	while (workload_jobs_serial(w) == serial)
		workload_advance(w, 10);
	source_poll(s);
	l = source_take(s);
	assert_non_null(l);
	job_list_put(l);
	source_close(s);
	assert_int_equal(source_open(&s, &job_source_sim, NULL, NULL), -EINVAL);
	workload_free(w);
	fabric_put(f);
}

static void every_rank_has_as_many_senders_as_receivers(void **state)
{
	static const uint32_t sizes[] = { 2, 3, 4, 7, 8, 12, 64, 97 };
	uint32_t got[97], out[16];

	(void)state;
	for (int kind = 0; kind < PATTERN_KINDS; kind++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			uint32_t n = sizes[s], first = 0;

			memset(got, 0, sizeof(got));
			for (uint32_t r = 0; r < n; r++) {
				uint32_t k =
					pattern_peers(out, 16, (enum pattern_kind)kind, n, r, s);

				assert_in_range(k, 1, 16);
				first = r ? first : k;
				assert_int_equal(k, first);
				for (uint32_t i = 0; i < k; i++) {
					assert_true(out[i] < n && out[i] != r);
					for (uint32_t j = 0; j < i; j++)
						assert_int_not_equal(out[i], out[j]);
					got[out[i]]++;
				}
			}
			for (uint32_t r = 0; r < n; r++)
				assert_int_equal(got[r], first);
		}
	}
	assert_int_equal(pattern_peers(out, 16, PATTERN_RING, 1, 0, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_seed_gives_the_same_jobs_and_flows),
		cmocka_unit_test(the_size_of_steps_does_not_matter),
		cmocka_unit_test(the_machine_is_busy_from_the_first_moment_on),
		cmocka_unit_test(the_share_of_busy_nodes_can_be_chosen),
		cmocka_unit_test(no_node_has_two_jobs),
		cmocka_unit_test(jobs_are_many_and_a_good_part_spans_switches),
		cmocka_unit_test(all_nodes_of_jobs_send_at_full_rate_all_the_time),
		cmocka_unit_test(the_next_exchange_begins_when_the_bytes_are_sent),
		cmocka_unit_test(a_job_sends_to_all_its_ranks_before_it_comes_back_to_one),
		cmocka_unit_test(all_nodes_of_jobs_send_at_full_rate_all_the_time),
		cmocka_unit_test(the_next_exchange_begins_when_the_bytes_are_sent),
		cmocka_unit_test(a_job_sends_to_all_its_ranks_before_it_comes_back_to_one),
		cmocka_unit_test(storage_runs_no_jobs_and_tiny_fabrics_are_refused),
		cmocka_unit_test(the_sim_source_hands_out_a_list_when_jobs_changed),
		cmocka_unit_test(every_rank_has_as_many_senders_as_receivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
