/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_subnet.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/format/opensm/osm_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One half of a line: "{ CA Ports:02 SystemGUID:... {desc} LID:0001 PN:01 }" */
struct half {
	enum node_kind kind;
	uint64_t ports, system_guid, node_guid, port_guid, lid, port;
	char desc[256];
};

static const struct speed {
	const char *osm, *name;
} speeds[] = {
	{ "2.5", "SDR" }, { "5", "DDR" },  { "10", "QDR" },  { "FDR10", "FDR10" }, { "14", "FDR" },
	{ "25", "EDR" },  { "50", "HDR" }, { "100", "NDR" }, { "200", "XDR" },
};

/* KEY:hex, somewhere before the description */
static bool osm_subnet_field(uint64_t *out, const char *s, const char *end, const char *key)
{
	const char *at = strstr(s, key);

	if (!at || at >= end)
		return false;
	at += strlen(key);
	return scan_hex(out, &at);
}

static bool osm_subnet_read_kind(enum node_kind *kind, const char **s)
{
	if (scan_word(s, "SW"))
		*kind = NODE_SWITCH;
	else if (scan_word(s, "CA"))
		*kind = NODE_CA;
	else if (scan_word(s, "R"))
		*kind = NODE_ROUTER;
	else
		return false;
	return true;
}

static bool osm_subnet_read_half(struct half *h, const char **s)
{
	const char *p = *s, *desc, *end;
	size_t len;

	scan_blank(&p);
	if (!scan_word(&p, "{") || !scan_blank(&p) || !osm_subnet_read_kind(&h->kind, &p))
		return false;
	desc = strchr(p, '{');
	end = desc ? strstr(desc, "} LID:") : NULL;
	if (!end || !osm_subnet_field(&h->ports, p, desc, "Ports:") ||
	    !osm_subnet_field(&h->node_guid, p, desc, "NodeGUID:") ||
	    !osm_subnet_field(&h->port_guid, p, desc, "PortGUID:"))
		return false;
	if (!osm_subnet_field(&h->system_guid, p, desc, "SystemGUID:"))
		h->system_guid = 0;
	len = (size_t)(end - desc - 1);
	if (len >= sizeof(h->desc))
		len = sizeof(h->desc) - 1;
	memcpy(h->desc, desc + 1, len);
	h->desc[len] = '\0';
	p = end + strlen("} LID:");
	if (!scan_hex(&h->lid, &p) || !scan_blank(&p) || !scan_word(&p, "PN:") ||
	    !scan_hex(&h->port, &p) || !scan_blank(&p) || !scan_word(&p, "}"))
		return false;
	*s = p;
	return true;
}

struct link {
	struct half a, b;
	enum port_state state;
	char rate[24]; /* as the builder wants it: "4xEDR" */
};

static enum port_state osm_subnet_read_state(const char **s)
{
	static const struct {
		const char *word;
		enum port_state state;
	} states[] = { { "ACT", PORT_ACTIVE },
		       { "ARM", PORT_ARMED },
		       { "INI", PORT_INIT },
		       { "DWN", PORT_DOWN },
		       { "DOW", PORT_DOWN } };

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (scan_word(s, states[i].word))
			return states[i].state;
	return PORT_UNKNOWN;
}

static const char *osm_subnet_read_speed(const char *s)
{
	size_t n = strcspn(s, " \t");

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if ((strlen(speeds[i].osm) == n && !strncmp(speeds[i].osm, s, n)) ||
		    (strlen(speeds[i].name) == n && !strncmp(speeds[i].name, s, n)))
			return speeds[i].name;
	return "";
}

static bool osm_subnet_read_link(struct link *k, const char *s)
{
	const char *width = "", *speed;
	uint64_t lanes = 0;

	if (!osm_subnet_read_half(&k->a, &s) || !osm_subnet_read_half(&k->b, &s))
		return false;
	scan_blank(&s);
	if (scan_word(&s, "PHY=") && scan_dec(&lanes, &s))
		width = "x";
	s += strcspn(s, " \t");
	scan_blank(&s);
	k->state = scan_word(&s, "LOG=") ? osm_subnet_read_state(&s) : PORT_UNKNOWN;
	speed = strstr(s, "SPD=");
	speed = speed ? osm_subnet_read_speed(speed + 4) : "";
	snprintf(k->rate, sizeof(k->rate), "%u%s%s", (unsigned)(lanes & 0xff), width, speed);
	return true;
}

static int osm_subnet_add_node(uint32_t *id, struct builder *b, const struct half *h,
			       struct err *err)
{
	int rc;

	if (h->port > FAB_MAX_PORT || h->ports > FAB_MAX_PORT || !h->port)
		return err_set(err, -EINVAL, "port 0x%x of 0x%x does not exist", (unsigned)h->port,
			       (unsigned)h->ports);
	rc = builder_node(id, b, h->kind, h->node_guid, (uint32_t)h->ports, h->desc, err);
	if (!rc)
		builder_set_system(b, *id, h->system_guid);
	return rc;
}

static int osm_subnet_set_port(struct builder *b, uint32_t id, const struct half *h,
			       const struct link *k, struct err *err)
{
	uint32_t own = h->kind == NODE_SWITCH ? 0 : (uint32_t)h->port;
	int rc = builder_port_guid(b, id, own, h->port_guid, err);

	if (!rc)
		rc = builder_port_lid(b, id, own, h->lid > FAB_MAX_LID ? 0 : (uint32_t)h->lid, 0,
				      err);
	if (!rc)
		rc = builder_port_state(b, id, (uint32_t)h->port, k->state, 0, err);
	if (!rc)
		rc = builder_port_link(b, id, (uint32_t)h->port, k->rate, err);
	return rc;
}

/* The link first: a line that contradicts an earlier one must not change what that one said. */
static int osm_subnet_add_link(struct builder *b, const struct link *k, struct err *err)
{
	uint32_t x, y;
	int rc = osm_subnet_add_node(&x, b, &k->a, err);

	if (!rc)
		rc = osm_subnet_add_node(&y, b, &k->b, err);
	if (!rc && k->state != PORT_DOWN)
		rc = builder_link(b, x, (uint32_t)k->a.port, y, (uint32_t)k->b.port, err);
	if (!rc)
		rc = osm_subnet_set_port(b, x, &k->a, k, err);
	if (!rc)
		rc = osm_subnet_set_port(b, y, &k->b, k, err);
	return rc;
}

/* --- is the file whole? ---------------------------------------------------------------------- */

/* OpenSM writes each link twice, once from each of its ends: a node without a line of its
 * own stood behind the end of what is left. */
struct named {
	uint64_t guid, line;
	bool own; /* this line is the node's, else it is named as the other end */
};

struct firsts {
	VEC(struct named) v;
};

static void osm_subnet_firsts_add(struct firsts *x, const struct link *k, uint64_t line)
{
	vec_push(&x->v, ((struct named){ k->a.node_guid, line, true }));
	vec_push(&x->v, ((struct named){ k->b.node_guid, line, false }));
}

static int osm_subnet_by_guid(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->own != b->own ? b->own - a->own : (a->line > b->line) - (a->line < b->line);
}

static int osm_subnet_by_line(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return (a->line > b->line) - (a->line < b->line);
}

static void osm_subnet_firsts_check(struct firsts *x, struct read_report *report)
{
	size_t n = 0;

	qsort(x->v.v, x->v.n, sizeof(*x->v.v), osm_subnet_by_guid);
	for (size_t i = 0, j; i < x->v.n; i = j) {
		struct named first = x->v.v[i];

		for (j = i; j < x->v.n && x->v.v[j].guid == first.guid; j++)
			;
		if (!first.own)
			x->v.v[n++] = first;
	}
	qsort(x->v.v, n, sizeof(*x->v.v), osm_subnet_by_line);
	for (size_t i = 0; i < n; i++)
		read_report_gap(report, x->v.v[i].line,
				"node 0x%016llx is at the other end of this link and has no line "
				"of its own",
				(unsigned long long)x->v.v[i].guid);
}

/* Takes over the link in a line. */
static bool osm_subnet_take_line(struct builder *b, struct firsts *firsts, const struct lines *l,
				 const char *s, struct read_report *report)
{
	struct err why = { "" };
	struct link k;
	int rc;

	if (lines_unended(l)) {
		read_report_gap(report, lines_number(l),
				"the file ends in the middle of this line: it is truncated");
		return false;
	}
	if (!osm_subnet_read_link(&k, s)) {
		read_report_skip(report, lines_number(l), "not a link: %.60s", s);
		return false;
	}
	rc = osm_subnet_add_link(b, &k, &why);
	if (rc == -EEXIST)
		read_report_gap(report, lines_number(l), "%.150s", why.text);
	else if (rc)
		read_report_skip(report, lines_number(l), "%.150s", why.text);
	if (rc)
		return false;
	osm_subnet_firsts_add(firsts, &k, lines_number(l));
	return true;
}

int osm_subnet_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		    struct err *err)
{
	struct firsts firsts = { 0 };
	uint64_t links = 0;
	struct lines *l = lines_new(file, path, report);
	char *s;
	int rc;

	while ((s = lines_next_data(l)))
		links += osm_subnet_take_line(b, &firsts, l, s, report);
	if (report)
		report->records = links;
	rc = lines_end(l, 0, links ? NULL : "not an opensm-subnet.lst: no link in it", err);
	if (!rc)
		osm_subnet_firsts_check(&firsts, report);
	vec_free(&firsts.v);
	lines_free(l);
	return rc;
}

/* A node as the file sees it: a switch, or all ends of one CA. */
struct wnode {
	uint64_t guid;
	uint32_t sw;	   /* or FAB_NONE */
	uint32_t first, n; /* of the sorted ends */
	unsigned nports;
};

struct writer {
	struct text_out *o;
	const struct fabric *f;
	uint32_t *end;	    /* by node GUID, then port */
	uint32_t *end_node; /* node of each end */
	struct wnode *node;
	uint32_t nnode;
};

static int osm_subnet_by_node(const void *x, const void *y, void *ctx)
{
	const struct fabric *f = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (f->term_node_guid[a] != f->term_node_guid[b])
		return f->term_node_guid[a] < f->term_node_guid[b] ? -1 : 1;
	return (int)f->term_ca_port[a] - (int)f->term_ca_port[b];
}

static void osm_subnet_collect(struct writer *w)
{
	const struct fabric *f = w->f;

	w->node = xcalloc(f->nsw + f->nend, sizeof(*w->node));
	w->end = xcalloc(f->nend, sizeof(*w->end));
	w->end_node = xcalloc(f->nend, sizeof(*w->end_node));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		w->node[w->nnode++] = (struct wnode){ f->sw_guid[sw], sw, 0, 0, f->sw_nports[sw] };
	for (uint32_t e = 0; e < f->nend; e++)
		w->end[e] = e;
	qsort_r(w->end, f->nend, sizeof(*w->end), osm_subnet_by_node, (void *)f);
	for (uint32_t i = 0; i < f->nend; i++) {
		uint32_t e = w->end[i];
		struct wnode *n = &w->node[w->nnode - 1];

		if (!i || n->guid != f->term_node_guid[e]) {
			n = &w->node[w->nnode++];
			*n = (struct wnode){ f->term_node_guid[e], FAB_NONE, i, 0, 0 };
		}
		n->n++;
		if (n->nports < f->term_ca_port[e])
			n->nports = f->term_ca_port[e];
		w->end_node[e] = w->nnode - 1;
	}
}

/* The file's own brackets must not come from a description. */
static void osm_subnet_put_desc(struct text_out *o, const char *s)
{
	for (; *s; s++)
		text_out_bytes(o, *s == '{' ? "(" : *s == '}' ? ")" : s, 1);
}

static void osm_subnet_put_half(struct writer *w, const struct wnode *n, uint32_t end, uint8_t port)
{
	const struct fabric *f = w->f;
	struct text_out *o = w->o;
	bool sw = n->sw != FAB_NONE;
	uint64_t system = sw || !f->term_sys_guid[end] ? n->guid : f->term_sys_guid[end];

	text_out_fmt(o,
		     "{ %s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64
		     " PortGUID:%016" PRIx64 " VenID:000000 DevID:0000 Rev:00000000 {",
		     sw ? "SW" : "CA", n->nports, system, n->guid,
		     sw ? n->guid : f->term_guid[end]);
	osm_subnet_put_desc(o, sw ? f->sw_desc[n->sw] : f->term_desc[end]);
	text_out_fmt(o, "} LID:%04X PN:%02X }", sw ? f->sw_lid[n->sw] : f->term_lid[end], port);
}

static void osm_subnet_put_rate(struct text_out *o, const struct port *p)
{
	static const char *const states[] = { "ACT", "DWN", "INI", "ARM", "ACT" };
	const char *spd = "2.5";

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if (!strcmp(p->speed, speeds[i].name))
			spd = speeds[i].osm;
	text_out_fmt(o, " PHY=%ux LOG=%s SPD=%s\n", p->width ? p->width : 4u,
		     states[p->state <= PORT_ACTIVE ? p->state : 0], spd);
}

static void osm_subnet_put_switch(struct writer *w, const struct wnode *n)
{
	const struct fabric *f = w->f;

	for (uint32_t p = 1; p <= f->sw_nports[n->sw]; p++) {
		const struct port *port = fabric_port(f, n->sw, (uint8_t)p);

		if (port->chan == FAB_NONE && port->term == FAB_NONE)
			continue;
		osm_subnet_put_half(w, n, FAB_NONE, (uint8_t)p);
		text_out_str(w->o, " ");
		if (port->chan != FAB_NONE)
			osm_subnet_put_half(w, &w->node[f->chan_dst[port->chan]], FAB_NONE,
					    f->chan_rport[port->chan]);
		else
			osm_subnet_put_half(w, &w->node[w->end_node[port->term]], port->term,
					    f->term_ca_port[port->term]);
		osm_subnet_put_rate(w->o, port);
	}
}

static void osm_subnet_put_ca(struct writer *w, const struct wnode *n)
{
	const struct fabric *f = w->f;

	for (uint32_t i = n->first; i < n->first + n->n; i++) {
		uint32_t e = w->end[i];

		osm_subnet_put_half(w, n, e, f->term_ca_port[e]);
		text_out_str(w->o, " ");
		osm_subnet_put_half(w, &w->node[f->term_sw[e]], FAB_NONE, f->term_port[e]);
		osm_subnet_put_rate(w->o, fabric_port(f, f->term_sw[e], f->term_port[e]));
	}
}

int osm_subnet_write(FILE *file, const struct fabric *f, struct err *err)
{
	struct writer w = { .o = text_out_new(file), .f = f };
	uint64_t *guid;
	uint32_t *order;

	osm_subnet_collect(&w);
	guid = xcalloc(w.nnode, sizeof(*guid));
	for (uint32_t i = 0; i < w.nnode; i++)
		guid[i] = w.node[i].guid;
	order = osm_order_new(guid, w.nnode);
	for (uint32_t i = 0; i < w.nnode; i++) {
		const struct wnode *n = &w.node[order[i]];

		if (n->sw != FAB_NONE)
			osm_subnet_put_switch(&w, n);
		else
			osm_subnet_put_ca(&w, n);
		if (!text_out_step(w.o, i + 1, w.nnode))
			break;
	}
	free(order);
	free(guid);
	free(w.node);
	free(w.end);
	free(w.end_node);
	return text_out_end(w.o, "opensm-subnet.lst", err);
}
