/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * carry: tables of a fabric as they are on that fabric after cables, switches or hosts have gone,
 * come or moved: what still stands of them, for who repairs the rest.
 *
 * Switches, ports and end ports are found by GUID and port number, and LIDs that moved are
 * followed.  An entry over a cable that is not there any more, or leads to another switch, is none.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/endports.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CARRY_NAMES 400

struct carry_report {
	uint32_t switches_away, switches_came;
	uint32_t cables_away, cables_came;	/* between switches that are in both */
	uint32_t away, came, relabelled, moved; /* end ports; moved: on another switch or port */
	/* the first of what has gone: "leaf1/5-spine2/1, 0x0002c90300a1b2c3 and 3 more", or "";
	 * switches and end ports, which the fabric cannot name any more, by GUID */
	char gone[CARRY_NAMES];
};

/* "2 cables gone, 1 host port moved"; false, and "", where nothing differs. */
bool carry_report_text(char *buf, size_t size, const struct carry_report *r);

/*
 * t, of the fabric that was is of, on f; the caller owns one reference.  -ESTALE, with the reason:
 * was does not say which switches there were, too little of them is in f for another state of the
 * same fabric (no switch, or less than a quarter of the cables), or the LMC is another.
 * O(switches * LIDs).
 */
int tables_carry(struct tables **out, const struct fabric *f, const struct tables *t,
		 const struct endports *was, struct carry_report *report, struct err *err);

/* Carried tables of f get the entries that its switches hold, read from them, where these are the
 * same but for entries over cables that have gone, which switches keep.  False: others were
 * written, and t is as it was. */
bool carry_take_lfts(struct tables *t, const struct fabric *f, const struct tables *read);

/* For who takes over tables in another way.  from: by LID of f, the LID of t's fabric whose entries
 * it has; 0: none. */
void carry_row(uint8_t *to, const uint8_t *was, const uint32_t *from, const struct fabric *f);
/* t's SLs in the same form; sw and end: likewise by switch and end, FAB_NONE: none; sw NULL: the
 * same switches. */
void carry_sls(struct tables *to, const struct fabric *f, const struct tables *t,
	       const uint32_t *from, const uint32_t *sw, const uint32_t *end);
/* t's form of SL2VL tables; true: and what is in it, where it has none of ports. */
bool carry_sl2vl_as_it_is(struct tables *to, const struct fabric *f, const struct tables *t);
