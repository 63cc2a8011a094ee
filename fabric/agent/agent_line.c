/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_line.h"

#include "fabric/base/message/plain.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char *const wheres[] = { "base", "drained", "escape" };

const char *agent_where_name(enum agent_where w)
{
	return wheres[w];
}

static bool agent_line_job_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.+-:@", c));
}

int agent_job_check(const char *job, struct err *err)
{
	size_t n = 0;

	while (n < AGENT_JOB_MAX && agent_line_job_char(job[n]))
		n++;
	if (n && n < AGENT_JOB_MAX && !job[n])
		return 0;
	return err_set(err, -EINVAL,
		       "a job's name has 1 to %d letters, digits and _.+-:@, nothing else",
		       AGENT_JOB_MAX - 1);
}

/* What is left of the line. */
struct rest {
	const char *s;
	size_t n;
};

/* The next word, without its end; false: there is none, or it does not fit. */
static bool agent_line_word(struct rest *r, char *out, size_t size)
{
	size_t n = 0;

	while (r->n && *r->s == ' ') {
		r->s++;
		r->n--;
	}
	while (n < r->n && r->s[n] != ' ')
		n++;
	if (!n || n >= size || memchr(r->s, 0, n))
		return false;
	memcpy(out, r->s, n);
	out[n] = 0;
	r->s += n;
	r->n -= n;
	return true;
}

static bool agent_line_number(struct rest *r, uint32_t *out)
{
	uint64_t v = 0;
	char text[16];

	if (!agent_line_word(r, text, sizeof(text)))
		return false;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		v = v * 10 + (uint64_t)(*c - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

static bool agent_line_where(struct rest *r, enum agent_where *out)
{
	char text[16];

	if (!agent_line_word(r, text, sizeof(text)))
		return false;
	for (int i = 0; i < 3; i++) {
		if (strcmp(text, wheres[i]))
			continue;
		*out = (enum agent_where)i;
		return true;
	}
	return false;
}

/* The rest of the line as it may be shown. */
static void agent_line_why(struct rest *r, char out[AGENT_WHY_MAX])
{
	size_t n;

	while (r->n && *r->s == ' ') {
		r->s++;
		r->n--;
	}
	n = r->n < AGENT_WHY_MAX - 1 ? r->n : AGENT_WHY_MAX - 1;
	for (size_t i = 0; i < n; i++)
		out[i] = r->s[i] ? r->s[i] : '?';
	out[n] = 0;
	plain_text(out, "");
	r->n = 0;
}

static const struct {
	const char *name, *form;
	enum agent_verb verb;
} verbs[] = {
	{ "HELLO", "HELLO version job rank base|drained|escape", AGENT_HELLO },
	{ "DONE", "DONE seq", AGENT_DONE },
	{ "FAILED", "FAILED seq why", AGENT_FAILED },
	{ "BYE", "BYE", AGENT_BYE },
	{ "ADD", "ADD job [uid]", AGENT_ADD_JOB },
	{ "END", "END job", AGENT_END_JOB },
	{ "STATUS", "STATUS", AGENT_GET_STATUS },
	{ "FORGET", "FORGET", AGENT_FORGET },
};

static bool agent_line_job(struct rest *r, struct agent_line *out)
{
	return agent_line_word(r, out->job, sizeof(out->job)) && !agent_job_check(out->job, NULL);
}

static bool agent_line_arguments(struct agent_line *out, struct rest *r)
{
	switch (out->verb) {
	case AGENT_HELLO:
		return agent_line_number(r, &out->version) && agent_line_job(r, out) &&
		       agent_line_number(r, &out->rank) && agent_line_where(r, &out->where);
	case AGENT_DONE:
		return agent_line_number(r, &out->seq);
	case AGENT_FAILED:
		if (!agent_line_number(r, &out->seq))
			return false;
		agent_line_why(r, out->why);
		return true;
	case AGENT_ADD_JOB:
		return agent_line_job(r, out) && (!r->n || agent_line_number(r, &out->uid));
	case AGENT_END_JOB:
		return agent_line_job(r, out);
	case AGENT_BYE:
	case AGENT_GET_STATUS:
	case AGENT_FORGET:
		break;
	}
	return true;
}

int agent_line_parse(struct agent_line *out, const char *line, size_t n, struct err *err)
{
	struct rest r = { line, n };
	char verb[16];

	memset(out, 0, sizeof(*out));
	out->uid = (uid_t)-1;
	if (r.n && r.s[r.n - 1] == '\r')
		r.n--;
	if (n >= AGENT_LINE_MAX)
		return err_set(err, -EINVAL, "a line of more than %d bytes", AGENT_LINE_MAX - 1);
	if (!agent_line_word(&r, verb, sizeof(verb)))
		return err_set(err, -EINVAL, "a line that does not begin with a word");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i].name))
			continue;
		out->verb = verbs[i].verb;
		if (!agent_line_arguments(out, &r) || agent_line_word(&r, verb, sizeof(verb)) ||
		    r.n)
			return err_set(err, -EINVAL, "malformed: %s, expected", verbs[i].form);
		return 0;
	}
	return err_set(err, -EINVAL, "an unknown word at the beginning of a line");
}
