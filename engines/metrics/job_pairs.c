/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/job_pairs.h"

#include "fabric/base/memory/mem.h"

struct search {
	const struct fabric *f;
	const struct tables *t;
	uint32_t chan, lid, dst_sw;
	uint32_t stamp;	 /* of this destination */
	uint32_t *seen;	 /* switch: stamp * 2 + does its route use the channel */
	uint32_t *queue; /* switches of the walk */
	uint32_t *count; /* terminals of the job by switch */
};

/* Walks until the answer is known; a loop ends where it meets itself, as not using the channel. */
static bool job_pairs_uses(struct search *x, uint32_t from)
{
	const struct fabric *f = x->f;
	uint32_t at = from, n = 0;
	bool yes = false;

	while (at != x->dst_sw && x->seen[at] / 2 != x->stamp) {
		uint32_t c = fabric_chan(f, at, tables_row(x->t, at)[x->lid]);

		x->seen[at] = x->stamp * 2;
		x->queue[n++] = at;
		if (c == FAB_NONE)
			break;
		if (c == x->chan) {
			yes = true;
			break;
		}
		at = f->chan_dst[c];
	}
	if (at != x->dst_sw && x->seen[at] / 2 == x->stamp)
		yes = yes || (x->seen[at] & 1);
	for (uint32_t i = 0; yes && i < n; i++)
		x->seen[x->queue[i]] = x->stamp * 2 + 1;
	return yes;
}

static uint64_t job_pairs_count_to(struct search *x, const struct job *j, const uint32_t *sws,
				   uint32_t nsw, uint32_t dst, struct job_pair *out, uint32_t max,
				   uint64_t have)
{
	uint64_t n = 0;

	x->lid = x->f->term_lid[dst];
	x->dst_sw = x->f->term_sw[dst];
	x->stamp++;
	for (uint32_t i = 0; i < nsw; i++)
		if (sws[i] != x->dst_sw && job_pairs_uses(x, sws[i]))
			n += x->count[sws[i]];
	for (uint32_t i = 0; n && i < j->nterm && have < max; i++)
		if (x->f->term_sw[j->terms[i]] != x->dst_sw &&
		    job_pairs_uses(x, x->f->term_sw[j->terms[i]]))
			out[have++] = (struct job_pair){ j->terms[i], dst };
	return n;
}

uint64_t job_pairs_find(struct job_pair *out, uint32_t max, const struct fabric *f,
			const struct tables *t, const struct job *j, uint32_t chan)
{
	struct arena *mem = arena_new();
	struct search x = { .f = f, .t = t, .chan = chan };
	uint32_t *sws = arena_alloc(mem, j->nterm + 1u, sizeof(*sws)), nsw = 0;
	uint64_t n = 0;

	x.seen = arena_alloc(mem, f->nsw, sizeof(*x.seen));
	x.queue = arena_alloc(mem, f->nsw, sizeof(*x.queue));
	x.count = arena_alloc(mem, f->nsw, sizeof(*x.count));
	for (uint32_t i = 0; i < j->nterm; i++)
		if (!x.count[f->term_sw[j->terms[i]]]++)
			sws[nsw++] = f->term_sw[j->terms[i]];
	for (uint32_t i = 0; i < j->nterm; i++) {
		uint32_t dst = j->terms[i], lid = f->term_lid[dst];

		if (lid <= t->max_lid &&
		    tables_row(t, f->chan_src[chan])[lid] == f->chan_port[chan])
			n += job_pairs_count_to(&x, j, sws, nsw, dst, out, max, n < max ? n : max);
	}
	arena_free(mem);
	return n;
}
