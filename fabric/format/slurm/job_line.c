/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/job_line.h"

#include "fabric/base/text/hostlist.h"
#include "fabric/base/time/when.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

int job_line_mistake(const struct job_lines *x, const char *what, const char *text)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s: %.80s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what, text);
}

int job_line_time(int64_t *out, struct job_lines *x, const char *word)
{
	static const char *const unknown[] = { "", "Unknown", "None", "N/A", "(null)" };

	*out = 0;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		if (!strcasecmp(word, unknown[i]))
			return 0;
	return when_parse(out, word, &x->log->local_times)
		       ? 0
		       : job_line_mistake(x, "not a time", word);
}

/* "_7", or "_[7-9%2]" */
static bool job_line_scan_task(struct job_record *r, const char **p)
{
	uint64_t task;

	if (**p == '[') {
		*p += strcspn(*p, "]");
		return *(*p)++ == ']';
	}
	if (!scan_dec(&task, p) || task >= UINT32_MAX)
		return false;
	r->task = 1 + (uint32_t)task;
	return true;
}

bool job_line_scan_id(struct job_record *r, const char **p)
{
	uint64_t offset;

	if (!scan_dec(&r->id, p))
		return false;
	if (**p == '_') {
		++*p;
		if (!job_line_scan_task(r, p))
			return false;
	}
	if (**p == '+') {
		++*p;
		if (!scan_dec(&offset, p) || offset >= JOB_PART_STEP - 1)
			return false;
		r->part = 1 + (uint32_t)offset;
	}
	if (**p == '.') {
		*p += strcspn(*p, " \t,|");
		r->part = JOB_PART_STEP;
	}
	return true;
}

int job_line_add(struct job_lines *x, const struct job_record *r)
{
	unsigned long long id = (unsigned long long)r->id;
	struct err why = { "" };
	uint32_t n = r->wants;

	if (!n && hostlist_measure(&n, r->nodes, &why))
		return err_set(x->err, -EINVAL, "%s:%llu: %s", lines_path(x->l),
			       (unsigned long long)lines_number(x->l), why.text);
	if (!n) {
		read_report_skip(x->report, lines_number(x->l), "job %llu has no nodes", id);
		return 0;
	}
	if (r->end_s && r->end_s < r->start_s) {
		read_report_skip(x->report, lines_number(x->l), "job %llu ends before it starts",
				 id);
		return 0;
	}
	job_log_add(x->log, r);
	if (x->report)
		x->report->records++;
	return 0;
}
