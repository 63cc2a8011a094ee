/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/partitions_conf.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PKEY_DEFAULT 0x7fff

struct named {
	uint16_t pkey; /* 0: OpenSM makes one up, which no other has */
	char name[64];
};

struct guid_port {
	uint64_t guid;
	uint32_t term;
};

struct reader {
	struct partitions *p;
	const struct fabric *f;
	struct lines *l;
	struct read_report *report;
	struct err *err;
	struct guid_port *port; /* by GUID */
	struct named of[PARTITIONS_MAX];
	uint32_t at; /* the partition that is being defined, FAB_NONE: none */
	uint32_t defined;
	enum membership default_membership;
};

static int partitions_conf_by_guid(const void *x, const void *y)
{
	const struct guid_port *a = x, *b = y;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

static void partitions_conf_index(struct reader *x)
{
	x->port = xcalloc(x->f->nterm + 1u, sizeof(*x->port));
	for (uint32_t t = 0; t < x->f->nterm; t++)
		x->port[t] = (struct guid_port){ x->f->term_guid[t], t };
	qsort(x->port, x->f->nterm, sizeof(*x->port), partitions_conf_by_guid);
}

static char *partitions_conf_trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

/* Up to that character, which is taken too; *s is NULL behind the last. */
static char *partitions_conf_cut(char **s, char at)
{
	char *token = *s, *end = strchr(token, at);

	*s = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return partitions_conf_trim(token);
}

/* OpenSM takes the beginning of a word for the word. */
static bool partitions_conf_is(const char *s, const char *word)
{
	return *s && !strncmp(s, word, strlen(s));
}

static int partitions_conf_bad(const struct reader *x, const char *what, const char *s)
{
	return err_set(x->err, -EINVAL,
		       "%s:%" PRIu64 ": %s: %.60s; OpenSM leaves the whole file aside",
		       lines_path(x->l), lines_number(x->l), what, s);
}

static enum membership partitions_conf_membership(const char *s)
{
	return partitions_conf_is(s, "full") || partitions_conf_is(s, "both") ? MEMBER_FULL
									      : MEMBER_LIMITED;
}

/* The partition of that key, or of that name where it has none; a new one. */
static int partitions_conf_open(struct reader *x, uint16_t pkey, const char *name)
{
	struct partitions *p = x->p;

	for (x->at = 0; x->at < p->n; x->at++)
		if (pkey ? x->of[x->at].pkey == pkey : *name && !strcmp(x->of[x->at].name, name))
			return 0;
	if (p->n == PARTITIONS_MAX)
		return err_set(x->err, -E2BIG, "%s:%" PRIu64 ": more than %u partitions",
			       lines_path(x->l), lines_number(x->l), PARTITIONS_MAX);
	partitions_add(p);
	x->of[x->at].pkey = pkey;
	snprintf(x->of[x->at].name, sizeof(x->of[x->at].name), "%.60s", name);
	return 0;
}

static bool partitions_conf_pkey(uint16_t *pkey, const char *s)
{
	char *end;
	unsigned long v = strtoul(s, &end, 0);

	*pkey = (uint16_t)(v & 0x7fff);
	return end != s && !*end;
}

/* "Name=0x300, ipoib, defmember=full" */
static int partitions_conf_define(struct reader *x, char *s)
{
	char *rest = partitions_conf_cut(&s, ','), *name = partitions_conf_cut(&rest, '=');
	const char *key = rest ? partitions_conf_trim(rest) : NULL;
	uint16_t pkey = 0;

	if (!key && isdigit((unsigned char)*name)) {
		key = name;
		name = strchr(name, '\0');
	}
	if (key && !partitions_conf_pkey(&pkey, key))
		return partitions_conf_bad(x, "not a P_Key", key);
	x->default_membership = MEMBER_LIMITED;
	x->defined++;
	while (s) {
		char *value = partitions_conf_cut(&s, ','), *flag;

		flag = partitions_conf_cut(&value, '=');
		if (value && partitions_conf_is(flag, "defmember"))
			x->default_membership =
				partitions_conf_membership(partitions_conf_trim(value));
	}
	return partitions_conf_open(x, pkey, name);
}

static void partitions_conf_all(struct reader *x, enum membership m, bool cas, bool routers)
{
	uint8_t *row = partitions_row(x->p, x->at);

	for (uint32_t t = 0; t < x->f->nterm; t++)
		if (x->f->term_kind[t] == TERM_ROUTER ? routers : cas)
			row[t] = (uint8_t)m;
}

static int partitions_conf_guid(struct reader *x, const char *name, enum membership m)
{
	struct guid_port key, *found;
	char *end;

	key.guid = strtoull(name, &end, 0);
	if (!key.guid || *end)
		return partitions_conf_bad(x, "not the GUID of a port", name);
	found = bsearch(&key, x->port, x->f->nterm, sizeof(*x->port), partitions_conf_by_guid);
	if (found)
		partitions_row(x->p, x->at)[found->term] = (uint8_t)m;
	if (found && x->report)
		x->report->records++;
	return 0;
}

/* "0x123=full".  SELF is the subnet manager's port, which a file does not name. */
static int partitions_conf_port(struct reader *x, char *s)
{
	const char *name = partitions_conf_cut(&s, '=');
	enum membership m =
		s ? partitions_conf_membership(partitions_conf_trim(s)) : x->default_membership;

	if (!*name || partitions_conf_is(name, "NONE"))
		return 0;
	if (partitions_conf_is(name, "ALL"))
		partitions_conf_all(x, m, true, true);
	else if (partitions_conf_is(name, "ALL_CAS"))
		partitions_conf_all(x, m, true, false);
	else if (partitions_conf_is(name, "ALL_ROUTERS"))
		partitions_conf_all(x, m, false, true);
	else if (partitions_conf_is(name, "SELF"))
		read_report_warn(x->report, lines_number(x->l),
				 "SELF is the subnet manager's port, which this file does not "
				 "name: left out");
	else if (!partitions_conf_is(name, "ALL_SWITCHES"))
		return partitions_conf_guid(x, name, m);
	return 0;
}

/* The rest of a line behind a multicast group is of the group. */
static int partitions_conf_ports(struct reader *x, char *s)
{
	int rc = 0;

	while (s && !rc) {
		char *port = partitions_conf_cut(&s, ',');

		if (!strncmp(port, "mgid", 4) && strchr(port, '='))
			return 0;
		rc = partitions_conf_port(x, port);
	}
	return rc;
}

/* Part of a definition, or all of it; ended: a semicolon stood behind it. */
static int partitions_conf_part(struct reader *x, char *s, bool ended)
{
	int rc = 0;

	if (x->at == FAB_NONE) {
		char *head = s;

		s = strchr(s, ':');
		if (!s)
			return partitions_conf_bad(x, "no partition is defined here", head);
		*s++ = '\0';
		rc = partitions_conf_define(x, head);
	}
	if (!rc)
		rc = partitions_conf_ports(x, s);
	if (ended)
		x->at = FAB_NONE;
	return rc;
}

static int partitions_conf_line(struct reader *x, char *s)
{
	int rc = 0;

	s[strcspn(s, "#")] = '\0';
	while (s && !rc) {
		char *end = strchr(s, ';'), *next = end ? end + 1 : NULL;

		if (end)
			*end = '\0';
		s = partitions_conf_trim(s);
		if (*s)
			rc = partitions_conf_part(x, s, end);
		else if (end)
			x->at = FAB_NONE;
		s = next;
	}
	return rc;
}

int partitions_conf_read(struct partitions *p, FILE *file, const char *path, const struct fabric *f,
			 struct read_report *report, struct err *err)
{
	struct reader *x = xcalloc(1, sizeof(*x));
	char *s;
	int rc;

	*x = (struct reader){ .p = p, .f = f, .report = report, .err = err };
	x->l = lines_new(file, path, report);
	partitions_conf_index(x);
	rc = partitions_conf_open(x, PKEY_DEFAULT, "Default");
	partitions_conf_all(x, MEMBER_LIMITED, true, true);
	x->at = FAB_NONE;
	while (!rc && (s = lines_next_data(x->l)))
		rc = partitions_conf_line(x, s);
	if (!x->defined) { /* as without such a file */
		x->at = 0;
		partitions_conf_all(x, MEMBER_FULL, true, true);
	}
	rc = lines_end(x->l, rc, NULL, err);
	lines_free(x->l);
	free(x->port);
	free(x);
	return rc;
}
