/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_files.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *record_dir(const char *dir)
{
	const char *env = getenv("IBROUTE_RECORD_DIR");

	if (dir)
		return dir;
	return env && *env ? env : RECORD_DIR;
}

const char *record_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

unsigned record_name(char *sid, size_t size, const char *path)
{
	const char *name = record_file_name(path), *dot = strchr(name, '.');
	unsigned part = 1;

	snprintf(sid, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
	if (dot && sscanf(dot, ".%u.", &part) != 1)
		part = 1;
	return part;
}

char *record_cast_path(const char *path)
{
	const char *dot = strrchr(record_file_name(path), '.');

	return xasprintf("%.*s.cast", dot ? (int)(dot - path) : (int)strlen(path), path);
}

char *record_part_path(const char *dir, const char *sid, unsigned part, const char *suffix)
{
	if (part == 1)
		return xasprintf("%s/%s.%s", dir, sid, suffix);
	return xasprintf("%s/%s.%u.%s", dir, sid, part, suffix);
}

static int record_files_order(const void *a, const void *b)
{
	char sid_a[64], sid_b[64];
	unsigned part_a = record_name(sid_a, sizeof(sid_a), *(char *const *)a);
	unsigned part_b = record_name(sid_b, sizeof(sid_b), *(char *const *)b);
	int by_sid = strverscmp(sid_a, sid_b);

	return by_sid ? by_sid : (part_a > part_b) - (part_a < part_b);
}

void record_files_list(struct record_files *out, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	*out = (struct record_files){ NULL, 0, 0 };
	while (d && (e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');

		if (dot && dot > e->d_name && !strcmp(dot, ".jsonl"))
			vec_push(out, xasprintf("%s/%s", dir, e->d_name));
	}
	if (d)
		closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), record_files_order);
}

void record_files_free(struct record_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->v[i]);
	vec_free(files);
}

int record_dir_check(const char *dir, struct err *err)
{
	DIR *d = opendir(dir);

	if (!d)
		return err_set(err, -errno, "%s: cannot be listed: %s", dir, strerror(errno));
	closedir(d);
	return 0;
}
