/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/guid_list.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <string.h>

int guid_list_read(uint64_t **out, size_t *n, FILE *file, const char *path, struct err *err)
{
	VEC(uint64_t) list = { 0 };
	struct lines *lines = lines_new(file, path, NULL);
	char *line;
	int rc = 0;

	while (!rc && (line = lines_next_data(lines))) {
		const char *s = line;
		uint64_t guid;

		if (scan_hex(&guid, &s) && (scan_end(&s) || *s == '#'))
			vec_push(&list, guid);
		else
			rc = err_set(err, -EINVAL,
				     "%s:%llu: a GUID is expected, such as "
				     "0x0008f10500200b50",
				     path, (unsigned long long)lines_number(lines));
	}
	rc = lines_end(lines, rc, NULL, err);
	lines_free(lines);
	if (rc)
		vec_free(&list);
	*out = list.v;
	*n = list.n;
	return rc;
}
