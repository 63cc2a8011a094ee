/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/policy.h"

#include "fabric/base/lines.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum form { FORM_ENGINE, FORM_COUNT, FORM_SEED, FORM_SWITCH, FORM_PATH, FORM_TEXT };

static const struct key {
	const char *name;
	enum form form;
	size_t at;    /* in struct policy */
	uint64_t max; /* of a number */
} keys[] = {
	{ "engine", FORM_ENGINE, offsetof(struct policy, spec), 0 },
	{ "tables", FORM_PATH, offsetof(struct policy, tables), 0 },
	{ "vls", FORM_COUNT, offsetof(struct policy, vls), 15 },
	{ "seed", FORM_SEED, offsetof(struct policy, seed), INT64_MAX },
	{ "threads", FORM_COUNT, offsetof(struct policy, threads), 1024 },
	{ "spread", FORM_SWITCH, offsetof(struct policy, spread), 0 },
	{ "escape", FORM_SWITCH, offsetof(struct policy, escape), 0 },
	{ "roots", FORM_PATH, offsetof(struct policy, roots), 0 },
	{ "jobs", FORM_PATH, offsetof(struct policy, jobs), 0 },
	{ "demand", FORM_PATH, offsetof(struct policy, demand), 0 },
	{ "ranks", FORM_PATH, offsetof(struct policy, ranks), 0 },
	{ "exclude", FORM_TEXT, offsetof(struct policy, exclude), 0 },
};

#define NKEYS (sizeof(keys) / sizeof(*keys))

struct sample_reading {
	struct policy *p;
	const char *path;
	struct lines *lines;
	struct err *err;
};

/* What is wrong with this line; it names the line itself. */
static int policy_wrong(struct sample_reading *r, const char *why)
{
	return err_set(r->err, -EINVAL, "%s:%llu: %s", r->path,
		       (unsigned long long)lines_number(r->lines), why);
}

static char *policy_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (*name == '/' || !slash)
		return xstrdup(name);
	return xasprintf("%.*s%s", (int)(slash + 1 - path), path, name);
}

static int policy_take_number(struct sample_reading *r, const struct key *k, const char *value)
{
	char *at = (char *)r->p + k->at, why[80];
	const char *s = value;
	uint64_t n;

	if (!scan_dec(&n, &s) || *s || n > k->max) {
		snprintf(why, sizeof(why), "%s is a number from 0 to %llu", k->name,
			 (unsigned long long)k->max);
		return policy_wrong(r, why);
	}
	if (k->form == FORM_SEED)
		*(uint64_t *)at = n;
	else
		*(unsigned *)at = (unsigned)n;
	return 0;
}

static int policy_take_value(struct sample_reading *r, const struct key *k, const char *value)
{
	char *at = (char *)r->p + k->at;
	struct err why;

	switch (k->form) {
	case FORM_ENGINE:
		return engine_spec_parse((struct engine_spec *)at, value, &why)
			       ? policy_wrong(r, why.text)
			       : 0;
	case FORM_COUNT:
	case FORM_SEED:
		return policy_take_number(r, k, value);
	case FORM_SWITCH:
		if (strcmp(value, "yes") && strcmp(value, "no"))
			return policy_wrong(r, "yes or no is expected");
		*(bool *)at = *value == 'y';
		return 0;
	case FORM_PATH:
		*(char **)at = policy_beside(r->path, value);
		return 0;
	case FORM_TEXT:
		*(char **)at = xstrdup(value);
		return 0;
	}
	return 0;
}

/* "key value", cut apart in place; false for a line without either. */
static bool policy_cut_line(char *line, char **name, char **value)
{
	char *end = strpbrk(line, "#\r");

	if (end)
		*end = '\0';
	*name = line + strspn(line, " \t");
	if (!**name)
		return false;
	*value = *name + strcspn(*name, " \t");
	if (**value)
		*(*value)++ = '\0';
	*value += strspn(*value, " \t");
	end = *value + strlen(*value);
	while (end > *value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return true;
}

static int policy_take_line(struct sample_reading *r, char *line, bool seen[NKEYS])
{
	char *name, *value;

	if (!policy_cut_line(line, &name, &value))
		return 0;
	for (size_t i = 0; i < NKEYS; i++) {
		if (strcmp(keys[i].name, name))
			continue;
		if (seen[i])
			return policy_wrong(r, "this key is here for the second time");
		if (!*value)
			return policy_wrong(r, "a value is missing");
		seen[i] = true;
		return policy_take_value(r, &keys[i], value);
	}
	return policy_wrong(r, "unknown key: there are engine, tables, vls, seed, threads, spread, "
			       "escape, roots, jobs, demand, ranks and exclude");
}

int policy_read(struct policy **out, FILE *file, const char *path, struct err *err)
{
	struct policy *p = xcalloc(1, sizeof(*p));
	struct sample_reading r = { p, path, lines_new(file, path, NULL), err };
	bool seen[NKEYS] = { false };
	char *line;
	int rc = 0;

	p->seed = 1;
	while (!rc && (line = lines_next(r.lines, NULL)))
		rc = policy_take_line(&r, line, seen);
	if (!rc && lines_error(r.lines))
		rc = err_set(err, lines_error(r.lines), "%s cannot be read: %s", path,
			     strerror(-lines_error(r.lines)));
	if (!rc && !p->spec.engine)
		rc = err_set(err, -EINVAL,
			     "%s: no engine: a line such as \"engine nue:4\" is missing", path);
	lines_free(r.lines);
	if (rc) {
		policy_free(p);
		p = NULL;
	}
	*out = p;
	return rc;
}

int policy_load(struct policy **out, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	int rc;

	*out = NULL;
	if (!file)
		return err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	rc = policy_read(out, file, path, err);
	fclose(file);
	return rc;
}

static char *policy_copy_of(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

struct policy *policy_copy(const struct policy *p)
{
	struct policy *c = xcalloc(1, sizeof(*c));

	*c = *p;
	c->tables = policy_copy_of(p->tables);
	c->roots = policy_copy_of(p->roots);
	c->jobs = policy_copy_of(p->jobs);
	c->demand = policy_copy_of(p->demand);
	c->ranks = policy_copy_of(p->ranks);
	c->exclude = policy_copy_of(p->exclude);
	return c;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	free(p->tables);
	free(p->roots);
	free(p->jobs);
	free(p->demand);
	free(p->ranks);
	free(p->exclude);
	free(p);
}
