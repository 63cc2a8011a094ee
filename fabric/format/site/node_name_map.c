/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/node_name_map.h"

#include "fabric/base/file/lines.h"

#include <errno.h>
#include <string.h>

/* 0x0008f10500200b50 "leaf 1, rack 4"   # comment */
static bool node_name_map_name(struct name_map *m, char *line)
{
	const char *s = line;
	char *name, *end;
	uint64_t guid;

	if (!scan_blank(&s) || !scan_hex(&guid, &s) || (*s != ' ' && *s != '\t') ||
	    !scan_blank(&s) || *s != '"')
		return false;
	name = line + (s - line) + 1;
	end = strchr(name, '"');
	if (!end || end == name)
		return false;
	s = end + 1;
	if (!scan_end(&s) && *s != '#')
		return false;
	*end = '\0';
	name_map_add(m, guid, name);
	return true;
}

int node_name_map_read(struct name_map *m, FILE *in, const char *path, struct err *err)
{
	struct lines *lines = lines_new(in, path, NULL);
	char *line;
	int rc = 0;

	while (!rc && (line = lines_next_data(lines)))
		if (!node_name_map_name(m, line))
			rc = err_set(err, -EINVAL,
				     "%s:%llu: a node name is a GUID and a name in quotes, such as "
				     "0x0008f10500200b50 \"leaf1\"",
				     path, (unsigned long long)lines_number(lines));
	rc = lines_end(lines, rc, NULL, err);
	lines_free(lines);
	return rc;
}
