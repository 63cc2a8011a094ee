/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/lft_text.h"

#include "fabric/format/opensm/dump_whole.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void lft_text_begin(struct lft_text *x, const struct fabric *f, struct read_report *report)
{
	memset(x, 0, sizeof(*x));
	x->f = f;
	x->t = tables_new(f, TABLES_FILE);
	x->report = report;
	x->sw = FAB_NONE;
	x->seen = xcalloc(f->nsw, sizeof(*x->seen));
}

void lft_text_switch(struct lft_text *x, uint64_t guid, uint64_t line)
{
	x->heading = true;
	x->begun = line;
	if (x->last_lid > x->most_lid)
		x->most_lid = x->last_lid;
	x->last_lid = 0;
	x->sw = fabric_switch_by_guid(x->f, guid);
	if (x->sw == FAB_NONE) {
		x->strangers++;
		read_report_skip(
			x->report, line,
			"switch 0x%016" PRIx64 " is not in the fabric; its table is ignored", guid);
		return;
	}
	if (x->seen[x->sw])
		read_report_warn(x->report, line,
				 "switch %s (0x%016" PRIx64
				 ") appears twice; the later entries hold",
				 x->f->sw_name[x->sw], guid);
	else
		x->switches++;
	x->seen[x->sw] = true;
}

static uint64_t lft_text_owner(const struct fabric *f, uint64_t lid)
{
	uint32_t end = lid <= f->max_lid ? f->lid_end[lid] : FAB_NONE;

	if (end == FAB_NONE)
		return 0;
	return end < f->nend ? f->term_guid[end] : f->sw_guid[end - f->nend];
}

uint64_t lft_text_lid(struct lft_text *x, uint64_t lid, uint64_t guid, uint64_t line)
{
	const struct fabric *f = x->f;
	uint32_t end, sw;
	uint64_t now;

	if (!guid || !f->lids_given || lft_text_owner(f, lid) == guid)
		return lid;
	end = fabric_term_by_guid(f, guid);
	sw = end == FAB_NONE ? fabric_switch_by_guid(f, guid) : FAB_NONE;
	if (end == FAB_NONE && sw == FAB_NONE)
		return lid;
	now = end == FAB_NONE ? f->sw_lid[sw] : f->term_lid[end] + (lid & ((1u << f->lmc) - 1));
	if (!x->moved_reported)
		read_report_warn(x->report, line,
				 "LID 0x%" PRIx64 " is 0x%" PRIx64
				 " by now: LIDs have changed, and are followed by GUID",
				 lid, now);
	x->moved_reported = true;
	return now;
}

void lft_text_entry(struct lft_text *x, uint64_t lid, uint64_t port, uint64_t line)
{
	const struct fabric *f = x->f;

	if (x->sw == FAB_NONE) {
		if (!x->heading)
			read_report_skip(x->report, line, "entry before the first switch");
		else if (x->report)
			x->report->skipped++;
		return;
	}
	if (port == FAB_NO_PORT)
		return;
	if (!lid || lid > x->t->max_lid) {
		read_report_skip(x->report, line, "LID 0x%" PRIx64 " is beyond the fabric's 0x%x",
				 lid, x->t->max_lid);
		return;
	}
	if (port > f->sw_nports[x->sw]) {
		read_report_skip(x->report, line, "switch %s has no port %" PRIu64 " (it has %u)",
				 f->sw_name[x->sw], port, f->sw_nports[x->sw]);
		return;
	}
	if (f->lid_end[lid] == FAB_NONE && !x->unowned_reported) {
		x->unowned_reported = true;
		read_report_warn(x->report, line,
				 "LID 0x%" PRIx64 " belongs to no port; is the LMC not %u?", lid,
				 f->lmc);
	}
	tables_row(x->t, x->sw)[lid] = (uint8_t)port;
	if (x->report)
		x->report->records++;
}

void lft_text_close(struct lft_text *x)
{
	x->begun = 0;
	x->ends = true;
}

void lft_text_listed(struct lft_text *x, uint64_t lid)
{
	x->last_lid = lid;
}

/* A dump of all switches that stops within a table has lost what came after. */
static int lft_text_check_end(const struct lft_text *x, const struct lines *l, struct err *err)
{
	bool short_one = x->begun && x->last_lid < x->most_lid;
	bool open = x->begun && (x->ends || (!x->most_lid && x->switches < x->f->nsw && !x->partial));

	if (!short_one && !open)
		return lines_whole(l, err);
	return err_set(err, -ENODATA,
		       "%s:%" PRIu64
		       ": the file ends within the table that begins here: it is truncated. Write "
		       "it again",
		       lines_path(l), x->begun);
}

/* Was there such a switch when the dump was written?  Then others have entries for its LID. */
static bool lft_text_knows(const struct lft_text *x, uint32_t sw)
{
	for (uint32_t i = 0; i < x->f->nsw; i++)
		if (x->seen[i] && tables_row(x->t, i)[x->f->sw_lid[sw]] != FAB_NO_PORT)
			return true;
	return false;
}

/* Switches that are new since have no tables in it; those that are missing make it a broken one. */
static int lft_text_check_whole(const struct lft_text *x, const char *path, struct err *err)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		if (x->seen[sw])
			continue;
		if (!x->f->lids_given || lft_text_knows(x, sw))
			return dump_whole(x->seen, x->f, "tables", path, err);
		read_report_warn(x->report, 0,
				 "switch %s is newer than the tables and has none in them",
				 x->f->sw_name[sw]);
	}
	return 0;
}

int lft_text_end(struct tables **out, struct lft_text *x, const struct lines *l, const char *what,
		 struct err *err)
{
	const char *path = lines_path(l);
	int rc = lines_end(l, 0, NULL, err);

	if (!rc && !x->heading)
		rc = err_set(err, -EINVAL,
			     "%s: not a dump of forwarding tables (%s): no switch in it", path,
			     what);
	else if (!rc && !x->switches)
		rc = err_set(err, -EINVAL,
			     "%s: none of its %u switches is in the fabric; it is of another one",
			     path, x->strangers);
	if (!rc)
		rc = lft_text_check_end(x, l, err);
	if (!rc && !x->partial)
		rc = lft_text_check_whole(x, path, err);
	if (rc)
		tables_put(x->t);
	else
		*out = x->t;
	free(x->seen);
	return rc;
}
