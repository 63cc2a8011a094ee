/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/planfile.h"

#include "fabric/base/file_progress.h"
#include "fabric/base/json_text.h"
#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA	 "ibroute-top plan/1"
#define SCHEMA_2 "ibroute-top plan/2" /* with an order of the writes */
#define SCHEMA_3 "ibroute-top plan/3" /* and with what has to be drained; perhaps without order */
#define SCHEMA_4 "ibroute-top plan/4" /* and jobs by port GUIDs; perhaps without either */

struct part {
	const char *name;
	uint8_t *data;
	size_t len;
};

enum { PART_FABRIC, PART_FROM, PART_TO, PART_ORDER, PARTS };

/* Of the order of writes, little endian. */
struct order_head {
	uint32_t nwaves, sl2vl_wave;
};

struct order_write {
	uint32_t wave, sw, block, zero;
	uint64_t now;
};

/* ---- writing ---- */

static void planfile_order_bytes(struct part *part, const struct change_order *o)
{
	struct order_head h = { htole32(o->nwaves), htole32(o->sl2vl_wave) };
	uint8_t *at;

	part->len = sizeof(h) + o->n * sizeof(struct order_write);
	at = part->data = xcalloc(part->len, 1);
	at = mempcpy(at, &h, sizeof(h));
	for (uint32_t i = 0; i < o->n; i++) {
		struct order_write w = { .wave = htole32(o->v[i].wave),
					 .sw = htole32(o->v[i].sw),
					 .block = htole32(o->v[i].block),
					 .now = htole64(o->v[i].now) };

		at = mempcpy(at, &w, sizeof(w));
	}
}

static int planfile_fabric_text(struct part *part, const struct fabric *f, struct err *err)
{
	char *text = NULL;
	FILE *m = open_memstream(&text, &part->len);
	int rc = m ? ibnd_write(m, f, err) : err_set(err, -errno, "%s", strerror(errno));

	if (m && fclose(m) && !rc)
		rc = err_set(err, -EIO, "the fabric cannot be written as text");
	part->data = (uint8_t *)text;
	return rc;
}

static json_t *planfile_guid(uint64_t guid)
{
	char hex[24];

	snprintf(hex, sizeof(hex), "0x%016" PRIx64, guid);
	return json_string(hex);
}

/* What the node-name-map said; the fabric of the file has the NodeDescriptions. */
static json_t *planfile_names_json(const struct fabric *f)
{
	json_t *names = json_array();

	for (uint32_t t = 0; t < f->nend; t++)
		if (f->term_mapped[t])
			json_array_append_new(names,
					      json_pack("[o, o]",
							planfile_guid(f->term_node_guid[t]),
							json_text(f->term_name[t])));
	return names;
}

static json_t *planfile_jobs_json(const struct plan *p)
{
	json_t *list = json_array();

	for (uint32_t i = 0; p->jobs && i < p->jobs->njob; i++) {
		const struct job *job = &p->jobs->jobs[i];
		const char *last = "";
		json_t *nodes, *ports;

		if (!job->multi)
			continue;
		nodes = json_array();
		ports = json_array();
		for (uint32_t t = 0; t < job->nterm; t++) {
			const char *name = p->fabric->term_name[job->terms[t]];

			if (strcmp(name, last)) /* rails of one host are neighbours, mostly */
				json_array_append_new(nodes, json_text(name));
			last = name;
			json_array_append_new(ports,
					      planfile_guid(p->fabric->term_guid[job->terms[t]]));
		}
		json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:I}", "id",
						      (json_int_t)job->id, "nodes", nodes, "ports",
						      ports, "unknown", (json_int_t)job->unknown));
	}
	return list;
}

static char *planfile_header(const struct plan *p, const struct part *parts)
{
	char hex[DIGEST_HEX], guid[24];
	json_t *list = json_array(), *j;
	char *text;

	for (int i = 0; i < PARTS && parts[i].data; i++) {
		struct digest d;

		digest_of(&d, parts[i].data, parts[i].len);
		json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "name", parts[i].name,
						      "bytes", (json_int_t)parts[i].len, "sha256",
						      digest_hex(hex, &d)));
	}
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, p->sm.guid);
	j = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:I}", "schema",
		      p->jobs	     ? SCHEMA_4
		      : p->drain.known ? SCHEMA_3
		      : p->order.n   ? SCHEMA_2
				     : SCHEMA,
		      "id", p->id, "hash", digest_hex(hex, &p->hash), "fabric", p->fabric->name,
		      "lmc", p->fabric->lmc, "sm_guid", guid, "sm_priority", p->sm.priority,
		      "engine", p->to->engine, "params", p->to->params, "seed",
		      (json_int_t)p->to->seed);
	json_object_set_new(j, "lft_blocks", json_integer(p->diff->nblocks));
	json_object_set_new(j, "sl2vl_tables", json_integer(p->diff->nsl2vl));
	json_object_set_new(j, "job_source", p->jobs ? json_text(p->jobs->source) : json_null());
	json_object_set_new(j, "jobs", p->jobs ? planfile_jobs_json(p) : json_null());
	json_object_set_new(j, "names", planfile_names_json(p->fabric));
	if (p->drain.known)
		json_object_set_new(j, "drain", drain_encode(&p->drain, p->jobs));
	if (p->files.n)
		json_object_set_new(j, "files", plan_files_encode(&p->files));
	json_object_set_new(j, "parts", list);
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return text;
}

static void planfile_join(char **data, size_t *len, const char *head, const struct part *parts)
{
	char *at;

	*len = strlen(head) + 1;
	for (int i = 0; i < PARTS; i++)
		*len += parts[i].len;
	at = *data = xcalloc(*len, 1);
	at = mempcpy(at, head, strlen(head));
	*at++ = '\n';
	for (int i = 0; i < PARTS && parts[i].data; i++)
		at = mempcpy(at, parts[i].data, parts[i].len);
}

int plan_encode(char **data, size_t *len, const struct plan *p, const char *path, struct err *err)
{
	struct part parts[PARTS] = {
		{ .name = "fabric" }, { .name = "from" }, { .name = "to" }, { .name = "order" }
	};
	char *head = NULL;
	int rc = planfile_fabric_text(&parts[PART_FABRIC], p->fabric, err);

	*data = NULL;
	if (!rc) {
		tables_ibr_encode(&parts[PART_FROM].data, &parts[PART_FROM].len, p->from);
		tables_ibr_encode(&parts[PART_TO].data, &parts[PART_TO].len, p->to);
		if (p->order.n)
			planfile_order_bytes(&parts[PART_ORDER], &p->order);
		head = planfile_header(p, parts);
		if (head)
			planfile_join(data, len, head, parts);
		else
			rc = err_set(err, -EINVAL, "%s: a name in the fabric is not UTF-8", path);
	}
	for (int i = 0; i < PARTS; i++)
		free(parts[i].data);
	free(head);
	return rc;
}

int plan_save(const char *path, const struct plan *p, struct err *err)
{
	char *data;
	size_t len;
	int rc = plan_encode(&data, &len, p, path, err);

	if (!rc)
		rc = store_may_replace(path, err);
	if (!rc)
		rc = store_replace(path, data, len, 0600, err);
	free(data);
	return rc;
}

/* ---- reading ---- */

struct sample_reading {
	const char *path;
	const char *data;
	size_t len;
	json_t *head;
	struct part parts[PARTS]; /* in data, not written to */
	struct fabric *f;
	struct tables *from, *to;
	struct jobset *jobs;
	struct change_order order;
};

static int planfile_split(struct sample_reading *r, struct err *err)
{
	const char *at = memchr(r->data, '\n', r->len), *end = r->data + r->len;
	const char *schema;
	size_t nparts;
	json_t *list;

	r->head = at ? json_text_clean(json_loadb(r->data, (size_t)(at - r->data), 0, NULL)) : NULL;
	schema = json_string_value(json_object_get(r->head, "schema"));
	if (!schema || (strcmp(schema, SCHEMA) && strcmp(schema, SCHEMA_2) &&
			strcmp(schema, SCHEMA_3) && strcmp(schema, SCHEMA_4)))
		return err_set(err, -EINVAL, "%s: not a plan, or one of another version", r->path);
	at++;
	list = json_object_get(r->head, "parts");
	nparts = json_array_size(list) == PARTS ? PARTS : PART_ORDER;
	for (size_t i = 0; i < nparts; i++) {
		json_t *part = json_array_get(list, i);
		const char *hex = json_string_value(json_object_get(part, "sha256"));
		json_int_t len = json_integer_value(json_object_get(part, "bytes"));
		struct digest want, is;

		if (!hex || digest_parse(&want, hex) || len < 0 || len > end - at)
			return err_set(err, -EBADMSG, "%s: truncated or damaged", r->path);
		r->parts[i].data = (uint8_t *)(uintptr_t)at;
		r->parts[i].len = (size_t)len;
		digest_of(&is, at, (size_t)len);
		if (!digest_equal(&is, &want))
			return err_set(err, -EBADMSG, "%s: damaged: a checksum is wrong", r->path);
		at += len;
	}
	return 0;
}

static struct name_map *planfile_read_names(const struct sample_reading *r)
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

static int planfile_read_fabric(struct sample_reading *r, struct err *err)
{
	json_int_t lmc = json_integer_value(json_object_get(r->head, "lmc"));
	struct freeze_opts o = {
		.name = json_string_value(json_object_get(r->head, "fabric")),
		.lmc = (int)lmc,
	};
	struct builder *b = NULL;
	struct name_map *names;
	FILE *in;
	int rc;

	if (lmc < 0 || lmc > 7)
		return err_set(err, -EBADMSG,
			       "%s: there is no LMC %" JSON_INTEGER_FORMAT ", only 0 to 7", r->path,
			       lmc);
	in = fmemopen(r->parts[PART_FABRIC].data, r->parts[PART_FABRIC].len, "r");
	if (!in)
		return err_set(err, -EBADMSG, "%s: without a fabric", r->path);
	rc = ibnd_read(&b, in, r->path, NULL, err);
	fclose(in);
	o.names = names = planfile_read_names(r);
	if (!rc)
		rc = builder_freeze(&r->f, b, &o, err);
	name_map_free(names);
	builder_free(b);
	return rc;
}

/* A port that the fabric does not have is left out: the hash tells. */
static void planfile_read_ports(struct jobset_builder *b, const struct sample_reading *r,
				const struct job *head, const json_t *ports)
{
	uint32_t *terms = xcalloc(json_array_size(ports), sizeof(*terms)), n = 0;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		const char *guid = json_string_value(port);
		uint32_t term = guid ? fabric_term_by_guid(r->f, strtoull(guid, NULL, 16)) :
				       FAB_NONE;

		if (term < r->f->nterm)
			terms[n++] = term;
	}
	jobset_builder_add_ports(b, head, terms, n);
	free(terms);
}

static void planfile_read_nodes(struct jobset_builder *b, const struct job *head,
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

static struct jobset *planfile_read_jobs(const struct sample_reading *r)
{
	json_t *list = json_object_get(r->head, "jobs"), *job;
	const char *source = json_string_value(json_object_get(r->head, "job_source"));
	struct jobset_builder *b;
	size_t i;

	if (!json_is_array(list))
		return NULL;
	b = jobset_builder_new(r->f, source ? source : "plan");
	json_array_foreach(list, i, job)
	{
		struct job head = {
			.id = (uint64_t)json_integer_value(json_object_get(job, "id")),
			.unknown = (uint32_t)json_integer_value(json_object_get(job, "unknown")),
		};
		json_t *nodes = json_object_get(job, "nodes");
		json_t *ports = json_object_get(job, "ports");

		head.nnodes = (uint32_t)json_array_size(nodes);
		if (ports)
			planfile_read_ports(b, r, &head, ports);
		else
			planfile_read_nodes(b, &head, nodes);
	}
	return jobset_build(b);
}

static int planfile_read_order(struct sample_reading *r, struct err *err)
{
	const struct part *part = &r->parts[PART_ORDER];
	struct order_head h;
	struct change_write *v;

	if (!part->data)
		return 0;
	if (part->len < sizeof(h) || (part->len - sizeof(h)) % sizeof(struct order_write))
		return err_set(err, -EBADMSG, "%s: the order of its writes is damaged", r->path);
	memcpy(&h, part->data, sizeof(h));
	r->order.nwaves = le32toh(h.nwaves);
	r->order.sl2vl_wave = le32toh(h.sl2vl_wave);
	r->order.n = (uint32_t)((part->len - sizeof(h)) / sizeof(struct order_write));
	r->order.v = v = xcalloc(r->order.n, sizeof(*v));
	for (uint32_t i = 0; i < r->order.n; i++) {
		struct order_write w;

		memcpy(&w, part->data + sizeof(h) + i * sizeof(w), sizeof(w));
		v[i] = (struct change_write){ le32toh(w.wave), le32toh(w.sw), le32toh(w.block),
					      le64toh(w.now) };
	}
	return 0;
}

static int planfile_assemble(struct plan **out, const struct sample_reading *r, struct err *err)
{
	const char *guid = json_string_value(json_object_get(r->head, "sm_guid"));
	const char *hex = json_string_value(json_object_get(r->head, "hash"));
	struct sm_pin sm = {
		.guid = guid ? strtoull(guid, NULL, 16) : 0,
		.priority = (uint8_t)json_integer_value(json_object_get(r->head, "sm_priority")),
	};
	const json_t *j = json_object_get(r->head, "drain");
	struct plan_files files;
	struct digest want;
	struct drain d;
	struct plan *p;
	int rc = plan_files_decode(&files, json_object_get(r->head, "files"), err);

	if (!rc)
		rc = plan_new_with_progress(&p, r->f, r->from, r->to, r->jobs, &sm, 0,
					    file_progress(), err);
	if (rc)
		return rc;
	plan_from_files(p, &files);
	if (r->order.n && plan_in_order(p, &r->order, err)) {
		plan_free(p);
		return -EBADMSG;
	}
	if (j && drain_decode(&d, j, r->f, p->jobs, err)) {
		plan_free(p);
		return -EBADMSG;
	}
	if (j) {
		plan_with_drain(p, &d);
		drain_clear(&d);
	}
	if (!hex || digest_parse(&want, hex) || !digest_equal(&want, &p->hash)) {
		plan_free(p);
		return err_set(err, -EBADMSG, "%s: its contents do not match its hash", r->path);
	}
	*out = p;
	return 0;
}

int plan_decode(struct plan **out, const void *data, size_t len, const char *path, struct err *err)
{
	struct sample_reading r = { .path = path, .data = data, .len = len };
	int rc = planfile_split(&r, err);

	if (!rc)
		rc = planfile_read_fabric(&r, err);
	if (!rc)
		rc = tables_ibr_decode(&r.from, r.parts[PART_FROM].data, r.parts[PART_FROM].len,
				       r.f, path, err);
	if (!rc)
		rc = tables_ibr_decode(&r.to, r.parts[PART_TO].data, r.parts[PART_TO].len, r.f,
				       path, err);
	if (!rc)
		rc = planfile_read_order(&r, err);
	if (!rc) {
		r.jobs = planfile_read_jobs(&r);
		rc = planfile_assemble(out, &r, err);
	}
	jobset_put(r.jobs);
	tables_put(r.to);
	tables_put(r.from);
	fabric_put(r.f);
	json_decref(r.head);
	free(r.order.v);
	return rc;
}

int plan_load(struct plan **out, const char *path, struct err *err)
{
	char *data;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		return rc;
	rc = plan_decode(out, data, len, path, err);
	free(data);
	return rc;
}

int plan_rebase(struct plan **out, const struct plan *p, const struct fabric *f,
		const struct tables *from, struct err *err)
{
	int rc = plan_staleness(p, f, from, NULL, NULL, err);

	/* an equal fingerprint means equal indices: the jobs fit as they are */
	if (!rc)
		rc = plan_new_with_progress(out, f, from, p->to, p->jobs, &p->sm, p->time_s,
					    file_progress(), err);
	if (rc)
		return rc;
	plan_from_files(*out, &p->files);
	if (p->order.n)
		rc = plan_in_order(*out, &p->order, err);
	if (rc)
		plan_free(*out);
	else if (p->drain.known)
		plan_with_drain(*out, &p->drain);
	return rc;
}
