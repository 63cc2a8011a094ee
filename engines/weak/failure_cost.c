/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/weak/failure_cost.h"

#include "engines/metrics/metrics.h"
#include "engines/repair/repair.h"
#include "engines/time/job_time.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/tables/tables_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFTS 64 /* somebody waits for it */

enum { UNKNOWN, ARRIVES, LOST, ON_THE_WAY };

/* --- who is touched --------------------------------------------------------------------------- */

/* By switch: does its path to the LID arrive by what still stands? */
static void failure_cost_look(uint8_t *ends, uint32_t *path, const struct fabric *f,
			      const struct tables *t, uint32_t term)
{
	uint32_t lid = f->term_lid[term];

	memset(ends, UNKNOWN, f->nsw);
	ends[f->term_sw[term]] = ARRIVES;
	for (uint32_t first = 0; first < f->nsw; first++) {
		uint32_t sw = first, n = 0;
		uint8_t end;

		while (sw != FAB_NONE && ends[sw] == UNKNOWN) {
			uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[lid]);

			ends[sw] = ON_THE_WAY;
			path[n++] = sw;
			sw = c == FAB_NONE ? FAB_NONE : f->chan_dst[c];
		}
		end = sw != FAB_NONE && ends[sw] == ARRIVES ? ARRIVES : LOST;
		while (n)
			ends[path[--n]] = end;
	}
}

static void failure_cost_touch(const struct jobset *jobs, const struct fabric *f,
			       const uint8_t *ends, uint32_t term, bool *touched)
{
	for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++) {
		uint32_t j = jobs->term_job[k];
		const struct job *job = &jobs->jobs[j];

		for (uint32_t i = 0; i < job->nterm && !touched[j]; i++)
			touched[j] = ends[f->term_sw[job->terms[i]]] == LOST;
	}
}

/* Jobs that have lost nodes are, too. */
static void failure_cost_touch_smaller(const struct jobset *was, const struct jobset *jobs,
				       bool *touched)
{
	for (uint32_t j = 0; j < jobs->njob; j++)
		for (uint32_t i = 0; i < was->njob; i++)
			if (was->jobs[i].id == jobs->jobs[j].id)
				touched[j] |= was->jobs[i].nterm > jobs->jobs[j].nterm;
}

/* Paths between hosts that t loses; jobs (may be NULL) that they touch. */
static uint64_t failure_cost_lost(const struct fabric *f, const struct tables *t,
				  const struct jobset *jobs, bool *touched)
{
	uint8_t *ends = xcalloc(f->nsw, sizeof(*ends));
	uint32_t *path = xcalloc(f->nsw, sizeof(*path));
	uint64_t lost = 0;

	for (uint32_t term = 0; term < f->nterm; term++) {
		uint64_t before = lost;

		failure_cost_look(ends, path, f, t, term);
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			lost += ends[sw] == LOST ? f->sw_nterm[sw] : 0;
		if (jobs && lost > before)
			failure_cost_touch(jobs, f, ends, term, touched);
	}
	free(ends);
	free(path);
	return lost;
}

static void failure_cost_name_job(struct failure_cost *out, uint64_t id)
{
	uint32_t n = out->touched < FAILURE_IDS ? out->touched : FAILURE_IDS, at = n;

	out->touched++;
	while (at && out->ids[at - 1] > id)
		at--;
	if (at == FAILURE_IDS)
		return;
	if (n == FAILURE_IDS)
		n--;
	memmove(out->ids + at + 1, out->ids + at, (n - at) * sizeof(*out->ids));
	out->ids[at] = id;
}

static void failure_cost_count(struct failure_cost *out, const struct failure *x,
			       const struct tables *stands, const struct jobset *jobs)
{
	bool *touched = xcalloc((jobs ? jobs->njob : 0) + 1u, sizeof(*touched));

	out->lost = failure_cost_lost(x->now, stands, jobs, touched);
	if (jobs)
		failure_cost_touch_smaller(x->jobs, jobs, touched);
	for (uint32_t j = 0; jobs && j < jobs->njob; j++) {
		if (touched[j])
			failure_cost_name_job(out, jobs->jobs[j].id);
	}
	free(touched);
}

/* --- before and after ------------------------------------------------------------------------- */

static int failure_cost_time(double *out, const struct fabric *f, const struct tables *t,
			     const struct jobset *jobs, unsigned threads, struct progress *progress,
			     struct err *err)
{
	struct job_time_opts jo = { .pattern = PREDICT_ALLTOALL, .seed = 1, .threads = threads };
	struct shift_time_opts so = { .shifts = SHIFTS, .seed = 1, .threads = threads };
	struct job_times *times;
	struct shift_time shift;
	int rc;

	if (!jobs) {
		rc = shift_time_compute(&shift, f, t, &so, progress, err);
		*out = rc ? NAN : 1 / shift.sync.mean;
		return rc;
	}
	rc = job_times_compute(&times, f, t, jobs, &jo, progress, err);
	if (rc)
		return rc;
	*out = times->mean.mean;
	job_times_free(times);
	return 0;
}

/* Routes over the same channel before; UINT64_MAX: there was none. */
static uint64_t failure_cost_efi_was(const struct failure *x, const struct metrics *before,
				     uint32_t c)
{
	const struct fabric *f = x->now;
	uint32_t sw = fabric_switch_by_guid(x->was, f->sw_guid[f->chan_src[c]]);
	uint32_t old;

	if (sw == FAB_NONE || f->chan_port[c] > x->was->sw_nports[sw])
		return UINT64_MAX;
	old = fabric_chan(x->was, sw, f->chan_port[c]);
	return old == FAB_NONE ? UINT64_MAX : before->efi[old];
}

static void failure_cost_compare(struct failure_cost *out, const struct failure *x,
				 const struct metrics *before, const struct metrics *after)
{
	for (uint32_t c = 0; c < x->now->nchan; c++) {
		uint64_t was = failure_cost_efi_was(x, before, c), is = after->efi[c];

		if (was == UINT64_MAX || is <= was)
			continue;
		out->more++;
		if (out->most != FAB_NONE && is - was <= out->most_is - out->most_was)
			continue;
		out->most = c;
		out->most_was = was;
		out->most_is = is;
	}
}

static int failure_cost_carry_more(struct failure_cost *out, const struct failure *x,
				   const struct tables *repaired, struct progress *progress,
				   struct err *err)
{
	struct metrics_opts opts = { .threads = x->threads };
	struct metrics *before, *after;
	int rc = metrics_compute(&before, x->was, x->t, NULL, &opts, progress, err);

	if (rc)
		return rc;
	rc = metrics_compute(&after, x->now, repaired, NULL, &opts, progress, err);
	if (!rc) {
		failure_cost_compare(out, x, before, after);
		metrics_free(after);
	}
	metrics_free(before);
	return rc;
}

static int failure_cost_after(struct failure_cost *out, const struct failure *x,
			      const struct tables *after, const struct jobset *jobs,
			      struct progress *progress, struct err *err)
{
	int rc = failure_cost_time(&out->before, x->was, x->t, x->jobs, x->threads, progress, err);

	if (!rc)
		rc = failure_cost_time(&out->after, x->now, after, jobs, x->threads, progress, err);
	return rc ? rc : failure_cost_carry_more(out, x, after, progress, err);
}

static int failure_cost_repair(struct failure_cost *out, const struct failure *x,
			       const struct tables *stands, const struct jobset *jobs,
			       struct progress *progress, struct err *err)
{
	struct notes notes = { 0 };
	struct engine_params params = { .current = stands,
					.seed = 1,
					.threads = x->threads,
					.escape = stands->escape,
					.notes = &notes };
	struct tables *repaired = NULL;
	const struct note *changed;
	struct err why = { "" };
	int rc = engine_run(&engine_repair, &repaired, x->now, NULL, NULL, &params, progress, &why);

	if (rc) {
		snprintf(out->why, sizeof(out->why), "%.199s", why.text);
		notes_done(&notes);
		return rc == -ECANCELED ? err_set(err, rc, "cancelled") : 0;
	}
	changed = notes_find(&notes, "entries_changed");
	out->changed = changed ? changed->value : 0;
	notes_done(&notes);
	rc = failure_cost_after(out, x, repaired, jobs, progress, err);
	tables_put(repaired);
	return rc;
}

/* Of what somebody has written, where that loses no path. */
static int failure_cost_written(struct failure_cost *out, const struct failure *x,
				const struct tables *stands, const struct jobset *jobs,
				struct progress *progress, struct err *err)
{
	struct tables_diff *d;

	out->repaired = true;
	d = tables_diff_new(x->now, stands, x->by);
	out->changed = d->entries;
	tables_diff_free(d);
	return failure_cost_after(out, x, x->by, jobs, progress, err);
}

/* The tables alone know switches and ports by GUID only; the fabric of before had names. */
static void failure_cost_name(struct carry_report *since, const struct fabric *was)
{
	char named[CARRY_NAMES] = "";
	const char *at = since->gone;
	size_t len = 0;

	while (*at && len < sizeof(named)) {
		size_t kind = !strncmp(at, "switch 0x", 9) ? 7 : !strncmp(at, "port 0x", 7) ? 5 : 0;
		uint32_t i = FAB_NONE;
		char *end = NULL;

		if (kind == 7)
			i = fabric_switch_by_guid(was, strtoull(at + kind, &end, 16));
		else if (kind)
			i = fabric_term_by_guid(was, strtoull(at + kind, &end, 16));
		if (i == FAB_NONE) {
			named[len++] = *at++;
			continue;
		}
		len += (size_t)snprintf(named + len, sizeof(named) - len, "%s",
					kind == 7 ? was->sw_short[i] : was->term_name[i]);
		at = end;
	}
	named[len < sizeof(named) ? len : sizeof(named) - 1] = '\0';
	memcpy(since->gone, named, sizeof(named));
}

int failure_cost_find(struct failure_cost *out, const struct failure *x, struct progress *progress,
		      struct err *err)
{
	struct endports *ends = endports_of(x->was);
	const struct jobset *jobs = NULL;
	struct tables *stands;
	int rc;

	*out = (struct failure_cost){
		.jobs = x->jobs, .most = FAB_NONE, .before = NAN, .after = NAN
	};
	rc = tables_carry(&stands, x->now, x->t, ends, &out->since, err);
	endports_put(ends);
	if (rc)
		return rc;
	failure_cost_name(&out->since, x->was);
	if (!tables_know_vls(stands)) /* paths and times are the same on any */
		tables_sl2vl_form(stands, SL2VL_IDENTITY, x->now);
	if (x->jobs)
		jobs = jobset_on(x->jobs, x->was, x->now);
	failure_cost_count(out, x, stands, jobs);
	if (x->by && out->lost && !failure_cost_lost(x->now, x->by, NULL, NULL))
		rc = failure_cost_written(out, x, stands, jobs, progress, err);
	else
		rc = failure_cost_repair(out, x, stands, jobs, progress, err);
	jobset_put(jobs);
	tables_put(stands);
	return rc;
}

/* --- in words --------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void failure_cost_say(char *buf, size_t size,
								   const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + len, size - len, fmt, ap);
	va_end(ap);
}

const char *failure_cost_ids(char *buf, size_t size, const struct failure_cost *c)
{
	bool all = c->touched <= FAILURE_IDS;
	uint32_t n = all ? c->touched : 1;

	buf[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		failure_cost_say(buf, size, "%s%" PRIu64, i ? ", " : "", c->ids[i]);
	if (!all)
		failure_cost_say(buf, size, ", ...");
	return buf;
}

const char *failure_cost_text(char *buf, size_t size, const struct failure_cost *c)
{
	char ids[80];

	carry_report_text(buf, size, &c->since);
	if (c->since.gone[0])
		failure_cost_say(buf, size, " (%.120s)", c->since.gone);
	failure_cost_say(buf, size, ": ");
	if (c->lost || !c->jobs)
		failure_cost_say(buf, size, "%" PRIu64 " path%s lost%s", c->lost, plural(c->lost),
				 c->jobs ? ", " : "");
	if (c->jobs && c->touched)
		failure_cost_say(buf, size, "%u job%s touched (%s)", c->touched, plural(c->touched),
				 failure_cost_ids(ids, sizeof(ids), c));
	else if (c->jobs)
		failure_cost_say(buf, size, "no job touched");
	return buf;
}

const char *failure_cost_repair_text(char *buf, size_t size, const struct failure_cost *c,
				     const struct fabric *now)
{
	buf[0] = '\0';
	if (c->why[0]) {
		failure_cost_say(buf, size, "no repair: %s", c->why);
		return buf;
	}
	failure_cost_say(buf, size, "%s %" PRIu64 " LFT entries: time of %s %.2f (%+.1f %%)",
			 c->repaired ? "repaired by the subnet manager," : "after a repair of",
			 c->changed, c->jobs ? "jobs" : "shifts", c->after,
			 100 * (c->after / c->before - 1));
	if (c->most != FAB_NONE)
		failure_cost_say(buf, size,
				 ", %u link%s carr%s more, %.60s/%u most: %" PRIu64
				 " paths, %" PRIu64 " before",
				 c->more, plural(c->more), c->more == 1 ? "ies" : "y",
				 now->sw_short[now->chan_src[c->most]], now->chan_port[c->most],
				 c->most_is, c->most_was);
	return buf;
}
