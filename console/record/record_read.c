/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_read.h"

#include "console/io/progress_line.h"
#include "console/record/record_files.h"
#include "fabric/base/file/store.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int record_lines(const char *path, record_line_fn *fn, void *ctx, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct file_pace pace = { 0 };
	struct progress_line watch;
	bool more = true, cancelled = false;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	progress_line_files(&watch);
	while (more && !cancelled && (len = getline(&line, &cap, f)) > 0) {
		json_t *j = json_text_clean(json_loads(line, 0, NULL));

		more = !j || fn(ctx, j);
		json_decref(j);
		cancelled = file_progress_read(&pace, f, (size_t)len);
	}
	progress_line_files_end(&watch);
	free(line);
	fclose(f);
	return cancelled ? err_set(err, -ECANCELED, "%s: reading it was cancelled", path) : 0;
}

static bool record_read_last(struct digest *head, int64_t *seq, const char *path)
{
	char *data, *end, *begin;
	json_t *j;
	size_t len;

	if (store_read(&data, &len, path, NULL))
		return false;
	end = memrchr(data, '\n', len); /* what follows is incomplete */
	if (end) {
		begin = memrchr(data, '\n', (size_t)(end - data));
		begin = begin ? begin + 1 : data;
		digest_of(head, begin, (size_t)(end - begin));
		j = json_loadb(begin, (size_t)(end - begin), 0, NULL);
		*seq = json_integer_value(json_object_get(j, "seq"));
		json_decref(j);
	}
	free(data);
	return end;
}

bool record_previous(char *sid_out, size_t size, struct digest *head, int64_t *seq, const char *dir,
		     const char *sid)
{
	struct record_files files;
	bool found = false;

	record_files_list(&files, dir);
	for (size_t i = files.n; i-- && !found;) {
		record_name(sid_out, size, files.v[i]);
		found = strcmp(sid_out, sid) && record_read_last(head, seq, files.v[i]);
	}
	record_files_free(&files);
	return found;
}
