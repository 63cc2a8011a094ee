/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_priv: the view of the topology, shared by its files: topology.c (keys), topology_lines.c
 * (figures and cables), topology_draw.c (switches and what is around the picture). */
#pragma once

#include "views/canvas/line_canvas.h"
#include "views/canvas/list.h"
#include "views/data/chan_value.h"
#include "views/data/row_notes.h"
#include "views/topology/topology_layout.h"
#include "views/view.h"

#define STEPS  6
#define DETAIL 5 /* lines at the bottom: a rule and four */

enum lines { LINES_WORST, LINES_HERE, LINES_ALL, LINES_PATH, LINES_KINDS };

/* With more lines than that none can be followed from end to end: of bundles between blocks and of
 * cables those that are worst are drawn, in so many cells, and so many more for the switch under
 * the cursor; it is also what a key makes the terminal be sent.  Of fewer lines, too, where the
 * picture is not small: a cell takes seven bytes. */
#define MANY_LINES   1500
#define MANY_CELLS   500
#define BUNDLE_CELLS 1300
#define FEW_CELLS    680
#define STUB_CELLS   200
#define HERE_CELLS   250
#define DENSE_CELLS  2400
#define STUB	     2.5f /* rows that a line begins with */

/* Of more switches than that, a sign each, only those with hot lines have a colour. */
#define MANY_NODES 500

/* Below the picture of few lines, where the screen is large: the worst of them by name. */
#define WORST_ROWS    10
#define WORST_COLUMNS 3
#define WORST_LINES   (WORST_ROWS * WORST_COLUMNS)
#define WORST_HEIGHT  (WORST_ROWS + 1) /* a head */

/* One step of the zoom: what is drawn, and how many cells a unit of it takes. */
struct step {
	const struct topology_layout *p;
	float px, py;
	float y0; /* of the first row */
};

/* What the figures and the lines were made from. */
struct topology_inputs {
	const void *rates, *sample, *metrics, *after, *usage;
	enum chan_metric metric;
	enum palette palette;
	uint64_t job;
	const struct topology_layout *p;
};
struct layer_from {
	uint64_t serial;
	struct rect win;
	float left, top, px, py;
	enum lines lines;
	uint32_t cursor;
	bool glyphs;
	struct path_ends path;
	const void *tables;
};

struct topology_ui {
	struct topology_layout *fine, *blocks;
	struct step step[STEPS];
	uint32_t nstep, zoom;
	bool placed;	      /* the zoom was chosen */
	uint32_t cursor;      /* switch */
	uint32_t shared_chan; /* channel taken from other views last */
	uint32_t told_sw;
	enum chan_metric metric;
	bool chosen; /* the metric was, by the operator */
	enum lines lines;
	struct rect win;
	float left, top; /* cells out of sight */

	struct chan_value *edge, *node; /* worst of each */
	struct chan_value *leave;	/* of a node: worst to other planes; no glyph: none */
	struct topology_inputs made;
	uint64_t serial; /* of the figures */
	struct line_canvas all, here, tagged;
	struct layer_from drawn;
	uint32_t shown;			/* lines */
	uint32_t worst[WORST_LINES];	/* the worst of each of so many edges; FAB_NONE: no more */
	uint32_t of_level[HEAT_LEVELS]; /* lines whose worst cable is of that level */

	struct entry find;
};

static inline const struct topology_layout *shown(const struct topology_ui *u)
{
	return u->step[u->zoom].p;
}

static inline bool has_many_lines(const struct topology_ui *u)
{
	return shown(u)->nedge > MANY_LINES;
}

static inline uint32_t cursor_node(const struct topology_ui *u)
{
	return shown(u)->node_of[u->cursor];
}

static inline float place_x(const struct topology_ui *u, const struct topology_layout_node *n)
{
	return n->x * u->step[u->zoom].px - u->left;
}

static inline float place_y(const struct topology_ui *u, const struct topology_layout_node *n)
{
	return (n->y - u->step[u->zoom].y0) * u->step[u->zoom].py - u->top;
}

/* Worst of every line and switch, when something is new.  O(channels). */
void topology_metrics(struct topology_ui *u, const struct context *ctx, const struct state *s);
void topology_lines(struct topology_ui *u, const struct context *ctx, const struct state *s,
		    struct canvas *c, bool glyphs);
bool topology_node_tagged(const struct topology_ui *u, const struct context *ctx, uint32_t node);
/* A switch of it has a note. */
bool topology_node_noted(const struct topology_ui *u, const struct state *s, uint32_t node);

/* What there is to be drawn by topology_worst(): after the figures, when these are new. */
void topology_worst_find(struct topology_ui *u, const struct context *ctx, const struct state *s);
/* Lines that the list takes of a view of that size; 0: it has no room. */
int topology_worst_height(const struct topology_ui *u, struct rect r);
void topology_worst_draw(const struct topology_ui *u, const struct context *ctx,
			 const struct state *s, struct canvas *c, struct rect r);

void topology_nodes(struct topology_ui *u, const struct context *ctx, struct canvas *c,
		    const struct state *s);
/* How many lines there are of each level, at the end of the legend. */
void topology_counts(const struct topology_ui *u, struct canvas *c, struct rect r, int y);
void topology_title(const struct topology_ui *u, const char *note, const struct state *s,
		    struct canvas *c, struct rect r);
void topology_row_names(const struct topology_ui *u, struct canvas *c, struct rect r);
void topology_detail(const struct topology_ui *u, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r);

/* The picture has planes side by side. */
bool topology_has_planes(const struct topology_ui *u, const struct topology_kind *topology);
