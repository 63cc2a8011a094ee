/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_run: the automatic mode as a service: no terminal, one line on stdout for what it does. */
#pragma once

#include "console/auto/auto_opts.h"
#include "console/record/audit/record_prune.h"
#include "console/update/watchdog_config.h"

#include <stdbool.h>
#include <stdint.h>

struct auto_run_opts {
	struct auto_opts automatic;
	struct watchdog_config
		dog; /* of every update; its port, names and folders are the service's */
	unsigned jobs_interval_s;
	struct engine_params params;
	struct record_policy keep; /* of earlier sessions: at the start, and once a day */
	const struct alert_opts *alert;
	bool rw; /* false: it only proposes */
};

/* Until SIGTERM or SIGINT, which leave an update under way to its own process.  The exit code. */
int auto_run(const struct auto_run_opts *o);
