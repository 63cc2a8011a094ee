/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_pace: how long a discovery will still take.
 *
 * Nobody knows how large a fabric is before it is found; but mostly it is as large as the last
 * time.  So the number of requests that a discovery took is kept, for each port that it went out
 * from, in $XDG_CACHE_HOME/ibroute-top (default: ~/.cache): only a hint, which may be removed.
 */
#pragma once

#include "fabric/wire/wire.h"

#include <stddef.h>
#include <stdint.h>

struct sweep_pace {
	uint64_t port_guid;
	uint64_t known; /* requests of the last time; 0: there was none */
	uint64_t done;	/* requests so far */
	double begun;
};

/* port_guid 0: of a simulated fabric, of which nothing is kept; known stays as it is. */
void sweep_pace_begin(struct sweep_pace *p, uint64_t port_guid);
/* As progress tells it: open are those that are to be asked as far as is known.
 * "37 %, 2.1k requests/s, 3.1 s left", without what is unknown. */
void sweep_pace_words(char *buf, size_t len, struct sweep_pace *p, uint64_t done, uint64_t asked);
/* It found the fabric. */
void sweep_pace_end(struct sweep_pace *p);
