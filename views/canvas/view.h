/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: one screen.  A function from read-only state to cells on a canvas, and one from a
 * translated key to what is wanted; it never reaches a terminal, a wire or a file.
 */
#ifndef VIEWS_CANVAS_VIEW_H
#define VIEWS_CANVAS_VIEW_H

#include "views/canvas/canvas.h"
#include "views/data/fabric_summary.h"
#include "views/data/request.h"
#include "views/data/state.h"
#include "views/shell/shell.h"

#include <stdbool.h>
#include <stddef.h>

struct table;
struct table_ops;

struct view {
	const char *name;	 /* for the tabs: "Over" */
	const char *title;	 /* for the first line: "OVERVIEW" */
	size_t size;		 /* of its own part of the shell, zeroed at the start */
	void (*done)(void *own); /* may be NULL */

	/* r: what lies between the tabs and the footer. */
	void (*draw)(void *own, struct shell *shell, struct canvas *c, struct rect r,
		     const struct state *s);
	/* Fills out for what is the application's; true when the input meant something here. */
	bool (*input)(void *own, struct shell *shell, const struct input *in, const struct state *s,
		      struct request *out);
	/* True while keys are text (filter, confirmation).  May be NULL. */
	bool (*typing)(const void *own, const struct state *s);
	/* A short word on what is shown (metric, sort, filter), for the last line.  May be NULL. */
	void (*context)(const void *own, const struct state *s, char *buf, size_t len);
	/* What a key does here now, for the line of keys; NULL: nothing, it is not named.  May be
	 * NULL: always as the keymap has it. */
	const char *(*label)(const void *own, const struct binding *b);
	/* What :layout may be given, the i-th; NULL: no more.  May be NULL. */
	const char *(*layout)(const void *own, const struct state *s, uint32_t i);
	/* Its table, see views/table/table.h; NULL: it has none now.  The shell does filter,
	 * search, sorting, tags, columns and the mouse for it, and its context.  May be NULL. */
	struct table *(*table)(void *own, const struct table_ops **ops);
};

extern const struct view view_overview, view_heatmap, view_links, view_jobs, view_preview,
	view_apply, view_events, view_help, view_topology, view_switches, view_paths, view_sessions;

/* NULL: not in this version. */
const struct view *view_find(enum view_id id);

/* What views share through the shell. */
const struct binding *shell_bindings(const struct shell *shell, size_t *n);
const struct fabric_summary *shell_survey(const struct shell *shell); /* of the state being drawn */
enum view_id shell_from(const struct shell *shell); /* the view that Esc leads back to */
bool shell_bits(const struct shell *shell);	    /* rates in Gb/s instead of GB/s */
enum palette shell_palette(const struct shell *shell);
enum history_metric
shell_past(const struct shell *shell); /* what the past of channels is shown of */
void shell_past_set(struct shell *shell, enum history_metric m);
/* For REQ_METRIC where that chooses it: by name, or the next; false: no such, as is said. */
bool shell_past_choose(struct shell *shell, const struct input *in);
uint32_t shell_selected_chan(const struct shell *shell);   /* FAB_NONE: none */
uint32_t shell_selected_switch(const struct shell *shell); /* FAB_NONE: none */
void shell_select_switch(struct shell *shell, uint32_t sw);
uint64_t
shell_selected_job(const struct shell *shell); /* id of the job to be highlighted; 0: none */
void shell_select_job(struct shell *shell, uint64_t id);
/* Ends of the path to be shown: an end as in fabric/model/path.h and a LID; FAB_NONE and 0: not
 * chosen. */
struct path_ends {
	uint32_t src;
	uint16_t dlid;
};
struct path_ends shell_path_ends(const struct shell *shell);
void shell_select_path(struct shell *shell, struct path_ends ends);
/* What is under the cursor of a view: the next preview routes around it, or no longer. */
void shell_exclude_switch(struct shell *shell, const struct state *s, uint32_t sw);
void shell_exclude_cable(struct shell *shell, const struct state *s, uint32_t chan);
void shell_compare(struct shell *shell, bool on); /* the heatmap shows what the preview changes */
bool shell_comparing(const struct shell *shell);

/* Of the job to be highlighted: how many links it has; 0 also while they are not known. */
uint32_t shell_job_links(const struct shell *shell);
/* Its routes over a channel; 0 without a job. */
uint32_t shell_job_routes(const struct shell *shell, uint32_t chan);
/* A job is chosen, its links are known and this is none of them: to be drawn dim. */
bool shell_job_dims(const struct shell *shell, uint32_t chan);

/* Tagged rows of links, switches and jobs, wherever they are shown.  A cable is tagged with either
 * of its directions. */
bool shell_chan_tagged(const struct shell *shell, uint32_t chan);
bool shell_switch_tagged(const struct shell *shell, uint32_t sw);
bool shell_job_tagged(const struct shell *shell, uint64_t id);
bool shell_any_tagged(const struct shell *shell);     /* link or switch */
uint64_t shell_tag_serial(const struct shell *shell); /* another one when tags have changed */

/* Left of what is tagged, where '+' would be a level. */
#define TAG_POINT '>'

/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);

#endif
