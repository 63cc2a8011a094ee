/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/lines.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES (1u << 13)

struct lines {
	FILE *f;
	char *path;
	struct read_report *report;
	char *buf; /* size + 1 bytes, so that the last line can be terminated */
	size_t size, have, at;
	uint64_t number;
	struct file_pace pace;
	bool eof, cut;
	int error;
};

struct lines *lines_new(FILE *f, const char *path, struct read_report *report)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	read_report_begin(report, path);
	l->f = f;
	l->path = xstrdup(path);
	l->report = report;
	l->size = FIRST_BYTES;
	l->buf = xcalloc(l->size + 1, 1);
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	free(l->buf);
	free(l->path);
	free(l);
}

/* Moves what is left to the front and reads behind it. */
static void lines_refill(struct lines *l)
{
	size_t got;

	if (l->at) {
		memmove(l->buf, l->buf + l->at, l->have - l->at);
		l->have -= l->at;
		l->at = 0;
	}
	if (l->have == l->size && l->size < LINES_MAX) {
		l->size *= 2;
		l->buf = xrealloc(l->buf, l->size + 1, 1);
	}
	got = fread(l->buf + l->have, 1, l->size - l->have, l->f);
	if (got < l->size - l->have) {
		l->eof = true;
		if (ferror(l->f))
			l->error = errno ? -errno : -EIO;
	}
	l->have += got;
	if (file_progress_read(&l->pace, l->f, got)) {
		l->error = -ECANCELED;
		l->eof = true;
		l->have = l->at;
	}
}

/* Throws away the rest of a line that is too long. */
static void lines_skip_long(struct lines *l)
{
	char *end;

	l->number++;
	if (!l->report) {
		l->error = -EMSGSIZE;
		l->eof = true;
		l->at = l->have;
		return;
	}
	read_report_skip(l->report, l->number, "line longer than %u bytes skipped", LINES_MAX);
	for (;;) {
		end = memchr(l->buf + l->at, '\n', l->have - l->at);
		if (end) {
			l->at = (size_t)(end - l->buf) + 1;
			return;
		}
		l->at = l->have;
		if (l->eof)
			return;
		lines_refill(l);
	}
}

static char *lines_take(struct lines *l, char *end, size_t *len)
{
	char *line = l->buf + l->at;
	size_t n = (size_t)(end - line);

	l->cut = n + 1 > l->have - l->at;
	l->at += l->cut ? l->have - l->at : n + 1;
	if (++l->number == 1 && n >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		n -= 3;
	}
	while (n && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	for (char *z = memchr(line, '\0', n); z; z = memchr(z, '\0', n - (size_t)(z - line)))
		*z = ' ';
	if (l->report)
		l->report->lines = l->number;
	if (len)
		*len = n;
	return line;
}

char *lines_next(struct lines *l, size_t *len)
{
	char *end;

	for (;;) {
		end = memchr(l->buf + l->at, '\n', l->have - l->at);
		if (end)
			return lines_take(l, end, len);
		if (l->eof)
			break;
		if (!l->at && l->have >= LINES_MAX)
			lines_skip_long(l);
		else
			lines_refill(l);
	}
	if (l->at == l->have || l->error)
		return NULL;
	return lines_take(l, l->buf + l->have, len);
}

char *lines_next_data(struct lines *l)
{
	char *line;

	while ((line = lines_next(l, NULL))) {
		const char *s = line;

		if (!scan_end(&s) && *s != '#')
			break;
	}
	return line;
}

uint64_t lines_number(const struct lines *l)
{
	return l->number;
}

bool lines_unended(const struct lines *l)
{
	return l->cut;
}

const char *lines_path(const struct lines *l)
{
	return l->path;
}

int lines_end(const struct lines *l, int rc, const char *none, struct err *err)
{
	if (!rc && l->error)
		rc = err_set(err, l->error, "%s:%llu: reading stopped: %s", l->path,
			     (unsigned long long)(l->number ? l->number : 1), strerror(-l->error));
	else if (!rc && none)
		rc = err_set(err, -EINVAL, "%s: %s", l->path, none);
	return rc;
}

int lines_whole(const struct lines *l, struct err *err)
{
	if (l->error || !l->cut)
		return lines_end(l, 0, NULL, err);
	return err_set(err, -ENODATA,
		       "%s:%llu: the file ends in the middle of this line: it is truncated. Write "
		       "it again",
		       l->path, (unsigned long long)l->number);
}

int lines_error(const struct lines *l)
{
	return l->error;
}

bool scan_blank(const char **s)
{
	while (**s == ' ' || **s == '\t')
		(*s)++;
	return true;
}

bool scan_word(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n))
		return false;
	*s += n;
	return true;
}

static int lines_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool scan_hex(uint64_t *out, const char **s)
{
	const char *p = *s;
	uint64_t v = 0;
	int n = 0, d;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && lines_hex_digit(p[2]) >= 0)
		p += 2;
	for (; (d = lines_hex_digit(*p)) >= 0; p++, n++)
		v = v << 4 | (uint64_t)d;
	if (!n || n > 16)
		return false;
	*out = v;
	*s = p;
	return true;
}

bool scan_dec(uint64_t *out, const char **s)
{
	const char *p = *s;
	uint64_t v = 0;
	int n = 0;

	for (; *p >= '0' && *p <= '9'; p++, n++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (!n || n > 19)
		return false;
	*out = v;
	*s = p;
	return true;
}

bool scan_end(const char **s)
{
	scan_blank(s);
	return **s == '\0';
}
