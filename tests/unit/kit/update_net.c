/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/update_net.h"

#include "fabric/base/memory/mem.h"
#include "fabric/plan/change.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORTS (NET_HOSTS + NET_SPINES)

static void need(int rc, const struct err *err)
{
	if (rc) {
		fprintf(stderr, "update_net: %s\n", err->text);
		abort();
	}
}

static uint32_t node(struct builder *b, enum node_kind kind, uint64_t guid, uint32_t ports,
		     uint16_t lid, const struct update_net_opts *o, const char *desc)
{
	struct err err = { "" };
	uint32_t id;

	need(builder_node(&id, b, kind, guid, ports, desc, &err), &err);
	if (!o->no_lids)
		need(builder_port_lid(b, id, kind == NODE_SWITCH ? 0 : 1, lid + o->lid_shift, 0,
				      &err),
		     &err);
	return id;
}

static void cable(struct builder *b, uint32_t x, uint32_t px, uint32_t y, uint32_t py, uint8_t vls)
{
	struct err err = { "" };

	need(builder_link(b, x, px, y, py, &err), &err);
	need(builder_port_state(b, x, px, PORT_ACTIVE, vls, &err), &err);
	need(builder_port_state(b, y, py, PORT_ACTIVE, vls, &err), &err);
}

struct fabric *net_fabric(const struct update_net_opts *o)
{
	static const struct update_net_opts plain;
	struct freeze_opts fo = { .name = "testnet", .lmc = -1 };
	struct builder *b = builder_new();
	uint32_t spine[NET_SPINES];
	struct fabric *f;
	struct err err = { "" };
	uint16_t lid = 1;
	char name[32];

	o = o ? o : &plain;
	for (uint32_t s = 0; s < NET_SPINES; s++) {
		snprintf(name, sizeof(name), "spine%u", s);
		spine[s] = node(b, NODE_SWITCH, 0x2000 + s, NET_LEAVES, lid++, o, name);
	}
	for (uint32_t l = 0; l < NET_LEAVES - (o->no_last_leaf ? 1 : 0); l++) {
		uint32_t leaf;

		snprintf(name, sizeof(name), "leaf%u", l);
		leaf = node(b, NODE_SWITCH, 0x1000 + l, PORTS, lid++, o, name);
		for (uint32_t s = 0; s < NET_SPINES; s++)
			if (!o->no_cable || l || s)
				cable(b, leaf, NET_HOSTS + 1 + s, spine[s], l + 1,
				      o->op_vls ? o->op_vls : 4);
		for (uint32_t h = 0; h < NET_HOSTS; h++) {
			uint32_t ca;

			if (o->no_host && l == 2 && h == 3) {
				lid++;
				continue;
			}
			snprintf(name, sizeof(name), "n%u-%u", l, h);
			ca = node(b, NODE_CA, 0x8000 + l * 64 + h, 1, lid++, o, name);
			cable(b, ca, 1, leaf, h + 1, 4);
		}
	}
	need(builder_freeze(&f, b, &fo, &err), &err);
	builder_free(b);
	return f;
}

/* The channel of a shortest path to a switch, the v-th of the choices there are. */
static uint8_t way(const struct fabric *f, uint32_t sw, uint32_t dst, unsigned v)
{
	uint8_t direct = 0, choice[PORTS];
	unsigned n = 0;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
		uint32_t next = f->chan_dst[c];

		if (next == dst)
			direct = f->chan_port[c];
		for (uint32_t d = f->chan_off[next]; d < f->chan_off[next + 1]; d++)
			if (f->chan_dst[d] == dst)
				choice[n++] = f->chan_port[c];
	}
	if (direct)
		return direct;
	return n ? choice[v % n] : f->chan_port[f->chan_off[sw]];
}

struct tables *net_tables(const struct fabric *f, unsigned variant, bool sl2vl)
{
	struct tables *t = tables_new(f, variant ? "sar" : "minhop");

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint8_t port;
			uint32_t dst = fabric_lid_switch(f, lid, &port);

			if (dst == FAB_NONE)
				continue;
			tables_row(t, sw)[lid] = dst == sw ? port : way(f, sw, dst, lid + variant);
		}
	}
	t->vls = t->sls = 1;
	if (sl2vl) {
		tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
		for (unsigned i = 0; i < 3 * FAB_SLS; i++)
			t->sl2vl[i] = (uint8_t)((i + variant) % 4);
		t->vls = 4;
	}
	return t;
}

struct jobset *net_jobs(const struct fabric *f, const char *spec)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	unsigned a, c, n;
	uint64_t id;
	int used;

	while (sscanf(spec, " %" SCNu64 ":%u-%u:%u%n", &id, &a, &c, &n, &used) == 4) {
		char names[2 * NET_HOSTS][32];
		const char *list[2 * NET_HOSTS];
		struct job head = { .id = id, .nnodes = 2 * n };

		for (unsigned i = 0; i < 2 * n; i++) {
			snprintf(names[i], sizeof(names[i]), "n%u-%u", i < n ? a : c, i % n);
			list[i] = names[i];
		}
		jobset_builder_add(b, &head, list, 2 * n);
		spec += used;
	}
	return jobset_build(b);
}

/* ---- switches in memory ---- */

static uint8_t *cell(const struct net_sim *s, const struct install_item *it)
{
	if (it->kind == CHANGE_LFT)
		return s->lft + (size_t)it->sw * s->stride + it->block * (size_t)LFT_BLOCK;
	return s->sl2vl[(it->sw * 32u + it->in) * 32u + it->out];
}

struct net_sim *net_sim_new(const struct fabric *f, const struct tables *t)
{
	struct net_sim *s = xcalloc(1, sizeof(*s));

	s->f = f;
	s->stride = t->stride;
	s->lft = xcalloc(f->nsw, t->stride);
	memcpy(s->lft, t->lft, (size_t)f->nsw * t->stride);
	s->sl2vl = xcalloc((size_t)f->nsw * 32 * 32, sizeof(*s->sl2vl));
	s->dead = xcalloc(f->nsw, sizeof(*s->dead));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint8_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint8_t out = 0; out <= f->sw_nports[sw]; out++) {
				struct change c = {
					.sw = sw, .kind = CHANGE_SL2VL, .in = in, .out = out
				};

				change_contents(s->sl2vl[(sw * 32u + in) * 32u + out], &c, f, t);
			}
	return s;
}

void net_sim_free(struct net_sim *s)
{
	free(s->dead);
	free(s->sl2vl);
	free(s->lft);
	free(s);
}

void net_revive(struct net_sim *s)
{
	memset(s->dead, 0, s->f->nsw);
	s->fault = FAULT_NONE;
}

static int one(struct net_sim *s, struct install_item *it, bool write)
{
	size_t len = it->kind == CHANGE_LFT ? CHANGE_LFT_BYTES : CHANGE_SL2VL_BYTES;
	uint64_t op = s->ops++;
	enum fault fault = op >= s->at && op - s->at <= s->again ? s->fault : FAULT_NONE;

	if (s->hook)
		s->hook(s->hook_ctx, s, write);
	s->writes += write;
	if (fault == FAULT_DEAD || fault == FAULT_DEAD_BACK)
		s->dead[it->sw] = true;
	if (s->dead[it->sw] || fault == FAULT_LOST || (!write && fault == FAULT_UNHEARD))
		return -ETIMEDOUT;
	if (fault == FAULT_REFUSED || (!write && fault == FAULT_GARBLED))
		return -EPROTO;
	if (!write) {
		memcpy(it->data, cell(s, it), len);
		return 0;
	}
	memcpy(cell(s, it), it->data, len);
	if (fault == FAULT_GARBLED || fault == FAULT_FOREIGN)
		cell(s, it)[1] ^= 0x13;
	return fault == FAULT_UNHEARD ? -ETIMEDOUT : 0;
}

static int many(struct net_sim *s, struct install_item *items, uint32_t n, bool write)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		items[i].rc = one(s, &items[i], write);
		rc = items[i].rc ? -EIO : rc;
	}
	return rc;
}

static int net_write(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		     struct progress *progress, struct err *err)
{
	(void)f;
	(void)progress;
	(void)err;
	return many(ctx, items, n, true);
}

static int net_read(void *ctx, const struct fabric *f, struct install_item *items, uint32_t n,
		    struct progress *progress, struct err *err)
{
	(void)f;
	(void)progress;
	(void)err;
	return many(ctx, items, n, false);
}

struct installer net_installer(struct net_sim *s)
{
	static const struct installer_ops ops = { .name = "test",
						  .write = net_write,
						  .read = net_read };

	return (struct installer){ .ops = &ops, .ctx = s };
}

bool net_holds(const struct net_sim *s, const struct tables *t, bool sl2vl)
{
	struct net_sim *want = net_sim_new(s->f, t);
	bool same = true;

	for (uint32_t sw = 0; sw < s->f->nsw; sw++) {
		same &= !memcmp(s->lft + (size_t)sw * s->stride, tables_row(t, sw), s->stride);
		for (uint32_t in = 1; sl2vl && in <= s->f->sw_nports[sw]; in++)
			for (uint32_t c = s->f->chan_off[sw]; c < s->f->chan_off[sw + 1]; c++) {
				size_t k = (sw * 32u + in) * 32u + s->f->chan_port[c];

				same &= !memcmp(s->sl2vl[k], want->sl2vl[k], sizeof(*s->sl2vl));
			}
	}
	net_sim_free(want);
	return same;
}

char *net_tmpdir(void)
{
	const char *tmp = getenv("TMPDIR");
	/* thousands of small files: in memory where that is possible */
	const char *mem = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	char *dir = xasprintf("%s/ibroute-test-XXXXXX", tmp ? tmp : mem);

	if (!mkdtemp(dir)) {
		perror(dir);
		abort();
	}
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void net_rmdir(char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}
