/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What links would carry: hosts send as measured, to the others of their job. */
#include "engines/predict/traffic.h"

#include "engines/engine.h"
#include "fabric/sim/topology/topo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct net {
	struct fabric *f;
	struct tables *t;
	struct sample *s[2];
	const struct rates *rates;
};

static void net_open(struct net *n, const char *spec)
{
	struct engine_params params = { .seed = 1 };
	struct freeze_opts opts = { .name = "net", .lmc = -1 };
	struct builder *b = NULL;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&n->f, b, &opts, &err) ||
	    engine_run(engine_find("minhop", &err), &n->t, n->f, NULL, NULL, &params, NULL, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	for (int i = 0; i < 2; i++) {
		n->s[i] = sample_new(n->f);
		n->s[i]->time_ns = 1000000000ull * (1 + (uint64_t)i);
	}
	n->rates = NULL;
}

static void net_close(struct net *n)
{
	rates_put(n->rates);
	sample_put(n->s[0]);
	sample_put(n->s[1]);
	tables_put(n->t);
	fabric_put(n->f);
}

/* Per second, seen from the host; the ports of switches have it the other way round. */
static void sends(struct net *n, uint32_t term, uint64_t out, uint64_t in)
{
	uint32_t port = n->f->port_off[n->f->term_sw[term]] + n->f->term_port[term];

	for (int i = 0; i < 2; i++) {
		struct port_counters *pc = &n->s[i]->port[port];

		pc->time_ns = n->s[i]->time_ns;
		pc->valid = pc->wide = 1u << CTR_TX_BYTES | 1u << CTR_RX_BYTES;
		pc->v[CTR_RX_BYTES] = i ? out : 0;
		pc->v[CTR_TX_BYTES] = i ? in : 0;
	}
}

static struct traffic predicted(struct net *n, const struct jobset *jobs)
{
	struct traffic out;
	struct err err;

	rates_put(n->rates);
	n->rates = rates_new(n->f, n->s[0], n->s[1]);
	if (traffic_predict(&out, n->f, n->t, jobs, n->rates, NULL, NULL, &err))
		fail_msg("%s", err.text);
	return out;
}

static double link_Bps(const struct net *n)
{
	uint32_t port = n->f->port_off[n->f->chan_src[0]] + n->f->chan_port[0];

	return n->f->port[port].rate_Mbps * 1e6 / 8;
}

static struct jobset *one_job(struct net *n, const uint32_t *terms, uint32_t nterm)
{
	struct jobset_builder *b = jobset_builder_new(n->f, "test");
	struct job head = { .id = 1, .name = (char *)"", .user = (char *)"", .nodes = (char *)"" };
	const char *names[8];

	for (uint32_t i = 0; i < nterm; i++)
		names[i] = n->f->term_name[terms[i]];
	jobset_builder_add(b, &head, names, nterm);
	return jobset_build(b);
}

/* Two switches, one cable: what one side sends to the other is on it. */
static void two_hosts_that_talk_load_the_cable_between_them(void **state)
{
	struct net n;
	struct traffic t;
	uint64_t half;

	(void)state;
	net_open(&n, "fattree2:leaves=2,spines=1,hosts=2");
	half = (uint64_t)(link_Bps(&n) / 2);
	t = predicted(&n, NULL);
	assert_false(t.known);
	assert_int_equal(t.unknown, n.f->nterm);
	assert_int_equal(t.chan, FAB_NONE);
	for (uint32_t i = 0; i < n.f->nterm; i++)
		sends(&n, i, 0, 0);
	sends(&n, 0, half, 0);
	sends(&n, n.f->nterm - 1, 0, half);
	t = predicted(&n, NULL);
	assert_true(t.known);
	assert_int_equal(t.unknown, 0);
	assert_true(fabs(t.util_max - 50) < 0.1);
	assert_int_equal(t.over, 0);
	net_close(&n);
}

/* Half of it to each LID of the receiver, by a spine each. */
static void what_goes_to_several_lids_is_shared_by_their_paths(void **state)
{
	static const char *const spec = "fattree2:leaves=2,spines=2,hosts=1,lmc=1";
	struct predict_spread spread;
	struct predict_lids to = { predict_lids_spread, &spread };
	struct traffic one, both;
	struct err err;
	struct net n;

	(void)state;
	net_open(&n, spec);
	spread = (struct predict_spread){ n.f, 1 };
	for (uint32_t t = 0; t < n.f->nterm; t++)
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t leaf = n.f->term_sw[!t];

			tables_row(n.t, leaf)[n.f->term_lid[t] + k] =
				n.f->chan_port[n.f->chan_off[leaf] + k];
			for (uint32_t c = n.f->chan_off[leaf]; c < n.f->chan_off[leaf + 1]; c++) {
				uint32_t spine = n.f->chan_dst[c], down = n.f->chan_off[spine];

				down += n.f->chan_dst[down] != n.f->term_sw[t];
				tables_row(n.t, spine)[n.f->term_lid[t] + k] = n.f->chan_port[down];
			}
			tables_row(n.t, n.f->term_sw[t])[n.f->term_lid[t] + k] = n.f->term_port[t];
		}
	sends(&n, 0, (uint64_t)(link_Bps(&n) / 2), 0);
	sends(&n, 1, 0, (uint64_t)(link_Bps(&n) / 2));
	one = predicted(&n, NULL);
	assert_int_equal(traffic_predict(&both, n.f, n.t, NULL, n.rates, &to, NULL, &err), 0);
	assert_true(fabs(one.util_max - 50) < 0.1);
	assert_true(fabs(both.util_max - 25) < 0.1);
	assert_true(fabs(both.util_mean - one.util_mean) < 0.1);
	net_close(&n);
}

/* Hosts of a job send to each other only: within a switch nothing crosses a cable. */
static void jobs_keep_their_traffic_to_themselves(void **state)
{
	struct net n;
	struct jobset *js;
	struct traffic t;
	uint32_t same[2] = { 0, 0 };

	(void)state;
	net_open(&n, "fattree2:leaves=2,spines=1,hosts=2");
	for (uint32_t i = 0; i < n.f->nterm; i++)
		sends(&n, i, 1000000, 1000000);
	for (uint32_t i = 1; i < n.f->nterm; i++)
		if (n.f->term_sw[i] == n.f->term_sw[0])
			same[1] = i;
	for (uint32_t i = 1; i < n.f->nterm; i++)
		if (n.f->term_sw[i] != n.f->term_sw[0])
			sends(&n, i, 0, 0);
	t = predicted(&n, NULL);
	assert_true(t.util_max < 1e-9); /* the others receive nothing */
	for (uint32_t i = 1; i < n.f->nterm; i++)
		if (n.f->term_sw[i] != n.f->term_sw[0])
			sends(&n, i, 0, 1000000);
	t = predicted(&n, NULL);
	assert_true(t.util_max > 0);
	js = one_job(&n, same, 2);
	t = predicted(&n, js);
	assert_true(t.util_max < 1e-9);
	jobset_put(js);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_that_talk_load_the_cable_between_them),
		cmocka_unit_test(what_goes_to_several_lids_is_shared_by_their_paths),
		cmocka_unit_test(jobs_keep_their_traffic_to_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
