/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: what the subcommands share of their options: keys, values, messages. */
#ifndef CONSOLE_INPUT_OPTIONS_H
#define CONSOLE_INPUT_OPTIONS_H

#include "engines/engine.h"
#include "engines/predict/predict.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum option_key {
	OPT_TOPOLOGY = 256,
	OPT_NAME_MAP,
	OPT_JOBS,
	OPT_ENGINE,
	OPT_ENGINES,
	OPT_VLS,
	OPT_LMC,
	OPT_SEED,
	OPT_THREADS,
	OPT_ROOTS,
	OPT_OUT,
	OPT_FORMATS,
	OPT_LFTS,
	OPT_FDBS,
	OPT_TABLES,
	OPT_PATH_SL,
	OPT_SL2VL,
	OPT_TERMINALS_ONLY,
	OPT_SAR_METHOD,
	OPT_SAR_CHANGE,
	OPT_ESCAPE,
	OPT_BISECTIONS,
	OPT_PATTERN,
	OPT_PER_JOB,
	OPT_DEMAND,
	OPT_LID_CHOICE,
	OPT_ALL_LIDS,
	OPT_SPREAD,
	OPT_RANKS,
	OPT_FOLD_VLS,
	OPT_TIME_MS,
	OPT_EXCLUDE,
	OPT_PIN,
	OPT_JOB_NODES_MIN,
	OPT_JSON,
};

enum output_format { FORMAT_OPENSM = 1, FORMAT_IBDM = 2, FORMAT_PATH_SL = 4, FORMAT_IBR = 8 };

struct options {
	const char *topology, *name_map, *jobs;
	const char *name;   /* of the fabric of a file; NULL: made from its fingerprint */
	const char *engine; /* or engines, joined by commas */
	const char *roots, *out;
	const char *demand, *ranks, *lid_choice;
	const char *exclude; /* as in fabric/format/native/limits_text.h */
	const char *pin;     /* as in fabric/format/native/pin_text.h */
	const char *lfts;    /* of --lfts, --fdbs or --tables */
	const char *path_sl, *sl2vl;
	unsigned vls, threads;
	unsigned fold_vls; /* 0: as they are */
	unsigned time_ms;  /* virtual; 0: not said */
	int lmc;	   /* -1: as found */
	uint64_t seed;
	unsigned formats; /* enum output_format, or'ed */
	enum sar_method sar_method;
	unsigned job_nodes_min;	      /* smaller jobs do not count; 0: all do */
	unsigned sar_change_pct;      /* of the blocks; 0: not said */
	int bisections;		      /* for ebb; -1: by the size of the fabric */
	bool predict;		      /* how the jobs get on with each other ... */
	enum predict_pattern pattern; /* ... when they send like this */
	bool per_job;		      /* figures of each */
	bool all_lids;
	bool spread; /* paths over spare VLs */
	bool escape; /* route with escape LIDs */
	bool terminals_only, json;
};

/* Rows for argp tables, the same words everywhere. */
#define OPTION_TOPOLOGY                                                                            \
	{                                                                                          \
		"topology", OPT_TOPOLOGY, "FILE", 0,                                               \
			"the fabric: ibnetdiscover text or cache, ibsim net, opensm-subnet.lst, "  \
			"netloc nodes, a text as "                                                 \
			"\"topo\" takes it, or - for stdin",                                       \
			0                                                                          \
	}
#define OPTION_NAME_MAP                                                                            \
	{                                                                                          \
		"node-name-map", OPT_NAME_MAP, "FILE", 0,                                          \
			"names of nodes: lines of <guid> \"<name>\"", 0                            \
	}
#define OPTION_JOBS                                                                                \
	{                                                                                          \
		"jobs", OPT_JOBS, "FILE", 0,                                                       \
			"running jobs: lines of \"jobid nodelist\", jobid,start,end,nodelist, or " \
			"sacct -P",                                                                \
			0                                                                          \
	}
#define OPTION_LMC                                                                                 \
	{                                                                                          \
		"lmc", OPT_LMC, "L", 0,                                                            \
			"2^L LIDs for each terminal, 0 to 7 (preset: as in the file)", 0           \
	}
#define OPTION_VLS                                                                                 \
	{                                                                                          \
		"vls", OPT_VLS, "K", 0,                                                            \
			"data VLs that may be used, 1 to 15 (preset: what links offer)", 0         \
	}
#define OPTION_SEED                                                                                \
	{                                                                                          \
		"seed", OPT_SEED, "N", 0, "of what an engine does at random (preset: 1)", 0        \
	}
#define OPTION_THREADS                                                                             \
	{                                                                                          \
		"threads", OPT_THREADS, "T", 0,                                                    \
			"threads (preset: one per core); never changes results", 0                 \
	}
#define OPTION_ROOTS                                                                               \
	{                                                                                          \
		"roots", OPT_ROOTS, "FILE", 0,                                                     \
			"switches at the top, for updn: a node GUID a line", 0                     \
	}
#define OPTION_SAR_METHOD                                                                          \
	{                                                                                          \
		"sar-method", OPT_SAR_METHOD, "NAME", 0,                                           \
			"of sar: leafwise (preset; from the installed tables where they are "      \
			"known), paper (SC16, Algorithm 1) or patch (its original patch)",         \
			0                                                                          \
	}
#define OPTION_SAR_CHANGE                                                                              \
	{                                                                                              \
		"sar-change", OPT_SAR_CHANGE, "PERCENT", 0,                                            \
			"of the LFT blocks that sar:leafwise may change at a time, 1 to 100 "          \
			"(preset: 5, or all where routes that sar did not make are far from what the " \
			"jobs need)",                                                                  \
			0                                                                              \
	}
#define OPTION_ESCAPE                                                                              \
	{                                                                                          \
		"escape", OPT_ESCAPE, NULL, 0,                                                     \
			"make the upper half of every terminal's LIDs escape LIDs: up*/down* on "  \
			"the last VL, the same whatever the engine (needs LMC 1 or more)",         \
			0                                                                          \
	}
#define OPTION_EXCLUDE                                                                             \
	{                                                                                          \
		"exclude", OPT_EXCLUDE, "LIST", 0,                                                 \
			"route around these switches and cables, for maintenance: names "          \
			"(spine11, spine[1-4]), GUIDs, or a cable as SWITCH/PORT, with commas "    \
			"between; what hangs on such a switch is still reached",                   \
			0                                                                          \
	}
#define OPTION_PIN                                                                                 \
	{                                                                                          \
		"pin", OPT_PIN, "LIST", 0,                                                         \
			"routes to these hosts stay exactly as installed, for jobs that must not " \
			"be touched: n[0001-0016], or job:81234 for those of a running job, with " \
			"commas between",                                                          \
			0                                                                          \
	}
#define OPTION_JOB_NODES_MIN                                                                       \
	{                                                                                          \
		"job-nodes-min", OPT_JOB_NODES_MIN, "N", 0,                                        \
			"jobs with fewer nodes do not count for sar (preset: all jobs do)", 0      \
	}
#define OPTION_BISECTIONS                                                                          \
	{                                                                                          \
		"bisections", OPT_BISECTIONS, "N", 0,                                              \
			"random bisections for the effective bisection bandwidth, 0 for none "     \
			"(preset: 20 to 1,000, fewer on large fabrics)",                           \
			0                                                                          \
	}
#define OPTION_PATTERN                                                                             \
	{                                                                                          \
		"pattern", OPT_PATTERN, "NAME", 0,                                                 \
			"what the jobs do when their rates are predicted: shift, alltoall "        \
			"(preset), ring, stencil2d, stencil3d, or none to predict nothing",        \
			0                                                                          \
	}
#define OPTION_PER_JOB                                                                             \
	{                                                                                          \
		"per-job", OPT_PER_JOB, NULL, 0, "figures of each job, too (JSON: \"jobs\")", 0    \
	}
#define OPTION_DEMAND                                                                              \
	{                                                                                          \
		"demand", OPT_DEMAND, "FILE", 0,                                                   \
			"what nodes send, for parx: lines of \"source: destination=bytes,...\"", 0 \
	}
#define OPTION_RANKS                                                                                \
	{                                                                                           \
		"ranks", OPT_RANKS, "FILE", 0,                                                      \
			"nodes of the ranks that the demand file names: lines of \"1-3: n[2-4]\", " \
			"or of \"rank 12=n6 slot=0\"",                                              \
			0                                                                           \
	}
#define OPTION_SPREAD                                                                              \
	{                                                                                          \
		"spread", OPT_SPREAD, NULL, 0,                                                     \
			"spread paths over all VLs that may be used, where fewer are enough "      \
			"(they share buffers less, but every VL costs some)",                      \
			0                                                                          \
	}
#define OPTION_ALL_LIDS                                                                            \
	{                                                                                          \
		"all-lids", OPT_ALL_LIDS, NULL, 0,                                                 \
			"count routes to every traffic LID in the figures, not to base LIDs only", \
			0                                                                          \
	}
#define OPTION_TABLES                                                                              \
	{ "lfts", OPT_LFTS, "FILE", 0, "tables: opensm-lfts.dump, dump_fts", 0 },                  \
		{ "fdbs", OPT_FDBS, "FILE", 0, "tables: opensm.fdbs", 0 },                         \
	{                                                                                          \
		"tables", OPT_TABLES, "FILE", 0, "tables: our own tables.ibr", 0                   \
	}
#define OPTION_PATH_SL                                                                             \
	{                                                                                          \
		"path-sl", OPT_PATH_SL, "FILE", 0,                                                 \
			"SLs of these tables: lines of 0xsrc_guid dlid sl", 0                      \
	}
#define OPTION_SL2VL                                                                               \
	{                                                                                          \
		"sl2vl", OPT_SL2VL, "FILE", 0,                                                     \
			"their SL2VL tables: opensm-sl2vl.dump, or as for ibdmchk -d", 0           \
	}
#define OPTION_JSON(what)                                                                          \
	{                                                                                          \
		"json", OPT_JSON, NULL, 0, what, 0                                                 \
	}

struct route_report_opts;

void options_init(struct options *o);
/* What they say about verdict and figures. */
void options_eval(struct route_report_opts *out, const struct options *o);
/* What they leave to no engine on that fabric, with these jobs (may be NULL): NULL for nothing. The
 * caller owns *out, also after an error. */
struct route_limits;
int options_limits(struct route_limits **out, const struct options *o, const struct fabric *f,
		   const struct jobset *jobs, struct err *err);
/* For argp parsers: takes a key of enum option_key, else ARGP_ERR_UNKNOWN.  A bad value ends
 * the program with 64 and a sentence. */
error_t options_take(struct options *o, int key, char *arg, struct argp_state *state);
/* What subcommands on files have in common: takes the options by argp, does the work, and prints
 * the sentence in err when that did not return 0.  Returns what it returned, an exit code. */
int options_run(int argc, char **argv, const struct argp *argp,
		int (*work)(const struct options *o, struct err *err));
/* Ends the program with 64 when text is NULL. */
void options_need(const char *text, const char *option, struct argp_state *state);

#endif
