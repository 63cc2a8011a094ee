/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alert_opts: who is told of alerts, as options. */
#pragma once

#include "fabric/base/message/log.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct alert_opts {
	const char *on_event; /* NULL: none, as the next */
	const char *webhook;  /* a URL */
	bool syslog;
	const char *syslog_path; /* NULL: where this machine has it */
	unsigned timeout_s;	 /* of a command, and of a POST */
	bool events;		 /* lines of the log are alerts ... */
	enum log_level level;	 /* ... from this level on */
	char *url;		 /* of a file; free() */
};

void alert_opts_init(struct alert_opts *o);
bool alert_opts_on(const struct alert_opts *o);
/* The options; the input is a struct alert_opts. */
extern const struct argp alert_argp;
