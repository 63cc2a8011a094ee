/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alert_syslog: alerts with their fields to journald, or as RFC 5424 to a syslog daemon.
 *
 * journald's own socket (.../journal/socket) gets fields such as IBROUTE_KIND=gone beside MESSAGE;
 * any other socket a message with an element "ibroute@32473" of structured data.
 */
#pragma once

#include "console/alert/alert_queue.h"

#include <stdbool.h>

#define ALERT_SYSLOG_JOURNAL "/run/systemd/journal/socket"
#define ALERT_SYSLOG_DEV     "/dev/log"

struct alert_syslog {
	char path[108];
	bool journal;
	int fd; /* -1: not connected */
};

/* path NULL or "": journald's where there is one, else /dev/log. */
void alert_syslog_init(struct alert_syslog *s, const char *path);
void alert_syslog_done(struct alert_syslog *s);
/* For a sink whose ctx is one. */
int alert_syslog_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			 struct err *err);

/* What is sent; the caller frees. */
char *alert_syslog_rfc5424(size_t *len, const struct alert *a);
char *alert_syslog_journal(size_t *len, const struct alert *a);
