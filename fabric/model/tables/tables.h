/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables: everything that a routing is, for one fabric.
 *
 * LFT as one row of output ports per switch; SL in the cheapest form that holds it;
 * SL2VL likewise.  Engines make them, files and the wire load and store them, verify
 * judges them, metrics measure them, update installs them.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/span.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LFT_BLOCK 64   /* LIDs per MAD block */
#define VL_DROP	  15   /* SL2VL value: packets of this SL are dropped */
#define VL_UNREAD 0xff /* no VL: the SL2VL tables are not known */

/* "Engines" of tables that were found, in switches or in a dump. */
#define TABLES_WIRE "as found"
#define TABLES_FILE "file"

enum sl_kind {
	SL_CONST,     /* sl_const for every path */
	SL_BY_DLID,   /* sl[dlid] */
	SL_BY_SWITCH, /* sl[source switch * stride + dlid] */
	SL_BY_TERM,   /* sl[source terminal * stride + dlid]: tables of others */
};

enum sl2vl_kind {
	SL2VL_IDENTITY, /* VL = SL */
	SL2VL_BY_INPUT, /* sl2vl[kind of input][sl]: 0 port 0, 1 from a terminal, 2 from a switch */
	SL2VL_FULL,	/* per switch, input and output port */
	SL2VL_UNREAD,	/* not known: only the LFTs were read from the switches */
};

struct tables {
	uint32_t nsw, nend; /* of the fabric it was made for */
	uint32_t max_lid;
	uint32_t stride; /* LIDs per row: a multiple of LFT_BLOCK, > max_lid */
	uint8_t *lft;	 /* lft[sw * stride + lid], FAB_NO_PORT = none */

	enum sl_kind sl_kind;
	uint8_t sl_const;
	bool sls_told; /* of tables as found: the subnet manager has said so */
	uint8_t *sl;

	enum sl2vl_kind sl2vl_kind;
	uint8_t *sl2vl;	       /* packed as said by tables_vl() */
	uint32_t *sl2vl_off;   /* FULL: nsw+1 offsets into sl2vl, in units of FAB_SLS bytes */
	uint8_t *sl2vl_nports; /* FULL: ports of each switch */

	/* Of tables that were read from switches: VLs to which an output port gives a weight in its
	 * VL arbitration, a bit each, by fabric port; 0: not known.  NULL: of no port. */
	uint16_t *weighted;

	uint8_t vls, sls; /* data VLs that ports must have, SLs of its paths; 0 not computed */
	bool escape;	  /* fabric_lid_escape() LIDs are escape LIDs: up*, then down*, on the last
			     of these VLs, which no other LID uses */
	char engine[16];  /* "sar", ...; who made them is not known: TABLES_WIRE, _FILE */
	char params[96];  /* readable engine parameters */
	uint64_t seed;
	struct digest fingerprint; /* of the fabric */

	struct arena *arena;
	const struct tables *lender; /* whose SL2VL tables these are; NULL: its own */
	int refs;
};

/* All LFT entries FAB_NO_PORT, SL const 0, SL2VL identity.  The caller owns one reference. */
struct tables *tables_new(const struct fabric *f, const char *engine);
/* The same with all entries 0, which the caller has to fill: in slices, where there are many. */
struct tables *tables_new_blank(const struct fabric *f, const char *engine);
const struct tables *tables_get(const struct tables *t); /* thread-safe; returns t */
void tables_put(const struct tables *t);		 /* NULL is fine */

/* -EINVAL: they were made for another fabric than f. */
int tables_check_fabric(const struct tables *t, const struct fabric *f, struct err *err);
/* How many rows of a stride each the SLs of that kind have. */
size_t tables_sl_rows(enum sl_kind kind, uint32_t nsw, uint32_t nend);
/* Change the form (contents zeroed); only while the maker is the single owner. */
void tables_sl_form(struct tables *t, enum sl_kind kind, const struct fabric *f);
void tables_sl2vl_form(struct tables *t, enum sl2vl_kind kind, const struct fabric *f);

void tables_weighted_form(struct tables *t, const struct fabric *f); /* all 0 */
/* The same as in from, which was read from the same switches. */
void tables_weighted_take(struct tables *t, const struct tables *from, const struct fabric *f);

static inline uint8_t *tables_row(const struct tables *t, uint32_t sw)
{
	return t->lft + (size_t)sw * t->stride;
}

/* SL that a terminal (0..nend-1) on switch sw uses towards a LID. */
static inline uint8_t tables_path_sl(const struct tables *t, uint32_t term, uint32_t sw,
				     uint32_t dlid)
{
	switch (t->sl_kind) {
	case SL_CONST:
		return t->sl_const;
	case SL_BY_DLID:
		return t->sl[dlid];
	case SL_BY_SWITCH:
		return t->sl[(size_t)sw * t->stride + dlid];
	case SL_BY_TERM:
		return t->sl[(size_t)term * t->stride + dlid];
	}
	return 0;
}

/* The 16 VLs by SL of (switch, input port, output port), FULL form only. */
static inline uint8_t *tables_sl2vl_row(const struct tables *t, uint32_t sw, uint32_t in,
					uint32_t out)
{
	size_t row = t->sl2vl_off[sw] + (size_t)in * (t->sl2vl_nports[sw] + 1u) + out;

	return t->sl2vl + row * FAB_SLS;
}

/* False where only the LFTs are known: no word about VLs and deadlocks can be said then, and no
 * plan be made from them. */
static inline bool tables_know_vls(const struct tables *t)
{
	return t->sl2vl_kind != SL2VL_UNREAD;
}

/* VL that a packet of that SL gets on the output port; VL_DROP = dropped, as all are where it is
 * not known.  The fabric says what is attached to the input port. */
uint8_t tables_vl(const struct tables *t, const struct fabric *f, uint32_t sw, uint8_t in,
		  uint8_t out, uint8_t sl);
/* The same of all FAB_SLS SLs, borrowed. */
const uint8_t *tables_vl_row(const struct tables *t, const struct fabric *f, uint32_t sw,
			     uint8_t in, uint8_t out);

/* Bit vl: some packet with one of these SLs that comes in by another cabled port would leave by
 * that port on it; packets of the switch itself are management and left out.  O(ports * SLs). */
uint16_t tables_port_vls(const struct tables *t, const struct fabric *f, uint32_t sw, uint8_t out,
			 uint16_t sls);
/* "0,3", or with each ":4" "0:4,3:4".  Returns buf. */
const char *tables_vls_text(char *buf, size_t size, uint16_t vls, const char *each);

/* Bytes of t->sl in its form. */
size_t tables_sl_bytes(const struct tables *t);
/* Bytes of t->sl2vl in its form. */
size_t tables_sl2vl_bytes(const struct tables *t);

/* Number of 64-LID blocks of a row that hold a LID. */
static inline uint32_t tables_blocks(const struct tables *t)
{
	return t->max_lid / LFT_BLOCK + 1;
}

/* Hash over LFT, SL and SL2VL as they work (not over who made them): two tables with equal
 * forwarding and VLs have the same hash whatever form they are kept in. */
void tables_hash(struct digest *out, const struct tables *t, const struct fabric *f);
/* The same with progress, of 2 nsw.  True: cancelled, and out is empty. */
bool tables_hash_with_progress(struct digest *out, const struct tables *t, const struct fabric *f,
			       struct span *span);

/* Were they read from switches or a dump, which do not hold the SLs of paths? */
bool tables_as_found(const struct tables *t);
/* Switches hold no SLs of paths: is it known that they are those? */
bool tables_know_sls(const struct tables *t);

/* Bit sl: a path from a terminal to some LID in use has that SL. */
uint16_t tables_sl_mask(const struct tables *t, const struct fabric *f);
/* The same of paths from the ends of one switch. */
uint16_t tables_sl_mask_at(const struct tables *t, const struct fabric *f, uint32_t sw);

/* What the switches hold once wanted was written over installed: entries of LIDs that nobody
 * of this fabric owns and VLs of SLs that no path of wanted uses stay as they are, so that
 * no more is touched than the new routing needs.  The caller owns one reference. */
struct tables *tables_onto(const struct fabric *f, const struct tables *installed,
			   const struct tables *wanted);

/* A copy of t with the SL2VL tables of like, which lives on with it: where there are many routings
 * of one fabric these are most of the memory.  NULL: they differ, or are few.  The caller owns one
 * reference. */
struct tables *tables_borrow_sl2vl(const struct fabric *f, const struct tables *t,
				   const struct tables *like);

/* The same forwarding, SLs and VLs?  As equal hashes, but fast when the forms agree. */
bool tables_same(const struct tables *a, const struct tables *b, const struct fabric *f);
