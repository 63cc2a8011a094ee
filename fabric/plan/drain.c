/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/drain.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/end_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *drain_why_name(enum drain_why why)
{
	static const char *const name[DRAIN_WHYS] = {
		[DRAIN_OLD_LOOP] = "old loop",
		[DRAIN_OLD_SL] = "old service level",
		[DRAIN_OTHERS] = "old service levels together",
		[DRAIN_NO_ORDER] = "no order found",
	};

	return why < DRAIN_WHYS ? name[why] : "?";
}

/* ---- finding ---- */

struct look {
	const struct fabric *f;
	const struct tables *from, *to;
	const struct tables_diff *diff;
	const struct drain *d;
	bool *changes; /* by LID: an entry somewhere */
	bool *drained; /* by LID */
};

bool drain_has_escape_lids(const struct drain *d, const struct fabric *f)
{
	for (uint32_t i = 0; f->lmc && i < d->nlid; i++)
		if (fabric_lid_escape(f, d->lid[i].lid))
			return true;
	return false;
}

/* Paths of escape LIDs must not change while traffic is on them, nor may they be in the others'
 * way: hosts may use another SL for them than the tables say. */
static bool drain_escape_stays(const struct look *l)
{
	const struct fabric *f = l->f;
	uint32_t sls = 0;

	if (!f->lmc || (!l->from->escape && !l->to->escape) || drain_has_escape_lids(l->d, f))
		return false;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (!fabric_lid_escape(f, lid))
			continue;
		if (l->changes[lid])
			return false;
		for (uint32_t t = 0; t < f->nterm; t++) {
			const struct tables *of = l->from->escape ? l->from : l->to;

			sls |= 1u << tables_path_sl(of, t, f->term_sw[t], lid);
			if (of->sl_kind == SL_CONST || of->sl_kind == SL_BY_DLID)
				break;
		}
	}
	for (uint32_t i = 0; i < l->diff->nsl2vl; i++) {
		const struct tables_diff_sl2vl *x = &l->diff->sl2vl[i];

		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			if (sls >> sl & 1 && tables_vl(l->from, f, x->sw, x->in, x->out, sl) !=
						     tables_vl(l->to, f, x->sw, x->in, x->out, sl))
				return false;
	}
	return true;
}

static bool drain_path_changes(const struct look *l, uint32_t sw, uint32_t lid)
{
	uint8_t port;
	uint32_t dst = fabric_lid_switch(l->f, lid, &port);

	for (uint32_t hops = 0; hops <= l->f->nsw; hops++) {
		uint8_t out = tables_row(l->from, sw)[lid];
		uint32_t chan;

		if (out != tables_row(l->to, sw)[lid])
			return true;
		chan = sw == dst ? FAB_NONE : fabric_chan(l->f, sw, out);
		if (chan == FAB_NONE)
			return false;
		sw = l->f->chan_dst[chan];
	}
	return true; /* loops */
}

static bool drain_term_changes(const struct look *l, const struct job *job, uint32_t dst)
{
	const struct fabric *f = l->f;
	uint32_t lids = 1u << f->lmc;

	if (l->d->escape)
		lids /= 2;
	for (uint32_t lid = f->term_lid[dst]; lid < f->term_lid[dst] + lids; lid++) {
		uint32_t last = FAB_NONE;

		if (!l->changes[lid] && !l->diff->sl_pairs)
			continue;
		for (uint32_t i = 0; i < job->nterm; i++) {
			uint32_t t = job->terms[i], sw = f->term_sw[t];

			if (l->diff->sl_pairs && tables_path_sl(l->from, t, sw, lid) !=
							 tables_path_sl(l->to, t, sw, lid))
				return true;
			if (sw != last && l->changes[lid] && drain_path_changes(l, sw, lid))
				return true;
			last = sw;
		}
	}
	return false;
}

static bool drain_job_needs(const struct look *l, const struct job *job)
{
	for (uint32_t i = 0; i < job->nterm; i++)
		for (uint32_t k = 0; k < 1u << l->f->lmc; k++)
			if (l->drained[l->f->term_lid[job->terms[i]] + k])
				return true;
	return false;
}

static bool drain_job_changes(const struct look *l, const struct job *job)
{
	if (l->diff->nsl2vl)
		return true;
	for (uint32_t i = 0; i < job->nterm; i++)
		if (drain_term_changes(l, job, job->terms[i]))
			return true;
	return false;
}

static void drain_mark_changes(struct look *l)
{
	for (uint32_t i = 0; i < l->diff->nblocks; i++) {
		const struct tables_diff_block *b = &l->diff->blocks[i];
		uint32_t lid = b->block * LFT_BLOCK;

		for (uint32_t k = 0; k < LFT_BLOCK && lid + k <= l->f->max_lid; k++)
			if (tables_row(l->from, b->sw)[lid + k] !=
			    tables_row(l->to, b->sw)[lid + k])
				l->changes[lid + k] = true;
	}
	for (uint32_t i = 0; i < l->d->nlid; i++)
		l->drained[l->d->lid[i].lid] = true;
}

/* Ends of multi-switch jobs; the caller frees. */
static bool *drain_job_ends(const struct fabric *f, const struct jobset *jobs)
{
	bool *known = xcalloc(f->nend, sizeof(*known));

	for (uint32_t i = 0; jobs && i < jobs->njob; i++)
		for (uint32_t k = 0; jobs->jobs[i].multi && k < jobs->jobs[i].nterm; k++)
			known[jobs->jobs[i].terms[k]] = true;
	return known;
}

static bool drain_is_unassigned(const struct fabric *f, const bool *known, uint16_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	return end == FAB_NONE || end >= f->nend || !known[end];
}

static uint32_t drain_count_unassigned(const struct look *l, const struct jobset *jobs)
{
	bool *known = drain_job_ends(l->f, jobs);
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->d->nlid; i++)
		n += drain_is_unassigned(l->f, known, l->d->lid[i].lid);
	free(known);
	return n;
}

int drain_find(struct drain *d, const struct fabric *f, const struct tables *from,
	       const struct tables *to, const struct jobset *jobs, const struct tables_diff *diff,
	       struct progress *progress, struct err *err)
{
	size_t lids = (size_t)f->max_lid + (1u << f->lmc) + LFT_BLOCK;
	struct look l = { .f = f, .from = from, .to = to, .diff = diff, .d = d };
	int rc = 0;

	l.changes = xcalloc(lids, sizeof(*l.changes));
	l.drained = xcalloc(lids, sizeof(*l.drained));
	drain_mark_changes(&l);
	d->known = true;
	d->jobs = jobs != NULL;
	d->escape = drain_escape_stays(&l);
	d->unassigned_lids = drain_count_unassigned(&l, jobs);
	d->njob = d->nneeded = 0;
	d->job = xcalloc(jobs ? jobs->njob : 0, sizeof(*d->job));
	for (uint32_t i = 0; jobs && i < jobs->njob && !rc; i++) {
		const struct job *job = &jobs->jobs[i];
		bool needed;

		if (progress_step(progress, "drain", i, jobs->njob))
			rc = err_set(err, -ECANCELED, "cancelled");
		if (rc || !job->multi)
			continue;
		needed = drain_job_needs(&l, job);
		if (!needed && !drain_job_changes(&l, job))
			continue;
		d->job[d->njob++] = (struct drain_job){ i, needed };
		d->nneeded += needed;
	}
	free(l.changes);
	free(l.drained);
	return rc;
}

void drain_copy(struct drain *out, const struct drain *d)
{
	*out = *d;
	out->lid = xcalloc(d->nlid, sizeof(*d->lid));
	out->job = xcalloc(d->njob, sizeof(*d->job));
	if (d->nlid)
		memcpy(out->lid, d->lid, d->nlid * sizeof(*d->lid));
	if (d->njob)
		memcpy(out->job, d->job, d->njob * sizeof(*d->job));
}

void drain_clear(struct drain *d)
{
	free(d->lid);
	free(d->job);
	*d = (struct drain){ 0 };
}

/* ---- in a plan ---- */

void drain_digest(struct digest_stream *s, const struct drain *d, const struct jobset *jobs)
{
	digest_add_u64(s, (uint64_t)d->known << 2 | (uint64_t)d->jobs << 1 | d->escape);
	digest_add_u64(s, d->unassigned_lids);
	digest_add_u64(s, d->nlid);
	for (uint32_t i = 0; i < d->nlid; i++)
		digest_add_u64(s, (uint64_t)d->lid[i].lid << 8 | d->lid[i].why);
	digest_add_u64(s, d->njob);
	for (uint32_t i = 0; i < d->njob; i++) {
		digest_add_u64(s, jobs->jobs[d->job[i].job].id);
		digest_add_u64(s, d->job[i].needed);
	}
}

json_t *drain_encode(const struct drain *d, const struct jobset *jobs)
{
	json_t *lids = json_array(), *list = json_array();

	for (uint32_t i = 0; i < d->nlid; i++)
		json_array_append_new(lids, json_pack("[i, i]", d->lid[i].lid, d->lid[i].why));
	for (uint32_t i = 0; i < d->njob; i++)
		json_array_append_new(list,
				      json_pack("[I, b]", (json_int_t)jobs->jobs[d->job[i].job].id,
						d->job[i].needed));
	return json_pack("{s:b, s:b, s:I, s:o, s:o}", "jobs_known", d->jobs, "escape", d->escape,
			 "strangers", (json_int_t)d->unassigned_lids, "lids", lids, "jobs", list);
}

static uint32_t drain_job_of(const struct jobset *jobs, json_int_t id)
{
	for (uint32_t i = 0; jobs && i < jobs->njob; i++)
		if (jobs->jobs[i].id == (uint64_t)id)
			return i;
	return FAB_NONE;
}

int drain_decode(struct drain *out, const json_t *j, const struct fabric *f,
		 const struct jobset *jobs, struct err *err)
{
	const json_t *lids = json_object_get(j, "lids"), *list = json_object_get(j, "jobs"), *x;
	struct drain d = {
		.known = true,
		.jobs = json_is_true(json_object_get(j, "jobs_known")),
		.escape = json_is_true(json_object_get(j, "escape")),
		.unassigned_lids = (uint32_t)json_integer_value(json_object_get(j, "strangers")),
	};
	size_t i;
	bool ok = json_is_array(lids) && json_is_array(list);

	d.lid = xcalloc(json_array_size(lids), sizeof(*d.lid));
	d.job = xcalloc(json_array_size(list), sizeof(*d.job));
	json_array_foreach(lids, i, x)
	{
		json_int_t lid = json_integer_value(json_array_get(x, 0));
		json_int_t why = json_integer_value(json_array_get(x, 1));

		ok = ok && lid > (d.nlid ? d.lid[d.nlid - 1].lid : 0) && lid <= f->max_lid &&
		     why >= 0 && why < DRAIN_WHYS;
		d.lid[d.nlid++] = (struct drain_lid){ (uint16_t)lid, (uint8_t)why };
	}
	json_array_foreach(list, i, x)
	{
		uint32_t job = drain_job_of(jobs, json_integer_value(json_array_get(x, 0)));
		bool needed = json_is_true(json_array_get(x, 1));

		ok = ok && job != FAB_NONE && (!d.njob || job > d.job[d.njob - 1].job);
		d.job[d.njob++] = (struct drain_job){ job, needed };
		d.nneeded += needed;
	}
	if (!ok) {
		drain_clear(&d);
		return err_set(err, -EBADMSG,
			       "its data about the drain do not match its fabric and jobs");
	}
	*out = d;
	return 0;
}

static uint32_t drain_nodes_of(const struct drain *d, const struct jobset *jobs, bool needed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->njob; i++)
		if (d->job[i].needed >= needed)
			n += jobs->jobs[d->job[i].job].nterm;
	return n;
}

static const char *drain_s(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* LIDs of one end in a row, from the i-th on; returns how many. */
static uint32_t drain_same_end(const struct drain *d, const struct fabric *f, uint32_t i)
{
	uint32_t end = fabric_lid_end(f, d->lid[i].lid), n = 1;

	while (end != FAB_NONE && i + n < d->nlid && fabric_lid_end(f, d->lid[i + n].lid) == end)
		n++;
	return n;
}

static size_t drain_put_end(char *buf, size_t size, const struct drain *d, const struct fabric *f,
			    uint32_t i, uint32_t n)
{
	uint32_t end = fabric_lid_end(f, d->lid[i].lid);
	char name[300] = "nobody";
	int len;

	if (end != FAB_NONE)
		end_name(name, sizeof(name), f, end);
	len = n == 1 ? snprintf(buf, size, "%s (LID %u)", name, d->lid[i].lid)
		     : snprintf(buf, size, "%s (LIDs %u-%u)", name, d->lid[i].lid,
				d->lid[i + n - 1].lid);
	return (size_t)len;
}

#define MORE_LEN 24 /* " and 49151 more" */

void drain_unassigned_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
			   const struct jobset *jobs)
{
	bool *known = drain_job_ends(f, jobs);
	uint32_t more = 0;
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0, n = 0; i < d->nlid; i += n) {
		char one[340];
		size_t add;

		n = drain_same_end(d, f, i);
		if (!drain_is_unassigned(f, known, d->lid[i].lid))
			continue;
		add = drain_put_end(one, sizeof(one), d, f, i, n);
		if (more || len + add + 2 + MORE_LEN > size) {
			more++;
			continue;
		}
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "", one);
	}
	if (more)
		snprintf(buf + len, size - len, "%s%u more", len ? " and " : "", more);
	free(known);
}

int drain_check_unassigned(const struct drain *d, const struct fabric *f, const struct jobset *jobs,
			   struct err *err)
{
	char who[200];

	if (!d->unassigned_lids)
		return 0;
	drain_unassigned_text(who, sizeof(who), d, f, jobs);
	return err_set(err, -EPERM,
		       "%u LID%s of no job must be drained, and nobody can be asked there: %s. "
		       "Pause what sends to them; --accept-strangers then applies the plan",
		       d->unassigned_lids, drain_s(d->unassigned_lids), who);
}

void drain_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
		const struct jobset *jobs)
{
	char who[160] = "";
	size_t len;

	if (d->known && d->unassigned_lids)
		drain_unassigned_text(who, sizeof(who), d, f, jobs);

	if (!d->known) {
		snprintf(buf, size, "it is unknown which LIDs must be drained");
		return;
	}
	if (!d->nlid)
		snprintf(buf, size, "no LID has to be drained");
	else if (!d->jobs)
		snprintf(buf, size,
			 "%u LID%s must be drained; it is unknown which jobs send there: %s",
			 d->nlid, drain_s(d->nlid), who);
	else
		snprintf(
			buf, size,
			"%u LID%s must be drained, by %u job%s on %u port%s; %u of the LIDs belong "
			"to no job%s%s",
			d->nlid, drain_s(d->nlid), d->nneeded, drain_s(d->nneeded),
			drain_nodes_of(d, jobs, true), drain_s(drain_nodes_of(d, jobs, true)),
			d->unassigned_lids, who[0] ? ": " : "", who);
	len = strlen(buf);
	if (d->njob > d->nneeded && len < size)
		snprintf(buf + len, size - len,
			 "; packets of %u %sjob%s may be reordered unless also drained",
			 d->njob - d->nneeded, d->nneeded ? "other " : "",
			 drain_s(d->njob - d->nneeded));
	len = strlen(buf);
	if (d->njob && !d->escape && len < size)
		snprintf(buf + len, size - len, "%s",
			 drain_has_escape_lids(d, f)
				 ? "; escape LIDs are among them, so nobody can move to those"
				 : "; there are no escape LIDs");
}
