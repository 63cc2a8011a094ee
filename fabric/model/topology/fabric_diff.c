/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/fabric_diff.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/end_find.h"

#include <stdlib.h>
#include <string.h>

/* A node as an end (fabric.h): terminals and other CA or router ports, then switches. */
static uint64_t fabric_diff_guid_of(const struct fabric *f, uint32_t end)
{
	return end < f->nend ? f->term_guid[end] : f->sw_guid[end - f->nend];
}

static uint32_t fabric_diff_find(const struct fabric *f, uint64_t guid, bool is_switch)
{
	uint32_t i = is_switch ? fabric_switch_by_guid(f, guid) : fabric_term_by_guid(f, guid);

	if (is_switch)
		return i == FAB_NONE ? FAB_NONE : f->nend + i;
	if (i != FAB_NONE)
		return i;
	for (i = f->nterm; i < f->nend; i++) /* few: routers and aggregation nodes */
		if (f->term_guid[i] == guid)
			return i;
	return FAB_NONE;
}

/* The same node in another fabric. */
static uint32_t fabric_diff_twin(const struct fabric *other, const struct fabric *f, uint32_t end)
{
	return fabric_diff_find(other, fabric_diff_guid_of(f, end), end >= f->nend);
}

static struct fabric_diff_row *fabric_diff_add(struct fabric_diff *d,
					       enum fabric_diff_change change, const char *what,
					       uint64_t guid, char *subject)
{
	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 64;
		d->row = xrealloc(d->row, d->cap, sizeof(*d->row));
	}
	d->row[d->n] = (struct fabric_diff_row){
		.change = change,
		.what = what,
		.guid = guid,
		.subject = subject,
	};
	return &d->row[d->n++];
}

static void fabric_diff_changed(struct fabric_diff *d, const char *what, uint64_t guid,
				char *subject, char *before, char *after)
{
	struct fabric_diff_row *r = fabric_diff_add(d, FDIFF_CHANGED, what, guid, subject);

	r->before = before;
	r->after = after;
}

static char *fabric_diff_name_of(const struct fabric *f, uint32_t end)
{
	char name[128];

	return xstrdup(end_name(name, sizeof(name), f, end));
}

static void fabric_diff_nodes(struct fabric_diff *d, const struct fabric *f,
			      const struct fabric *other, enum fabric_diff_change change)
{
	for (uint32_t e = 0; e < f->nend + f->nsw; e++)
		if (fabric_diff_twin(other, f, e) == FAB_NONE)
			fabric_diff_add(d, change, e < f->nend ? "host" : "switch",
					fabric_diff_guid_of(f, e), fabric_diff_name_of(f, e));
}

/* --- cables ------------------------------------------------------------------------------ */

struct far_end {
	uint32_t end; /* FAB_NONE: no cable */
	uint8_t port;
};

static struct far_end fabric_diff_far_end(const struct fabric *f, uint32_t sw, uint8_t port)
{
	struct far_end e = { FAB_NONE, 0 };
	const struct port *p;

	if (port > f->sw_nports[sw])
		return e;
	p = fabric_port(f, sw, port);
	if (p->chan != FAB_NONE)
		e = (struct far_end){ f->nend + f->chan_dst[p->chan], f->chan_rport[p->chan] };
	else if (p->term != FAB_NONE)
		e = (struct far_end){ p->term, f->term_ca_port[p->term] };
	return e;
}

static char *fabric_diff_cable_name(const struct fabric *f, uint32_t sw, uint8_t port,
				    struct far_end to)
{
	const char *name = to.end < f->nend ? f->term_name[to.end] : f->sw_name[to.end - f->nend];

	return xasprintf("%s/%u - %s/%u", f->sw_name[sw], port, name, to.port);
}

/* Each cable once: from the switch with the smaller GUID, or port. */
static bool fabric_diff_is_first(const struct fabric *f, uint32_t sw, uint8_t port,
				 struct far_end to)
{
	uint32_t b = to.end - f->nend;

	return to.end < f->nend || sw < b || (sw == b && port <= to.port);
}

static bool fabric_diff_same_cable(const struct fabric *f, uint32_t sw, uint8_t port,
				   struct far_end to, const struct fabric *other)
{
	uint32_t there = fabric_diff_find(other, f->sw_guid[sw], true);
	struct far_end e = fabric_diff_far_end(other, there - other->nend, port);

	return e.end != FAB_NONE && (e.end < other->nend) == (to.end < f->nend) &&
	       fabric_diff_guid_of(other, e.end) == fabric_diff_guid_of(f, to.end) &&
	       e.port == to.port;
}

static void fabric_diff_other_end(struct fabric_diff_row *r, const struct fabric *f, uint8_t port,
				  struct far_end to)
{
	r->port = port;
	r->guid_b = fabric_diff_guid_of(f, to.end);
	r->port_b = to.port;
}

static char *fabric_diff_link_text(const struct port *p)
{
	return xasprintf("%ux%s", p->width, p->speed);
}

static void fabric_diff_link_changes(struct fabric_diff *d, const struct fabric *f, uint32_t sw,
				     uint8_t port, struct far_end to, const struct fabric *after)
{
	const struct port *a = fabric_port(f, sw, port),
			  *b = fabric_port(after, fabric_switch_by_guid(after, f->sw_guid[sw]),
					   port);

	if (!a->width || !b->width || !a->speed[0] || !b->speed[0] ||
	    (a->width == b->width && !strcmp(a->speed, b->speed)))
		return;
	fabric_diff_changed(d, "link", f->sw_guid[sw], fabric_diff_cable_name(f, sw, port, to),
			    fabric_diff_link_text(a), fabric_diff_link_text(b));
	fabric_diff_other_end(&d->row[d->n - 1], f, port, to);
	d->row[d->n - 1].slower = b->rate_Mbps < a->rate_Mbps;
}

/* The cables of f between nodes that other has, too, and has not; or, links, what changed of those
 * that it has. */
static void fabric_diff_cables(struct fabric_diff *d, const struct fabric *f,
			       const struct fabric *other, enum fabric_diff_change change)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (unsigned p = 1; p <= f->sw_nports[sw]; p++) {
			struct far_end to = fabric_diff_far_end(f, sw, (uint8_t)p);

			if (to.end == FAB_NONE || !fabric_diff_is_first(f, sw, (uint8_t)p, to) ||
			    fabric_switch_by_guid(other, f->sw_guid[sw]) == FAB_NONE ||
			    fabric_diff_twin(other, f, to.end) == FAB_NONE)
				continue;
			if (fabric_diff_same_cable(f, sw, (uint8_t)p, to, other)) {
				if (change == FDIFF_CHANGED)
					fabric_diff_link_changes(d, f, sw, (uint8_t)p, to, other);
			} else if (change != FDIFF_CHANGED) {
				fabric_diff_other_end(
					fabric_diff_add(
						d, change, "cable", f->sw_guid[sw],
						fabric_diff_cable_name(f, sw, (uint8_t)p, to)),
					f, (uint8_t)p, to);
			}
		}
}

/* --- LIDs and names ---------------------------------------------------------------------- */

static void fabric_diff_node_changes(struct fabric_diff *d, const struct fabric *before,
				     const struct fabric *after)
{
	for (uint32_t e = 0; e < before->nend + before->nsw; e++) {
		uint32_t t = fabric_diff_twin(after, before, e);
		uint16_t was, is;
		const char *old, *new;

		if (t == FAB_NONE)
			continue;
		was = end_lid(before, e);
		is = end_lid(after, t);
		old = e < before->nend ? before->term_desc[e] : before->sw_desc[e - before->nend];
		new = t < after->nend ? after->term_desc[t] : after->sw_desc[t - after->nend];
		if (before->lids_given && after->lids_given && was != is)
			fabric_diff_changed(d, "lid", fabric_diff_guid_of(before, e),
					    fabric_diff_name_of(before, e), xasprintf("%u", was),
					    xasprintf("%u", is));
		if (old && new &&strcmp(old, new) != 0)
			fabric_diff_changed(d, "name", fabric_diff_guid_of(before, e),
					    fabric_diff_name_of(before, e), xstrdup(old),
					    xstrdup(new));
	}
}

struct fabric_diff *fabric_diff_new(const struct fabric *before, const struct fabric *after)
{
	struct fabric_diff *d = xcalloc(1, sizeof(*d));

	fabric_diff_nodes(d, before, after, FDIFF_GONE);
	fabric_diff_nodes(d, after, before, FDIFF_NEW);
	fabric_diff_cables(d, before, after, FDIFF_GONE);
	fabric_diff_cables(d, after, before, FDIFF_NEW);
	fabric_diff_cables(d, before, after, FDIFF_CHANGED);
	fabric_diff_node_changes(d, before, after);
	return d;
}

void fabric_diff_free(struct fabric_diff *d)
{
	for (size_t i = 0; d && i < d->n; i++) {
		free(d->row[i].subject);
		free(d->row[i].before);
		free(d->row[i].after);
	}
	if (d)
		free(d->row);
	free(d);
}

const char *fabric_diff_change_name(enum fabric_diff_change c)
{
	static const char *const names[] = { "gone", "new", "changed" };

	return names[c];
}
