/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/cast.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TIME_DIGITS 12 /* of microseconds, for a week */

struct cast {
	char *path;
	int fd;
	int w, h, colours;
	double start_s;
	double at_s;	    /* 0: now */
	struct cell *shown; /* w * h; ch = UINT32_MAX: not known */
	uint64_t size;
	struct digest_stream *hash;
};

/* All of the line or nothing of it. */
static int cast_put(struct cast *c, json_t *j, struct err *err)
{
	char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(TIME_DIGITS)) : NULL;
	char *line;
	size_t len;
	int rc;

	json_decref(j);
	if (!text)
		return err_set(err, -EINVAL, "%s: a frame cannot be encoded as JSON", c->path);
	line = xasprintf("%s\n", text);
	free(text);
	len = strlen(line);
	rc = store_append(c->fd, c->path, line, len, err);
	if (!rc) {
		digest_add(c->hash, line, len);
		c->size += len;
	} else if (ftruncate(c->fd, (off_t)c->size)) {
		err_set(err, rc, "%s: a frame is truncated and cannot be removed", c->path);
	}
	free(line);
	return rc;
}

static int cast_event(struct cast *c, const char *code, const char *text, struct err *err)
{
	double at = (c->at_s > 0 ? c->at_s : clock_s()) - c->start_s;

	return cast_put(c, json_pack("[f, s, s]", at > 0 ? at : 0, code, text), err);
}

static void cast_forget(struct cast *c, int w, int h)
{
	size_t n = (size_t)w * (size_t)h;

	free(c->shown);
	c->shown = xcalloc(n ? n : 1, sizeof(*c->shown));
	for (size_t i = 0; i < n; i++)
		c->shown[i].ch = UINT32_MAX;
	c->w = w;
	c->h = h;
}

void cast_at(struct cast *c, double s)
{
	c->at_s = s;
}

int cast_open(struct cast **out, const char *path, int w, int h, int colours, double epoch_s,
	      double start_s, struct err *err)
{
	struct cast *c = xcalloc(1, sizeof(*c));
	int rc = 0;

	c->path = xstrdup(path);
	c->start_s = start_s;
	c->colours = colours;
	c->hash = digest_begin();
	cast_forget(c, w, h);
	c->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
	if (c->fd < 0 || fchmod(c->fd, 0640))
		rc = err_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
	if (!rc)
		rc = cast_put(c,
			      json_pack("{s:i, s:i, s:i, s:I, s:s, s:{s:s}, s:f}", "version", 2,
					"width", w, "height", h, "timestamp",
					(json_int_t)time(NULL), "title", "ibroute-top", "env",
					"TERM", colours >= 256 ? "xterm-256color" : "xterm", "at_s",
					c->start_s - epoch_s),
			      err);
	if (rc) {
		cast_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

static void cast_put_style(FILE *f, const struct cell *cell, int colours)
{
	const struct role_style *l = role_style((enum role)cell->role);

	if (colours >= 256)
		canvas_put_sgr(f, l->fg, l->bg, l->bold, cell->reverse);
	else if (colours)
		canvas_put_sgr(f, l->fg16, l->bg16, l->bold, cell->reverse);
	else
		canvas_put_sgr(f, -1, -1, l->bold, cell->reverse || l->reverse);
}

static bool cast_same_cell(const struct cell *a, const struct cell *b)
{
	return a->ch == b->ch && a->role == b->role && a->reverse == b->reverse;
}

static bool cast_same_style(const struct cell *a, const struct cell *b)
{
	return a && a->role == b->role && a->reverse == b->reverse;
}

/* Control sequences from the last frame to this one; "": they are equal. */
static void cast_put_changes(FILE *f, const struct cast *c, const struct canvas *v)
{
	const struct cell *pen = NULL;

	for (int y = 0; y < v->h; y++) {
		int at = -1; /* column of the cursor, when it is in this row */

		for (int x = 0; x < v->w; x++) {
			const struct cell *cell = &v->cell[y * v->w + x];

			if (!cell->ch || cast_same_cell(cell, &c->shown[y * v->w + x]))
				continue;
			if (at != x)
				fprintf(f, "\x1b[%d;%dH", y + 1, x + 1);
			if (!cast_same_style(pen, cell))
				cast_put_style(f, cell, c->colours);
			text_put(f, cell->ch);
			pen = cell;
			at = x + text_char_width(cell->ch);
		}
	}
}

/* The first frame of a file or size: no line wrap, no cursor, an empty screen. */
static int cast_begin_picture(struct cast *c, const struct canvas *v, struct err *err)
{
	char size[32];
	int rc = 0;

	if (v->w != c->w || v->h != c->h) {
		snprintf(size, sizeof(size), "%dx%d", v->w, v->h);
		rc = cast_event(c, "r", size, err);
	}
	if (!rc)
		rc = cast_event(c, "o", "\x1b[?7l\x1b[?25l\x1b[0m\x1b[2J", err);
	if (!rc)
		cast_forget(c, v->w, v->h);
	return rc;
}

static bool cast_unknown(const struct cast *c)
{
	return c->w > 0 && c->h > 0 && c->shown[0].ch == UINT32_MAX;
}

int cast_frame(struct cast *c, const struct canvas *v, int colours, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int rc = 0;

	if (v->w <= 0 || v->h <= 0)
		return 0;
	if (v->w != c->w || v->h != c->h || colours != c->colours || cast_unknown(c))
		rc = cast_begin_picture(c, v, err);
	if (rc)
		return rc;
	c->colours = colours;
	f = open_memstream(&text, &len);
	cast_put_changes(f, c, v);
	fclose(f);
	if (len)
		rc = cast_event(c, "o", text, err);
	if (!rc && len)
		memcpy(c->shown, v->cell, (size_t)v->w * (size_t)v->h * sizeof(*c->shown));
	free(text);
	return rc;
}

int cast_mark(struct cast *c, const char *label, struct err *err)
{
	return cast_event(c, "m", label, err);
}

int cast_sync(struct cast *c, struct err *err)
{
	return store_sync(c->fd, c->path, err);
}

int cast_end(struct cast *c, struct err *err)
{
	char text[64];
	int rc;

	if (!c)
		return 0;
	snprintf(text, sizeof(text), "\x1b[0m\x1b[?7h\x1b[?25h\x1b[%d;1H\r\n", c->h > 0 ? c->h : 1);
	rc = cast_event(c, "o", text, err);
	return rc ? rc : cast_sync(c, err);
}

void cast_free(struct cast *c)
{
	struct digest unused;

	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	digest_end(&unused, c->hash);
	free(c->shown);
	free(c->path);
	free(c);
}

uint64_t cast_size(const struct cast *c)
{
	return c->size;
}

void cast_digest(struct digest *out, const struct cast *c)
{
	digest_peek(out, c->hash);
}
