/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/carry.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/part/guid_match.h"
#include "fabric/model/tables/tables_origin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTS 256

struct carrying {
	const struct fabric *f;
	const struct tables *t;
	const struct endports *was;
	struct carry_report *report;
	struct tables *to;
	uint32_t *sw;	/* switches of f: those of was; FAB_NONE: new */
	uint32_t *end;	/* the same of ends */
	uint32_t *from; /* LIDs of f: the LID of was whose entries each has; 0: none */
	uint8_t *keep; /* by switch of f * PORTS + port of was: the port, if it leads there still */
	uint32_t kept; /* cable ends that are as they were */
	uint32_t named; /* so many are gone; the first of them are in the report */
};

/* --- what has gone, for people ------------------------------------------------------------- */

#define NAMED_MOST 5

__attribute__((format(printf, 2, 3))) static void carry_name(struct carrying *c, const char *fmt,
							     ...)
{
	char *text = c->report->gone;
	size_t len = strlen(text);
	va_list ap;

	if (c->named++ >= NAMED_MOST)
		return;
	if (len)
		len += (size_t)snprintf(text + len, CARRY_NAMES - len, ", ");
	va_start(ap, fmt);
	if (len < CARRY_NAMES)
		vsnprintf(text + len, CARRY_NAMES - len, fmt, ap);
	va_end(ap);
}

static void carry_name_rest(struct carrying *c)
{
	size_t len = strlen(c->report->gone);

	if (c->named > NAMED_MOST)
		snprintf(c->report->gone + len, CARRY_NAMES - len, " and %u more",
			 c->named - NAMED_MOST);
}

/* The port of the other end by which a cable of before came from that one; 0: there is none. */
static unsigned carry_port_back(const struct carrying *c, uint32_t sw, uint32_t port)
{
	const struct switch_links *links = c->was->links;

	for (uint32_t i = 0; i < links->nlink; i++) {
		const struct switch_link *l = &links->link[i];

		if (l->sw == sw && l->port == port)
			return l->to_port;
		if (l->to == sw && l->to_port == port)
			return l->port;
	}
	return 0;
}

/* --- where each port leads ------------------------------------------------------------------ */

static uint64_t carry_peer_now(const struct carrying *c, uint32_t sw, uint32_t port)
{
	uint32_t chan = fabric_chan(c->f, sw, (uint8_t)port);

	return chan == FAB_NONE ? 0 : c->f->sw_guid[c->f->chan_dst[chan]];
}

static void carry_keep_port(struct carrying *c, uint32_t sw, uint32_t port, uint32_t peer)
{
	const struct switch_links *links = c->was->links;
	uint64_t before = peer == FAB_NONE ? 0 : links->guid[peer];
	uint64_t now = port <= c->f->sw_nports[sw] ? carry_peer_now(c, sw, port) : 0;

	if (before != now || port > c->f->sw_nports[sw])
		return;
	c->keep[(size_t)sw * PORTS + port] = (uint8_t)port;
	c->kept += peer != FAB_NONE;
}

/* Once, by the end with the lower index. */
static void carry_name_cable(struct carrying *c, uint32_t sw, uint32_t port, uint32_t peer)
{
	uint32_t other;

	if (peer < c->sw[sw] || (peer == c->sw[sw] && carry_port_back(c, peer, port) < port))
		return;
	other = fabric_switch_by_guid(c->f, c->was->links->guid[peer]);
	carry_name(c, "%.60s/%u-%.60s/%u", c->f->sw_name[sw], port, c->f->sw_name[other],
		   c->named < NAMED_MOST ? carry_port_back(c, c->sw[sw], port) : 0);
}

/* Both ends of a cable see that it has gone or come; those of other switches are not counted. */
static void carry_count_cable(struct carrying *c, uint32_t sw, uint32_t port, uint32_t peer,
			      const bool *stays)
{
	uint32_t chan = fabric_chan(c->f, sw, (uint8_t)port);
	uint64_t before = peer == FAB_NONE ? 0 : c->was->links->guid[peer];

	if (before == carry_peer_now(c, sw, port))
		return;
	if (peer != FAB_NONE && stays[peer]) {
		c->report->cables_away++;
		carry_name_cable(c, sw, port, peer);
	}
	c->report->cables_came += chan != FAB_NONE && c->sw[c->f->chan_dst[chan]] != FAB_NONE;
}

static void carry_name_nodes(struct carrying *c, const bool *stays)
{
	const struct endports *was = c->was;
	bool *there = xcalloc(was->nend, sizeof(*there));

	for (uint32_t e = 0; e < c->f->nend; e++)
		if (c->end[e] != FAB_NONE)
			there[c->end[e]] = true;
	for (uint32_t sw = 0; sw < was->nsw; sw++)
		if (!stays[sw])
			carry_name(c, "switch 0x%016" PRIx64, was->links->guid[sw]);
	for (uint32_t e = 0; e < was->nend; e++)
		if (!there[e])
			carry_name(c, "port 0x%016" PRIx64, was->guid[e]);
	free(there);
}

static void carry_find_ports(struct carrying *c)
{
	uint32_t *peers = switch_links_peers(c->was->links);
	bool *stays = xcalloc(c->was->nsw, sizeof(*stays));

	for (uint32_t sw = 0; sw < c->f->nsw; sw++)
		if (c->sw[sw] != FAB_NONE)
			stays[c->sw[sw]] = true;
	carry_name_nodes(c, stays);
	memset(c->keep, FAB_NO_PORT, (size_t)c->f->nsw * PORTS);
	for (uint32_t sw = 0; sw < c->f->nsw; sw++)
		for (uint32_t port = 0; c->sw[sw] != FAB_NONE && port <= FAB_MAX_PORT; port++) {
			uint32_t peer = peers[(size_t)c->sw[sw] * PORTS + port];

			carry_keep_port(c, sw, port, peer);
			carry_count_cable(c, sw, port, peer, stays);
		}
	c->report->cables_away /= 2;
	c->report->cables_came /= 2;
	carry_name_rest(c);
	free(stays);
	free(peers);
}

/* --- which LID was which -------------------------------------------------------------------- */

static void carry_map_end(struct carrying *c, uint32_t e)
{
	const struct fabric *f = c->f;
	const struct endports *was = c->was;
	uint32_t old = c->end[e];
	bool here;

	for (uint32_t k = 0; k < 1u << f->lmc; k++)
		c->from[f->term_lid[e] + k] = old == FAB_NONE ? 0 : was->lid[old] + k;
	if (old == FAB_NONE)
		return;
	here = c->sw[f->term_sw[e]] == was->sw[old] && f->term_port[e] == was->port[old];
	c->report->moved += !here;
	c->report->relabelled += was->lid[old] != f->term_lid[e];
}

/* Entries of LIDs that nobody has now stay: their owner may come back. */
static void carry_map_lids(struct carrying *c)
{
	const struct fabric *f = c->f;

	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		c->from[lid] = lid <= c->was->max_lid ? lid : 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		c->from[f->sw_lid[sw]] = c->sw[sw] == FAB_NONE ? 0 : c->was->sw_lid[c->sw[sw]];
	for (uint32_t e = 0; e < f->nend; e++)
		carry_map_end(c, e);
}

/* --- the tables ----------------------------------------------------------------------------- */

static void carry_lft(struct carrying *c)
{
	const struct fabric *f = c->f;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint8_t *keep = c->keep + (size_t)sw * PORTS, *from;
		uint8_t *to = tables_row(c->to, sw);

		if (c->sw[sw] == FAB_NONE)
			continue;
		from = tables_row(c->t, c->sw[sw]);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (c->from[lid])
				to[lid] = keep[from[c->from[lid]]];
	}
}

void carry_row(uint8_t *to, const uint8_t *was, const uint32_t *from, const struct fabric *f)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (from[lid])
			to[lid] = was[from[lid]];
}

void carry_sls(struct tables *to, const struct fabric *f, const struct tables *t,
	       const uint32_t *from, const uint32_t *sw, const uint32_t *end)
{
	const uint32_t *like = t->sl_kind == SL_BY_SWITCH ? sw
			       : t->sl_kind == SL_BY_TERM ? end
							  : NULL;
	size_t rows = tables_sl_rows(t->sl_kind, f->nsw, f->nend);

	tables_sl_form(to, t->sl_kind, f);
	to->sl_const = t->sl_const;
	for (size_t i = 0; i < rows; i++)
		if (!like || like[i] != FAB_NONE)
			carry_row(to->sl + i * to->stride, t->sl + (like ? like[i] : i) * t->stride,
				  from, f);
}

bool carry_sl2vl_as_it_is(struct tables *to, const struct fabric *f, const struct tables *t)
{
	tables_sl2vl_form(to, t->sl2vl_kind, f);
	if (to->sl2vl && to->sl2vl_kind != SL2VL_FULL)
		memcpy(to->sl2vl, t->sl2vl, tables_sl2vl_bytes(to));
	return to->sl2vl_kind != SL2VL_FULL;
}

/* Of ports that the switch did not have, and of new switches, VL = SL. */
static void carry_sl2vl_switch(const struct carrying *c, uint32_t sw)
{
	uint32_t old = c->sw[sw], nports = old == FAB_NONE ? 0 : c->was->links->nports[old];

	for (uint32_t in = 0; in <= c->f->sw_nports[sw]; in++)
		for (uint32_t out = 0; out <= c->f->sw_nports[sw]; out++) {
			uint8_t *row = tables_sl2vl_row(c->to, sw, in, out);
			bool had = old != FAB_NONE && in <= nports && out <= nports;

			for (uint8_t sl = 0; sl < FAB_SLS; sl++)
				row[sl] = had ? tables_sl2vl_row(c->t, old, in, out)[sl] : sl;
		}
}

static void carry_sl2vl(struct carrying *c)
{
	if (carry_sl2vl_as_it_is(c->to, c->f, c->t))
		return;
	for (uint32_t sw = 0; sw < c->f->nsw; sw++)
		carry_sl2vl_switch(c, sw);
}

static void carry_make(struct carrying *c)
{
	const struct tables *t = c->t;

	c->to = tables_new(c->f, t->engine);
	carry_lft(c);
	carry_sls(c->to, c->f, t, c->from, c->sw, c->end);
	carry_sl2vl(c);
	tables_copy_origin(c->to, t);
}

/* --- what switches still hold --------------------------------------------------------------- */

static bool carry_leads(const struct fabric *f, uint32_t sw, uint8_t port)
{
	return !port || (port <= f->sw_nports[sw] && port_cabled(fabric_port(f, sw, port)));
}

bool carry_take_lfts(struct tables *t, const struct fabric *f, const struct tables *read)
{
	if (!digest_equal(&t->fingerprint, &read->fingerprint))
		return false;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint8_t *was = tables_row(t, sw), *is = tables_row(read, sw);

		if (!memcmp(was + 1, is + 1, f->max_lid)) /* most are */
			continue;
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (was[lid] != is[lid] &&
			    (was[lid] != FAB_NO_PORT || carry_leads(f, sw, is[lid])))
				return false;
	}
	memcpy(t->lft, read->lft, (size_t)t->nsw * t->stride);
	return true;
}

/* --- the whole ------------------------------------------------------------------------------ */

bool carry_report_text(char *buf, size_t size, const struct carry_report *r)
{
	static const struct {
		const char *one, *more, *what;
	} words[] = { { "switch", "switches", "gone" },
		      { "switch", "switches", "new" },
		      { "cable", "cables", "gone" },
		      { "cable", "cables", "new" },
		      { "host port", "host ports", "gone" },
		      { "host port", "host ports", "new" },
		      { "host port", "host ports", "with another LID" },
		      { "host port", "host ports", "moved" } };
	const uint32_t n[] = { r->switches_away, r->switches_came, r->cables_away, r->cables_came,
			       r->away,		 r->came,	   r->relabelled,  r->moved };
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(n) / sizeof(*n) && len < size; i++)
		if (n[i])
			len += (size_t)snprintf(
				buf + len, size - len, "%s%u %s %s", len ? ", " : "", n[i],
				n[i] == 1 ? words[i].one : words[i].more, words[i].what);
	return len;
}

static bool carry_ports_exist(const struct endports *was)
{
	const struct switch_links *links = was->links;

	for (uint32_t i = 0; i < was->nend; i++)
		if (was->sw[i] >= links->nsw || was->port[i] > links->nports[was->sw[i]])
			return false;
	return links->nsw == was->nsw;
}

static int carry_check(const struct fabric *f, const struct tables *t, const struct endports *was,
		       struct err *err)
{
	if (!digest_equal(&t->fingerprint, &was->fingerprint))
		return err_set(err, -EINVAL, "the tables are not those of these end ports");
	if (!was->links)
		return err_set(err, -ESTALE,
			       "they do not say for which switches and cables they are");
	if (!carry_ports_exist(was))
		return err_set(err, -EINVAL,
			       "damaged: its end ports are on switches or ports that do not exist");
	if (was->lmc != f->lmc)
		return err_set(err, -ESTALE, "they are for LMC %u, the fabric has LMC %u", was->lmc,
			       f->lmc);
	return 0;
}

static int carry_find(struct carrying *c, struct err *err)
{
	const struct fabric *f = c->f;
	const struct endports *was = c->was;
	uint32_t switches, ends;

	switches = guid_match(c->sw, f->sw_guid, f->nsw, was->links->guid, was->nsw);
	ends = guid_match(c->end, f->term_guid, f->nend, was->guid, was->nend);
	if (!switches)
		return err_set(err, -ESTALE, "none of their switches is in the fabric");
	c->report->switches_away = was->nsw - switches;
	c->report->switches_came = f->nsw - switches;
	c->report->away = was->nend - ends;
	c->report->came = f->nend - ends;
	return 0;
}

/* Generated fabrics have the same GUIDs, whatever they are. */
static int carry_check_same(const struct carrying *c, struct err *err)
{
	uint32_t was = c->was->links->nlink, now = c->f->nchan / 2, kept = c->kept / 2;

	if (kept * 4 >= (was < now ? was : now))
		return 0;
	return err_set(err, -ESTALE,
		       "they are for another fabric: only %u of its %u cables between switches are "
		       "in this one",
		       kept, was);
}

int tables_carry(struct tables **out, const struct fabric *f, const struct tables *t,
		 const struct endports *was, struct carry_report *report, struct err *err)
{
	struct carry_report ignored;
	struct carrying c = { .f = f, .t = t, .was = was, .report = report ? report : &ignored };
	int rc = carry_check(f, t, was, err);

	*out = NULL;
	*c.report = (struct carry_report){ 0 };
	if (rc)
		return rc;
	c.sw = xcalloc(f->nsw, sizeof(*c.sw));
	c.end = xcalloc(f->nend, sizeof(*c.end));
	c.from = xcalloc(f->max_lid + 1u, sizeof(*c.from));
	c.keep = xcalloc(f->nsw, PORTS);
	rc = carry_find(&c, err);
	if (!rc) {
		carry_find_ports(&c);
		rc = carry_check_same(&c, err);
	}
	if (!rc) {
		carry_map_lids(&c);
		carry_make(&c);
		*out = c.to;
	}
	free(c.sw);
	free(c.end);
	free(c.from);
	free(c.keep);
	return rc;
}
