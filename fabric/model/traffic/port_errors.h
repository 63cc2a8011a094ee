/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port_errors: the error counters of PortCounters, of ports of switches and of hosts alike.
 *
 * They stick at their ends (8 or 16 bits, two of them 4), and whoever likes clears them.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum error_counter {
	ERROR_SYMBOL,
	ERROR_LINK_RECOVERED,
	ERROR_LINK_DOWNED,
	ERROR_RX,
	ERROR_RX_REMOTE,
	ERROR_RX_RELAY,
	ERROR_TX_DISCARD,
	ERROR_TX_CONSTRAINT,
	ERROR_RX_CONSTRAINT,
	ERROR_INTEGRITY,
	ERROR_OVERRUN,
	ERROR_QP1_DROPPED,
	ERROR_VL15_DROPPED,
	ERROR_COUNT
};

/* As in PortCounters and in the file error_thresholds of the infiniband-diags. */
const char *error_counter_name(enum error_counter c);
/* More than so many are worth a look: what ibqueryerrors has without a file. */
extern const uint64_t error_limits_default[ERROR_COUNT];

struct port_errors {
	uint64_t guid; /* of the switch, or of the host's port */
	uint8_t port;  /* of the switch, or of its HCA */
	bool host;
	uint64_t v[ERROR_COUNT];
};

struct error_set {
	struct port_errors *port; /* those that answered, ascending GUID, then port */
	uint32_t n, asked;
	int64_t time_s;
	uint64_t began_ms; /* clock_ms() of this machine before the first was asked; 0: not known */
	int refs;
};

/* Room for so many ports; the caller owns one reference. */
struct error_set *error_set_new(uint32_t room);
void error_set_sort(struct error_set *s);			  /* after all ports are in it */
const struct error_set *error_set_get(const struct error_set *s); /* thread-safe; returns s */
void error_set_put(const struct error_set *s);			  /* NULL is fine */
/* NULL: not in it.  O(log n). */
const struct port_errors *error_set_find(const struct error_set *s, uint64_t guid, uint8_t port);

/* How much a counter rose from one reading to the next; cleared in between: since then. */
uint64_t port_errors_rise(const struct port_errors *was, const struct port_errors *now,
			  enum error_counter c);
/* "leaf1/3", "n0001/1"; its GUID where f does not have it. */
char *port_errors_name(char *buf, size_t size, const struct port_errors *p, const struct fabric *f);
uint64_t port_errors_sum(const struct port_errors *p);
