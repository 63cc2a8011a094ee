/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/port_errors.h"

#include "fabric/base/memory/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *error_counter_name(enum error_counter c)
{
	static const char *const names[ERROR_COUNT] = {
		"SymbolErrorCounter",
		"LinkErrorRecoveryCounter",
		"LinkDownedCounter",
		"PortRcvErrors",
		"PortRcvRemotePhysicalErrors",
		"PortRcvSwitchRelayErrors",
		"PortXmitDiscards",
		"PortXmitConstraintErrors",
		"PortRcvConstraintErrors",
		"LocalLinkIntegrityErrors",
		"ExcessiveBufferOverrunErrors",
		"QP1Dropped",
		"VL15Dropped",
	};

	return names[c];
}

const uint64_t error_limits_default[ERROR_COUNT] = {
	[ERROR_SYMBOL] = 10,	     [ERROR_LINK_RECOVERED] = 10,
	[ERROR_LINK_DOWNED] = 10,    [ERROR_RX] = 10,
	[ERROR_RX_REMOTE] = 100,     [ERROR_RX_RELAY] = 100,
	[ERROR_TX_DISCARD] = 100,    [ERROR_TX_CONSTRAINT] = 100,
	[ERROR_RX_CONSTRAINT] = 100, [ERROR_INTEGRITY] = 10,
	[ERROR_OVERRUN] = 10,	     [ERROR_QP1_DROPPED] = 100,
	[ERROR_VL15_DROPPED] = 100,
};

struct error_set *error_set_new(uint32_t room)
{
	struct error_set *s = xcalloc(1, sizeof(*s));

	s->port = xcalloc(room, sizeof(*s->port));
	s->refs = 1;
	return s;
}

static int port_errors_cmp(const void *x, const void *y)
{
	const struct port_errors *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

void error_set_sort(struct error_set *s)
{
	qsort(s->port, s->n, sizeof(*s->port), port_errors_cmp);
}

const struct error_set *error_set_get(const struct error_set *s)
{
	if (s)
		__atomic_add_fetch(&((struct error_set *)s)->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void error_set_put(const struct error_set *s)
{
	if (!s || __atomic_sub_fetch(&((struct error_set *)s)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	free(s->port);
	free((void *)s);
}

const struct port_errors *error_set_find(const struct error_set *s, uint64_t guid, uint8_t port)
{
	const struct port_errors key = { .guid = guid, .port = port };

	return s && s->n ? bsearch(&key, s->port, s->n, sizeof(key), port_errors_cmp) : NULL;
}

uint64_t port_errors_rise(const struct port_errors *was, const struct port_errors *now,
			  enum error_counter c)
{
	return now->v[c] >= was->v[c] ? now->v[c] - was->v[c] : now->v[c];
}

char *port_errors_name(char *buf, size_t size, const struct port_errors *p, const struct fabric *f)
{
	uint32_t i = p->host ? fabric_term_by_guid(f, p->guid) : fabric_switch_by_guid(f, p->guid);

	if (i == FAB_NONE)
		snprintf(buf, size, "0x%016" PRIx64 "/%u", p->guid, p->port);
	else
		snprintf(buf, size, "%s/%u", p->host ? f->term_name[i] : f->sw_name[i], p->port);
	return buf;
}

uint64_t port_errors_sum(const struct port_errors *p)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < ERROR_COUNT; c++)
		sum += p->v[c];
	return sum;
}
