/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/policy.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NKEYS (PARAM_IDS + 1) /* and "engine" */

struct policy_file {
	struct policy *p;
	const char *path;
	struct lines *lines;
	bool seen[NKEYS];
	struct err *err;
};

/* What is wrong with this line; it names the line itself. */
static int policy_wrong(struct policy_file *r, const char *why)
{
	return err_set(r->err, -EINVAL, "%s:%llu: %s", r->path,
		       (unsigned long long)lines_number(r->lines), why);
}

char *policy_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (*name == '/' || !slash)
		return xstrdup(name);
	return xasprintf("%.*s%s", (int)(slash + 1 - path), path, name);
}

static int policy_take_engine(struct policy_file *r, const char *value)
{
	struct err why;

	return engine_spec_parse(&r->p->spec, value, &why) ? policy_wrong(r, why.text) : 0;
}

static int policy_take_param(struct policy_file *r, const struct param *key, const char *value)
{
	char named[sizeof(((struct err *)0)->text)];
	struct err why;

	if (key->id < PARAM_TEXTS) {
		r->p->text[key->id] =
			key->type == PARAM_FILE ? policy_beside(r->path, value) : xstrdup(value);
		return 0;
	}
	if (!param_set_or_unset(&r->p->params, key, value, &why))
		return 0;
	snprintf(named, sizeof(named), "%s: %.300s", key->option, why.text);
	return policy_wrong(r, named);
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

static int policy_unknown_key(struct policy_file *r)
{
	char keys[200] = "";
	const struct param *all;
	size_t n, len = 0;

	all = param_all(&n);
	for (size_t i = 0; i < n; i++)
		if (all[i].policy)
			len += (size_t)snprintf(keys + len, sizeof(keys) - len, ", %s",
						all[i].option);
	return err_set(r->err, -EINVAL, "%s:%llu: unknown key: there are engine%s", r->path,
		       (unsigned long long)lines_number(r->lines), keys);
}

static int policy_take_line(struct policy_file *r, char *line)
{
	const struct param *key;
	char *name, *value;
	bool *seen;

	if (!policy_cut_line(line, &name, &value))
		return 0;
	key = param_named(name, strlen(name));
	if (!(key && key->policy))
		key = NULL;
	if (!key && strcmp(name, "engine"))
		return policy_unknown_key(r);
	seen = &r->seen[key ? key->id : PARAM_IDS];
	if (*seen)
		return policy_wrong(r, "this key appears twice");
	if (!*value)
		return policy_wrong(r, "a value is missing");
	*seen = true;
	return key ? policy_take_param(r, key, value) : policy_take_engine(r, value);
}

int policy_read(struct policy **out, FILE *file, const char *path, struct err *err)
{
	struct policy *p = xcalloc(1, sizeof(*p));
	struct policy_file r = {
		.p = p, .path = path, .lines = lines_new(file, path, NULL), .err = err
	};
	char *line;
	int rc = 0;

	p->refs = 1;
	param_defaults(&p->params);
	while (!rc && (line = lines_next(r.lines, NULL)))
		rc = policy_take_line(&r, line);
	rc = lines_end(r.lines, rc,
		       p->spec.engine ? NULL
				      : "no engine: a line such as \"engine nue:4\" is missing",
		       err);
	lines_free(r.lines);
	if (rc) {
		policy_put(p);
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

struct policy *policy_get(struct policy *p)
{
	if (p)
		__atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
	return p;
}

void policy_put(struct policy *p)
{
	if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (int i = 0; i < PARAM_TEXTS; i++)
		free(p->text[i]);
	free(p);
}
