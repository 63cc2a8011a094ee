/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heatmap_priv: the view of the heatmap, shared by its files: heatmap.c (what is chosen, keys) and
 * heatmap_draw.c. */
#ifndef VIEWS_HEATMAP_HEATMAP_PRIV_H
#define VIEWS_HEATMAP_HEATMAP_PRIV_H

#include "views/canvas/list.h"
#include "views/canvas/view.h"
#include "views/heatmap/heat_cables.h"
#include "views/links/chan_detail.h"

/* A rule and what is below it. */
static inline int heatmap_detail_lines(struct rect r)
{
	return list_detail_lines(r.h - 1, 1 + CHAN_DETAIL_LINES);
}

struct heatmap_ui {
	struct heat_layout *layout;
	uint32_t plane;
	enum chan_metric metric, drawn; /* drawn: another one while a plan is compared */
	uint8_t dir;
	uint32_t zoom;	   /* switches per cell; 0: not chosen yet */
	uint32_t row, col; /* cursor, in rows as shown and columns of the plane */
	enum heat_sort sort;
	struct heat_rows rows;
	const struct rates *sorted_by; /* rates that the rows were sorted by; not owned */
	int64_t moved_s;
	struct heat_window window;
	struct heat_cells cells;
	struct heat_cables cables;
	uint32_t told; /* channel last told to the other views, or taken from them */
};

static inline const struct heat_plane *heatmap_plane(const struct heatmap_ui *u)
{
	return &u->layout->plane[u->plane];
}

bool heatmap_shows_delta(const struct shell *shell, const struct state *s);
struct heat_sight heatmap_sight(const struct heatmap_ui *u, const struct shell *shell,
				const struct state *s);

/* The matrix with title, heads, labels and the cell under the cursor; or the cables of a cell. */
void heatmap_matrix(struct heatmap_ui *u, const struct shell *shell, struct canvas *c,
		    struct rect r, const struct state *s);
void heatmap_cables(struct heatmap_ui *u, const struct shell *shell, struct canvas *c,
		    struct rect r, const struct state *s);
void heatmap_legend(const struct heatmap_ui *u, const struct shell *shell, const struct state *s,
		    struct canvas *c, struct rect r);
int heatmap_label_width(const struct heatmap_ui *u, const struct state *s, struct rect r);

#endif
