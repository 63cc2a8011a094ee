/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The links: the table, the page on one of them, and only those of a job. */
#include "tests/unit/kit/console_kit.h"

#include "engines/predict/link_usage.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "views/canvas/palette.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static void open_links(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, TREE, jobs);
	console_keys(k, "3");
}

static void enter_opens_a_page_on_one_link(void **state)
{
	struct console_kit k;

	(void)state;
	open_links(&k);
	console_preview(&k, "sar");
	console_key(&k, K_ENTER);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "link");
	}
	console_shows(&k, "Jobs and destinations on this link");
	/* the cursor still moves, from link to link */
	console_keys(&k, "j");
	console_shows(&k, "-- leaf03/10 -> spine1/3 ");
	/* the line of keys names the page's, and what is the table's leads back to it */
	console_shows(&k, "link 2 of 312");
	console_shows(&k, "Enter heatmap  Esc u table");
	console_hides(&k, "s sort");
	console_keys(&k, "S");
	console_shows(&k, "Links by congestion");
	console_shows(&k, "s sort  S reverse");
	console_keys(&k, "S");
	console_key(&k, K_ENTER);
	console_key(&k, K_ESC);
	console_shows(&k, "Links by congestion");
	console_key(&k, K_ENTER);
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_shows(&k, "leaf03/10 -> spine1/3");
	console_close(&k);
}

static void a_page_without_rates_jobs_and_tables(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 100, 30);
	console_fabric(&k, TREE, NULL);
	console_dump(&k);
	k.s.history = NULL;
	console_keys(&k, "3");
	console_key(&k, K_ENTER);
	console_golden(&k, "link-unknown");
	console_close(&k);
}

static void a_marked_job_leaves_only_its_links(void **state)
{
	struct console_kit k;
	char text[64];

	(void)state;
	open_links(&k);
	context_select_job(shell_context(k.shell), 81242);
	console_shows(&k, "Links of job 81242");
	snprintf(text, sizeof(text), "%u of 312 links", k.metrics->job[6].links);
	assert_int_equal(k.jobs->jobs[6].id, 81242);
	console_shows(&k, text);
	console_golden(&k, "links-job");
	console_key(&k, K_ESC);
	console_shows(&k, "312 links");
	console_hides(&k, "of 312 links");
	console_close(&k);
}

static void filters_know_jobs_and_lanes(void **state)
{
	struct console_kit k;

	(void)state;
	open_links(&k);
	console_keys(&k, "/njobs>=4 lanes=1\r");
	console_shows(&k, "of 312 links  filter: njobs>=4 lanes=1");
	console_keys(&k, ":columns link,njobs,jobs,lane_use,plan_util_pct\r");
	console_shows(&k, "81200:59% 81207:20%");
	console_shows(&k, "VL0 100%");
	console_close(&k);
}

static uint32_t cursor_chan(struct console_kit *k)
{
	return shell_context(k->shell)->chan;
}

/* The rows from the top: the cause of each congestion, its links with a sign, then all others. */
static void links_stand_behind_what_they_wait_for(void **state)
{
	const struct congestion *g;
	uint32_t last = FAB_NONE, behind = 0, rows = 0;
	bool others = false;
	struct console_kit k;
	char value[40];

	(void)state;
	open_links(&k);
	console_shows(&k, "`leaf03   10 spine1    3");
	g = &shell_context(k.shell)->summary.congestion;
	assert_true(g->n > 1);
	console_keys(&k, "j");
	console_shows(&k, "-- leaf03/10 -> spine1/3, waits for spine1/8 -> leaf08/10 --");
	console_keys(&k, "g");
	console_hides(&k, "waits for");
	for (uint32_t i = 0; i < k.fabric->nchan; i++, rows++) {
		uint32_t chan = cursor_chan(&k), of = g->of_chan[chan];

		assert_true(of == FAB_NONE || !others); /* together, and before the others */
		assert_true(of == FAB_NONE || last == FAB_NONE || of == last || of == last + 1);
		if (of != FAB_NONE && of != last &&
		    k.fabric->port[g->finding[of].port].chan != FAB_NONE)
			assert_int_equal(chan, k.fabric->port[g->finding[of].port].chan);
		behind += of != FAB_NONE && of == last;
		others |= of == FAB_NONE;
		last = of;
		console_keys(&k, "j");
	}
	assert_true(behind > 0);
	assert_true(others);
	/* by any other column, or turned round, a row has nothing to do with the one above it */
	console_keys(&k, "gS");
	console_hides(&k, "`");
	console_keys(&k, "S");
	console_shows(&k, "`");
	console_keys(&k, ":sort congestion_pct\r");
	console_hides(&k, "`");
	/* and filters know both */
	console_keys(&k, ":sort congestion_rank\r/congestion_rank=1\r");
	snprintf(value, sizeof(value), "%u of 312 links", g->finding[0].waiting);
	console_shows(&k, value);
	console_key(&k, K_ESC);
	console_keys(&k, "/cause=\"spine1/8 -> leaf08/10\"\r");
	console_shows(&k, value);
	console_keys(&k, ":columns link,congestion_rank,cause\r");
	console_shows(&k, "leaf03/10 -> spine1/3");
	console_shows(&k, "-cong cause");
	console_shows(&k, "    1 spine1/8 -> leaf08/10");
	console_close(&k);
}

/* Destinations against a walk of every pair. */
static void check_dests(const struct fabric *f, const struct tables *t, const struct jobset *js,
			const struct chan_dests *all, uint32_t chan)
{
	const struct chan_dest_list d = all->of[chan];
	uint32_t total = 0;

	for (uint32_t dst = 0; dst < f->nterm; dst++) {
		uint32_t n = 0;

		for (uint32_t src = 0; src < f->nterm; src++) {
			uint32_t sw = f->term_sw[src], hops = 0;
			bool over = false, shared = !js;

			for (uint32_t j = 0; js && j < js->njob; j++) {
				uint32_t both = 0;

				for (uint32_t i = 0; i < js->jobs[j].nterm; i++)
					both += js->jobs[j].terms[i] == src ||
						js->jobs[j].terms[i] == dst;
				shared |= both == 2;
			}
			while (shared && sw != f->term_sw[dst] && hops++ < f->nsw) {
				uint32_t c =
					fabric_chan(f, sw, tables_row(t, sw)[f->term_lid[dst]]);

				over |= c == chan;
				sw = f->chan_dst[c];
			}
			n += over;
		}
		total += n > 0;
		for (uint32_t i = 0; i < d.n; i++)
			if (d.term[i] == dst)
				assert_int_equal(d.routes[i], n);
		if (n && d.n == CHAN_DESTS)
			assert_true(n <= d.routes[0]);
	}
	assert_int_equal(d.total, total);
	for (uint32_t i = 1; i < d.n; i++)
		assert_true(d.routes[i - 1] >= d.routes[i]);
}

static void destinations_are_those_of_every_pair(void **state)
{
	/* one job for each host at most, so that no pair counts twice */
	static const uint32_t few[] = { 9, 8, 5, 0 };
	struct chan_dests *all, *in_jobs;
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=4", few);
	assert_int_equal(chan_dests_compute(&all, k.fabric, k.tables, NULL, NULL, NULL), 0);
	assert_int_equal(chan_dests_compute(&in_jobs, k.fabric, k.tables, k.jobs, NULL, NULL), 0);
	for (uint32_t c = 0; c < k.fabric->nchan; c += 5) {
		check_dests(k.fabric, k.tables, NULL, all, c);
		check_dests(k.fabric, k.tables, k.jobs, in_jobs, c);
	}
	chan_dests_free(all);
	chan_dests_free(in_jobs);
	console_close(&k);
}

/* The past of one channel, as the history has it. */
static void shows_past(struct console_kit *k, const char *label, enum history_metric m)
{
	uint8_t past[HISTORY_LEN];
	char want[100];
	uint32_t n = history_get(k->history, shell_context(k->shell)->chan, m, past);
	int len = snprintf(want, sizeof(want), "%s ", label);

	assert_int_equal(n, 30);
	for (uint32_t i = 0; i < n; i++)
		want[len++] = past[i] == HISTORY_UNKNOWN ? ' ' : heat_glyph(heat_level(past[i]));
	want[len] = '\0';
	console_shows(k, want);
}

static void the_past_is_of_what_one_looks_at(void **state)
{
	static const uint32_t some[] = { 40, 20, 0 };
	struct console_kit k;

	(void)state;
	console_open(&k, 100, 30);
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=9", some);
	console_keys(&k, "3j");
	shows_past(&k, "util", HISTORY_UTIL);
	console_keys(&k, "sjjj\rj"); /* by wait */
	shows_past(&k, "wait", HISTORY_WAIT);
	console_keys(&k, "m");
	console_shows(&k, "history (sparklines) now shows errors");
	shows_past(&k, "errors", HISTORY_ERRORS);
	console_key(&k, K_ENTER);
	console_shows(&k, "Errors/min history");
	console_keys(&k, "m");
	console_shows(&k, "Utilisation history");
	console_key(&k, K_ESC);
	console_close(&k);
}

static void errors_have_a_scale_of_tenfolds(void **state)
{
	(void)state;
	assert_true(history_errors_pct(0) == 0);
	assert_true(isnan(history_errors_pct(NAN)));
	assert_true(history_errors_pct(9) == 45);
	assert_true(history_errors_pct(1e9) == 100);
	assert_true(fabs(history_errors_of(history_errors_pct(42)) - 42) < 1e-9);
	assert_true(history_errors_of(0) == 0);
}

/* Of a dump with tables: names as long as those of old switches leave EFI its column. */
static void long_names_leave_what_is_sorted_by(void **state)
{
	static char long_name[9][NAME_LEN];
	struct console_kit k;
	char *kept[9];

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=2", NULL);
	console_file(&k);
	for (uint32_t i = 0; i < 9; i++) {
		snprintf(long_name[i], NAME_LEN,
			 "MT47396 Infiniscale-III Mellanox Technologies %02u", i);
		kept[i] = k.fabric->sw_short[i];
		k.fabric->sw_short[i] = long_name[i];
	}
	console_keys(&k, "3");
	console_shows(&k, "Links by EFI");
	console_shows(&k, "EFI from ");
	console_shows(&k, "ogies 00"); /* and both ends tell which they are */
	console_shows(&k, "ogies 08");
	for (uint32_t i = 0; i < 9; i++)
		k.fabric->sw_short[i] = kept[i];
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enter_opens_a_page_on_one_link),
		cmocka_unit_test(a_page_without_rates_jobs_and_tables),
		cmocka_unit_test(a_marked_job_leaves_only_its_links),
		cmocka_unit_test(filters_know_jobs_and_lanes),
		cmocka_unit_test(links_stand_behind_what_they_wait_for),
		cmocka_unit_test(destinations_are_those_of_every_pair),
		cmocka_unit_test(the_past_is_of_what_one_looks_at),
		cmocka_unit_test(errors_have_a_scale_of_tenfolds),
		cmocka_unit_test(long_names_leave_what_is_sorted_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
