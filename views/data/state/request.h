/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request: what an operator asks for.  Keys become requests through the keymap; a view
 * does what concerns only itself and hands the rest to the application.
 */
#pragma once

#include "views/data/state/preview_options.h"

#include <stdbool.h>
#include <stdint.h>

enum view_id {
	VIEW_PATHS,    /* key 0 */
	VIEW_OVERVIEW, /* key 1 */
	VIEW_HEATMAP,
	VIEW_LINKS,
	VIEW_SWITCHES,
	VIEW_JOBS,
	VIEW_PREVIEW,
	VIEW_APPLY,
	VIEW_EVENTS,
	VIEW_AUDIT,    /* key 9 */
	VIEW_TOPOLOGY, /* key t */
	VIEW_WEAK,     /* key W */
	VIEW_CAMPAIGN, /* key K */
	VIEW_HELP,     /* key ? */
	VIEW_COUNT
};

enum req {
	REQ_NONE,

	/* done by the views themselves */
	REQ_UP,
	REQ_DOWN,
	REQ_LEFT,
	REQ_RIGHT,
	REQ_PAGE_UP,
	REQ_PAGE_DOWN,
	REQ_TOP,
	REQ_BOTTOM,
	REQ_ENTER,
	REQ_BACK,
	REQ_PANE,
	REQ_CHOICE_BACK, /* while typing: the choice before, where REQ_PANE is the next */
	REQ_SORT,
	REQ_REVERSE,
	REQ_FILTER,
	REQ_FIND_NEXT,
	REQ_FIND_PREV,
	REQ_PROBLEMS,
	REQ_METRIC,
	REQ_DIRECTION,
	REQ_LAYOUT,
	REQ_ZOOM,
	REQ_ROWS, /* their order in the heatmap */
	REQ_PALETTE,
	REQ_COMPARE,
	REQ_FOLLOW,    /* to the other end of a cable */
	REQ_PATH_FROM, /* what is under the cursor becomes the source of a path, ... */
	REQ_PATH_TO,   /* ... or its destination */
	REQ_SELECT,    /* Space */
	REQ_OPTIONS,   /* edit the engine's options */
	REQ_AGAIN,     /* the same engine and options once more */
	REQ_IMPACT,    /* what it means for each job */
	REQ_DIFF,      /* what it changes, entry by entry */
	REQ_UNITS,
	REQ_CHAR,	/* text entry: input.ch */
	REQ_ERASE,	/* before the cursor */
	REQ_ERASE_WORD, /* the word before it */
	REQ_ERASE_NEXT, /* what the cursor is on */
	REQ_ERASE_ALL,
	REQ_YES,
	REQ_ROLLBACK_ASK,
	REQ_VIEW, /* input.view; also comes out of shell_input() for the application's information
		   */
	REQ_HELP,
	REQ_PALETTE_PICK,
	REQ_COMMAND,	 /* open the command line */
	REQ_SEARCH,	 /* the list of all that one may go to; input.text: as if typed */
	REQ_FIND,	 /* incremental search in the rows; n and N go on */
	REQ_TAGGED,	 /* tagged rows only, and back */
	REQ_TAG_RANGE,	 /* all rows from the one tagged last to this one */
	REQ_UNTAG,	 /* no row is tagged any more */
	REQ_GOTO,	 /* input.text: a node, or what a row is called */
	REQ_JOB,	 /* input.text: a job's id: highlighted in all views; "" none */
	REQ_EXCLUDE,	 /* input.text: for the next preview; "" what is under the cursor */
	REQ_PIN,	 /* the same for hosts whose paths stay */
	REQ_PATH,	 /* input.text: source and destination */
	REQ_COLUMNS,	 /* input.text: columns of the table, as in --fields; "" the usual ones */
	REQ_COLUMN_MENU, /* choose them from a list */
	REQ_SETTINGS,	 /* a list of those, to be changed there */
	REQ_CLICK,	 /* input.x, input.y: cell of the screen */
	REQ_WHEEL_UP,
	REQ_WHEEL_DOWN,

	/* handed to the application */
	REQ_QUIT,
	REQ_FREEZE, /* toggle */
	REQ_FASTER, /* shorter interval */
	REQ_SLOWER,
	REQ_POLL,   /* poll now; and begin again what REQ_STOP has ended */
	REQ_STOP,   /* end what is being computed */
	REQ_SWEEP,  /* discover the fabric again */
	REQ_TABLES, /* read the tables that are not known yet; or no longer */
	REQ_TABLES_END,
	REQ_SNAPSHOT,	 /* save what is shown */
	REQ_EXPORT,	 /* request.text: the file for what is in view */
	REQ_EXPORT_OVER, /* also where it is there */
	REQ_REDRAW,	 /* repaint the terminal */
	REQ_SUSPEND,
	REQ_PREVIEW_START, /* request.engine, .options */
	REQ_PREVIEW_CANCEL,
	REQ_OPTION_TRY,	    /* the same, and request.param, of which all likely values are tried */
	REQ_PLAN_SELECT,    /* request.plan */
	REQ_PLAN_REMOVE,    /* likewise */
	REQ_ORDER_AGAIN,    /* its order of writes is looked for, after that was ended */
	REQ_PLAN_SAVE,	    /* the selected one into the file request.text */
	REQ_TABLES_FILE,    /* a preview of the tables in the file input.text */
	REQ_APPLY_PREPARE,  /* the preview becomes the plan of the apply view */
	REQ_APPLY_START,    /* request.text: the fabric's name as typed */
	REQ_APPLY_KEEP,	    /* the same, for keeping the new routing */
	REQ_APPLY_ROLLBACK, /* confirmed; also of a journal that was found */
	REQ_APPLY_CLOSE,    /* a finished update is put away */
	REQ_APPLY_EXTEND,   /* more time until it is rolled back */
	REQ_APPLY_NOTE,	    /* request.text into the record; without: asks for it */
	REQ_APPLY_OVERRIDE, /* request.text: watch conditions, not looked at any more; likewise */
	REQ_HIST_BACK,	    /* one sample; request.count of them */
	REQ_HIST_FORWARD,
	REQ_HIST_BACK5,
	REQ_HIST_FORWARD5,
	REQ_LIVE,     /* back to the newest */
	REQ_BOOKMARK, /* this moment; request.text: its name, "" a number */
	REQ_AGAINST,  /* rates beside those of request.text, a time; "": none */
	REQ_PLAY,     /* from the moment shown on; request.text: times its speed, "" or no longer */
	REQ_EVENT,    /* the moment of the event under the cursor */
	REQ_EVENT_NEXT,	  /* of the next event, ... */
	REQ_EVENT_PREV,	  /* ... or of the one before */
	REQ_PEAK,	  /* when this session's samples had the most of request.text */
	REQ_AT,		  /* the sample at request.text, a time */
	REQ_BOOKMARKS,	  /* request.text: go there; "" the next one back */
	REQ_INTERVAL,	  /* request.text: seconds */
	REQ_ENGINE,	  /* request.text: compute a preview by the engine of this name */
	REQ_SET,	  /* request.text: NAME=VALUE, see the settings of the configuration file */
	REQ_COPY,	  /* request.text, or .names, into the clipboard of the terminal */
	REQ_KEEP,	  /* settings that were changed, into the configuration file */
	REQ_VERIFY,	  /* the records of view 9 */
	REQ_SESSION_OPEN, /* request.text: what was done in the session of this file */
	REQ_REPLAY,	  /* request.text: that file, a blank, and the seq to begin at */
	REQ_DETACH,	  /* leave; what is open goes on in its own process */
	REQ_WEAK,	  /* what failures would cost is looked for again */
	REQ_NOTE,	  /* request.note on what request.text says; its text "": none any more */
	REQ_VIEW_SAVE,	  /* request.saved: to be kept under its name */
	REQ_VIEW_DELETE,  /* request.text: the name of one */
	REQ_CAMPAIGN,	  /* request.text: the folder of a campaign, to be read; "" again */
	REQ_CELL,	  /* request.text: SEED,ENGINE,STEP of it, to be opened */
	REQ_MOMENT,	  /* request.text: step of a replay to be shown */
	REQ_UNPLUG,	  /* request.text: cables of a simulated fabric, out and ... */
	REQ_PLUG,	  /* ... in again */
	REQ_TOUR,	  /* it begins, where the fabric is simulated */
	REQ_FABRIC, /* request.text: the tab of this fabric, "next", "previous"; "": the next */
	REQ_ARM,    /* as with --rw from now on, where state.may_arm */
	REQ_COUNT
};

/* One key press, translated. */
struct input {
	enum req req;
	enum view_id view; /* REQ_VIEW */
	uint32_t ch;	   /* REQ_CHAR: the code point */
	bool esc;	   /* REQ_BACK by Esc, which also ends what runs */
	bool refused_ro;   /* the key needs --rw: the view says so and does nothing */
	const char *text;  /* argument of a command (":sort util"); NULL: a key, or none given */
	int x, y;	   /* REQ_CLICK, REQ_WHEEL_*: where, on the whole screen */
};

struct row_note;
struct saved_view;

/* What is left for the application. */
struct request {
	enum req type;
	enum view_id view;
	uint32_t engine; /* index in state.preview.engines */
	uint32_t plan;	 /* index in state.preview.list */
	struct preview_options options;
	enum param_id param; /* REQ_OPTION_TRY */
	char text[PATH_TEXT];
	const char *names; /* REQ_COPY: of tagged rows, a line for each, until the next input; NULL:
			      text */
	uint32_t nnames;
	const struct row_note *note;	/* REQ_NOTE: likewise */
	const struct saved_view *saved; /* REQ_VIEW_SAVE: until the next input */
};

/* One row of the keymap; footer and help are made from it. */
#define BINDING_KEYS 4
struct binding {
	enum req req;
	enum view_id view;	     /* REQ_VIEW */
	uint32_t views;		     /* VIEW_BIT()s where it holds; 0: everywhere */
	bool rw;		     /* changes the fabric: hidden without --rw */
	uint32_t keys[BINDING_KEYS]; /* key codes, 0-terminated if fewer */
	const char *shown;	     /* "PgUp", "g", ... */
	const char *label;	     /* a word or two for the footer; NULL: help only */
	const char *help;	     /* a sentence for the help view; NULL: not listed */
};

#define VIEW_BIT(v) (1u << (v))
