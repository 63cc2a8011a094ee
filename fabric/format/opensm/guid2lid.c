/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/guid2lid.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"
#include "fabric/model/topology/fabric.h"

#include <string.h>

struct entry {
	struct guid_lid lid;
	size_t line;
};

static int guid2lid_by_guid(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->lid.port_guid != b->lid.port_guid)
		return a->lid.port_guid < b->lid.port_guid ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static bool guid2lid_read_line(struct guid_lid *e, const char *s)
{
	uint64_t min, max;

	scan_blank(&s);
	if (!scan_hex(&e->port_guid, &s) || !scan_blank(&s) || !scan_hex(&min, &s) ||
	    !scan_blank(&s) || !scan_hex(&max, &s) || !scan_end(&s))
		return false;
	if (!min || min > max || max > FAB_MAX_LID)
		return false;
	e->min_lid = (uint16_t)min;
	e->max_lid = (uint16_t)max;
	return true;
}

int guid2lid_read(struct guid_lid **out, uint32_t *n, FILE *file, const char *path,
		  struct read_report *report, struct err *err)
{
	VEC(struct entry) list = { 0 };
	struct entry e;
	struct lines *l = lines_new(file, path, report);
	char *s;
	int rc;

	while ((s = lines_next_data(l))) {
		e.line = (size_t)lines_number(l);
		if (guid2lid_read_line(&e.lid, s))
			vec_push(&list, e);
		else
			read_report_skip(report, e.line, "not \"0xguid 0xlid 0xlid\": %.60s", s);
	}
	rc = lines_end(l, 0, list.n ? NULL : "not a guid2lid file: no entry in it", err);
	lines_free(l);
	*n = 0;
	if (!rc) {
		*out = xcalloc(list.n, sizeof(**out));
		qsort(list.v, list.n, sizeof(*list.v), guid2lid_by_guid);
		for (size_t i = 0; i < list.n; i++) {
			if (i && list.v[i].lid.port_guid == list.v[i - 1].lid.port_guid)
				--*n;
			(*out)[(*n)++] = list.v[i].lid;
		}
		if (report)
			report->records = *n;
	}
	vec_free(&list);
	return rc;
}
