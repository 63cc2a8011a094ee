/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Freezing: from nodes in any order to the sorted flat arrays of struct fabric.
 * The steps of builder_freeze() are the sections of this file.
 */
#include "fabric/base/message/plain.h"
#include "fabric/model/topology/builder_priv.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/text/short_names.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One cabled port of a CA or router: a terminal to be. */
struct end {
	uint64_t guid, node_guid;
	uint32_t node, sw;
	uint8_t ca_port, sw_port;
	bool counted;
	enum term_kind kind;
};

struct freezer {
	const struct builder *b;
	const struct freeze_opts *opts;
	struct fabric *f;
	uint32_t *sw_node; /* sw -> builder's node */
	uint32_t *node_sw; /* builder's node -> sw, FAB_NONE for others */
	VEC(struct end) end;
};

/* --- switches and ends, sorted -------------------------------------------------------- */

struct guid_node {
	uint64_t guid;
	uint32_t node;
};

static int freeze_by_guid(const void *x, const void *y)
{
	const struct guid_node *a = x, *b = y;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

static void freeze_sort_switches(struct freezer *z)
{
	size_t n = z->b->node.n;
	struct guid_node *list = xcalloc(n, sizeof(*list));
	uint32_t nsw = 0;

	z->node_sw = xcalloc(n, sizeof(*z->node_sw));
	for (size_t i = 0; i < n; i++) {
		z->node_sw[i] = FAB_NONE;
		if (z->b->node.v[i].kind == NODE_SWITCH)
			list[nsw++] = (struct guid_node){ z->b->node.v[i].guid, (uint32_t)i };
	}
	qsort(list, nsw, sizeof(*list), freeze_by_guid);
	z->sw_node = xcalloc(nsw, sizeof(*z->sw_node));
	for (uint32_t sw = 0; sw < nsw; sw++) {
		z->sw_node[sw] = list[sw].node;
		z->node_sw[list[sw].node] = sw;
	}
	z->f->nsw = nsw;
	free(list);
}

/* Counted terminals first, each group by port GUID; node and port settle ties. */
static int freeze_end_order(const void *x, const void *y)
{
	const struct end *a = x, *b = y;

	if (a->counted != b->counted)
		return a->counted ? -1 : 1;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->node_guid != b->node_guid)
		return a->node_guid < b->node_guid ? -1 : 1;
	return (int)a->ca_port - (int)b->ca_port;
}

static enum term_kind freeze_end_kind(const struct bnode *n)
{
	if (n->kind == NODE_ROUTER)
		return TERM_ROUTER;
	if (n->kind_set)
		return n->term_kind;
	/* SHARP aggregation nodes announce themselves by this description only */
	if (n->desc && strstr(n->desc, "Aggregation Node"))
		return TERM_AGGREGATION;
	return TERM_COMPUTE;
}

static void freeze_collect_ends(struct freezer *z)
{
	for (size_t i = 0; i < z->b->node.n; i++) {
		const struct bnode *n = &z->b->node.v[i];

		if (n->kind == NODE_SWITCH)
			continue;
		for (uint32_t p = 1; p <= n->nports; p++) {
			const struct bport *port = &n->port[p];
			struct end e = {
				.guid = port->guid ? port->guid : n->guid + p,
				.node_guid = n->guid,
				.node = (uint32_t)i,
				.ca_port = (uint8_t)p,
				.kind = freeze_end_kind(n),
			};

			if (port->peer == FAB_NONE || z->node_sw[port->peer] == FAB_NONE)
				continue;
			e.sw = z->node_sw[port->peer];
			e.sw_port = port->peer_port;
			e.counted = e.kind == TERM_COMPUTE || e.kind == TERM_STORAGE;
			z->f->nterm += e.counted;
			vec_push(&z->end, e);
		}
	}
	if (z->end.n)
		qsort(z->end.v, z->end.n, sizeof(*z->end.v), freeze_end_order);
	z->f->nend = (uint32_t)z->end.n;
}

/* --- names ------------------------------------------------------------------------------ */

static char *freeze_guid_name(struct arena *a, uint64_t guid)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016lx", (unsigned long)guid);
	return arena_strdup(a, buf);
}

static void freeze_name_terms(struct freezer *z)
{
	struct fabric *f = z->f;

	f->term_name = arena_array(f->arena, char *, f->nend);
	f->term_desc = arena_array(f->arena, char *, f->nend);
	f->term_mapped = arena_array(f->arena, bool, f->nend);
	for (uint32_t t = 0; t < f->nend; t++) {
		const struct bnode *n = &z->b->node.v[z->end.v[t].node];
		const char *mapped = name_map_find(z->opts->names, n->guid);
		const char *desc = n->desc ? n->desc : "";

		f->term_desc[t] = arena_strdup(f->arena, desc);
		f->term_mapped[t] = mapped != NULL;
		f->term_name[t] =
			host_names_of_desc(f->arena, mapped ? mapped : desc, n->guid);
		if (f->term_kind[t] == TERM_COMPUTE &&
		    name_map_is_io(z->opts->names, f->term_name[t], f->term_guid[t], n->guid))
			f->term_kind[t] = TERM_STORAGE;
	}
}

struct named {
	const char *name;
	uint32_t at;
};

static int freeze_by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : (a->at > b->at) - (a->at < b->at);
}

static struct named *freeze_sorted_names(char **names, uint32_t n)
{
	struct named *list = xcalloc(n, sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct named){ names[i], i };
	qsort(list, n, sizeof(*list), freeze_by_name);
	return list;
}

/* Vendors ship switches that are all called alike: these get the end of their GUID. */
static void freeze_make_unique(struct fabric *f)
{
	struct named *list = freeze_sorted_names(f->sw_name, f->nsw);

	for (uint32_t i = 0, j; i < f->nsw; i = j) {
		for (j = i + 1; j < f->nsw && !strcmp(list[i].name, list[j].name); j++)
			;
		if (j - i < 2)
			continue;
		for (uint32_t k = i; k < j; k++) {
			uint32_t sw = list[k].at;
			char *s = xasprintf("%s-%06lx", list[k].name,
					    (unsigned long)(f->sw_guid[sw] & 0xffffff));

			f->sw_name[sw] = arena_strdup(f->arena, s);
			free(s);
		}
	}
	free(list);
}

/* A short name must not be a host's or a number, which would be found in its place. */
static bool freeze_may_be_called(const struct fabric *f, const char *name)
{
	return name[strspn(name, "0123456789abcdefABCDEFxX")] &&
	       !fabric_terms_by_name(f, name, NULL, 0);
}

static void freeze_shorten_names(struct fabric *f)
{
	char **names = short_names_new(f->sw_name, f->nsw);

	f->sw_short = arena_array(f->arena, char *, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		f->sw_short[sw] = f->sw_name[sw];
		if (strcmp(names[sw], f->sw_name[sw]) && freeze_may_be_called(f, names[sw]))
			f->sw_short[sw] = arena_strdup(f->arena, names[sw]);
		free(names[sw]);
	}
	free(names);
}

/* --- switches, ports, channels ------------------------------------------------------------ */

static void freeze_fill_switches(struct freezer *z)
{
	struct fabric *f = z->f;

	f->sw_guid = arena_array(f->arena, uint64_t, f->nsw);
	f->sw_name = arena_array(f->arena, char *, f->nsw);
	f->sw_desc = arena_array(f->arena, char *, f->nsw);
	f->sw_lid = arena_array(f->arena, uint16_t, f->nsw);
	f->sw_nports = arena_array(f->arena, uint8_t, f->nsw);
	f->sw_nterm = arena_array(f->arena, uint32_t, f->nsw);
	f->sw_enhanced_sp0 = arena_array(f->arena, bool, f->nsw);
	f->port_off = arena_array(f->arena, uint32_t, f->nsw + 1);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const struct bnode *n = &z->b->node.v[z->sw_node[sw]];
		const char *mapped = name_map_find(z->opts->names, n->guid);
		const char *desc = n->desc ? n->desc : "";

		f->sw_guid[sw] = n->guid;
		f->sw_desc[sw] = arena_strdup(f->arena, desc);
		if (mapped || *desc)
			f->sw_name[sw] = arena_strdup(f->arena, mapped ? mapped : desc);
		else
			f->sw_name[sw] = freeze_guid_name(f->arena, n->guid);
		f->sw_nports[sw] = (uint8_t)n->nports;
		f->sw_enhanced_sp0[sw] = n->enhanced_sp0;
		f->port_off[sw + 1] = f->port_off[sw] + n->nports + 1;
	}
	f->nport = f->port_off[f->nsw];
	freeze_make_unique(f);
}

static void freeze_fill_port(struct freezer *z, struct port *to, const struct bport *from)
{
	const struct bport *speed = from, *peer = from;

	if (from->peer != FAB_NONE)
		peer = &z->b->node.v[from->peer].port[from->peer_port];
	/* dumps give the speed on one end of a cable or on both */
	if (!from->rate_Mbps && from->peer != FAB_NONE)
		speed = &z->b->node.v[from->peer].port[from->peer_port];
	*to = (struct port){ .chan = FAB_NONE,
			     .term = FAB_NONE,
			     .state = from->state,
			     .op_vls = from->op_vls,
			     .rate_Mbps = speed->rate_Mbps,
			     .best_Mbps = from->best_Mbps < peer->best_Mbps ? from->best_Mbps
									    : peer->best_Mbps,
			     .width = speed->width };
	memcpy(to->speed, speed->speed, sizeof(to->speed));
}

static bool freeze_is_channel(const struct freezer *z, uint32_t sw, const struct bport *p)
{
	return p->peer != FAB_NONE && z->node_sw[p->peer] != FAB_NONE && z->node_sw[p->peer] != sw;
}

static void freeze_fill_ports(struct freezer *z)
{
	struct fabric *f = z->f;

	f->port = arena_array(f->arena, struct port, f->nport);
	f->chan_off = arena_array(f->arena, uint32_t, f->nsw + 1);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const struct bnode *n = &z->b->node.v[z->sw_node[sw]];

		for (uint32_t p = 0; p <= n->nports; p++) {
			freeze_fill_port(z, &f->port[f->port_off[sw] + p], &n->port[p]);
			f->nchan += freeze_is_channel(z, sw, &n->port[p]);
		}
		f->chan_off[sw + 1] = f->nchan;
	}
}

static void freeze_fill_channels(struct freezer *z)
{
	struct fabric *f = z->f;
	uint32_t c = 0;

	f->chan_src = arena_array(f->arena, uint32_t, f->nchan);
	f->chan_dst = arena_array(f->arena, uint32_t, f->nchan);
	f->chan_rev = arena_array(f->arena, uint32_t, f->nchan);
	f->chan_port = arena_array(f->arena, uint8_t, f->nchan);
	f->chan_rport = arena_array(f->arena, uint8_t, f->nchan);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const struct bnode *n = &z->b->node.v[z->sw_node[sw]];

		for (uint32_t p = 1; p <= n->nports; p++) {
			if (!freeze_is_channel(z, sw, &n->port[p]))
				continue;
			f->chan_src[c] = sw;
			f->chan_dst[c] = z->node_sw[n->port[p].peer];
			f->chan_port[c] = (uint8_t)p;
			f->chan_rport[c] = n->port[p].peer_port;
			f->port[f->port_off[sw] + p].chan = c++;
		}
	}
	for (c = 0; c < f->nchan; c++)
		f->chan_rev[c] = fabric_port(f, f->chan_dst[c], f->chan_rport[c])->chan;
}

static void freeze_fill_terms(struct freezer *z)
{
	struct fabric *f = z->f;
	uint32_t at = 0;

	f->term_guid = arena_array(f->arena, uint64_t, f->nend);
	f->term_node_guid = arena_array(f->arena, uint64_t, f->nend);
	f->term_sys_guid = arena_array(f->arena, uint64_t, f->nend);
	f->term_kind = arena_array(f->arena, uint8_t, f->nend);
	f->term_ca_port = arena_array(f->arena, uint8_t, f->nend);
	f->term_sw = arena_array(f->arena, uint32_t, f->nend);
	f->term_port = arena_array(f->arena, uint8_t, f->nend);
	f->term_lid = arena_array(f->arena, uint16_t, f->nend);
	for (uint32_t t = 0; t < f->nend; t++) {
		const struct end *e = &z->end.v[t];

		f->term_guid[t] = e->guid;
		f->term_node_guid[t] = e->node_guid;
		if (z->b->node.v[e->node].system != e->node_guid)
			f->term_sys_guid[t] = z->b->node.v[e->node].system;
		f->term_kind[t] = (uint8_t)e->kind;
		f->term_ca_port[t] = e->ca_port;
		f->term_sw[t] = e->sw;
		f->term_port[t] = e->sw_port;
		f->sw_nterm[e->sw] += e->counted;
		f->port[f->port_off[e->sw] + e->sw_port].term = t;
	}
	f->term_off = arena_array(f->arena, uint32_t, f->nsw + 1);
	f->term_list = arena_array(f->arena, uint32_t, f->nend);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
			uint32_t t = fabric_port(f, sw, (uint8_t)p)->term;

			if (t != FAB_NONE)
				f->term_list[at++] = t;
		}
		f->term_off[sw + 1] = at;
	}
}

/* --- LIDs ----------------------------------------------------------------------------------- */

static uint8_t freeze_common_lmc(const struct freezer *z)
{
	int lmc = -1;

	for (uint32_t t = 0; t < z->f->nend; t++) {
		const struct end *e = &z->end.v[t];
		int found = z->b->node.v[e->node].port[e->ca_port].lmc;

		if (lmc >= 0 && found != lmc)
			return 0;
		lmc = found;
	}
	return lmc < 0 ? 0 : (uint8_t)lmc;
}

/* Marks lid..lid+n-1 as owned; false when one is taken or out of range. */
static bool freeze_claim(uint32_t *owner, uint32_t lid, uint32_t n, uint32_t end)
{
	if (!lid || lid % n || lid + n - 1 > FAB_MAX_LID)
		return false;
	for (uint32_t i = lid; i < lid + n; i++) {
		if (owner[i] != FAB_NONE)
			return false;
		owner[i] = end;
	}
	return true;
}

static bool freeze_lids_as_found(struct freezer *z, uint32_t *owner)
{
	struct fabric *f = z->f;

	for (uint32_t t = 0; t < f->nend; t++) {
		const struct end *e = &z->end.v[t];
		uint16_t lid = z->b->node.v[e->node].port[e->ca_port].lid;

		if (!freeze_claim(owner, lid, 1u << f->lmc, t))
			return false;
		f->term_lid[t] = lid;
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint16_t lid = z->b->node.v[z->sw_node[sw]].port[0].lid;

		if (!freeze_claim(owner, lid, 1, f->nend + sw))
			return false;
		f->sw_lid[sw] = lid;
	}
	return true;
}

static bool freeze_claim_in_order(struct freezer *z, uint32_t *owner, const uint32_t *order)
{
	struct fabric *f = z->f;
	uint32_t step = 1u << f->lmc, lid = step;

	for (uint32_t i = 0; i < f->nend; i++, lid += step) {
		if (!freeze_claim(owner, lid, step, order[i]))
			return false;
		f->term_lid[order[i]] = (uint16_t)lid;
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++, lid++) {
		if (!freeze_claim(owner, lid, 1, f->nend + sw))
			return false;
		f->sw_lid[sw] = (uint16_t)lid;
	}
	return true;
}

static int freeze_assign_lids(struct freezer *z, uint32_t *owner, struct err *err)
{
	struct fabric *f = z->f;
	uint32_t *order = xcalloc(f->nend, sizeof(*order));
	bool fits;

	for (uint32_t t = 0; t < f->nend; t++)
		order[t] = t;
	if (z->opts->random_lids) {
		struct rng rng;

		rng_seed(&rng, z->opts->lid_seed);
		rng_shuffle_u32(&rng, order, f->nterm);
	}
	fits = freeze_claim_in_order(z, owner, order);
	free(order);
	if (fits)
		return 0;
	return err_set(
		err, -ENOSPC,
		"%u end ports with LMC %u and %u switches need more than the %d unicast LIDs",
		f->nend, f->lmc, f->nsw, FAB_MAX_LID);
}

/* No LID above it will be claimed, neither as found nor as assigned. */
static uint32_t freeze_lid_bound(const struct freezer *z)
{
	const struct fabric *f = z->f;
	uint32_t step = 1u << f->lmc, bound = (f->nend + 1) * step + f->nsw;

	for (uint32_t t = 0; t < f->nend; t++) {
		const struct end *e = &z->end.v[t];
		uint32_t last = z->b->node.v[e->node].port[e->ca_port].lid + step - 1;

		bound = last > bound ? last : bound;
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t lid = z->b->node.v[z->sw_node[sw]].port[0].lid;

		bound = lid > bound ? lid : bound;
	}
	return bound < FAB_MAX_LID ? bound : FAB_MAX_LID;
}

static int freeze_give_lids(struct freezer *z, struct err *err)
{
	struct fabric *f = z->f;
	uint32_t *owner, bound;
	size_t bytes;
	int rc = 0;

	f->lmc = z->opts->lmc < 0 ? freeze_common_lmc(z) : (uint8_t)z->opts->lmc;
	bound = freeze_lid_bound(z);
	bytes = (bound + 1) * sizeof(*owner);
	owner = xcalloc(bytes, 1);
	memset(owner, 0xff, bytes);
	f->lids_given = !z->opts->assign_lids && freeze_lids_as_found(z, owner);
	if (!f->lids_given) {
		memset(owner, 0xff, bytes);
		rc = freeze_assign_lids(z, owner, err);
	}
	for (uint32_t lid = 1; lid <= bound; lid++)
		if (owner[lid] != FAB_NONE)
			f->max_lid = (uint16_t)lid;
	f->lid_end = arena_array(f->arena, uint32_t, f->max_lid + 1u);
	memcpy(f->lid_end, owner, (f->max_lid + 1u) * sizeof(*owner));
	free(owner);
	return rc;
}

/* --- identity ------------------------------------------------------------------------------- */

static void freeze_digest_channels(struct digest_stream *s, const struct fabric *f)
{
	digest_add_u64(s, f->nchan);
	for (uint32_t c = 0; c < f->nchan; c++)
		digest_add_u64(s, (uint64_t)f->chan_src[c] << 40 | (uint64_t)f->chan_dst[c] << 16 |
					  (uint64_t)f->chan_port[c] << 8 | f->chan_rport[c]);
}

static void freeze_fingerprint(struct fabric *f)
{
	struct digest_stream *s = digest_begin();

	digest_add_u64(s, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		digest_add_u64(s, f->sw_guid[sw]);
		digest_add_u64(s, (uint64_t)f->sw_lid[sw] << 16 | f->sw_nports[sw]);
	}
	digest_add_u64(s, (uint64_t)f->nend << 8 | f->lmc);
	for (uint32_t t = 0; t < f->nend; t++) {
		digest_add_u64(s, f->term_guid[t]);
		digest_add_u64(s, (uint64_t)f->term_sw[t] << 32 | (uint64_t)f->term_port[t] << 24 |
					  (uint64_t)(t < f->nterm) << 16 | f->term_lid[t]);
	}
	freeze_digest_channels(s, f);
	digest_end(&f->fingerprint, s);
}

/* What hosts, LIDs and names do not change. */
static void freeze_switch_graph(struct fabric *f)
{
	struct digest_stream *s = digest_begin();

	digest_add_u64(s, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		digest_add_u64(s, f->sw_guid[sw]);
		digest_add_u64(s, f->sw_nports[sw]);
	}
	freeze_digest_channels(s, f);
	digest_end(&f->switch_graph, s);
}

static void freeze_digest_first(struct digest *out, const struct fabric *f)
{
	struct digest_stream *s = digest_begin();

	digest_add_u64(s, f->sw_guid[0]);
	digest_end(out, s);
}

static void freeze_name_fabric(struct fabric *f, const struct freeze_opts *opts)
{
	const char *name = opts->name;
	struct digest of = f->fingerprint;
	char buf[16] = "fab-";

	if (name && *name) {
		f->name = plain_text(arena_strdup(f->arena, name), "");
		return;
	}
	if (opts->live)
		freeze_digest_first(&of, f);
	digest_short(buf + 4, &of);
	f->name = arena_strdup(f->arena, buf);
}

int builder_freeze(struct fabric **out, const struct builder *b, const struct freeze_opts *opts,
		   struct err *err)
{
	static const struct freeze_opts defaults = { .lmc = -1 };
	struct freezer z = { .b = b, .opts = opts ? opts : &defaults };
	struct arena *a = arena_new();
	int rc;

	z.f = arena_alloc(a, 1, sizeof(*z.f));
	z.f->arena = a;
	z.f->refs = 1;
	freeze_sort_switches(&z);
	if (!z.f->nsw) {
		rc = err_set(err, -EINVAL,
			     "there is no switch in this fabric, so there is nothing to route");
		goto out;
	}
	freeze_collect_ends(&z);
	freeze_fill_switches(&z);
	freeze_fill_ports(&z);
	freeze_fill_channels(&z);
	freeze_fill_terms(&z);
	freeze_name_terms(&z);
	host_names_index(z.f);
	freeze_shorten_names(z.f);
	rc = freeze_give_lids(&z, err);
	if (rc)
		goto out;
	freeze_fingerprint(z.f);
	freeze_switch_graph(z.f);
	freeze_name_fabric(z.f, z.opts);
	*out = z.f;
	z.f = NULL;
out:
	if (z.f)
		arena_free(a);
	vec_free(&z.end);
	free(z.sw_node);
	free(z.node_sw);
	return rc;
}
