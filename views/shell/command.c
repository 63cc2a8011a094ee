/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/command.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct command commands[] = {
	/* with arguments */
	{ "view", "VIEW", ARG_VIEW, true, REQ_VIEW, 0, "go to a view, by name or digit" },
	{ "sort", "[COLUMN]", ARG_COLUMN, false, REQ_SORT, 0, "sort by a column; alone: by one of a list" },
	{ "filter", "[EXPRESSION]", ARG_FILTER, false, REQ_FILTER, 0, "only rows that match, such as util>80 leaf; alone: all rows" },
	{ "find", "[TEXT]", ARG_TEXT, false, REQ_FIND, 0, "search in the rows; next and previous go on" },
	{ "goto", "NODE", ARG_NODE, true, REQ_GOTO, 0, "the cursor to a switch, a host or a row by its name" },
	{ "job", "[ID]", ARG_JOB, false, REQ_JOB, 0, "highlight a job's links in all views; alone: none" },
	{ "path", "A B", ARG_NODES, true, REQ_PATH, 0, "the path from one node to another" },
	{ "exclude", "[LIST]", ARG_NODE, false, REQ_EXCLUDE, 0, "the next preview routes around switches and cables (SWITCH/PORT); none: nothing; alone: what is under the cursor" },
	{ "from", "", ARG_NONE, false, REQ_PATH_FROM, 0, "the path of view 0 begins at what is under the cursor" },
	{ "to", "", ARG_NONE, false, REQ_PATH_TO, 0, "the path of view 0 ends at what is under the cursor" },
	{ "follow", "", ARG_NONE, false, REQ_FOLLOW, 0, "to the switch at the other end of the cable" },
	{ "columns", "[NAME,...]", ARG_COLUMNS, false, REQ_COLUMNS, 0, "columns of the table; alone: the usual ones" },
	{ "copy", "", ARG_NONE, false, REQ_COPY, 0, "what the row is called into the clipboard of the terminal" },
	{ "choose", "", ARG_NONE, false, REQ_COLUMN_MENU, 0, "columns of the table and their order, from a list" },
	{ "engine", "NAME", ARG_ENGINE, true, REQ_ENGINE, 0, "compute a preview by an engine; nothing in the fabric changes" },
	{ "interval", "SECONDS", ARG_TEXT, true, REQ_INTERVAL, 0, "seconds between two polls, 0.1 to 3600" },
	{ "palette", "[NAME]", ARG_PALETTE, false, REQ_PALETTE, 0, "colours of the levels; alone: the next" },
	{ "units", "[bytes|bits]", ARG_UNITS, false, REQ_UNITS, 0, "rates in GB/s or in Gb/s; alone: the other" },
	{ "save", "[FOLDER]", ARG_FILE, false, REQ_SNAPSHOT, 0, "write a snapshot into a folder, to be read with --load" },
	{ "bookmark", "[NAME]", ARG_TEXT, false, REQ_BOOKMARK, 0, "mark this moment of the history" },
	{ "bookmarks", "[NAME]", ARG_BOOKMARK, false, REQ_BOOKMARKS, 0, "go to a bookmark; alone: list them, and go to the one before" },
	{ "back", "[SAMPLES]", ARG_TEXT, false, REQ_HIST_BACK, 0, "back in the history" },
	{ "forward", "[SAMPLES]", ARG_TEXT, false, REQ_HIST_FORWARD, 0, "forward in the history" },
	{ "file", "PATH", ARG_FILE, true, REQ_TABLES_FILE, 0, "compute a preview of a file's tables: tables.ibr, a dump, a saved plan" },
	{ "plan", "FILE", ARG_FILE, true, REQ_PLAN_SAVE, 0, "save the plan of the proposal, for: ibroute-top apply FILE" },
	{ "note", "TEXT", ARG_TEXT, true, REQ_APPLY_NOTE, 0, "a note of yours into the record of this session" },
	{ "override", "CONDITION,...", ARG_CONDITIONS, true, REQ_APPLY_OVERRIDE, 0, "sm, errors, reach, jobs: these do not roll the update back any more" },
	{ "set", "NAME=VALUE", ARG_SETTING, true, REQ_SET, 0, "change a setting of the configuration file until the end; keep keeps it" },
	{ "settings", "", ARG_NONE, false, REQ_SETTINGS, 0, "all settings of the screen, to be changed in a list" },
	{ "keep", "", ARG_NONE, false, REQ_KEEP, 0, "write the settings that were changed into the configuration file" },
	{ "help", "", ARG_NONE, false, REQ_HELP, 0, "keys and commands" },

	/* what keys do */
	{ "overview", "", ARG_NONE, false, REQ_VIEW, VIEW_OVERVIEW, "view 1" },
	{ "heatmap", "", ARG_NONE, false, REQ_VIEW, VIEW_HEATMAP, "view 2" },
	{ "links", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_LINKS, "view 3; with an expression only the rows that match; such as: links util>80" },
	{ "switches", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_SWITCHES, "view 4; with an expression only the rows that match" },
	{ "jobs", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_JOBS, "view 5; with an expression only the rows that match" },
	{ "engines", "", ARG_NONE, false, REQ_VIEW, VIEW_PREVIEW, "view 6" },
	{ "apply", "", ARG_NONE, false, REQ_VIEW, VIEW_APPLY, "view 7" },
	{ "events", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_EVENTS, "view 8; with an expression only the rows that match" },
	{ "audit", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_AUDIT, "view 9; with an expression only the rows that match" },
	{ "paths", "", ARG_NONE, false, REQ_VIEW, VIEW_PATHS, "view 0" },
	{ "topology", "", ARG_NONE, false, REQ_VIEW, VIEW_TOPOLOGY, "the fabric as a picture" },
	{ "reverse", "", ARG_NONE, false, REQ_REVERSE, 0, "the other order of the rows" },
	{ "next", "", ARG_NONE, false, REQ_FIND_NEXT, 0, "next match of the search, else next problem" },
	{ "previous", "", ARG_NONE, false, REQ_FIND_PREV, 0, "previous match, else previous problem" },
	{ "problems", "", ARG_NONE, false, REQ_PROBLEMS, 0, "rows with a problem only, and back" },
	{ "tag", "", ARG_NONE, false, REQ_SELECT, 0, "tag the row under the cursor; in engines: compute it" },
	{ "tagged", "", ARG_NONE, false, REQ_TAGGED, 0, "tagged rows only, and back" },
	{ "untag", "", ARG_NONE, false, REQ_UNTAG, 0, "take all tags away" },
	{ "metric", "[NAME]", ARG_METRIC, false, REQ_METRIC, 0, "what colours and histories are of, such as wait; alone: the next" },
	{ "direction", "", ARG_NONE, false, REQ_DIRECTION, 0, "other direction of the cables" },
	{ "layout", "[NAME]", ARG_LAYOUT, false, REQ_LAYOUT, 0, "a matrix of the heatmap, such as rack; alone: the next" },
	{ "zoom", "", ARG_TEXT, false, REQ_ZOOM, 0, "next zoom of the heatmap" },
	{ "rows", "[NAME]", ARG_ROWS, false, REQ_ROWS, 0, "rows of the heatmap by place, utilisation or rack; alone: the next" },
	{ "compare", "", ARG_NONE, false, REQ_COMPARE, 0, "heatmap of what the plan would change, and back" },
	{ "options", "", ARG_NONE, false, REQ_OPTIONS, 0, "edit the options of the engine" },
	{ "cancel", "", ARG_NONE, false, REQ_PREVIEW_CANCEL, 0, "end the computation, or the search for an order of writes" },
	{ "prepare", "", ARG_NONE, false, REQ_APPLY_PREPARE, 0, "take the computed routing to the apply view" },
	{ "rollback", "", ARG_NONE, false, REQ_ROLLBACK_ASK, 0, "ask for the old routing back" },
	{ "yes", "", ARG_NONE, false, REQ_YES, 0, "the answer to a question" },
	{ "close", "", ARG_NONE, false, REQ_APPLY_CLOSE, 0, "put a finished update away" },
	{ "impact", "", ARG_NONE, false, REQ_IMPACT, 0, "what the proposal means for each job" },
	{ "difference", "", ARG_NONE, false, REQ_DIFF, 0, "what the proposal changes, entry by entry" },
	{ "again", "", ARG_NONE, false, REQ_AGAIN, 0, "compute the proposal anew" },
	{ "extend", "", ARG_NONE, false, REQ_APPLY_EXTEND, 0, "more time until the update is rolled back" },
	{ "palettes", "", ARG_NONE, false, REQ_PALETTE_PICK, 0, "pick a palette" },
	{ "verify", "", ARG_NONE, false, REQ_VERIFY, 0, "read the recorded sessions anew and verify them" },
	{ "pane", "", ARG_NONE, false, REQ_PANE, 0, "next pane" },
	{ "open", "", ARG_NONE, false, REQ_ENTER, 0, "open what is under the cursor" },
	{ "up", "", ARG_NONE, false, REQ_UP, 0, "the cursor up" },
	{ "down", "", ARG_NONE, false, REQ_DOWN, 0, "the cursor down" },
	{ "left", "", ARG_NONE, false, REQ_LEFT, 0, "the cursor left" },
	{ "right", "", ARG_NONE, false, REQ_RIGHT, 0, "the cursor right" },
	{ "pageup", "", ARG_NONE, false, REQ_PAGE_UP, 0, "a page up" },
	{ "pagedown", "", ARG_NONE, false, REQ_PAGE_DOWN, 0, "a page down" },
	{ "top", "", ARG_NONE, false, REQ_TOP, 0, "to the first row" },
	{ "bottom", "", ARG_NONE, false, REQ_BOTTOM, 0, "to the last row" },
	{ "return", "", ARG_NONE, false, REQ_BACK, 0, "to where one was before" },
	{ "freeze", "", ARG_NONE, false, REQ_FREEZE, 0, "freeze what is shown, and go on" },
	{ "live", "", ARG_NONE, false, REQ_LIVE, 0, "from the history back to the newest" },
	{ "back5", "", ARG_NONE, false, REQ_HIST_BACK5, 0, "five samples back" },
	{ "forward5", "", ARG_NONE, false, REQ_HIST_FORWARD5, 0, "five samples forward" },
	{ "faster", "", ARG_NONE, false, REQ_FASTER, 0, "shorter interval between polls" },
	{ "slower", "", ARG_NONE, false, REQ_SLOWER, 0, "longer interval between polls" },
	{ "poll", "", ARG_NONE, false, REQ_POLL, 0, "poll the counters now, and begin again what stop has ended" },
	{ "stop", "", ARG_NONE, false, REQ_STOP, 0, "end what is being computed" },
	{ "sweep", "", ARG_NONE, false, REQ_SWEEP, 0, "discover the fabric anew" },
	{ "vls", "", ARG_NONE, false, REQ_TABLES, 0, "read the SL2VL tables on, or anew; while it runs: end it" },
	{ "redraw", "", ARG_NONE, false, REQ_REDRAW, 0, "draw the screen anew" },
	{ "suspend", "", ARG_NONE, false, REQ_SUSPEND, 0, "back to the shell; fg returns" },
	{ "detach", "", ARG_NONE, false, REQ_DETACH, 0, "leave; an open update goes on and rolls back at its deadline" },
	{ "quit", "", ARG_NONE, false, REQ_QUIT, 0, "quit" },
};
/* clang-format on */

#define NCOMMAND (sizeof(commands) / sizeof(commands[0]))

const struct command *command_all(size_t *n)
{
	*n = NCOMMAND;
	return commands;
}

const struct command *command_find(const char *word, size_t len)
{
	const struct command *found = NULL;
	int n = 0;

	for (size_t i = 0; len && i < NCOMMAND; i++) {
		if (strncasecmp(commands[i].name, word, len) != 0)
			continue;
		if (!commands[i].name[len])
			return &commands[i];
		found = &commands[i];
		n++;
	}
	return n == 1 ? found : NULL;
}

const char *command_view_name(enum view_id id)
{
	for (size_t i = 0; i < NCOMMAND; i++)
		if (commands[i].req == REQ_VIEW && commands[i].arg != ARG_VIEW &&
		    commands[i].view == id)
			return commands[i].name;
	return id == VIEW_HELP ? "help" : NULL;
}

enum view_id command_view(const char *word)
{
	size_t len = strlen(word);

	if (len == 1 && isdigit((unsigned char)word[0]))
		return (enum view_id)(word[0] - '0');
	for (int i = 0; len && i < VIEW_COUNT; i++) {
		const char *name = command_view_name((enum view_id)i);

		if (name && !strncasecmp(name, word, len))
			return (enum view_id)i;
	}
	return VIEW_COUNT;
}
