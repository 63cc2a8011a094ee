/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchdog_config: what the watchdog of an update must know, as it is handed over to it; never by
 * its command line, since an M_Key may be among it. */
#pragma once

#include "console/live/agents.h"
#include "console/live/live_fabric.h"
#include "fabric/base/hash/digest.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include <jansson.h>

struct watchdog_config {
	struct live_opts live; /* ask_m_key is not handed over: ask before */
	struct agents_opts agents;
	bool accept_sl;
	bool without_lock; /* neither take nor respect the record of updates at the SM */
	unsigned confirm_s;
	unsigned watch; /* bits of enum watch_what */
	struct watch_limits limits;
	struct digest plan; /* SHA-256 of the plan file that is handed over with it; 0: none */
	json_t *text;	    /* strings of a parsed one are in it */
};

/* As it is without any option: all conditions are watched. */
void watchdog_config_init(struct watchdog_config *c);
/* An anonymous file with it; relative paths are made absolute.  -errno. */
int watchdog_config_file(const struct watchdog_config *c, struct err *err);
int watchdog_config_read(struct watchdog_config *c, int fd, struct err *err);
void watchdog_config_clear(struct watchdog_config *c);

/* --watch, --no-watch, --error-limits, --confirm-timeout as a child of an argp; its input is a
 * struct watchdog_config. */
extern const struct argp watchdog_argp;

/* ibroute-top --watchdog ... */
int watchdog_main(int argc, char **argv);
