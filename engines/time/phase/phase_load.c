/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/phase/phase_load.h"

#include <stdlib.h>

void phase_load_init(struct phase_load *d, const struct predict_paths *p)
{
	*d = (struct phase_load){ 0 };
	predict_paths_trace_init(&d->trace);
	d->load = xcalloc(p->f->nchan + 1u, sizeof(*d->load));
}

void phase_load_done(struct phase_load *d)
{
	vec_free(&d->list.flows);
	predict_paths_trace_done(&d->trace);
	free(d->load);
	free(d->most);
}

void phase_load_begin(struct phase_load *d)
{
	d->list.flows.n = 0;
	predict_paths_trace_clear(&d->trace);
}

void phase_load_trace(struct phase_load *d, const struct predict_paths *p)
{
	uint32_t from = d->trace.nflow;

	if (from == d->list.flows.n)
		return;
	predict_paths_trace_flows(&d->trace, p, d->list.flows.v + from,
				  (uint32_t)d->list.flows.n - from);
}

void phase_load_measure(struct phase_load *d, const struct predict_paths *p)
{
	const struct step *steps = d->trace.steps, *end = d->trace.n ? steps + d->trace.n : steps;
	size_t n = d->list.flows.n;

	if (d->nmost < n) {
		d->nmost = 2 * n;
		d->most = xrealloc(d->most, d->nmost, sizeof(*d->most));
	}
	for (size_t i = 0; i < n; i++)
		d->most[i] = d->trace.stranded[i] ? -1 : 0;
	for (const struct step *s = steps; s < end; s++)
		if (!d->trace.stranded[s->flow])
			d->load[s->link] += (double)s->part;
	for (const struct step *s = steps; s < end; s++) {
		double v = d->load[s->link] * (double)p->slow[s->link];

		if (!d->trace.stranded[s->flow] && v > d->most[s->flow])
			d->most[s->flow] = v;
	}
	for (const struct step *s = steps; s < end; s++)
		d->load[s->link] = 0;
}
