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
#include <zlib.h>

static struct job_list *two_jobs(void)
{
	static const char *const a[] = { "n0001", "n0002" }, *const b[] = { "n0007" };
	struct job_list *l = job_list_new("slurm", 1234567890123);

	job_list_add(l, &(struct job_rec){ .id = 1ull << 40,
					   .name = "wrf",
					   .user = "sato",
					   .nodes = "n[0001-0002]",
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

static uint8_t *two_jobs_frame(size_t *len)
{
	struct job_list *l = two_jobs();
	uint8_t *frame = jobwire_list(len, l);

	job_list_put(l);
	return frame;
}

static void a_list_comes_back_as_it_was(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct job_list *l = two_jobs();
	struct jobwire_msg m;
	size_t len;
	uint8_t *frame = jobwire_list(&len, l);

	(void)state;
	jobwire_feed(r, frame, len);
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
	assert_int_equal(jobwire_next(&(struct jobwire_msg){ 0 }, r, NULL), 0);
	job_list_put(m.list);
	job_list_put(l);
	free(frame);
	jobwire_reader_free(r);
}

static void frames_may_arrive_byte_by_byte(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	size_t len;
	uint8_t *frame = jobwire_text(&len, JOBWIRE_FAIL, 9, "no controller");
	int messages = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < len; i++) {
			int rc;

			jobwire_feed(r, frame + i, 1);
			rc = jobwire_next(&m, r, NULL);
			assert_int_equal(rc, i + 1 == len);
			messages += rc;
		}
		assert_string_equal(m.text, "no controller");
		assert_int_equal(m.time_s, 9);
	}
	assert_int_equal(messages, 3);
	free(frame);
	jobwire_reader_free(r);
}

static void control_characters_in_names_become_question_marks(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	size_t len;
	struct job_list *l = job_list_new("slurm", 0);
	uint8_t *frame = jobwire_text(&len, JOBWIRE_FAIL, 0, "a\033[2Jb\n\x7f");

	(void)state;
	jobwire_feed(r, frame, len);
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_string_equal(m.text, "a?[2Jb??");
	free(frame);
	job_list_add(l, &(struct job_rec){ .id = 1, .name = "x\033c", .user = "\x7f" });
	frame = jobwire_list(&len, l);
	jobwire_feed(r, frame, len);
	assert_int_equal(jobwire_next(&m, r, NULL), 1);
	assert_string_equal(m.list->jobs[0].name, "x?c");
	assert_string_equal(m.list->jobs[0].user, "?");
	job_list_put(m.list);
	job_list_put(l);
	free(frame);
	jobwire_reader_free(r);
}

/* Feeds the frame; frees the message that comes of it. */
static int outcome(const uint8_t *frame, size_t len)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	int rc;

	jobwire_feed(r, frame, len);
	rc = jobwire_next(&m, r, NULL);
	job_list_put(m.list);
	jobwire_reader_free(r);
	return rc;
}

static void any_single_changed_byte_is_noticed(void **state)
{
	size_t len;
	uint8_t *frame = two_jobs_frame(&len);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			frame[i] ^= (uint8_t)(1 << bit);
			/* with a larger length it waits for more */
			if (i >= 8 && i < 12)
				assert_int_not_equal(outcome(frame, len), 1);
			else
				assert_int_equal(outcome(frame, len), -EPROTO);
			frame[i] ^= (uint8_t)(1 << bit);
		}
	}
	assert_int_equal(outcome(frame, len), 1);
	free(frame);
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
	job_list_add(l, &r);
	r.part = 1;
	r.name = "a";
	r.nodes = "n[0003-0004]";
	r.hosts = hosts + 1;
	r.nhost = 2;
	r.start_s = 50;
	job_list_add(l, &r);
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
	job_list_put(l);
}

static void a_cut_frame_is_waited_for(void **state)
{
	size_t len;
	uint8_t *frame = two_jobs_frame(&len);

	(void)state;
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(outcome(frame, cut), 0);
	free(frame);
}

static void random_bytes_never_make_a_message(void **state)
{
	struct rng rng;
	uint8_t junk[512];

	(void)state;
	rng_seed(&rng, 5);
	for (int k = 0; k < 2000; k++) {
		for (size_t i = 0; i < sizeof(junk); i++)
			junk[i] = (uint8_t)rng_u64(&rng);
		assert_int_equal(outcome(junk, sizeof(junk)), -EPROTO);
	}
}

/* Sums up a changed frame again, so that only the checks of the payload stand. */
static void forge(uint8_t *frame, size_t len)
{
	uint32_t crc = (uint32_t)crc32(crc32(0, frame, 12), frame + 16, (uInt)(len - 16));

	memcpy(frame + 12, &crc, 4);
}

static void forged_payloads_are_refused_or_read_within_bounds(void **state)
{
	int refused = 0, taken = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (int k = 0; k < 5000; k++) {
		size_t len;
		uint8_t *frame = two_jobs_frame(&len);
		int rc;

		for (int i = 0; i < 2; i++)
			frame[16 + rng_below(&rng, len - 16)] = (uint8_t)rng_u64(&rng);
		forge(frame, len);
		rc = outcome(frame, len);
		refused += rc == -EPROTO;
		taken += rc == 1;
		free(frame);
	}
	assert_int_equal(refused + taken, 5000);
	assert_true(refused > 500);
}

static void a_frame_of_another_version_is_refused_by_name(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	struct err err;
	size_t len;
	uint8_t *frame = two_jobs_frame(&len);

	(void)state;
	frame[4]++;
	forge(frame, len);
	jobwire_feed(r, frame, len);
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTO);
	assert_non_null(strstr(err.text, "version"));
	free(frame);
	jobwire_reader_free(r);
}

static void nothing_is_read_after_a_fault(void **state)
{
	struct jobwire_reader *r = jobwire_reader_new();
	struct jobwire_msg m;
	struct err err;
	size_t len;
	uint8_t *frame = two_jobs_frame(&len);

	(void)state;
	jobwire_feed(r, "Segmentation fault", 18);
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTO);
	assert_non_null(strstr(err.text, "magic"));
	jobwire_feed(r, frame, len);
	assert_int_equal(jobwire_next(&m, r, &err), -EPROTO);
	free(frame);
	jobwire_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_comes_back_as_it_was),
		cmocka_unit_test(frames_may_arrive_byte_by_byte),
		cmocka_unit_test(control_characters_in_names_become_question_marks),
		cmocka_unit_test(any_single_changed_byte_is_noticed),
		cmocka_unit_test(components_of_a_job_are_one),
		cmocka_unit_test(a_cut_frame_is_waited_for),
		cmocka_unit_test(random_bytes_never_make_a_message),
		cmocka_unit_test(forged_payloads_are_refused_or_read_within_bounds),
		cmocka_unit_test(a_frame_of_another_version_is_refused_by_name),
		cmocka_unit_test(nothing_is_read_after_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
