/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/part/part.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct fabric *left_of(const struct fabric *f, const struct part_loss *loss,
			      struct part_report *r)
{
	struct fabric *left = NULL;
	struct err err = { "" };

	if (fabric_part(&left, f, loss, r, &err))
		fail_msg("%s", err.text);
	return left;
}

static void without_losses_it_is_the_same_fabric(void **state)
{
	static const char *const specs[] = { "torus:dims=3x3,hosts=2,rates=4xEDR+1xEDR",
					     "fattree2:leaves=4,spines=2,hosts=3,lmc=1" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fabric *f = net_spec(specs[i]);
		struct part_report r;
		struct fabric *left = left_of(f, &(struct part_loss){ 0 }, &r);

		assert_int_equal(r.hosts_cut, 0);
		assert_memory_equal(&left->fingerprint, &f->fingerprint, sizeof(f->fingerprint));
		assert_string_equal(left->name, f->name);
		assert_true(fabric_same_rates(f, left));
		assert_string_equal(left->term_name[3], f->term_name[3]);
		fabric_put(left);
		fabric_put(f);
	}
}

/* A chain of 5 switches, cut behind the second: the longer end stays, with its LIDs. */
static void the_piece_with_the_most_hosts_is_kept(void **state)
{
	struct fabric *f = net_chain(5, 2, FAB_NONE, NULL);
	bool *chan = xcalloc(f->nchan, sizeof(*chan));
	struct part_loss loss = { .chan = chan };
	struct part_report r;
	struct fabric *left;

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++)
		chan[c] = f->chan_src[c] == 1 && f->chan_dst[c] == 2; /* one direction says it */
	left = left_of(f, &loss, &r);
	assert_int_equal(left->nsw, 3);
	assert_int_equal(r.hosts_cut, 4);
	assert_int_equal(r.switches_cut, 2);
	assert_true(fabric_connected(left));
	for (uint32_t t = 0; t < left->nterm; t++) {
		uint32_t was = fabric_term_by_guid(f, left->term_guid[t]);

		assert_int_equal(left->term_lid[t], f->term_lid[was]);
	}
	free(chan);
	fabric_put(left);
	fabric_put(f);
}

static void hosts_and_switches_go(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	bool *sw = xcalloc(f->nsw, sizeof(*sw)), *term = xcalloc(f->nend, sizeof(*term));
	struct part_loss loss = { .sw = sw, .term = term };
	struct part_report r;
	struct fabric *left;
	struct err err = { "" };

	(void)state;
	sw[f->term_sw[0]] = true;
	for (uint32_t t = 0; t < f->nterm; t++)
		term[t] = t == 7;
	left = left_of(f, &loss, &r);
	assert_int_equal(r.hosts_cut, 5);
	assert_int_equal(left->nsw, f->nsw - 1);
	fabric_put(left);
	for (uint32_t u = 0; u < f->nsw; u++)
		sw[u] = true;
	assert_int_not_equal(fabric_part(&left, f, &loss, &r, &err), 0);
	assert_string_equal(err.text, "no host is left");
	free(sw);
	free(term);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_losses_it_is_the_same_fabric),
		cmocka_unit_test(the_piece_with_the_most_hosts_is_kept),
		cmocka_unit_test(hosts_and_switches_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
