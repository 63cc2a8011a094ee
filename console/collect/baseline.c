/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collect/baseline.h"

#include "console/input/load/load_fabric.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/update/journal/journal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".topology"
#define HEAD   "# ibroute-top baseline "

char *baseline_dir(const char *state_dir)
{
	return xasprintf("%s/baseline", journal_base(state_dir));
}

/* What may not stand in the name of a file is written as in an URL. */
static char *baseline_file_name(const char *name)
{
	char *text = xcalloc(strlen(name) * 3 + 1, 1), *to = text;

	for (; *name; name++)
		if (isalnum((unsigned char)*name) || strchr("-_", *name))
			*to++ = *name;
		else
			to += sprintf(to, "%%%02x", (unsigned char)*name);
	return text;
}

static char *baseline_name_of_file(const char *file)
{
	char *name = xcalloc(strlen(file) + 1, 1), *to = name;
	unsigned c;

	for (; *file && strcmp(file, SUFFIX) != 0; file++)
		if (*file == '%' && sscanf(file + 1, "%2x", &c) == 1) {
			*to++ = (char)c;
			file += 2;
		} else {
			*to++ = *file;
		}
	return name;
}

static char *baseline_path(const char *dir, const char *name)
{
	char *file = baseline_file_name(name), *path = xasprintf("%s/%s" SUFFIX, dir, file);

	free(file);
	return path;
}

char *baseline_errors_path(const char *dir, const char *name, const char *key)
{
	char *file = baseline_file_name(name), *path = xasprintf("%s/%s.%s.errors", dir, file, key);

	free(file);
	return path;
}

void baseline_close(struct baseline *b)
{
	fabric_put(b->fabric);
	free(b->path);
	free(b->name);
	*b = (struct baseline){ 0 };
}

/* Of the first line. */
static int baseline_read_head(struct baseline *b, struct err *err)
{
	char line[80] = "", word[16] = "";
	FILE *f = fopen(b->path, "re");
	unsigned version = 0;
	struct stat st;

	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", b->path, strerror(errno));
	if (!fstat(fileno(f), &st))
		b->since_s = st.st_mtime;
	if (fgets(line, sizeof(line), f))
		sscanf(line, HEAD "%u: %15[a-z]", &version, word);
	fclose(f);
	b->accepted = !strcmp(word, "accepted");
	if (version == 1 && (b->accepted || !strcmp(word, "learnt")))
		return 0;
	return err_set(err, -EPROTO, "%s does not begin with '" HEAD "1: learnt' or '... accepted'",
		       b->path);
}

static int baseline_read(struct baseline *b, const struct name_map *names, struct err *err)
{
	struct load_fabric_opts opts = {
		.name = b->name, .names = names, .lmc = -1, .strict = true
	};
	int rc;

	if (access(b->path, F_OK))
		return errno == ENOENT ? 0
				       : err_set(err, -errno, "%s: cannot open: %s", b->path,
						 strerror(errno));
	rc = baseline_read_head(b, err);
	return rc ? rc : load_fabric_of(&b->fabric, NULL, b->path, &opts, err);
}

/* Most of its switches are in now. */
static bool baseline_fits(const struct baseline *b, const struct fabric *now)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; b->fabric && sw < b->fabric->nsw; sw++)
		n += fabric_switch_by_guid(now, b->fabric->sw_guid[sw]) != FAB_NONE;
	return b->fabric && n * 2 > b->fabric->nsw;
}

/* The one of any name that fits.  0 also when there is none, which leaves *out as it is. */
char *baseline_of_file(const char *file)
{
	const char *end = strrchr(file, '.');

	return end && !strcmp(end, SUFFIX) ? baseline_name_of_file(file) : NULL;
}

static int baseline_seek(struct baseline *out, const char *dir, const struct fabric *now,
			 const struct name_map *names, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	while (d && !out->path && !rc && (e = readdir(d))) {
		struct baseline b = { .name = baseline_of_file(e->d_name) };

		if (!b.name)
			continue;
		b.path = xasprintf("%s/%s", dir, e->d_name);
		rc = baseline_read(&b, names, err);
		if (!rc && baseline_fits(&b, now))
			*out = b;
		else
			baseline_close(&b);
	}
	if (d)
		closedir(d);
	return rc;
}

int baseline_open(struct baseline *out, const char *dir, const char *name, const struct fabric *now,
		  const struct name_map *names, struct err *err)
{
	int rc = 0;

	*out = (struct baseline){ 0 };
	if (!name)
		rc = baseline_seek(out, dir, now, names, err);
	if (out->path || rc)
		return rc;
	out->name = xstrdup(name ? name : now->name);
	out->path = baseline_path(dir, out->name);
	rc = baseline_read(out, names, err);
	if (rc)
		baseline_close(out);
	return rc;
}

static int baseline_print(char **text, size_t *len, const struct fabric *f, bool accepted,
			  struct err *err)
{
	FILE *out = open_memstream(text, len);
	int rc;

	if (!out)
		return err_set(err, -ENOMEM, "out of memory for the baseline");
	fprintf(out, HEAD "1: %s\n", accepted ? "accepted" : "learnt");
	rc = ibnd_write(out, f, err);
	fclose(out);
	return rc;
}

static int baseline_mkdir_of(const char *path, struct err *err)
{
	char *dir = xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	int rc = store_mkdir(dir, err);

	free(dir);
	return rc;
}

int baseline_write(struct baseline *b, const struct fabric *f, bool accepted, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	int rc = baseline_mkdir_of(b->path, err);

	if (!rc)
		rc = baseline_print(&text, &len, f, accepted, err);
	if (!rc)
		rc = store_replace(b->path, text, len, 0600, err);
	free(text);
	if (rc)
		return rc;
	fabric_put(b->fabric);
	b->fabric = (struct fabric *)fabric_get(f);
	b->accepted = accepted;
	b->since_s = time(NULL);
	return 0;
}

int baseline_remove(struct baseline *b, struct err *err)
{
	if (unlink(b->path) && errno != ENOENT)
		return err_set(err, -errno, "%s cannot be removed: %s", b->path, strerror(errno));
	return 0;
}
