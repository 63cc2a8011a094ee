/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: the commands after ':': one table for the command line, its completion, the help view
 * and the manual.
 *
 * A command is the request of the key that does the same, with an argument; so it works in the same
 * views and has the same guards (--rw).
 */
#pragma once

#include "views/data/state/request.h"

#include <stdbool.h>
#include <stddef.h>

/* What an argument is completed from. */
enum command_arg {
	ARG_NONE,
	ARG_VIEW,
	ARG_COLUMN,  /* of the table in view */
	ARG_COLUMNS, /* several, with commas between */
	ARG_FILTER,  /* names of columns and words */
	ARG_NODE,
	ARG_NODES, /* two of them */
	ARG_JOB,
	ARG_ENGINE,
	ARG_PALETTE,
	ARG_UNITS,
	ARG_SETTING,
	ARG_METRIC,
	ARG_ROWS, /* orders of the heatmap's rows */
	ARG_LAYOUT,
	ARG_BOOKMARK,
	ARG_PEAK,	/* "util", "wait", "errors" */
	ARG_EVENT,	/* "next", "previous" */
	ARG_FABRIC,	/* "next", "previous", or the name of one */
	ARG_CONDITIONS, /* of the watchdog, with commas between */
	ARG_COMMAND,
	ARG_FILE, /* also a folder */
	ARG_TEXT, /* anything: not completed */
};

struct command {
	const char *name;
	const char *args; /* "VIEW", "[COLUMN]", ...; "" none */
	enum command_arg arg;
	bool needed; /* the argument is required */
	enum req req;
	enum view_id
		view;	  /* REQ_VIEW, unless the argument names it; else where it works, 0: here */
	const char *help; /* a sentence without a full stop */
};

const struct command *command_all(size_t *n);
/* By its name or an unambiguous prefix, with or without a ! behind it; NULL: none, or several. */
const struct command *command_find(const char *word, size_t len);
/* The name of the one that does what a key with this request does; view: of REQ_VIEW.  NULL: none.
 */
const char *command_doing(enum req req, enum view_id view);
/* Names of views as commands take them: "overview", "links", ...; NULL: no such view. */
const char *command_view_name(enum view_id id);
/* By a prefix or a digit; VIEW_COUNT: none. */
enum view_id command_view(const char *word);
/* May a view that is saved not have that name, as :view already takes it? */
bool command_view_taken(const char *name);
