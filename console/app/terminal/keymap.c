/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table for all keys.  Order matters only to people: the footer shows labels from the
 * top, the help view lists the rows as they come.
 */
#include "console/app/terminal/keymap.h"

#include "views/data/state/key_hint.h"
#include "views/prompt/command.h"

#include <stdio.h>
#include <string.h>

#define OVERVIEW VIEW_BIT(VIEW_OVERVIEW)
#define HEAT	 VIEW_BIT(VIEW_HEATMAP)
#define LINKS	 VIEW_BIT(VIEW_LINKS)
#define JOBS	 VIEW_BIT(VIEW_JOBS)
#define PREVIEW	 VIEW_BIT(VIEW_PREVIEW)
#define APPLY	 VIEW_BIT(VIEW_APPLY)
#define EVENTS	 VIEW_BIT(VIEW_EVENTS)
#define SWITCHES VIEW_BIT(VIEW_SWITCHES)
#define PATHS	 VIEW_BIT(VIEW_PATHS)
#define TOPO	 VIEW_BIT(VIEW_TOPOLOGY)
#define AUDIT	 VIEW_BIT(VIEW_AUDIT)
#define WEAK	 VIEW_BIT(VIEW_WEAK)
#define CAMPAIGN VIEW_BIT(VIEW_CAMPAIGN)
#define TABLES	 (LINKS | JOBS | EVENTS | AUDIT | WEAK | CAMPAIGN)
/* views whose rows are a views/table/table.h: search, tags and columns of choice are there too */
#define ROWS (TABLES | SWITCHES)
#define MOVING                                                                                     \
	(TABLES | PATHS | SWITCHES | TOPO | HEAT | PREVIEW | APPLY | OVERVIEW | VIEW_BIT(VIEW_HELP))

/* clang-format off */
static const struct binding bindings[] = {
	/* in single views */
	{ REQ_METRIC, 0, HEAT | TOPO | SWITCHES, false, { 'm' }, "m", "metric",
	  "next metric: utilisation, XmitWait, EFI, job EFI, errors, VLs, unused links, problems" },
	{ REQ_METRIC, 0, OVERVIEW | LINKS, false, { 'm' }, "m", "metric",
	  "next metric of the history: utilisation, XmitWait, errors" },
	{ REQ_DIRECTION, 0, HEAT, false, { 'o' }, "o", "dir", "the opposite direction of each "
							      "cable" },
	{ REQ_LAYOUT, 0, HEAT, false, { 'v' }, "v", "layout",
	  "next layout: levels, dimensions, groups, racks, switch x switch" },
	{ REQ_ZOOM, 0, HEAT, false, { 'z' }, "z", "zoom",
	  "zoom in: worst of n x n pairs, single pairs, cables of the pair; then out again" },
	{ REQ_ROWS, 0, HEAT, false, { 'r' }, "r", NULL,
	  "row order: by layout, by utilisation, by rack" },
	{ REQ_ZOOM, 0, OVERVIEW, false, { 'z' }, "z", NULL,
	  "the pane with the cursor takes the whole page; again, or Esc: all panes" },
	{ REQ_ZOOM, 0, TOPO, false, { 'z' }, "z", "zoom in",
	  "zoom in: from pods, planes or groups to switches, then to their names; Esc: zoom out" },
	{ REQ_LAYOUT, 0, TOPO, false, { 'v' }, "v", "cables",
	  "choose the cables drawn: the worst, at the cursor, all, on the path in view 0" },
	{ REQ_FIND, 0, TOPO, false, { 'f', '/', K_F3 }, "f", "find", "go to a switch by its name" },
	{ REQ_FIND_NEXT, 0, TOPO, false, { 'n' }, "n", NULL,
	  "next match; without a search: next switch with a problem" },
	{ REQ_FIND_PREV, 0, TOPO, false, { 'N' }, "N", NULL, "previous match" },
	{ REQ_FOLLOW, 0, SWITCHES | PATHS, false, { 'F' }, "F", NULL,
	  "go to the switch at the other end of the cable (or hop)" },
	{ REQ_LAYOUT, 0, SWITCHES, false, { 'v' }, "v", NULL, "show the LFT by LID or by port" },
	{ REQ_PATH_FROM, 0, TOPO | SWITCHES, false, { '<' }, "<", NULL, "path from here: source for "
									"view 0" },
	{ REQ_PATH_TO, 0, TOPO | SWITCHES, false, { '>' }, ">", NULL, "path to here: destination "
								      "for view 0" },
	{ REQ_EXCLUDE, 0, HEAT | TOPO, false, { 'X' }, "X", NULL,
	  "exclude this switch or cable from the next plan (for maintenance); again: include it" },
	{ REQ_EXCLUDE, 0, LINKS | SWITCHES, false, { 'X' }, "X", NULL,
	  "exclude tagged rows, or this one, from the next plan (for maintenance); again: include" },
	{ REQ_SELECT, 0, PREVIEW, false, { ' ' }, "Space", "compute",
	  "compute a plan with the engine under the cursor; nothing in the fabric changes" },
	{ REQ_APPLY_PREPARE, 0, PREVIEW, true, { 'A' }, "A", "apply...",
	  "take the plan to view 7; nothing is written yet" },
	{ REQ_OPTIONS, 0, PATHS, false, { 'e' }, "e", "from/to",
	  "enter source and destination: names, LIDs or GUIDs; Tab completes" },
	{ REQ_DIRECTION, 0, PATHS, false, { 'o' }, "o", "reverse", "the path in the opposite "
								    "direction" },
	{ REQ_PANE, 0, PATHS, false, { K_TAB }, "Tab", "pairs",
	  "pairs of hosts whose paths cross the selected link, by job; and back" },
	{ REQ_FIND_NEXT, 0, PATHS, false, { 'n' }, "n", NULL, "in the list of pairs: next job on "
							      "the link" },
	{ REQ_FIND_PREV, 0, PATHS, false, { 'N' }, "N", NULL, "in the list of pairs: previous job "
							      "on the link" },
	{ REQ_PANE, 0, SWITCHES, false, { K_TAB }, "Tab", "pane",
	  "inside a switch: ports, LFT, SL2VL, VLs" },
	{ REQ_PANE, 0, PREVIEW, false, { K_TAB }, "Tab", "page",
	  "next page: metrics, cost and checks, links, jobs, changes" },
	{ REQ_LEFT, 0, PREVIEW, false, { K_LEFT, 'h' }, "h", NULL, "the plan to the left" },
	{ REQ_RIGHT, 0, PREVIEW, false, { K_RIGHT, 'l' }, "l", NULL,
	  "the plan to the right: several are shown side by side" },
	{ REQ_OPTIONS, 0, PREVIEW, false, { 'e' }, "e", "options",
	  "edit the options: VLs, seed, method of sar, files, ...; there c tries values" },
	{ REQ_IMPACT, 0, PREVIEW, false, { 'J' }, "J", "jobs",
	  "what the plan changes for each job, and back" },
	{ REQ_DIFF, 0, PREVIEW, false, { 'd' }, "d", "diff",
	  "changed LFT entries, block by block, and back" },
	{ REQ_AGAIN, 0, PREVIEW, false, { 'r' }, "r", "again",
	  "compute the plan again, with the same engine and options" },
	{ REQ_PLAN_SAVE, 0, PREVIEW, false, { 'w' }, "w", "save",
	  "save the plan to a file, for: ibroute-top apply FILE" },
	{ REQ_PREVIEW_CANCEL, 0, PREVIEW, false, { 'x' }, "x", "discard",
	  "stop the computation or the search for a write order; otherwise discard the plan" },
	{ REQ_COMPARE, 0, SWITCHES, false, { 'c' }, "c", NULL,
	  "tagged switches or ports side by side; in an LFT: only the entries that the plan changes" },
	{ REQ_COMPARE, 0, TABLES, false, { 'c' }, "c", NULL,
	  "tagged rows side by side: all that is known of them, and how they differ" },
	{ REQ_COMPARE, 0, HEAT | PREVIEW | TOPO, false, { 'c' }, "c", "compare",
	  "heatmap of what the plan would change, and back" },
	{ REQ_ENTER, 0, APPLY, true, { K_ENTER, '\n' }, "Enter", "type name",
	  "type the fabric's name: to start an update, and to confirm it" },
	{ REQ_ROLLBACK_ASK, 0, APPLY, true, { 'R' }, "R", "roll back",
	  "roll back to the previous routing; asks for Y" },
	{ REQ_YES, 0, APPLY, true, { 'Y' }, "Y", NULL, "yes, to the question whether to roll back" },
	{ REQ_APPLY_EXTEND, 0, APPLY, true, { '+' }, "+", "extend",
	  "extend the time to confirm by 5 minutes" },
	{ REQ_APPLY_NOTE, 0, APPLY, false, { 'N' }, "N", "note",
	  "add a note to the record of this session" },
	{ REQ_APPLY_OVERRIDE, 0, APPLY, true, { 'O' }, "O", NULL,
	  "name watch conditions to ignore: they no longer roll back the update; recorded" },
	{ REQ_APPLY_CLOSE, 0, APPLY, true, { 'x' }, "x", "close",
	  "discard the plan, or dismiss the finished update" },
	{ REQ_PANE, 0, APPLY, false, { K_TAB }, "Tab", "log",
	  "log of the update in the whole view, with each block read back; and back" },
	{ REQ_VERIFY, 0, AUDIT, false, { 'V' }, "V", "verify", "read the records again and verify "
							       "them" },
	{ REQ_ENTER, 0, AUDIT, false, { K_ENTER, '\n' }, "Enter", "open",
	  "list the actions of the session; in the list: replay the screen from there" },
	{ REQ_AGAIN, 0, WEAK, false, { 'r' }, "r", "again",
	  "search again, with the current tables" },
	{ REQ_ENTER, 0, WEAK, false, { K_ENTER, '\n' }, "Enter", "go there",
	  "go to the link or switch that would fail" },
	{ REQ_ENTER, 0, CAMPAIGN, false, { K_ENTER, '\n' }, "Enter", "open",
	  "failures: open the damaged fabric with its tables in a console of its own" },
	{ REQ_AGAIN, 0, CAMPAIGN, false, { 'r' }, "r", "again", "read the folder again" },
	{ REQ_ENTER, 0, EVENTS, false, { K_ENTER, '\n' }, "Enter", "go there",
	  "go to the link, switch or job of the event" },
	{ REQ_EVENT, 0, EVENTS, false, { 'H' }, "H", "moment",
	  "go back in the history to the moment of the event" },
	{ REQ_SORT, 0, OVERVIEW, false, { 's', K_F6 }, "s", "sort", "sort in the full table of "
								    "links or jobs" },
	{ REQ_FILTER, 0, OVERVIEW, false, { '/', K_F4 }, "/", "filter", "filter in the full table of "
									"links or jobs" },
	{ REQ_FIND, 0, OVERVIEW, false, { 'f', K_F3 }, "f", NULL, "search in the full table as "
								  "you type" },
	{ REQ_SORT, 0, ROWS, false, { 's', K_F6 }, "s", "sort", "sort by a column, chosen from a "
								"list" },
	{ REQ_REVERSE, 0, ROWS, false, { 'S' }, "S", "reverse", "reverse the sort order" },
	{ REQ_FILTER, 0, VIEW_BIT(VIEW_HELP), false, { '/', K_F3, K_F4 }, "/", "search",
	  "show only the lines of this help that contain a word" },
	{ REQ_FILTER, 0, ROWS, false, { '/', K_F4 }, "/", "filter",
	  "show only rows that contain a text, or match an expression such as util>80 or "
	  "errors>0; Tab lists the names" },
	{ REQ_FIND, 0, ROWS, false, { 'f', K_F3 }, "f", "find", "search in the rows as you type" },
	{ REQ_FIND_NEXT, 0, ROWS, false, { 'n' }, "n", NULL,
	  "next match; without a search: next row with a problem" },
	{ REQ_FIND_PREV, 0, ROWS, false, { 'N' }, "N", NULL, "previous match" },
	{ REQ_SELECT, 0, ROWS, false, { ' ' }, "Space", "tag", "tag the row, or untag it" },
	{ REQ_TAGGED, 0, ROWS, false, { 'T' }, "T", NULL, "show tagged rows only, and back" },
	{ REQ_TAG_RANGE, 0, ROWS, false, { 'E' }, "E", NULL,
	  "tag all rows from the one tagged last to this one" },
	{ REQ_UNTAG, 0, ROWS, false, { K_CTRL('t') }, "Ctrl-T", NULL, "remove all tags" },
	{ REQ_PROBLEMS, 0, LINKS | EVENTS | AUDIT | SWITCHES | WEAK | CAMPAIGN, false, { '!' }, "!", "problems",
	  "only rows with a problem (of links: down, not responding, errors, reduced), and back" },
	{ REQ_PANE, 0, OVERVIEW, false, { K_TAB }, "Tab", "pane", "next pane" },

	/* moving */
	{ REQ_UP, 0, MOVING, false, { K_UP, 'k' }, "Up k", NULL, "up" },
	{ REQ_DOWN, 0, MOVING, false, { K_DOWN, 'j' }, "Down j", NULL, "down" },
	{ REQ_LEFT, 0, HEAT | TOPO | SWITCHES | PATHS, false, { K_LEFT, 'h' }, "Left h", NULL, "left" },
	{ REQ_RIGHT, 0, HEAT | TOPO | SWITCHES | PATHS, false, { K_RIGHT, 'l' }, "Right l", NULL, "right" },
	{ REQ_PAGE_UP, 0, MOVING, false, { K_PGUP, K_CTRL('b') }, "PgUp", NULL, "one page up" },
	{ REQ_PAGE_DOWN, 0, MOVING, false, { K_PGDN, K_CTRL('f') }, "PgDn", NULL,
	  "one page down" },
	{ REQ_TOP, 0, MOVING, false, { 'g', K_HOME }, "g Home", NULL, "first row" },
	{ REQ_BOTTOM, 0, MOVING, false, { 'G', K_END }, "G End", NULL, "last row" },
	{ REQ_ENTER, 0, PREVIEW, false, { K_ENTER, '\n' }, "Enter", NULL, "compute a plan with the engine under the cursor" },
	{ REQ_ENTER, 0, JOBS, false, { K_ENTER, '\n' }, "Enter", "mark links",
	  "mark the links of this job in all views; again, or Esc: remove the mark" },
	{ REQ_ENTER, 0, HEAT | LINKS | OVERVIEW | TOPO | SWITCHES | PATHS, false, { K_ENTER, '\n' }, "Enter",
	  "open", "open what is under the cursor" },
	{ REQ_BACK, 0, 0, false, { K_ESC, K_BACKSPACE, 'u', 8 }, "Esc u", NULL,
	  "back; leave a filter or text entry" },

	/* everywhere */
	{ REQ_VIEW, VIEW_OVERVIEW, 0, false, { '1' }, "1", NULL, "overview" },
	{ REQ_VIEW, VIEW_HEATMAP, 0, false, { '2' }, "2", NULL, "heatmap of the links" },
	{ REQ_VIEW, VIEW_LINKS, 0, false, { '3' }, "3", NULL, "table of the links" },
	{ REQ_VIEW, VIEW_SWITCHES, 0, false, { '4' }, "4", NULL, "switches: ports, LFT, SL2VL, VLs" },
	{ REQ_VIEW, VIEW_JOBS, 0, false, { '5' }, "5", NULL, "jobs and the links they use" },
	{ REQ_VIEW, VIEW_PREVIEW, 0, false, { '6' }, "6", "reroute",
	  "engines: compute another routing and compare it with the current one" },
	{ REQ_VIEW, VIEW_APPLY, 0, false, { '7' }, "7", NULL,
	  "apply a plan to the switches" },
	{ REQ_VIEW, VIEW_EVENTS, 0, false, { '8' }, "8", NULL, "what happened" },
	{ REQ_VIEW, VIEW_AUDIT, 0, false, { '9' }, "9", NULL, "recorded sessions: list, verify, "
							      "replay" },
	{ REQ_VIEW, VIEW_PATHS, 0, false, { '0' }, "0", NULL, "paths, hop by hop" },
	{ REQ_VIEW, VIEW_TOPOLOGY, 0, false, { 't' }, "t", NULL, "drawing of the topology" },
	{ REQ_VIEW, VIEW_WEAK, 0, false, { 'W' }, "W", NULL,
	  "what the failure of each cable and switch would cost after a repair" },
	{ REQ_VIEW, VIEW_CAMPAIGN, 0, false, { 'K' }, "K", NULL,
	  "campaigns: what replay, failures or campaign has written into a folder" },
	{ REQ_FREEZE, 0, 0, false, { 'Z' }, "Z", "freeze", "freeze the display; again: resume" },
	{ REQ_HIST_BACK, 0, 0, false, { '[' }, "[", "history", "one sample back in the history" },
	{ REQ_HIST_FORWARD, 0, 0, false, { ']' }, "]", NULL, "one sample forward" },
	{ REQ_HIST_BACK5, 0, 0, false, { '{' }, "{", NULL, "five samples back" },
	{ REQ_HIST_FORWARD5, 0, 0, false, { '}' }, "}", NULL, "five samples forward" },
	{ REQ_EVENT_PREV, 0, 0, false, { '(' }, "(", NULL, "back to the moment of the event before" },
	{ REQ_EVENT_NEXT, 0, 0, false, { ')' }, ")", NULL, "forward to the moment of the next event" },
	{ REQ_PLAY, 0, 0, false, { '.' }, ".", NULL,
	  "play the history from this moment on, as fast as by :play SPEED; again: stop" },
	{ REQ_LIVE, 0, 0, false, { 'L' }, "L", NULL, "back to live, from the history or a frozen "
						     "display" },
	{ REQ_BOOKMARK, 0, 0, false, { 'B' }, "B", NULL, "bookmark this moment" },
	{ REQ_BOOKMARKS, 0, 0, false, { 'b' }, "b", NULL,
	  "list the bookmarks, and go to the previous one" },
	{ REQ_FASTER, 0, 0, false, { '+' }, "+", NULL, "shorter poll interval" },
	{ REQ_SLOWER, 0, 0, false, { '-' }, "-", NULL, "longer poll interval" },
	{ REQ_POLL, 0, 0, false, { K_F5 }, "F5", NULL,
	  "poll the counters now; also restarts stopped work" },
	{ REQ_STOP, 0, 0, false, { K_CTRL('x') }, "Ctrl-X", NULL,
	  "stop the computation shown in the last line" },
	{ REQ_SWEEP, 0, 0, false, { K_CTRL('r') }, "Ctrl-R", NULL, "discover the fabric again; "
								   "Esc stops it" },
	{ REQ_TABLES, 0, 0, false, { 'M' }, "M", NULL,
	  "read the missing SL2VL tables, or all tables again; while it runs: stop, as Esc does" },
	{ REQ_UNITS, 0, 0, false, { 'U' }, "U", NULL, "GB/s or Gb/s" },
	{ REQ_PALETTE, 0, 0, false, { 'p' }, "p", NULL, "next palette" },
	{ REQ_PALETTE_PICK, 0, 0, false, { 'P' }, "P", NULL, "choose a palette: Tab shows the "
							     "next one" },
	{ REQ_SNAPSHOT, 0, ~PREVIEW, false, { 'w' }, "w", "snapshot",
	  "save everything known to a folder, for --load" },
	{ REQ_COLUMN_MENU, 0, ROWS, false, { 'C' }, "C", "columns",
	  "choose the columns of the table and their order" },
	{ REQ_COPY, 0, ROWS, false, { 'y' }, "y", NULL,
	  "copy the names of tagged rows, or of this row, to the clipboard" },
	{ REQ_COMMAND, 0, 0, false, { ':' }, ":", "command",
	  "command line: everything that keys do, and more; Tab completes" },
	{ REQ_APPLY_NOTE, 0, 0, false, { 'i' }, "i", NULL,
	  "write a note on the link, switch, host, job or event under the cursor, else on this moment" },
	{ REQ_SEARCH, 0, 0, false, { 'a', K_CTRL('p') }, "a", NULL,
	  "search everything and go there: type parts of the name of a job, switch, host, link, view, "
	  "command or bookmark" },
	{ REQ_SETTINGS, 0, 0, false, { K_F2 }, "F2", "settings",
	  "change and save settings: interval, units, palette, columns, sorting, limits" },
	{ REQ_FABRIC, 0, 0, false, { '`' }, "`", NULL,
	  "with several fabrics (--tab): the next one; :fabric NAME goes to one" },
	{ REQ_REDRAW, 0, 0, false, { K_CTRL('l') }, "Ctrl-L", NULL, "redraw the screen" },
	{ REQ_SUSPEND, 0, 0, false, { K_CTRL('z') }, "Ctrl-Z", NULL,
	  "suspend to the shell; fg returns" },
	{ REQ_HELP, 0, 0, false, { '?', K_F1 }, "?", "help", "this list" },
	{ REQ_DETACH, 0, 0, false, { 'D' }, "D", NULL,
	  "quit; an open update continues with its watchdog, which rolls it back at the deadline: "
	  "asks for Y" },
	{ REQ_QUIT, 0, 0, false, { 'q', K_CTRL('c'), K_F10 }, "q", "quit",
	  "close what is open; in a main view: quit" },
};
/* clang-format on */

#define NBINDING (sizeof(bindings) / sizeof(bindings[0]))

const struct binding *keymap_default(size_t *n)
{
	*n = NBINDING;
	return bindings;
}

static struct binding in_force[NBINDING];

const char *keymap_name(const struct binding *b)
{
	return b->req == REQ_COMMAND ? "command" : command_doing(b->req, b->view);
}

const struct binding *keymap_all(size_t *n)
{
	if (!in_force[0].req) {
		memcpy(in_force, bindings, sizeof(in_force));
		key_hints_use(in_force, NBINDING, keymap_name);
	}
	*n = NBINDING;
	return in_force;
}

void keymap_use(const struct binding *rows)
{
	static char shown[NBINDING][KEYMAP_SHOWN];

	for (size_t i = 0; i < NBINDING; i++) {
		in_force[i] = bindings[i];
		if (rows[i].shown == bindings[i].shown)
			continue;
		snprintf(shown[i], sizeof(shown[i]), "%s", rows[i].shown);
		memcpy(in_force[i].keys, rows[i].keys, sizeof(in_force[i].keys));
		in_force[i].shown = shown[i];
	}
	key_hints_use(in_force, NBINDING, keymap_name);
}

static bool keymap_binding_has(const struct binding *b, uint32_t key)
{
	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (b->keys[i] == key)
			return true;
	return false;
}

struct keymap_row {
	enum req req;
	uint32_t keys[8]; /* 0 behind the last */
};

static const struct keymap_row typing_rows[] = {
	{ REQ_ENTER, { K_ENTER, '\n' } },
	{ REQ_BACK, { K_ESC, K_CTRL('c') } },
	{ REQ_ERASE, { K_BACKSPACE, 8 } },
	{ REQ_ERASE_NEXT, { K_DELETE, K_CTRL('d') } },
	{ REQ_ERASE_WORD, { K_CTRL('w') } },
	{ REQ_ERASE_ALL, { K_CTRL('u') } },
	{ REQ_PANE, { K_TAB } },
	{ REQ_CHOICE_BACK, { K_BACKTAB } },
	{ REQ_UP, { K_UP, K_CTRL('p') } },
	{ REQ_DOWN, { K_DOWN, K_CTRL('n') } },
	{ REQ_LEFT, { K_LEFT, K_CTRL('b') } },
	{ REQ_RIGHT, { K_RIGHT, K_CTRL('f') } },
	{ REQ_TOP, { K_HOME, K_CTRL('a') } },
	{ REQ_BOTTOM, { K_END, K_CTRL('e') } },
	{ REQ_REDRAW, { K_CTRL('l') } },
	{ 0 },
};

static const struct keymap_row menu_rows[] = {
	{ REQ_UP, { K_UP, 'k' } },
	{ REQ_DOWN, { K_DOWN, 'j' } },
	{ REQ_LEFT, { K_LEFT, 'h' } },
	{ REQ_RIGHT, { K_RIGHT, 'l' } },
	{ REQ_PAGE_UP, { K_PGUP, K_CTRL('b') } },
	{ REQ_PAGE_DOWN, { K_PGDN, K_CTRL('f') } },
	{ REQ_TOP, { K_HOME, 'g' } },
	{ REQ_BOTTOM, { K_END, 'G' } },
	{ REQ_ENTER, { K_ENTER, '\n' } },
	{ REQ_SELECT, { ' ' } },
	{ REQ_BACK, { K_ESC, K_BACKSPACE, 8, 'u', 'q', K_F10, K_CTRL('c'), K_F2 } },
	{ REQ_REDRAW, { K_CTRL('l') } },
	{ REQ_SUSPEND, { K_CTRL('z') } },
	{ REQ_CLICK, { K_CLICK } },
	{ REQ_WHEEL_UP, { K_WHEEL_UP } },
	{ REQ_WHEEL_DOWN, { K_WHEEL_DOWN } },
	{ 0 },
};

/* What is in no row is a character of its own. */
static void keymap_by_rows(struct input *out, const struct keymap_row *row, uint32_t key)
{
	memset(out, 0, sizeof(*out));
	for (; row->keys[0]; row++)
		for (size_t i = 0; i < sizeof(row->keys) / sizeof(row->keys[0]) && row->keys[i];
		     i++)
			if (row->keys[i] == key) {
				out->req = row->req;
				return;
			}
	if (key >= ' ' && key < K_UP) {
		out->req = REQ_CHAR;
		out->ch = key;
	}
}

void keymap_menu(struct input *out, uint32_t key)
{
	keymap_by_rows(out, menu_rows, key);
}

void keymap_translate(struct input *out, uint32_t key, enum view_id view, bool typing, bool rw)
{
	const struct binding *all;
	size_t n;

	memset(out, 0, sizeof(*out));
	if (key == K_NONE)
		return;
	if (key >= K_CLICK && key <= K_WHEEL_DOWN) {
		out->req = REQ_CLICK + (enum req)(key - K_CLICK);
		return;
	}
	if (typing) {
		keymap_by_rows(out, typing_rows, key);
		return;
	}
	all = keymap_all(&n);
	for (size_t i = 0; i < n; i++) {
		const struct binding *b = &all[i];

		if ((b->views && !(b->views & VIEW_BIT(view))) || !keymap_binding_has(b, key))
			continue;
		out->req = b->req;
		out->view = b->view;
		out->esc = key == K_ESC;
		out->refused_ro = b->rw && !rw;
		return;
	}
}
