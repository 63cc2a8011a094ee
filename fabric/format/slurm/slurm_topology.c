/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/slurm_topology.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/format/slurm/slurm_draft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NO_LEVEL UINT32_MAX

void slurm_topology_free(struct slurm_topology *topo)
{
	if (!topo)
		return;
	arena_free(topo->arena);
	free(topo);
}

uint32_t slurm_topology_count(const struct slurm_topology *topo)
{
	return topo->n;
}

const uint32_t *slurm_topology_together(const struct slurm_topology *topo, uint32_t *n)
{
	*n = topo->ntogether;
	return topo->together;
}

bool slurm_topology_is_blocks(const struct slurm_topology *topo)
{
	return topo->blocks;
}

const struct slurm_switch *slurm_topology_switch(const struct slurm_topology *topo, uint32_t i)
{
	return &topo->sw[i];
}

/* ---- a topology while a file is read ---- */

void slurm_draft_begin(struct slurm_draft *d, const char *path, struct read_report *report,
		       struct err *err)
{
	memset(d, 0, sizeof(*d));
	d->path = path;
	d->report = report;
	d->err = err;
	d->topo = xcalloc(1, sizeof(*d->topo));
	d->topo->arena = arena_new();
}

/* 64-bit FNV-1a (Fowler, Noll, Vo). */
static uint64_t slurm_topology_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return h;
}

/* Where it is, or would be. */
static uint32_t *slurm_topology_slot(const struct slurm_draft *d, const char *name)
{
	uint32_t i = (uint32_t)slurm_topology_hash(name) & (d->nslot - 1);

	while (d->slot[i] && strcmp(d->list.v[d->slot[i] - 1].name, name))
		i = (i + 1) & (d->nslot - 1);
	return &d->slot[i];
}

/* At most half full. */
static void slurm_topology_want_slots(struct slurm_draft *d)
{
	if ((d->list.n + 1) * 2 <= d->nslot)
		return;
	d->nslot = d->nslot ? 2 * d->nslot : 64;
	free(d->slot);
	d->slot = xcalloc(d->nslot, sizeof(*d->slot));
	for (uint32_t i = 0; i < d->list.n; i++)
		*slurm_topology_slot(d, d->list.v[i].name) = i + 1;
}

static uint32_t slurm_topology_find(const struct slurm_draft *d, const char *name)
{
	return d->nslot ? *slurm_topology_slot(d, name) - 1 : UINT32_MAX;
}

static struct slurm_draft_switch *slurm_topology_get(struct slurm_draft *d, const char *name)
{
	struct slurm_draft_switch fresh = {
		.name = plain_text(arena_strdup(d->topo->arena, name), ""),
	};
	uint32_t *slot;

	slurm_topology_want_slots(d);
	slot = slurm_topology_slot(d, fresh.name);
	if (!*slot) {
		vec_push(&d->list, fresh);
		*slot = (uint32_t)d->list.n;
	}
	return &d->list.v[*slot - 1];
}

struct slurm_draft_switch *slurm_draft_describe(struct slurm_draft *d, const char *name,
						uint64_t line)
{
	struct slurm_draft_switch *sw = slurm_topology_get(d, name);

	if (sw->described)
		read_report_warn(d->report, line, "switch %.60s appears twice", name);
	else
		sw->line = line;
	sw->described = true;
	return sw;
}

int slurm_draft_names(struct slurm_draft *d, struct slurm_draft_switch *sw, bool nodes,
		      const char *list, uint64_t line)
{
	struct err why = { "" };
	struct hostlist *h;
	uint32_t n;
	int rc = hostlist_measure(&n, list, &why);

	d->names += n;
	if (!rc && d->names > SLURM_DRAFT_NAMES)
		rc = err_set(&why, -E2BIG, "the lists up to here have more than %d names",
			     SLURM_DRAFT_NAMES);
	if (!rc)
		rc = hostlist_parse(&h, list, &why);
	if (rc)
		return err_set(d->err, rc == -E2BIG ? rc : -EINVAL, "%s:%llu: %s", d->path,
			       (unsigned long long)line, why.text);
	for (uint32_t i = 0; i < n; i++) {
		const char *name =
			plain_text(arena_strdup(d->topo->arena, hostlist_names(h)[i]), "");

		if (nodes)
			vec_push(&sw->nodes, ((struct slurm_draft_node){ name, line }));
		else
			vec_push(&sw->below, name);
	}
	hostlist_free(h);
	return 0;
}

static int slurm_topology_by_name(const void *x, const void *y)
{
	const struct slurm_draft_node *a = x, *b = y;

	return strcmp(a->name, b->name);
}

static int slurm_topology_by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* Switches that are only named get an entry too. */
static void slurm_topology_complete(struct slurm_draft *d)
{
	for (size_t i = 0; i < d->list.n; i++)
		for (size_t k = 0; k < d->list.v[i].below.n; k++) {
			const char *name = d->list.v[i].below.v[k];

			if (slurm_topology_find(d, name) != UINT32_MAX)
				continue;
			read_report_warn(d->report, 0,
					 "switch %.60s is named by %.60s but not described", name,
					 d->list.v[i].name);
			slurm_topology_get(d, name);
		}
}

struct slurm_place {
	struct slurm_draft_node node;
	const char *sw;
};

static int slurm_topology_by_place(const void *x, const void *y)
{
	const struct slurm_place *a = x, *b = y;
	int order = strcmp(a->node.name, b->node.name);

	return order ? order : (a->node.line > b->node.line) - (a->node.line < b->node.line);
}

/* A host has its rack of one of them, which may be the wrong one. */
static void slurm_topology_tell_doubles(const struct slurm_draft *d)
{
	VEC(struct slurm_place) all = { 0 };

	for (size_t i = 0; i < d->list.n; i++) {
		const struct slurm_draft_switch *sw = &d->list.v[i];

		for (size_t k = 0; k < sw->nodes.n && !sw->level; k++)
			vec_push(&all, ((struct slurm_place){ sw->nodes.v[k], sw->name }));
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), slurm_topology_by_place);
	for (size_t i = 1; i < all.n; i++)
		if (!strcmp(all.v[i].node.name, all.v[i - 1].node.name) &&
		    all.v[i].sw != all.v[i - 1].sw)
			read_report_warn(d->report, all.v[i].node.line,
					 "node %.60s is under %.60s, and in line %llu under %.60s",
					 all.v[i].node.name, all.v[i].sw,
					 (unsigned long long)all.v[i - 1].node.line,
					 all.v[i - 1].sw);
	vec_free(&all);
}

static void slurm_topology_finish_switch(struct slurm_draft *d, uint32_t self)
{
	const struct slurm_draft_switch *from = &d->list.v[self];
	struct slurm_switch *to = &d->topo->sw[self];
	const char **nodes = arena_array(d->topo->arena, const char *, from->nodes.n);
	uint64_t *line = arena_array(d->topo->arena, uint64_t, from->nodes.n);
	uint32_t *below = arena_array(d->topo->arena, uint32_t, from->below.n), n = 0;

	to->name = from->name;
	to->link_speed = from->link_speed;
	to->line = from->line;
	if (from->nodes.n)
		qsort(from->nodes.v, from->nodes.n, sizeof(*from->nodes.v), slurm_topology_by_name);
	for (size_t i = 0; i < from->nodes.n && !from->level; i++)
		if (!i || strcmp(from->nodes.v[i].name, from->nodes.v[i - 1].name)) {
			line[to->nnodes] = from->nodes.v[i].line;
			nodes[to->nnodes++] = from->nodes.v[i].name;
		}
	to->nodes = nodes;
	to->node_line = line;
	for (size_t i = 0; i < from->below.n; i++) {
		uint32_t sw = slurm_topology_find(d, from->below.v[i]);

		if (sw != self)
			below[n++] = sw;
	}
	qsort(below, n, sizeof(*below), slurm_topology_by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!i || below[i] != below[i - 1])
			below[to->nbelow++] = below[i];
	to->below = below;
}

/* For each switch those above it, as CSR. */
static void slurm_topology_above(const struct slurm_topology *topo, uint32_t *off, uint32_t *above)
{
	uint32_t *at = xcalloc(topo->n + 1u, sizeof(*at));

	for (uint32_t i = 0; i < topo->n; i++)
		for (uint32_t k = 0; k < topo->sw[i].nbelow; k++)
			off[topo->sw[i].below[k] + 1]++;
	for (uint32_t i = 0; i < topo->n; i++)
		at[i + 1] = off[i + 1] += off[i];
	for (uint32_t i = 0; i < topo->n; i++)
		for (uint32_t k = 0; k < topo->sw[i].nbelow; k++)
			above[at[topo->sw[i].below[k]]++] = i;
	free(at);
}

/* One above the lowest switch below it; breadth first from those with nodes, level by level. */
static void slurm_topology_set_levels(struct slurm_topology *topo)
{
	uint32_t *off = xcalloc(topo->n + 1u, sizeof(*off)), *above, *queue, n = 0, links = 0;

	for (uint32_t i = 0; i < topo->n; i++)
		links += topo->sw[i].nbelow;
	above = xcalloc(links, sizeof(*above));
	queue = xcalloc(topo->n, sizeof(*queue));
	slurm_topology_above(topo, off, above);
	for (uint32_t i = 0; i < topo->n; i++) {
		topo->sw[i].level = topo->sw[i].nnodes ? 0 : NO_LEVEL;
		if (topo->sw[i].nnodes)
			queue[n++] = i;
	}
	for (uint32_t q = 0; q < n; q++)
		for (uint32_t k = off[queue[q]]; k < off[queue[q] + 1]; k++) {
			struct slurm_switch *up = &topo->sw[above[k]];

			if (up->level != NO_LEVEL)
				continue;
			up->level = topo->sw[queue[q]].level + 1;
			queue[n++] = above[k];
		}
	for (uint32_t i = 0; i < topo->n; i++)
		if (topo->sw[i].level == NO_LEVEL)
			topo->sw[i].level = 0;
	free(off);
	free(above);
	free(queue);
}

int slurm_draft_end(struct slurm_topology **out, struct slurm_draft *d, int rc)
{
	struct slurm_topology *topo = d->topo;

	if (!rc) {
		slurm_topology_complete(d);
		slurm_topology_tell_doubles(d);
		topo->n = (uint32_t)d->list.n;
		topo->sw = arena_array(topo->arena, struct slurm_switch, topo->n);
		for (uint32_t i = 0; i < topo->n; i++)
			slurm_topology_finish_switch(d, i);
		slurm_topology_set_levels(topo);
		*out = topo;
	} else {
		slurm_topology_free(topo);
	}
	for (size_t i = 0; i < d->list.n; i++) {
		vec_free(&d->list.v[i].nodes);
		vec_free(&d->list.v[i].below);
	}
	vec_free(&d->list);
	free(d->slot);
	d->slot = NULL;
	d->topo = NULL;
	return rc;
}

/* ---- topology.conf ---- */

struct reader {
	struct slurm_draft draft;
	struct lines *l;
	VEC(char) partial; /* lines that ended in a backslash, joined */
};

static bool slurm_topology_is_key(const char *word, const char *key, const char **value)
{
	size_t n = strlen(key);

	if (strncasecmp(word, key, n) || word[n] != '=')
		return false;
	*value = word + n + 1;
	return true;
}

/* One "Key=value" behind the switch's name. */
static int slurm_topology_set_key(struct reader *x, struct slurm_draft_switch *sw, const char *word)
{
	uint64_t line = lines_number(x->l);
	const char *value;

	if (slurm_topology_is_key(word, "Nodes", &value))
		return slurm_draft_names(&x->draft, sw, true, value, line);
	if (slurm_topology_is_key(word, "Switches", &value))
		return slurm_draft_names(&x->draft, sw, false, value, line);
	if (slurm_topology_is_key(word, "LinkSpeed", &value) && scan_dec(&sw->link_speed, &value))
		return 0;
	if (slurm_topology_is_key(word, "Level", &value) && scan_dec(&sw->level, &value))
		return 0;
	/* of blocks: their number and their size */
	if (slurm_topology_is_key(word, "BlockIndex", &value) ||
	    slurm_topology_is_key(word, "BlockSize", &value))
		return 0;
	read_report_warn(x->draft.report, line, "not understood: %.60s", word);
	return 0;
}

static int slurm_topology_read_line(struct reader *x, char *s)
{
	struct read_report *report = x->draft.report;
	struct slurm_draft_switch *sw;
	char *save = NULL, *word;
	const char *name;
	bool block;
	int rc = 0;

	s[strcspn(s, "#")] = '\0';
	word = strtok_r(s, " \t", &save);
	if (!word)
		return 0;
	if (slurm_topology_is_key(word, "BlockSizes", &name) ||
	    slurm_topology_is_key(word, "AggregatedBlock", &name))
		return 0;
	block = slurm_topology_is_key(word, "BlockName", &name);
	if ((!block && !slurm_topology_is_key(word, "SwitchName", &name)) || !*name) {
		read_report_skip(report, lines_number(x->l), "not understood: %.60s", word);
		return 0;
	}
	x->draft.topo->blocks = block;
	sw = slurm_draft_describe(&x->draft, name, lines_number(x->l));
	while (!rc && (word = strtok_r(NULL, " \t", &save)))
		rc = slurm_topology_set_key(x, sw, word);
	if (!rc && report)
		report->records++;
	return rc;
}

static int slurm_topology_read_joined(struct reader *x)
{
	int rc;

	vec_push(&x->partial, '\0');
	rc = slurm_topology_read_line(x, x->partial.v);
	x->partial.n = 0;
	return rc;
}

/* Lines that end in a backslash go on in the next one. */
static int slurm_topology_read_lines(struct reader *x)
{
	size_t len;
	char *s;
	int rc = 0;

	while (!rc && (s = lines_next(x->l, &len))) {
		bool more = len && s[len - 1] == '\\';

		if (!more && !x->partial.n) {
			rc = slurm_topology_read_line(x, s);
			continue;
		}
		for (size_t i = 0; i < len - more; i++)
			vec_push(&x->partial, s[i]);
		if (!more || x->partial.n >= LINES_MAX)
			rc = slurm_topology_read_joined(x);
	}
	if (!rc && x->partial.n)
		rc = slurm_topology_read_joined(x);
	return rc;
}

int slurm_topology_read(struct slurm_topology **out, FILE *file, const char *path,
			struct read_report *report, struct err *err)
{
	struct reader x = { 0 };
	int rc;

	x.l = lines_new(file, path, report);
	slurm_draft_begin(&x.draft, path, report, err);
	rc = slurm_topology_read_lines(&x);
	rc = lines_end(x.l, rc,
		       x.draft.list.n ? NULL
				      : "not a topology.conf: no SwitchName= or BlockName= in it",
		       err);
	vec_free(&x.partial);
	lines_free(x.l);
	return slurm_draft_end(out, &x.draft, rc);
}

/* ---- as a fabric ---- */

/* The hash cut to 40 bits, under a prefix for the kind of node. */
static uint64_t slurm_topology_guid_of(const char *name, uint64_t prefix)
{
	uint64_t h = slurm_topology_hash(name);

	return prefix | ((h ^ h >> 40) & 0xffffffffffu);
}

#define SWITCH_PREFIX 0x0200530000000000u
#define NODE_PREFIX   0x02004e0000000000u

struct maker {
	struct builder *b;
	const struct slurm_topology *topo;
	uint32_t *id;	/* of each switch in the builder */
	uint32_t *used; /* ports of each switch */
	struct {
		const char *name;
		uint32_t id, ports;
	} * node; /* open addressing, by name */
	uint32_t nslot;
};

/* Adds a node under the first GUID from the name's own that nobody has. */
static int slurm_topology_add_node(uint32_t *id, struct builder *b, enum node_kind kind,
				   const char *name, struct err *err)
{
	uint64_t guid =
		slurm_topology_guid_of(name, kind == NODE_SWITCH ? SWITCH_PREFIX : NODE_PREFIX);

	while (builder_find(b, guid) != FAB_NONE)
		guid++;
	return builder_node(id, b, kind, guid, 0, name, err);
}

static int slurm_topology_take_port(uint32_t *port, struct maker *m, uint32_t sw, struct err *err)
{
	if (m->used[sw] == FAB_MAX_PORT)
		return err_set(err, -ENOSPC, "switch %s has more than %d nodes and neighbours",
			       m->topo->sw[sw].name, FAB_MAX_PORT);
	*port = ++m->used[sw];
	return 0;
}

static uint32_t slurm_topology_node_slot(const struct maker *m, const char *name)
{
	uint32_t i = (uint32_t)slurm_topology_guid_of(name, 0) & (m->nslot - 1);

	while (m->node[i].name && strcmp(m->node[i].name, name))
		i = (i + 1) & (m->nslot - 1);
	return i;
}

/* A node below several switches has a port on each. */
static int slurm_topology_connect_nodes(struct maker *m, uint32_t sw, struct err *err)
{
	const struct slurm_switch *s = &m->topo->sw[sw];
	uint32_t port = 0, slot;
	int rc = 0;

	for (uint32_t i = 0; i < s->nnodes && !rc; i++) {
		slot = slurm_topology_node_slot(m, s->nodes[i]);
		if (!m->node[slot].name)
			rc = slurm_topology_add_node(&m->node[slot].id, m->b, NODE_CA, s->nodes[i],
						     err);
		m->node[slot].name = s->nodes[i];
		if (!rc)
			rc = slurm_topology_take_port(&port, m, sw, err);
		if (!rc && ++m->node[slot].ports > FAB_MAX_PORT)
			rc = err_set(err, -ENOSPC, "node %s is below too many switches",
				     s->nodes[i]);
		if (!rc)
			rc = builder_link(m->b, m->id[sw], port, m->node[slot].id,
					  m->node[slot].ports, err);
	}
	return rc;
}

static bool slurm_topology_names(const struct slurm_switch *s, uint32_t other)
{
	return s->nbelow &&
	       bsearch(&other, s->below, s->nbelow, sizeof(*s->below), slurm_topology_by_number);
}

/* One link per pair: where two switches name each other, the one with the lower index adds it. */
static int slurm_topology_connect_switches(struct maker *m, uint32_t sw, struct err *err)
{
	const struct slurm_switch *s = &m->topo->sw[sw];
	uint32_t here = 0, there = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->nbelow && !rc; i++) {
		uint32_t to = s->below[i];

		if (to < sw && slurm_topology_names(&m->topo->sw[to], sw))
			continue;
		rc = slurm_topology_take_port(&here, m, sw, err);
		if (!rc)
			rc = slurm_topology_take_port(&there, m, to, err);
		if (!rc)
			rc = builder_link(m->b, m->id[sw], here, m->id[to], there, err);
	}
	return rc;
}

int slurm_topology_build(struct builder *b, const struct slurm_topology *topo, struct err *err)
{
	struct maker m = { .b = b, .topo = topo, .nslot = 64 };
	size_t nodes = 0;
	int rc = 0;

	for (uint32_t i = 0; i < topo->n; i++)
		nodes += topo->sw[i].nnodes;
	while (m.nslot < 2 * nodes)
		m.nslot *= 2;
	m.id = xcalloc(topo->n, sizeof(*m.id));
	m.used = xcalloc(topo->n, sizeof(*m.used));
	m.node = xcalloc(m.nslot, sizeof(*m.node));
	for (uint32_t i = 0; i < topo->n && !rc; i++)
		rc = slurm_topology_add_node(&m.id[i], b, NODE_SWITCH, topo->sw[i].name, err);
	for (uint32_t i = 0; i < topo->n && !rc; i++)
		rc = slurm_topology_connect_nodes(&m, i, err);
	for (uint32_t i = 0; i < topo->n && !rc; i++)
		rc = slurm_topology_connect_switches(&m, i, err);
	free(m.id);
	free(m.used);
	free(m.node);
	return rc;
}
