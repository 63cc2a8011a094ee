/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/prompt/command.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct command commands[] = {
	/* with arguments */
	{ "view", "VIEW", ARG_VIEW, true, REQ_VIEW, 0, "go to a view, by name or digit, or to a saved one; save NAME: save this view with its filter, columns and order, the heatmap with layout and metric; delete NAME: delete that" },
	{ "sort", "[COLUMN]", ARG_COLUMN, false, REQ_SORT, 0, "sort by a column; no argument: choose from a list" },
	{ "filter", "[EXPRESSION]", ARG_FILTER, false, REQ_FILTER, 0, "show only rows that match, such as util>80 leaf; no argument: all rows" },
	{ "search", "[TEXT]", ARG_TEXT, false, REQ_SEARCH, 0, "search everything by parts of names: views, commands, saved views, bookmarks, jobs, switches, hosts, links" },
	{ "find", "[TEXT]", ARG_TEXT, false, REQ_FIND, 0, "search the rows; next and previous repeat it" },
	{ "goto", "NODE", ARG_NODE, true, REQ_GOTO, 0, "move the cursor to a switch, a host or a row by name" },
	{ "job", "[ID]", ARG_JOB, false, REQ_JOB, 0, "highlight a job's links in all views; no argument: none" },
	{ "path", "A B", ARG_NODES, true, REQ_PATH, 0, "show the path from one node to another" },
	{ "exclude", "[LIST]", ARG_NODE, false, REQ_EXCLUDE, 0, "the next preview routes around these switches and cables (SWITCH/PORT); exclude none: clear the list; no argument: toggle tagged rows, or what is under the cursor" },
	{ "pin", "[LIST]", ARG_NODE, false, REQ_PIN, 0, "the next preview leaves the paths to these hosts, or those of job:1234, as they are; pin none: clear the list; no argument: toggle tagged jobs or switches, or this row" },
	{ "from", "", ARG_NONE, false, REQ_PATH_FROM, 0, "start the path of view 0 at what is under the cursor" },
	{ "to", "", ARG_NONE, false, REQ_PATH_TO, 0, "end the path of view 0 at what is under the cursor" },
	{ "follow", "", ARG_NONE, false, REQ_FOLLOW, 0, "go to the switch at the other end of the cable" },
	{ "columns", "[NAME,...]", ARG_COLUMNS, false, REQ_COLUMNS, 0, "columns of the table; no argument: the default ones" },
	{ "copy", "", ARG_NONE, false, REQ_COPY, 0, "copy the names of tagged rows, or of this row, to the terminal's clipboard" },
	{ "choose", "", ARG_NONE, false, REQ_COLUMN_MENU, 0, "choose columns and their order from a list" },
	{ "engine", "NAME", ARG_ENGINE, true, REQ_ENGINE, 0, "compute a preview with an engine; nothing in the fabric changes" },
	{ "interval", "SECONDS", ARG_TEXT, true, REQ_INTERVAL, 0, "seconds between two polls, 0.1 to 3600" },
	{ "palette", "[NAME]", ARG_PALETTE, false, REQ_PALETTE, 0, "colours of the levels; no argument: the next palette" },
	{ "units", "[bytes|bits]", ARG_UNITS, false, REQ_UNITS, 0, "rates in GB/s or Gb/s; no argument: the other one" },
	{ "save", "[FOLDER]", ARG_FILE, false, REQ_SNAPSHOT, 0, "write a snapshot to a folder; --load reads it" },
	{ "export", "FILE", ARG_FILE, true, REQ_EXPORT, 0, "write the table in view as shown (of pictures the links, else the lines) to FILE.txt, .csv or .json, or the screen with its colours to FILE.html, .svg or .png; export! overwrites" },
	{ "bookmark", "[NAME]", ARG_TEXT, false, REQ_BOOKMARK, 0, "mark this moment in the history" },
	{ "bookmarks", "[NAME]", ARG_BOOKMARK, false, REQ_BOOKMARKS, 0, "go to a bookmark; no argument: list them, and go to the previous one" },
	{ "back", "[SAMPLES]", ARG_TEXT, false, REQ_HIST_BACK, 0, "go back in the history" },
	{ "at", "TIME", ARG_BOOKMARK, true, REQ_AT, 0, "go to a moment or bookmark, with a collector also before this session: 03:10, -90m, 2026-11-20T03:10" },
	{ "play", "[SPEED]", ARG_TEXT, false, REQ_PLAY, 0, "play the history from this moment on, 1 to 60 times as fast; no argument: as before, or stop" },
	{ "peak", "[METRIC]", ARG_PEAK, false, REQ_PEAK, 0, "go to the moment of this session that had the highest util, wait or errors; no argument: util" },
	{ "event", "[next|previous]", ARG_EVENT, false, REQ_EVENT, 0, "go to the moment of the next or the previous event; no argument: of the event under the cursor" },
	{ "against", "[TIME]", ARG_BOOKMARK, false, REQ_AGAINST, 0, "hold rates against those of another moment or bookmark: in the heatmap and the topology (c), in columns then and change of links, switches, ports and jobs; no argument: no longer" },
	{ "forward", "[SAMPLES]", ARG_TEXT, false, REQ_HIST_FORWARD, 0, "go forward in the history" },
	{ "file", "PATH", ARG_FILE, true, REQ_TABLES_FILE, 0, "compute a preview of a file's tables: tables.ibr, a dump, a saved plan" },
	{ "plan", "FILE", ARG_FILE, true, REQ_PLAN_SAVE, 0, "save the plan, for: ibroute-top apply FILE" },
	{ "note", "[TEXT]", ARG_TEXT, false, REQ_APPLY_NOTE, 0, "note on the link, switch, host, job or event under the cursor, else on this moment; no argument: delete it; in view 7: into the record of this session" },
	{ "override", "CONDITION,...", ARG_CONDITIONS, true, REQ_APPLY_OVERRIDE, 0, "sm, errors, reach, jobs: ignore these rollback conditions from now on; recorded" },
	{ "set", "NAME=VALUE", ARG_SETTING, true, REQ_SET, 0, "change a setting for this session; keep saves it" },
	{ "settings", "", ARG_NONE, false, REQ_SETTINGS, 0, "list the display settings and change them" },
	{ "keep", "", ARG_NONE, false, REQ_KEEP, 0, "save the changed settings to the configuration file" },
	{ "fabric", "[NAME|next|previous]", ARG_FABRIC, false, REQ_FABRIC, 0, "with several fabrics (--tab): go to one; no argument: the next" },
	{ "tour", "", ARG_NONE, false, REQ_TOUR, 0, "demo: a tour from the verdict to a confirmed update, key by key" },
	{ "unplug", "LIST", ARG_NODE, true, REQ_UNPLUG, 0, "demo: take cables (SWITCH/PORT), or all cables of switches, out" },
	{ "plug", "[LIST]", ARG_NODE, false, REQ_PLUG, 0, "demo: put cables back that unplug took out; no argument: all" },
	{ "help", "", ARG_NONE, false, REQ_HELP, 0, "keys and commands" },

	/* what keys do */
	{ "overview", "", ARG_NONE, false, REQ_VIEW, VIEW_OVERVIEW, "view 1" },
	{ "heatmap", "", ARG_NONE, false, REQ_VIEW, VIEW_HEATMAP, "view 2" },
	{ "links", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_LINKS, "view 3; with an expression only the rows that match, such as: links util>80" },
	{ "switches", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_SWITCHES, "view 4; with an expression only the rows that match" },
	{ "jobs", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_JOBS, "view 5; with an expression only the rows that match" },
	{ "engines", "", ARG_NONE, false, REQ_VIEW, VIEW_PREVIEW, "view 6" },
	{ "apply", "", ARG_NONE, false, REQ_VIEW, VIEW_APPLY, "view 7" },
	{ "events", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_EVENTS, "view 8; with an expression only the rows that match" },
	{ "audit", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_AUDIT, "view 9; with an expression only the rows that match" },
	{ "weak", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_WEAK, "what the failure of each cable and switch would cost; with an expression only the rows that match" },
	{ "campaign", "FOLDER", ARG_FILE, true, REQ_CAMPAIGN, 0, "read what replay, failures or campaign has written into a folder" },
	{ "campaigns", "[EXPRESSION]", ARG_FILTER, false, REQ_VIEW, VIEW_CAMPAIGN, "campaigns: the folder that was read; with an expression only the rows that match" },
	{ "paths", "", ARG_NONE, false, REQ_VIEW, VIEW_PATHS, "view 0" },
	{ "topology", "", ARG_NONE, false, REQ_VIEW, VIEW_TOPOLOGY, "picture of the fabric" },
	{ "reverse", "", ARG_NONE, false, REQ_REVERSE, 0, "reverse the order of the rows" },
	{ "next", "", ARG_NONE, false, REQ_FIND_NEXT, 0, "next match of the search, else next problem" },
	{ "previous", "", ARG_NONE, false, REQ_FIND_PREV, 0, "previous match, else previous problem" },
	{ "problems", "", ARG_NONE, false, REQ_PROBLEMS, 0, "rows with a problem only, and back" },
	{ "tag", "", ARG_NONE, false, REQ_SELECT, 0, "tag the row under the cursor" },
	{ "tagged", "", ARG_NONE, false, REQ_TAGGED, 0, "tagged rows only, and back" },
	{ "range", "", ARG_NONE, false, REQ_TAG_RANGE, 0, "tag all rows from the one tagged last to the one under the cursor" },
	{ "untag", "", ARG_NONE, false, REQ_UNTAG, 0, "remove all tags" },
	{ "metric", "[NAME]", ARG_METRIC, false, REQ_METRIC, 0, "metric of colours and histories, such as wait; no argument: the next" },
	{ "direction", "", ARG_NONE, false, REQ_DIRECTION, 0, "show the other direction of the cables" },
	{ "layout", "[NAME]", ARG_LAYOUT, false, REQ_LAYOUT, 0, "layout of the heatmap, such as rack; no argument: the next" },
	{ "zoom", "", ARG_TEXT, false, REQ_ZOOM, 0, "next zoom level of the heatmap or the topology; in the Overview: one pane alone, or all" },
	{ "rows", "[NAME]", ARG_ROWS, false, REQ_ROWS, 0, "row order of the heatmap: place, utilisation or rack; no argument: the next" },
	{ "compare", "", ARG_NONE, false, REQ_COMPARE, 0, "heatmap of what the plan would change, and back; in tables: tagged rows side by side" },
	{ "options", "", ARG_NONE, false, REQ_OPTIONS, 0, "edit the options of the engines" },
	{ "compute", "", ARG_NONE, false, REQ_SELECT, VIEW_PREVIEW, "in view 6: compute a plan with the engine under the cursor" },
	{ "cancel", "", ARG_NONE, false, REQ_PREVIEW_CANCEL, 0, "stop the computation, or the search for a write order" },
	{ "prepare", "", ARG_NONE, false, REQ_APPLY_PREPARE, 0, "take the plan to view 7; nothing is written yet" },
	{ "rollback", "", ARG_NONE, false, REQ_ROLLBACK_ASK, 0, "ask to roll back to the previous routing" },
	{ "yes", "", ARG_NONE, false, REQ_YES, 0, "answer yes to the question" },
	{ "close", "", ARG_NONE, false, REQ_APPLY_CLOSE, 0, "close a finished update" },
	{ "impact", "", ARG_NONE, false, REQ_IMPACT, 0, "what the plan means for each job" },
	{ "difference", "", ARG_NONE, false, REQ_DIFF, 0, "what the plan changes, entry by entry" },
	{ "again", "", ARG_NONE, false, REQ_AGAIN, 0, "compute the plan again" },
	{ "extend", "", ARG_NONE, false, REQ_APPLY_EXTEND, 0, "more time until the update is rolled back" },
	{ "palettes", "", ARG_NONE, false, REQ_PALETTE_PICK, 0, "pick a palette" },
	{ "verify", "", ARG_NONE, false, REQ_VERIFY, 0, "read the recorded sessions again and verify them" },
	{ "pane", "", ARG_NONE, false, REQ_PANE, 0, "next pane" },
	{ "open", "", ARG_NONE, false, REQ_ENTER, 0, "open what is under the cursor" },
	{ "reroute", "", ARG_NONE, false, REQ_VIEW, VIEW_PREVIEW, "view 6: compute another routing" },
	{ "start", "", ARG_NONE, false, REQ_ENTER, VIEW_APPLY, "in view 7: start the update; asks for the fabric's name" },
	{ "confirm", "", ARG_NONE, false, REQ_ENTER, VIEW_APPLY, "in view 7: confirm the update; asks for the fabric's name" },
	{ "up", "", ARG_NONE, false, REQ_UP, 0, "move the cursor up" },
	{ "down", "", ARG_NONE, false, REQ_DOWN, 0, "move the cursor down" },
	{ "left", "", ARG_NONE, false, REQ_LEFT, 0, "move the cursor left" },
	{ "right", "", ARG_NONE, false, REQ_RIGHT, 0, "move the cursor right" },
	{ "pageup", "", ARG_NONE, false, REQ_PAGE_UP, 0, "a page up" },
	{ "pagedown", "", ARG_NONE, false, REQ_PAGE_DOWN, 0, "a page down" },
	{ "top", "", ARG_NONE, false, REQ_TOP, 0, "go to the first row" },
	{ "bottom", "", ARG_NONE, false, REQ_BOTTOM, 0, "go to the last row" },
	{ "return", "", ARG_NONE, false, REQ_BACK, 0, "return to the previous view" },
	{ "later", "", ARG_NONE, false, REQ_EVENT_NEXT, 0, "go to the moment of the next event" },
	{ "earlier", "", ARG_NONE, false, REQ_EVENT_PREV, 0, "go to the moment of the event before" },
	{ "freeze", "", ARG_NONE, false, REQ_FREEZE, 0, "freeze the display; again: resume" },
	{ "live", "", ARG_NONE, false, REQ_LIVE, 0, "go from the history to the newest sample" },
	{ "back5", "", ARG_NONE, false, REQ_HIST_BACK5, 0, "five samples back" },
	{ "forward5", "", ARG_NONE, false, REQ_HIST_FORWARD5, 0, "five samples forward" },
	{ "faster", "", ARG_NONE, false, REQ_FASTER, 0, "shorter interval between polls" },
	{ "slower", "", ARG_NONE, false, REQ_SLOWER, 0, "longer interval between polls" },
	{ "poll", "", ARG_NONE, false, REQ_POLL, 0, "poll the counters now; also restarts what was stopped" },
	{ "stop", "", ARG_NONE, false, REQ_STOP, 0, "stop the running computation" },
	{ "sweep", "", ARG_NONE, false, REQ_SWEEP, 0, "discover the fabric again" },
	{ "vls", "", ARG_NONE, false, REQ_TABLES, 0, "read the missing SL2VL tables, or all again; while it runs: stop" },
	{ "redraw", "", ARG_NONE, false, REQ_REDRAW, 0, "redraw the screen" },
	{ "suspend", "", ARG_NONE, false, REQ_SUSPEND, 0, "suspend to the shell; fg returns" },
	{ "detach", "", ARG_NONE, false, REQ_DETACH, 0, "detach and quit; an open update continues, and rolls back at its deadline" },
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
	if (len > 1 && word[len - 1] == '!')
		len--;
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

const char *command_doing(enum req req, enum view_id view)
{
	for (size_t i = 0; i < NCOMMAND; i++)
		if (commands[i].req == req &&
		    (req != REQ_VIEW || (commands[i].arg != ARG_VIEW && commands[i].view == view)))
			return commands[i].name;
	return NULL;
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

bool command_view_taken(const char *name)
{
	for (int i = 0; i < VIEW_COUNT; i++) {
		const char *own = command_view_name((enum view_id)i);

		if (own && !strcasecmp(own, name))
			return true;
	}
	return (isdigit((unsigned char)name[0]) && !name[1]) || !strcasecmp(name, "save") ||
	       !strcasecmp(name, "delete");
}
