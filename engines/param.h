/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * param: the parameters of a routing by engines, each in one row: what it is called on the command
 * line, in configuration files, in the plugin's policy and in the form of previews, what it may be,
 * and what it means.
 * Whoever takes one from people looks here, so that all accept and refuse the same.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those below PARAM_TEXTS are names and lists, which their owner keeps as text until fabric and
 * jobs are known; the others are values in struct engine_params. */
enum param_id {
	PARAM_PIN,
	PARAM_EXCLUDE,
	PARAM_IO_NODES, /* of the fabric, and so of no engine: load_io_nodes.h */
	PARAM_ROOTS,
	PARAM_DEMAND,
	PARAM_RANKS,
	PARAM_JOBS,
	PARAM_TABLES, /* instead of an engine; what LFTs alone do not tell: */
	PARAM_TABLES_PATH_SL,
	PARAM_TABLES_SL2VL,
	PARAM_TEXTS,

	PARAM_VLS = PARAM_TEXTS,
	PARAM_SEED,
	PARAM_THREADS,
	PARAM_SPREAD,
	PARAM_IGNORE_RATES,
	PARAM_SAR_METHOD,
	PARAM_SAR_CHANGE,
	PARAM_MAX_DETOUR,
	PARAM_SAR_SLOWER,
	PARAM_JOB_NODES_MIN,
	PARAM_DFDN_BASE,
	PARAM_ESCAPE,
	PARAM_LMC, /* of the fabric: no value of struct engine_params */
	PARAM_IDS
};

enum param_type {
	PARAM_NUMBER,  /* min to max */
	PARAM_PERCENT, /* the same of a share 0..1 */
	PARAM_FLAG,    /* yes or no */
	PARAM_WORD,    /* one of words, in the order of its enum */
	PARAM_LIST,    /* of nodes: fabric/format/site/limits_text.h, pin_text.h */
	PARAM_FILE
};

struct param {
	enum param_id id;
	enum param_type type;
	const char *option, *arg; /* on the command line; NULL: none */
	uint64_t min, max;	  /* of a number, or of percents */
	size_t at;		  /* in struct engine_params */
	const char *label;	  /* in the form of previews; NULL: it is not there */
	const char *engine;	  /* that uses it; NULL: all */
	bool policy, config; /* the plugin's policy, files of settings have a key of that name */
	const char *brief;   /* before its value, where that is said in few words; NULL: never */
	const char *unset;   /* what it is by default, in few words */
	const char *unit;    /* NULL: none */
	const char *const *words; /* NULL at the end */
	const char *gain; /* what it is good for and what it costs, in the form; with a label */
	const char *help;
};

/* In the order of the form. */
const struct param *param_all(size_t *n);
const struct param *param_of(enum param_id id);
/* The one with that option, as its len bytes say; NULL: none. */
const struct param *param_named(const char *option, size_t len);

/* The defaults: 0 for all, and seed 1. */
void param_defaults(struct engine_params *out);
bool param_is_default(const struct engine_params *from, const struct param *p);

/* A number from p->min to p->max, or a share of p->min to p->max percent.  -EINVAL with what was
 * given and what may be given, to stand behind the name that the parameter has there. */
int param_number(uint64_t *out, const struct param *p, const char *text, struct err *err);
/* Sets a value.  A flag is yes or no.  -EINVAL as above.  Not for texts and PARAM_LMC. */
int param_set(struct engine_params *out, const struct param *p, const char *text, struct err *err);
/* The same where a value can be taken back: 0 is the default also where numbers begin at 1. */
int param_set_or_unset(struct engine_params *out, const struct param *p, const char *text,
		       struct err *err);
/* A number, percents, a flag as 0 or 1, the number of a word. */
uint64_t param_value(const struct engine_params *from, const struct param *p);
/* The value as people write it; what the default is where it is 0.  Returns buf. */
const char *param_text(char *buf, size_t len, const struct engine_params *from,
		       const struct param *p);
/* The index of a word, -EINVAL with the words that there are. */
int param_word(const struct param *p, const char *text, struct err *err);
