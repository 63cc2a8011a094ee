/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/netloc/netloc.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_BYTES   (1u << 30)
#define MAX_RATIO   200 /* of what is packed; netloc's own files have a tenth of that */
#define FREE_BYTES  (1u << 20)
#define TYPE_SWITCH 1
#define TYPE_CA	    2

/* A few kB can stand for gigabytes.  What is no file has no size, and is not packed. */
static size_t netloc_max_bytes(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_BYTES / MAX_RATIO)
		return MAX_BYTES;
	return FREE_BYTES + (size_t)st.st_size * MAX_RATIO;
}

/* The whole file, unpacked when it is gzipped. */
static int netloc_read_all(char **out, size_t *len, int fd, const char *path, struct err *err)
{
	bool begun = !lseek(fd, 0, SEEK_SET) || errno == ESPIPE;
	int own = begun ? dup(fd) : -1; /* which gzclose() closes */
	gzFile z = own < 0 ? NULL : gzdopen(own, "rb");
	size_t have = 0, cap = 1u << 16, max = netloc_max_bytes(fd);
	char *buf = NULL;
	int n = 0, rc = 0;

	if (!z) {
		rc = err_set(err, own < 0 ? -errno : -ENOMEM, "%s: cannot be read: %s", path,
			     strerror(own < 0 ? errno : ENOMEM));
		if (own >= 0)
			close(own);
		return rc;
	}
	do {
		cap *= 2;
		buf = xrealloc(buf, cap, 1);
		n = gzread(z, buf + have, (unsigned)(cap - have));
		if (n > 0)
			have += (size_t)n;
	} while (n > 0 && have <= max);
	if (n < 0)
		rc = err_set(err, -EIO, "%s: cannot be read: %s", path, gzerror(z, &n));
	else if (n > 0)
		rc = err_set(err, -EFBIG, "%s: larger than %zu bytes unpacked", path, max);
	gzclose(z);
	*out = buf;
	*len = have;
	return rc;
}

static int netloc_load(json_t **out, int fd, const char *path, struct read_report *report,
		       struct err *err)
{
	json_error_t why;
	char *text = NULL;
	size_t len = 0;
	int rc = netloc_read_all(&text, &len, fd, path, err);

	read_report_begin(report, path);
	if (!rc) {
		*out = json_loadb(text, len, 0, &why);
		if (!*out)
			rc = err_set(err, -EINVAL, "%s:%d: not JSON (column %d): %s", path,
				     why.line, why.column, why.text);
	}
	free(text);
	return rc;
}

/* "0002:c903:0006:dc31" */
static bool netloc_read_guid(uint64_t *guid, const char *s)
{
	uint64_t part;

	*guid = 0;
	for (int i = 0; i < 4; i++) {
		if ((i && *s++ != ':') || !scan_hex(&part, &s) || part > 0xffff)
			return false;
		*guid = *guid << 16 | part;
	}
	return !*s;
}

static bool netloc_number_of(uint64_t *v, const json_t *object, const char *key)
{
	const json_t *j = json_object_get(object, key);
	const char *s = json_string_value(j);

	if (json_is_integer(j) && json_integer_value(j) >= 0) {
		*v = (uint64_t)json_integer_value(j);
		return true;
	}
	return s && scan_dec(v, &s) && !*s;
}

/* Descriptions stand in single quotes. */
static char *netloc_unquoted(const char *s)
{
	size_t n = strlen(s);

	if (n >= 2 && s[0] == '\'' && s[n - 1] == '\'')
		return xasprintf("%.*s", (int)(n - 2), s + 1);
	return xstrdup(s);
}

static int netloc_add_node(struct builder *b, const json_t *node, struct err *err)
{
	uint64_t guid, type, lid = 0;
	uint32_t id;
	char *desc;
	int rc;

	if (!netloc_read_guid(&guid, json_string_at(node, "phy_id")) ||
	    !netloc_number_of(&type, node, "node_type") || (type != TYPE_SWITCH && type != TYPE_CA))
		return err_set(err, -EINVAL, "node \"%.40s\": no phy_id or node_type",
			       json_string_at(node, "phy_id"));
	netloc_number_of(&lid, node, "log_id");
	desc = netloc_unquoted(json_string_at(node, "desc"));
	rc = builder_node(&id, b, type == TYPE_SWITCH ? NODE_SWITCH : NODE_CA, guid, 0, desc, err);
	free(desc);
	if (rc || type != TYPE_SWITCH)
		return rc;
	rc = builder_port_guid(b, id, 0, guid, err);
	return rc ? rc : builder_port_lid(b, id, 0, lid > FAB_MAX_LID ? 0 : (uint32_t)lid, 0, err);
}

/* One direction of a cable. */
struct edge {
	uint64_t id, src, dst;
	uint32_t src_port, dst_port;
};

static bool netloc_read_edge(struct edge *e, const json_t *j)
{
	uint64_t sp, dp;

	if (!netloc_read_guid(&e->src, json_string_at(j, "src_node_id")) ||
	    !netloc_read_guid(&e->dst, json_string_at(j, "dest_node_id")) ||
	    !netloc_number_of(&e->id, j, "euid") || !netloc_number_of(&sp, j, "src_port_id") ||
	    !netloc_number_of(&dp, j, "dest_port_id") || !sp || sp > FAB_MAX_PORT || !dp ||
	    dp > FAB_MAX_PORT)
		return false;
	e->src_port = (uint32_t)sp;
	e->dst_port = (uint32_t)dp;
	return true;
}

/* What a CA's record says belongs to the port of its edge. */
static int netloc_add_ca_port(struct builder *b, uint32_t id, const struct edge *e,
			      const json_t *nodes, const char *key, struct err *err)
{
	const json_t *node = json_object_get(nodes, key);
	uint64_t type = 0, lid = 0;
	int rc;

	netloc_number_of(&type, node, "node_type");
	netloc_number_of(&lid, node, "log_id");
	if (type != TYPE_CA)
		return 0;
	rc = builder_port_guid(b, id, e->src_port, e->src, err);
	if (!rc && lid <= FAB_MAX_LID)
		rc = builder_port_lid(b, id, e->src_port, (uint32_t)lid, 0, err);
	return rc;
}

static int netloc_add_edge(struct builder *b, const json_t *j, const json_t *nodes, struct err *err)
{
	struct edge e;
	uint32_t x, y;
	char *rate;
	int rc;

	if (!netloc_read_edge(&e, j))
		return err_set(err, -EINVAL, "an edge lacks its nodes, ports or number");
	x = builder_find(b, e.src);
	y = builder_find(b, e.dst);
	if (x == FAB_NONE || y == FAB_NONE)
		return err_set(err, -EINVAL, "edge %" PRIu64 " leads to an unknown node", e.id);
	rc = builder_link(b, x, e.src_port, y, e.dst_port, err);
	if (rc)
		return rc;
	rate = xasprintf("%s%s", json_string_at(j, "width"), json_string_at(j, "speed"));
	rc = builder_port_link(b, x, e.src_port, rate, err);
	free(rate);
	return rc ? rc : netloc_add_ca_port(b, x, &e, nodes, json_string_at(j, "src_node_id"), err);
}

int netloc_nodes_read_fd(struct builder *b, int fd, const char *path, struct read_report *report,
			 struct err *err)
{
	json_t *root = NULL, *nodes, *edges, *item;
	struct err why = { "" };
	const char *key;
	uint64_t links = 0;
	int rc = netloc_load(&root, fd, path, report, err);

	if (rc)
		return rc;
	nodes = json_object_get(root, "node_info");
	edges = json_object_get(root, "edge_info");
	json_object_foreach(nodes, key, item) if (netloc_add_node(b, item, &why))
		read_report_skip(report, 0, "%.150s", why.text);
	json_object_foreach(edges, key, item)
	{
		if (netloc_add_edge(b, item, nodes, &why)) {
			read_report_skip(report, 0, "%.150s", why.text);
			continue;
		}
		links++;
		if (report)
			report->records++;
	}
	json_decref(root);
	if (!links)
		rc = err_set(err, -EINVAL, "%s: not a nodes file of netloc: no edge in it", path);
	return rc;
}

struct paths {
	const struct fabric *f;
	struct tables *t;
	struct read_report *report;
	struct edge *edge; /* ascending id */
	size_t nedge;
	uint64_t used, contradictions;
};

static int netloc_by_id(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

static int netloc_load_edges(struct paths *p, int fd, const char *path, struct err *err)
{
	json_t *root = NULL, *edges, *item;
	const char *key;
	int rc = netloc_load(&root, fd, path, NULL, err);

	if (rc)
		return rc;
	edges = json_object_get(root, "edge_info");
	p->edge = xcalloc(json_object_size(edges), sizeof(*p->edge));
	json_object_foreach(edges, key, item) if (netloc_read_edge(&p->edge[p->nedge], item))
		p->nedge++;
	json_decref(root);
	if (!p->nedge)
		return err_set(err, -EINVAL, "%s: not a nodes file of netloc: no edge in it", path);
	qsort(p->edge, p->nedge, sizeof(*p->edge), netloc_by_id);
	return 0;
}

static const struct edge *netloc_find_edge(const struct paths *p, uint64_t id)
{
	struct edge key = { .id = id };

	return bsearch(&key, p->edge, p->nedge, sizeof(*p->edge), netloc_by_id);
}

static void netloc_set_entry(struct paths *p, uint32_t sw, uint32_t lid, uint32_t lids,
			     uint32_t port)
{
	uint8_t *row = tables_row(p->t, sw);

	if (port > p->f->sw_nports[sw])
		return;
	if (row[lid] != FAB_NO_PORT && row[lid] != port) {
		if (!p->contradictions++)
			read_report_warn(
				p->report, 0,
				"switch %s: paths to LID %u leave by port %u and by port %u",
				p->f->sw_name[sw], lid, row[lid], port);
		return;
	}
	memset(row + lid, (int)port, lids);
}

static bool netloc_is_chain(const struct paths *p, uint64_t src, uint64_t dst, const json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const struct edge *e = netloc_find_edge(p, (uint64_t)json_integer_value(item));

		if (!e || e->src != src)
			return false;
		src = e->dst;
	}
	return src == dst;
}

/* False when the edges do not hang together or the fabric does not have the destination. */
static bool netloc_add_path(struct paths *p, uint64_t src, uint64_t dst, const json_t *list)
{
	const struct fabric *f = p->f;
	uint32_t end = fabric_term_by_guid(f, dst), sw = fabric_switch_by_guid(f, dst), lid;
	uint32_t lids = end != FAB_NONE ? 1u << f->lmc : 1u;
	json_t *item;
	size_t i;

	if ((end == FAB_NONE && sw == FAB_NONE) || !netloc_is_chain(p, src, dst, list))
		return false;
	lid = end != FAB_NONE ? f->term_lid[end] : f->sw_lid[sw];
	if (sw != FAB_NONE)
		netloc_set_entry(p, sw, lid, 1, 0);
	json_array_foreach(list, i, item)
	{
		const struct edge *e = netloc_find_edge(p, (uint64_t)json_integer_value(item));

		sw = fabric_switch_by_guid(f, e->src);
		if (sw != FAB_NONE)
			netloc_set_entry(p, sw, lid, lids, e->src_port);
	}
	return true;
}

static void netloc_add_source(struct paths *p, const char *name, json_t *list)
{
	uint64_t src, dst;
	const char *key;
	json_t *path;

	if (!netloc_read_guid(&src, name)) {
		read_report_skip(p->report, 0, "source \"%.40s\" is not a GUID", name);
		return;
	}
	json_object_foreach(list, key, path)
	{
		if (!json_array_size(path))
			continue;
		if (!netloc_read_guid(&dst, key) || !netloc_add_path(p, src, dst, path)) {
			read_report_skip(p->report, 0, "the path from %.40s to %.40s is broken",
					 name, key);
			continue;
		}
		p->used++;
		if (p->report)
			p->report->records++;
	}
}

int netloc_paths_read_fd(struct tables **out, int fd, const char *path, int nodes_fd,
			 const char *nodes_path, const struct fabric *f, struct read_report *report,
			 struct err *err)
{
	struct paths p = { .f = f, .report = report };
	json_t *root = NULL, *list;
	const char *key;
	int rc = netloc_load(&root, fd, path, report, err);

	if (!rc)
		rc = netloc_load_edges(&p, nodes_fd, nodes_path, err);
	if (rc)
		goto out;
	p.t = tables_new(f, TABLES_FILE);
	json_object_foreach(json_object_get(root, "path_info"), key, list)
		netloc_add_source(&p, key, list);
	if (p.contradictions > 1)
		read_report_warn(report, 0, "%" PRIu64 " such contradictions; the first path holds",
				 p.contradictions);
	if (p.used) {
		*out = p.t;
	} else {
		tables_put(p.t);
		rc = err_set(err, -EINVAL, "%s: no path of this fabric in it", path);
	}
out:
	json_decref(root);
	free(p.edge);
	return rc;
}
