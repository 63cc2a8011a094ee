/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire_trace: one path, asked hop by hop, where nothing else of the fabric is wanted.
 *
 * The subnet administration says who has a LID and where a cable leads (two queries a hop), the
 * switch what its LFT has for the LID and what its ports are (three SMPs, to its LID).
 */
#pragma once

#include "fabric/model/partitions/pkeys.h"
#include "fabric/wire/wire.h"

/* Out: a fabric of the two ends and of the switches that the path passes, with the cables that it
 * takes, whose LIDs are those found; and its tables, in which only the entries for dlid are, and
 * SL2VL is not known.  Both are the caller's.  A path that goes round or ends early is no error:
 * path_walk() tells.  opts may be NULL; without a name in it the fabric's says that it was not
 * discovered.
 * -ENOENT: the administration knows nobody with slid; -EIO: it, or a switch, does not answer what
 * was asked: then a discovery is what is left. */
int wire_trace(struct fabric **out, struct tables **tables, struct wire *w, uint16_t slid,
	       uint16_t dlid, const struct sweep_opts *opts, struct err *err);

/* The LID of a port or node GUID, as the administration has it.  -ENOENT: none, or several ports of
 * that node; -EIO: no answer. */
int wire_guid_lid(uint16_t *lid, struct wire *w, uint64_t guid, struct err *err);

/* The SL of a path from a terminal to a LID, as the SM's path record has it: one query.  -EIO: the
 * SM has none, or does not answer, with the reason; or what the port failed with. */
int wire_path_sl(uint8_t *sl, struct wire *w, const struct fabric *f, uint32_t term, uint16_t dlid,
		 struct err *err);

/* The P_Keys of two ports of hosts, as their tables have them: of large tables no more than it
 * takes to find one that they share.  Both empty at first, and to be freed with pkeys_free(). -EIO:
 * one does not answer. */
int wire_read_pkeys(struct pkeys out[2], struct wire *w, const struct fabric *f,
		    const uint32_t term[2], struct err *err);

/* The same tables for a fabric that was discovered: the entries for dlid of the switches on the way
 * from an end.  An end of a path is as in path.h.  Errors as of wire_read_blocks(). */
int wire_trace_tables(struct tables **tables, struct wire *w, const struct fabric *f, uint32_t src,
		      uint16_t dlid, struct err *err);
