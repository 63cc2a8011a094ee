/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/lists/campaign_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void campaign_list_free(struct campaign_list *l)
{
	if (!l)
		return;
	free(l->at);
	free(l->cell);
	free(l->jobs);
	free(l);
}

uint32_t campaign_rows(const struct campaign_list *l)
{
	return l->kind == CAMPAIGN_REPLAY ? l->nway : l->nway * l->nstep;
}

const struct campaign_cell *campaign_row(const struct state *s, uint32_t row, uint32_t *way,
					 uint32_t *step)
{
	const struct campaign_list *l = s->campaign.list;

	if (l->kind == CAMPAIGN_REPLAY) {
		*way = row;
		*step = s->campaign.step < l->nstep ? s->campaign.step : l->nstep - 1;
	} else {
		*way = row / l->nstep;
		*step = row % l->nstep;
	}
	return &l->cell[(size_t)*way * l->nstep + *step];
}

const char *campaign_step_text(char *buf, size_t size, const struct campaign_list *l, uint32_t step)
{
	time_t t = (time_t)l->at[step];
	struct tm tm;

	if (l->kind == CAMPAIGN_FAILURES)
		snprintf(buf, size, "%.4g %%", l->at[step]);
	else if (l->kind == CAMPAIGN_AGES)
		snprintf(buf, size, "%.4g days", l->at[step]);
	else if (!localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(buf, size, "@%.0f", l->at[step]);
	return buf;
}
