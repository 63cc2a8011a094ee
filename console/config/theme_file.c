/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/theme_file.h"

#include "console/config/user_path.h"
#include "fabric/base/file/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct theme_lines {
	struct theme *out;
	const char *path;
	struct lines *lines;
	bool any; /* a role was set */
	struct err *err;
};

static int theme_file_bad(const struct theme_lines *l, const char *what, const char *word,
			  size_t len)
{
	return err_set(l->err, -EINVAL, "%s:%llu: %s '%.*s'", l->path,
		       (unsigned long long)lines_number(l->lines), what, (int)(len < 40 ? len : 40),
		       word);
}

static const char *theme_file_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, " \t");

	*len = strcspn(word, " \t");
	*at = word + *len;
	return word;
}

static bool theme_file_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(word, name, len);
}

/* -1: the terminal's own; -2: none of them. */
static int theme_file_basic(const char *word, size_t len)
{
	static const char *const names[] = { "black", "red",	 "green", "yellow",
					     "blue",  "magenta", "cyan",  "white" };
	bool bright = len > 7 && !strncmp(word, "bright-", 7);

	if (theme_file_is(word, len, "default"))
		return -1;
	for (int i = 0; i < 8; i++)
		if (theme_file_is(word + 7 * bright, len - 7 * bright, names[i]))
			return i + 8 * bright;
	return -2;
}

static bool theme_file_digits(const char *word, size_t len, size_t most, int (*is)(int))
{
	size_t n = 0;

	while (n < len && is((unsigned char)word[n]))
		n++;
	return n && n == len && n <= most;
}

static int theme_file_colour(const struct theme_lines *l, enum role role, bool background,
			     const char *word, size_t len)
{
	int colour = theme_file_basic(word, len);

	if (len == 7 && word[0] == '#' && theme_file_digits(word + 1, 6, 6, isxdigit)) {
		theme_set_rgb(l->out, role, background, (int)strtol(word + 1, NULL, 16));
		return 0;
	}
	if (theme_file_digits(word, len, 3, isdigit))
		colour = (int)strtol(word, NULL, 10);
	if (colour < -1 || colour > 255)
		return theme_file_bad(
			l, "not a colour (0 to 255, #rrggbb, red, bright-red, default):", word,
			len);
	theme_set_colour(l->out, role, background, colour);
	return 0;
}

/* "white on #d75f00 bold". */
static int theme_file_style(const struct theme_lines *l, enum role role, const char *at)
{
	struct role_style *style = &l->out->style[role];
	size_t len;
	const char *word = theme_file_word(&at, &len);
	int rc = theme_file_colour(l, role, false, word, len);

	theme_set_colour(l->out, role, true, -1);
	style->bold = false;
	word = theme_file_word(&at, &len);
	if (!rc && theme_file_is(word, len, "on")) {
		word = theme_file_word(&at, &len);
		rc = theme_file_colour(l, role, true, word, len);
		word = theme_file_word(&at, &len);
	}
	if (!rc && theme_file_is(word, len, "bold")) {
		style->bold = true;
		word = theme_file_word(&at, &len);
	}
	if (!rc && len)
		return theme_file_bad(l, "expected COLOUR [on COLOUR] [bold], not", word, len);
	return rc;
}

static int theme_file_line(struct theme_lines *l, const char *line)
{
	size_t len = strcspn(line, "= \t");
	const char *value = line + len + strspn(line + len, " \t");
	enum role role = theme_role(line, len);

	if (*value != '=')
		return theme_file_bad(l, "expected ROLE = COLOUR, not", line, strlen(line));
	value++;
	value += strspn(value, " \t");
	if (theme_file_is(line, len, "base")) {
		if (l->any)
			return theme_file_bad(l, "base has to be first:", value, strlen(value));
		if (!theme_named(l->out, value))
			return theme_file_bad(l, "base is none of" THEME_WORDS "but", value,
					      strlen(value));
		return 0;
	}
	if (role == ROLE_COUNT)
		return theme_file_bad(l, "no role has the name", line, len);
	l->any = true;
	return theme_file_style(l, role, value);
}

static int theme_file_read(struct theme *out, FILE *in, const char *path, struct err *err)
{
	struct theme_lines l = { .out = out, .path = path, .err = err };
	char *line;
	int rc = 0;

	theme_named(out, "dark");
	l.lines = lines_new(in, path, NULL);
	while (!rc && (line = lines_next_data(l.lines))) {
		size_t n = strlen(line);

		while (n && strchr(" \t", line[n - 1]))
			line[--n] = '\0';
		rc = theme_file_line(&l, line + strspn(line, " \t"));
	}
	if (!rc && lines_error(l.lines))
		rc = err_set(err, lines_error(l.lines), "%s: %s", path,
			     strerror(-lines_error(l.lines)));
	lines_free(l.lines);
	return rc;
}

int theme_read(struct theme *out, const char *what, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	FILE *in;
	int fd, rc;

	if (theme_named(out, what))
		return 0;
	snprintf(path, sizeof(path), "%s", what);
	user_path_expand(path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(err, -errno, "%s: neither one of" THEME_WORDS "nor a file: %s", path,
			       strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > THEME_FILE_BYTES) {
		close(fd);
		return err_set(err, -EINVAL, "%s: not a file of at most %d bytes", path,
			       THEME_FILE_BYTES);
	}
	in = fdopen(fd, "r");
	rc = theme_file_read(out, in, path, err);
	fclose(in);
	return rc;
}
