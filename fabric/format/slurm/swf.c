/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/swf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SWF_FIELDS 18
#define SWF_MOST   (1ll << 40) /* of seconds, processors, ... */

enum swf_field {
	SWF_JOB,
	SWF_SUBMIT,
	SWF_WAIT,
	SWF_RUN,
	SWF_PROCS,
	SWF_PROCS_ASKED = 7,
	SWF_USER = 11,
};

/* 18 numbers, some with a sign or a fraction; how many there are. */
static int swf_numbers(int64_t v[SWF_FIELDS], const char *s)
{
	int n = 0;

	for (;; n++) {
		double d;
		char *end;

		while (*s == ' ' || *s == '\t')
			s++;
		if (!*s)
			return n;
		d = strtod(s, &end);
		if (n == SWF_FIELDS || end == s || (*end && *end != ' ' && *end != '\t') ||
		    !(d > -SWF_MOST && d < SWF_MOST))
			return -1;
		v[n] = (int64_t)d;
		s = end;
	}
}

bool swf_is(const char *line)
{
	int64_t v[SWF_FIELDS];

	return *line == ';' || swf_numbers(v, line) == SWF_FIELDS;
}

/* "; MaxProcs: 128" */
static void swf_header(struct swf *s, const char *line)
{
	static const char *const names[] = { "UnixStartTime:", "MaxProcs:", "MaxNodes:" };
	unsigned long long v;

	line += strspn(line, "; \t");
	for (int i = 0; i < 3; i++) {
		if (strncmp(line, names[i], strlen(names[i])))
			continue;
		v = strtoull(line + strlen(names[i]), NULL, 10);
		if (v >= (unsigned long long)SWF_MOST)
			continue;
		if (!i)
			s->start_s = (int64_t)v;
		else if (i == 1)
			s->procs = v;
		else
			s->nodes = v;
	}
}

static void swf_size(struct job_record *r, const struct swf *s, uint64_t procs)
{
	uint64_t per = s->nodes && s->procs > s->nodes ? s->procs / s->nodes : 1;
	uint64_t n = (procs + per - 1) / per;

	r->wants = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	if (procs >= per || per > UINT32_MAX)
		return;
	r->procs = (uint32_t)procs;
	r->node_procs = (uint32_t)per;
}

int swf_line(struct swf *s, struct job_lines *x, char *line)
{
	static char none[] = "";
	int64_t v[SWF_FIELDS], procs;
	struct job_record r = { .name = none, .user = none, .nodes = none };
	char user[24];

	s->on = true;
	if (*line == ';') {
		swf_header(s, line);
		return 0;
	}
	if (swf_numbers(v, line) != SWF_FIELDS || v[SWF_JOB] < 0 || v[SWF_SUBMIT] < 0)
		return job_line_mistake(x, "18 numbers of a job are expected", line);
	procs = v[SWF_PROCS] > 0 ? v[SWF_PROCS] : v[SWF_PROCS_ASKED];
	if (procs <= 0 || v[SWF_RUN] < 0) { /* cancelled before it ran */
		read_report_skip(x->report, lines_number(x->l), "job %llu did not run",
				 (unsigned long long)v[SWF_JOB]);
		return 0;
	}
	r.id = (uint64_t)v[SWF_JOB];
	r.start_s = s->start_s + v[SWF_SUBMIT] + (v[SWF_WAIT] > 0 ? v[SWF_WAIT] : 0);
	r.start_s += !r.start_s; /* 0 would be always */
	r.end_s = r.start_s + v[SWF_RUN];
	swf_size(&r, s, (uint64_t)procs);
	snprintf(user, sizeof(user), "user%lld", (long long)v[SWF_USER]);
	if (v[SWF_USER] >= 0)
		r.user = user;
	return job_line_add(x, &r);
}
