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
	size_t size;		 /* of its own part of the ui, zeroed at the start */
	void (*done)(void *own); /* may be NULL */

	/* r: what lies between the tabs and the footer. */
	void (*draw)(void *own, struct ui *ui, struct canvas *c, struct rect r,
		     const struct state *s);
	/* Fills out for what is the application's; true when the input meant something here. */
	bool (*input)(void *own, struct ui *ui, const struct input *in, const struct state *s,
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
	/* Its table, see views/table/table.h; NULL: it has none now.  The ui does filter, search,
	 * sorting, tags, columns and the mouse for it, and its context.  May be NULL. */
	struct table *(*table)(void *own, const struct table_ops **ops);
};

extern const struct view view_overview, view_heatmap, view_links, view_jobs, view_preview,
	view_apply, view_events, view_help, view_topology, view_switches, view_paths, view_sessions;

/* NULL: not in this version. */
const struct view *view_find(enum view_id id);

/* What views share through the ui. */
const struct binding *ui_bindings(const struct ui *ui, size_t *n);
const struct fabric_summary *ui_survey(const struct ui *ui); /* of the state being drawn */
enum view_id ui_from(const struct ui *ui);		     /* the view that Esc leads back to */
bool ui_bits(const struct ui *ui);			     /* rates in Gb/s instead of GB/s */
enum palette ui_palette(const struct ui *ui);
enum history_metric ui_past(const struct ui *ui); /* what the past of channels is shown of */
void ui_past_set(struct ui *ui, enum history_metric m);
/* For REQ_METRIC where that chooses it: by name, or the next; false: no such, as is said. */
bool ui_past_choose(struct ui *ui, const struct input *in);
uint32_t ui_selected_chan(const struct ui *ui);	  /* FAB_NONE: none */
uint32_t ui_selected_switch(const struct ui *ui); /* FAB_NONE: none */
void ui_select_switch(struct ui *ui, uint32_t sw);
uint64_t ui_selected_job(const struct ui *ui); /* id of the job to be highlighted; 0: none */
void ui_select_job(struct ui *ui, uint64_t id);
/* Ends of the path to be shown: an end as in fabric/model/path.h and a LID; FAB_NONE and 0: not
 * chosen. */
struct path_ends {
	uint32_t src;
	uint16_t dlid;
};
struct path_ends ui_path_ends(const struct ui *ui);
void ui_select_path(struct ui *ui, struct path_ends ends);
/* What is under the cursor of a view: the next preview routes around it, or no longer. */
void ui_exclude_switch(struct ui *ui, const struct state *s, uint32_t sw);
void ui_exclude_cable(struct ui *ui, const struct state *s, uint32_t chan);
void ui_compare(struct ui *ui, bool on); /* the heatmap shows what the preview changes */
bool ui_comparing(const struct ui *ui);

/* Of the job to be highlighted: how many links it has; 0 also while they are not known. */
uint32_t ui_job_links(const struct ui *ui);
/* Its routes over a channel; 0 without a job. */
uint32_t ui_job_routes(const struct ui *ui, uint32_t chan);
/* A job is chosen, its links are known and this is none of them: to be drawn dim. */
bool ui_job_dims(const struct ui *ui, uint32_t chan);

/* Tagged rows of links, switches and jobs, wherever they are shown.  A cable is tagged with either
 * of its directions. */
bool ui_chan_tagged(const struct ui *ui, uint32_t chan);
bool ui_switch_tagged(const struct ui *ui, uint32_t sw);
bool ui_job_tagged(const struct ui *ui, uint64_t id);
bool ui_any_tagged(const struct ui *ui);     /* link or switch */
uint64_t ui_tag_serial(const struct ui *ui); /* another one when tags have changed */

/* Left of what is tagged, where '+' would be a level. */
#define TAG_POINT '>'

/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);

#endif
