/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths: ends typed or taken, hops now and after the plan, LIDs, pairs of a job over a link. */
#include "engines/metrics/job_pairs.h"
#include "fabric/model/tables/path.h"
#include "tests/unit/kit/console_kit.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void open_fabric(struct console_kit *k, const char *spec)
{
	console_open(k, 80, 24);
	console_fabric(k, spec, jobs);
}

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
	console_size(k, 80, 24);
}

static void type_ends(struct console_kit *k, const char *from, const char *to)
{
	console_keys(k, "0e");
	console_keys(k, from);
	console_key(k, K_ENTER);
	console_keys(k, to);
	console_key(k, K_ENTER);
}

static void a_path_now_and_after_the_plan(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	type_ends(&k, "n0001", "n0096");
	console_shows(&k, "arrives, 2 links, SL 0");
	golden_sizes(&k, "paths");
	console_preview(&k, "sar");
	golden_sizes(&k, "paths-plan");
	console_shows(&k, "differs from hop 1");
	console_keys(&k, "o");
	console_shows(&k, "Path n0096 -> n0001");
	console_keys(&k, "o");
	console_shows(&k, "Path n0001 -> n0096");
	console_close(&k);
}

static void names_are_completed_and_mistakes_told(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	console_keys(&k, "0");
	console_golden(&k, "paths-idle");
	console_keys(&k, "esp");
	console_key(&k, K_TAB);
	console_shows(&k, "from: spine_");
	console_golden(&k, "paths-typing");
	console_key(&k, K_TAB);
	console_shows(&k, "from: spine1_");
	console_key(&k, K_TAB);
	console_shows(&k, "from: spine2_");
	console_key(&k, K_ENTER);
	console_keys(&k, "nobody");
	console_key(&k, K_ENTER);
	console_shows(&k, "no host or switch has the name \"nobody\"");
	assert_true(shell_typing(k.shell, &k.s));
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "97");
	console_key(&k, K_ENTER);
	assert_false(shell_typing(k.shell, &k.s));
	console_shows(&k, "Path spine2 -> n0097");
	console_keys(&k, "e");
	console_key(&k, K_ESC);
	console_shows(&k, "Path spine2 -> n0097");
	console_close(&k);
}

static void wide_screens_offer_pairs_until_both_ends_are_set(void **state)
{
	struct console_kit k;
	struct path_ends ends;

	(void)state;
	open_fabric(&k, TREE);
	console_keys(&k, "0");
	console_hides(&k, "Or choose a pair");
	console_size(&k, 100, 30);
	console_golden(&k, "paths-idle");
	console_size(&k, 200, 60);
	console_golden(&k, "paths-idle");
	console_shows(&k, ", the fullest");
	console_keys(&k, "j\r");
	ends = shell_context(k.shell)->path;
	assert_int_not_equal(ends.src, FAB_NONE);
	assert_int_not_equal(ends.dlid, 0);
	console_shows(&k, "Hops");
	console_hides(&k, "Or choose a pair");
	console_close(&k);
}

/* The keys that move in pairs do nothing where none are drawn. */
static void small_screens_and_fabrics_without_jobs_offer_none(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	console_keys(&k, "0j\r");
	console_shows(&k, "set both ends of the path first");
	assert_int_equal(shell_context(k.shell)->path.src, FAB_NONE);
	console_size(&k, 200, 60);
	k.s.jobs = NULL;
	console_hides(&k, "Or choose a pair");
	k.s.tables = NULL;
	console_hides(&k, "Or choose a pair");
	console_keys(&k, "jk\r");
	assert_int_equal(shell_context(k.shell)->path.src, FAB_NONE);
	console_close(&k);
}

static void all_lids_of_a_host(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=8,spines=4,hosts=4,lmc=2");
	type_ends(&k, k.fabric->term_name[0], k.fabric->term_name[29]);
	console_golden(&k, "paths-lmc");
	console_keys(&k, "l");
	assert_int_equal(shell_context(k.shell)->path.dlid, k.fabric->term_lid[29] + 1);
	console_keys(&k, "hh");
	assert_int_equal(shell_context(k.shell)->path.dlid, k.fabric->term_lid[29] + 3);
	console_keys(&k, "o");
	assert_int_equal(shell_context(k.shell)->path.dlid, k.fabric->term_lid[0] + 3);
	console_close(&k);
}

static void broken_paths_say_where(void **state)
{
	struct console_kit k;
	uint32_t leaf;
	uint16_t lid;

	(void)state;
	open_fabric(&k, TREE);
	type_ends(&k, "n0001", "n0096");
	leaf = k.fabric->term_sw[0];
	lid = shell_context(k.shell)->path.dlid;
	tables_row(k.tables, leaf)[lid] = FAB_NO_PORT;
	console_shows(&k, "no entry on leaf01");
	tables_row(k.tables, leaf)[lid] = k.fabric->term_port[1];
	console_shows(&k, "leads to another node");
	tables_row(k.tables, leaf)[lid] = 99;
	console_golden(&k, "paths-broken");
	k.s.tables = NULL;
	console_shows(&k, "routing tables not read yet");
	console_keys(&k, "jkohl");
	console_close(&k);
}

static void silent_ports_have_dashes(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	type_ends(&k, "n0001", "n0096");
	for (uint32_t c = 0; c < k.fabric->nchan; c += 2)
		console_no_reply(&k, c);
	console_golden(&k, "paths-silent");
	console_file(&k);
	k.s.metrics = NULL;
	k.s.usage = NULL;
	k.s.history = NULL;
	k.s.sls_known = false;
	console_golden(&k, "paths-file");
	console_key(&k, K_TAB);
	console_shows(&k, "no link selected");
	console_close(&k);
}

static void without_a_fabric_it_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_keys(&k, "0eohl<>");
	console_shows(&k, "no fabric yet");
	console_key(&k, K_TAB);
	console_key(&k, K_ENTER);
	console_close(&k);
}

static void a_hop_leads_to_its_link_and_switch(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	type_ends(&k, "n0001", "n0096");
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_keys(&k, "0");
	console_keys(&k, "F");
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_shows(&k, "Switch spine");
	console_close(&k);
}

static void ends_come_from_other_views(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	console_keys(&k, "t/leaf04");
	console_key(&k, K_ENTER);
	console_keys(&k, "</leaf15");
	console_key(&k, K_ENTER);
	console_keys(&k, ">0");
	console_shows(&k, "Path leaf04 -> leaf15");
	console_close(&k);
}

static void pairs_of_a_job_over_a_link(void **state)
{
	struct console_kit k;
	uint32_t chan = 0;

	(void)state;
	open_fabric(&k, TREE);
	console_preview(&k, "sar");
	for (uint32_t c = 0; c < k.fabric->nchan; c++)
		if (k.metrics->eff_efi[c] > k.metrics->eff_efi[chan])
			chan = c;
	console_keys(&k, "0");
	console_key(&k, K_TAB);
	/* of the fullest link while none is selected, and it stays that one */
	console_shows(&k, ", the fullest; views 2 and 3 select another");
	console_shows(&k, " pairs of job ");
	assert_int_equal(shell_context(k.shell)->chan, FAB_NONE);
	shell_context(k.shell)->chan = chan;
	console_hides(&k, ", the fullest");
	golden_sizes(&k, "paths-pairs");
	console_keys(&k, "n");
	console_golden(&k, "paths-pairs-next");
	context_select_job(shell_context(k.shell), k.jobs->jobs[1].id);
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	console_shows(&k, "[Hops]");
	console_shows(&k, "arrives");
	console_close(&k);
}

/* Against a walk of every pair, and against the metrics. */
static void pairs_are_those_whose_path_has_the_channel(void **state)
{
	struct console_kit k;
	static struct job_pair pair[20000];

	(void)state;
	open_fabric(&k, TREE);
	for (uint32_t c = 0; c < k.fabric->nchan; c += 5) {
		for (uint32_t j = 0; j < k.jobs->njob; j++) {
			const struct job *job = &k.jobs->jobs[j];
			uint64_t n = job_pairs_find(pair, 20000, k.fabric, k.tables, job, c), m = 0;

			for (uint32_t d = 0; d < job->nterm; d++)
				for (uint32_t i = 0; i < job->nterm; i++) {
					struct path p;
					bool over = false;

					path_walk(&p, k.fabric, k.tables, job->terms[i],
						  k.fabric->term_lid[job->terms[d]]);
					for (uint32_t h = 0; h < p.nhop; h++)
						over = over || p.hop[h].chan == c;
					if (!over)
						continue;
					assert_int_equal(pair[m].src, job->terms[i]);
					assert_int_equal(pair[m].dst, job->terms[d]);
					m++;
				}
			assert_int_equal(n, m);
			assert_int_equal(job_pairs_find(pair, 3, k.fabric, k.tables, job, c), n);
		}
	}
	console_close(&k);
}

static void no_size_is_too_small(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=8,spines=4,hosts=4,lmc=2");
	console_preview(&k, "sar");
	type_ends(&k, k.fabric->term_name[0], k.fabric->term_name[29]);
	for (int w = 1; w < 240; w += 19)
		for (int h = 1; h < 70; h += 7) {
			console_size(&k, w, h);
			console_keys(&k, "jlo");
			console_key(&k, K_TAB);
			console_keys(&k, "jnNe");
			console_key(&k, K_TAB);
			console_key(&k, K_ESC);
			console_key(&k, K_TAB);
		}
	console_close(&k);
}

static void an_end_may_be_as_long_as_an_entry(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, TREE);
	console_keys(&k, "0e");
	for (int i = 0; i < PATH_TEXT + 20; i++)
		console_keys(&k, i % 2 ? "x" : "y");
	console_keys(&k, "\t\r");
	console_shows(&k, "yxyx");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_screens_offer_pairs_until_both_ends_are_set),
		cmocka_unit_test(small_screens_and_fabrics_without_jobs_offer_none),
		cmocka_unit_test(a_path_now_and_after_the_plan),
		cmocka_unit_test(names_are_completed_and_mistakes_told),
		cmocka_unit_test(an_end_may_be_as_long_as_an_entry),
		cmocka_unit_test(all_lids_of_a_host),
		cmocka_unit_test(broken_paths_say_where),
		cmocka_unit_test(silent_ports_have_dashes),
		cmocka_unit_test(without_a_fabric_it_says_so),
		cmocka_unit_test(a_hop_leads_to_its_link_and_switch),
		cmocka_unit_test(ends_come_from_other_views),
		cmocka_unit_test(pairs_of_a_job_over_a_link),
		cmocka_unit_test(pairs_are_those_whose_path_has_the_channel),
		cmocka_unit_test(no_size_is_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
