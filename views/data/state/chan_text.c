/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/chan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *chan_lanes_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width)
{
	const struct link_usage *u = state_usage(s);
	const uint32_t *routes;
	uint64_t sum = 0;
	char one[32];
	size_t n = 0;

	buf[0] = '\0';
	if (!u || !u->lanes)
		return buf;
	routes = vl_usage_of(u->lanes, chan);
	for (uint32_t vl = 0; vl < VL_USE_LANES; vl++)
		sum += routes[vl];
	for (uint32_t vl = 0; vl < VL_USE_LANES; vl++) {
		int w;

		if (!routes[vl])
			continue;
		w = snprintf(one, sizeof(one), "%sVL%u %.0f%%", n ? " " : "", vl,
			     (double)routes[vl] * 100 / (double)sum);
		if ((int)n + w > width || n + (size_t)w >= len)
			break;
		memcpy(buf + n, one, (size_t)w + 1);
		n += (size_t)w;
	}
	return buf;
}

static uint64_t chan_text_routes_of_jobs(const struct job_routes *r, uint32_t chan)
{
	uint64_t sum = 0;

	for (uint64_t i = r->chan_off[chan]; i < r->chan_off[chan + 1]; i++)
		sum += r->job_routes[i];
	return sum;
}

/* Of all links before they are sorted by this: printf() would be half of the time. */
static char *chan_text_put_number(char *to, uint64_t v)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

const char *chan_jobs_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width)
{
	const struct link_usage *u = state_usage(s);
	const struct job_routes *r = u ? u->routes : NULL;
	double all = r ? (double)chan_text_routes_of_jobs(r, chan) : 0;
	char one[48];
	size_t n = 0, w;

	for (uint64_t i = r ? r->chan_off[chan] : 0; r && i < r->chan_off[chan + 1]; i++) {
		char *end = one;

		if (n)
			*end++ = ' ';
		end = chan_text_put_number(end, u->jobs->jobs[r->job[i]].id);
		*end++ = ':';
		end = chan_text_put_number(end, (uint64_t)rint(r->job_routes[i] * 100.0 / all));
		*end++ = '%';
		w = (size_t)(end - one);
		if (n + w > (size_t)width || n + w >= len)
			break;
		memcpy(buf + n, one, w);
		n += w;
	}
	buf[n] = '\0';
	return buf;
}

double chan_planned_util(const struct state *s, uint32_t chan)
{
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, chan));
	const struct metrics *now = state_plan(s)->before, *plan = state_plan(s)->after;

	if (!p || !now || !now->njob || !now->eff_efi[chan])
		return NAN;
	return fmin(100, p->util_pct * (double)plan->eff_efi[chan] / (double)now->eff_efi[chan]);
}
