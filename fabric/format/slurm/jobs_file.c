/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/jobs_file.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/message/plural.h"
#include "fabric/format/slurm/filetxt.h"
#include "fabric/format/slurm/job_line.h"
#include "fabric/format/slurm/swf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_COLUMNS 64

enum column {
	COL_ID,
	COL_JOB,
	COL_NAME,
	COL_USER,
	COL_START,
	COL_END,
	COL_NODES,
	COL_PARTITION,
	COL_ACCOUNT,
	COL_RESERVATION,
	COL_CONSTRAINTS,
	COLUMNS
};

struct reader {
	struct job_lines in;
	struct swf swf;
	bool sacct;	     /* its header was seen */
	int column[COLUMNS]; /* of sacct, -1: not there */
	int ncolumn;
};

static void jobs_file_trim(char **s)
{
	size_t len;

	*s += strspn(*s, " \t");
	len = strlen(*s);
	while (len && strchr(" \t", (*s)[len - 1]))
		(*s)[--len] = '\0';
	if (len >= 2 && **s == '"' && (*s)[len - 1] == '"') {
		(*s)[len - 1] = '\0';
		(*s)++;
	}
}

/* Cuts s at its first separator and returns what is behind, or NULL. */
static char *jobs_file_cut(char *s, char sep)
{
	char *at = strchr(s, sep);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

/* "jobid,start,end,nodelist": the node list is all of the rest */
static int jobs_file_csv_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	char *word[4] = { s };
	const char *p;
	int rc;

	for (int i = 1; i < 4; i++) {
		word[i] = jobs_file_cut(word[i - 1], ',');
		if (!word[i])
			return job_line_mistake(&x->in, "jobid,start,end,nodelist is expected", s);
	}
	for (int i = 0; i < 4; i++)
		jobs_file_trim(&word[i]);
	p = word[0];
	if (!job_line_scan_id(&r, &p) || *p)
		return job_line_mistake(&x->in, "not a job id", word[0]);
	rc = job_line_time(&r.start_s, &x->in, word[1]);
	if (!rc)
		rc = job_line_time(&r.end_s, &x->in, word[2]);
	r.nodes = word[3];
	return rc ? rc : job_line_add(&x->in, &r);
}

static int jobs_file_list_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	const char *p = s;

	if (!job_line_scan_id(&r, &p) || (*p != ' ' && *p != '\t'))
		return job_line_mistake(&x->in, "\"jobid nodelist\" is expected", s);
	scan_blank(&p);
	r.nodes = s + (p - s);
	jobs_file_trim(&r.nodes);
	return job_line_add(&x->in, &r);
}

static int jobs_file_sacct_header(struct reader *x, char *s)
{
	static const char *const names[COLUMNS] = { "JobIDRaw",	   "JobID",	 "JobName",
						    "User",	   "Start",	 "End",
						    "NodeList",	   "Partition",	 "Account",
						    "Reservation", "Constraints" };

	for (int k = 0; k < COLUMNS; k++)
		x->column[k] = -1;
	for (int i = 0; s; i++) {
		char *next = jobs_file_cut(s, '|');

		for (int k = 0; k < COLUMNS; k++)
			if (!strcasecmp(s, names[k]))
				x->column[k] = i;
		x->ncolumn = i + 1;
		s = next;
	}
	if (x->column[COL_ID] < 0)
		x->column[COL_ID] = x->column[COL_JOB];
	if (x->column[COL_ID] < 0 || x->column[COL_NODES] < 0)
		return job_line_mistake(
			&x->in, "the header of sacct -P must name JobIDRaw and NodeList", "");
	x->sacct = true;
	return 0;
}

static char *jobs_file_word_of(const struct reader *x, char *const *word, int n, enum column k)
{
	static char none[] = "";
	int i = x->column[k];

	return i >= 0 && i < n ? word[i] : none;
}

/* JobIDRaw gives each component of a heterogeneous job a number of its own, JobID the leader's. */
static void jobs_file_sacct_leader(struct job_record *r, const char *job)
{
	struct job_record leader = { 0 };

	if (job_line_scan_id(&leader, &job) && leader.part) {
		r->id = leader.id;
		r->task = leader.task;
		r->part = leader.part;
	}
}

/* JobIDRaw gives a task of an array a number of its own, JobID that of the array and the task. */
static void jobs_file_sacct_label(char label[40], const struct job_record *r, const char *job)
{
	struct job_record shown = { 0 };

	label[0] = '\0';
	if (!r->task && job_line_scan_id(&shown, &job) && shown.task)
		job_record_name(label, &shown);
}

static int jobs_file_sacct_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	char *word[MAX_COLUMNS], label[40];
	const char *p;
	int n = 0, rc;

	for (; s && n < MAX_COLUMNS; n++) {
		word[n] = s;
		s = jobs_file_cut(s, '|');
	}
	if (n > x->ncolumn) {
		read_report_skip(x->in.report, lines_number(x->in.l),
				 "more fields than the header has: is a | in the name of a job?");
		return 0;
	}
	p = jobs_file_word_of(x, word, n, COL_ID);
	if (!job_line_scan_id(&r, &p))
		return job_line_mistake(&x->in, "not a job id", p);
	if (r.part == JOB_PART_STEP) /* of a job that has a line of its own */
		return 0;
	jobs_file_sacct_leader(&r, jobs_file_word_of(x, word, n, COL_JOB));
	rc = job_line_time(&r.start_s, &x->in, jobs_file_word_of(x, word, n, COL_START));
	if (!rc)
		rc = job_line_time(&r.end_s, &x->in, jobs_file_word_of(x, word, n, COL_END));
	if (rc)
		return rc;
	r.name = jobs_file_word_of(x, word, n, COL_NAME);
	r.user = jobs_file_word_of(x, word, n, COL_USER);
	r.nodes = jobs_file_word_of(x, word, n, COL_NODES);
	jobs_file_sacct_label(label, &r, jobs_file_word_of(x, word, n, COL_JOB));
	r.attr[JOB_LABEL] = label;
	r.attr[JOB_PARTITION] = jobs_file_word_of(x, word, n, COL_PARTITION);
	r.attr[JOB_ACCOUNT] = jobs_file_word_of(x, word, n, COL_ACCOUNT);
	r.attr[JOB_RESERVATION] = jobs_file_word_of(x, word, n, COL_RESERVATION);
	r.attr[JOB_FEATURES] = jobs_file_word_of(x, word, n, COL_CONSTRAINTS);
	return job_line_add(&x->in, &r);
}

/* Of a line that begins with a digit. */
static int jobs_file_number_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	const char *p = s;

	if (!job_line_scan_id(&r, &p)) /* whose tasks may have commas */
		p = s + strcspn(s, ", \t|");
	if (*p == '|')
		return job_line_mistake(&x->in,
					"sacct -P must be written with its header (without -n)", s);
	return *p == ',' ? jobs_file_csv_line(x, s) : jobs_file_list_line(x, s);
}

static int jobs_file_read_line(struct reader *x, char *s)
{
	s += strspn(s, " \t");
	if (x->sacct)
		return jobs_file_sacct_line(x, s);
	if (x->swf.on || swf_is(s))
		return swf_line(&x->swf, &x->in, s);
	if (*s >= '0' && *s <= '9')
		return jobs_file_number_line(x, s);
	if (filetxt_is(s))
		return filetxt_line(&x->in, s);
	if (strchr(s, '|'))
		return jobs_file_sacct_header(x, s);
	if (!strncasecmp(s, "jobid", 5))
		return 0; /* the header of a history, or of squeue */
	return job_line_mistake(&x->in,
				"neither \"jobid nodelist\" nor \"jobid,start,end,nodelist\"", s);
}

int jobs_file_read(struct job_log **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err)
{
	struct reader x = { .in = { .report = report, .err = err } };
	char *s;
	uint32_t repeated;
	int rc = 0;

	x.in.l = lines_new(file, path, report);
	x.in.log = job_log_new();
	while (!rc && (s = lines_next_data(x.in.l)))
		rc = jobs_file_read_line(&x, s);
	rc = lines_end(x.in.l, rc, NULL, err);
	repeated = rc ? 0 : job_log_drop_repeated(x.in.log);
	if (repeated)
		read_report_warn(report, 0, "%u line%s repeat%s a job that was listed before",
				 repeated, plural(repeated), repeated == 1 ? "s" : "");
	if (!rc)
		rc = job_log_join(x.in.log, err);
	lines_free(x.in.l);
	if (rc)
		job_log_free(x.in.log);
	else
		*out = x.in.log;
	return rc;
}
