/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/files/slurm_topology.h"

#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/files/hostlist.h"
#include "fabric/files/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NO_LEVEL UINT32_MAX

struct slurm_topology {
	struct arena *arena;
	struct slurm_switch *sw;
	uint32_t n;
};

/* A switch while the file is read. */
struct draft {
	const char *name;
	bool described;
	uint64_t
		level; /* as scontrol tells it: above 0 its nodes are those of the switches below */
	uint64_t link_speed;
	VEC(const char *) nodes;
	VEC(const char *) below; /* names */
};

struct reader {
	struct slurm_topology *topo;
	struct read_report *report;
	struct lines *l;
	struct err *err;
	VEC(struct draft) list;
	char *partial; /* lines that ended in a backslash, joined */
};

static uint32_t find(const struct reader *x, const char *name)
{
	for (size_t i = 0; i < x->list.n; i++)
		if (!strcmp(x->list.v[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static struct draft *get(struct reader *x, const char *name)
{
	uint32_t i = find(x, name);
	struct draft fresh = { .name = name };

	if (i != UINT32_MAX)
		return &x->list.v[i];
	fresh.name = arena_strdup(x->topo->arena, name);
	vec_push(&x->list, fresh);
	return &x->list.v[x->list.n - 1];
}

/* Appends the names of a host list to one of the draft's two lists. */
static int add_names(struct reader *x, struct draft *d, bool nodes, const char *text)
{
	struct err why = { "" };
	struct hostlist *h;

	if (hostlist_parse(&h, text, &why))
		return err_set(x->err, -EINVAL, "%s:%llu: %s", lines_path(x->l),
			       (unsigned long long)lines_number(x->l), why.text);
	for (uint32_t i = 0; i < hostlist_count(h); i++) {
		const char *name = arena_strdup(x->topo->arena, hostlist_names(h)[i]);

		if (nodes)
			vec_push(&d->nodes, name);
		else
			vec_push(&d->below, name);
	}
	hostlist_free(h);
	return 0;
}

static bool is_key(const char *word, const char *key, const char **value)
{
	size_t n = strlen(key);

	if (strncasecmp(word, key, n) || word[n] != '=')
		return false;
	*value = word + n + 1;
	return true;
}

/* One "Key=value" behind the switch's name. */
static int set_key(struct reader *x, struct draft *d, const char *word)
{
	const char *value;

	if (is_key(word, "Nodes", &value))
		return add_names(x, d, true, value);
	if (is_key(word, "Switches", &value))
		return add_names(x, d, false, value);
	if (is_key(word, "LinkSpeed", &value) && scan_dec(&d->link_speed, &value))
		return 0;
	if (is_key(word, "Level", &value) && scan_dec(&d->level, &value))
		return 0;
	/* of blocks: their number and their size */
	if (is_key(word, "BlockIndex", &value) || is_key(word, "BlockSize", &value))
		return 0;
	read_report_warn(x->report, lines_number(x->l), "not understood: %.60s", word);
	return 0;
}

static int read_line(struct reader *x, char *s)
{
	char *save = NULL, *word;
	const char *name;
	struct draft *d;
	int rc = 0;

	s[strcspn(s, "#")] = '\0';
	word = strtok_r(s, " \t", &save);
	if (!word)
		return 0;
	if (is_key(word, "BlockSizes", &name) || is_key(word, "AggregatedBlock", &name))
		return 0;
	if ((!is_key(word, "SwitchName", &name) && !is_key(word, "BlockName", &name)) || !*name) {
		read_report_skip(x->report, lines_number(x->l), "not understood: %.60s", word);
		return 0;
	}
	d = get(x, name);
	if (d->described)
		read_report_warn(x->report, lines_number(x->l), "switch %.60s comes a second time",
				 name);
	d->described = true;
	while (!rc && (word = strtok_r(NULL, " \t", &save)))
		rc = set_key(x, d, word);
	if (!rc && x->report)
		x->report->records++;
	return rc;
}

/* Lines that end in a backslash go on in the next one. */
static int read_lines(struct reader *x)
{
	size_t len;
	char *s;
	int rc = 0;

	while (!rc && (s = lines_next(x->l, &len))) {
		bool more = len && s[len - 1] == '\\';
		char *whole;

		if (more)
			s[len - 1] = '\0';
		if (x->partial || more) {
			whole = xasprintf("%s%s", x->partial ? x->partial : "", s);
			free(x->partial);
			x->partial = whole;
			s = whole;
		}
		if (more && strlen(s) < LINES_MAX)
			continue;
		rc = read_line(x, s);
		free(x->partial);
		x->partial = NULL;
	}
	if (!rc && x->partial)
		rc = read_line(x, x->partial);
	return rc;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* Switches that are only named get an entry too. */
static void complete(struct reader *x)
{
	for (size_t i = 0; i < x->list.n; i++)
		for (size_t k = 0; k < x->list.v[i].below.n; k++) {
			const char *name = x->list.v[i].below.v[k];

			if (find(x, name) != UINT32_MAX)
				continue;
			read_report_warn(x->report, 0,
					 "switch %.60s is named by %.60s but not described", name,
					 x->list.v[i].name);
			get(x, name);
		}
}

static void finish_switch(struct reader *x, struct slurm_switch *to, const struct draft *d,
			  uint32_t self)
{
	const char **nodes = arena_array(x->topo->arena, const char *, d->nodes.n);
	uint32_t *below = arena_array(x->topo->arena, uint32_t, d->below.n), n = 0;

	to->name = d->name;
	to->link_speed = d->link_speed;
	if (d->nodes.n)
		qsort(d->nodes.v, d->nodes.n, sizeof(*d->nodes.v), by_name);
	for (size_t i = 0; i < d->nodes.n && !d->level; i++)
		if (!i || strcmp(d->nodes.v[i], d->nodes.v[i - 1]))
			nodes[to->nnodes++] = d->nodes.v[i];
	to->nodes = nodes;
	for (size_t i = 0; i < d->below.n; i++) {
		uint32_t sw = find(x, d->below.v[i]);

		if (sw != self)
			below[n++] = sw;
	}
	qsort(below, n, sizeof(*below), by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!i || below[i] != below[i - 1])
			below[to->nbelow++] = below[i];
	to->below = below;
}

static void set_levels(struct slurm_topology *topo)
{
	bool again = true;

	for (uint32_t i = 0; i < topo->n; i++)
		topo->sw[i].level = topo->sw[i].nnodes ? 0 : NO_LEVEL;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < topo->n; i++) {
			struct slurm_switch *s = &topo->sw[i];

			for (uint32_t k = 0; k < s->nbelow; k++) {
				uint32_t below = topo->sw[s->below[k]].level;

				if (below == NO_LEVEL || below + 1 >= s->level)
					continue;
				s->level = below + 1;
				again = true;
			}
		}
	}
	for (uint32_t i = 0; i < topo->n; i++)
		if (topo->sw[i].level == NO_LEVEL)
			topo->sw[i].level = 0;
}

static void finish(struct reader *x)
{
	struct slurm_topology *topo = x->topo;

	complete(x);
	topo->n = (uint32_t)x->list.n;
	topo->sw = arena_array(topo->arena, struct slurm_switch, topo->n);
	for (uint32_t i = 0; i < topo->n; i++)
		finish_switch(x, &topo->sw[i], &x->list.v[i], i);
	set_levels(topo);
}

int slurm_topology_read(struct slurm_topology **out, FILE *file, const char *path,
			struct read_report *report, struct err *err)
{
	struct reader x = { .report = report, .err = err };
	int rc;

	read_report_begin(report, path);
	x.l = lines_new(file, path, report);
	x.topo = xcalloc(1, sizeof(*x.topo));
	x.topo->arena = arena_new();
	rc = read_lines(&x);
	if (!rc && lines_error(x.l))
		rc = err_set(err, lines_error(x.l), "%s: reading stopped: %s", path,
			     strerror(-lines_error(x.l)));
	else if (!rc && !x.list.n)
		rc = err_set(err, -EINVAL,
			     "%s: not a topology.conf: no SwitchName= or BlockName= in it", path);
	if (!rc)
		finish(&x);
	for (size_t i = 0; i < x.list.n; i++) {
		vec_free(&x.list.v[i].nodes);
		vec_free(&x.list.v[i].below);
	}
	vec_free(&x.list);
	free(x.partial);
	lines_free(x.l);
	if (rc)
		slurm_topology_free(x.topo);
	else
		*out = x.topo;
	return rc;
}

void slurm_topology_free(struct slurm_topology *topo)
{
	if (!topo)
		return;
	arena_free(topo->arena);
	free(topo);
}

static void write_list(FILE *out, const char *key, uint32_t k, const char *name)
{
	if (!k)
		fprintf(out, " %s=", key);
	fprintf(out, "%s%s", k ? "," : "", name);
}

void slurm_topology_write(FILE *out, const struct slurm_topology *topo)
{
	for (uint32_t i = 0; i < topo->n; i++) {
		const struct slurm_switch *s = &topo->sw[i];

		fprintf(out, "SwitchName=%s", s->name);
		if (s->link_speed)
			fprintf(out, " LinkSpeed=%llu", (unsigned long long)s->link_speed);
		for (uint32_t k = 0; k < s->nnodes; k++)
			write_list(out, "Nodes", k, s->nodes[k]);
		for (uint32_t k = 0; k < s->nbelow; k++)
			write_list(out, "Switches", k, topo->sw[s->below[k]].name);
		fputc('\n', out);
	}
}

uint32_t slurm_topology_count(const struct slurm_topology *topo)
{
	return topo->n;
}

const struct slurm_switch *slurm_topology_switch(const struct slurm_topology *topo, uint32_t i)
{
	return &topo->sw[i];
}

/* 64-bit FNV-1a (Fowler, Noll, Vo) cut to 40 bits, under a prefix that tells what it names. */
static uint64_t guid_of(const char *name, uint64_t prefix)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
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
static int add_node(uint32_t *id, struct builder *b, enum node_kind kind, const char *name,
		    struct err *err)
{
	uint64_t guid = guid_of(name, kind == NODE_SWITCH ? SWITCH_PREFIX : NODE_PREFIX);

	while (builder_find(b, guid) != FAB_NONE)
		guid++;
	return builder_node(id, b, kind, guid, 0, name, err);
}

static int take_port(uint32_t *port, struct maker *m, uint32_t sw, struct err *err)
{
	if (m->used[sw] == FAB_MAX_PORT)
		return err_set(err, -ENOSPC, "switch %s has more than %d nodes and neighbours",
			       m->topo->sw[sw].name, FAB_MAX_PORT);
	*port = ++m->used[sw];
	return 0;
}

static uint32_t node_slot(const struct maker *m, const char *name)
{
	uint32_t i = (uint32_t)guid_of(name, 0) & (m->nslot - 1);

	while (m->node[i].name && strcmp(m->node[i].name, name))
		i = (i + 1) & (m->nslot - 1);
	return i;
}

/* A node below several switches has a port on each. */
static int connect_nodes(struct maker *m, uint32_t sw, struct err *err)
{
	const struct slurm_switch *s = &m->topo->sw[sw];
	uint32_t port = 0, slot;
	int rc = 0;

	for (uint32_t i = 0; i < s->nnodes && !rc; i++) {
		slot = node_slot(m, s->nodes[i]);
		if (!m->node[slot].name)
			rc = add_node(&m->node[slot].id, m->b, NODE_CA, s->nodes[i], err);
		m->node[slot].name = s->nodes[i];
		if (!rc)
			rc = take_port(&port, m, sw, err);
		if (!rc && ++m->node[slot].ports > FAB_MAX_PORT)
			rc = err_set(err, -ENOSPC, "node %s is below too many switches",
				     s->nodes[i]);
		if (!rc)
			rc = builder_link(m->b, m->id[sw], port, m->node[slot].id,
					  m->node[slot].ports, err);
	}
	return rc;
}

static bool names(const struct slurm_switch *s, uint32_t other)
{
	for (uint32_t i = 0; i < s->nbelow; i++)
		if (s->below[i] == other)
			return true;
	return false;
}

/* One link per pair: where two switches name each other, the one with the lower index adds it. */
static int connect_switches(struct maker *m, uint32_t sw, struct err *err)
{
	const struct slurm_switch *s = &m->topo->sw[sw];
	uint32_t here = 0, there = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->nbelow && !rc; i++) {
		uint32_t to = s->below[i];

		if (to < sw && names(&m->topo->sw[to], sw))
			continue;
		rc = take_port(&here, m, sw, err);
		if (!rc)
			rc = take_port(&there, m, to, err);
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
		rc = add_node(&m.id[i], b, NODE_SWITCH, topo->sw[i].name, err);
	for (uint32_t i = 0; i < topo->n && !rc; i++)
		rc = connect_nodes(&m, i, err);
	for (uint32_t i = 0; i < topo->n && !rc; i++)
		rc = connect_switches(&m, i, err);
	free(m.id);
	free(m.used);
	free(m.node);
	return rc;
}
