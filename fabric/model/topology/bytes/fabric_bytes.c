/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/bytes/fabric_bytes.h"

#include "fabric/model/topology/builder_bytes.h"
#include "fabric/model/topology/builder_priv.h"
#include "fabric/model/topology/name_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- the builder that would make it ----------------------------------------------------------- */

static int fabric_bytes_add_switch(struct builder *b, const struct fabric *f, uint32_t sw)
{
	uint32_t id;
	int rc = builder_node(&id, b, NODE_SWITCH, f->sw_guid[sw], f->sw_nports[sw], f->sw_desc[sw],
			      NULL);

	if (rc)
		return rc;
	builder_set_enhanced_sp0(b, id, f->sw_enhanced_sp0[sw]);
	for (uint32_t p = 0; p <= f->sw_nports[sw]; p++) {
		const struct port *from = fabric_port(f, sw, (uint8_t)p);
		struct bport *to = &b->node.v[id].port[p];

		to->state = from->state;
		to->op_vls = from->op_vls;
		to->width = from->width;
		memcpy(to->speed, from->speed, sizeof(to->speed));
		to->rate_Mbps = from->rate_Mbps;
		to->best_Mbps = from->best_Mbps;
	}
	return builder_port_lid(b, id, 0, f->sw_lid[sw], 0, NULL);
}

/* What the fabric knows of a host's end of a cable it has from the switch's. */
static int fabric_bytes_add_end(struct builder *b, const struct fabric *f, uint32_t t)
{
	enum node_kind kind = f->term_kind[t] == TERM_ROUTER ? NODE_ROUTER : NODE_CA;
	const struct port *port = fabric_port(f, f->term_sw[t], f->term_port[t]);
	uint32_t id = builder_find(b, f->term_node_guid[t]), at = f->term_ca_port[t],
		 sw = builder_find(b, f->sw_guid[f->term_sw[t]]);
	int rc = 0;

	/* a node of which only some ports are known has no count of them */
	rc = builder_node(&id, b, kind, f->term_node_guid[t], 0, f->term_desc[t], NULL);
	if (!rc)
		rc = builder_port_guid(b, id, at, f->term_guid[t], NULL);
	if (!rc)
		rc = builder_port_lid(b, id, at, f->term_lid[t], f->lmc, NULL);
	if (rc)
		return rc;
	builder_set_system(b, id, f->term_sys_guid[t] ? f->term_sys_guid[t] : f->term_node_guid[t]);
	if (kind == NODE_CA)
		builder_set_kind(b, id, (enum term_kind)f->term_kind[t]);
	b->node.v[id].port[at].best_Mbps = port->best_Mbps;
	return builder_link(b, sw, f->term_port[t], id, at, NULL);
}

static int fabric_bytes_add_channels(struct builder *b, const struct fabric *f)
{
	int rc = 0;

	for (uint32_t c = 0; c < f->nchan && !rc; c++) {
		uint32_t from = builder_find(b, f->sw_guid[f->chan_src[c]]);
		uint32_t to = builder_find(b, f->sw_guid[f->chan_dst[c]]);

		if (c < f->chan_rev[c])
			rc = builder_link(b, from, f->chan_port[c], to, f->chan_rport[c], NULL);
	}
	return rc;
}

static struct builder *fabric_bytes_builder(const struct fabric *f)
{
	struct builder *b = builder_new();
	int rc = 0;

	for (uint32_t sw = 0; sw < f->nsw && !rc; sw++)
		rc = fabric_bytes_add_switch(b, f, sw);
	for (uint32_t t = 0; t < f->nend && !rc; t++)
		rc = fabric_bytes_add_end(b, f, t);
	if (!rc)
		rc = fabric_bytes_add_channels(b, f);
	if (!rc)
		return b;
	builder_free(b);
	return builder_new(); /* no fabric: whoever takes it says so */
}

/* --- rates that the words of a link do not say ------------------------------------------------ */

struct port_rest {
	uint32_t rate_Mbps, best_Mbps;
	uint8_t width;
	char speed[7];
};

static void fabric_bytes_put_rest(bytes_out *out, const struct fabric *f)
{
	for (uint32_t i = 0; i < f->nport; i++) {
		struct port_rest r = { 0 };

		r.rate_Mbps = f->port[i].rate_Mbps;
		r.best_Mbps = f->port[i].best_Mbps;
		r.width = f->port[i].width;
		memcpy(r.speed, f->port[i].speed, sizeof(r.speed));
		bytes_put(out, &r, sizeof(r));
	}
}

static int fabric_bytes_take_rest(struct fabric *f, struct bytes_in *in)
{
	for (uint32_t i = 0; i < f->nport; i++) {
		struct port_rest r;

		bytes_take(in, &r, sizeof(r));
		r.speed[sizeof(r.speed) - 1] = '\0';
		if (strspn(r.speed, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != strlen(r.speed))
			return -EPROTO;
		f->port[i].rate_Mbps = r.rate_Mbps;
		f->port[i].best_Mbps = r.best_Mbps;
		f->port[i].width = r.width;
		memcpy(f->port[i].speed, r.speed, sizeof(r.speed));
	}
	return in->bad ? -EPROTO : 0;
}

/* --- names ----------------------------------------------------------------------------------- */

static void fabric_bytes_put_name(bytes_out *out, uint64_t guid, const char *name)
{
	bytes_put(out, &guid, sizeof(guid));
	bytes_put_text(out, name);
}

static void fabric_bytes_put_names(bytes_out *out, const struct fabric *f)
{
	uint32_t n = f->nsw;

	for (uint32_t t = 0; t < f->nend; t++)
		n += f->term_mapped[t];
	bytes_put(out, &n, sizeof(n));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		fabric_bytes_put_name(out, f->sw_guid[sw], f->sw_name[sw]);
	for (uint32_t t = 0; t < f->nend; t++)
		if (f->term_mapped[t])
			fabric_bytes_put_name(out, f->term_node_guid[t], f->term_name[t]);
}

static struct name_map *fabric_bytes_take_names(struct bytes_in *in)
{
	struct name_map *m = name_map_new();
	uint32_t n;

	bytes_take(in, &n, sizeof(n));
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		uint64_t guid;
		char *name;

		bytes_take(in, &guid, sizeof(guid));
		name = bytes_take_text(in);
		if (name && !in->bad)
			name_map_add(m, guid, name);
		free(name);
	}
	return m;
}

/* --- all of it ------------------------------------------------------------------------------- */

void fabric_bytes_put(bytes_out *out, const struct fabric *f)
{
	struct builder *b = fabric_bytes_builder(f);

	bytes_put(out, &f->fingerprint, sizeof(f->fingerprint));
	bytes_put_text(out, f->name);
	fabric_bytes_put_names(out, f);
	builder_put(out, b);
	fabric_bytes_put_rest(out, f);
	builder_free(b);
}

int fabric_bytes_take(struct fabric **out, struct bytes_in *in, struct err *err)
{
	struct freeze_opts fo = { .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct digest fingerprint;
	struct name_map *names;
	char *name;
	int rc;

	*out = NULL;
	bytes_take(in, &fingerprint, sizeof(fingerprint));
	name = bytes_take_text(in);
	names = fabric_bytes_take_names(in);
	rc = in->bad || !name ? err_set(err, -EPROTO, "these are not the bytes of a fabric")
			      : builder_take(&b, in, err);
	if (!rc) {
		fo.name = name;
		fo.names = names;
		rc = builder_freeze(&f, b, &fo, err);
	}
	if (!rc && (fabric_bytes_take_rest(f, in) || !digest_equal(&f->fingerprint, &fingerprint)))
		rc = err_set(err, -EPROTO,
			     "a fabric has come in another state than it was sent in");
	if (rc)
		fabric_put(f);
	else
		*out = f;
	builder_free(b);
	name_map_free(names);
	free(name);
	return rc;
}
