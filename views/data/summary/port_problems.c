/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/port_problems.h"

#include "fabric/base/memory/mem.h"
#include "views/data/state/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct port_trouble {
	int64_t since_s;
	char *was; /* the other end of a lost link; NULL none */
	bool from_start;
};

struct port_problems {
	const struct fabric *f; /* own reference */
	struct port_trouble *port;
	uint8_t *kind; /* by fabric port, as noted last */
	bool noted;    /* something was, ever */
};

struct port_problems *port_problems_new(void)
{
	return xcalloc(1, sizeof(struct port_problems));
}

static void port_problems_drop(struct port_problems *t)
{
	for (uint32_t i = 0; t->f && i < t->f->nport; i++)
		free(t->port[i].was);
	free(t->port);
	free(t->kind);
	fabric_put(t->f);
}

void port_problems_free(struct port_problems *t)
{
	if (!t)
		return;
	port_problems_drop(t);
	free(t);
}

/* "spine07/9" or "n0031/1" */
static char *port_problems_other_end(const struct fabric *f, const struct port *p)
{
	char buf[NAME_LEN + 8], name[NAME_LEN];

	if (p->chan != FAB_NONE)
		snprintf(buf, sizeof(buf), "%s/%u",
			 switch_label(name, sizeof(name), f, f->chan_dst[p->chan]),
			 f->chan_rport[p->chan]);
	else
		snprintf(buf, sizeof(buf), "%.64s/%u", f->term_name[p->term],
			 f->term_ca_port[p->term]);
	return strcpy(xcalloc(strlen(buf) + 1, 1), buf);
}

static void port_problems_take_along(struct port_problems *t, struct port_trouble *to,
				     const struct fabric *f, uint32_t port, uint32_t old)
{
	const struct port *before = &t->f->port[old];

	*to = t->port[old];
	t->port[old].was = NULL;
	if (port_cabled(&f->port[port])) {
		free(to->was);
		to->was = NULL;
	} else if (port_cabled(before)) {
		free(to->was);
		to->was = port_problems_other_end(t->f, before);
	}
}

void port_problems_fabric(struct port_problems *t, const struct fabric *f)
{
	struct port_trouble *port = xcalloc(f->nport + 1ull, sizeof(*port));
	uint8_t *kind = xcalloc(f->nport + 1ull, 1);

	for (uint32_t sw = 0; t->f && sw < f->nsw; sw++) {
		uint32_t old = fabric_switch_by_guid(t->f, f->sw_guid[sw]);

		for (uint32_t p = 1;
		     old != FAB_NONE && p <= f->sw_nports[sw] && p <= t->f->sw_nports[old]; p++) {
			port_problems_take_along(t, &port[f->port_off[sw] + p], f,
						 f->port_off[sw] + p, t->f->port_off[old] + p);
			kind[f->port_off[sw] + p] = t->kind[t->f->port_off[old] + p];
		}
	}
	port_problems_drop(t);
	t->f = fabric_get(f);
	t->port = port;
	t->kind = kind;
}

#define ALIKE 64 /* ports compared at once: hardly any change from sample to sample */

void port_problems_note(struct port_problems *t, const uint8_t *problem, int64_t now_s)
{
	uint32_t n = t->f->nport;

	for (uint32_t i = 0; i < n; i++) {
		if (i % ALIKE == 0 && n - i >= ALIKE && !memcmp(t->kind + i, problem + i, ALIKE)) {
			i += ALIKE - 1;
			continue;
		}
		if (t->kind[i] == problem[i])
			continue;
		t->kind[i] = problem[i];
		t->port[i].since_s = now_s;
		t->port[i].from_start = !t->noted;
	}
	t->noted = true;
}

double port_problems_age_s(const struct port_problems *t, uint32_t port, int64_t now_s,
			   bool *longer)
{
	const struct port_trouble *p = &t->port[port];

	*longer = p->from_start;
	return t->kind[port] ? (double)(now_s - p->since_s) : NAN;
}

const char *port_problems_was(const struct port_problems *t, uint32_t port)
{
	return t->port[port].was;
}
