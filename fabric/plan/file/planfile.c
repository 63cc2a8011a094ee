/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/planfile.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/text/json_text.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/plan/file/plan_apart.h"
#include "fabric/plan/file/plan_parts.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
	const char *name;
	uint8_t *data;
	size_t len;
};

static void planfile_order_bytes(struct part *part, const struct change_order *o)
{
	struct plan_order_head h = { htole32(o->nwaves), htole32(o->sl2vl_wave) };
	uint8_t *at;

	part->len = sizeof(h) + o->n * sizeof(struct plan_order_write);
	at = part->data = xcalloc(part->len, 1);
	at = mempcpy(at, &h, sizeof(h));
	for (uint32_t i = 0; i < o->n; i++) {
		struct plan_order_write w = { .wave = htole32(o->v[i].wave),
					      .sw = htole32(o->v[i].sw),
					      .block = htole32(o->v[i].block),
					      .now = htole64(o->v[i].now) };

		at = mempcpy(at, &w, sizeof(w));
	}
}

static void planfile_demand_bytes(struct part *part, const struct demand *d)
{
	struct plan_demand_head h = { htole64(d->max_bytes), htole32(d->ndest), htole32(d->npair) };
	uint8_t *at;

	part->len = sizeof(h) + d->ndest * sizeof(uint32_t) +
		    d->npair * sizeof(struct plan_demand_pair);
	at = part->data = xcalloc(part->len, 1);
	at = mempcpy(at, &h, sizeof(h));
	for (uint32_t i = 0; i < d->ndest; i++) {
		uint32_t dst = htole32(d->dest[i]);

		at = mempcpy(at, &dst, sizeof(dst));
	}
	for (uint32_t t = 0; t < d->nterm; t++)
		for (uint32_t k = d->off[t]; k < d->off[t + 1]; k++) {
			struct plan_demand_pair x = { htole32(d->src[k]), htole32(t),
						      htole32(d->w[k]) };

			at = mempcpy(at, &x, sizeof(x));
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
			json_array_append_new(names, json_pack("[o, o]",
							       planfile_guid(f->term_node_guid[t]),
							       json_text(f->term_name[t])));
	return names;
}

static json_t *planfile_io_json(const struct fabric *f)
{
	json_t *list = json_array();

	for (uint32_t t = 0; t < f->nterm; t++)
		if (f->term_kind[t] == TERM_STORAGE)
			json_array_append_new(list, planfile_guid(f->term_guid[t]));
	return list;
}

static const char *planfile_schema(const struct plan *p, const json_t *io)
{
	return p->demand || p->pattern[0] || json_array_size(io) ? PLAN_SCHEMA_5
	       : p->jobs					 ? PLAN_SCHEMA_4
	       : p->drain.known					 ? PLAN_SCHEMA_3
	       : p->order.n					 ? PLAN_SCHEMA_2
								 : PLAN_SCHEMA;
}

static json_t *planfile_job_json(const struct job *job, json_t *nodes, json_t *ports)
{
	json_t *j = json_pack("{s:I, s:o, s:o, s:I}", "id", (json_int_t)job->id, "nodes", nodes,
			      "ports", ports, "unknown", (json_int_t)job->unknown);

	if (j && job->attr[JOB_LABEL][0])
		json_object_set_new(j, job_attr_key(JOB_LABEL), json_text(job->attr[JOB_LABEL]));
	return j;
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
		json_array_append_new(list, planfile_job_json(job, nodes, ports));
	}
	return list;
}

static char *planfile_header(const struct plan *p, const struct part *parts)
{
	char hex[DIGEST_HEX], guid[24];
	json_t *list = json_array(), *io = planfile_io_json(p->fabric), *j;
	char *text;

	for (int i = 0; i < PLAN_PARTS; i++) {
		struct digest d;

		if (!parts[i].data)
			continue;
		digest_of(&d, parts[i].data, parts[i].len);
		json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "name", parts[i].name,
						      "bytes", (json_int_t)parts[i].len, "sha256",
						      digest_hex(hex, &d)));
	}
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, p->sm.guid);
	j = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:I}", "schema",
		      planfile_schema(p, io), "id", p->id, "hash", digest_hex(hex, &p->hash),
		      "fabric", p->fabric->name, "lmc", p->fabric->lmc, "sm_guid", guid,
		      "sm_priority", p->sm.priority, "engine", p->to->engine, "params",
		      p->to->params, "seed", (json_int_t)p->to->seed);
	json_object_set_new(j, "lft_blocks", json_integer(p->diff->nblocks));
	json_object_set_new(j, "sl2vl_tables", json_integer(p->diff->nsl2vl));
	json_object_set_new(j, "job_source", p->jobs ? json_text(p->jobs->source) : json_null());
	json_object_set_new(j, "jobs", p->jobs ? planfile_jobs_json(p) : json_null());
	json_object_set_new(j, "names", planfile_names_json(p->fabric));
	if (p->drain.known)
		json_object_set_new(j, "drain", drain_encode(&p->drain, p->jobs));
	if (p->files.n)
		json_object_set_new(j, "files", plan_files_encode(&p->files));
	if (p->pattern[0])
		json_object_set_new(j, "pattern", json_string(p->pattern));
	if (json_array_size(io))
		json_object_set(j, "io_ports", io);
	json_decref(io);
	json_object_set_new(j, "parts", list);
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return text;
}

static void planfile_join(char **data, size_t *len, const char *head, const struct part *parts)
{
	char *at;

	*len = strlen(head) + 1;
	for (int i = 0; i < PLAN_PARTS; i++)
		*len += parts[i].len;
	at = *data = xcalloc(*len, 1);
	at = mempcpy(at, head, strlen(head));
	*at++ = '\n';
	for (int i = 0; i < PLAN_PARTS; i++)
		at = parts[i].data ? mempcpy(at, parts[i].data, parts[i].len) : at;
}

int plan_encode(char **data, size_t *len, const struct plan *p, const char *path, struct err *err)
{
	struct part parts[PLAN_PARTS] = { 0 };
	char *head = NULL;
	int rc = planfile_fabric_text(&parts[PLAN_PART_FABRIC], p->fabric, err);

	for (int i = 0; i < PLAN_PARTS; i++)
		parts[i].name = plan_part_names[i];
	*data = NULL;
	if (!rc) {
		tables_ibr_encode(&parts[PLAN_PART_FROM].data, &parts[PLAN_PART_FROM].len, p->from);
		tables_ibr_encode(&parts[PLAN_PART_TO].data, &parts[PLAN_PART_TO].len, p->to);
		if (p->order.n)
			planfile_order_bytes(&parts[PLAN_PART_ORDER], &p->order);
		if (p->demand)
			planfile_demand_bytes(&parts[PLAN_PART_DEMAND], p->demand);
		head = planfile_header(p, parts);
		if (head)
			planfile_join(data, len, head, parts);
		else
			rc = err_set(err, -EINVAL, "%s: a name in the fabric is not UTF-8", path);
	}
	for (int i = 0; i < PLAN_PARTS; i++)
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

int plan_decode(struct plan **out, const void *data, size_t len, const char *path, struct err *err)
{
	struct plan_parts r = { 0 };
	int rc = plan_parts_read(&r, data, len, path, err);

	if (!rc)
		rc = plan_parts_make(out, &r, path, err);
	plan_parts_clear(&r);
	return rc;
}

int plan_load(struct plan **out, const char *path, struct err *err)
{
	char *data;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		return rc;
	rc = plan_decode_apart(out, data, len, path, err);
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
	plan_with_traffic(*out, p->demand, p->pattern);
	if (p->order.n)
		rc = plan_in_order(*out, &p->order, err);
	if (rc)
		plan_free(*out);
	else if (p->drain.known)
		plan_with_drain(*out, &p->drain);
	return rc;
}
