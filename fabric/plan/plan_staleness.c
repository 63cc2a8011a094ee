/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed since a plan was made, in words. */
#include "fabric/plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Findings of one kind: how many, and the name of the first. */
struct staleness {
	uint32_t n;
	char first[96];
};

static void plan_staleness_note(struct staleness *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void plan_staleness_note(struct staleness *d, const char *fmt, ...)
{
	va_list ap;

	if (d->n++)
		return;
	va_start(ap, fmt);
	vsnprintf(d->first, sizeof(d->first), fmt, ap);
	va_end(ap);
}

static void plan_staleness_say(char *text, size_t size, const struct staleness *d, const char *one,
			       const char *many)
{
	size_t len = strlen(text);

	if (!d->n || len + 8 >= size)
		return;
	snprintf(text + len, size - len, "%s%u %s (%s%s)", len ? ", " : "", d->n,
		 d->n == 1 ? one : many, d->first, d->n > 1 ? ", ..." : "");
}

/* Adds the sorted GUIDs of a that b does not have. */
static void plan_staleness_missing(struct staleness *d, const uint64_t *a, uint32_t na,
				   char *const *name, const uint64_t *b, uint32_t nb)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < na; i++) {
		while (k < nb && b[k] < a[i])
			k++;
		if (k == nb || b[k] != a[i])
			plan_staleness_note(d, "%s", name[i]);
	}
}

/* Cables between switches that both snapshots have, but that only a has. */
static void plan_staleness_missing_cables(struct staleness *d, const struct fabric *a,
					  const struct fabric *b)
{
	for (uint32_t c = 0; c < a->nchan; c++) {
		uint32_t rev = a->chan_rev[c], sw, peer, there;

		if (rev < c)
			continue;
		sw = fabric_switch_by_guid(b, a->sw_guid[a->chan_src[c]]);
		peer = fabric_switch_by_guid(b, a->sw_guid[a->chan_dst[c]]);
		if (sw == FAB_NONE || peer == FAB_NONE)
			continue;
		there = fabric_chan(b, sw, a->chan_port[c]);
		if (there == FAB_NONE || b->chan_dst[there] != peer ||
		    b->chan_rport[there] != a->chan_rport[c])
			plan_staleness_note(d, "%s/%u-%s/%u", a->sw_name[a->chan_src[c]],
					    a->chan_port[c], a->sw_name[a->chan_dst[c]],
					    a->chan_rport[c]);
	}
}

static void plan_staleness_changed_lids(struct staleness *d, const struct fabric *a,
					const struct fabric *b)
{
	for (uint32_t i = 0; i < a->nend; i++) {
		uint32_t k = fabric_term_by_guid(b, a->term_guid[i]);

		if (k != FAB_NONE && (a->term_lid[i] != b->term_lid[k] || a->lmc != b->lmc))
			plan_staleness_note(d, "%s", a->term_name[i]);
	}
	for (uint32_t i = 0; i < a->nsw; i++) {
		uint32_t k = fabric_switch_by_guid(b, a->sw_guid[i]);

		if (k != FAB_NONE && a->sw_lid[i] != b->sw_lid[k])
			plan_staleness_note(d, "%s", a->sw_name[i]);
	}
}

static int plan_staleness_fabric_diff(const struct fabric *was, const struct fabric *is,
				      struct err *err)
{
	struct staleness sw_gone = { 0 }, sw_new = { 0 }, cable_gone = { 0 }, cable_new = { 0 };
	struct staleness end_gone = { 0 }, end_new = { 0 }, lids = { 0 };
	char text[440] = "";

	if (digest_equal(&was->fingerprint, &is->fingerprint))
		return 0;
	plan_staleness_missing(&sw_gone, was->sw_guid, was->nsw, was->sw_name, is->sw_guid,
			       is->nsw);
	plan_staleness_missing(&sw_new, is->sw_guid, is->nsw, is->sw_name, was->sw_guid, was->nsw);
	plan_staleness_missing_cables(&cable_gone, was, is);
	plan_staleness_missing_cables(&cable_new, is, was);
	plan_staleness_missing(&end_gone, was->term_guid, was->nterm, was->term_name, is->term_guid,
			       is->nterm);
	plan_staleness_missing(&end_new, is->term_guid, is->nterm, is->term_name, was->term_guid,
			       was->nterm);
	plan_staleness_changed_lids(&lids, was, is);
	plan_staleness_say(text, sizeof(text), &sw_gone, "switch gone", "switches gone");
	plan_staleness_say(text, sizeof(text), &sw_new, "new switch", "new switches");
	plan_staleness_say(text, sizeof(text), &cable_gone, "cable gone", "cables gone");
	plan_staleness_say(text, sizeof(text), &cable_new, "new cable", "new cables");
	plan_staleness_say(text, sizeof(text), &end_gone, "host gone", "hosts gone");
	plan_staleness_say(text, sizeof(text), &end_new, "new host", "new hosts");
	plan_staleness_say(text, sizeof(text), &lids, "LID changed", "LIDs changed");
	return err_set(err, -ESTALE, "the fabric changed: %s",
		       text[0] ? text : "hosts were moved or other ports changed");
}

static int plan_staleness_tables_diff(const struct plan *p, const struct fabric *f,
				      const struct tables *t, struct err *err)
{
	struct digest now;
	struct tables_diff *d;
	const char *first;
	int rc;

	tables_hash(&now, t, f);
	if (digest_equal(&now, &p->from_hash))
		return 0;
	if (tables_forward_same(f, p->to, t) && !tables_forward_same(f, p->from, t))
		return err_set(err, -ESTALE,
			       "plan %s is already installed: the switches hold its tables", p->id);
	d = tables_diff_new(f, p->from, t);
	first = f->sw_name[d->nblocks ? d->blocks[0].sw : d->nsl2vl ? d->sl2vl[0].sw : 0];
	if (d->nblocks || d->nsl2vl)
		rc = err_set(
			err, -ESTALE,
			"the installed tables changed: %u LFT blocks and %u SL2VL tables on %u "
			"switches (%s%s) were written by another writer",
			d->nblocks, d->nsl2vl, d->switches, first, d->switches > 1 ? ", ..." : "");
	else
		rc = err_set(err, -ESTALE, "the service levels of %" PRIu64 " paths changed",
			     d->sl_pairs);
	tables_diff_free(d);
	return rc;
}

static bool plan_staleness_has_job(const struct jobset *js, const struct job *j)
{
	for (uint32_t i = 0; i < js->njob; i++)
		if (js->jobs[i].multi && js->jobs[i].nterm == j->nterm &&
		    !memcmp(js->jobs[i].terms, j->terms, j->nterm * sizeof(*j->terms)))
			return true;
	return false;
}

static void plan_staleness_missing_jobs(struct staleness *d, const struct jobset *a,
					const struct jobset *b)
{
	for (uint32_t i = 0; i < a->njob; i++)
		if (a->jobs[i].multi && (!b || !plan_staleness_has_job(b, &a->jobs[i])))
			plan_staleness_note(d, "%s on %u nodes", JOB_TEXT(&a->jobs[i]),
					    a->jobs[i].nnodes);
}

static int plan_staleness_jobs_diff(const struct jobset *was, const struct jobset *is,
				    struct err *err)
{
	struct staleness gone = { 0 }, new = { 0 };
	char text[300] = "";

	if (jobset_same(was, is))
		return 0;
	if (was)
		plan_staleness_missing_jobs(&gone, was, is);
	plan_staleness_missing_jobs(&new, is, was);
	plan_staleness_say(text, sizeof(text), &new, "job started", "jobs started");
	plan_staleness_say(text, sizeof(text), &gone, "job ended", "jobs ended");
	return err_set(err, -ESTALE, "the jobs changed: %s",
		       text[0] ? text : "other numbers of jobs share the same nodes");
}

int plan_staleness_of_switches(const struct plan *p, const struct fabric *f, struct err *err)
{
	if (digest_equal(&p->fabric->switch_graph, &f->switch_graph))
		return 0;
	return plan_staleness_fabric_diff(p->fabric, f, err);
}

static int plan_staleness_sm_diff(const struct sm_pin *was, const struct sm_pin *sm,
				  struct err *err)
{
	if (sm->guid == was->guid && sm->priority == was->priority)
		return 0;
	if (!sm->guid)
		return err_set(err, -ESTALE,
			       "the subnet manager 0x%016" PRIx64 " does not respond any more",
			       was->guid);
	if (!was->guid)
		return err_set(err, -ESTALE,
			       "there is a subnet manager again, 0x%016" PRIx64
			       ", and there was none",
			       sm->guid);
	return err_set(err, -ESTALE,
		       "the subnet manager changed: 0x%016" PRIx64 " priority %u, was 0x%016" PRIx64
		       " priority %u",
		       sm->guid, sm->priority, was->guid, was->priority);
}

int plan_staleness(const struct plan *p, const struct fabric *f, const struct tables *tables,
		   const struct jobset *jobs, const struct sm_pin *sm, struct err *err)
{
	int rc = plan_staleness_fabric_diff(p->fabric, f, err);

	if (!rc && sm)
		rc = plan_staleness_sm_diff(&p->sm, sm, err);
	if (!rc)
		rc = plan_staleness_tables_diff(p, f, tables, err);
	if (!rc && jobs)
		rc = plan_staleness_jobs_diff(p->jobs, jobs, err);
	return rc;
}

const struct tables *plan_as_read(const struct plan *p, const struct fabric *f,
				  const struct tables *t)
{
	if (!digest_equal(&f->fingerprint, &p->fabric->fingerprint) ||
	    !tables_forward_same(f, p->from, t))
		return t;
	return p->from;
}
