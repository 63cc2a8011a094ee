/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert_syslog.h"

#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME	 "ibroute-top"
#define FACILITY 3 /* daemon */
#define TRIES	 5 /* of a daemon that does not keep up, or has just gone */
#define TRY_MS	 200
/* RFC 5424 wants the number of an enterprise; this one is for examples (RFC 5612). */
#define ELEMENT "ibroute@32473"

static unsigned alert_syslog_severity(enum log_level level)
{
	return level == LOG_ERROR ? 3 : level == LOG_WARN ? 4 : 6;
}

/* --- RFC 5424 -------------------------------------------------------------------------------- */

/* PRINTUSASCII without blanks; "-" for nothing. */
static void alert_syslog_put_word(FILE *out, const char *word, size_t max)
{
	size_t n = 0;

	for (; *word && n < max; word++, n++)
		fputc(isgraph((unsigned char)*word) && isascii(*word) ? *word : '_', out);
	if (!n)
		fputc('-', out);
}

static void alert_syslog_put_param(FILE *out, const struct alert_field *f)
{
	if (!f->value[0])
		return;
	fprintf(out, " %s=\"", f->name);
	for (const char *c = f->value; *c; c++) {
		if (strchr("\"\\]", *c))
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

char *alert_syslog_rfc5424(size_t *len, const struct alert *a)
{
	struct alert_field field[ALERT_FIELDS];
	char host[256] = "", time[40], *text = NULL;
	FILE *out = open_memstream(&text, len);

	gethostname(host, sizeof(host) - 1);
	alert_fields(field, time, a);
	fprintf(out, "<%u>1 %s ", FACILITY * 8 + alert_syslog_severity(a->level), time);
	alert_syslog_put_word(out, host, 255);
	fprintf(out, " " NAME " %d ", (int)getpid());
	alert_syslog_put_word(out, a->kind, 32);
	fputs(" [" ELEMENT, out);
	for (size_t i = 0; field[i].name; i++)
		if (strcmp(field[i].name, "time") && strcmp(field[i].name, "text"))
			alert_syslog_put_param(out, &field[i]);
	fprintf(out, "] \xef\xbb\xbf%s", a->text);
	fclose(out);
	return text;
}

/* --- journald -------------------------------------------------------------------------------- */

/* Plain texts have no line feeds, with which values would need their length before them. */
char *alert_syslog_journal(size_t *len, const struct alert *a)
{
	struct alert_field field[ALERT_FIELDS];
	char time[40], *text = NULL;
	FILE *out = open_memstream(&text, len);

	alert_fields(field, time, a);
	fprintf(out, "MESSAGE=%s\nPRIORITY=%u\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=" NAME "\n",
		a->text, alert_syslog_severity(a->level), FACILITY);
	for (size_t i = 0; field[i].name; i++) {
		if (!field[i].value[0] || !strcmp(field[i].name, "text"))
			continue;
		fputs("IBROUTE_", out);
		for (const char *c = field[i].name; *c; c++)
			fputc(toupper((unsigned char)*c), out);
		fprintf(out, "=%s\n", field[i].value);
	}
	fclose(out);
	return text;
}

/* --- the socket ------------------------------------------------------------------------------ */

void alert_syslog_init(struct alert_syslog *s, const char *path)
{
	size_t n;

	*s = (struct alert_syslog){ .fd = -1 };
	if (!path || !*path)
		path = access(ALERT_SYSLOG_JOURNAL, W_OK) ? ALERT_SYSLOG_DEV : ALERT_SYSLOG_JOURNAL;
	snprintf(s->path, sizeof(s->path), "%s", path);
	n = strlen(s->path);
	s->journal = n >= 15 && !strcmp(s->path + n - 15, "/journal/socket");
}

void alert_syslog_done(struct alert_syslog *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Datagrams, or what a daemon listens for instead. */
static int alert_syslog_connect(struct alert_syslog *s)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int rc = -EPROTOTYPE;

	memcpy(to.sun_path, s->path, sizeof(to.sun_path));
	for (int i = 0; i < 2 && rc == -EPROTOTYPE; i++) {
		s->fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		rc = s->fd < 0 ? -errno : 0;
		if (!rc && connect(s->fd, (const struct sockaddr *)&to, sizeof(to)))
			rc = -errno;
		if (rc)
			alert_syslog_done(s);
	}
	return rc;
}

static bool alert_syslog_is_stream(const struct alert_syslog *s)
{
	socklen_t len = sizeof(int);
	int type = 0;

	return !getsockopt(s->fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

/* On a stream a line feed ends it. */
static int alert_syslog_send(struct alert_syslog *s, char *text, size_t len)
{
	ssize_t n;
	int rc = s->fd < 0 ? alert_syslog_connect(s) : 0;

	if (rc)
		return rc;
	text[len] = '\n'; /* in place of its end */
	len += alert_syslog_is_stream(s);
	n = send(s->fd, text, len, MSG_NOSIGNAL);
	if (n == (ssize_t)len)
		return 0;
	rc = n < 0 ? -errno : -EIO;
	if (rc != -EAGAIN && rc != -ENOBUFS)
		alert_syslog_done(s); /* it may have been started again */
	return rc;
}

int alert_syslog_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			 struct err *err)
{
	struct alert_syslog *s = ctx;
	size_t len;
	char *text = s->journal ? alert_syslog_journal(&len, a) : alert_syslog_rfc5424(&len, a);
	int rc = -EIO;

	for (int i = 0; i < TRIES && rc && (!i || !alert_queue_ended(q)); i++) {
		if (i)
			poll(NULL, 0, TRY_MS);
		rc = alert_syslog_send(s, text, len);
	}
	free(text);
	return rc ? err_set(err, rc, "%s: %s", s->path, strerror(-rc)) : 0;
}
