/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert_opts.h"

#include "console/alert/alert_command.h"
#include "console/config/cmdline.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX 4000

enum { OPT_WEBHOOK = 900, OPT_SYSLOG, OPT_TIMEOUT, OPT_LEVEL };

static const struct argp_option rows[] = {
	{ "on-event", CMDLINE_KEY(struct alert_opts, on_event), "COMMAND", 0,
	  "run COMMAND by the shell for each alert: a finding against the baseline that is raised or "
	  "cleared, and warnings and errors of the log. What it says is in $IBROUTE_ALERT_TEXT, "
	  "_LEVEL, _STATE, _KIND, _WHAT, _SUBJECT, _BEFORE, _AFTER, _FABRIC and _TIME, all of it as "
	  "JSON in $IBROUTE_ALERT. One at a time; 256 wait, and more are dropped",
	  0 },
	{ "webhook", OPT_WEBHOOK, "URL|@FILE", 0,
	  "post each of them as JSON to URL by curl, which tries three times; @FILE: the URL is the "
	  "first line of FILE, which others need not be able to read",
	  0 },
	{ "syslog", OPT_SYSLOG, "SOCKET", OPTION_ARG_OPTIONAL,
	  "send each of them with its fields to journald, or as RFC 5424 to the syslog daemon "
	  "(default: /run/systemd/journal/socket, else /dev/log)",
	  0 },
	{ "event-level", OPT_LEVEL, "LEVEL", 0,
	  "lines of the log that are alerts: info, warn (default), error, or none", 0 },
	{ "event-timeout", OPT_TIMEOUT, "SECONDS", 0,
	  "end a COMMAND or a post that takes longer (default: 30 s)", 0 },
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_TIMEOUT, struct alert_opts, timeout_s, "--event-timeout", 1, 3600),
	{ 0 },
};

void alert_opts_init(struct alert_opts *o)
{
	*o = (struct alert_opts){ .timeout_s = 30, .events = true, .level = LOG_WARN };
}

bool alert_opts_on(const struct alert_opts *o)
{
	return o->on_event || o->webhook || o->syslog;
}

static void alert_opts_take_level(struct alert_opts *o, const char *arg, const struct argp_state *s)
{
	o->events = strcmp(arg, "none") != 0;
	for (int level = LOG_INFO; level <= LOG_ERROR && o->events; level++)
		if (!strcmp(arg, log_level_name((enum log_level)level))) {
			o->level = (enum log_level)level;
			return;
		}
	if (o->events)
		argp_error(s, "--event-level: '%s' is not one of info, warn, error, none", arg);
}

/* NULL: it cannot be read. */
static char *alert_opts_first_line(const char *path)
{
	char line[URL_MAX + 2] = "";
	FILE *f = fopen(path, "re");
	bool read = f && fgets(line, sizeof(line), f);

	if (f)
		fclose(f);
	line[strcspn(line, "\r\n")] = '\0';
	return read ? xstrdup(line) : NULL;
}

static void alert_opts_take_webhook(struct alert_opts *o, const char *arg,
				    const struct argp_state *s)
{
	struct err err;

	o->webhook = arg;
	if (*arg == '@') {
		free(o->url);
		o->webhook = o->url = alert_opts_first_line(arg + 1);
		if (!o->url)
			argp_error(s, "--webhook: %s cannot be read", arg + 1);
	}
	if (o->webhook && alert_webhook_check(o->webhook, &err))
		argp_error(s, "--webhook: %s", err.text);
}

static error_t alert_opts_take(int key, char *arg, struct argp_state *s)
{
	struct alert_opts *o = s->input;

	switch (key) {
	case OPT_WEBHOOK:
		alert_opts_take_webhook(o, arg, s);
		return 0;
	case OPT_SYSLOG:
		o->syslog = true;
		o->syslog_path = arg;
		return 0;
	case OPT_LEVEL:
		alert_opts_take_level(o, arg, s);
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

const struct argp alert_argp = { .options = rows, .parser = alert_opts_take };
