/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/text.h"

#include "fabric/base/message/plain.h"
#include "fabric/base/time/stamp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Own tables, so that a screen is the same in every locale. */
int text_char_width(uint32_t ch)
{
	static const uint32_t wide[][2] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
		{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
		{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
		{ 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
	};

	if ((ch >= 0x300 && ch < 0x370) || (ch >= 0xfe00 && ch < 0xfe10))
		return 0;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (ch >= wide[i][0] && ch <= wide[i][1])
			return 2;
	return 1;
}

int text_width(const char *text)
{
	int w = 0;
	uint32_t ch;

	while ((ch = plain_next(&text)))
		w += text_char_width(ch);
	return w;
}

void text_note(char *buf, size_t len, const char *note, int width)
{
	int used = text_width(buf) + 3, need = text_width(note);
	size_t n = strlen(buf);

	if (!need || width - used < (need < 20 ? need : 20))
		return;
	if (need <= width - used)
		snprintf(buf + n, len - n, " | %s", note);
	else
		snprintf(buf + n, len - n, " | %.*s..", width - used - 2, note);
}

bool text_append(char *buf, size_t len, uint32_t ch)
{
	size_t at = strlen(buf);
	char u[4];
	size_t n = 0;

	if (ch < 0x80) {
		u[n++] = (char)ch;
	} else if (ch < 0x800) {
		u[n++] = (char)(0xc0 | ch >> 6);
	} else if (ch < 0x10000) {
		u[n++] = (char)(0xe0 | ch >> 12);
		u[n++] = (char)(0x80 | (ch >> 6 & 0x3f));
	} else {
		u[n++] = (char)(0xf0 | ch >> 18);
		u[n++] = (char)(0x80 | (ch >> 12 & 0x3f));
		u[n++] = (char)(0x80 | (ch >> 6 & 0x3f));
	}
	if (n && ch >= 0x80)
		u[n++] = (char)(0x80 | (ch & 0x3f));
	if (at + n + 1 > len)
		return false;
	memcpy(buf + at, u, n);
	buf[at + n] = '\0';
	return true;
}

void text_put(FILE *f, uint32_t ch)
{
	char u[8] = "";

	text_append(u, sizeof(u), ch);
	fputs(u, f);
}

char *text_lines(const uint32_t *ch, size_t stride, int w, int h)
{
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	stride /= sizeof(*ch);
	for (int y = 0; y < h; y++) {
		const uint32_t *row = ch + (size_t)y * (size_t)w * stride;
		size_t end = (size_t)w * stride;

		while (end && row[end - stride] == ' ')
			end -= stride;
		for (size_t x = 0; x < end; x += stride)
			if (row[x])
				text_put(f, row[x]);
		fputc('\n', f);
	}
	fclose(f);
	return out;
}

void text_chop(char *buf)
{
	size_t n = strlen(buf);

	while (n && (buf[n - 1] & 0xc0) == 0x80)
		n--;
	if (n)
		n--;
	buf[n] = '\0';
}

static void text_append_columns(char *buf, size_t len, const char *text, int from, int to)
{
	int at = 0;
	uint32_t ch;

	while ((ch = plain_next(&text))) {
		int w = text_char_width(ch);

		if (at >= from && at + w <= to && !text_append(buf, len, ch))
			return;
		at += w;
	}
}

/* Appends columns from .. to, width of them at most: without their middle, behind head of them. */
static void text_append_shortened(char *buf, size_t len, const char *text, int from, int to,
				  int width, int head)
{
	if (to - from <= width || width < 5) {
		text_append_columns(buf, len, text, from, to - from < width ? to : from + width);
		return;
	}
	text_append_columns(buf, len, text, from, from + head);
	text_append_columns(buf, len, "..", 0, 2);
	text_append_columns(buf, len, text, to - (width - 2 - head), to);
}

static int text_half(int width)
{
	return (width - 2 + 1) / 2;
}

const char *text_shorten(char *buf, size_t len, const char *text, int width)
{
	return text_shorten_at(buf, len, text, width, text_half(width));
}

const char *text_shorten_at(char *buf, size_t len, const char *text, int width, int head)
{
	buf[0] = '\0';
	text_append_shortened(buf, len, text, 0, text_width(text), width, head);
	return buf;
}

const char *text_shorten_ends(char *buf, size_t len, const char *text, int width)
{
	const char *to = strstr(text, " -> ");
	int w = text_width(text), room = width - 4, a, b, first, second;

	if (!to || w <= width || room < 10)
		return text_shorten(buf, len, text, width);
	b = text_width(to + 4);
	a = w - 4 - b;
	buf[0] = '\0';
	first = b <= room / 2 ? room - b : room / 2;
	second = a <= room / 2 ? room - a : room - room / 2;
	text_append_shortened(buf, len, text, 0, a, first, text_half(first));
	text_append_columns(buf, len, " -> ", 0, 4);
	text_append_shortened(buf, len, text, a + 4, w, second, text_half(second));
	return buf;
}

/* Columns of the whole words before column most. */
static int text_words_before(const char *text, int most)
{
	int at = 0, end = 0;
	uint32_t ch;

	while ((ch = plain_next(&text)) && at <= most) {
		if (ch == ' ')
			end = at;
		at += text_char_width(ch);
	}
	return end;
}

/* The column of the first word that begins at or after column least. */
static int text_words_from(const char *text, int least)
{
	int at = 0;
	bool blank = false;
	uint32_t ch;

	while ((ch = plain_next(&text))) {
		if (blank && ch != ' ' && at >= least)
			return at;
		blank = ch == ' ';
		at += text_char_width(ch);
	}
	return at;
}

const char *text_shorten_words(char *buf, size_t len, const char *text, int width)
{
	int w = text_width(text), head, tail;

	head = text_words_before(text, (width - 4) * 2 / 3);
	tail = text_words_from(text, w - (width - 4 - head));
	if (w <= width || width < 12 || head < width / 3 || tail >= w)
		return text_shorten(buf, len, text, width);
	buf[0] = '\0';
	text_append_columns(buf, len, text, 0, head);
	text_append_columns(buf, len, " .. ", 0, 4);
	text_append_columns(buf, len, text, tail, w);
	return buf;
}

const char *text_shorten_list(char *buf, size_t len, const char *text, int width)
{
	int head = text_words_before(text, width - 3);

	if (text_width(text) <= width || !head)
		return text_shorten(buf, len, text, width);
	buf[0] = '\0';
	text_append_columns(buf, len, text, 0, head);
	text_append_columns(buf, len, " ..", 0, 3);
	return buf;
}

const char *figure_count(char buf[FIGURE_LEN], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	char *p = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

const char *figure_short(char buf[FIGURE_LEN], uint64_t v)
{
	static const char unit[] = "kMGTPE";
	double d = (double)v;
	int u = -1;

	if (v < 100000) {
		snprintf(buf, FIGURE_LEN, "%u", (unsigned)v);
		return buf;
	}
	while (d >= 999.5 && u < 5) {
		d /= 1000;
		u++;
	}
	snprintf(buf, FIGURE_LEN, d < 99.95 ? "%.1f%c" : "%.0f%c", d, unit[u]);
	return buf;
}

const char *figure_pct(char buf[FIGURE_LEN], double v)
{
	if (!isfinite(v))
		return strcpy(buf, "-");
	snprintf(buf, FIGURE_LEN, v < 9.95 && v > 0 ? "%.1f" : "%.0f", v);
	return buf;
}

const char *figure_percent(char buf[FIGURE_LEN], double v)
{
	figure_pct(buf, v);
	return isfinite(v) ? strcat(buf, "%") : buf;
}

const char *figure_rate(char buf[FIGURE_LEN], double Bps, bool bits)
{
	double v = Bps / 1e9 * (bits ? 8 : 1);

	if (!isfinite(Bps))
		return strcpy(buf, "-");
	snprintf(buf, FIGURE_LEN, v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v);
	return buf;
}

const char *figure_age(char buf[FIGURE_LEN], double s)
{
	if (!isfinite(s))
		return strcpy(buf, "-");
	if (s < 9.95)
		snprintf(buf, FIGURE_LEN, "%.1fs", s < 0 ? 0 : s);
	else if (s < 120)
		snprintf(buf, FIGURE_LEN, "%.0fs", s);
	else if (s < 7200)
		snprintf(buf, FIGURE_LEN, "%.0fm", floor(s / 60));
	else if (s < 172800)
		snprintf(buf, FIGURE_LEN, "%.0fh%02dm", floor(s / 3600),
			 (int)floor(fmod(s, 3600) / 60));
	else
		snprintf(buf, FIGURE_LEN, "%.0fd", floor(s / 86400));
	return buf;
}

const char *figure_clock(char buf[FIGURE_LEN], double s)
{
	unsigned t;

	if (!isfinite(s) || s < 0 || s > 3e6)
		return strcpy(buf, "-");
	t = (unsigned)s;
	snprintf(buf, FIGURE_LEN, "%02u:%02u:%02u", t / 3600, t / 60 % 60, t % 60);
	return buf;
}

const char *figure_time(char buf[FIGURE_LEN], int64_t unix_s)
{
	return stamp_local(buf, FIGURE_LEN, "%H:%M:%S", unix_s);
}

const char *figure_utc(char buf[FIGURE_LEN], int64_t unix_s)
{
	return stamp_utc(buf, FIGURE_LEN, "%Y-%m-%dT%H:%M:%SZ", unix_s);
}
