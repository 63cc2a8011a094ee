/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end_find: an end of a path from what people type: a name, a LID or a GUID.
 *
 * "n031"            terminal or switch of that name
 * "rack..031"       the one that is shown so where the middle of its name has no room
 * "n031/2"          the CA port of that number, where a host has several
 * "n031/mlx5_0/1"   port of the device that the NodeDescription names
 * "n031/001234"     port whose GUID ends so, where several hosts have the name
 * "n031/0x0002..."  port of that GUID, where two end alike
 * "77", "0x4d"      whoever owns the LID; the path then goes to just that LID
 * "0x0002c9..."     port or node GUID, more than 4 hexadecimal digits
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>
#include <stdint.h>

/* The end and the LID to send to: its base LID unless a LID was given.  Names win over numbers.
 * -ENOENT: nobody is called so; -EINVAL: several are (the sentence says who). */
int end_find(uint32_t *end, uint16_t *lid, const struct fabric *f, const char *text,
	     struct err *err);

/* The only end that is shown as that text where the middle of its name has no room ("rack..031");
 * FAB_NONE: none is, or several are. */
uint32_t end_shown_so(const struct fabric *f, const char *text);

/* How an end is written, as the diags' -L, -G and -D say. */
enum end_as {
	END_ANY,   /* end_find() */
	END_LID,   /* decimal, or hexadecimal with 0x */
	END_GUID,  /* of a port or node, hexadecimal with or without 0x */
	END_ROUTE, /* "0,1,17": this port, then the output ports of a directed route */
};

/* As end_find(), but what is no such number is -EINVAL.  here: the end on which routes begin;
 * FAB_NONE: unknown, routes are -ENOTSUP. */
int end_find_as(uint32_t *end, uint16_t *lid, const struct fabric *f, enum end_as as,
		const char *text, uint32_t here, struct err *err);

/* Ends whose name begins with the text, then those that have it inside, letters of either case,
 * terminals first, in the order of names; up to max of them.  Returns how many there are in all.
 * O(ends). */
uint32_t end_complete(uint32_t *out, uint32_t max, const struct fabric *f, const char *text);

#define END_NAME_LEN 160 /* of the longest, with its end */

/* Name of an end that no other has ("n031", "n031/2" where its host has several ports, "spine4").
 */
const char *end_name(char *buf, size_t len, const struct fabric *f, uint32_t end);
uint16_t end_lid(const struct fabric *f, uint32_t end); /* base LID; 0 unknown */
