/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkeys: the M_Key that each port wants (IBA 14.2.4), where not all have the same.
 *
 * A key belongs to a port GUID; of a switch, to that of its port 0.  Before a port has reported
 * its GUID, an earlier cable list says which port it is.  On unknown ports only few keys are
 * tried: a port counts wrong ones, and may start its key's lease timer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MKEYS_TRIES 4 /* keys tried on a port of which nothing is known */

struct mkey_port {
	uint64_t guid, key;
	uint32_t at; /* the how manyth that was added */
};

struct mkey_cable {
	uint64_t guid, peer; /* port GUIDs */
	uint32_t port, at;
};

struct mkeys {
	struct mkey_port *port; /* ascending GUID, see mkeys_sort() */
	uint32_t nport;
	struct mkey_cable *cable; /* from either end; ascending GUID, then port */
	uint32_t ncable;
	uint64_t common[MKEYS_TRIES]; /* the keys of most ports, the most frequent first */
	uint32_t ncommon;
};

/* In any order; then sort once.  Of two lines about one port or cable the last holds. */
void mkeys_add(struct mkeys *k, uint64_t guid, uint64_t key);
void mkeys_add_cable(struct mkeys *k, uint64_t guid, uint32_t port, uint64_t peer);
void mkeys_sort(struct mkeys *k);
/* Wipes and frees what k holds. */
void mkeys_clear(struct mkeys *k);

/* k may be NULL in all that follow: nothing is known. */
bool mkeys_find(uint64_t *key, const struct mkeys *k, uint64_t guid);
/* The same, or the fallback, or where that is 0 the key that most ports have. */
uint64_t mkeys_of(const struct mkeys *k, uint64_t guid, uint64_t fallback);
bool mkeys_peer(uint64_t *peer, const struct mkeys *k, uint64_t guid, uint32_t port);
bool mkeys_has(const struct mkeys *k, uint64_t key);

/* What to try on a port, best first: the key of guid (0: not known), the fallback where it is not
 * 0, near (a neighbour's), then the most common.  Each once, at most MKEYS_TRIES of them, at least
 * one.  sure: the first is the key of guid. */
uint32_t mkeys_tries(uint64_t key[MKEYS_TRIES], bool *sure, const struct mkeys *k, uint64_t guid,
		     uint64_t fallback, uint64_t near);
