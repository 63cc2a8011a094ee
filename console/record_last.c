/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record_last.h"

#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/update/store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".jsonl";

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
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
		qsort(v.v, v.n, sizeof(*v.v), by_name);
	*n = (uint32_t)v.n;
	return v.v;
}

static bool last_line(struct digest *head, const char *path)
{
	char *data, *end, *begin;
	size_t len;

	if (store_read(&data, &len, path, NULL))
		return false;
	end = memrchr(data, '\n', len); /* what is behind it was cut */
	if (end) {
		begin = memrchr(data, '\n', (size_t)(end - data));
		begin = begin ? begin + 1 : data;
		digest_of(head, begin, (size_t)(end - begin));
	}
	free(data);
	return end;
}

bool record_last(char *sid_out, size_t size, struct digest *head, const char *dir, const char *sid)
{
	uint32_t n;
	char **files = record_files(dir, &n);
	bool found = false;

	for (uint32_t i = n; i--;) {
		size_t len = strlen(files[i]) - strlen(ending);
		char *path = xasprintf("%s/%s", dir, files[i]);

		files[i][len] = '\0';
		if (!found && strcmp(files[i], sid) && last_line(head, path)) {
			snprintf(sid_out, size, "%s", files[i]);
			found = true;
		}
		free(path);
		free(files[i]);
	}
	free(files);
	return found;
}
