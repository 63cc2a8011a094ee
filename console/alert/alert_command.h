/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alert_command: a command of the operator for each alert, and what is posted by curl.
 *
 * The shell gets the command as it was given; what the alert says is in the environment alone
 * ($IBROUTE_ALERT_TEXT, ...; all of it as JSON in $IBROUTE_ALERT), and no part of a command line.
 */
#pragma once

#include "console/alert/alert_queue.h"

struct alert_command {
	const char *command;
	const char *url; /* of a POST by curl instead; NULL: none */
	uint32_t limit_ms;
};

/* For a sink whose ctx is one. */
int alert_command_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			  struct err *err);
int alert_webhook_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			  struct err *err);
/* -EINVAL: no URL for the second; -ENOENT: no curl here. */
int alert_webhook_check(const char *url, struct err *err);
