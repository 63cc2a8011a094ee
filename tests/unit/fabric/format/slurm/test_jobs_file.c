/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/jobs_file.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <time.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int read_text(struct job_log **log, const char *text, struct read_report *report,
		     struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = jobs_file_read(log, in, "jobs.txt", report, err);

	fclose(in);
	return rc;
}

static struct job_log *must_read(const char *text, struct read_report *report)
{
	struct job_log *log = NULL;
	struct err err = { "" };

	if (read_text(&log, text, report, &err))
		fail_msg("%s", err.text);
	return log;
}

static void assert_nodes(const struct job_record *r, uint64_t id, const char *nodes)
{
	assert_int_equal(r->id, id);
	assert_string_equal(r->nodes, nodes);
}

/* Components of a heterogeneous job have its leader's number, as squeue writes them. */
static void components_and_steps_are_one_job(void **state)
{
	struct job_log *log = must_read("17+1 n[0004-0005]\n"
					"12 n0009\n"
					"17+0 n[0001-0003]\n"
					"18.0 n[0006-0007]\n"
					"18.1 n[0007-0008]\n"
					"17+2 n0010\n"
					"19.batch n0011\n"
					"19 n[0011-0012]\n"
					"12 n0013\n", /* twice, but no part of the other */
					NULL);
	struct job_log *csv = must_read("5+0,100,300,n1\n5+1,110,310,n2\n6,1,2,n3\n", NULL);

	(void)state;
	assert_int_equal(log->n, 5);
	assert_nodes(&log->jobs[0], 12, "n0009");
	assert_nodes(&log->jobs[1], 17, "n[0001-0005,0010]");
	assert_nodes(&log->jobs[2], 18, "n[0006-0008]");
	assert_nodes(&log->jobs[3], 19, "n[0011-0012]");
	assert_nodes(&log->jobs[4], 12, "n0013");
	assert_int_equal(csv->n, 2);
	assert_nodes(&csv->jobs[0], 5, "n[1-2]");
	assert_int_equal(csv->jobs[0].start_s, 100);
	assert_int_equal(csv->jobs[0].end_s, 310);
	job_log_free(csv);
	job_log_free(log);
}

static void a_list_that_was_written_twice_counts_once(void **state)
{
	struct read_report report;
	struct job_log *log = must_read("17 n[0001-0003]\n12 n0009\n17 n[0001-0003]\n12 n0009\n"
					"12 n0010\n17 n[0001-0003]\n",
					&report);
	struct job_log *steps = must_read("18.0 n0006\n18.0 n0006\n18 n0006\n", NULL);
	struct job_log *csv = must_read("6,1,2,n3\n6,1,2,n3\n6,3,4,n3\n", NULL);

	(void)state;
	assert_int_equal(log->n, 3);
	assert_nodes(&log->jobs[0], 17, "n[0001-0003]");
	assert_nodes(&log->jobs[1], 12, "n0009");
	assert_nodes(&log->jobs[2], 12, "n0010");
	assert_int_equal(report.nnotes, 1);
	assert_non_null(
		strstr(report.notes[0].text, "3 lines repeat a job that was listed before"));
	assert_int_equal(steps->n, 1);
	assert_int_equal(csv->n, 2);
	job_log_free(csv);
	job_log_free(steps);
	job_log_free(log);
}

/* JobIDRaw alone cannot tell; JobID beside it can. */
static void sacct_tells_components_by_job_id(void **state)
{
	struct job_log *log = must_read("JobIDRaw|JobID|JobName|User|NodeList\n"
					"20|20+0|a|u|n[1-2]\n"
					"20.batch|20+0.batch|batch||n1\n"
					"21|20+1|a|u|n3\n"
					"21.0|20+1.0|s||n3\n"
					"22|22_1|b|u|n4\n"
					"23|22_2|b|u|n5\n",
					NULL);
	struct job_log *one =
		must_read("JobID|NodeList\n30+0|n1\n30+1|n2\n31_1|n3\n31_2|n4\n", NULL);

	(void)state;
	assert_int_equal(log->n, 3);
	assert_nodes(&log->jobs[0], 20, "n[1-3]");
	assert_string_equal(log->jobs[0].name, "a");
	assert_nodes(&log->jobs[1], 22, "n4");
	assert_string_equal(log->jobs[0].attr[JOB_LABEL], "");
	assert_string_equal(log->jobs[1].attr[JOB_LABEL], "22_1");
	assert_string_equal(log->jobs[2].attr[JOB_LABEL], "22_2");
	assert_nodes(&log->jobs[2], 23, "n5");
	assert_int_equal(one->n, 3);
	assert_nodes(&one->jobs[0], 30, "n[1-2]");
	assert_nodes(&one->jobs[1], 31, "n3");
	job_log_free(one);
	job_log_free(log);
}

static void sacct_tells_partition_account_reservation_and_constraints(void **state)
{
	struct job_log *log =
		must_read("JobIDRaw|Partition|Account|Reservation|Constraints|NodeList\n"
			  "20|gpu|met|maint|ib&a100|n[1-2]\n",
			  NULL);

	(void)state;
	assert_string_equal(log->jobs[0].attr[JOB_PARTITION], "gpu");
	assert_string_equal(log->jobs[0].attr[JOB_ACCOUNT], "met");
	assert_string_equal(log->jobs[0].attr[JOB_RESERVATION], "maint");
	assert_string_equal(log->jobs[0].attr[JOB_FEATURES], "ib&a100");
	job_log_free(log);
}

/* A number that two tasks share is no id; as people know them, each has one. */
static void tasks_of_an_array_are_known_by_their_own_id(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct job_log *log = must_read("5_1 n[0001-0002]\n5_2 n0003\n7 n0004\n", NULL);
	struct jobset *js = NULL;
	struct err err = { "" };
	char id[JOB_ID_LEN];
	uint64_t number;

	(void)state;
	assert_int_equal(job_log_jobset(&js, log, f, JOB_LOG_ALL, "file", &err), 0);
	assert_string_equal(job_text(id, &js->jobs[0]), "5_1");
	assert_string_equal(jobset_id_text(id, js, 7), "7");
	assert_string_equal(jobset_id_text(id, js, 99), "99");
	assert_true(jobset_id_find(&number, js, "5_2"));
	assert_int_equal(number, 5);
	assert_true(jobset_id_find(&number, js, "7"));
	assert_false(jobset_id_find(&number, js, "8"));
	assert_false(jobset_id_find(&number, js, ""));
	jobset_put(js);
	job_log_free(log);
	fabric_put(f);
}

static void a_list_of_jobs_becomes_a_job_set(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL); /* n0000 .. n0015 */
	struct read_report report;
	struct job_log *log = must_read("# jobs of today\r\n"
					"17 n[0000-0007]\r\n"
					"\r\n"
					"18\tn[0008,0012],nowhere\r\n"
					"19 (null)\r\n"
					"20   n0015  \r\n",
					&report);
	struct jobset *js = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(report.records, 3);
	assert_int_equal(report.skipped, 1);
	assert_int_equal(job_log_jobset(&js, log, f, JOB_LOG_ALL, "file jobs.txt", &err), 0);
	assert_int_equal(js->njob, 3);
	assert_int_equal(js->nmulti, 2);
	assert_int_equal(js->jobs[0].id, 17);
	assert_int_equal(js->jobs[0].nterm, 8);
	assert_int_equal(js->jobs[0].nsw, 2);
	assert_int_equal(js->jobs[1].id, 18);
	assert_int_equal(js->jobs[1].unknown, 1);
	assert_string_equal(js->jobs[2].nodes, "n0015");
	assert_string_equal(js->source, "file jobs.txt");
	jobset_put(js);
	job_log_free(log);
	fabric_put(f);
}

static const char history[] = "jobid,start,end,nodelist\n"
			      "1,1000,2000,n[0000-0001]\n"
			      "2,1500,Unknown,\"n[0002-0003],n0004\"\n"
			      "3,2000,3000,n0005,n0006\n"
			      "4,,,n0007\n";

static void a_point_in_time_selects_the_jobs_that_run_then(void **state)
{
	static const struct {
		int64_t at_s;
		uint32_t njob;
	} cases[] = { { 999, 1 },  { 1000, 2 }, { 1999, 3 },
		      { 2000, 3 }, { 3000, 2 }, { JOB_LOG_ALL, 4 } };
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct job_log *log = must_read(history, NULL);
	int64_t first, last;

	(void)state;
	job_log_span(log, &first, &last);
	assert_int_equal(first, 1000);
	assert_int_equal(last, 3000);
	assert_string_equal(log->jobs[2].nodes, "n0005,n0006");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jobset *js = NULL;
		struct err err;

		assert_int_equal(job_log_jobset(&js, log, f, cases[i].at_s, "x", &err), 0);
		assert_int_equal(js->njob, cases[i].njob);
		if (cases[i].at_s != JOB_LOG_ALL)
			assert_int_equal(js->time_s, cases[i].at_s);
		jobset_put(js);
	}
	job_log_free(log);
	fabric_put(f);
}

static const char sacct[] =
	"JobIDRaw|JobName|User|State|Start|End|NNodes|NodeList\n"
	"100|cfd|anna|COMPLETED|2026-11-20T10:00:00|2026-11-20T11:30:00|2|n[0001-0002]\n"
	"100.batch|batch||COMPLETED|2026-11-20T10:00:00|2026-11-20T11:30:00|1|n0001\n"
	"101|md|bert|RUNNING|2026-11-20T11:00:00|Unknown|1|n0003\n"
	"102|wait|anna|PENDING|Unknown|Unknown|4|None assigned\n";

static void what_sacct_prints_is_understood(void **state)
{
	struct tm tm = {
		.tm_year = 126, .tm_mon = 10, .tm_mday = 20, .tm_hour = 11, .tm_isdst = -1
	};
	struct read_report report;
	struct job_log *log = must_read(sacct, &report);

	(void)state;
	assert_int_equal(log->n, 2);
	assert_int_equal(log->jobs[0].id, 100);
	assert_string_equal(log->jobs[0].name, "cfd");
	assert_string_equal(log->jobs[0].user, "anna");
	assert_int_equal(log->jobs[0].end_s - log->jobs[0].start_s, 5400);
	assert_int_equal(log->jobs[1].start_s, mktime(&tm));
	assert_int_equal(log->jobs[1].end_s, 0);
	assert_int_equal(report.skipped, 1);
	job_log_free(log);
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *where, *what;
	} cases[] = {
		{ "1 n1\n2 n[3-1]\n", "jobs.txt:2: ", "position 6" },
		{ "1 n1\nhello world\n", "jobs.txt:2: ", "jobid nodelist" },
		{ "1,5,n1\n", "jobs.txt:1: ", "jobid,start,end,nodelist is expected" },
		{ "1,yesterday,6,n1\n", "jobs.txt:1: ", "not a time: yesterday" },
		{ "7\n", "jobs.txt:1: ", "jobid nodelist" },
		{ "JobIDRaw|State\n1|x\n", "jobs.txt:1: ", "NodeList" },
		{ "JobIDRaw|NodeList\nx|n1\n", "jobs.txt:2: ", "not a job id" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct job_log *log = NULL;
		struct err err = { "" };

		assert_int_equal(read_text(&log, cases[i].text, NULL, &err), -EINVAL);
		if (!strstr(err.text, cases[i].where) || !strstr(err.text, cases[i].what))
			fail_msg("case %zu: %s", i, err.text);
		assert_null(log);
	}
}

/* As SLURM writes it with JobCompType=jobcomp/filetxt. */
static const char filetxt[] =
	"JobId=41 UserId=anna(1000) GroupId=users(100) Name=a b NodeCnt x JobState=COMPLETED "
	"Partition=all TimeLimit=60 StartTime=2026-11-20T10:00:00 EndTime=2026-11-20T11:00:00 "
	"NodeList=n[1-4] NodeCnt=4 ProcCnt=8 WorkDir=/home/anna ReservationName= Tres=cpu=8 "
	"ArrayJobId=0 ArrayTaskId=4294967294 HetJobId=0 HetJobOffset=4294967294\n"
	"JobId=43 UserId=bert(1001) Name=h JobState=COMPLETED StartTime=1000 EndTime=2000 "
	"NodeList=n5 HetJobId=42 HetJobOffset=1\n"
	"JobId=42 UserId=bert(1001) Name=h JobState=COMPLETED StartTime=1000 EndTime=2100 "
	"NodeList=n[6-7] HetJobId=42 HetJobOffset=0\n"
	"JobId=44 UserId=bert(1001) Name=never JobState=CANCELLED StartTime=Unknown EndTime=1000 "
	"NodeList=(null)\n";

static void the_log_of_jobcomp_filetxt_is_read(void **state)
{
	struct read_report report;
	struct job_log *log = must_read(filetxt, &report);
	struct job_log *none = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(log->n, 2);
	assert_nodes(&log->jobs[0], 41, "n[1-4]");
	assert_string_equal(log->jobs[0].name, "a b NodeCnt x");
	assert_string_equal(log->jobs[0].user, "anna");
	assert_int_equal(log->jobs[0].end_s - log->jobs[0].start_s, 3600);
	assert_nodes(&log->jobs[1], 42, "n[5-7]");
	assert_int_equal(log->jobs[1].end_s, 2100);
	assert_int_equal(report.skipped, 1);
	assert_true(log->local_times);
	assert_int_equal(read_text(&none, "JobId=1 Name=x NodeList=n1\n", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "jobs.txt:1: "));
	job_log_free(log);
}

static void a_workload_in_standard_format_says_how_many_nodes(void **state)
{
	struct read_report report;
	struct job_log *log = must_read("; Version: 2.2\n"
					"; UnixStartTime: 1000000\n"
					"; MaxNodes: 128\n"
					"; MaxProcs: 512\n"
					"1 0 10 100 16 -1 -1 16 -1 -1 1 7 1 1 1 -1 -1 -1\n"
					"2 5 -1 50 -1 -1 -1 5 -1 -1 1 8 1 1 1 -1 -1 -1\n"
					"3 6 0 -1 4 -1 -1 4 -1 -1 0 8 1 1 1 -1 -1 -1\n"
					"4 7 0 90 3 -1 -1 3 -1 -1 0 8 1 1 1 -1 -1 -1\n",
					&report);
	struct job_log *bad = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(log->n, 3);
	assert_int_equal(log->jobs[0].start_s, 1000010);
	assert_int_equal(log->jobs[0].end_s, 1000110);
	assert_int_equal(log->jobs[0].wants, 4);
	assert_string_equal(log->jobs[0].user, "user7");
	assert_int_equal(log->jobs[1].wants, 2);
	assert_int_equal(log->jobs[1].procs, 0);
	assert_int_equal(log->jobs[2].wants, 1);
	assert_int_equal(log->jobs[2].procs, 3);
	assert_int_equal(log->jobs[2].node_procs, 4);
	assert_int_equal(report.skipped, 1);
	assert_false(log->local_times);
	assert_int_equal(read_text(&bad, "; MaxNodes: 4\n1 0 10 100\n", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "jobs.txt:2: 18 numbers"));
	job_log_free(log);
}

/* squeue -o '%i %N', and -o '%i,...': tasks that wait are one line. */
static void tasks_of_an_array_are_jobs_of_their_own(void **state)
{
	struct job_log *log = must_read("JOBID NODELIST\n"
					"12_3 n1\n"
					"12_4 n2\n"
					"12_[5,7-9%2] \n"
					"12_3.0 n3\n",
					NULL);
	char name[40];

	(void)state;
	assert_int_equal(log->n, 2);
	assert_nodes(&log->jobs[0], 12, "n[1,3]");
	assert_string_equal(job_record_name(name, &log->jobs[1]), "12_4");
	job_log_free(log);
}

static void columns_of_sacct_come_in_any_order(void **state)
{
	struct read_report report;
	struct job_log *log =
		must_read("NodeList|End|JobName|JobID|Start\n"
			  "n[1-2]|2026-11-20T11:00:00Z|x|7|2026-11-20T10:00:00+01:00\n"
			  "n3|Unknown|a|b|8|5\n"
			  "n3|Unknown|y|9|1700000000\n",
			  &report);
	struct job_log *bare = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(log->n, 2);
	assert_int_equal(log->jobs[0].end_s - log->jobs[0].start_s, 7200);
	assert_int_equal(log->jobs[1].start_s, 1700000000);
	assert_false(log->local_times);
	assert_int_equal(report.skipped, 1);
	assert_int_equal(read_text(&bare, "7|x|n1\n", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "its header"));
	job_log_free(log);
}

static int try_read(FILE *in, void *ctx)
{
	struct job_log *log = NULL;
	struct read_report report;
	struct jobset *js = NULL;
	struct err err = { "" };
	int rc = jobs_file_read(&log, in, "damaged", &report, &err);

	assert_true(!rc || err.text[0]);
	if (!rc && !job_log_jobset(&js, log, ctx, JOB_LOG_ALL, "x", &err))
		jobset_put(js);
	job_log_free(log);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	static const char *const texts[] = { history, sacct, "17 n[0000-0007]\n18 n[0008,0012]\n",
					     filetxt };
	struct fabric *f = net_tree(4, 2, 4, NULL);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct survived s = damage(texts[i], strlen(texts[i]), 51 + i, 2000, try_read, f);

		assert_true(s.accepted > 50);
		assert_true(s.refused > 50);
	}
	fabric_put(f);
}

/* A line of 14 bytes names a million hosts. */
static void jobs_that_name_too_many_hosts_together_are_refused_at_once(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct job_log *log = NULL;
	struct jobset *js = NULL;
	struct err err = { "" };
	char text[60000] = "", *at = text;
	clock_t t0 = clock();

	(void)state;
	for (int i = 1; i <= 3000; i++)
		at += sprintf(at, "%d n[0-999999]\n", i);
	assert_int_equal(read_text(&log, text, NULL, &err), 0);
	assert_int_equal(log->n, 3000);
	assert_int_equal(job_log_jobset(&js, log, f, JOB_LOG_ALL, "file x", &err), -E2BIG);
	assert_non_null(strstr(err.text, "file x: up to job 3,"));
	assert_true(clock() - t0 < 5 * CLOCKS_PER_SEC);
	job_log_free(log);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_jobs_becomes_a_job_set),
		cmocka_unit_test(components_and_steps_are_one_job),
		cmocka_unit_test(a_list_that_was_written_twice_counts_once),
		cmocka_unit_test(sacct_tells_components_by_job_id),
		cmocka_unit_test(sacct_tells_partition_account_reservation_and_constraints),
		cmocka_unit_test(tasks_of_an_array_are_known_by_their_own_id),
		cmocka_unit_test(a_point_in_time_selects_the_jobs_that_run_then),
		cmocka_unit_test(what_sacct_prints_is_understood),
		cmocka_unit_test(the_log_of_jobcomp_filetxt_is_read),
		cmocka_unit_test(a_workload_in_standard_format_says_how_many_nodes),
		cmocka_unit_test(tasks_of_an_array_are_jobs_of_their_own),
		cmocka_unit_test(columns_of_sacct_come_in_any_order),
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(jobs_that_name_too_many_hosts_together_are_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
