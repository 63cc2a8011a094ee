/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port_problems: since when each port has its problem, and what was on ports that have lost their
 * link.
 *
 * A link that goes down is gone from the next fabric, since nobody answers for the other end any
 * more; here it is remembered, by GUID and port.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct port_problems; /* of one fabric at a time */

struct port_problems *port_problems_new(void);
void port_problems_free(struct port_problems *t); /* NULL is fine */

/* Another fabric: takes along what is known of ports that are still there.  O(ports). */
void port_problems_fabric(struct port_problems *t, const struct fabric *f);
/* What ports have now (enum problem), by fabric port; now_s: wall clock.  O(ports). */
void port_problems_note(struct port_problems *t, const uint8_t *problem, int64_t now_s);

/* Seconds that a port has had what it has; NAN: it has nothing.  longer: it was so when it was
 * looked at first. */
double port_problems_age_s(const struct port_problems *t, uint32_t port, int64_t now_s,
			   bool *longer);
/* "spine07/9": the other end of a link that was there and is not any more; NULL: none was. */
const char *port_problems_was(const struct port_problems *t, uint32_t port);
