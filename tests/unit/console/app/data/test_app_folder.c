/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of key w, which somebody else may have made: read by a process that can do nothing else.
 */
#include "console/app/data/app_folder.h"

#include "console/app/app_priv.h"
#include "console/session/samples/sample_history.h"
#include "fabric/base/process/confine.h"
#include "tests/unit/kit/apart_spy.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/temp_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <jansson.h>
#include <zlib.h>

#include <cmocka.h>

json_t *__real_json_loadf(FILE *in, size_t flags, json_error_t *why);
json_t *__wrap_json_loadf(FILE *in, size_t flags, json_error_t *why);
json_t *__wrap_json_loadf(FILE *in, size_t flags, json_error_t *why)
{
	tries_all();
	return __real_json_loadf(in, flags, why);
}

json_t *__real_json_loads(const char *text, size_t flags, json_error_t *why);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *why);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *why)
{
	tries_all();
	return __real_json_loads(text, flags, why);
}

int __real_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len);
int __wrap_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len);
int __wrap_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len)
{
	tries_all();
	return __real_uncompress(to, len, from, from_len);
}

static char dir[] = "/tmp/test_app_folder.XXXXXX";
static struct fabric *f;

static int setup(void **state)
{
	struct sample_history *past = sample_history_new(1u << 20, 100);
	struct backdrop b = { .tables = NULL };
	FILE *out;

	(void)state;
	tries_begin();
	temp_folder_begin(dir);
	f = net_tree(2, 1, 2, NULL);
	b.fabric = f;
	temp_folder_put(SNAPSHOT_STATE,
			"{\"fabric\": \"prod\", \"interval_s\": 2.5, \"sls_known\": true, "
			"\"sm\": {\"lid\": 7, \"guid\": \"0x00ab\", \"name\": \"opensm\"}}");
	temp_folder_put(SNAPSHOT_LIST,
			"{\"source\": \"slurm\", \"time_s\": 5, \"pending\": 3, \"jobs\": ["
			"{\"id\": 77, \"name\": \"a\", \"user\": \"u\", \"nodes\": \"n[1-2]\", "
			"\"hosts\": [\"n1\", 4, \"n2\"], \"start_s\": 9}, {\"id\": 78}]}");
	temp_folder_put(SNAPSHOT_EVENTS, "{\"time_ns\": 4, \"level\": \"warn\", \"area\": \"x\", "
					 "\"text\": \"one\"}\nnothing\n{\"text\": \"two\"}\n");
	out = temp_folder_open(SNAPSHOT_HISTORY, "w");
	assert_int_equal(sample_history_write(out, past, &b, NULL), 0);
	assert_int_equal(fclose(out), 0);
	sample_history_free(past);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_folder_end();
	free(way.data);
	fabric_put(f);
	return 0;
}

static int reads(struct app_folder *a, struct err *err)
{
	int rc = app_folder_read_state(a, dir, err);

	return rc ? rc : app_folder_read_rest(a, dir, true, err);
}

static void what_is_in_it_comes_back(void **state)
{
	struct app_folder *a = xcalloc(1, sizeof(*a));
	struct err err = { "" };

	(void)state;
	if (reads(a, &err))
		fail_msg("%s", err.text);
	assert_string_equal(a->fabric, "prod");
	assert_true(a->interval_s > 2.4 && a->interval_s < 2.6 && a->sls_told && a->sls_known);
	assert_true(a->sm.known && a->sm.lid == 7 && a->sm.guid == 0xab);
	assert_string_equal(a->sm.name, "opensm");
	assert_int_equal(a->jobs->njob, 1);
	assert_int_equal(a->jobs->pending, 3);
	assert_int_equal(a->jobs->jobs[0].nhost, 2);
	assert_string_equal(a->jobs->jobs[0].hosts[1], "n2");
	assert_string_equal(a->jobs->source, "slurm");
	assert_int_equal(events_count(&a->events), 2);
	assert_string_equal(events_get(&a->events, 1)->text, "one");
	assert_int_equal(events_get(&a->events, 1)->level, LOG_WARN);
	app_folder_clear(a);
	free(a);
}

static void who_reads_it_can_do_nothing_else(void **state)
{
	struct app_folder *a = xcalloc(1, sizeof(*a));
	FILE *in = temp_folder_open(SNAPSHOT_HISTORY, "r");

	(void)state;
	if (!confine_has_seccomp())
		skip();
	*tries = (struct tries){ 0 };
	assert_int_equal(reads(a, NULL), 0);
	assert_int_equal(tries->here + tries->able, 0);
	assert_int_equal(tries->denied, 5); /* three lines, and two files */
	assert_int_equal(sample_history_read_ports(in, f, "history", NULL), 0);
	assert_int_equal(tries->here + tries->able, 0);
	assert_int_equal(tries->denied, 6);
	fclose(in);
	app_folder_clear(a);
	free(a);
}

static void damage_is_told_with_its_line(void **state)
{
	struct app_folder *a = xcalloc(1, sizeof(*a));
	struct err err;

	(void)state;
	temp_folder_put(SNAPSHOT_STATE, "{\n\"fabric\": ");
	assert_int_equal(reads(a, &err), -EBADMSG);
	assert_non_null(strstr(err.text, SNAPSHOT_STATE ":2: truncated or damaged"));
	temp_folder_put(SNAPSHOT_STATE, "{}");
	assert_int_equal(reads(a, &err), 0);
	assert_null(a->fabric);
	app_folder_clear(a);
	free(a);
}

/* The state, then the jobs, then the events: each time the last of them is changed. */
static void whatever_is_sent_is_taken_or_refused(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 9);
	for (int part = 0; part < 2; part++) {
		struct app_folder *a = xcalloc(1, sizeof(*a));
		uint8_t *sent;
		size_t len;

		way.keep = true;
		assert_int_equal(part ? app_folder_read_rest(a, dir, true, NULL)
				      : app_folder_read_state(a, dir, NULL),
				 0);
		way.keep = false;
		app_folder_clear(a);
		sent = way.data;
		len = way.len;
		way.replace = true;
		for (unsigned round = 0; round < 300; round++) {
			struct err err = { "" };
			int rc;

			way_spoil(&rng, round, sent, len);
			rc = part ? app_folder_read_rest(a, dir, round % 2, &err)
				  : app_folder_read_state(a, dir, &err);
			assert_true(!rc || err.text[0]);
			app_folder_clear(a);
			free(way.data);
		}
		way.replace = false;
		way.data = sent;
		free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_it_comes_back),
		cmocka_unit_test(who_reads_it_can_do_nothing_else),
		cmocka_unit_test(whatever_is_sent_is_taken_or_refused),
		cmocka_unit_test(damage_is_told_with_its_line),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
