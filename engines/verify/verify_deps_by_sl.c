/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_deps_in.h"

/* SLs (as masks) that the traffic of u brings to its turn. */
static inline void verify_deps_keep_sls(struct deps *d, uint32_t u, uint32_t sls)
{
	struct last_turn *l = &d->last[u];

	if (!(sls & ~l->sls))
		return;
	d->turn[last_at(d, u)] |= sls;
	l->sls |= sls;
}

static bool verify_deps_add_by_sl(struct deps *d, const struct walk *w)
{
	const uint32_t *dst = d->f->chan_dst;
	uint16_t *passing = d->passing;
	uint32_t i, n = w->norder, m, dsw = w->dsw, lost = 0, seen = 0, end = 0;
	uint16_t stay_sent = (uint16_t)~d->drop_sent, stay_passing = (uint16_t)~d->drop_passing;

	for (i = 0; i + 1 < n; i++) {
		uint32_t u = w->order[i], v = dst[w->chan[u]], on;

		if (d->turns && i == end)
			end = look_ahead(d, w, i);
		lost |= d->sent[u] & d->drop_sent;
		m = (d->sent[u] & stay_sent) | (uint32_t)passing[u] << 16;
		passing[u] = 0;
		if (!m)
			continue;
		seen |= m;
		if (d->turns)
			verify_deps_keep_sls(d, u, m);
		on = (m | m >> 16) & 0xffff;
		lost |= on & d->drop_passing;
		passing[v] |= (uint16_t)(on & stay_passing);
	}
	d->seen |= seen;
	if (!n)
		return lost != 0;
	lost |= d->sent[dsw] & d->drop_sent;
	if (w->dport)
		d->delivered[d->f->port_off[dsw] + w->dport] |=
			(d->sent[dsw] & stay_sent) | (uint32_t)passing[dsw] << 16;
	passing[dsw] = 0;
	return lost != 0;
}

/* SLs that others than dsw send and that no SL2VL drops. */
static uint16_t verify_deps_sent_by_others(const struct deps *d, uint32_t dsw)
{
	uint32_t sw;
	uint16_t all = 0;

	for (sw = 0; sw < dsw; sw++)
		all |= d->sent[sw];
	for (sw = dsw + 1; sw < d->f->nsw; sw++)
		all |= d->sent[sw];
	return all & (uint16_t) ~(d->drop_sent | d->drop_passing);
}

/* What u sends, all the way to the LID's switch.  SLs that are lost. */
static uint32_t verify_deps_follow_by_sl(struct deps *d, const struct walk *w, uint32_t u)
{
	uint32_t m = d->sent[u] & (uint16_t)~d->drop_sent;
	uint32_t lost = d->sent[u] & (d->drop_sent | d->drop_passing);

	for (; m && u != w->dsw; u = d->f->chan_dst[w->chan[u]]) {
		d->seen |= m;
		turn_of(d, w, u);
		verify_deps_keep_sls(d, u, m);
		m = ((m | m >> 16) & (uint16_t)~d->drop_passing) << 16;
	}
	return lost;
}

/*
 * The same as verify_deps_add_by_sl() where all turns of the LID before it, on the same switch, are
 * known: only traffic that goes another way, or with another SL, can bring new ones.
 */
static bool verify_deps_add_fresh(struct deps *d, struct walk *w)
{
	uint32_t i, m, n = deps_find_changed(d, w), dsw = w->dsw, lost = 0;

	if (n > d->f->nsw / FEW)
		return verify_deps_add_by_sl(d, w);
	for (i = 0; i < n; i++)
		if (d->changed[i] != dsw)
			lost |= verify_deps_follow_by_sl(d, w, d->changed[i]);
	lost |= d->sent[dsw] & d->drop_sent;
	m = (uint32_t)verify_deps_sent_by_others(d, dsw) << 16 |
	    (d->sent[dsw] & (uint16_t)~d->drop_sent);
	if (w->dport)
		d->delivered[d->f->port_off[dsw] + w->dport] |= m;
	return lost != 0;
}

bool deps_add_by_sl(struct deps *d, struct walk *w, uint32_t lid)
{
	bool lost;

	lost = d->turns && w->before && w->before == d->before ? verify_deps_add_fresh(d, w)
							       : verify_deps_add_by_sl(d, w);
	d->before = lost ? 0 : lid;
	return lost;
}
