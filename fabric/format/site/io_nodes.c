/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/io_nodes.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int io_nodes_hosts(const struct lines *l, const char *path, const char *text,
			  io_nodes_fn *fn, void *ctx, struct err *err)
{
	struct err why = { "" };
	uint32_t n;

	if (hostlist_measure(&n, text, &why))
		return err_set(err, -EINVAL, "%s:%llu: %s", path,
			       (unsigned long long)lines_number(l), why.text);
	if (n)
		fn(ctx, 0, text);
	return 0;
}

/* "0x..." and what is behind it. */
static bool io_nodes_guid(uint64_t *guid, const char *s)
{
	return !strncmp(s, "0x", 2) && scan_hex(guid, &s) && (!*s || strchr(" \t#", *s));
}

int io_nodes_read(FILE *file, const char *path, io_nodes_fn *fn, void *ctx, struct err *err)
{
	struct lines *l = lines_new(file, path, NULL);
	char *s;
	int rc = 0;

	while (!rc && (s = lines_next_data(l))) {
		uint64_t guid;

		s += strspn(s, " \t");
		if (io_nodes_guid(&guid, s)) {
			fn(ctx, guid, NULL);
			continue;
		}
		s[strcspn(s, " \t#")] = '\0';
		rc = io_nodes_hosts(l, path, s, fn, ctx, err);
	}
	rc = lines_end(l, rc, NULL, err);
	lines_free(l);
	return rc;
}

int io_nodes_read_conf(char **out, FILE *file, const char *path, struct err *err)
{
	struct lines *l = lines_new(file, path, NULL);
	char *s;
	int rc;

	*out = NULL;
	while ((s = lines_next_data(l))) {
		char *word = s + strspn(s, " \t"), *value;
		size_t len = strcspn(word, " \t");

		if (len != strlen("io_guid_file") || strncmp(word, "io_guid_file", len))
			continue;
		value = word + len;
		value += strspn(value, " \t");
		value[strcspn(value, " \t")] = '\0';
		free(*out);
		*out = *value && strcmp(value, "(null)") ? xstrdup(value) : NULL;
	}
	rc = lines_end(l, 0, NULL, err);
	lines_free(l);
	if (!rc && !*out)
		rc = err_set(err, -ENODATA, "%s: it names no io_guid_file", path);
	return rc;
}

static bool io_nodes_has(char *features, const char *feature)
{
	char *word;

	while ((word = strsep(&features, ",")))
		if (!strcmp(word, feature))
			return true;
	return false;
}

int io_nodes_read_features(FILE *file, const char *path, const char *feature, io_nodes_fn *fn,
			   void *ctx, struct err *err)
{
	struct lines *l = lines_new(file, path, NULL);
	char *s;
	int rc = 0;

	while (!rc && (s = lines_next_data(l))) {
		char *name = s + strspn(s, " \t"), *features = name + strcspn(name, " \t");

		if (*features)
			*features++ = '\0';
		features += strspn(features, " \t");
		features[strcspn(features, " \t")] = '\0';
		if (io_nodes_has(features, feature))
			rc = io_nodes_hosts(l, path, name, fn, ctx, err);
	}
	rc = lines_end(l, rc, NULL, err);
	lines_free(l);
	return rc;
}
