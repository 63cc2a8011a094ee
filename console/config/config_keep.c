/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line by line: a line that sets one of the names in the section gets the new value, the other
 * lines are copied. */
#include "console/config/config_keep.h"

#include "console/config/config.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAIRS_MAX 64

struct keeper {
	const struct config_pair *pair;
	size_t n;
	const char *section; /* without brackets; "" before the first */
	bool done[PAIRS_MAX];
	FILE *out;
};

/* "[fabric hpc1]" is that section; other lines are none. */
static bool config_keep_is_head(const char *line, const char **name, size_t *len)
{
	const char *end;

	line += strspn(line, " \t");
	end = line[0] == '[' ? strchr(line, ']') : NULL;
	if (!end)
		return false;
	*name = line + 1;
	*len = (size_t)(end - line) - 1;
	return true;
}

/* The pair that a line sets; k->n: none of them. */
static size_t config_keep_set_by(const struct keeper *k, const char *line)
{
	size_t len, i = 0;

	line += strspn(line, " \t");
	len = strcspn(line, "=:");
	if (!line[len] || line[0] == '#' || line[0] == ';')
		return k->n;
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	while (i < k->n &&
	       (strlen(k->pair[i].name) != len || strncasecmp(k->pair[i].name, line, len) != 0))
		i++;
	return i;
}

static void config_keep_put(const struct keeper *k, size_t i, const char *remark)
{
	if (k->pair[i].value[0])
		fprintf(k->out, "%s = %s%s\n", k->pair[i].name, k->pair[i].value, remark);
}

/* What is behind a value: " ; since the upgrade"; "" nothing. */
static const char *config_keep_remark_of(char *line)
{
	char *at = strstr(line, " ;");

	line[strcspn(line, "\n")] = '\0';
	return at ? at : "";
}

static void config_keep_put_rest(struct keeper *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (!k->done[i])
			config_keep_put(k, i, "");
	memset(k->done, true, sizeof(k->done));
}

/* Blank lines and remarks right before a head belong to it: new lines come before them. */
struct held {
	char *text;
	size_t len;
	FILE *to;
};

static void config_keep_held_open(struct held *h)
{
	h->to = open_memstream(&h->text, &h->len);
}

static void config_keep_held_put(struct held *h, FILE *out)
{
	fclose(h->to);
	fputs(h->text, out);
	free(h->text);
	config_keep_held_open(h);
}

static bool config_keep_is_quiet(const char *line)
{
	line += strspn(line, " \t\n");
	return !line[0] || line[0] == '#' || line[0] == ';';
}

/* Returns whether the section was there. */
static bool config_keep_copy(struct keeper *k, FILE *in)
{
	bool here = !k->section[0], found = here;
	struct held held;
	char *line = NULL;
	size_t size = 0;

	config_keep_held_open(&held);
	while (getline(&line, &size, in) >= 0) {
		const char *name;
		size_t len, i;

		if (config_keep_is_quiet(line)) {
			fprintf(held.to, "%s%s", line, strchr(line, '\n') ? "" : "\n");
			continue;
		}
		if (config_keep_is_head(line, &name, &len)) {
			if (here)
				config_keep_put_rest(k);
			here = strlen(k->section) == len && !strncmp(name, k->section, len);
			found |= here;
		}
		config_keep_held_put(&held, k->out);
		i = here ? config_keep_set_by(k, line) : k->n;
		if (i < k->n && !k->done[i])
			config_keep_put(k, i, config_keep_remark_of(line));
		else if (i == k->n)
			fprintf(k->out, "%s%s", line, strchr(line, '\n') ? "" : "\n");
		if (i < k->n)
			k->done[i] = true;
	}
	if (here)
		config_keep_put_rest(k);
	config_keep_held_put(&held, k->out);
	fclose(held.to);
	free(held.text);
	free(line);
	return found;
}

/* Rights and owner of the file that is replaced, as far as that is allowed. */
static void config_keep_take_rights(const struct output_file *o, FILE *in)
{
	struct stat st;
	int fd = fileno(o->file);

	if (!in || fstat(fileno(in), &st))
		return;
	if (fchown(fd, st.st_uid, st.st_gid) && fchmod(fd, st.st_mode & 0700))
		return;
	if (fchmod(fd, st.st_mode & 07777))
		return;
}

static int config_keep_write_all(struct keeper *k, const char *path, FILE *in, struct err *err)
{
	struct output_file o;
	int rc = output_file_open(&o, path, err);

	if (rc)
		return rc;
	config_keep_take_rights(&o, in);
	k->out = o.file;
	if (in && config_keep_copy(k, in) && !ferror(in))
		return output_file_commit(&o, err);
	if (in && ferror(in))
		return output_file_end(&o, err_set(err, -EIO, "%s cannot be read", path), err);
	if (k->section[0])
		fprintf(o.file, "%s[%s]\n", in ? "\n" : "", k->section);
	config_keep_put_rest(k);
	return output_file_commit(&o, err);
}

static int config_keep_folder_of(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int rc;

	if (!slash || slash == path)
		return 0;
	dir = xasprintf("%.*s", (int)(slash - path), path);
	rc = output_file_folder(dir, err);
	free(dir);
	return rc;
}

/* Where a link leads to, not the link, is written. */
static int config_keep_open_old(FILE **in, char **path, const char *name, struct err *err)
{
	char *real = realpath(name, NULL);

	*path = real ? real : xstrdup(name);
	*in = fopen(*path, "re");
	if (!*in && errno != ENOENT)
		return err_set(err, -errno, "%s cannot be read: %s", *path, strerror(errno));
	return *in ? 0 : config_keep_folder_of(*path, err);
}

int config_keep(const char *file, const char *profile, const struct config_pair *pair, size_t n,
		char *file_out, size_t len, struct err *err)
{
	struct keeper k = { .pair = pair, .n = n < PAIRS_MAX ? n : PAIRS_MAX };
	char *name = file ? xstrdup(file) : config_user_file(), *path = NULL, *section;
	FILE *in = NULL;
	int rc;

	if (!name)
		return err_set(err, -ENOENT,
			       "HOME is not set: use --config FILE to save settings there");
	section = profile ? xasprintf("fabric %s", profile) : xstrdup("");
	k.section = section;
	rc = config_keep_open_old(&in, &path, name, err);
	if (!rc)
		rc = config_keep_write_all(&k, path, in, err);
	if (in)
		fclose(in);
	snprintf(file_out, len, "%s", path);
	free(path);
	free(name);
	free(section);
	return rc;
}
