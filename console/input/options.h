/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: what the subcommands share of their options: keys, values, messages. */
#ifndef CONSOLE_INPUT_OPTIONS_H
#define CONSOLE_INPUT_OPTIONS_H

#include "engines/param.h"
#include "engines/predict/predict.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum option_key {
	OPT_TOPOLOGY = 256,
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
	OPT_TERMINALS_ONLY,
	OPT_BISECTIONS,
	OPT_PATTERN,
	OPT_PER_JOB,
	OPT_LID_CHOICE,
	OPT_ALL_LIDS,
	OPT_FOLD_VLS,
	OPT_TIME_MS,
	OPT_JSON,
	OPT_PARAM, /* and as many as there are, see OPTION_PARAM() */
};

enum output_format { FORMAT_OPENSM = 1, FORMAT_IBDM = 2, FORMAT_PATH_SL = 4, FORMAT_IBR = 8 };

struct options {
	const char *topology, *name_map;
	const char *name;   /* of the fabric of a file; NULL: made from its fingerprint */
	const char *engine; /* or engines, joined by commas */
	const char *out, *lid_choice;
	const char *lfts; /* of --lfts, --fdbs or --tables */
	const char *path_sl, *sl2vl;
	struct engine_params params;   /* pointers are NULL: files are loaded by command_inputs.c */
	const char *text[PARAM_TEXTS]; /* by enum param_id */
	int lmc;		       /* -1: as found */
	unsigned fold_vls;	       /* 0: as they are */
	unsigned time_ms;	       /* virtual; 0: not said */
	unsigned formats;	       /* enum output_format, or'ed */
	int bisections;		       /* for ebb; -1: by the size of the fabric */
	bool predict;		       /* how the jobs get on with each other ... */
	enum predict_pattern pattern;  /* ... when they send like this */
	bool per_job;		       /* metrics of each */
	bool all_lids;
	bool terminals_only, json;
};

/* Rows for argp tables, the same words everywhere.  For a parameter of the engines: the row becomes
 * what engines/param.h says, where the table is given to options_parse(). */
#define OPTION_PARAM(id)                                                                           \
	{                                                                                          \
		.key = OPT_PARAM + (id)                                                            \
	}
#define OPTION_TOPOLOGY                                                                            \
	{                                                                                          \
		"topology", OPT_TOPOLOGY, "FILE", 0,                                               \
			"the fabric: ibnetdiscover output or cache, ibsim net, "                   \
			"opensm-subnet.lst, netloc nodes, a specification as for "                 \
			"\"topo\", or - for stdin",                                                \
			0                                                                          \
	}
#define OPTION_NAME_MAP                                                                            \
	{                                                                                          \
		"node-name-map", OPT_NAME_MAP, "FILE", 0,                                          \
			"names for nodes: lines of <guid> \"<name>\"", 0                           \
	}
#define OPTION_BISECTIONS                                                                                \
	{                                                                                                \
		"bisections", OPT_BISECTIONS, "N", 0,                                                    \
			"number of random bisections for the effective bisection bandwidth, 0 for none " \
			"(default: 20 to 1,000, fewer on large fabrics)",                                \
			0                                                                                \
	}
#define OPTION_PATTERN                                                                             \
	{                                                                                          \
		"pattern", OPT_PATTERN, "NAME", 0,                                                 \
			"communication pattern of the jobs for the prediction of their rates: "    \
			"shift, alltoall (default), ring, stencil2d, stencil3d, or none for no "   \
			"prediction",                                                              \
			0                                                                          \
	}
#define OPTION_PER_JOB                                                                             \
	{                                                                                          \
		"per-job", OPT_PER_JOB, NULL, 0,                                                   \
			"also print the metrics of each job (JSON: \"jobs\")", 0                   \
	}
#define OPTION_ALL_LIDS                                                                            \
	{                                                                                          \
		"all-lids", OPT_ALL_LIDS, NULL, 0,                                                 \
			"count paths to every traffic LID in the metrics, not only to base LIDs",  \
			0                                                                          \
	}
#define OPTION_TABLES                                                                              \
	{ "lfts", OPT_LFTS, "FILE", 0, "tables: opensm-lfts.dump, output of dump_fts", 0 },        \
		{ "fdbs", OPT_FDBS, "FILE", 0, "tables: opensm.fdbs", 0 },                         \
	{                                                                                          \
		"tables", OPT_TABLES, "FILE", 0, "tables: tables.ibr of ibroute-top", 0            \
	}
#define OPTION_PATH_SL                                                                             \
	{                                                                                          \
		"path-sl", OPT_PATH_SL, "FILE", 0,                                                 \
			"SLs for these tables: lines of 0xsrc_guid dlid sl", 0                     \
	}
#define OPTION_SL2VL                                                                               \
	{                                                                                          \
		"sl2vl", OPT_SL2VL, "FILE", 0,                                                     \
			"SL2VL tables for these tables: opensm-sl2vl.dump, or as for ibdmchk -d",  \
			0                                                                          \
	}
#define OPTION_JSON(what)                                                                          \
	{                                                                                          \
		"json", OPT_JSON, NULL, 0, what, 0                                                 \
	}

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
/* cmdline_parse() where the table has rows OPTION_PARAM(). */
int options_parse(const struct argp *argp, int argc, char **argv, void *input);
/* What subcommands on files have in common: takes the options by argp, does the work, and prints
 * the sentence in err when that did not return 0.  Returns what it returned, an exit code. */
int options_run(int argc, char **argv, const struct argp *argp,
		int (*work)(const struct options *o, struct err *err));
/* Ends the program with 64 when text is NULL. */
void options_need(const char *text, const char *option, struct argp_state *state);

#endif
