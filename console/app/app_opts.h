/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app_opts: the options of the live console. */
#ifndef CONSOLE_APP_APP_OPTS_H
#define CONSOLE_APP_APP_OPTS_H

#include "fabric/base/err.h"

#include "console/batch/batch_opts.h"
#include "console/session/auto_opts.h"
#include "console/session/watchdog_config.h"

#include <stdbool.h>
#include <stdint.h>

struct mkeys;

struct app_opts {
	bool demo;
	const char *demo_spec; /* NULL: the default */
	const char *load;      /* a dump instead of a wire */
	const char *lfts;      /* its tables */
	bool rw;

	const char *ca;
	unsigned port, timeout_ms, window;
	bool ask_m_key;
	uint64_t m_key;
	const struct mkeys *m_keys; /* see mkey_file() */
	const char *name, *node_names, *racks;

	double interval_s;
	const char *jobs; /* "slurm", "none", or a file */
	unsigned jobs_interval_s;
	uint64_t seed;

	const char *record_dir, *state_dir;
	const char *installer, *socket; /* as in live_opts */
	struct watchdog_config dog;	/* its own options; for all see app_opts_dog() */
	struct auto_opts automatic;
	struct batch_opts batch;
	bool ascii, no_mouse;
#define SETS_MAX 32
	const char *config, *profile; /* what settings are read from and kept in; NULL: as usual */
	const char *set[SETS_MAX];    /* NAME=VALUE, in turn */
	size_t nset;
	int colours; /* -1: what the terminal offers */
};

/* 0, or the exit code (64) with the message printed; --help and bad options end the program. */
int app_opts_parse(struct app_opts *o, int argc, char **argv);

/* All that the watchdog of an update must know. */
void app_opts_dog(struct watchdog_config *out, const struct app_opts *o);

#endif
