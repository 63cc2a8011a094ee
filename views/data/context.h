/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context: what the operator has chosen and how figures are shown, shared by all views: the view
 * in sight, what is selected, highlighted and tagged, units, colours, the options of the next
 * preview, and one line to say something in.  It lies under the views and knows none of them.
 */
#pragma once

#include "views/canvas/palette.h"
#include "views/data/job_highlight.h"
#include "views/data/state/preview_options.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"
#include "views/data/summary/fabric_summary.h"
#include "views/data/summary/history.h"
#include "views/data/tags.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends of the path to be shown: an end as in fabric/model/tables/path.h and a LID; FAB_NONE and 0:
 * not chosen. */
struct path_ends {
	uint32_t src;
	uint16_t dlid;
};

#define CONTEXT_TRAIL 8

/* Views read all of it, and write what they let the operator choose. */
struct context {
	const struct binding *bindings; /* the keymap, borrowed */
	size_t nbindings;
	struct fabric_summary summary; /* of the state being drawn */

	enum view_id view;		   /* in sight: context_goto() */
	enum view_id trail[CONTEXT_TRAIL]; /* where Esc leads back to */
	bool followed[CONTEXT_TRAIL];	   /* from there by what was shown, not by its number */
	uint32_t ntrail;

	bool bits; /* rates in Gb/s instead of GB/s */
	enum palette palette;
	enum history_metric metric; /* whose history is shown beside links */
	bool compare;		    /* the heatmap shows what the preview changes */

	uint32_t chan, sw;    /* selected; FAB_NONE: none */
	struct context_row {  /* under the cursor of a view without a table, as drawn last */
		uint32_t sw;  /* a port of this switch; FAB_NONE: none */
		uint8_t port; /* 0: the switch */
		uint64_t job; /* id; 0: none */
		enum view_id view;
	} row;
	struct path_ends path;
	struct job_highlight job;
	struct tags tags;
	struct preview_options options; /* of the next preview */
	struct {			/* the exclude list when tagged rows were excluded last */
		char what[PATH_TEXT], before[PATH_TEXT], after[PATH_TEXT];
	} tagged;
	char note[256]; /* to the operator, until the next key; "" none */
};

void context_init(struct context *ctx, const struct binding *bindings, size_t n);
void context_done(struct context *ctx);

/* Follows the state: what is selected and is not there any more is deselected.  Cheap when nothing
 * changed. */
void context_update(struct context *ctx, const struct state *s);

/* One line to the operator, above the footer until the next key ("snapshot saved ..."). */
void context_say(struct context *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void context_goto(struct context *ctx, enum view_id view);   /* by what is shown */
void context_choose(struct context *ctx, enum view_id view); /* by its name or number */
void context_back(struct context *ctx);			     /* as Esc does */
enum view_id context_from(const struct context *ctx);	     /* the view that Esc leads back to */
bool context_followed(const struct context *ctx);	     /* came from there by context_goto() */

/* Both tell the operator. */
void context_set_units(struct context *ctx, bool bits);
void context_set_palette(struct context *ctx, enum palette palette);
/* For REQ_METRIC where that chooses the history: by name, or the next; false: no such, as is
 * said. */
bool context_choose_metric(struct context *ctx, const struct input *in);

void context_select_job(struct context *ctx, uint64_t id); /* highlighted everywhere; 0: none */
/* Routes of the highlighted job over a channel; 0 without a job. */
uint32_t context_job_routes(const struct context *ctx, uint32_t chan);
/* A job is highlighted, its links are known and this is none of them: to be drawn dim. */
bool context_dims(const struct context *ctx, uint32_t chan);
