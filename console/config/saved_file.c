/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/saved_file.h"

#include "console/config/config.h"
#include "console/config/user_lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "views/prompt/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_MOST (1u << 20)

char *saved_file_path(void)
{
	char *config = config_user_file(), *slash, *path;

	if (!config)
		return NULL;
	slash = strrchr(config, '/');
	path = xasprintf("%.*s/views", (int)(slash - config), config);
	free(config);
	return path;
}

/* --- reading --------------------------------------------------------------------------------- */

struct saved_reader {
	struct saved_views *out;
	const char *path;
	unsigned line;
	struct saved_view view; /* being read; no name: none is */
	unsigned begun;		/* its first line */
	bool bad;		/* and something was wrong in it */
};

static void saved_file_wrong(struct saved_reader *r, unsigned line, const char *why)
{
	r->bad = true;
	log_add(LOG_WARN, "views", "%s:%u: %s", r->path, line, why);
}

static void saved_file_end_view(struct saved_reader *r)
{
	struct err err;

	if (r->view.name[0] && !r->bad && r->view.view == VIEW_COUNT)
		saved_file_wrong(r, r->begun, "no view = NAME follows");
	if (r->view.name[0] && !r->bad && saved_view_check(&r->view, &err))
		saved_file_wrong(r, r->begun, err.text);
	if (r->view.name[0] && !r->bad && saved_views_find(r->out, r->view.name))
		saved_file_wrong(r, r->begun, "a view of that name was there before");
	if (r->view.name[0] && !r->bad && saved_views_put(r->out, &r->view, &err))
		saved_file_wrong(r, r->begun, err.text);
	r->view = (struct saved_view){ .name = "" };
}

/* "[hot]"; 0 and the length of the name at *name, or -EINVAL. */
static int saved_file_head(const char **name, size_t *len, const char *line)
{
	const char *end = strchr(line, ']');

	if (line[0] != '[' || !end || end[1 + strspn(end + 1, " \t")])
		return -EINVAL;
	*name = line + 1;
	*len = (size_t)(end - line) - 1;
	return 0;
}

static void saved_file_take_head(struct saved_reader *r, const char *line)
{
	const char *name;
	struct err err;
	size_t len;

	saved_file_end_view(r);
	r->bad = false;
	r->begun = r->line;
	r->view.view = VIEW_COUNT;
	if (saved_file_head(&name, &len, line)) {
		saved_file_wrong(r, r->line, "expected [NAME]");
		return;
	}
	snprintf(r->view.name, sizeof(r->view.name), "%.*s",
		 len < SAVED_NAME ? (int)len : SAVED_NAME - 1, name);
	if (len >= SAVED_NAME || saved_view_name_check(r->view.name, &err))
		saved_file_wrong(r, r->line, "a name of a view has 1 to 31 characters, no blanks");
	else if (command_view_taken(r->view.name))
		saved_file_wrong(r, r->line, "a view of the console has that name");
}

static bool saved_file_text(struct saved_reader *r, char *to, size_t size, const char *value)
{
	if (strlen(value) >= size) {
		saved_file_wrong(r, r->line, "this is too long");
		return false;
	}
	snprintf(to, size, "%s", value);
	return true;
}

static void saved_file_take(struct saved_reader *r, const char *name, const char *value)
{
	struct saved_view *v = &r->view;
	char why[128];

	if (!strcasecmp(name, "view")) {
		v->view = command_view(value);
		if (!value[0] || v->view == VIEW_COUNT) {
			snprintf(why, sizeof(why), "unknown view '%.40s'", value);
			saved_file_wrong(r, r->line, why);
		}
	} else if (!strcasecmp(name, "filter")) {
		saved_file_text(r, v->filter, sizeof(v->filter), value);
	} else if (!strcasecmp(name, "columns")) {
		saved_file_text(r, v->columns, sizeof(v->columns), value);
	} else if (!strcasecmp(name, "sort")) {
		saved_file_text(r, v->sort, sizeof(v->sort), value);
	} else if (!strcasecmp(name, "layout")) {
		saved_file_text(r, v->choice.layout, sizeof(v->choice.layout), value);
	} else if (!strcasecmp(name, "metric")) {
		saved_file_text(r, v->choice.metric, sizeof(v->choice.metric), value);
	} else if (!strcasecmp(name, "problems")) {
		v->problems = !strcasecmp(value, "yes");
		if (!v->problems && strcasecmp(value, "no") != 0)
			saved_file_wrong(r, r->line, "problems: neither yes nor no");
	} else {
		snprintf(
			why, sizeof(why),
			"'%.40s' is not one of view, filter, columns, sort, problems, layout, metric",
			name);
		saved_file_wrong(r, r->line, why);
	}
}

static void saved_file_line(struct saved_reader *r, char *line)
{
	char *value;

	line = user_lines_trim(line);
	if (!line[0] || line[0] == '#' || line[0] == ';')
		return;
	if (line[0] == '[') {
		saved_file_take_head(r, line);
		return;
	}
	value = strchr(line, '=');
	if (!value) {
		saved_file_wrong(r, r->line, "expected NAME = VALUE");
		return;
	}
	if (!r->begun) {
		saved_file_wrong(r, r->line, "this is before the first [NAME]");
		return;
	}
	*value++ = '\0';
	saved_file_take(r, user_lines_trim(line), user_lines_trim(value));
}

static void saved_file_lines(struct saved_reader *r, char *text, size_t len)
{
	char *end;

	for (size_t at = 0; at < len; at = (size_t)(end - text) + 1) {
		end = memchr(text + at, '\n', len - at);
		if (!end)
			end = text + len;
		*end = '\0';
		r->line++;
		if (strlen(text + at) != (size_t)(end - text) - at)
			saved_file_wrong(r, r->line, "a zero byte");
		else
			saved_file_line(r, text + at);
	}
	saved_file_end_view(r);
}

int saved_file_read(struct saved_views *out, const char *path, struct err *err)
{
	struct saved_reader r = { .out = out, .path = path };
	char *text;
	size_t len;
	int rc = user_lines_load(&text, &len, path, FILE_MOST, err);

	out->n = 0;
	if (!rc && text)
		saved_file_lines(&r, text, len);
	free(text);
	return rc;
}

/* --- writing --------------------------------------------------------------------------------- */

static bool saved_file_is_head_of(const char *line, size_t len, const char *name)
{
	char head[SAVED_NAME + 16];
	const char *at;
	size_t n;

	line += strspn(line, " \t");
	if (line[0] != '[')
		return false;
	snprintf(head, sizeof(head), "%.*s", len < sizeof(head) ? (int)len : (int)sizeof(head) - 1,
		 line);
	head[strcspn(head, "\r\n")] = '\0';
	return !saved_file_head(&at, &n, head) && n == strlen(name) && !strncasecmp(at, name, n);
}

static bool saved_file_is_quiet(const char *line)
{
	line += strspn(line, " \t\r");
	return line[0] == '\n' || line[0] == '\0' || line[0] == '#' || line[0] == ';';
}

/* All lines but those of one view; remarks right before the head of another belong to that. */
static void saved_file_copy(FILE *out, const char *text, size_t len, const char *name)
{
	bool leave = false;
	size_t held = 0; /* where such remarks begin */

	for (size_t at = 0, n; at < len; at += n) {
		const char *end = memchr(text + at, '\n', len - at);
		bool head = text[at + strspn(text + at, " \t")] == '[';

		n = end ? (size_t)(end - text) - at + 1 : len - at;
		if (head && leave)
			fwrite(text + held, 1, at - held, out);
		if (head)
			leave = saved_file_is_head_of(text + at, n, name);
		if (!leave)
			fwrite(text + at, 1, n, out);
		if (!saved_file_is_quiet(text + at))
			held = at + n;
	}
	if (leave)
		fwrite(text + held, 1, len - held, out);
	else if (len && text[len - 1] != '\n')
		fputc('\n', out);
}

static void saved_file_put_line(FILE *out, const char *name, const char *value)
{
	if (value[0])
		fprintf(out, "%s = %s\n", name, value);
}

static void saved_file_put(FILE *out, const struct saved_view *v)
{
	fprintf(out, "[%s]\nview = %s\n", v->name, command_view_name(v->view));
	saved_file_put_line(out, "filter", v->filter);
	saved_file_put_line(out, "columns", v->columns);
	saved_file_put_line(out, "sort", v->sort);
	saved_file_put_line(out, "problems", v->problems ? "yes" : "");
	saved_file_put_line(out, "layout", v->choice.layout);
	saved_file_put_line(out, "metric", v->choice.metric);
}

struct saved_change {
	const char *name;
	const struct saved_view *view; /* NULL: none any more */
};

static void saved_file_put_all(FILE *out, const char *text, size_t len, const void *ctx)
{
	const struct saved_change *c = ctx;

	saved_file_copy(out, text, len, c->name);
	if (c->view)
		saved_file_put(out, c->view);
}

int saved_file_change(const char *path, const char *name, const struct saved_view *v,
		      struct err *err)
{
	const struct saved_change c = { name, v };
	int rc = v ? saved_view_check(v, err) : 0;

	return rc ? rc : user_lines_change(path, FILE_MOST, saved_file_put_all, &c, err);
}
