/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/jobwire.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct job_list *two_jobs(void)
{
	static const char *const a[] = { "n0001", "n0002" }, *const b[] = { "n0007" };
	struct job_list *l = job_list_new("slurm", 1234567890123);

	job_list_add(l, &(struct job_rec){ .id = 1ull << 40,
					   .name = "wrf",
					   .user = "sato",
					   .nodes = "n[0001-0002]",
					   .attr = { [JOB_LABEL] = "33_7",
						     [JOB_PARTITION] = "gpu",
						     [JOB_FEATURES] = "ib&a\x1b" },
					   .hosts = a,
					   .nhost = 2,
					   .start_s = 42 });
	job_list_add(l, &(struct job_rec){ .id = 7, .nodes = "n0007", .hosts = b, .nhost = 1 });
	l->pending = 3;
	l->other = 4;
	job_list_failed(l, 12);
	job_list_failed(l, 5);
	job_list_sort(l);
	return l;
}

#define HELLO "{\"ibroute-slurm\": 2, \"slurm\": \"22.5.8\"}\n"

/* Greeted, and fed with that. */
static struct jobwire_reader *fed(const char *text, size_t len)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;

	jobwire_feed(r, HELLO, strlen(HELLO));
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_int_equal(m.type, JOBWIRE_HELLO);
	assert_string_equal(m.text, "22.5.8");
	jobwire_feed(r, text, len);
	return r;
}

static void a_list_comes_back_as_it_was(void **state)
{
	struct job_list *l = two_jobs();
	struct jobwire_reader *r;
	struct jobwire_msg m;
	size_t len;
	char *lines = jobwire_list(&len, l);

	(void)state;
	r = fed(lines, len);
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_int_equal(m.type, JOBWIRE_LIST);
	assert_true(job_list_same(m.list, l));
	assert_int_equal(m.list->time_s, 1234567890123);
	assert_int_equal(m.list->pending, 3);
	assert_int_equal(m.list->other, 4);
	assert_int_equal(m.list->nfailed, 2);
	assert_int_equal(m.list->failed[0], 5);
	assert_int_equal(m.list->failed[1], 12);
	assert_int_equal(m.list->jobs[0].id, 7);
	assert_string_equal(m.list->jobs[0].name, "");
	assert_string_equal(m.list->jobs[1].name, "wrf");
	assert_string_equal(m.list->jobs[1].user, "sato");
	assert_string_equal(m.list->jobs[1].nodes, "n[0001-0002]");
	assert_int_equal(m.list->jobs[1].start_s, 42);
	assert_string_equal(m.list->jobs[1].attr[JOB_LABEL], "33_7");
	assert_string_equal(m.list->jobs[1].attr[JOB_PARTITION], "gpu");
	assert_string_equal(m.list->jobs[1].attr[JOB_ACCOUNT], "");
	assert_string_equal(m.list->jobs[1].attr[JOB_FEATURES], "ib&a?");
	assert_string_equal(m.list->jobs[0].attr[JOB_LABEL], "");
	assert_int_equal(jobwire_next(&(struct jobwire_msg){ 0 }, r, NULL), 0);
	job_list_put(m.list);
	job_list_put(l);
	free(lines);
	jobwire_reader_free(r);
}

static void lines_may_arrive_byte_by_byte(void **state)
{
	struct jobwire_reader *r = fed("", 0);
	struct jobwire_msg m;
	size_t len;
	char *lines = jobwire_text(&len, JOBWIRE_FAIL, 9, "no controller");

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < len; i++) {
			jobwire_feed(r, lines + i, 1);
			assert_int_equal(jobwire_next(&m, r, NULL), i + 1 == len);
		}
		assert_int_equal(m.type, JOBWIRE_FAIL);
		assert_string_equal(m.text, "no controller");
		assert_int_equal(m.time_s, 9);
	}
	free(lines);
	jobwire_reader_free(r);
}

static void control_characters_in_names_become_question_marks(void **state)
{
	static const char text[] = "{\"job\": 1, \"name\": \"x\\u001bc\", \"user\": "
				   "\"\\u007f\", \"nodes\": \"n1\"}\n{\"end\": 1, \"jobs\": 1}\n"
				   "{\"fail\": 1, \"text\": \"a\\u001b[2Jb\\n\"}\n";
	struct jobwire_reader *r = fed(text, strlen(text));
	struct jobwire_msg m;

	(void)state;
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_string_equal(m.list->jobs[0].name, "x?c");
	assert_string_equal(m.list->jobs[0].user, "?");
	job_list_put(m.list);
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_string_equal(m.text, "a?[2Jb?");
	jobwire_reader_free(r);
}

/* Frees the messages that come of it; what the last call returned. */
static int outcome(const char *text, size_t len, struct err *err)
{
	struct jobwire_reader *r = fed(text, len);
	struct jobwire_msg m;
	int rc, last = 0;

	while ((rc = jobwire_next(&m, r, err)) > 0) {
		job_list_put(m.list);
		last = rc;
	}
	jobwire_reader_free(r);
	return rc ? rc : last;
}

static void what_no_poller_of_ours_writes_is_refused(void **state)
{
	static const char *const bad[] = {
		"Segmentation fault\n",
		"[]\n",
		"{\"job\": -1, \"nodes\": \"n1\"}\n",
		"{\"job\": \"7\", \"nodes\": \"n1\"}\n",
		"{\"job\": 7.5, \"nodes\": \"n1\"}\n",
		"{\"job\": 99999999999999999999, \"nodes\": \"n1\"}\n",
		"{\"job\": 7, \"job\": 8, \"nodes\": \"n1\"}\n",
		"{\"job\": 7, \"nodes\": \"n[1-\"}\n",
		"{\"job\": 7, \"nodes\": \"n[1-99999999]\"}\n",
		("{\"job\": 7, \"nodes\": \"n[1-900000]\"}\n{\"job\": 8, \"nodes\": \"n[1-900000]\"}\n"
		 "{\"job\": 9, \"nodes\": \"n[1-900000]\"}\n"),
		"{\"job\": 7, \"het\": 4294967295, \"nodes\": \"n1\"}\n",
		"{\"job\": 7, \"start\": -5, \"nodes\": \"n1\"}\n",
		"{\"end\": 1, \"jobs\": 2}\n",
		"{\"end\": 1, \"pending\": 4294967296}\n",
		"{\"end\": 1, \"failed\": [\"a\"]}\n",
		"{\"end\": null}\n",
		"{\"job\": 7, \"nodes\": \"n1\"}\n{\"same\": 1}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (outcome(bad[i], strlen(bad[i]), NULL) != -EPROTO)
			fail_msg("taken: %s", bad[i]);
}

static void a_line_without_end_is_refused_at_its_limit(void **state)
{
	size_t len = JOBWIRE_MAX_LINE + 1;
	char *line = xcalloc(len, 1);

	(void)state;
	memset(line, ' ', len);
	assert_int_equal(outcome(line, len, NULL), -EPROTO);
	assert_int_equal(outcome(line, len - 1, NULL), 0);
	free(line);
}

static void what_a_later_helper_adds_is_left_alone(void **state)
{
	static const char text[] = "{\"note\": true}\n{\"job\": 7, \"gpus\": [1], \"nodes\": "
				   "\"n1\"}\n{\"end\": 1, \"jobs\": 1, \"more\": {}}\n";

	(void)state;
	assert_int_equal(outcome(text, strlen(text), NULL), 1);
}

/* Added in any order; the leader has part 1. */
static void components_of_a_job_are_one(void **state)
{
	static const char *const hosts[] = { "n0007", "n0003", "n0004", "n0001" };
	struct job_list *l = job_list_new("slurm", 100);
	struct job_rec r = { .id = 9, .name = "b", .nodes = "n0007", .hosts = hosts, .nhost = 1 };

	(void)state;
	r.part = 2;
	r.start_s = 40;
	r.attr[JOB_PARTITION] = "gpu";
	job_list_add(l, &r);
	r.part = 1;
	r.attr[JOB_ACCOUNT] = "met";
	r.name = "a";
	r.nodes = "n[0003-0004]";
	r.hosts = hosts + 1;
	r.nhost = 2;
	r.start_s = 50;
	job_list_add(l, &r);
	r.attr[JOB_PARTITION] = "";
	r.id = 8;
	r.part = 0;
	r.nodes = "n0001";
	r.hosts = hosts + 3;
	r.nhost = 1;
	job_list_add(l, &r);
	job_list_sort(l);
	assert_int_equal(l->njob, 2);
	assert_int_equal(l->jobs[0].id, 8);
	assert_int_equal(l->jobs[1].id, 9);
	assert_string_equal(l->jobs[1].name, "a");
	assert_string_equal(l->jobs[1].nodes, "n[0003-0004,0007]");
	assert_int_equal(l->jobs[1].nhost, 3);
	assert_int_equal(l->jobs[1].start_s, 40);
	assert_string_equal(l->jobs[1].attr[JOB_ACCOUNT], "met");
	assert_string_equal(l->jobs[1].attr[JOB_PARTITION], "gpu");
	job_list_put(l);
}

static void changed_bytes_are_refused_or_read_within_bounds(void **state)
{
	struct job_list *l = two_jobs();
	int refused = 0, taken = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (int k = 0; k < 5000; k++) {
		size_t len;
		char *lines = jobwire_list(&len, l);
		int rc;

		for (int i = 0; i < 2; i++)
			lines[rng_below(&rng, len)] = (char)rng_u64(&rng);
		rc = outcome(lines, len, NULL);
		refused += rc == -EPROTO;
		taken += rc >= 0;
		free(lines);
	}
	assert_int_equal(refused + taken, 5000);
	assert_true(refused > 500);
	job_list_put(l);
}

static void another_version_is_refused_by_name(void **state)
{
	static const char hello[] = "{\"ibroute-slurm\": 3}\n";
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	struct err err;

	(void)state;
	jobwire_feed(r, hello, strlen(hello));
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "version 3, this program versions 1 to 2"));
	jobwire_reader_free(r);
}

/* Built before there were labels and partitions. */
static void a_helper_of_version_1_is_understood(void **state)
{
	static const char text[] = "{\"ibroute-slurm\": 1, \"slurm\": \"22.5.8\"}\n"
				   "{\"job\": 7, \"nodes\": \"n1\"}\n{\"end\": 1, \"jobs\": 1}\n";
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;

	(void)state;
	jobwire_feed(r, text, strlen(text));
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_int_equal(m.type, JOBWIRE_HELLO);
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_int_equal(m.list->jobs[0].id, 7);
	assert_string_equal(m.list->jobs[0].attr[JOB_PARTITION], "");
	job_list_put(m.list);
	jobwire_reader_free(r);
}

static void nothing_is_read_before_the_version_and_after_a_fault(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	struct err err;

	(void)state;
	jobwire_feed(r, "{\"same\": 1}\n", 12);
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTO);
	assert_non_null(strstr(err.text, "version"));
	jobwire_feed(r, HELLO, strlen(HELLO));
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTO);
	jobwire_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_comes_back_as_it_was),
		cmocka_unit_test(lines_may_arrive_byte_by_byte),
		cmocka_unit_test(control_characters_in_names_become_question_marks),
		cmocka_unit_test(what_no_poller_of_ours_writes_is_refused),
		cmocka_unit_test(a_line_without_end_is_refused_at_its_limit),
		cmocka_unit_test(what_a_later_helper_adds_is_left_alone),
		cmocka_unit_test(components_of_a_job_are_one),
		cmocka_unit_test(changed_bytes_are_refused_or_read_within_bounds),
		cmocka_unit_test(another_version_is_refused_by_name),
		cmocka_unit_test(a_helper_of_version_1_is_understood),
		cmocka_unit_test(nothing_is_read_before_the_version_and_after_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
