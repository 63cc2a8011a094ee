/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/report.h"

#include "fabric/base/message/plain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void read_report_begin(struct read_report *r, const char *path)
{
	if (!r)
		return;
	memset(r, 0, sizeof(*r));
	snprintf(r->path, sizeof(r->path), "%s", path);
}

__attribute__((format(printf, 4, 0))) static void note(struct read_report *r, uint64_t line,
						       bool gap, const char *fmt, va_list ap)
{
	struct read_note *n;

	r->warnings++;
	if (r->nnotes == READ_REPORT_NOTES)
		return;
	n = &r->notes[r->nnotes++];
	n->line = line;
	n->gap = gap;
	plain_vformat(n->text, sizeof(n->text), fmt, ap);
}

void read_report_warn(struct read_report *r, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	if (!r)
		return;
	va_start(ap, fmt);
	note(r, line, false, fmt, ap);
	va_end(ap);
}

void read_report_skip(struct read_report *r, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	if (!r)
		return;
	r->skipped++;
	va_start(ap, fmt);
	note(r, line, false, fmt, ap);
	va_end(ap);
}

void read_report_gap(struct read_report *r, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	if (!r)
		return;
	r->skipped++;
	r->gaps++;
	va_start(ap, fmt);
	note(r, line, true, fmt, ap);
	va_end(ap);
}

char *read_report_line(char *buf, uint32_t len, const struct read_report *r, uint32_t i)
{
	const struct read_note *n = &r->notes[i];

	if (n->line)
		snprintf(buf, len, "%s:%llu: %s", r->path, (unsigned long long)n->line, n->text);
	else
		snprintf(buf, len, "%s: %s", r->path, n->text);
	return buf;
}

void read_report_sanitize(struct read_report *r)
{
	r->path[sizeof(r->path) - 1] = '\0';
	plain_text(r->path, "");
	if (r->nnotes > READ_REPORT_NOTES)
		r->nnotes = READ_REPORT_NOTES;
	for (uint32_t i = 0; i < r->nnotes; i++) {
		r->notes[i].text[sizeof(r->notes[i].text) - 1] = '\0';
		plain_text(r->notes[i].text, "");
	}
}
