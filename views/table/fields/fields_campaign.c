/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of a campaign's cells, and of the routings of a replay at a moment. */
#include "views/data/lists/campaign_list.h"
#include "views/table/fields/fields_priv.h"

#include <stdio.h>

static const struct campaign_cell *fields_campaign_cell(const struct rows *r, uint32_t row)
{
	uint32_t way, step;

	return campaign_row(r->s, row, &way, &step);
}

static const char *fields_campaign_way(const struct rows *r, uint32_t row)
{
	uint32_t way, step;

	campaign_row(r->s, row, &way, &step);
	return r->s->campaign.list->way[way];
}

static double fields_campaign_at(const struct rows *r, uint32_t row)
{
	uint32_t way, step;

	campaign_row(r->s, row, &way, &step);
	return r->s->campaign.list->at[step];
}

void campaign_label(char *buf, const struct rows *r, uint32_t row)
{
	char at[40];
	uint32_t way, step;

	campaign_row(r->s, row, &way, &step);
	snprintf(buf, VALUE_LEN, "%s %s", r->s->campaign.list->way[way],
		 campaign_step_text(at, sizeof(at), r->s->campaign.list, step));
}

GETTER(fields_campaign_get_way, c->text = fields_campaign_way(r, row))
GETTER(fields_campaign_get_at, c->num = fields_campaign_at(r, row))
GETTER(fields_campaign_get_cells, c->num = fields_campaign_cell(r, row)->n)
GETTER(fields_campaign_get_good, c->num = fields_campaign_cell(r, row)->good)
GETTER(fields_campaign_get_adopted, c->num = fields_campaign_cell(r, row)->adopted)
GETTER(fields_campaign_get, c->num = fields_campaign_cell(r, row)->figure[c->of])

/* clang-format off */
const struct field fields_cells[] = {
	{ "engine", NULL, "engine", "", VALUE_TEXT, 0, true, "engine with its parameters", fields_campaign_get_way, 0, NEED_ALL },
	{ "failed", "at", "failed", "", VALUE_NUMBER, 3, true, "share of the parts that have failed (%), or the age in days", fields_campaign_get_at, 0, NEED_ALL },
	{ "usable", NULL, "usable", "", VALUE_COUNT, 0, true, "seeds with a usable routing", fields_campaign_get_good, 0, NEED_ALL },
	{ "seeds", NULL, "seeds", "", VALUE_COUNT, 0, true, "seeds that were computed", fields_campaign_get_cells, 0, NEED_ALL },
	{ "retained_pct", "retained", "retained", "%", VALUE_NUMBER, 1, true, "throughput retained of that without failures: effective bisection bandwidth times hosts left, mean over the seeds", fields_campaign_get, CAMPAIGN_RETAINED, NEED_ALL },
	{ "p10_pct", "p10", "p10", "%", VALUE_NUMBER, 1, true, "its 10th percentile", fields_campaign_get, CAMPAIGN_LOW, NEED_ALL },
	{ "p90_pct", "p90", "p90", "%", VALUE_NUMBER, 1, true, "its 90th percentile", fields_campaign_get, CAMPAIGN_HIGH, NEED_ALL },
	{ "ebb", NULL, "eBB", "", VALUE_NUMBER, 3, true, "effective bisection bandwidth", fields_campaign_get, CAMPAIGN_EBB, NEED_ALL },
	{ "vls", NULL, "VLs", "", VALUE_NUMBER, 1, true, "VLs used", fields_campaign_get, CAMPAIGN_VLS, NEED_ALL },
	{ "hosts_cut", "cut", "cut off", "", VALUE_NUMBER, 1, true, "hosts cut off", fields_campaign_get, CAMPAIGN_CUT, NEED_ALL },
	{ "entries", NULL, "LFT entries", "", VALUE_NUMBER, 0, true, "LFT entries that routing again changes against the step before", fields_campaign_get, CAMPAIGN_ENTRIES, NEED_ALL },
	{ "repair_entries", "repair", "by repair", "", VALUE_NUMBER, 0, true, "those that the engine repair changes", fields_campaign_get, CAMPAIGN_REPAIR, NEED_ALL },
};
FIELDS_END(fields_cells);

const struct field fields_routings[] = {
	{ "routing", NULL, "routing", "", VALUE_TEXT, 0, true, "routing that is followed through the history", fields_campaign_get_way, 0, NEED_ALL },
	{ "time", NULL, "time", "", VALUE_NUMBER, 3, true, "mean time of the jobs that run then; 1 is without contention", fields_campaign_get, CAMPAIGN_TIME, NEED_ALL },
	{ "worst", NULL, "worst", "", VALUE_NUMBER, 3, true, "time of the job that suffers most", fields_campaign_get, CAMPAIGN_WORST, NEED_ALL },
	{ "efi_max", "efi", "max EFI", "", VALUE_NUMBER, 0, true, "largest number of routes of jobs on a link, weighed by its rate", fields_campaign_get, CAMPAIGN_EFI, NEED_ALL },
	{ "unused_pct", "unused", "unused", "%", VALUE_NUMBER, 1, true, "links that no job uses", fields_campaign_get, CAMPAIGN_UNUSED, NEED_ALL },
	{ "vls", NULL, "VLs", "", VALUE_NUMBER, 0, true, "VLs used", fields_campaign_get, CAMPAIGN_VLS, NEED_ALL },
	{ "adopted", NULL, "taken", "", VALUE_FLAG, 0, true, "new tables were taken then", fields_campaign_get_adopted, 0, NEED_ALL },
	{ "blocks", NULL, "blocks", "", VALUE_NUMBER, 0, true, "LFT blocks that were written for that", fields_campaign_get, CAMPAIGN_BLOCKS, NEED_ALL },
	{ "drain_lids", "drain", "to drain", "", VALUE_NUMBER, 0, true, "LIDs that had to drain for that", fields_campaign_get, CAMPAIGN_DRAIN, NEED_ALL },
	{ "jobs_touched", "touched", "jobs touched", "", VALUE_NUMBER, 0, true, "jobs with other paths since", fields_campaign_get, CAMPAIGN_TOUCHED, NEED_ALL },
};
/* clang-format on */
FIELDS_END(fields_routings);
