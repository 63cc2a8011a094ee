/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/jobs_file.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MAX_COLUMNS 64

enum column { COL_ID, COL_JOB, COL_NAME, COL_USER, COL_START, COL_END, COL_NODES, COLUMNS };

#define PART_STEP UINT32_MAX /* behind all components */

struct reader {
	struct job_log *log;
	struct read_report *report;
	struct lines *l;
	struct err *err;
	bool sacct;	     /* its header was seen */
	int column[COLUMNS]; /* of sacct, -1: not there */
};

static int jobs_file_mistake(const struct reader *x, const char *what, const char *text)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s: %.80s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what, text);
}

/* Takes a whole word as a time; an unknown one is 0. */
static bool jobs_file_read_time(int64_t *out, const char *word)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	const char *s = word;
	uint64_t v;

	*out = 0;
	if (!*word || !strcasecmp(word, "Unknown") || !strcasecmp(word, "None"))
		return true;
	if (scan_dec(&v, &s) && (!*s || *s == '.') && v <= INT64_MAX) {
		*out = (int64_t)v;
		return true;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(word, forms[i], &tm);

		if (end && !*end) {
			*out = (int64_t)mktime(&tm);
			return true;
		}
	}
	return false;
}

/* "1234", "1234+2" (the third component of a heterogeneous job), and "1234.0" or "1234.batch" (a
 * step), up to where that ends. */
static bool jobs_file_scan_id(struct job_record *r, const char **p)
{
	uint64_t offset;

	if (!scan_dec(&r->id, p))
		return false;
	if (**p == '+') {
		++*p;
		if (!scan_dec(&offset, p) || offset >= PART_STEP - 1)
			return false;
		r->part = 1 + (uint32_t)offset;
	}
	if (**p == '.') {
		*p += strcspn(*p, " \t,|");
		r->part = PART_STEP;
	}
	return true;
}

static int jobs_file_add(struct reader *x, const struct job_record *r)
{
	struct err why = { "" };
	uint32_t n;

	if (hostlist_measure(&n, r->nodes, &why))
		return err_set(x->err, -EINVAL, "%s:%llu: %s", lines_path(x->l),
			       (unsigned long long)lines_number(x->l), why.text);
	if (!n) {
		read_report_skip(x->report, lines_number(x->l), "job %llu has no nodes",
				 (unsigned long long)r->id);
		return 0;
	}
	job_log_add(x->log, r);
	if (x->report)
		x->report->records++;
	return 0;
}

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

	for (int i = 1; i < 4; i++) {
		word[i] = jobs_file_cut(word[i - 1], ',');
		if (!word[i])
			return jobs_file_mistake(x, "jobid,start,end,nodelist is expected", s);
	}
	for (int i = 0; i < 4; i++)
		jobs_file_trim(&word[i]);
	p = word[0];
	if (!jobs_file_scan_id(&r, &p) || *p)
		return jobs_file_mistake(x, "not a job id", word[0]);
	if (!jobs_file_read_time(&r.start_s, word[1]))
		return jobs_file_mistake(x, "not a time", word[1]);
	if (!jobs_file_read_time(&r.end_s, word[2]))
		return jobs_file_mistake(x, "not a time", word[2]);
	r.nodes = word[3];
	return jobs_file_add(x, &r);
}

static int jobs_file_list_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	const char *p = s;

	if (!jobs_file_scan_id(&r, &p) || (*p != ' ' && *p != '\t'))
		return jobs_file_mistake(x, "\"jobid nodelist\" is expected", s);
	scan_blank(&p);
	r.nodes = s + (p - s);
	jobs_file_trim(&r.nodes);
	return jobs_file_add(x, &r);
}

static int jobs_file_sacct_header(struct reader *x, char *s)
{
	static const char *const names[COLUMNS] = { "JobIDRaw", "JobID", "JobName", "User",
						    "Start",	"End",	 "NodeList" };

	for (int k = 0; k < COLUMNS; k++)
		x->column[k] = -1;
	for (int i = 0; s; i++) {
		char *next = jobs_file_cut(s, '|');

		for (int k = 0; k < COLUMNS; k++)
			if (!strcasecmp(s, names[k]))
				x->column[k] = i;
		s = next;
	}
	if (x->column[COL_ID] < 0)
		x->column[COL_ID] = x->column[COL_JOB];
	if (x->column[COL_ID] < 0 || x->column[COL_NODES] < 0)
		return jobs_file_mistake(
			x, "the header of sacct -P must name JobIDRaw and NodeList", "");
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

	if (jobs_file_scan_id(&leader, &job) && leader.part) {
		r->id = leader.id;
		r->part = leader.part;
	}
}

static int jobs_file_sacct_line(struct reader *x, char *s)
{
	struct job_record r = { 0 };
	char *word[MAX_COLUMNS];
	const char *p;
	int n = 0;

	for (; s && n < MAX_COLUMNS; n++) {
		word[n] = s;
		s = jobs_file_cut(s, '|');
	}
	p = jobs_file_word_of(x, word, n, COL_ID);
	if (!jobs_file_scan_id(&r, &p))
		return jobs_file_mistake(x, "not a job id", p);
	if (r.part == PART_STEP) /* of a job that has a line of its own */
		return 0;
	jobs_file_sacct_leader(&r, jobs_file_word_of(x, word, n, COL_JOB));
	if (!jobs_file_read_time(&r.start_s, jobs_file_word_of(x, word, n, COL_START)))
		return jobs_file_mistake(x, "not a time", jobs_file_word_of(x, word, n, COL_START));
	if (!jobs_file_read_time(&r.end_s, jobs_file_word_of(x, word, n, COL_END)))
		return jobs_file_mistake(x, "not a time", jobs_file_word_of(x, word, n, COL_END));
	r.name = jobs_file_word_of(x, word, n, COL_NAME);
	r.user = jobs_file_word_of(x, word, n, COL_USER);
	r.nodes = jobs_file_word_of(x, word, n, COL_NODES);
	return jobs_file_add(x, &r);
}

static int jobs_file_read_line(struct reader *x, char *s)
{
	s += strspn(s, " \t");
	if (x->sacct)
		return jobs_file_sacct_line(x, s);
	if (*s >= '0' && *s <= '9')
		return s[strcspn(s, ", \t")] == ',' ? jobs_file_csv_line(x, s)
							 : jobs_file_list_line(x, s);
	if (strchr(s, '|'))
		return jobs_file_sacct_header(x, s);
	if (!strncasecmp(s, "jobid", 5))
		return 0; /* the header of a history */
	return jobs_file_mistake(x, "neither \"jobid nodelist\" nor \"jobid,start,end,nodelist\"",
				 s);
}

int jobs_file_read(struct job_log **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err)
{
	struct reader x = { .report = report, .err = err };
	char *s;
	int rc = 0;

	x.l = lines_new(file, path, report);
	x.log = job_log_new();
	while (!rc && (s = lines_next_data(x.l)))
		rc = jobs_file_read_line(&x, s);
	rc = lines_end(x.l, rc, NULL, err);
	if (!rc)
		rc = job_log_join(x.log, err);
	lines_free(x.l);
	if (rc)
		job_log_free(x.log);
	else
		*out = x.log;
	return rc;
}
