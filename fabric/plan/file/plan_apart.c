/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/plan_apart.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/apart.h"
#include "fabric/model/tables/tables_bytes.h"
#include "fabric/model/topology/builder_bytes.h"
#include "fabric/model/traffic/demand_bytes.h"
#include "fabric/plan/file/plan_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct plan_on_its_way {
	const void *data;
	size_t len;
	const char *path;
	struct plan_parts parts; /* here, or in the other process */
};

/* ---- there ---- */

struct name_count {
	bytes_out *out;
	uint32_t n;
};

static void plan_apart_put_name(void *ctx, uint64_t guid, const char *name)
{
	struct name_count *c = ctx;

	bytes_put(c->out, &guid, sizeof(guid));
	bytes_put_text(c->out, name);
	c->n++;
}

static void plan_apart_put_names(bytes_out *out, const struct name_map *names)
{
	bytes_out list = { 0 };
	struct name_count c = { &list, 0 };

	name_map_each(names, plan_apart_put_name, &c);
	bytes_put(out, &c.n, sizeof(c.n));
	bytes_put(out, list.v, list.n);
	vec_free(&list);
}

struct job_head {
	uint64_t id;
	uint32_t nnodes, unknown, nterm, given;
	char label[JOB_ID_LEN];
};

static void plan_apart_put_jobs(bytes_out *out, const struct jobset *js)
{
	uint32_t n = js ? js->njob : 0;

	bytes_put_text(out, js ? js->source : NULL);
	bytes_put(out, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &js->jobs[i];
		struct job_head h = { .id = job->id,
				      .nnodes = job->nnodes,
				      .unknown = job->unknown,
				      .nterm = job->nterm,
				      .given = job->given };

		snprintf(h.label, sizeof(h.label), "%s", job->attr[JOB_LABEL]);
		bytes_put(out, &h, sizeof(h));
		bytes_put(out, job->terms, job->nterm * sizeof(*job->terms));
	}
}

static void plan_apart_put_order(bytes_out *out, const struct change_order *o)
{
	bytes_put(out, &o->n, sizeof(o->n));
	bytes_put(out, &o->nwaves, sizeof(o->nwaves));
	bytes_put(out, &o->sl2vl_wave, sizeof(o->sl2vl_wave));
	bytes_put(out, o->v, o->n * sizeof(*o->v));
}

/* Pattern, and demand where there is one. */
static void plan_apart_put_traffic(bytes_out *out, const struct plan_parts *r)
{
	uint8_t demand = r->demand != NULL;

	bytes_put(out, r->pattern, sizeof(r->pattern));
	bytes_put(out, &demand, sizeof(demand));
	if (demand)
		demand_put_bytes(out, r->demand);
}

struct drain_head {
	uint32_t unassigned_lids, nlid, njob;
	uint8_t known, jobs, escape, zero;
};

static void plan_apart_put_drain(bytes_out *out, const struct drain *d)
{
	struct drain_head h = { d->unassigned_lids, d->nlid, d->njob, d->known, d->jobs,
				d->escape,	    0 };

	bytes_put(out, &h, sizeof(h));
	bytes_put(out, d->lid, d->nlid * sizeof(*d->lid));
	for (uint32_t i = 0; i < d->njob; i++) {
		uint32_t job[2] = { d->job[i].job, d->job[i].needed };

		bytes_put(out, job, sizeof(job));
	}
}

static int plan_apart_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct plan_on_its_way *x = ctx;
	struct plan_parts *r = &x->parts;
	int rc = plan_parts_read(r, x->data, x->len, x->path, err);
	uint32_t lmc = (uint32_t)r->lmc;
	uint8_t hashed = r->hashed;

	(void)report;
	if (rc)
		return rc;
	bytes_put_text(out, r->name);
	bytes_put(out, &lmc, sizeof(lmc));
	plan_apart_put_names(out, r->names);
	bytes_put(out, &r->nio, sizeof(r->nio));
	bytes_put(out, r->io, r->nio * sizeof(*r->io));
	builder_put(out, r->b);
	tables_bytes_put(out, r->from);
	tables_bytes_put(out, r->to);
	plan_apart_put_jobs(out, r->jobs);
	plan_apart_put_traffic(out, r);
	plan_apart_put_order(out, &r->order);
	plan_apart_put_drain(out, &r->drain);
	bytes_put(out, &r->files, sizeof(r->files));
	bytes_put(out, &r->sm, sizeof(r->sm));
	bytes_put(out, &hashed, sizeof(hashed));
	bytes_put(out, &r->hash, sizeof(r->hash));
	return 0;
}

/* ---- here ---- */

static int plan_apart_take_fabric(struct plan_parts *r, struct bytes_in *in, struct err *err)
{
	uint32_t lmc, n;
	int rc;

	r->name = bytes_take_text(in);
	bytes_take(in, &lmc, sizeof(lmc));
	bytes_take(in, &n, sizeof(n));
	r->names = name_map_new();
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		uint64_t guid;
		char *name;

		bytes_take(in, &guid, sizeof(guid));
		name = bytes_take_text(in);
		if (name && !in->bad)
			name_map_add(r->names, guid, name);
		free(name);
	}
	bytes_take(in, &r->nio, sizeof(r->nio));
	if (in->bad || lmc > 7 || r->nio > in->left / sizeof(*r->io)) {
		r->nio = 0;
		return -EPROTO;
	}
	r->io = xcalloc(r->nio, sizeof(*r->io));
	bytes_take(in, r->io, r->nio * sizeof(*r->io));
	r->lmc = (int)lmc;
	rc = builder_take(&r->b, in, err);
	if (!rc)
		rc = plan_parts_freeze(r, err);
	builder_free(r->b);
	r->b = NULL;
	return rc;
}

struct job_taken {
	struct job_head head;
	uint32_t *terms;
};

static int plan_apart_by_given(const void *x, const void *y)
{
	const struct job_taken *a = x, *b = y;

	return (a->head.given > b->head.given) - (a->head.given < b->head.given);
}

static int plan_apart_take_job(struct job_taken *to, struct bytes_in *in, const struct fabric *f)
{
	struct job_head *h = &to->head;

	bytes_take(in, h, sizeof(*h));
	if (in->bad || h->nterm > f->nterm)
		return -EPROTO;
	to->terms = xcalloc(h->nterm, sizeof(*to->terms));
	bytes_take(in, to->terms, h->nterm * sizeof(*to->terms));
	for (uint32_t i = 0; i < h->nterm; i++)
		if (to->terms[i] >= f->nterm)
			return -EPROTO;
	return in->bad ? -EPROTO : 0;
}

static struct jobset *plan_apart_make_jobs(const struct fabric *f, const char *source,
					   struct job_taken *job, uint32_t n)
{
	struct jobset_builder *b = jobset_builder_new(f, source);

	if (n)
		qsort(job, n, sizeof(*job), plan_apart_by_given);
	for (uint32_t i = 0; i < n; i++) {
		struct job head = { .id = job[i].head.id,
				    .nnodes = job[i].head.nnodes,
				    .unknown = job[i].head.unknown };

		job[i].head.label[JOB_ID_LEN - 1] = '\0';
		head.attr[JOB_LABEL] = job[i].head.label;
		jobset_builder_add_ports(b, &head, job[i].terms, job[i].head.nterm);
	}
	return jobset_build(b);
}

static int plan_apart_take_jobs(struct plan_parts *r, struct bytes_in *in)
{
	char *source = bytes_take_text(in);
	struct job_taken *job = NULL;
	uint32_t n, got = 0;
	int rc;

	bytes_take(in, &n, sizeof(n));
	rc = in->bad || n > in->left / sizeof(struct job_head) ? -EPROTO : 0;
	if (!rc)
		job = xcalloc(n, sizeof(*job));
	for (; got < n && !rc; got++)
		rc = plan_apart_take_job(&job[got], in, r->f);
	if (!rc && source)
		r->jobs = plan_apart_make_jobs(r->f, source, job, n);
	for (uint32_t i = 0; i < got; i++)
		free(job[i].terms);
	free(job);
	free(source);
	return rc;
}

static int plan_apart_take_traffic(struct plan_parts *r, struct bytes_in *in)
{
	uint8_t demand;

	bytes_take(in, r->pattern, sizeof(r->pattern));
	bytes_take(in, &demand, sizeof(demand));
	r->pattern[sizeof(r->pattern) - 1] = '\0';
	plain_text(r->pattern, "");
	if (in->bad)
		return -EPROTO;
	return demand ? demand_take_bytes(&r->demand, in, r->f) : 0;
}

/* What the writes are is judged by plan_in_order(). */
static int plan_apart_take_order(struct change_order *o, struct bytes_in *in)
{
	bytes_take(in, &o->n, sizeof(o->n));
	bytes_take(in, &o->nwaves, sizeof(o->nwaves));
	bytes_take(in, &o->sl2vl_wave, sizeof(o->sl2vl_wave));
	if (in->bad || o->n > in->left / sizeof(*o->v))
		return -EPROTO;
	o->v = xcalloc(o->n, sizeof(*o->v));
	bytes_take(in, o->v, o->n * sizeof(*o->v));
	return 0;
}

static bool plan_apart_drain_fits(const struct plan_parts *r)
{
	const struct drain *d = &r->drain;
	uint32_t njob = r->jobs ? r->jobs->njob : 0;

	for (uint32_t i = 0; i < d->nlid; i++)
		if (d->lid[i].lid <= (i ? d->lid[i - 1].lid : 0) || d->lid[i].lid > r->f->max_lid ||
		    d->lid[i].why >= DRAIN_WHYS)
			return false;
	for (uint32_t i = 0; i < d->njob; i++)
		if (d->job[i].job >= njob || (i && d->job[i].job <= d->job[i - 1].job))
			return false;
	return true;
}

static int plan_apart_take_drain(struct plan_parts *r, struct bytes_in *in)
{
	struct drain *d = &r->drain;
	struct drain_head h;

	bytes_take(in, &h, sizeof(h));
	if (in->bad || h.nlid > in->left / sizeof(*d->lid) || h.njob > in->left / 8)
		return -EPROTO;
	d->known = h.known;
	d->jobs = h.jobs;
	d->escape = h.escape;
	d->unassigned_lids = h.unassigned_lids;
	d->nlid = h.nlid;
	d->njob = h.njob;
	d->lid = xcalloc(d->nlid, sizeof(*d->lid));
	d->job = xcalloc(d->njob, sizeof(*d->job));
	bytes_take(in, d->lid, d->nlid * sizeof(*d->lid));
	for (uint32_t i = 0; i < d->njob; i++) {
		uint32_t job[2];

		bytes_take(in, job, sizeof(job));
		d->job[i] = (struct drain_job){ job[0], job[1] != 0 };
		d->nneeded += job[1] != 0;
	}
	return !in->bad && plan_apart_drain_fits(r) ? 0 : -EPROTO;
}

static int plan_apart_take_pins(struct plan_parts *r, struct bytes_in *in)
{
	uint8_t hashed;

	bytes_take(in, &r->files, sizeof(r->files));
	bytes_take(in, &r->sm, sizeof(r->sm));
	bytes_take(in, &hashed, sizeof(hashed));
	bytes_take(in, &r->hash, sizeof(r->hash));
	r->hashed = hashed;
	if (in->bad || r->files.n > PLAN_FILES)
		return -EPROTO;
	for (uint32_t i = 0; i < r->files.n; i++) {
		struct plan_file *x = &r->files.file[i];

		x->kind[sizeof(x->kind) - 1] = '\0';
		x->path[sizeof(x->path) - 1] = '\0';
		plain_text(x->kind, "");
		plain_text(x->path, "\t");
	}
	return 0;
}

static int plan_apart_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct plan_on_its_way *x = ctx;
	struct plan_parts *r = &x->parts;
	int rc = plan_apart_take_fabric(r, in, err);

	if (!rc)
		rc = tables_bytes_take(&r->from, in, r->f);
	if (!rc)
		rc = tables_bytes_take(&r->to, in, r->f);
	if (!rc)
		rc = plan_apart_take_jobs(r, in);
	if (!rc)
		rc = plan_apart_take_traffic(r, in);
	if (!rc)
		rc = plan_apart_take_order(&r->order, in);
	if (!rc)
		rc = plan_apart_take_drain(r, in);
	return rc ? rc : plan_apart_take_pins(r, in);
}

int plan_decode_apart(struct plan **out, const void *data, size_t len, const char *path,
		      struct err *err)
{
	struct plan_on_its_way x = { .data = data, .len = len, .path = path };
	struct apart a = {
		.path = path, .read = plan_apart_read, .take = plan_apart_take, .ctx = &x
	};
	int rc = apart_read(&a, NULL, err);

	if (!rc)
		rc = plan_parts_make(out, &x.parts, path, err);
	plan_parts_clear(&x.parts);
	return rc;
}
