/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/fabrics/fabric_spec.h"

#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OWN_WORDS 8 /* at most so many are new */

static const char *const from_names[] = {
	[FROM_PORT] = "port",
	[FROM_COLLECTOR] = "collector",
	[FROM_LOAD] = "load",
	[FROM_DEMO] = "demo",
};

/* Words of ':fabric' are none. */
static int fabric_spec_name(struct fabric_spec *s, const char *text, size_t len, struct err *err)
{
	static const char *const taken[] = { "next", "previous", "prev", "none" };

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return err_set(err, -EINVAL,
				       "'%.*s' is not a name of letters, digits, '.', '_' and '-'",
				       (int)len, text);
	if (!len || len >= sizeof(s->name))
		return err_set(err, -EINVAL, "a name has 1 to %zu characters, '%.*s' has not",
			       sizeof(s->name) - 1, (int)len, text);
	snprintf(s->name, sizeof(s->name), "%.*s", (int)len, text);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcasecmp(s->name, taken[i]))
			return err_set(err, -EINVAL, "'%s' cannot be the name of a fabric",
				       s->name);
	return 0;
}

/* "CA" or "CA:PORT" */
static void fabric_spec_port(struct fabric_spec *s)
{
	char *colon = strchr(s->where, ':');

	if (!colon)
		return;
	*colon = '\0';
	s->port = xstrdup(colon + 1);
}

static int fabric_spec_where(struct fabric_spec *s, const char *text, struct err *err)
{
	size_t n;

	s->read_only = !strcmp(text, "ro") || !strncmp(text, "ro:", 3);
	if (s->read_only && !text[2])
		return 0;
	text += s->read_only ? 3 : 0;
	n = strcspn(text, ":");
	for (s->from = FROM_PORT; s->from <= FROM_DEMO; s->from++)
		if (strlen(from_names[s->from]) == n && !strncmp(from_names[s->from], text, n))
			break;
	if (s->from > FROM_DEMO)
		return err_set(
			err, -EINVAL,
			"%s: '%s' is not one of port:CA:PORT, collector:DIR, load:PATH, demo",
			s->name, text);
	if (text[n] && text[n + 1])
		s->where = xstrdup(text + n + 1);
	if (s->from == FROM_PORT && s->where)
		fabric_spec_port(s);
	if (s->from == FROM_DEMO && !s->where)
		return 0;
	if (s->where && s->where[0] && (!s->port || s->port[0]))
		return 0;
	return err_set(err, -EINVAL, "%s: '%s' says no %s", s->name, text,
		       s->from != FROM_PORT	 ? "path"
		       : s->where && s->where[0] ? "port"
						 : "HCA");
}

static void fabric_spec_drop(struct fabric_spec *s)
{
	free(s->where);
	free(s->port);
	*s = (struct fabric_spec){ .where = NULL };
}

static int fabric_specs_one(struct fabric_specs *all, const char *text, struct err *err)
{
	struct fabric_spec *s = &all->spec[all->n];
	size_t n = strcspn(text, "=");
	int rc;

	if (all->n == FABRICS_MAX)
		return err_set(err, -E2BIG, "at most %d fabrics are possible", FABRICS_MAX);
	rc = fabric_spec_name(s, text, n, err);
	if (!rc && text[n])
		rc = fabric_spec_where(s, text + n + 1, err);
	for (size_t i = 0; !rc && i < all->n; i++)
		if (!strcasecmp(all->spec[i].name, s->name))
			rc = err_set(err, -EEXIST, "two fabrics are called %s", s->name);
	if (rc)
		fabric_spec_drop(s);
	else
		all->n++;
	return rc;
}

int fabric_specs_add(struct fabric_specs *all, const char *text, struct err *err)
{
	int rc = 0;

	if (!strcmp(text, "none"))
		return 0;
	for (text += strspn(text, " \t"); *text && !rc; text += strspn(text, " \t")) {
		size_t n = strcspn(text, " \t");
		char *one = xasprintf("%.*s", (int)n, text);

		rc = fabric_specs_one(all, one, err);
		free(one);
		text += n;
	}
	return rc;
}

void fabric_specs_free(struct fabric_specs *all)
{
	while (all->n)
		fabric_spec_drop(&all->spec[--all->n]);
}

/* How many words are --tab and its value here; also cut short, as getopt takes it. */
static int fabric_spec_tab_words(const char *word)
{
	size_t n = strcspn(word, "=");

	if (n < 4 || n > 5 || strncmp(word, "--tab", n) != 0)
		return 0;
	return word[n] ? 1 : 2;
}

/* The options of its own, in one text with a '\0' behind each. */
static size_t fabric_spec_words(char *buf, size_t len, const struct fabric_spec *s)
{
	int n = 0;

	switch (s->from) {
	case FROM_PROFILE:
		n = snprintf(buf, len, "--profile%c%s%c", 0, s->name, 0);
		break;
	case FROM_PORT:
		n = snprintf(buf, len, "--Ca%c%s%c--name%c%s%c", 0, s->where, 0, 0, s->name, 0);
		if (s->port)
			n += snprintf(buf + n, len - (size_t)n, "--Port%c%s%c", 0, s->port, 0);
		break;
	case FROM_COLLECTOR:
		n = snprintf(buf, len, "--collector%c%s%c", 0, s->where, 0);
		break;
	case FROM_LOAD:
		n = snprintf(buf, len, "--load%c%s%c", 0, s->where, 0);
		break;
	case FROM_DEMO:
		n = snprintf(buf, len, "--demo%s%s%c--name%c%s%c", s->where ? "=" : "",
			     s->where ? s->where : "", 0, 0, s->name, 0);
		break;
	}
	return (size_t)n;
}

char **fabric_spec_argv(int *out_argc, const struct fabric_spec *s, int argc, char **argv)
{
	size_t room = 128 + FABRIC_NAME + (s->where ? strlen(s->where) : 0) +
		      (s->port ? strlen(s->port) : 0);
	char **out = xcalloc(1, (size_t)(argc + OWN_WORDS) * sizeof(*out) + room);
	char *word = (char *)(out + argc + OWN_WORDS);
	const char *end = word + fabric_spec_words(word, room, s);
	int n = 0;

	for (int i = 0; i < argc; i++) {
		int skip = i ? fabric_spec_tab_words(argv[i]) : 0;

		/* nor can anything be written to a file */
		if ((s->read_only || s->from == FROM_LOAD) && !strcmp(argv[i], "--rw"))
			continue;
		if (skip)
			i += skip - 1;
		else
			out[n++] = argv[i];
	}
	for (; word < end; word += strlen(word) + 1)
		out[n++] = word;
	*out_argc = n;
	return out;
}
