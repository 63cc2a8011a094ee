/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: what the subcommands share of their options: keys, values, messages. */
#pragma once

#include "console/input/load/load_adaptive.h"
#include "console/input/load/load_jobs.h"
#include "engines/param.h"
#include "engines/predict/predict.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum option_key {
	OPT_TOPOLOGY = 256,
	OPT_STRICT,
	OPT_NAME_MAP,
	OPT_ENGINE,
	OPT_ENGINES,
	OPT_OUT,
	OPT_FORMATS,
	OPT_LFTS,
	OPT_FDBS,
	OPT_TABLES,
	OPT_PATH_SL,
	OPT_SL2VL,
	OPT_MFTS,
	OPT_PARTITIONS,
	OPT_TERMINALS_ONLY,
	OPT_BISECTIONS,
	OPT_PATTERN,
	OPT_PER_JOB,
	OPT_LID_CHOICE,
	OPT_ALL_LIDS,
	OPT_FOLD_VLS,
	OPT_TIME_MS,
	OPT_PROTOCOL,
	OPT_BUFFERS,
	OPT_MESSAGE_KIB,
	OPT_ADAPTIVE,
	OPT_AT,
	OPT_SINCE,
	OPT_PLACEMENT,
	OPT_JSON,
	OPT_PARAM, /* and as many as there are, see OPTION_PARAM() */
};

enum output_format {
	FORMAT_OPENSM = 1,
	FORMAT_IBDM = 2,
	FORMAT_PATH_SL = 4,
	FORMAT_IBR = 8,
	FORMAT_MPI = 16
};

struct options {
	const char *topology, *name_map;
	const char *name;   /* of the fabric of a file; NULL: made from its fingerprint */
	const char *engine; /* or engines, joined by commas */
	const char *out, *lid_choice;
	const char *lfts; /* of --lfts, --fdbs or --tables */
	const char *path_sl, *sl2vl;
	const char *mfts; /* multicast tables */
	const char *partitions;
	struct engine_params params;   /* pointers are NULL: files are loaded by command_inputs.c */
	const char *text[PARAM_TEXTS]; /* by enum param_id */
	int lmc;		       /* -1: as found */
	unsigned fold_vls;	       /* 0: as they are */
	unsigned time_ms;	       /* virtual; 0: not said */
	const char *protocol, *buffers; /* of a simulation; NULL: not said */
	unsigned message_KiB;		/* 0: not said */
	unsigned formats;		/* enum output_format, or'ed */
	int bisections;			/* for ebb; -1: by the size of the fabric */
	bool predict;			/* how the jobs get on with each other ... */
	enum predict_pattern pattern;	/* ... when they send like this ... */
	bool pattern_said;		/* ... as an option said */
	enum adaptive_state adaptive;	/* as declared */
	struct jobs_moment moment;	/* of a history of jobs */
	bool per_job;			/* metrics of each */
	bool all_lids;
	bool terminals_only, json, strict;
};

/* Rows for argp tables, the same words everywhere: they become what engines/param.h and options.c
 * say of the key, where the table is given to options_parse() or options_fill(). */
#define OPTION(shared)                                                                             \
	{                                                                                          \
		.key = (shared)                                                                    \
	}
#define OPTION_SAYING(shared, text)                                                                \
	{                                                                                          \
		.key = (shared), .doc = (text)                                                     \
	}
#define OPTION_PARAM(id) OPTION(OPT_PARAM + (id))
/* What several commands have in a row. */
#define OPTIONS_MOMENT OPTION(OPT_AT), OPTION(OPT_SINCE), OPTION(OPT_PLACEMENT)
#define OPTIONS_ENGINE                                                                             \
	OPTION_PARAM(PARAM_SAR_METHOD), OPTION_PARAM(PARAM_SAR_CHANGE),                            \
		OPTION_PARAM(PARAM_MAX_DETOUR), OPTION_PARAM(PARAM_SAR_SLOWER),                    \
		OPTION_PARAM(PARAM_ESCAPE), OPTION_PARAM(PARAM_EXCLUDE), OPTION_PARAM(PARAM_PIN),  \
		OPTION_PARAM(PARAM_JOB_NODES_MIN), OPTION_PARAM(PARAM_SPREAD),                     \
		OPTION_PARAM(PARAM_IO_NODES), OPTION_PARAM(PARAM_IGNORE_RATES)
#define OPTIONS_METRICS OPTION(OPT_BISECTIONS), OPTION(OPT_PATTERN), OPTION(OPT_PER_JOB)
#define OPTIONS_ROUTE                                                                              \
	OPTION_PARAM(PARAM_VLS), OPTION_PARAM(PARAM_LMC), OPTION_PARAM(PARAM_SEED),                \
		OPTION_PARAM(PARAM_THREADS), OPTION_PARAM(PARAM_ROOTS),                            \
		OPTION_PARAM(PARAM_DEMAND), OPTION_PARAM(PARAM_RANKS), OPTION(OPT_ALL_LIDS),       \
		OPTIONS_METRICS, OPTIONS_ENGINE
#define OPTIONS_TABLES OPTION(OPT_LFTS), OPTION(OPT_FDBS), OPTION(OPT_TABLES)

struct route_report_opts;

void options_init(struct options *o);
/* What they say about verdict and metrics. */
void options_eval(struct route_report_opts *out, const struct options *o);
/* What they leave to no engine on that fabric, with these jobs (may be NULL): NULL for nothing. The
 * caller owns *out, also after an error. */
struct route_limits;
int options_limits(struct route_limits **out, const struct options *o, const struct fabric *f,
		   const struct jobset *jobs, struct err *err);
/* For argp parsers: takes a key of enum option_key, else ARGP_ERR_UNKNOWN.  A bad value ends
 * the program with 64 and a sentence. */
error_t options_take(struct options *o, int key, char *arg, struct argp_state *state);
/* The same for numbers of parameters that have another name there. */
uint64_t options_number(enum param_id id, const char *option, const char *arg,
			const struct argp_state *state);
/* Rows of a table that have nothing but such a key get the rest. */
void options_fill(struct argp_option *table);
/* cmdline_parse() with the table filled. */
int options_parse(const struct argp *argp, int argc, char **argv, void *input);
/* What subcommands on files have in common: takes the options by argp, does the work, and prints
 * the sentence in err when that did not return 0.  Returns what it returned, an exit code. */
int options_run(int argc, char **argv, const struct argp *argp,
		int (*work)(const struct options *o, struct err *err));
/* Ends the program with 64 when text is NULL. */
void options_need(const char *text, const char *option, struct argp_state *state);
