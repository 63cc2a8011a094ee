/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a list of changes touches, and what the counters there say. */
#include "fabric/update/watchdog/watch_conditions.h"

#include "fabric/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void watch_conditions_mark_port(bool *marked, const struct fabric *f, uint32_t sw, uint8_t p)
{
	uint32_t chan;

	if (!p || p > f->sw_nports[sw])
		return;
	marked[f->port_off[sw] + p] = true;
	chan = fabric_chan(f, sw, p);
	if (chan != FAB_NONE)
		marked[f->port_off[f->chan_dst[chan]] + f->chan_rport[chan]] = true;
}

void watch_mark_links(bool *marked, const struct fabric *f, const struct changes *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		const uint8_t *old = change_old(l, c), *new = change_new(l, c);

		if (c->sw == FAB_NONE)
			continue;
		if (c->kind == CHANGE_SL2VL) {
			watch_conditions_mark_port(marked, f, c->sw, c->in);
			watch_conditions_mark_port(marked, f, c->sw, c->out);
			continue;
		}
		for (uint32_t k = 0; k < CHANGE_LFT_BYTES; k++) {
			if (old[k] == new[k])
				continue;
			watch_conditions_mark_port(marked, f, c->sw, old[k]);
			watch_conditions_mark_port(marked, f, c->sw, new[k]);
		}
	}
}

/* LIDs of terminals that some block routes otherwise. */
static uint8_t *watch_conditions_changed_lids(const struct fabric *f, const struct changes *l,
					      uint32_t *n)
{
	uint8_t *is = xcalloc(65536, 1);

	*n = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		const uint8_t *old = change_old(l, c), *new = change_new(l, c);

		if (c->kind != CHANGE_LFT)
			continue;
		for (uint32_t k = 0; k < CHANGE_LFT_BYTES; k++) {
			uint32_t lid = (uint32_t)c->block * LFT_BLOCK + k;

			if (old[k] == new[k] || lid > f->max_lid || is[lid] ||
			    fabric_lid_end(f, lid) >= f->nend)
				continue;
			is[lid] = 1;
			(*n)++;
		}
	}
	return is;
}

uint32_t watch_pick_lids(uint16_t *lids, uint32_t max, const struct fabric *f,
			 const struct changes *l)
{
	uint32_t all, n = 0, seen = 0;
	uint8_t *is = watch_conditions_changed_lids(f, l, &all);

	for (uint32_t lid = 0; lid < 65536 && n < max; lid++) {
		if (!is[lid])
			continue;
		/* the one of each max-th part */
		if (all <= max || (uint64_t)seen * max / all >= n)
			lids[n++] = (uint16_t)lid;
		seen++;
	}
	free(is);
	return n;
}

static uint64_t watch_conditions_rise(const struct port_counters *was,
				      const struct port_counters *is, int c)
{
	uint32_t bit = 1u << c;

	if (!(is->valid & was->valid & bit))
		return 0;
	return is->v[c] >= was->v[c] ? is->v[c] - was->v[c] : is->v[c];
}

/* The end of a port's link, for people: "leaf1/3". */
static void watch_conditions_port_name(char *buf, size_t size, const struct fabric *f,
				       uint32_t port)
{
	uint32_t sw = 0;

	while (sw + 1 < f->nsw && f->port_off[sw + 1] <= port)
		sw++;
	snprintf(buf, size, "%s/%u", f->sw_name[sw], port - f->port_off[sw]);
}

bool watch_errors_judge(char *text, size_t size, uint64_t *worst, const struct fabric *f,
			const struct sample *was, const struct sample *is, const bool *marked,
			const struct watch_limits *l)
{
	static const struct {
		int ctr;
		const char *name;
	} what[] = { { CTR_SYMBOL_ERR, "symbol errors" },
		     { CTR_RX_ERR, "receive errors" },
		     { CTR_TX_DISCARD, "discards" },
		     { CTR_LINK_DOWNED, "times down" } };
	const uint64_t limit[] = { l->symbol, l->rcv, l->discard, l->downed };
	uint32_t nport = was->nport < is->nport ? was->nport : is->nport;

	*worst = 0;
	for (uint32_t p = 0; p < nport; p++) {
		uint64_t sum = 0;

		for (int k = 0; marked[p] && k < 4; k++) {
			uint64_t r =
				watch_conditions_rise(&was->port[p], &is->port[p], what[k].ctr);
			char name[100];

			sum += r;
			if (r <= limit[k])
				continue;
			watch_conditions_port_name(name, sizeof(name), f, p);
			snprintf(text, size,
				 "%s: %" PRIu64 " %s more since the update, limit %" PRIu64, name,
				 r, what[k].name, limit[k]);
			*worst = sum;
			return true;
		}
		*worst = sum > *worst ? sum : *worst;
	}
	return false;
}
