/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/policy.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys that are no parameters of engines. */
enum { KEY_ENGINE = PARAM_IDS, KEY_ON_CHANGE, KEY_IMPROVE, NKEYS };

static const char *const changes[] = { [ON_CHANGE_REPAIR] = "repair",
				       [ON_CHANGE_REROUTE] = "reroute",
				       [ON_CHANGE_CONFIRMED] = "confirmed" };

#define NCHANGES (sizeof(changes) / sizeof(*changes))

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

static int policy_take_change(struct policy_file *r, const char *value)
{
	for (size_t i = 0; i < NCHANGES; i++)
		if (!strcmp(value, changes[i])) {
			r->p->on_change = (enum policy_change)i;
			return 0;
		}
	return policy_wrong(r, "on_change is one of repair, reroute, confirmed");
}

static int policy_take_improve(struct policy_file *r, const char *value)
{
	char *end;
	unsigned long s = strtoul(value, &end, 10);

	if (strspn(value, "0123456789") != strlen(value) || s > IMPROVE_MAX_S)
		return policy_wrong(r, "improve is a number of seconds, 0 (never) to 86400");
	r->p->improve_s = (unsigned)s;
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
	return err_set(r->err, -EINVAL,
		       "%s:%llu: unknown key: there are engine, on_change, improve%s", r->path,
		       (unsigned long long)lines_number(r->lines), keys);
}

/* -1: there is no such key. */
static int policy_key(const char *name, const struct param **param)
{
	*param = param_named(name, strlen(name));
	if (*param && (*param)->policy)
		return (int)(*param)->id;
	return !strcmp(name, "engine")	    ? KEY_ENGINE
	       : !strcmp(name, "on_change") ? KEY_ON_CHANGE
	       : !strcmp(name, "improve")   ? KEY_IMPROVE
					    : -1;
}

static int policy_take_line(struct policy_file *r, char *line)
{
	const struct param *param;
	char *name, *value;
	int key;

	if (!policy_cut_line(line, &name, &value))
		return 0;
	key = policy_key(name, &param);
	if (key < 0)
		return policy_unknown_key(r);
	if (r->seen[key])
		return policy_wrong(r, "this key appears twice");
	if (!*value)
		return policy_wrong(r, "a value is missing");
	r->seen[key] = true;
	if (key == KEY_ENGINE)
		return policy_take_engine(r, value);
	if (key == KEY_IMPROVE)
		return policy_take_improve(r, value);
	return key == KEY_ON_CHANGE ? policy_take_change(r, value)
				    : policy_take_param(r, param, value);
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

bool policy_same(const struct policy *a, const struct policy *b)
{
	const struct param *all;
	size_t n;

	all = param_all(&n);
	for (size_t i = 0; i < n; i++) {
		unsigned id = all[i].id;

		if (!all[i].policy)
			continue;
		if (id < PARAM_TEXTS
			    ? strcmp(a->text[id] ? a->text[id] : "",
				     b->text[id] ? b->text[id] : "") != 0
			    : param_value(&a->params, &all[i]) != param_value(&b->params, &all[i]))
			return false;
	}
	return !strcmp(a->spec.label, b->spec.label) && a->on_change == b->on_change;
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
