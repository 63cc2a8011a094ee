/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of replay, failures and campaign, whole and damaged. */
#include "console/campaign/folder/campaign_folder.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FAILURES_ABOUT                                                                                   \
	"{\"failures\": 1, \"fabric\": \"lab\", \"engines\": [\"updn\", \"nue:2\"], \"first_seed\": 5, " \
	"\"seeds\": 2, \"damage\": {\"rates_pct\": [0.0, 2.5]}}\n"
#define REPLAY_ABOUT                                                                               \
	"{\"replay\": 1, \"fabric\": \"lab\", \"history\": \"file h\", \"routings\": [\"a\", \"b\"]}\n"

static char dir[64];

static void folder_new(void)
{
	strcpy(dir, "/tmp/campaign-folder-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void folder_end(void)
{
	static const char *const names[] = { "failures.json", "cells.jsonl", "campaign.json",
					     "replay.json", "times.jsonl" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void a_campaign_of_failures_is_read_by_engine_and_step(void **state)
{
	struct campaign_list *l;
	struct err err = { "" };

	(void)state;
	folder_new();
	put("failures.json", FAILURES_ABOUT);
	put("cells.jsonl",
	    "{\"seed\":5,\"step\":0,\"engine\":\"updn\",\"usable\":true,\"throughput\":0.5,\"ebb\":0.5,\"vls_used\":1,\"hosts_cut\":0}\n"
	    "{\"seed\":5,\"step\":1,\"engine\":\"updn\",\"usable\":true,\"throughput\":0.45,\"ebb\":0.45,\"vls_used\":1,\"hosts_cut\":1}\n"
	    "{\"seed\":6,\"step\":0,\"engine\":\"updn\",\"usable\":true,\"throughput\":0.5,\"ebb\":0.5,\"vls_used\":1,\"hosts_cut\":0}\n"
	    "{\"seed\":6,\"step\":1,\"engine\":\"updn\",\"usable\":true,\"throughput\":0.40,\"ebb\":0.40,\"vls_used\":1,\"hosts_cut\":3}\n"
	    "{\"seed\":5,\"step\":0,\"engine\":\"nue:2\",\"usable\":false,\"why\":\"no \\u001b[2J way\"}\n");
	assert_true(campaign_folder_is(dir));
	assert_int_equal(campaign_folder_read(&l, dir, &err), 0);
	assert_int_equal(l->kind, CAMPAIGN_FAILURES);
	assert_int_equal(l->nway, 2);
	assert_int_equal(l->nstep, 2);
	assert_int_equal(l->seeds, 2);
	assert_false(l->opens);
	assert_string_equal(l->fabric, "lab");
	assert_string_equal(l->way[1], "nue:2");
	assert_string_equal(l->why[1], "no ?[2J way");
	assert_true(l->at[1] == 2.5);
	assert_int_equal(l->cell[1].good, 2);
	assert_true(fabs(l->cell[1].figure[CAMPAIGN_RETAINED] - 85) < 1e-9);
	assert_true(l->cell[1].figure[CAMPAIGN_CUT] == 2);
	assert_int_equal(l->cell[1].seed, 6);
	assert_int_equal(l->cell[2].n, 1);
	assert_int_equal(l->cell[2].good, 0);
	campaign_list_free(l);
	/* with what it was planned from, cells can be computed again */
	put("campaign.json", "{}");
	assert_int_equal(campaign_folder_read(&l, dir, &err), 0);
	assert_true(l->opens);
	campaign_list_free(l);
	folder_end();
}

static void a_replay_is_read_by_routing_and_moment(void **state)
{
	struct campaign_list *l;
	struct err err = { "" };

	(void)state;
	folder_new();
	put("replay.json", REPLAY_ABOUT);
	put("times.jsonl",
	    "{\"time\":100,\"routing\":\"a\",\"jobs\":1,\"time_mean\":2.0,\"adopted\":false}\n"
	    "{\"time\":100,\"routing\":\"b\",\"jobs\":1,\"time_mean\":1.5,\"adopted\":true,\"blocks\":7}\n"
	    "{\"time\":200,\"routing\":\"b\",\"jobs\":3,\"time_mean\":null}\n"
	    "{\"time\":200,\"routing\":\"c\",\"jobs\":3,\"time_mean\":9}\n");
	assert_int_equal(campaign_folder_read(&l, dir, &err), 0);
	assert_int_equal(l->kind, CAMPAIGN_REPLAY);
	assert_int_equal(l->nway, 2);
	assert_int_equal(l->nstep, 2);
	assert_true(l->at[0] == 100 && l->at[1] == 200);
	assert_int_equal(l->jobs[1], 3);
	assert_true(l->cell[0].figure[CAMPAIGN_TIME] == 2);
	assert_true(l->cell[2].figure[CAMPAIGN_BLOCKS] == 7 && l->cell[2].adopted);
	assert_true(isnan(l->cell[1].figure[CAMPAIGN_TIME])); /* a has no line there */
	assert_true(isnan(l->cell[3].figure[CAMPAIGN_TIME]));
	campaign_list_free(l);
	folder_end();
}

static void damaged_folders_are_refused_with_file_and_line(void **state)
{
	static const struct {
		const char *about_name, *about, *lines_name, *lines, *says;
	} bad[] = {
		{ "failures.json", "{", "cells.jsonl", "",
		  "failures.json:1: truncated or damaged" },
		{ "failures.json", "[]", "cells.jsonl", "", "failures.json:" },
		{ "failures.json", FAILURES_ABOUT, "cells.jsonl", "{}\nx\n", "cells.jsonl:2: " },
		{ "failures.json",
		  "{\"engines\": [7], \"seeds\": 1, \"damage\": {\"rates_pct\": [0]}}",
		  "cells.jsonl", "", "no engines, steps or seeds, or too many" },
		{ "failures.json",
		  "{\"engines\": [\"a\"], \"seeds\": 1000000, \"damage\": {\"rates_pct\": [0]}}",
		  "cells.jsonl", "", "no engines, steps or seeds, or too many" },
		{ "failures.json",
		  "{\"engines\": [\"a\"], \"seeds\": -1, \"damage\": {\"days\": [0]}}",
		  "cells.jsonl", "", "no engines, steps or seeds, or too many" },
		{ "replay.json", "{\"replay\": 1}", "times.jsonl", "", "it has no routings" },
		{ "replay.json", REPLAY_ABOUT, "times.jsonl", "", "no line yet" },
		{ "replay.json", REPLAY_ABOUT, "times.jsonl", "{\"time\":", "times.jsonl:1: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct campaign_list *l = NULL;
		struct err err = { "" };

		folder_new();
		put(bad[i].about_name, bad[i].about);
		put(bad[i].lines_name, bad[i].lines);
		assert_true(campaign_folder_read(&l, dir, &err) < 0);
		assert_null(l);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s", err.text);
		folder_end();
	}
}

static void what_is_missing_is_said_with_what_to_do(void **state)
{
	struct campaign_list *l;
	struct err err = { "" };

	(void)state;
	folder_new();
	assert_false(campaign_folder_is(dir));
	assert_int_equal(campaign_folder_read(&l, dir, &err), -ENOENT);
	put("campaign.json", "{}");
	assert_true(campaign_folder_is(dir));
	assert_int_equal(campaign_folder_read(&l, dir, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ibroute-top campaign merge"));
	folder_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_campaign_of_failures_is_read_by_engine_and_step),
		cmocka_unit_test(a_replay_is_read_by_routing_and_moment),
		cmocka_unit_test(damaged_folders_are_refused_with_file_and_line),
		cmocka_unit_test(what_is_missing_is_said_with_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
