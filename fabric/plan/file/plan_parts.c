/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/plan_parts.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/text/json_text.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
	uint8_t *data; /* in that of the file, not written to; NULL: none */
	size_t len;
};

struct plan_reading {
	struct plan_parts *to;
	const char *path;
	const char *data;
	size_t len;
	json_t *head;
	struct part parts[PLAN_PARTS];
};

const char *const plan_part_names[PLAN_PARTS] = { "fabric", "from", "to", "order", "demand" };

/* The first three are always there, in that order. */
static size_t plan_parts_which(const json_t *part, size_t i)
{
	const char *name = json_string_value(json_object_get(part, "name"));

	for (size_t k = PLAN_PART_ORDER; i >= PLAN_PART_ORDER && name && k < PLAN_PARTS; k++)
		if (!strcmp(plan_part_names[k], name))
			return k;
	return i;
}

static int plan_parts_split(struct plan_reading *r, struct err *err)
{
	const char *at = memchr(r->data, '\n', r->len), *end = r->data + r->len;
	const char *schema;
	size_t nparts;
	json_t *list;

	r->head = at ? json_text_clean(json_loadb(r->data, (size_t)(at - r->data), 0, NULL)) : NULL;
	schema = json_string_value(json_object_get(r->head, "schema"));
	if (!schema || (strcmp(schema, PLAN_SCHEMA) && strcmp(schema, PLAN_SCHEMA_2) &&
			strcmp(schema, PLAN_SCHEMA_3) && strcmp(schema, PLAN_SCHEMA_4) &&
			strcmp(schema, PLAN_SCHEMA_5)))
		return err_set(err, -EINVAL, "%s: not a plan, or one of another version", r->path);
	at++;
	list = json_object_get(r->head, "parts");
	nparts = json_array_size(list);
	nparts = nparts < PLAN_PART_ORDER || nparts > PLAN_PARTS ? PLAN_PART_ORDER : nparts;
	for (size_t i = 0; i < nparts; i++) {
		json_t *part = json_array_get(list, i);
		const char *hex = json_string_value(json_object_get(part, "sha256"));
		json_int_t len = json_integer_value(json_object_get(part, "bytes"));
		size_t which = plan_parts_which(part, i);
		struct digest want, is;

		if (!hex || digest_parse(&want, hex) || len < 0 || len > end - at)
			return err_set(err, -EBADMSG, "%s: truncated or damaged", r->path);
		r->parts[which].data = (uint8_t *)(uintptr_t)at;
		r->parts[which].len = (size_t)len;
		digest_of(&is, at, (size_t)len);
		if (!digest_equal(&is, &want))
			return err_set(err, -EBADMSG, "%s: damaged: a checksum is wrong", r->path);
		at += len;
	}
	return 0;
}

static struct name_map *plan_parts_read_names(const struct plan_reading *r)
{
	struct name_map *m = name_map_new();
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(r->head, "names"), i, one)
	{
		const char *guid = json_string_value(json_array_get(one, 0));
		const char *name = json_string_value(json_array_get(one, 1));

		if (guid && name)
			name_map_add(m, strtoull(guid, NULL, 16), name);
	}
	return m;
}

static void plan_parts_read_io(struct plan_reading *r)
{
	const json_t *list = json_object_get(r->head, "io_ports"), *one;
	size_t i;

	r->to->io = xcalloc(json_array_size(list), sizeof(*r->to->io));
	json_array_foreach(list, i, one)
	{
		const char *guid = json_string_value(one);

		if (guid)
			r->to->io[r->to->nio++] = strtoull(guid, NULL, 16);
	}
}

int plan_parts_freeze(struct plan_parts *r, struct err *err)
{
	struct freeze_opts o = { .name = r->name, .lmc = r->lmc, .names = r->names };
	int rc = builder_freeze(&r->f, r->b, &o, err);

	/* these very ports: a name map takes node GUIDs, too, which may be those of other ports */
	for (uint32_t i = 0; !rc && i < r->nio; i++) {
		uint32_t term = fabric_term_by_guid(r->f, r->io[i]);

		if (term < r->f->nterm && r->f->term_kind[term] == TERM_COMPUTE)
			r->f->term_kind[term] = TERM_STORAGE;
	}
	return rc;
}

static int plan_parts_read_fabric(struct plan_reading *r, struct err *err)
{
	json_int_t lmc = json_integer_value(json_object_get(r->head, "lmc"));
	const char *name = json_string_value(json_object_get(r->head, "fabric"));
	struct ibnd_report report;
	FILE *in;
	int rc;

	if (lmc < 0 || lmc > 7)
		return err_set(err, -EBADMSG,
			       "%s: there is no LMC %" JSON_INTEGER_FORMAT ", only 0 to 7", r->path,
			       lmc);
	in = fmemopen(r->parts[PLAN_PART_FABRIC].data, r->parts[PLAN_PART_FABRIC].len, "r");
	if (!in)
		return err_set(err, -EBADMSG, "%s: without a fabric", r->path);
	rc = ibnd_read(&r->to->b, in, r->path, &report, err);
	fclose(in);
	if (!rc && report.read.gaps)
		rc = err_set(err, -EBADMSG, "%s: its fabric is damaged", r->path);
	r->to->lmc = (int)lmc;
	r->to->name = name ? xstrdup(name) : NULL;
	r->to->names = plan_parts_read_names(r);
	plan_parts_read_io(r);
	return rc ? rc : plan_parts_freeze(r->to, err);
}

/* A port that the fabric does not have is left out: the hash tells. */
static void plan_parts_read_ports(struct jobset_builder *b, const struct fabric *f,
				  const struct job *head, const json_t *ports)
{
	uint32_t *terms = xcalloc(json_array_size(ports), sizeof(*terms)), n = 0;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		const char *guid = json_string_value(port);
		uint32_t term = guid ? fabric_term_by_guid(f, strtoull(guid, NULL, 16)) : FAB_NONE;

		if (term < f->nterm)
			terms[n++] = term;
	}
	jobset_builder_add_ports(b, head, terms, n);
	free(terms);
}

static void plan_parts_read_nodes(struct jobset_builder *b, const struct job *head,
				  const json_t *nodes)
{
	const char **names = xcalloc(json_array_size(nodes), sizeof(*names));
	const json_t *node;
	size_t k;

	json_array_foreach(nodes, k, node) names[k] =
		json_string_value(node) ? json_string_value(node) : "";
	jobset_builder_add(b, head, names, head->nnodes);
	free(names);
}

static struct jobset *plan_parts_read_jobs(const struct plan_reading *r)
{
	json_t *list = json_object_get(r->head, "jobs"), *job;
	const char *source = json_string_value(json_object_get(r->head, "job_source"));
	struct jobset_builder *b;
	size_t i;

	if (!json_is_array(list))
		return NULL;
	b = jobset_builder_new(r->to->f, source ? source : "plan");
	json_array_foreach(list, i, job)
	{
		struct job head = {
			.id = (uint64_t)json_integer_value(json_object_get(job, "id")),
			.unknown = (uint32_t)json_integer_value(json_object_get(job, "unknown")),
		};
		json_t *nodes = json_object_get(job, "nodes");
		json_t *ports = json_object_get(job, "ports");

		head.attr[JOB_LABEL] =
			json_string_value(json_object_get(job, job_attr_key(JOB_LABEL)));
		head.nnodes = (uint32_t)json_array_size(nodes);
		if (ports)
			plan_parts_read_ports(b, r->to->f, &head, ports);
		else
			plan_parts_read_nodes(b, &head, nodes);
	}
	return jobset_build(b);
}

static int plan_parts_read_order(struct plan_reading *r, struct err *err)
{
	const struct part *part = &r->parts[PLAN_PART_ORDER];
	struct plan_order_head h;
	struct change_write *v;

	if (!part->data)
		return 0;
	if (part->len < sizeof(h) || (part->len - sizeof(h)) % sizeof(struct plan_order_write))
		return err_set(err, -EBADMSG, "%s: the order of its writes is damaged", r->path);
	memcpy(&h, part->data, sizeof(h));
	r->to->order.nwaves = le32toh(h.nwaves);
	r->to->order.sl2vl_wave = le32toh(h.sl2vl_wave);
	r->to->order.n = (uint32_t)((part->len - sizeof(h)) / sizeof(struct plan_order_write));
	r->to->order.v = v = xcalloc(r->to->order.n, sizeof(*v));
	for (uint32_t i = 0; i < r->to->order.n; i++) {
		struct plan_order_write w;

		memcpy(&w, part->data + sizeof(h) + i * sizeof(w), sizeof(w));
		v[i] = (struct change_write){ le32toh(w.wave), le32toh(w.sw), le32toh(w.block),
					      le64toh(w.now) };
	}
	return 0;
}

static int plan_parts_damaged_demand(const struct plan_reading *r, struct err *err)
{
	return err_set(err, -EBADMSG, "%s: its demand is damaged", r->path);
}

static int plan_parts_read_demand(struct plan_reading *r, struct err *err)
{
	const char *pattern = json_string_value(json_object_get(r->head, "pattern"));
	const struct part *part = &r->parts[PLAN_PART_DEMAND];
	uint32_t nterm = r->to->f->nterm;
	struct plan_demand_head h;
	struct demand_builder *b;
	const uint8_t *at;

	snprintf(r->to->pattern, sizeof(r->to->pattern), "%s", pattern ? pattern : "");
	if (!part->data)
		return 0;
	if (part->len < sizeof(h))
		return plan_parts_damaged_demand(r, err);
	memcpy(&h, part->data, sizeof(h));
	h = (struct plan_demand_head){ le64toh(h.max_bytes), le32toh(h.ndest), le32toh(h.npair) };
	if (part->len != sizeof(h) + (uint64_t)h.ndest * sizeof(uint32_t) +
				 (uint64_t)h.npair * sizeof(struct plan_demand_pair))
		return plan_parts_damaged_demand(r, err);
	at = part->data + sizeof(h);
	b = demand_builder_new(r->to->f);
	for (uint32_t i = 0, dst; i < h.ndest; i++, at += sizeof(dst)) {
		memcpy(&dst, at, sizeof(dst));
		if (le32toh(dst) < nterm)
			demand_builder_add(b, le32toh(dst), le32toh(dst), 0);
	}
	for (uint32_t i = 0; i < h.npair; i++, at += sizeof(struct plan_demand_pair)) {
		struct plan_demand_pair x;

		memcpy(&x, at, sizeof(x));
		if (le32toh(x.src) < nterm && le32toh(x.dst) < nterm)
			demand_builder_add(b, le32toh(x.src), le32toh(x.dst), le32toh(x.weight));
	}
	r->to->demand = demand_build_weights(b, h.max_bytes);
	return 0;
}

static int plan_parts_read_pins(struct plan_reading *r, struct err *err)
{
	const char *guid = json_string_value(json_object_get(r->head, "sm_guid"));
	const char *hex = json_string_value(json_object_get(r->head, "hash"));
	const json_t *drain = json_object_get(r->head, "drain");
	struct plan_parts *to = r->to;
	int rc = plan_files_decode(&to->files, json_object_get(r->head, "files"), err);

	to->sm.guid = guid ? strtoull(guid, NULL, 16) : 0;
	to->sm.priority = (uint8_t)json_integer_value(json_object_get(r->head, "sm_priority"));
	to->hashed = hex && !digest_parse(&to->hash, hex);
	if (!rc && drain && drain_decode(&to->drain, drain, to->f, to->jobs, err))
		rc = -EBADMSG;
	return rc;
}

int plan_parts_read(struct plan_parts *to, const void *data, size_t len, const char *path,
		    struct err *err)
{
	struct plan_reading r = { .to = to, .path = path, .data = data, .len = len };
	int rc = plan_parts_split(&r, err);

	if (!rc)
		rc = plan_parts_read_fabric(&r, err);
	if (!rc)
		rc = tables_ibr_decode(&to->from, r.parts[PLAN_PART_FROM].data,
				       r.parts[PLAN_PART_FROM].len, to->f, path, err);
	if (!rc)
		rc = tables_ibr_decode(&to->to, r.parts[PLAN_PART_TO].data,
				       r.parts[PLAN_PART_TO].len, to->f, path, err);
	if (!rc)
		rc = plan_parts_read_order(&r, err);
	if (!rc)
		rc = plan_parts_read_demand(&r, err);
	if (!rc) {
		to->jobs = plan_parts_read_jobs(&r);
		rc = plan_parts_read_pins(&r, err);
	}
	json_decref(r.head);
	return rc;
}

int plan_parts_make(struct plan **out, const struct plan_parts *r, const char *path,
		    struct err *err)
{
	struct plan *p;
	int rc = plan_new_with_progress(&p, r->f, r->from, r->to, r->jobs, &r->sm, 0,
					file_progress(), err);

	if (rc)
		return rc;
	plan_from_files(p, &r->files);
	plan_with_traffic(p, r->demand, r->pattern);
	if (r->order.n && plan_in_order(p, &r->order, err))
		rc = -EBADMSG;
	if (!rc && r->drain.known)
		plan_with_drain(p, &r->drain);
	if (!rc && (!r->hashed || !digest_equal(&r->hash, &p->hash)))
		rc = err_set(err, -EBADMSG, "%s: its contents do not match its hash", path);
	if (rc)
		plan_free(p);
	else
		*out = p;
	return rc;
}

void plan_parts_clear(struct plan_parts *r)
{
	jobset_put(r->jobs);
	demand_put(r->demand);
	free(r->io);
	tables_put(r->to);
	tables_put(r->from);
	fabric_put(r->f);
	builder_free(r->b);
	name_map_free(r->names);
	drain_clear(&r->drain);
	free(r->name);
	free(r->order.v);
	*r = (struct plan_parts){ 0 };
}
