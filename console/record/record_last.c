/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_last.h"

#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".jsonl";

unsigned record_name(char *sid, size_t size, const char *name)
{
	const char *dot = strchr(name, '.');
	unsigned part = 1;

	snprintf(sid, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
	if (dot && sscanf(dot, ".%u.", &part) != 1)
		part = 1;
	return part;
}

static int record_by_name(const void *a, const void *b)
{
	char sid_a[64], sid_b[64];
	unsigned part_a = record_name(sid_a, sizeof(sid_a), *(char *const *)a);
	unsigned part_b = record_name(sid_b, sizeof(sid_b), *(char *const *)b);
	int by_sid = strverscmp(sid_a, sid_b);

	return by_sid ? by_sid : (part_a > part_b) - (part_a < part_b);
}

char **record_files(const char *dir, uint32_t *n)
{
	VEC(char *) v = { 0 };
	DIR *d = opendir(dir);
	struct dirent *e;

	*n = 0;
	if (!d)
		return NULL;
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len > sizeof(ending) && !strcmp(e->d_name + len - sizeof(ending) + 1, ending))
			vec_push(&v, xstrdup(e->d_name));
	}
	closedir(d);
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), record_by_name);
	*n = (uint32_t)v.n;
	return v.v;
}

int record_dir_check(const char *dir, struct err *err)
{
	DIR *d = opendir(dir);

	if (!d)
		return err_set(err, -errno, "%s: cannot be listed: %s", dir, strerror(errno));
	closedir(d);
	return 0;
}

static bool record_last_last_line(struct digest *head, int64_t *seq, const char *path)
{
	char *data, *end, *begin;
	json_t *j;
	size_t len;

	if (store_read(&data, &len, path, NULL))
		return false;
	end = memrchr(data, '\n', len); /* what is behind it was cut */
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

bool record_last(char *sid_out, size_t size, struct digest *head, int64_t *seq, const char *dir,
		 const char *sid)
{
	uint32_t n;
	char **files = record_files(dir, &n), name[64];
	bool found = false;

	for (uint32_t i = n; i--;) {
		char *path = xasprintf("%s/%s", dir, files[i]);

		record_name(name, sizeof(name), files[i]);
		if (!found && strcmp(name, sid) && record_last_last_line(head, seq, path)) {
			snprintf(sid_out, size, "%s", name);
			found = true;
		}
		free(path);
		free(files[i]);
	}
	free(files);
	return found;
}
