/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/pin_text.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/base/text/short_names.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_WORD "job:"

static const struct job *pin_text_find_job(const struct jobset *jobs, const char *text)
{
	uint64_t id;

	if (!jobset_id_find(&id, jobs, text))
		return NULL;
	for (uint32_t i = 0; i < jobs->njob; i++)
		if (jobs->jobs[i].id == id)
			return &jobs->jobs[i];
	return NULL;
}

/* As below, l NULL: only judged. */
static int pin_text_job(struct route_limits *l, const struct jobset *jobs, const char *id,
			struct err *err)
{
	size_t digits = strspn(id, "0123456789"), task = 0;
	const struct job *job;

	if (digits && id[digits] == '_') /* of an array */
		task = strspn(id + digits + 1, "0123456789");
	if (!digits || digits > 19 || task > 19 || id[digits + (task ? 1 + task : 0)])
		return err_set(err, -EINVAL,
			       "pin: \"job:\" must be followed by the number of a running job, not "
			       "\"%.40s\"",
			       id);
	if (!l)
		return 0;
	if (!jobs)
		return err_set(err, -EINVAL,
			       "pin: job %s is unknown, as are all jobs: name its hosts", id);
	job = pin_text_find_job(jobs, id);
	if (!job)
		return err_set(err, -EINVAL, "pin: no job %s is running", id);
	if (!job->nterm)
		return err_set(err, -EINVAL, "pin: no host of job %s is in this fabric", id);
	for (uint32_t k = 0; k < job->nterm; k++)
		l->pin[job->terms[k]] = true;
	return 0;
}

/* Of names that are shown so without their middle the first two, each an end that has it, and how
 * many names. */
static uint32_t pin_text_shown(uint32_t found[2], const struct fabric *f, const char *shown)
{
	const char *last = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t term = f->term_by_name[i];
		const char *name = f->term_name[term];

		if (!strcmp(name, last) || !short_name_is_of(shown, strlen(shown), name))
			continue;
		last = name;
		if (n++ < 2)
			found[n - 1] = term;
	}
	return n;
}

static int pin_text_refuse_shown(const struct fabric *f, const char *shown, uint32_t n,
				 const uint32_t found[2], struct err *err)
{
	const char *a = f->term_name[found[0]], *b = f->term_name[found[1]];

	if (n == 2)
		return err_set(err, -EINVAL, "pin: \"%.60s\" may be %.60s or %.60s", shown, a, b);
	return err_set(err, -EINVAL, "pin: \"%.60s\" may be %.60s, %.60s or %u more", shown, a, b,
		       n - 2);
}

static int pin_text_host(struct route_limits *l, const struct fabric *f, const char *name,
			 struct err *err)
{
	uint32_t end, first, found[2], n = fabric_terms_by_name(f, name, &end, 1);
	uint16_t lid;

	if (!n) {
		n = pin_text_shown(found, f, name);
		if (n > 1)
			return pin_text_refuse_shown(f, name, n, found, err);
		end = n ? found[0] : FAB_NONE;
	}
	n = n ? host_names_twins(f, end, &first) : 0;
	for (uint32_t i = 0; i < n; i++)
		l->pin[f->term_by_name[first + i]] = true;
	if (n)
		return 0;
	if (!end_find(&end, &lid, f, name, NULL)) {
		if (end >= f->nend)
			return err_set(err, -EINVAL,
				       "pin: %.60s is a switch; only paths to hosts can be pinned",
				       name);
		l->pin[end] = true; /* one of those that have a name in common */
		return 0;
	}
	return err_set(err, -EINVAL, "pin: no host of this fabric has the name %.60s", name);
}

static int pin_text_list(struct route_limits *l, const struct fabric *f, const char *text,
			 struct err *err)
{
	struct hostlist *h;
	struct err why;
	uint32_t n;
	int rc = l ? hostlist_parse(&h, text, &why) : hostlist_measure(&n, text, &why);

	if (rc)
		return err_set(err, -EINVAL, "pin: %.400s", why.text);
	if (!l)
		return 0;
	for (uint32_t i = 0; i < hostlist_count(h) && !rc; i++)
		rc = pin_text_host(l, f, hostlist_names(h)[i], err);
	hostlist_free(h);
	return rc;
}

/* Up to the next comma or blank outside of brackets. */
static size_t pin_text_item_length(const char *text)
{
	bool inside = false;
	size_t n = 0;

	for (; text[n] && (inside || !strchr(", \t", text[n])); n++)
		inside = text[n] == '[' || (inside && text[n] != ']');
	return n;
}

/* Are all ends of that name among them? */
static bool pin_text_whole(const bool *host, const struct fabric *f, uint32_t term)
{
	uint32_t first, n = host_names_twins(f, term, &first);

	for (uint32_t i = 0; i < n; i++)
		if (!host[f->term_by_name[first + i]])
			return false;
	return true;
}

char *pin_text_hosts(const bool *host, const struct fabric *f)
{
	char **names = xcalloc(f->nend + 1u, sizeof(*names)), *text, own[END_NAME_LEN];
	uint32_t n = 0;

	for (uint32_t t = 0; t < f->nend; t++)
		if (host[t])
			names[n++] = xstrdup(t < f->nterm && pin_text_whole(host, f, t)
						     ? f->term_name[t]
						     : end_name(own, sizeof(own), f, t));
	text = hostlist_compress((const char *const *)names, n);
	while (n)
		free(names[--n]);
	free(names);
	return text;
}

static void pin_text_set_text(struct route_limits *l, const struct fabric *f)
{
	free(l->pin_text);
	l->pin_text = pin_text_hosts(l->pin, f);
}

static int pin_text_items(struct route_limits *l, const struct fabric *f, const struct jobset *jobs,
			  const char *text, struct err *err)
{
	int rc = 0;

	while (!rc && *(text += strspn(text, ", \t"))) {
		size_t len = pin_text_item_length(text);
		char *item = xasprintf("%.*s", (int)len, text);

		if (l && !l->pin)
			l->pin = xcalloc(f->nend, sizeof(*l->pin));
		if (!strncmp(item, JOB_WORD, strlen(JOB_WORD)))
			rc = pin_text_job(l, jobs, item + strlen(JOB_WORD), err);
		else
			rc = pin_text_list(l, f, item, err);
		free(item);
		text += len;
	}
	return rc;
}

int pin_text_check(const char *text, struct err *err)
{
	return pin_text_items(NULL, NULL, NULL, text, err);
}

int route_limits_pin(struct route_limits **l, const struct fabric *f, const struct jobset *jobs,
		     const char *text, struct err *err)
{
	int rc;

	if (!*l)
		*l = route_limits_new(f);
	rc = pin_text_items(*l, f, jobs, text, err);
	if (!rc && (*l)->pin)
		pin_text_set_text(*l, f);
	return rc;
}

/* An item "job:N" of a job that does not run. */
static bool pin_text_job_gone(const char *text, size_t len, const struct jobset *jobs)
{
	size_t word = strlen(JOB_WORD);
	char id[JOB_ID_LEN];

	if (strncmp(text, JOB_WORD, word) || len <= word || text[word] < '0' || text[word] > '9')
		return false;
	snprintf(id, sizeof(id), "%.*s", (int)(len - word), text + word);
	return !pin_text_find_job(jobs, id);
}

char *pin_text_of_now(const char *text, const struct jobset *jobs)
{
	char *out = xcalloc(strlen(text) + 1, 1), *end = out;

	while (*(text += strspn(text, ", \t"))) {
		size_t len = pin_text_item_length(text);
		bool gone = pin_text_job_gone(text, len, jobs);

		if (!gone)
			end += sprintf(end, "%s%.*s", end > out ? "," : "", (int)len, text);
		text += len;
	}
	return out;
}
