/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of pin share; nobody else includes this. */
#ifndef ENGINES_LIMITS_PIN_PRIV_H
#define ENGINES_LIMITS_PIN_PRIV_H

#include "engines/graph/graph.h"
#include "engines/limits/pin.h"

#define PIN_DIFFERS 255 /* an SL has no VL of its own: it depends on the hop */

struct pinned {
	const struct fabric *f;
	const struct tables *cur; /* installed */
	const bool *pin;	  /* by end */
	const char *text;	  /* for people; NULL: there is none */
	uint32_t nend, hosts;	  /* pinned */
	unsigned vls;		  /* that traffic may use */
	struct dest *dest;	  /* their traffic LIDs, by end, then LID */
	uint32_t n;
	uint16_t sls, on_vls; /* bits: SLs and VLs of their paths */
	uint8_t vl[FAB_SLS];  /* by SL: its VL wherever traffic goes; or PIN_DIFFERS */
	uint16_t rises[16];   /* by VL: bits of the VLs that a packet may be on one hop later */
	bool in_order;	      /* those lead nowhere back to a VL that was left */
	struct turns turns;
	uint16_t *turn; /* by turn: VLs on which a pinned path takes it */
};

/* pin_look: fills what follows dest; errors as those of pin_new(). */
int pin_look(struct pinned *p, const struct engine_params *params, struct progress *progress,
	     struct err *err);

/* pin_sls: the SLs of the pinned routes into t, whose other SLs stay, in a form that holds both. */
void pin_put_sls(const struct pinned *p, struct tables *t);
/* Makes the SL2VL of t agree with the installed one for the pinned SLs; other paths that have
 * one of these get a free SL with their VLs.  False where there are not enough of them. */
bool pin_put_sl2vl(const struct pinned *p, struct tables *t);
/* SL for each of n VLs that all traffic of that SL stays on: sl_of[vl].  False: too few SLs. */
bool pin_sl_of_vl(const struct pinned *p, uint8_t *sl_of, unsigned n);
/* t->sl holds VLs: makes them SLs by sl_of, with the SL2VL that goes with them. */
void pin_name_sls(const struct pinned *p, struct tables *t, const uint8_t *sl_of, unsigned n);

/* pin_layers: layers for the other paths, beside the pinned ones. */
int pin_layers(const struct pinned *p, struct tables *t, const struct engine_params *params,
	       struct progress *progress, struct err *err);

#endif
