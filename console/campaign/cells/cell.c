/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/cells/cell.h"

#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT	 1
#define HEAD_MAX 4096

/* Texts of engines and numbers of LMC and VLs are in the meta data; the seeds of others are not. */
void cell_init(struct cell *c, const struct failures *x, const json_t *meta, size_t engine,
	       uint64_t seed)
{
	json_t *of = json_copy((json_t *)(uintptr_t)meta);
	struct digest d;
	char *text;

	json_object_del(of, "engines");
	json_object_del(of, "first_seed");
	json_object_del(of, "seeds");
	json_object_set_new(of, "engine", json_text(x->engine[engine].label));
	json_object_set_new(of, "seed", json_integer((json_int_t)seed));
	text = json_dumps(of, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
	digest_of(&d, text, strlen(text));
	*c = (struct cell){ .engine = engine, .seed = seed };
	digest_hex(c->name, &d);
	free(text);
	json_decref(of);
}

static char *cell_path(const char *dir, const char *name)
{
	return xasprintf("%s/cells/%s", dir, name);
}

static void cell_digest(char hex[DIGEST_HEX], const struct failures_life *l)
{
	struct digest_stream *s = digest_begin();
	struct digest d;

	for (int k = 0; k < FAILURES_FILES; k++)
		digest_add(s, l->text[k], l->len[k]);
	digest_end(&d, s);
	digest_hex(hex, &d);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct cell_writing {
	json_t *head;
	const struct failures_life *life;
};

static int cell_put(FILE *out, const void *what, struct err *err)
{
	const struct cell_writing *w = what;
	int rc = 0;

	if (json_dumpf(w->head, out, JSON_COMPACT) || fputc('\n', out) == EOF)
		rc = err_set(err, -EIO, "a cell cannot be written: %s", strerror(errno));
	for (int k = 0; k < FAILURES_FILES && !rc; k++)
		if (fwrite(w->life->text[k], 1, w->life->len[k], out) != w->life->len[k])
			rc = err_set(err, -EIO, "a cell cannot be written: %s", strerror(errno));
	return rc;
}

int cell_write(const char *dir, const struct cell *c, const json_t *meta,
	       const struct failures_life *life, struct err *err)
{
	char *path = cell_path(dir, c->name), hex[DIGEST_HEX];
	struct cell_writing w = { json_object(), life };
	int rc;

	cell_digest(hex, life);
	json_object_set_new(w.head, "cell", json_integer(FORMAT));
	json_object_set(w.head, "program", json_object_get(meta, "program"));
	json_object_set(w.head, "fingerprint", json_object_get(meta, "fingerprint"));
	json_object_set_new(w.head, "seed", json_integer((json_int_t)c->seed));
	json_object_set_new(w.head, "bytes", json_integer((json_int_t)life->len[0]));
	json_object_set_new(w.head, "sha256", json_string(hex));
	rc = output_file_write(path, cell_put, &w, err);
	json_decref(w.head);
	free(path);
	return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

static json_t *cell_head(FILE *in)
{
	char line[HEAD_MAX];

	if (!fgets(line, sizeof(line), in) || !strchr(line, '\n'))
		return NULL;
	return json_loads(line, 0, NULL);
}

/* The rest of the file, in its two parts. */
static int cell_rest(struct failures_life *out, FILE *in, size_t first)
{
	size_t room = 0, n = 0, got;
	char *text = NULL;

	do {
		room = room ? 2 * room : 1u << 16;
		text = xrealloc(text, room, 1);
		got = fread(text + n, 1, room - n, in);
		n += got;
	} while (got && n == room);
	if (first > n || ferror(in)) {
		free(text);
		return -EINVAL;
	}
	out->text[1] = xcalloc(n - first + 1, 1);
	memcpy(out->text[1], text + first, n - first);
	out->len[1] = n - first;
	out->text[0] = text;
	out->len[0] = first;
	return 0;
}

static int cell_take(struct failures_life *out, FILE *in, const struct cell *c)
{
	json_t *head = cell_head(in);
	json_int_t first = json_integer_value(json_object_get(head, "bytes"));
	const char *sum = json_string_value(json_object_get(head, "sha256"));
	char hex[DIGEST_HEX];
	int rc = -EINVAL;

	if (json_integer_value(json_object_get(head, "cell")) == FORMAT && sum && first > 0 &&
	    (uint64_t)json_integer_value(json_object_get(head, "seed")) == c->seed)
		rc = cell_rest(out, in, (size_t)first);
	if (!rc) {
		cell_digest(hex, out);
		rc = strcmp(hex, sum) ? -EINVAL : 0;
	}
	json_decref(head);
	return rc;
}

int cell_read(struct failures_life *out, const char *dir, const struct cell *c, struct err *err)
{
	char *path = cell_path(dir, c->name);
	FILE *in = fopen(path, "re");
	int rc = in ? 0 : -errno;

	memset(out, 0, sizeof(*out));
	if (!in) {
		err_set(err, rc, "%s cannot be read: %s", path, strerror(-rc));
	} else if (cell_take(out, in, c)) {
		cell_life_free(out);
		rc = err_set(err, -EINVAL, "%s is damaged: 'campaign run' computes it again", path);
	}
	if (in)
		fclose(in);
	free(path);
	return rc;
}

enum cell_state cell_look(const char *dir, const struct cell *c)
{
	struct failures_life l;
	struct err err;
	int rc = cell_read(&l, dir, c, &err);

	cell_life_free(&l);
	return !rc ? CELL_THERE : rc == -ENOENT ? CELL_MISSING : CELL_DAMAGED;
}

static bool cell_says(const json_t *head, const json_t *meta, const char *key)
{
	return json_equal(json_object_get(head, key), json_object_get(meta, key));
}

int cell_foreign(const char *dir, const char *name, const json_t *meta, struct err *err)
{
	char *path = cell_path(dir, name);
	FILE *in = strlen(name) == CELL_NAME - 1 ? fopen(path, "re") : NULL;
	json_t *head = in ? cell_head(in) : NULL;
	const char *program = json_string_value(json_object_get(head, "program"));
	int rc = 0;

	if (program && !cell_says(head, meta, "program"))
		rc = err_set(err, -EXDEV,
			     "%s is of ibroute-top %s, the campaign of %s: versions are not mixed",
			     path, program, json_string_value(json_object_get(meta, "program")));
	else if (program && !cell_says(head, meta, "fingerprint"))
		rc = err_set(err, -EXDEV, "%s is of another fabric: fabrics are not mixed", path);
	json_decref(head);
	if (in)
		fclose(in);
	free(path);
	return rc;
}

void cell_life_free(struct failures_life *l)
{
	for (int k = 0; k < FAILURES_FILES; k++)
		free(l->text[k]);
	memset(l, 0, sizeof(*l));
}
