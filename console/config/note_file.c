/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/note_file.h"

#include "console/config/user_lines.h"
#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/time/stamp.h"
#include "fabric/base/time/when.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST (4u << 20)
#define LINE_MOST 512

static const char *const kinds[NOTE_KINDS] = { [NOTE_LINK] = "link",
					       [NOTE_SWITCH] = "switch",
					       [NOTE_HOST] = "host",
					       [NOTE_JOB] = "job",
					       [NOTE_TIME] = "time" };

char *note_file_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state)
		return xasprintf("%s/ibroute-top/notes", state);
	return home && *home ? xasprintf("%s/.local/state/ibroute-top/notes", home) : NULL;
}

/* --- reading --------------------------------------------------------------------------------- */

static bool note_file_kind(enum note_kind *kind, const char **at)
{
	for (int k = 0; k < NOTE_KINDS; k++) {
		size_t n = strlen(kinds[k]);

		if (strncmp(*at, kinds[k], n) != 0 || (*at)[n] != ' ')
			continue;
		*kind = (enum note_kind)k;
		*at += n + 1;
		return true;
	}
	return false;
}

static bool note_file_time(int64_t *time_s, const char *text, size_t len)
{
	char buf[STAMP_LEN];
	bool local = false;

	if (len >= sizeof(buf))
		return false;
	snprintf(buf, sizeof(buf), "%.*s", (int)len, text);
	return when_parse(time_s, buf, &local) && *time_s >= 0;
}

/* " hpc1", all that is left of a subject. */
static bool note_file_fabric(struct note_subject *on, const char *at)
{
	if (at[0] != ' ' || !at[1] || strlen(at + 1) >= sizeof(on->fabric))
		return false;
	snprintf(on->fabric, sizeof(on->fabric), "%s", at + 1);
	return true;
}

/* "81234 2026-11-20T03:10:00Z hpc1", or, of before notes kept when a job began, "81234 hpc1". */
static bool note_file_job(struct note_subject *on, const char *at)
{
	size_t n;

	if (!scan_dec(&on->id, &at))
		return false;
	n = at[0] == ' ' ? strcspn(at + 1, " ") : 0;
	if (n == sizeof("2026-11-20T03:10:00Z") - 1 && at[n] == 'Z' && at[n + 1] == ' ' &&
	    note_file_time(&on->begun_s, at + 1, n))
		at += n + 1;
	return note_file_fabric(on, at);
}

static bool note_file_subject(struct note_subject *on, const char *at)
{
	uint64_t port = 0;
	int64_t time_s;
	size_t n;

	*on = (struct note_subject){ .port = 0 };
	if (!note_file_kind(&on->kind, &at))
		return false;
	switch (on->kind) {
	case NOTE_JOB:
		return note_file_job(on, at);
	case NOTE_TIME:
		n = strcspn(at, " ");
		if (!note_file_time(&time_s, at, n))
			return false;
		on->id = (uint64_t)time_s;
		return note_file_fabric(on, at + n);
	case NOTE_LINK:
		if (!scan_hex(&on->id, &at) || *at++ != '/' || !scan_dec(&port, &at) ||
		    port > FAB_MAX_PORT)
			return false;
		on->port = (uint8_t)port;
		return !*at;
	default:
		return scan_hex(&on->id, &at) && !*at;
	}
}

/* Splits the line; what is wrong with it, NULL: nothing. */
static const char *note_file_line(struct row_note *out, char *line)
{
	char *time = strchr(line, '\t'), *text = time ? strchr(time + 1, '\t') : NULL;
	char plain[NOTE_TEXT];

	if (!text)
		return "expected what it is on, a time and a text, with tabs between";
	*time++ = *text++ = '\0';
	if (!note_file_subject(&out->on, line))
		return "this is no link, switch, host, job or time";
	if (!note_file_time(&out->time_s, time, strlen(time)))
		return "this is not a time, such as 2026-11-20T03:10:00Z";
	text = user_lines_trim(text);
	if (!text[0] || strlen(text) >= sizeof(out->text))
		return "a note has 1 to 199 bytes";
	snprintf(out->text, sizeof(out->text), "%s", text);
	memcpy(plain, out->text, sizeof(plain));
	if (strcmp(plain_text(plain, ""), out->text) != 0)
		return "the text has control characters, or is not UTF-8";
	return NULL;
}

/* The lines of a text, one by one: where the next begins. */
static size_t note_file_next(const char *text, size_t len, size_t at)
{
	const char *end = memchr(text + at, '\n', len - at);

	return end ? (size_t)(end - text) + 1 : len;
}

/* Without its end; false: too long, or with a zero byte. */
static bool note_file_copy_line(char line[LINE_MOST], const char *text, size_t n)
{
	if (n && text[n - 1] == '\n')
		n--;
	if (n >= LINE_MOST || memchr(text, 0, n))
		return false;
	memcpy(line, text, n);
	line[n] = '\0';
	return true;
}

static bool note_file_is_quiet(const char *line)
{
	line += strspn(line, " \t\r");
	return !line[0] || line[0] == '#';
}

static void note_file_take(struct row_notes *out, const char *path, unsigned number,
			   const char *text, size_t n)
{
	char line[LINE_MOST];
	const char *why = "too long, or with a zero byte";
	struct row_note note = { .time_s = 0 };

	if (note_file_copy_line(line, text, n)) {
		if (note_file_is_quiet(line))
			return;
		why = note_file_line(&note, line);
	}
	if (!why && !row_notes_put(out, &note))
		why = "too many notes";
	if (why)
		log_add(LOG_WARN, "notes", "%s:%u: %s", path, number, why);
}

int note_file_read(struct row_notes *out, const char *path, struct err *err)
{
	size_t len, next;
	unsigned number = 0;
	char *text;
	int rc = user_lines_load(&text, &len, path, FILE_MOST, err);

	for (size_t at = 0; !rc && text && at < len; at = next) {
		next = note_file_next(text, len, at);
		note_file_take(out, path, ++number, text + at, next - at);
	}
	free(text);
	return rc;
}

/* --- writing --------------------------------------------------------------------------------- */

static void note_file_put(FILE *out, const struct row_note *n)
{
	char stamp[STAMP_LEN];

	fprintf(out, "%s ", kinds[n->on.kind]);
	if (n->on.kind == NOTE_JOB)
		fprintf(out, "%" PRIu64 " %s%s%s", n->on.id,
			n->on.begun_s ? stamp_utc(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ",
						  n->on.begun_s)
				      : "",
			n->on.begun_s ? " " : "", n->on.fabric);
	else if (n->on.kind == NOTE_TIME)
		fprintf(out, "%s %s",
			stamp_utc(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", (int64_t)n->on.id),
			n->on.fabric);
	else if (n->on.kind == NOTE_LINK)
		fprintf(out, "0x%016" PRIx64 "/%u", n->on.id, n->on.port);
	else
		fprintf(out, "0x%016" PRIx64, n->on.id);
	fprintf(out, "\t%s\t%s\n", stamp_utc(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", n->time_s),
		n->text);
}

static bool note_file_is_on(const char *text, size_t n, const struct note_subject *on)
{
	struct note_subject of;
	char line[LINE_MOST];

	if (!note_file_copy_line(line, text, n) || !strchr(line, '\t'))
		return false;
	*strchr(line, '\t') = '\0';
	return note_file_subject(&of, line) && note_subject_same(&of, on);
}

static void note_file_put_all(FILE *out, const char *text, size_t len, const void *ctx)
{
	const struct row_note *note = ctx;
	size_t next;

	for (size_t at = 0; at < len; at = next) {
		next = note_file_next(text, len, at);
		if (note_file_is_on(text + at, next - at, &note->on))
			continue;
		fwrite(text + at, 1, next - at, out);
		if (text[next - 1] != '\n')
			fputc('\n', out);
	}
	if (note->text[0])
		note_file_put(out, note);
}

int note_file_change(const char *path, const struct row_note *note, struct err *err)
{
	return user_lines_change(path, FILE_MOST, note_file_put_all, note, err);
}
