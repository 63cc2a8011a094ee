/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/plan.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void plan_add_text(struct digest_stream *s, const char *text)
{
	digest_add_u64(s, strlen(text));
	digest_add(s, text, strlen(text));
}

static void plan_add_order(struct digest_stream *s, const struct change_order *o)
{
	digest_add_u64(s, o->nwaves);
	digest_add_u64(s, o->sl2vl_wave);
	for (uint32_t i = 0; i < o->n; i++) {
		digest_add_u64(s, (uint64_t)o->v[i].wave << 32 | o->v[i].sw);
		digest_add_u64(s, o->v[i].block);
		digest_add_u64(s, o->v[i].now);
	}
}

static void plan_add_demand(struct digest_stream *s, const struct demand *d)
{
	digest_add_u64(s, d->max_bytes);
	for (uint32_t i = 0; i < d->ndest; i++)
		digest_add_u64(s, d->dest[i]);
	for (uint32_t t = 0; t < d->nterm; t++)
		for (uint32_t k = d->off[t]; k < d->off[t + 1]; k++)
			digest_add_u64(s, (uint64_t)d->src[k] << 32 | (uint64_t)t << 8 | d->w[k]);
}

/* What its times are measured with; into nothing where that is as it always was. */
static void plan_add_traffic(struct digest_stream *s, const struct plan *p)
{
	const struct fabric *f = p->fabric;

	if (p->pattern[0])
		plan_add_text(s, p->pattern);
	if (p->demand)
		plan_add_demand(s, p->demand);
	for (uint32_t t = 0; t < f->nterm; t++)
		if (f->term_kind[t] == TERM_STORAGE)
			digest_add_u64(s, f->term_guid[t]);
}

static void plan_make_id(struct plan *p)
{
	struct digest_stream *s = digest_begin();
	struct digest none = { { 0 } }, made;
	bool jobs = p->jobs && p->jobs->nmulti;
	char hex[DIGEST_HEX];

	plan_add_text(s, "plan 1");
	digest_add(s, p->fabric->fingerprint.b, DIGEST_BYTES);
	digest_add(s, p->from_hash.b, DIGEST_BYTES);
	digest_add(s, p->to_hash.b, DIGEST_BYTES);
	digest_add(s, jobs ? p->jobs->key.b : none.b, DIGEST_BYTES);
	digest_add_u64(s, p->sm.guid);
	digest_add_u64(s, p->sm.priority);
	plan_add_text(s, p->to->engine);
	plan_add_text(s, p->to->params);
	digest_add_u64(s, p->to->seed);
	plan_files_digest(s, &p->files);
	digest_peek(&made, s);
	if (p->order.n)
		plan_add_order(s, &p->order);
	if (p->drain.known)
		drain_digest(s, &p->drain, p->jobs);
	plan_add_traffic(s, p);
	digest_end(&p->hash, s);
	digest_hex(hex, &made);
	snprintf(p->id, sizeof(p->id), "p-%.4s", hex);
}

/* Highest VL that a packet with one of those SLs gets towards another switch, plus 1. */
static uint8_t plan_vls_towards(const struct plan *p, uint32_t chan, uint32_t sls)
{
	const struct fabric *f = p->fabric;
	uint32_t sw = f->chan_src[chan];
	uint8_t most = 0;

	for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
		const struct port *port = fabric_port(f, sw, (uint8_t)in);

		if (in && port->chan == FAB_NONE && port->term == FAB_NONE)
			continue;
		for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
			uint8_t vl;

			if (!(sls >> sl & 1))
				continue;
			vl = tables_vl(p->to, f, sw, (uint8_t)in, f->chan_port[chan], sl);
			if (vl != VL_DROP && vl + 1 > most)
				most = (uint8_t)(vl + 1);
		}
	}
	return most;
}

/* What made them knows best; tables of others are judged by all turns that there are. */
static uint8_t plan_vls_needed(const struct plan *p)
{
	uint32_t sls;
	uint8_t most = 0;

	if (p->to->vls)
		return p->to->vls;
	sls = tables_sl_mask(p->to, p->fabric);
	if (p->to->sl2vl_kind == SL2VL_IDENTITY)
		return (uint8_t)(32 - __builtin_clz(sls | 1));
	for (uint32_t c = 0; c < p->fabric->nchan; c++) {
		uint8_t vls = plan_vls_towards(p, c, sls);

		most = vls > most ? vls : most;
	}
	return most;
}

static uint8_t plan_link_op_vls(const struct fabric *f, uint32_t chan)
{
	return fabric_port(f, f->chan_src[chan], f->chan_port[chan])->op_vls;
}

static uint8_t plan_least_op_vls(const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!plan_link_op_vls(f, c))
			return 0;
	return fabric_min_op_vls(f);
}

int plan_check_vls(const struct plan *p, struct err *err)
{
	const struct fabric *f = p->fabric;
	uint32_t unknown = FAB_NONE;

	if (p->vls_needed <= 1)
		return 0;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint8_t have = plan_link_op_vls(f, c);
		const char *name = f->sw_name[f->chan_src[c]];

		unknown = have || unknown != FAB_NONE ? unknown : c;
		if (have && have < p->vls_needed)
			return err_set(
				err, -ERANGE,
				"plan %s needs %u virtual lanes, but %s port %u has %u: "
				"raise max_op_vls of the SM, or give the engine fewer (--vls)",
				p->id, p->vls_needed, name, f->chan_port[c], have);
	}
	if (unknown != FAB_NONE)
		return err_set(
			err, -ENODATA,
			"plan %s needs %u virtual lanes; it is unknown how many %s port %u has",
			p->id, p->vls_needed, f->sw_name[f->chan_src[unknown]],
			f->chan_port[unknown]);
	return 0;
}

/* In turns over all switches, as it takes of the time: the new tables as they will be, both tables'
 * hashes, what differs, and its contents. */
enum { AT_ONTO, AT_FROM, AT_TO = AT_FROM + 2, AT_DIFF = AT_TO + 2, AT_CHANGES, TURNS };

/* True: cancelled. */
static bool plan_fill(struct plan *p, const struct tables *to, struct progress *progress)
{
	const struct fabric *f = p->fabric;
	uint64_t n = f->nsw;
	struct span span = { progress, "plan", AT_ONTO, n * TURNS };

	if (span_at(&span, 0))
		return true;
	p->to = tables_onto(f, p->from, to);
	span.from = AT_FROM * n;
	if (tables_hash_with_progress(&p->from_hash, p->from, f, &span))
		return true;
	span.from = AT_TO * n;
	if (tables_hash_with_progress(&p->to_hash, p->to, f, &span))
		return true;
	span.from = AT_DIFF * n;
	if (span_at(&span, 0))
		return true;
	p->diff = tables_diff_new(f, p->from, p->to);
	span.from = AT_CHANGES * n;
	if (span_at(&span, 0))
		return true;
	p->changes = changes_new(f, p->from, p->to, p->diff);
	p->vls_needed = plan_vls_needed(p);
	p->op_vls = plan_least_op_vls(f);
	return progress_step(progress, span.step, span.total, span.total);
}

int plan_new(struct plan **out, const struct fabric *f, const struct tables *from,
	     const struct tables *to, const struct jobset *jobs, const struct sm_pin *sm,
	     int64_t time_s, struct err *err)
{
	return plan_new_with_progress(out, f, from, to, jobs, sm, time_s, NULL, err);
}

int plan_new_with_progress(struct plan **out, const struct fabric *f, const struct tables *from,
			   const struct tables *to, const struct jobset *jobs,
			   const struct sm_pin *sm, int64_t time_s, struct progress *progress,
			   struct err *err)
{
	struct plan *p;

	if (!digest_equal(&from->fingerprint, &f->fingerprint) ||
	    !digest_equal(&to->fingerprint, &f->fingerprint))
		return err_set(err, -EINVAL,
			       "the %s tables were made for another state of fabric %s: compute "
			       "the routing again",
			       digest_equal(&from->fingerprint, &f->fingerprint) ? "proposed"
										 : "current",
			       f->name);
	if (!tables_know_vls(from) || !tables_know_vls(to))
		return err_set(err, -EAGAIN,
			       "the SL2VL tables of the %s routing are unknown: no plan without "
			       "them",
			       tables_know_vls(from) ? "proposed" : "current");
	p = xcalloc(1, sizeof(*p));
	p->fabric = fabric_get(f);
	p->from = tables_get(from);
	p->jobs = jobs ? jobset_get(jobs) : NULL;
	if (sm)
		p->sm = *sm;
	p->time_s = time_s;
	if (plan_fill(p, to, progress)) {
		plan_free(p);
		return err_set(err, -ECANCELED, "cancelled: there is no plan");
	}
	plan_make_id(p);
	*out = p;
	return 0;
}

static void plan_copy_order(struct change_order *out, const struct change_order *order)
{
	free(out->v);
	*out = *order;
	out->v = xcalloc(order->n, sizeof(*order->v));
	if (order->n)
		memcpy(out->v, order->v, order->n * sizeof(*order->v));
}

struct plan *plan_again(const struct plan *known, const struct sm_pin *sm, int64_t time_s)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	*p = *known;
	fabric_get(p->fabric);
	tables_get(p->from);
	tables_get(p->to);
	if (p->jobs)
		jobset_get(p->jobs);
	demand_get(p->demand);
	p->diff = tables_diff_copy(known->diff);
	p->changes = changes_copy(known->changes);
	p->order.v = NULL;
	plan_copy_order(&p->order, &known->order);
	p->drain = (struct drain){ 0 };
	drain_copy(&p->drain, &known->drain);
	p->sm = *sm;
	p->time_s = time_s;
	plan_make_id(p);
	return p;
}

int plan_in_order(struct plan *p, const struct change_order *order, struct err *err)
{
	struct changes *l;
	int rc;

	if (plan_empty(p))
		return 0;
	rc = changes_in_order(&l, p->fabric, p->from, p->to, p->diff, order, err);
	if (rc)
		return rc;
	changes_free(p->changes);
	p->changes = l;
	plan_copy_order(&p->order, order);
	plan_make_id(p);
	return 0;
}

void plan_with_drain(struct plan *p, const struct drain *d)
{
	drain_clear(&p->drain);
	drain_copy(&p->drain, d);
	plan_make_id(p);
}

void plan_from_files(struct plan *p, const struct plan_files *files)
{
	p->files = *files;
	plan_make_id(p);
}

void plan_with_traffic(struct plan *p, const struct demand *demand, const char *pattern)
{
	demand_put(p->demand);
	p->demand = demand_get(demand);
	snprintf(p->pattern, sizeof(p->pattern), "%s", pattern ? pattern : "");
	plan_make_id(p);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	changes_free(p->changes);
	free(p->order.v);
	drain_clear(&p->drain);
	tables_diff_free(p->diff);
	jobset_put(p->jobs);
	demand_put(p->demand);
	tables_put(p->to);
	tables_put(p->from);
	fabric_put(p->fabric);
	free(p);
}
