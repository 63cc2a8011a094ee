/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app_opts: the options of the live console. */
#pragma once

#include "fabric/base/message/err.h"

#include "console/alert/alert_opts.h"
#include "console/auto/auto_opts.h"
#include "console/record/audit/record_prune.h"
#include "console/update/watchdog_config.h"
#include "engines/param.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* Keys of options that other commands share. */
enum app_option {
	OPT_DEMO = 0x100,
	OPT_JOBS_INTERVAL,
	OPT_SWEEP_INTERVAL,
	OPT_SEED,
	OPT_SET,
	OPT_COLOUR,
	OPT_KEEP_DAYS,
	OPT_KEEP_SESSIONS,
	OPT_KEEP_SIZE,
	OPT_IO_NODES,
	OPT_TAB,
	OPT_PNG_SIZE
};

#define TABS_MAX 16

struct app_opts {
	bool demo;
	bool tour;		   /* with a tour of the console */
	const char *demo_spec;	   /* NULL: the default */
	const char *tab[TABS_MAX]; /* of --tab, see fabric_spec.h */
	size_t ntab;
	int link;	  /* to whom switches between fabrics; 0: this is the only one */
	const char *load; /* a dump instead of a wire */
	const char *lfts; /* its tables */
	bool rw;

	struct live_opts live; /* jobs: see below */
	struct record_policy keep;
	const char *racks;

	const char *collector; /* folder of one to read from; "none"; NULL: the usual one, if there
				  is any */
	double interval_s;
	double sweep_s; /* between two discoveries; 0: as usual */
	/* see fabric_watch.h; key NULL: the console looks at the baseline and keeps nothing */
	bool unwatched; /* nothing is kept, as there is no fabric that would be here tomorrow */
	unsigned needs; /* enum field_need: what is read of a live fabric; 0: all */
	char watch_key[32];
	const uint64_t *error_limits;
	bool fresh_errors;  /* a collector is to read the error counters for this */
	bool count_updates; /* of the state directory, where there is no collector to tell */
	const char *jobs;   /* "slurm", "none", or a file; NULL: not said */
	int64_t jobs_at_s;  /* of a file that is a history; 0: now */
	unsigned jobs_interval_s;

	/* of engines, for previews, the automatic mode and what is simulated */
	struct engine_params params;
	const char *text[PARAM_TEXTS]; /* by enum param_id; NULL: none */

	struct watchdog_config dog; /* its own options; for all see app_opts_dog() */
	struct auto_opts automatic;
	struct alert_opts alert;
	bool no_screen; /* somebody else prints: warnings go to stderr, nothing is recorded */
	bool ascii, no_mouse, bell;
	const char *theme;    /* as theme_read() has it; NULL: not said */
	const char *png_font; /* a file; NULL: see png_font.h */
	unsigned png_size;    /* pixels; 0: PNG_SIZE */
	bool strict;	      /* a damaged file is not loaded */
#define SETS_MAX 160
	const char *config, *profile; /* what settings are read from and kept in; NULL: as usual */
	const char *set[SETS_MAX];    /* NAME=VALUE, in turn */
	size_t nset;
	int colours; /* -1: what the terminal offers */
};

void app_opts_init(struct app_opts *o);
/* The options; the input is a struct app_opts. */
extern const struct argp app_argp;
/* Asks the terminal for the M_Key where that was wanted.  -errno. */
int app_opts_ask_m_key(struct app_opts *o, struct err *err);

/* All that the watchdog of an update must know. */
void app_opts_dog(struct watchdog_config *out, const struct app_opts *o);
