/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmdline: every command takes its options through here, so that --help, the manual page and
 * the completion of shells come from the same tables.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* argp_parse(), unless cmdline_describe() was called before: then what was given there gets
 * the tables, and the process ends.  A command whose table has OPTION_CONFIG (config.h) gets the
 * settings of the configuration files that it has options for, as if they were typed before the
 * rest; a mistake in them ends the program. */
int cmdline_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The end of a command: prints the sentence of err, if there is one, and returns rc. */
int cmdline_end(const char *name, int rc, const struct err *err);

/* For ARGP_KEY_ARG: the only argument of a command, which is a what ("plan", "update"); a second
 * one ends the program. */
void cmdline_only(const struct argp_state *s, const char *what, const char **out, const char *arg);

/* Numbers of options.  Anything else than a number from least to most ends the program with a
 * sentence that names what it is for ("--Port"). */
uint64_t cmdline_count(const struct argp_state *s, const char *what, const char *text,
		       uint64_t least, uint64_t most);
double cmdline_real(const struct argp_state *s, const char *what, const char *text, double least,
		    double most);

/* Where the value of an option goes, for options that only store what was given: text as it is,
 * true for an option that takes nothing, a number from least to most.  The kind is the member's. */
enum cmdline_kind { CMDLINE_TEXT, CMDLINE_FLAG, CMDLINE_INT, CMDLINE_U64, CMDLINE_REAL };

/* The key of an option that has no letter and stores a text, or true: it says by itself where. */
#define CMDLINE_KEY(type, member)                                                                  \
	(0x400000 |                                                                                \
	 _Generic(((type *)0)->member, const char *: CMDLINE_TEXT, bool: CMDLINE_FLAG) << 20 |     \
	 (int)offsetof(type, member))

/* For the others, in a table. */
struct cmdline_field {
	size_t at; /* bytes from the beginning of what the parser fills in */
	enum cmdline_kind kind;
	int key;	    /* of the option; 0 ends the table */
	const char *what;   /* numbers only, as the next two: for the message, "--Port" */
	double least, most; /* 0 and 0: those of the setting that the option is */
	uint32_t times;	    /* of unsigned: what is stored, for 1; 0: 1 */
};

/* clang-format off */
#define CMDLINE_KIND(value)                                            \
	_Generic((value), const char *: CMDLINE_TEXT, bool: CMDLINE_FLAG, \
		 unsigned: CMDLINE_INT, int: CMDLINE_INT, uint64_t: CMDLINE_U64, double: CMDLINE_REAL)
#define CMDLINE_FIELD(option, type, member, ...) \
	{ .at = offsetof(type, member), .kind = CMDLINE_KIND(((type *)0)->member), .key = option, __VA_ARGS__ }
/* clang-format on */

/* Stores the option in *to, as its key or its row of fields (NULL: none) says, and returns 0;
 * ARGP_ERR_UNKNOWN when neither does.  --config and --profile, which cmdline_parse() has read, need
 * no row. */
error_t cmdline_take(const struct cmdline_field *fields, void *to, int key, const char *arg,
		     const struct argp_state *s);

typedef void describe_fn(const struct argp *argp, void *arg);

/* Has the tables of a command given to fn instead of parsing: run() is called in a process of
 * its own with argv {name}, and what fn prints to stdout comes out in order.  0 or -errno
 * (-ECHILD: the command never asked for its options). */
int cmdline_describe(const char *name, int (*run)(int argc, char **argv), describe_fn *fn,
		     void *arg);

/* A row of the tables: an option with all its names, or a heading.  Pointers are those of the
 * tables; aliases of an option come with it. */
#define CMDLINE_NAMES 6
struct cmdline_row {
	const char *heading; /* not NULL: nothing below counts */
	const char *name[CMDLINE_NAMES];
	char letter[CMDLINE_NAMES];
	int nnames, nletters;
	const char *arg; /* NULL: takes none */
	int arg_optional;
	const char *doc;
};

typedef void cmdline_row_fn(const struct cmdline_row *row, void *arg);

/* All rows that --help shows, groups in its order, rows in that of the tables. */
void cmdline_each(const struct argp *argp, cmdline_row_fn *fn, void *arg);
