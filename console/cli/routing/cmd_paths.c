/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top paths: the way of packets from one end to another, hop by hop, now and after a
 * plan. */
#include "console/cli/commands.h"

#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/route_file.h"
#include "console/io/output_file.h"
#include "console/plan/tables_source.h"
#include "engines/metrics/metrics.h"
#include "fabric/base/text/json_text.h"
#include "fabric/model/tables/path.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/model/traffic/sample.h"
#include "fabric/wire/wire_trace.h"
#include "views/canvas/text.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct paths_cmd {
	struct tables_source_opts s;
	const char *src, *dst;
	double interval_s;
	enum end_as as;
	bool json, no_load, efi;
};

/* One way, under one set of tables. */
struct way {
	const struct tables *t;
	struct path p;
	struct metrics *m; /* NULL: unknown */
};

struct paths {
	struct tables_source s;
	const struct rates *rates; /* NULL: no loads */
	uint32_t src, dst;
	uint16_t lid;
	struct way now, plan; /* plan.t NULL: there is none */
	bool traced, named;   /* s.f is no more than the path; has the name that was given */
	struct fabric *loads; /* of which rates are, if it is not s.f; owned */
	bool sl_asked;	      /* the SM, for the one of now */
	struct live port;     /* for what a collector does not tell; all-zero: none */
	bool keys_read;	      /* P_Keys of both ends; what follows is known then */
	bool talk;	      /* they may */
	uint16_t pkey;	      /* in that partition */
};

static const struct argp_option table[] = {
	{ "plan", CMDLINE_KEY(struct paths_cmd, s.plan), "FILE", 0,
	  "also show the path with this plan; both are read from the plan, the fabric is not "
	  "needed",
	  0 },
	{ "interval", 'd', "SECONDS", 0,
	  "time between the two samples that measure the load, in "
	  "seconds (default: 1)",
	  0 },
	{ "Lid", 'L', NULL, 0, "take the ends as LIDs, even if a host has such a name", 0 },
	{ "Guid", 'G', NULL, 0, "take the ends as GUIDs", 0 },
	{ "Direct", 'D', NULL, 0,
	  "the ends are directed routes from this port, such as 0,1,17; 0 is this node", 0 },
	{ "no-load", CMDLINE_KEY(struct paths_cmd, no_load), NULL, 0,
	  "do not measure the load of the links", 0 },
	{ "efi", CMDLINE_KEY(struct paths_cmd, efi), NULL, 0,
	  "also count the paths that share each link (EFI), for which all tables of a live fabric "
	  "are read; with files and plans they are always counted",
	  0 },
	{ "json", CMDLINE_KEY(struct paths_cmd, json), NULL, 0, "print JSON", 0 },
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('d', struct paths_cmd, interval_s, "--interval"),
	{ 0 },
};

static error_t cmd_paths_take(int key, char *arg, struct argp_state *state)
{
	struct paths_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->s;
		return 0;
	case 'L':
		c->as = END_LID;
		return 0;
	case 'G':
		c->as = END_GUID;
		return 0;
	case 'D':
		c->as = END_ROUTE;
		return 0;
	case ARGP_KEY_ARG:
		if (c->dst)
			argp_error(state, "too many arguments: one source and one destination are "
					  "needed");
		*(c->src ? &c->dst : &c->src) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->dst)
			argp_error(state, "a source and a destination are needed: a name, a LID "
					  "or a GUID");
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, state);
	}
}

/* --- what is known ----------------------------------------------------------------------- */

static int cmd_paths_measure(struct paths *x, double interval_s, struct err *err)
{
	const struct fabric *f = x->loads ? x->loads : x->s.f;
	struct sample *before, *after = NULL;
	int rc = wire_read_sample(&before, x->s.w, f, SAMPLE_ALL, NULL, err);

	if (rc)
		return rc;
	poll(NULL, 0, (int)(interval_s * 1000));
	rc = wire_read_sample(&after, x->s.w, f, SAMPLE_ALL, NULL, err);
	if (!rc)
		x->rates = rates_new(f, before, after);
	sample_put(before);
	sample_put(after);
	return rc;
}

static int cmd_paths_walk(struct way *w, const struct paths *x, const struct tables *t, bool efi,
			  struct err *err)
{
	w->t = t;
	path_walk(&w->p, x->s.f, t, x->src, x->lid);
	if ((x->s.w || x->s.l.collected) && !efi)
		return 0;
	return metrics_compute(&w->m, x->s.f, t, x->s.jobs, NULL, NULL, err);
}

/* Of the SM; where it does not answer, the one that is assumed stays. */
static void cmd_paths_ask_sl(struct paths *x)
{
	struct err why;
	uint8_t sl;

	if (route_file_sls_known(x->s.t) || x->src >= x->s.f->nterm)
		return;
	if (wire_path_sl(&sl, x->s.w, x->s.f, x->src, x->lid, &why)) {
		fprintf(stderr, "warning: %s\n", why.text);
		return;
	}
	x->s.l.t->sl_const = sl; /* they are this command's own */
	x->sl_asked = true;
	path_walk(&x->now.p, x->s.f, x->s.t, x->src, x->lid);
}

/* The SL2VL tables of its hops, which are few of all. */
static int cmd_paths_read_vls(struct paths *x, struct err *err)
{
	struct wire_sl2vl of[PATH_HOPS] = { { 0 } };
	uint32_t hop[PATH_HOPS], n = 0;
	struct path *p = &x->now.p;
	int rc;

	for (uint32_t i = 0; i < p->nhop; i++)
		if (p->hop[i].chan != FAB_NONE && p->hop[i].vl == VL_UNREAD) {
			of[n] = (struct wire_sl2vl){ .sw = p->hop[i].sw,
						     .in = p->hop[i].in,
						     .out = p->hop[i].out };
			hop[n++] = i;
		}
	rc = n ? wire_read_sl2vl(x->s.w, x->s.f, of, n, NULL, err) : 0;
	for (uint32_t i = 0; i < n && !rc; i++) {
		p->hop[hop[i]].vl = of[i].vl[p->sl];
		if (of[i].vl[p->sl] == VL_DROP)
			p->fate = PATH_DROPPED;
	}
	return rc;
}

/* The port that we look through, as an end. */
static uint32_t cmd_paths_local_end(const struct paths *x)
{
	struct mad_local local;
	uint32_t sw, term;

	wire_local(x->s.w, &local);
	term = fabric_term_by_guid(x->s.f, local.port_guid);
	sw = fabric_switch_by_guid(x->s.f, local.port_guid);
	return term != FAB_NONE ? term : sw != FAB_NONE ? x->s.f->nend + sw : FAB_NONE;
}

static int cmd_paths_find(struct paths *x, const struct paths_cmd *c, struct err *err)
{
	uint32_t here = x->s.w ? cmd_paths_local_end(x) : FAB_NONE;
	uint16_t unused;
	int rc = end_find_as(&x->src, &unused, x->s.f, c->as, c->src, here, err);

	if (!rc)
		rc = end_find_as(&x->dst, &x->lid, x->s.f, c->as, c->dst, here, err);
	return rc ? EXIT_BAD_USAGE : 0;
}

/* Of hosts: switches are members of what the SM needs them in. */
static void cmd_paths_ask_pkeys(struct paths *x)
{
	const uint32_t term[2] = { x->src, fabric_lid_end(x->s.f, x->lid) };
	struct pkeys keys[2] = { { 0 } };
	struct err why = { "" };

	if (term[0] >= x->s.f->nterm || term[1] >= x->s.f->nterm || term[0] == term[1])
		return;
	x->keys_read = !wire_read_pkeys(keys, x->s.w, x->s.f, term, &why);
	x->talk = x->keys_read && pkeys_shared(&x->pkey, &keys[0], &keys[1]);
	if (!x->keys_read)
		fprintf(stderr, "warning: %s\n", why.text);
	pkeys_free(&keys[0]);
	pkeys_free(&keys[1]);
}

/* What tables that were read from switches do not hold. */
static int cmd_paths_ask(struct paths *x, struct err *err)
{
	if (!x->s.w)
		return 0;
	cmd_paths_ask_sl(x);
	cmd_paths_ask_pkeys(x);
	return cmd_paths_read_vls(x, err);
}

/* A LID, or the GUID whose LID the SM tells; false for what only a discovery can find. */
static bool cmd_paths_lid(uint16_t *lid, struct paths *x, enum end_as as, const char *text)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t v;
	char *rest;

	if (as == END_ANY && hex && strlen(text) > 6)
		as = END_GUID;
	v = strtoull(text, &rest, hex || as == END_GUID ? 16 : 10);
	if (*rest || rest == text)
		return false;
	if (as == END_GUID)
		return !wire_guid_lid(lid, x->s.l.w, v, NULL);
	*lid = (uint16_t)v;
	return as == END_LID && v && v <= FAB_MAX_LID;
}

/* As ibtracert does: the path alone. */
static bool cmd_paths_trace(struct paths *x, const struct paths_cmd *c)
{
	uint16_t slid, dlid;

	x->traced = cmd_paths_lid(&slid, x, c->as, c->src) &&
		    cmd_paths_lid(&dlid, x, c->as, c->dst) &&
		    !live_trace(&x->s.l, &c->s.live, slid, dlid, NULL);
	x->named = c->s.live.name;
	return x->traced;
}

static void cmd_paths_took(struct paths *x)
{
	x->s.f = x->s.l.f;
	x->s.t = x->s.l.t;
	x->s.w = x->s.l.w;
	x->s.adaptive = x->s.l.adaptive;
}

/* Names, and what the SM does not tell: all that is there, but of the tables only the path's. */
static int cmd_paths_discover(struct paths *x, struct paths_cmd *c, struct err *err)
{
	const struct sweep_opts so = { .lmc = -1 };
	struct tables *unused = NULL;
	int rc;

	if (live_again(&x->s.l, &c->s.live, NULL, err))
		return EXIT_UNREADABLE;
	cmd_paths_took(x);
	rc = cmd_paths_find(x, c, err);
	if (rc)
		return rc;
	if (wire_trace_tables(&x->s.l.t, x->s.w, x->s.f, x->src, x->lid, err))
		return EXIT_UNREADABLE;
	x->s.t = x->s.l.t;
	if (!c->no_load)
		wire_trace(&x->loads, &unused, x->s.w, end_lid(x->s.f, x->src), x->lid, &so, NULL);
	tables_put(unused);
	return 0;
}

/* What a collector knows, unless it does not know these ends.  -EAGAIN: it is to be read. */
static int cmd_paths_collected(struct paths *x, struct paths_cmd *c, struct err *err)
{
	int rc = c->s.live.collected(&x->s.l, &c->s.live, err);

	if (rc)
		return rc == -EAGAIN ? rc : EXIT_UNREADABLE;
	cmd_paths_took(x);
	if (!cmd_paths_find(x, c, err))
		return 0;
	err->text[0] = '\0';
	tables_source_close(&x->s);
	return -EAGAIN;
}

/* The SM is asked for a service level that nobody has told, and hosts for their P_Keys; without a
 * port it is taken to be 0, and these are not known. */
static void cmd_paths_open_port(struct paths *x, struct paths_cmd *c)
{
	struct err unused;

	if (!x->s.l.collected || live_port(&x->port, &c->s.live, &unused))
		return;
	x->s.w = x->port.w;
}

static int cmd_paths_open(struct paths *x, struct paths_cmd *c, struct err *err)
{
	int rc;

	c->efi |= c->s.live.jobs != NULL; /* they have no other use here */
	c->s.live.collected = collected_open;
	if (c->s.plan || c->s.o.topology || c->efi) {
		rc = tables_source_open(&x->s, &c->s, err);
		return rc ? rc : cmd_paths_find(x, c, err);
	}
	rc = cmd_paths_collected(x, c, err);
	if (rc != -EAGAIN)
		return rc;
	c->s.live.collected = NULL;
	if (live_port(&x->s.l, &c->s.live, err))
		return EXIT_UNREADABLE;
	if (!cmd_paths_trace(x, c))
		return cmd_paths_discover(x, c, err);
	cmd_paths_took(x);
	return cmd_paths_find(x, c, err);
}

static int cmd_paths_look(struct paths *x, struct paths_cmd *c, struct err *err)
{
	int rc = cmd_paths_open(x, c, err);

	if (rc)
		return rc;
	if (!c->no_load && x->s.l.rates)
		x->rates = rates_get(x->s.l.rates);
	cmd_paths_open_port(x, c);
	if (x->s.w && !x->s.l.collected && !c->no_load && cmd_paths_measure(x, c->interval_s, err))
		return EXIT_UNREADABLE;
	if (cmd_paths_walk(&x->now, x, x->s.t, c->efi, err) || cmd_paths_ask(x, err) ||
	    (x->s.planned && cmd_paths_walk(&x->plan, x, x->s.planned, c->efi, err)))
		return EXIT_UNREADABLE;
	return 0;
}

/* --- output ------------------------------------------------------------------------------ */

/* Short names are short among those of a whole fabric. */
static const char *cmd_paths_switch(const struct paths *x, uint32_t sw)
{
	return x->traced ? x->s.f->sw_name[sw] : x->s.f->sw_short[sw];
}

static const char *cmd_paths_end(char *buf, size_t len, const struct paths *x, uint32_t end)
{
	if (end < x->s.f->nend)
		return end_name(buf, len, x->s.f, end);
	snprintf(buf, len, "%s", cmd_paths_switch(x, end - x->s.f->nend));
	return buf;
}

static const char *cmd_paths_hop_to(char *buf, size_t len, uint32_t *port, const struct paths *x,
				    const struct path_hop *h)
{
	const struct fabric *f = x->s.f;
	const struct port *hw;

	*port = 0;
	if (h->chan != FAB_NONE) {
		*port = f->chan_rport[h->chan];
		snprintf(buf, len, "%s", cmd_paths_switch(x, f->chan_dst[h->chan]));
		return buf;
	}
	if (h->out == 0 || h->out > f->sw_nports[h->sw])
		return NULL;
	hw = fabric_port(f, h->sw, h->out);
	if (hw->term == FAB_NONE)
		return NULL;
	*port = f->term_ca_port[hw->term];
	return end_name(buf, len, f, hw->term);
}

static const struct port_rate *cmd_paths_rate_of(const struct paths *x, const struct path_hop *h)
{
	const struct fabric *f = x->loads ? x->loads : x->s.f;
	uint32_t sw = fabric_switch_by_guid(f, x->s.f->sw_guid[h->sw]);

	if (!x->rates || h->out == 0 || sw == FAB_NONE || h->out > f->sw_nports[sw])
		return NULL;
	return &x->rates->port[f->port_off[sw] + h->out];
}

static json_t *cmd_paths_real(double v)
{
	return isfinite(v) ? json_real(round(v * 100) / 100) : json_null();
}

static json_t *cmd_paths_hop_json(const struct paths *x, const struct way *w,
				  const struct path_hop *h)
{
	const struct port_rate *r = cmd_paths_rate_of(x, h);
	const bool chan = h->chan != FAB_NONE;
	char to[300];
	uint32_t port;
	const char *name = cmd_paths_hop_to(to, sizeof(to), &port, x, h);
	json_t *j = json_object();

	json_object_set_new(j, "switch", json_text(x->s.f->sw_name[h->sw]));
	json_object_set_new(j, "guid",
			    json_sprintf("0x%016lx", (unsigned long)x->s.f->sw_guid[h->sw]));
	json_object_set_new(j, "in_port", json_integer(h->in));
	json_object_set_new(j, "out_port",
			    h->out == FAB_NO_PORT ? json_null() : json_integer(h->out));
	json_object_set_new(j, "vl",
			    chan && h->vl != VL_UNREAD ? json_integer(h->vl) : json_null());
	json_object_set_new(j, "to", name ? json_text(name) : json_null());
	json_object_set_new(j, "to_port", name ? json_integer(port) : json_null());
	json_object_set_new(j, "tx_Bps", cmd_paths_real(r ? r->tx_Bps : NAN));
	json_object_set_new(j, "util_pct", cmd_paths_real(r ? r->util_pct : NAN));
	json_object_set_new(j, "wait_pct", cmd_paths_real(r ? r->wait_pct : NAN));
	json_object_set_new(j, "efi",
			    chan && w->m ? json_integer((json_int_t)w->m->efi[h->chan])
					 : json_null());
	json_object_set_new(j, "eff_efi",
			    chan && w->m && w->m->njob
				    ? json_integer((json_int_t)w->m->eff_efi[h->chan])
				    : json_null());
	return j;
}

static bool cmd_paths_sl_known(const struct paths *x, const struct way *w)
{
	return route_file_sls_known(w->t) || (x->sl_asked && w == &x->now);
}

static json_t *cmd_paths_way_json(const struct paths *x, const struct way *w)
{
	char fate[200];
	json_t *j = json_object(), *hops = json_array();

	json_object_set_new(j, "engine", json_text(w->t->engine));
	json_object_set_new(j, "sl", json_integer(w->p.sl));
	json_object_set_new(j, "sl_known", json_boolean(cmd_paths_sl_known(x, w)));
	json_object_set_new(j, "arrives", json_boolean(w->p.fate == PATH_ARRIVES));
	json_object_set_new(j, "fate",
			    json_text(path_fate_text(fate, sizeof(fate), &w->p, x->s.f)));
	json_object_set_new(j, "links", json_integer(w->p.links));
	for (uint32_t i = 0; i < w->p.nhop; i++)
		json_array_append_new(hops, cmd_paths_hop_json(x, w, &w->p.hop[i]));
	json_object_set_new(j, "hops", hops);
	return j;
}

static json_t *cmd_paths_end_json(const struct paths *x, uint32_t end)
{
	const struct fabric *f = x->s.f;
	uint64_t guid = end < f->nend ? f->term_guid[end] : f->sw_guid[end - f->nend];
	char name[300];
	json_t *j = json_object();

	json_object_set_new(j, "name", json_text(cmd_paths_end(name, sizeof(name), x, end)));
	json_object_set_new(j, "guid", json_sprintf("0x%016lx", (unsigned long)guid));
	json_object_set_new(j, "lid", json_integer(end_lid(f, end)));
	return j;
}

static int cmd_paths_print_json(const struct paths *x, struct err *err)
{
	uint32_t at = x->plan.t ? path_differs(&x->now.p, &x->plan.p) : FAB_NONE;
	json_t *j = json_object();

	json_object_set_new(j, "schema", json_string("ibroute-top/1"));
	json_object_set_new(j, "fabric",
			    x->traced && !x->named ? json_null() : json_text(x->s.f->name));
	json_object_set_new(j, "source", cmd_paths_end_json(x, x->src));
	json_object_set_new(j, "destination", cmd_paths_end_json(x, x->dst));
	json_object_set_new(j, "dlid", json_integer(x->lid));
	json_object_set_new(j, "interval_s",
			    x->rates ? cmd_paths_real(x->rates->interval_s) : json_null());
	json_object_set_new(j, "may_talk", x->keys_read ? json_boolean(x->talk) : json_null());
	json_object_set_new(j, "p_key", x->talk ? json_sprintf("0x%04x", x->pkey) : json_null());
	json_object_set_new(j, "now", cmd_paths_way_json(x, &x->now));
	json_object_set_new(j, "plan", x->plan.t ? cmd_paths_way_json(x, &x->plan) : json_null());
	json_object_set_new(j, "first_difference", at == FAB_NONE ? json_null() : json_integer(at));
	json_object_set_new(j, "adaptive_routing", adaptive_json(&x->s.adaptive));
	return output_file_print_json(j, err);
}

static void cmd_paths_print_hop(const struct paths *x, const struct way *w, uint32_t i)
{
	const struct path_hop *h = &w->p.hop[i];
	const struct port_rate *r = cmd_paths_rate_of(x, h);
	char util[FIGURE_LEN], wait[FIGURE_LEN], to[300], vl[8] = "-", efi[24] = "-", eff[24] = "-";
	char out[8] = "-";
	uint32_t port;
	const char *name = cmd_paths_hop_to(to, sizeof(to), &port, x, h);

	if (h->chan != FAB_NONE) {
		if (h->vl != VL_UNREAD)
			snprintf(vl, sizeof(vl), "%u", h->vl);
		if (w->m)
			snprintf(efi, sizeof(efi), "%lu", (unsigned long)w->m->efi[h->chan]);
		if (w->m && w->m->njob)
			snprintf(eff, sizeof(eff), "%lu", (unsigned long)w->m->eff_efi[h->chan]);
	}
	if (h->out != FAB_NO_PORT)
		snprintf(out, sizeof(out), "%u", h->out);
	printf("  %3u  %-24s %4u %4s  %3s  %6s  %6s  ", i + 1, cmd_paths_switch(x, h->sw), h->in,
	       out, vl, figure_pct(util, r ? r->util_pct : NAN),
	       figure_pct(wait, r ? r->wait_pct : NAN));
	if (w->m)
		printf("%8s  %8s  ", efi, eff);
	printf("%s%s", name ? "to " : "", name ? name : "ends here");
	if (name)
		printf("/%u", port);
	putchar('\n');
}

static void cmd_paths_print_way(const struct paths *x, const struct way *w, const char *title)
{
	char fate[200];

	printf("%s: %s, SL %u%s, %u links between switches: %s\n", title, w->t->engine, w->p.sl,
	       cmd_paths_sl_known(x, w) ? "" : " (assumed: SLs are not stored in switches)",
	       w->p.links, path_fate_text(fate, sizeof(fate), &w->p, x->s.f));
	printf("  hop  %-24s %4s %4s  %3s  %6s  %6s%s\n", "switch", "in", "out", "VL", "util %",
	       "wait %", w->m ? "       EFI   job EFI" : "");
	for (uint32_t i = 0; i < w->p.nhop; i++)
		cmd_paths_print_hop(x, w, i);
}

static int cmd_paths_print_text(const struct paths *x, struct err *err)
{
	char src[300], dst[300], adaptive[300];
	uint32_t at;

	printf("%s (LID %u) to %s, LID %u\n", cmd_paths_end(src, sizeof(src), x, x->src),
	       end_lid(x->s.f, x->src), cmd_paths_end(dst, sizeof(dst), x, x->dst), x->lid);
	if (x->talk)
		printf("both are in the partition of P_Key 0x%04x\n", x->pkey);
	else if (x->keys_read)
		puts("they may not talk: there is no partition that both are in, one of them as a "
		     "full member");
	cmd_paths_print_way(x, &x->now, "now");
	if (x->plan.t) {
		cmd_paths_print_way(x, &x->plan, "with the plan");
		at = path_differs(&x->now.p, &x->plan.p);
		if (at == FAB_NONE)
			puts("the plan does not change this path");
		else
			printf("the plan changes this path from hop %u on\n", at + 1);
	}
	if (adaptive_text(adaptive, sizeof(adaptive), &x->s.adaptive)[0])
		puts(adaptive);
	return output_file_flush_stdout(err);
}

static bool cmd_paths_arrives(const struct paths *x)
{
	return (x->talk || !x->keys_read) && x->now.p.fate == PATH_ARRIVES &&
	       (!x->plan.t || x->plan.p.fate == PATH_ARRIVES);
}

int cmd_paths(int argc, char **argv)
{
	static const struct argp_child children[] = { { &tables_source_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = table,
		.parser = cmd_paths_take,
		.children = children,
		.args_doc = "SOURCE DESTINATION",
		.doc = "Traces the path from one host or switch to another through the installed "
		       "tables, those of files, or those of a plan before and after: ports, VLs, "
		       "load, and the number of paths that share each link (EFI). The ends are "
		       "names (n031, n031/2), LIDs or GUIDs. Of a live fabric only what the path "
		       "takes is read: LIDs (--Lid) and GUIDs cost about eight MADs a hop, names a "
		       "discovery; of a collector nothing. The P_Keys of hosts are read, too, "
		       "two MADs: whether they share a partition.\vExit codes: 0 packets arrive; 1 "
		       "they do not, or the ends may not talk; 64 bad options, or unknown ends; 255 the fabric or a file "
		       "could not be read.",
	};
	struct paths_cmd c = { .interval_s = 1 };
	struct paths x = { .rates = NULL };
	struct err err = { "" };
	int rc;

	tables_source_opts_init(&c.s);
	c.s.live.lfts_only = true;
	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_paths_look(&x, &c, &err);
	if (!rc && (c.json ? cmd_paths_print_json(&x, &err) : cmd_paths_print_text(&x, &err)))
		rc = EXIT_FINDINGS;
	else if (!rc && !cmd_paths_arrives(&x))
		rc = EXIT_FINDINGS;
	cmdline_end(argv[0], rc, &err);
	metrics_free(x.now.m);
	metrics_free(x.plan.m);
	rates_put(x.rates);
	fabric_put(x.loads);
	live_close(&x.port);
	tables_source_close(&x.s);
	return rc;
}
