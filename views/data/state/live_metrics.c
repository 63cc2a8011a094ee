/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/state.h"

#include <math.h>

static double live_figures_larger(double a, double b)
{
	return isfinite(b) && !(a >= b) ? b : a;
}

void live_metrics(struct live_metrics *out, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	double errors = 0;
	bool any = false;

	*out = (struct live_metrics){
		.util_max = NAN, .wait_max = NAN, .errors_per_min = NAN, .dark = NAN
	};
	if (!s->fabric)
		return;
	for (uint32_t c = 0; c < s->fabric->nchan; c++) {
		const struct port_rate *r = state_rate(s, chan_fabric_port(s->fabric, c));

		if (!r)
			continue;
		out->util_max = live_figures_larger(out->util_max, r->util_pct);
		out->wait_max = live_figures_larger(out->wait_max, r->wait_pct);
		any |= isfinite(r->errors_per_min);
		errors += isfinite(r->errors_per_min) ? r->errors_per_min : 0;
	}
	if (any)
		out->errors_per_min = errors;
	if (m && m->njob)
		out->dark = m->dark;
	out->known = true;
}
