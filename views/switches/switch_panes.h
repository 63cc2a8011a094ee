/* SPDX-License-Identifier: GPL-2.0-or-later */
/* switch_panes: what is inside one switch: its ports as a front panel, its LFT, its SL2VL tables
 * and the virtual lanes of its links.  Parts of the view of switches. */
#pragma once

#include "views/canvas/list.h"
#include "views/data/chan_value.h"
#include "views/view.h"

/* What every pane is given. */
struct pane_in {
	const struct context *ctx;
	const struct state *s;
	uint32_t sw;
};

/* Figure of any port on the scale of colours; those of routes only for ports with a channel. */
struct chan_value port_value(enum chan_metric m, const struct pane_in *in, uint32_t p);
/* What is at the other end of a port: "spine3/17", "n0031", "" nothing.  Returns buf. */
const char *peer_label(char *buf, size_t len, const struct fabric *f, uint32_t sw, uint32_t p);

/* The front panel: odd ports above, even ones below, in the colour of a figure; port: under the
 * cursor.  Returns the number of lines used. */
int port_grid_draw(const struct pane_in *in, struct canvas *c, struct rect r, enum chan_metric m,
		   uint32_t port);

/* The port at a place of the screen, r as when it was drawn; 0: none is there. */
uint32_t port_grid_at(const struct pane_in *in, struct rect r, int x, int y);

/* The mouse in a list of n rows that were drawn in rows: the wheel moves by three, a click puts the
 * cursor there.  False: not in it.  again: clicked where the cursor was already. */
bool pane_mouse(struct list *l, uint32_t n, struct rect rows, const struct input *key, bool *again);

/* LFT, LID by LID or port by port. */
struct lft_pane {
	struct list list;
	struct rect at;	       /* where rows were drawn */
	bool by_port, changed; /* only what the plan changes */
	struct entry find;
	uint32_t *row; /* LIDs, or ports */
	uint32_t nrow, cap;
	/* what the rows were made from */
	const void *fabric, *tables, *plan;
	uint32_t sw;
	bool made_by_port, made_changed;
	char made_text[128];
};

void lft_pane_draw(struct lft_pane *p, const struct pane_in *in, struct canvas *c, struct rect r);
bool lft_pane_input(struct lft_pane *p, struct context *ctx, const struct pane_in *in,
		    const struct input *key);
void lft_pane_done(struct lft_pane *p);

/* SL2VL: rows are input ports, for one output port. */
struct sl2vl_pane {
	struct list list;
	struct rect at; /* where rows were drawn; the output port is above them */
	uint32_t nrow;
	uint32_t out; /* output port */
};

void sl2vl_pane_draw(struct sl2vl_pane *p, const struct pane_in *in, struct canvas *c,
		     struct rect r);
bool sl2vl_pane_input(struct sl2vl_pane *p, const struct pane_in *in, const struct input *key);

/* Routes by virtual lane, a row per link. */
struct lanes_pane {
	struct list list;
	struct rect at;
};

void lanes_pane_draw(struct lanes_pane *p, const struct pane_in *in, struct canvas *c,
		     struct rect r);
bool lanes_pane_input(struct lanes_pane *p, struct context *ctx, const struct pane_in *in,
		      const struct input *key);
