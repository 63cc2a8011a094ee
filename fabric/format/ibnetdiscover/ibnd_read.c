/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes go to the builder as their records come; cables wait until all ids are known, since
 * records refer to later ones.
 */
#include "fabric/format/ibnetdiscover/ibnd.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"
#include "fabric/format/ibnetdiscover/ibnd_ids.h"

#include <errno.h>
#include <string.h>

/* One end of a cable, from a record. */
struct half {
	uint64_t line;
	uint32_t node, port, peer_port;
	uint64_t peer_guid; /* of the port; 0 unknown */
	const char *peer_id;
};

struct reader {
	struct builder *b;
	struct lines *lines;
	struct ibnd_report *report;
	struct ibnd_ids *ids;
	struct arena *arena;
	VEC(struct half) halves;
	VEC(uint32_t) nports; /* of each node, from its record; 0 unknown */

	uint32_t node;	/* of the record being read; FAB_NONE none */
	uint32_t last;	/* node of the last record */
	bool commented; /* cables have comments behind them */
	enum node_kind kind;
	uint64_t next_guid[3]; /* by enum node_kind: for the next record of that kind */
	bool given[3];	       /* next_guid comes from a line */
	uint64_t system;       /* system image GUID for the next record; 0: no line said so */
};

#define SKIP(r, ...)	  read_report_skip(&(r)->report->read, lines_number((r)->lines), __VA_ARGS__)
#define GAP(r, line, ...) read_report_gap(&(r)->report->read, line, __VA_ARGS__)

/* --- scanners ----------------------------------------------------------------------------- */

/* Text between quotes; ends it with a zero. */
static char *ibnd_read_scan_quoted(char **s)
{
	char *begin = *s, *end;

	if (*begin != '"')
		return NULL;
	end = strchr(++begin, '"');
	if (!end)
		return NULL;
	*end = '\0';
	*s = end + 1;
	return begin;
}

/* "[12]" */
static bool ibnd_read_scan_port(uint32_t *port, const char **s)
{
	const char *p = *s;
	uint64_t v;

	if (!scan_word(&p, "[") || !scan_blank(&p) || !scan_dec(&v, &p) || !scan_blank(&p) ||
	    !scan_word(&p, "]") || v > FAB_MAX_PORT)
		return false;
	*port = (uint32_t)v;
	*s = p;
	return true;
}

/* "(8f10500200b50)", may be missing. */
static uint64_t ibnd_read_scan_paren_guid(const char **s)
{
	const char *p = *s;
	uint64_t guid;

	if (!scan_word(&p, "(") || !scan_hex(&guid, &p) || !scan_word(&p, ")"))
		return 0;
	*s = p;
	return guid;
}

/* Number after a word, 0 when it is not there. */
static uint32_t ibnd_read_number_after(const char *text, const char *word)
{
	const char *s = strstr(text, word);
	uint64_t v;

	if (!s)
		return 0;
	s += strlen(word);
	return scan_blank(&s) && scan_dec(&v, &s) && v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* ibnetdiscover ends the lines of ports with the width and the speed of the link. */
static bool ibnd_read_ends_with_speed(const char *s)
{
	size_t n = strlen(s);

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return n >= 5 && (s[n - 1] == 'R' || !strncmp(s + n - 5, "FDR10", 5)) &&
	       memchr(s, 'x', n) != NULL;
}

/* The comment of a line: what stands before, between and after its quotes. */
struct comment {
	const char *before, *desc, *after; /* desc NULL: none */
};

/* Splits at the first and the last quote: descriptions may hold quotes and more '#'. */
static void ibnd_read_comment_split(struct comment *c, char *rest)
{
	char *hash = strchr(rest, '#'), *open, *close;

	*c = (struct comment){ "", NULL, "" };
	if (!hash)
		return;
	c->before = c->after = hash + 1;
	open = strchr(hash, '"');
	close = strrchr(hash, '"');
	if (!open || close == open)
		return;
	*open = *close = '\0';
	c->desc = open + 1;
	c->after = close + 1;
}

/* --- records ------------------------------------------------------------------------------ */

static const char *ibnd_read_record_kind(enum node_kind *kind, const char *line)
{
	static const struct {
		const char *word;
		enum node_kind kind;
	} words[] = { { "Switch", NODE_SWITCH },
		      { "Ca", NODE_CA },
		      { "Hca", NODE_CA },
		      { "Rt", NODE_ROUTER } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *s = line;

		if (scan_word(&s, words[i].word) && (*s == ' ' || *s == '\t')) {
			*kind = words[i].kind;
			return s;
		}
	}
	return NULL;
}

/* GUID of a new record: of the line above it, else in its id, else counted up as ibsim does. */
static uint64_t ibnd_read_record_guid(struct reader *r, enum node_kind kind, const char *id,
				      uint32_t nports)
{
	enum node_kind id_kind;
	uint64_t guid;

	if (!r->given[kind] && ibnd_id_guid(&id_kind, &guid, id))
		return guid;
	guid = r->next_guid[kind];
	r->next_guid[kind] += kind == NODE_SWITCH ? 1 : nports + 1;
	r->given[kind] = false;
	return guid;
}

static uint32_t ibnd_read_add_node(struct reader *r, enum node_kind kind, uint64_t guid,
				   uint32_t nports, const char *id, const char *desc)
{
	struct err err;
	uint32_t node;

	if (builder_node(&node, r->b, kind, guid, nports, desc, &err)) {
		SKIP(r, "%s", err.text);
		return FAB_NONE;
	}
	if (node == r->nports.n) {
		vec_push(&r->nports, 0);
		r->report->switches += kind == NODE_SWITCH;
		r->report->cas += kind == NODE_CA;
		r->report->routers += kind == NODE_ROUTER;
	}
	r->nports.v[node] = nports;
	ibnd_ids_set(r->ids, id, node);
	return node;
}

static void ibnd_read_switch_facts(struct reader *r, const struct comment *c)
{
	builder_set_enhanced_sp0(r->b, r->node, strstr(c->after, "enhanced port 0") != NULL);
	builder_port_lid(r->b, r->node, 0, ibnd_read_number_after(c->after, "lid "),
			 ibnd_read_number_after(c->after, "lmc "), NULL);
}

/* Switch	36 "S-0008f10500200b50"		# "..." enhanced port 0 lid 9 lmc 0 */
static void ibnd_read_record(struct reader *r, enum node_kind kind, char *s)
{
	struct comment c;
	uint64_t nports, guid, system = r->system;
	char *id = NULL;
	const char *p = s;

	r->node = r->last = FAB_NONE;
	r->kind = kind;
	r->system = 0;
	if (scan_blank(&p) && scan_dec(&nports, &p) && scan_blank(&p)) {
		s += p - s;
		id = ibnd_read_scan_quoted(&s);
	}
	if (!id || !*id || !nports || nports > FAB_MAX_PORT) {
		SKIP(r,
		     "a node needs its number of ports (1 to %d) and its id in quotes; its cables "
		     "are ignored",
		     FAB_MAX_PORT);
		return;
	}
	ibnd_read_comment_split(&c, s);
	guid = ibnd_read_record_guid(r, kind, id, (uint32_t)nports);
	if (builder_find(r->b, guid) != FAB_NONE &&
	    builder_find(r->b, guid) != ibnd_ids_find(r->ids, id)) {
		SKIP(r, "\"%s\" has the same GUID 0x%016llx as another node; it is ignored", id,
		     (unsigned long long)guid);
		return;
	}
	r->node = ibnd_read_add_node(r, kind, guid, (uint32_t)nports, id, c.desc ? c.desc : id);
	r->last = r->node;
	r->report->read.records += r->node != FAB_NONE;
	if (r->node != FAB_NONE && kind == NODE_SWITCH)
		ibnd_read_switch_facts(r, &c);
	else if (r->node != FAB_NONE)
		builder_set_system(r->b, r->node, system);
}

/* --- cables ------------------------------------------------------------------------------- */

static void ibnd_read_port_facts(struct reader *r, const struct half *h, uint64_t port_guid,
				 const struct comment *c)
{
	const char *s = strstr(c->after, "lid ");
	uint64_t lid;

	if (port_guid)
		builder_port_guid(r->b, h->node, h->port, port_guid, NULL);
	if (r->kind != NODE_SWITCH && c->desc)
		builder_port_lid(r->b, h->node, h->port, ibnd_read_number_after(c->before, "lid "),
				 ibnd_read_number_after(c->before, "lmc "), NULL);
	if (s && (s += 4) && scan_blank(&s) && scan_dec(&lid, &s) && scan_blank(&s)) {
		char link[16];

		snprintf(link, sizeof(link), "%.*s", (int)strcspn(s, " \t"), s);
		builder_port_link(r->b, h->node, h->port, link, NULL);
	}
}

/*
 * of a switch:  [1]	"H-003048c749cd0000"[1](3048c749cd0001)		# "desc" lid 72 4xDDR
 * of a CA:      [1](3048c749cd0001)	"S-..."[4]	# lid 72 lmc 0 "desc" lid 9 4xDDR
 * for ibsim:    [1] "S0"[3]
 */
static void ibnd_read_port(struct reader *r, char *line)
{
	struct half h = { .line = lines_number(r->lines), .node = r->node, .peer_port = 1 };
	const char *p = line;
	uint64_t port_guid;
	struct comment c;
	char *s, *id;

	if (!ibnd_read_scan_port(&h.port, &p) || !h.port) {
		SKIP(r, "a cable line begins with the port in brackets, such as [1]");
		return;
	}
	if (h.port > r->nports.v[r->node]) {
		SKIP(r, "port %u is above the %u ports of this node", h.port, r->nports.v[r->node]);
		return;
	}
	port_guid = ibnd_read_scan_paren_guid(&p);
	scan_blank(&p);
	s = line + (p - line);
	id = ibnd_read_scan_quoted(&s);
	p = s;
	if (!id || !*id) {
		SKIP(r, "port %u: the id of the other end is missing", h.port);
		return;
	}
	scan_blank(&p);
	if (*p == '[' && (!ibnd_read_scan_port(&h.peer_port, &p) || !h.peer_port)) {
		SKIP(r, "port %u: \"%s\" has no such port", h.port, id);
		return;
	}
	h.peer_guid = ibnd_read_scan_paren_guid(&p);
	r->commented = r->commented || strchr(p, '#');
	ibnd_read_comment_split(&c, s + (p - s));
	h.peer_id = arena_strdup(r->arena, id);
	ibnd_read_port_facts(r, &h, port_guid, &c);
	vec_push(&r->halves, h);
	r->report->read.records++;
}

/* --- is the file whole? --------------------------------------------------------------------- */

/* Is the last line, which has no end, only a part of one?  Those that people write are whole
 * without it. */
static bool ibnd_read_is_part(const struct reader *r, const char *line)
{
	if (!lines_unended(r->lines))
		return false;
	if (*line == '[' && !strchr(line, '#'))
		return r->commented;
	return *line != '[' || !ibnd_read_ends_with_speed(line);
}

/* Ports of the last record that have a line: the file may end before the others. */
static void ibnd_read_list_last(bool listed[FAB_MAX_PORT + 1], const struct reader *r)
{
	memset(listed, 0, FAB_MAX_PORT + 1);
	for (size_t i = 0; i < r->halves.n; i++)
		if (r->halves.v[i].node == r->last)
			listed[r->halves.v[i].port] = true;
}

/*
 * Does the cable lead nowhere?  In a complete file every peer has a record, and the last record
 * lists all cables to its node.  Unreadable lines in the middle are harmless: the other end has the
 * same cable.  A host whose line is missing has no LID; a switch has its own in its record.
 */
static bool ibnd_read_dangles(struct reader *r, const struct half *h, uint32_t peer,
			      const bool listed[FAB_MAX_PORT + 1])
{
	bool host;

	if (peer == FAB_NONE) {
		GAP(r, h->line, "port %u leads to \"%.60s\"[%u], which has no record", h->port,
		    h->peer_id, h->peer_port);
		return true;
	}
	if (r->nports.v[peer] && h->peer_port > r->nports.v[peer]) {
		GAP(r, h->line, "port %u leads to port %u of \"%.60s\", which has only %u", h->port,
		    h->peer_port, h->peer_id, r->nports.v[peer]);
		return true;
	}
	if (peer != r->last || h->node == peer || listed[h->peer_port])
		return false;
	host = r->kind != NODE_SWITCH;
	GAP(r, h->line, "port %u leads to \"%.60s\"[%u], which has no line for that port%s",
	    h->port, h->peer_id, h->peer_port, host ? "" : ": the cable is taken from this end");
	return host;
}

/* A part without a cable is none of a fabric. */
static int ibnd_read_refuse_bare(const struct reader *r, struct err *err)
{
	const struct read_report *report = &r->report->read;
	char first[300] = "";

	if (r->report->cables)
		return 0;
	if (report->nnotes)
		read_report_line(first, sizeof(first), report, 0);
	return err_set(err, -ENODATA, "%s: no cable in it (%llu lines): is it truncated?%s%s",
		       lines_path(r->lines), (unsigned long long)report->lines, *first ? " " : "",
		       first);
}

struct cable {
	uint64_t a, b; /* node << 8 | port; a < b */
};

static int ibnd_read_cable_order(const void *x, const void *y)
{
	const struct cable *m = x, *n = y;

	if (m->a != n->a)
		return m->a < n->a ? -1 : 1;
	return (m->b > n->b) - (m->b < n->b);
}

/* Cables that are listed at both ends count once. */
static uint32_t ibnd_read_count_cables(struct cable *c, size_t n)
{
	uint32_t count = n > 0;

	if (n)
		qsort(c, n, sizeof(*c), ibnd_read_cable_order);
	for (size_t i = 1; i < n; i++)
		count += ibnd_read_cable_order(&c[i - 1], &c[i]) != 0;
	return count;
}

static void ibnd_read_connect_halves(struct reader *r)
{
	struct cable *list = xcalloc(r->halves.n, sizeof(*list));
	bool listed[FAB_MAX_PORT + 1];
	size_t n = 0;

	ibnd_read_list_last(listed, r);
	for (size_t i = 0; i < r->halves.n; i++) {
		const struct half *h = &r->halves.v[i];
		uint32_t peer = ibnd_ids_find(r->ids, h->peer_id);
		uint64_t a = (uint64_t)h->node << 8 | h->port;
		uint64_t b = (uint64_t)peer << 8 | h->peer_port;
		struct err err;
		int rc;

		if (ibnd_read_dangles(r, h, peer, listed))
			continue;
		rc = builder_link(r->b, h->node, h->port, peer, h->peer_port, &err);
		if (rc == -EEXIST)
			GAP(r, h->line, "%s", err.text);
		else if (rc)
			read_report_skip(&r->report->read, h->line, "%s", err.text);
		if (rc)
			continue;
		if (h->peer_guid)
			builder_port_guid(r->b, peer, h->peer_port, h->peer_guid, NULL);
		list[n++] = a < b ? (struct cable){ a, b } : (struct cable){ b, a };
	}
	r->report->cables = ibnd_read_count_cables(list, n);
	free(list);
}

/* --- the file ----------------------------------------------------------------------------- */

/* key=value lines: the GUIDs count, the others are passed over. */
static bool ibnd_read_key(struct reader *r, const char *line)
{
	static const struct {
		const char *word;
		enum node_kind kind;
	} keys[] = { { "switchguid=", NODE_SWITCH },
		     { "caguid=", NODE_CA },
		     { "hcaguid=", NODE_CA },
		     { "hcaguids=", NODE_CA },
		     { "rtguid=", NODE_ROUTER } };
	const char *eq = line + strspn(line, "abcdefghijklmnopqrstuvwxyz"), *sys = line;

	if (eq == line || *eq != '=')
		return false;
	r->node = FAB_NONE;
	if (scan_word(&sys, "sysimgguid=") && !scan_hex(&r->system, &sys))
		r->system = 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *s = line;
		uint64_t guid;

		if (!scan_word(&s, keys[i].word))
			continue;
		if (!scan_hex(&guid, &s) || !guid) {
			SKIP(r, "%sis not followed by a GUID", keys[i].word);
			return true;
		}
		r->next_guid[keys[i].kind] = guid;
		r->given[keys[i].kind] = true;
	}
	return true;
}

static void ibnd_read_line(struct reader *r, char *line)
{
	enum node_kind kind;
	const char *rest;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return;
	if (ibnd_read_is_part(r, line)) {
		GAP(r, lines_number(r->lines),
		    "the file ends in the middle of this line: it is truncated");
		return;
	}
	rest = ibnd_read_record_kind(&kind, line);
	if (rest)
		ibnd_read_record(r, kind, line + (rest - line));
	else if (*line == '[' && r->node != FAB_NONE)
		ibnd_read_port(r, line);
	else if (*line == '[')
		SKIP(r, "a cable before any node");
	else if (!ibnd_read_key(r, line))
		SKIP(r, "neither a node nor a cable nor a comment");
}

static int ibnd_read_refuse_empty(const struct reader *r, const char *path, struct err *err)
{
	const struct read_report *report = &r->report->read;
	char first[300];

	if (!report->nnotes)
		return err_set(err, -EINVAL, "%s: no switch in it (%llu lines)", path,
			       (unsigned long long)report->lines);
	read_report_line(first, sizeof(first), report, 0);
	return err_set(err, -EINVAL,
		       "no switch in this file, so it is not output of ibnetdiscover; %s", first);
}

int ibnd_read(struct builder **out, FILE *in, const char *path, struct ibnd_report *report,
	      struct err *err)
{
	struct ibnd_report own;
	struct reader r = {
		.report = report ? report : &own,
		.node = FAB_NONE,
		.last = FAB_NONE,
		.next_guid = { [NODE_SWITCH] = 0x100000,
			       [NODE_CA] = 0x200000,
			       [NODE_ROUTER] = 0x300000 },
	};
	char *line;
	int rc;

	memset(r.report, 0, sizeof(*r.report));
	r.b = builder_new();
	r.ids = ibnd_ids_new();
	r.arena = arena_new();
	r.lines = lines_new(in, path, &r.report->read);
	while ((line = lines_next(r.lines, NULL)))
		ibnd_read_line(&r, line);
	rc = lines_end(r.lines, 0, NULL, err);
	if (!rc && !r.report->switches)
		rc = ibnd_read_refuse_empty(&r, path, err);
	if (!rc) {
		ibnd_read_connect_halves(&r);
		rc = ibnd_read_refuse_bare(&r, err);
	}
	lines_free(r.lines);
	arena_free(r.arena);
	ibnd_ids_free(r.ids);
	vec_free(&r.halves);
	vec_free(&r.nports);
	if (rc)
		builder_free(r.b);
	*out = rc ? NULL : r.b;
	return rc;
}
