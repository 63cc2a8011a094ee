/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/graft.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/part/guid_match.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/tables_origin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grafting {
	const struct fabric *f;
	const struct tables *t;
	const struct endports *was;
	struct graft_report *report;
	struct tables *to;
	uint32_t *known; /* ends of f: the end of was with the same GUID, or FAB_NONE */
	uint32_t *by_sw; /* the same by switch, in ascending order of ports ... */
	uint32_t *off;	 /* ... from off[switch] on */
	uint32_t *used;	 /* how many new hosts each of them is the model of */
	uint32_t *like;	 /* ends of f: the end of was that each is routed like */
	uint32_t *from;	 /* LIDs of f: the LID of was whose entries each has; 0: none */
};

static void graft_sort_switches(struct grafting *g)
{
	const struct endports *was = g->was;
	uint32_t *at;

	for (uint32_t i = 0; i < was->nend; i++)
		g->off[was->sw[i] + 1]++;
	for (uint32_t sw = 0; sw < was->nsw; sw++)
		g->off[sw + 1] += g->off[sw];
	at = xcalloc(was->nsw, sizeof(*at));
	for (uint32_t i = 0; i < was->nend; i++)
		g->by_sw[g->off[was->sw[i]] + at[was->sw[i]]++] = i;
	free(at);
}

/* Who was on that port, else one of the switch that the fewest others are routed like. */
static uint32_t graft_model(const struct grafting *g, uint32_t sw, uint8_t port)
{
	uint32_t best = FAB_NONE;

	for (uint32_t k = g->off[sw]; k < g->off[sw + 1]; k++) {
		uint32_t e = g->by_sw[k];

		if (g->was->port[e] == port)
			return e;
		if (best == FAB_NONE || g->used[e] < g->used[best])
			best = e;
	}
	return best;
}

static int graft_choose(struct grafting *g, struct err *err)
{
	const struct fabric *f = g->f;
	uint32_t same = guid_match(g->known, f->term_guid, f->nend, g->was->guid, g->was->nend);

	for (uint32_t e = 0; e < f->nend; e++) {
		uint32_t known = g->known[e], sw = f->term_sw[e];
		bool stays = known != FAB_NONE && g->was->sw[known] == sw;

		g->report->came += known == FAB_NONE;
		if (!stays)
			known = graft_model(g, sw, f->term_port[e]);
		if (known == FAB_NONE)
			return err_set(err, -ESTALE,
				       "%s has come to %s, which had no host to route it like",
				       f->term_name[e], f->sw_name[sw]);
		g->used[known] += !stays;
		g->report->relabelled += stays && (g->was->lid[known] != f->term_lid[e] ||
						   g->was->port[known] != f->term_port[e]);
		g->like[e] = known;
	}
	g->report->away = g->was->nend - same;
	return 0;
}

/* Entries of LIDs that nobody has now stay: their owner may come back. */
static void graft_map_lids(struct grafting *g)
{
	const struct fabric *f = g->f;

	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		g->from[lid] = lid <= g->was->max_lid ? lid : 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		g->from[f->sw_lid[sw]] = g->was->sw_lid[sw];
	for (uint32_t e = 0; e < f->nend; e++)
		for (uint32_t k = 0; k < 1u << f->lmc; k++)
			g->from[f->term_lid[e] + k] = g->was->lid[g->like[e]] + k;
}

static void graft_lft(struct grafting *g)
{
	const struct fabric *f = g->f;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		carry_row(tables_row(g->to, sw), tables_row(g->t, sw), g->from, f);
	for (uint32_t e = 0; e < f->nend; e++)
		memset(tables_row(g->to, f->term_sw[e]) + f->term_lid[e], f->term_port[e],
		       (size_t)1 << f->lmc);
}

/* The port that a port's SL2VL tables are those of: its own unless a host has come to it. */
static void graft_ports(const struct grafting *g, uint32_t sw, uint8_t *port)
{
	const struct fabric *f = g->f;

	for (uint32_t p = 0; p <= f->sw_nports[sw]; p++)
		port[p] = (uint8_t)p;
	for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
		uint32_t e = f->term_list[k];

		if (g->was->guid[g->like[e]] != f->term_guid[e] ||
		    g->was->port[g->like[e]] != f->term_port[e])
			port[f->term_port[e]] = g->was->port[g->like[e]];
	}
}

static void graft_sl2vl(struct grafting *g)
{
	uint8_t port[FAB_MAX_PORT + 1];
	struct tables *to = g->to;

	if (carry_sl2vl_as_it_is(to, g->f, g->t))
		return;
	for (uint32_t sw = 0; sw < to->nsw; sw++) {
		graft_ports(g, sw, port);
		for (uint32_t in = 0; in <= g->f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= g->f->sw_nports[sw]; out++)
				memcpy(tables_sl2vl_row(to, sw, in, out),
				       tables_sl2vl_row(g->t, sw, port[in], port[out]), FAB_SLS);
	}
}

static void graft_make(struct grafting *g)
{
	const struct tables *t = g->t;

	g->to = tables_new(g->f, t->engine);
	graft_lft(g);
	carry_sls(g->to, g->f, t, g->from, NULL, g->like);
	graft_sl2vl(g);
	tables_copy_origin(g->to, t);
}

bool graft_report_text(char *buf, size_t size, const struct graft_report *r)
{
	static const char *const what[] = { "away", "new", "with another LID or port" };
	const uint32_t n[] = { r->away, r->came, r->relabelled };
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < 3 && len < size; i++)
		if (n[i])
			len += (size_t)snprintf(buf + len, size - len, "%s%u port%s %s",
						len ? ", " : "", n[i], n[i] == 1 ? "" : "s",
						what[i]);
	return len;
}

/* A file claims its switch graph: whoever made it up is not to lead beyond the switches' ports. */
static bool graft_ports_exist(const struct fabric *f, const struct endports *was)
{
	for (uint32_t i = 0; i < was->nend; i++)
		if (was->sw[i] >= f->nsw || was->port[i] > f->sw_nports[was->sw[i]])
			return false;
	return was->nsw == f->nsw;
}

static int graft_check(const struct fabric *f, const struct tables *t, const struct endports *was,
		       struct err *err)
{
	if (!digest_equal(&t->fingerprint, &was->fingerprint))
		return err_set(err, -EINVAL, "the tables are not those of these end ports");
	if (!digest_equal(&was->switch_graph, &f->switch_graph))
		return err_set(err, -ESTALE,
			       "they are for other switches, or other cables between them");
	if (!graft_ports_exist(f, was))
		return err_set(err, -EINVAL,
			       "damaged: its end ports are on switches or ports that do not exist");
	if (was->lmc != f->lmc)
		return err_set(err, -ESTALE, "they are for LMC %u, the fabric has LMC %u", was->lmc,
			       f->lmc);
	return 0;
}

int tables_graft(struct tables **out, const struct fabric *f, const struct tables *t,
		 const struct endports *was, struct graft_report *report, struct err *err)
{
	struct graft_report ignored;
	struct grafting g = { .f = f, .t = t, .was = was, .report = report ? report : &ignored };
	int rc = graft_check(f, t, was, err);

	*out = NULL;
	*g.report = (struct graft_report){ 0 };
	if (rc)
		return rc;
	g.known = xcalloc(f->nend, sizeof(*g.known));
	g.by_sw = xcalloc(was->nend, sizeof(*g.by_sw));
	g.off = xcalloc(was->nsw + 1u, sizeof(*g.off));
	g.used = xcalloc(was->nend, sizeof(*g.used));
	g.like = xcalloc(f->nend, sizeof(*g.like));
	g.from = xcalloc(f->max_lid + 1u, sizeof(*g.from));
	graft_sort_switches(&g);
	rc = graft_choose(&g, err);
	if (!rc) {
		graft_map_lids(&g);
		graft_make(&g);
		*out = g.to;
	}
	free(g.known);
	free(g.by_sw);
	free(g.off);
	free(g.used);
	free(g.like);
	free(g.from);
	return rc;
}
