/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_neighbors.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"
#include "fabric/model/topology/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A port of a node, as the cables have it. */
struct spot {
	uint64_t guid;
	uint32_t port;
};

struct net {
	struct osm_cable *cable;
	uint32_t ncable;
	VEC(struct spot) spots; /* in order, without duplicates, once all is read */
};

static bool osm_neighbors_read_end(uint64_t *guid, uint32_t *port, const char **s)
{
	uint64_t n;

	scan_blank(s);
	if (!scan_word(s, "0x") || !scan_hex(guid, s) || !scan_word(s, ":") || !scan_dec(&n, s))
		return false;
	*port = (uint32_t)n;
	return *guid && n && n <= FAB_MAX_PORT;
}

static bool osm_neighbors_read_cable(struct osm_cable *c, const char *s)
{
	return osm_neighbors_read_end(&c->guid[0], &c->port[0], &s) &&
	       osm_neighbors_read_end(&c->guid[1], &c->port[1], &s) && scan_end(&s);
}

bool osm_neighbors_begin(const char *head)
{
	char line[128];
	struct osm_cable c;

	head += strspn(head, " \t\r\n");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(head, "\r\n"), head);
	return osm_neighbors_read_cable(&c, line);
}

static int osm_neighbors_by_spot(const void *x, const void *y)
{
	const struct spot *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static void osm_neighbors_sort_spots(struct net *net)
{
	size_t n = 0;

	for (size_t i = 0; i < net->ncable; i++)
		for (int end = 0; end < 2; end++)
			vec_push(&net->spots,
				 (struct spot){ net->cable[i].guid[end], net->cable[i].port[end] });
	if (net->spots.n)
		qsort(net->spots.v, net->spots.n, sizeof(*net->spots.v), osm_neighbors_by_spot);
	for (size_t i = 0; i < net->spots.n; i++)
		if (!n || osm_neighbors_by_spot(&net->spots.v[n - 1], &net->spots.v[i]))
			net->spots.v[n++] = net->spots.v[i];
	net->spots.n = n;
}

static int osm_neighbors_add_node(struct builder *b, const struct spot *s, size_t ports,
				  const struct guid_lid *lid, struct err *err)
{
	bool is_switch = ports > 1;
	uint32_t id, lmc = 0, port = is_switch ? 0 : s->port;
	int rc = builder_node(&id, b, is_switch ? NODE_SWITCH : NODE_CA, s->guid, s[ports - 1].port,
			      NULL, err);

	if (!rc)
		rc = builder_port_guid(b, id, port, s->guid, err);
	if (rc || !lid)
		return rc;
	while (lmc < 7 && lid->min_lid + (1u << lmc) <= lid->max_lid)
		lmc++;
	return builder_port_lid(b, id, port, lid->min_lid, lmc, err);
}

static int osm_neighbors_by_guid(const void *key, const void *entry)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct guid_lid *)entry)->port_guid;

	return (a > b) - (a < b);
}

static int osm_neighbors_add_nodes(struct builder *b, const struct net *net,
				   const struct guid_lid *lids, uint32_t nlid, struct err *err)
{
	size_t ports;
	int rc = 0;

	for (size_t i = 0; i < net->spots.n && !rc; i += ports) {
		const struct spot *s = &net->spots.v[i];

		for (ports = 1; i + ports < net->spots.n && s[ports].guid == s->guid; ports++)
			;
		rc = osm_neighbors_add_node(
			b, s, ports,
			lids ? bsearch(&s->guid, lids, nlid, sizeof(*lids), osm_neighbors_by_guid)
			     : NULL,
			err);
	}
	return rc;
}

static int osm_neighbors_add_cables(struct builder *b, const struct net *net, const char *path,
				    struct err *err)
{
	struct err why = { "" };

	for (size_t i = 0; i < net->ncable; i++) {
		const struct osm_cable *c = &net->cable[i];
		int rc = builder_link(b, builder_find(b, c->guid[0]), c->port[0],
				      builder_find(b, c->guid[1]), c->port[1], &why);

		if (rc)
			return err_set(err, rc, "%s:%" PRIu64 ": %s", path, c->line, why.text);
	}
	return 0;
}

int osm_neighbors_cables(struct osm_cable **out, uint32_t *n, FILE *file, const char *path,
			 struct read_report *report, struct err *err)
{
	VEC(struct osm_cable) list = { 0 };
	struct lines *l = lines_new(file, path, report);
	char *s;
	int rc;

	while ((s = lines_next_data(l))) {
		struct osm_cable c = { .line = lines_number(l) };

		if (lines_unended(l))
			read_report_gap(
				report, c.line,
				"the file ends in the middle of this line: it is truncated");
		else if (osm_neighbors_read_cable(&c, s))
			vec_push(&list, c);
		else
			read_report_skip(report, c.line, "not \"0xguid:port 0xguid:port\": %.60s",
					 s);
	}
	rc = lines_end(l, 0, NULL, err);
	lines_free(l);
	if (!rc && !list.n)
		rc = err_set(err, -EINVAL, "%s: not OpenSM's neighbors: no cable in it", path);
	if (!rc && report)
		report->records = list.n;
	if (rc)
		vec_free(&list);
	*out = list.v;
	*n = (uint32_t)list.n;
	return rc;
}

int osm_neighbors_read(struct builder *b, FILE *file, const char *path, const struct guid_lid *lids,
		       uint32_t n, struct read_report *report, struct err *err)
{
	struct net net = { 0 };
	int rc = osm_neighbors_cables(&net.cable, &net.ncable, file, path, report, err);

	osm_neighbors_sort_spots(&net);
	if (!rc)
		rc = osm_neighbors_add_nodes(b, &net, lids, n, err);
	if (!rc)
		rc = osm_neighbors_add_cables(b, &net, path, err);
	free(net.cable);
	vec_free(&net.spots);
	return rc;
}
