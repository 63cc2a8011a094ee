/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_deps_in.h"

/* One end sends with one SL by that row: onto a VL of words, or nowhere. */
static bool verify_deps_send(uint64_t *words, const uint8_t *row, uint8_t sl)
{
	uint8_t vl;

	if (sl >= FAB_SLS)
		return true;
	vl = row[sl];
	if (vl >= ALL_VLS)
		return true;
	words[vl / 4] |= 1ull << (vl % 4 * 16 + sl);
	return false;
}

/* Ends that differ in their SLs send from u into channel c. */
static bool verify_deps_send_each(const struct deps *d, uint64_t *words, uint32_t u, uint32_t c,
				  uint32_t lid)
{
	const struct fabric *f = d->f;
	bool lost = false;
	uint32_t i;

	for (i = f->term_off[u]; i < f->term_off[u + 1]; i++) {
		uint32_t end = f->term_list[i];
		const uint8_t *row = tables_sl2vl_row(d->t, u, f->term_port[end], f->chan_port[c]);

		lost |= verify_deps_send(words, row, tables_path_sl(d->t, end, u, lid));
	}
	return lost;
}

/* The ends on the LID's own switch send straight to its port. */
static bool verify_deps_send_here(struct deps *d, const struct walk *w, uint32_t lid)
{
	const struct fabric *f = d->f;
	uint64_t words[ROWS_MAX_WORDS] = { 0 };
	uint16_t *vls = &d->port_vl[f->port_off[w->dsw] + w->dport];
	bool lost = false;
	uint32_t i, vl;

	for (i = f->term_off[w->dsw]; i < f->term_off[w->dsw + 1]; i++) {
		uint32_t end = f->term_list[i];
		uint8_t sl = tables_path_sl(d->t, end, w->dsw, lid), in = f->term_port[end];

		if (sl < FAB_SLS && (!w->dport || in == w->dport))
			continue;
		lost |= verify_deps_send(words, tables_sl2vl_row(d->t, w->dsw, in, w->dport), sl);
	}
	for (vl = 0; vl < ALL_VLS; vl++)
		*vls |= (uint16_t)((words[vl / 4] >> vl % 4 * 16 & 0xffff ? 1u : 0) << vl);
	return lost;
}

/* SLs that come over channel c leave by the LID's port. */
static bool verify_deps_deliver(struct deps *d, const struct walk *w, uint32_t c, uint32_t sls)
{
	uint16_t *vls = &d->port_vl[d->f->port_off[w->dsw] + w->dport];
	const uint8_t *row;
	bool lost = false;

	if (!w->dport)
		return false;
	row = tables_sl2vl_row(d->t, w->dsw, d->f->chan_rport[c], w->dport);
	for (; sls; sls &= sls - 1) {
		uint8_t vl = row[__builtin_ctz(sls)];

		if (vl < ALL_VLS)
			*vls |= (uint16_t)(1u << vl);
		else
			lost = true;
	}
	return lost;
}

/* Adds what the ends on u send into channel c, all with the same SLs. */
static inline bool verify_deps_send_alike(const struct deps *d, uint64_t *words, uint32_t u,
					  uint32_t c, uint32_t n)
{
	uint64_t sent = rows_spread(d->sent[u]);
	const struct rows *r = &d->rows;
	uint32_t i, k, lost = 0;

	if (r->one_src) {
		for (k = 0; k < n; k++)
			words[k] |= sent & r->lanes[r->src[0] * n + k];
		return (d->sent[u] & r->drop[r->src[0]]) != 0;
	}
	for (i = r->src_off[c]; i < r->src_off[c + 1]; i++) {
		lost |= d->sent[u] & r->drop[r->src[i]];
		for (k = 0; k < n; k++)
			words[k] |= sent & r->lanes[r->src[i] * n + k];
	}
	return lost != 0;
}

/* SLs by VL that the traffic of u brings to its turn; out: SLs of any VL. */
static inline uint32_t verify_deps_keep_lanes(struct deps *d, uint32_t u, const uint64_t *words,
					      uint32_t n)
{
	uint64_t *last = d->last_sls + (size_t)u * n, any = 0, news = 0;
	uint32_t k;

	for (k = 0; k < n; k++) {
		any |= words[k];
		news |= words[k] & ~last[k];
	}
	for (k = 0; k < n && news; k++) {
		last[k] |= words[k];
		d->all[k] |= words[k];
		if (d->turns)
			d->turn_sls[last_at(d, u) * n + k] |= words[k];
	}
	return rows_fold(any);
}

static inline uint32_t verify_deps_last_row(struct deps *d, uint32_t u)
{
	struct last_turn *l = &d->last[u];

	if (l->row == UNKNOWN)
		l->row = d->rows.turn[last_at(d, u)];
	return l->row;
}

/* n: words of lanes; a constant where this is inlined. */
static inline __attribute__((always_inline)) bool add_words(struct deps *d, const struct walk *w,
							    uint32_t lid, uint32_t n)
{
	bool each = d->t->sl_kind == SL_BY_TERM, lost = false;
	const struct rows *r = &d->rows;
	uint32_t i, k, end = 0;

	for (i = 0; i + 1 < w->norder; i++) {
		uint32_t u = w->order[i], c = w->chan[u], v = d->f->chan_dst[c], sls, row;
		uint64_t *flow = d->flow + (size_t)u * n;

		if (i == end)
			end = look_ahead(d, w, i);
		lost |= each ? verify_deps_send_each(d, flow, u, c, lid)
			     : verify_deps_send_alike(d, flow, u, c, n);
		sls = verify_deps_keep_lanes(d, u, flow, n);
		if (!sls)
			continue;
		for (k = 0; k < n; k++)
			flow[k] = 0;
		if (v == w->dsw) {
			lost |= verify_deps_deliver(d, w, c, sls);
			continue;
		}
		row = verify_deps_last_row(d, u);
		lost |= (sls & r->drop[row]) != 0;
		for (k = 0; k < n; k++)
			d->flow[(size_t)v * n + k] |= rows_spread(sls) & r->lanes[row * n + k];
	}
	return w->norder ? verify_deps_send_here(d, w, lid) || lost : lost;
}

/* What u sends, all the way to the LID's switch.  True when some SL is lost. */
static inline __attribute__((always_inline)) bool follow_words(struct deps *d, const struct walk *w,
							       uint32_t u, uint32_t n)
{
	uint64_t words[ROWS_MAX_WORDS] = { 0 };
	const struct rows *r = &d->rows;
	bool lost = verify_deps_send_alike(d, words, u, w->chan[u], n);

	for (;;) {
		uint32_t v = d->f->chan_dst[w->chan[u]], k, sls, row;

		turn_of(d, w, u);
		sls = verify_deps_keep_lanes(d, u, words, n);
		if (v == w->dsw || !sls)
			return lost;
		row = verify_deps_last_row(d, u);
		lost |= (sls & r->drop[row]) != 0;
		for (k = 0; k < n; k++)
			words[k] = rows_spread(sls) & r->lanes[row * n + k];
		u = v;
	}
}

static bool verify_deps_follow_by_port(struct deps *d, const struct walk *w, uint32_t u)
{
	switch (d->rows.nwords) {
	case 1:
		return follow_words(d, w, u, 1);
	case 2:
		return follow_words(d, w, u, 2);
	default:
		return follow_words(d, w, u, 4);
	}
}

/* Where no SL is lost on the way, what arrives is what was sent. */
static bool verify_deps_deliver_all(struct deps *d, const struct walk *w, uint32_t lid)
{
	const struct fabric *f = d->f;
	bool lost = false;
	uint32_t c;

	for (c = f->chan_off[w->dsw]; c < f->chan_off[w->dsw + 1]; c++)
		lost |= verify_deps_deliver(d, w, f->chan_rev[c], arrivals_sls(&d->arrivals, w, c));
	return verify_deps_send_here(d, w, lid) || lost;
}

static bool verify_deps_add_all_by_port(struct deps *d, const struct walk *w, uint32_t lid)
{
	switch (d->rows.nwords) {
	case 1:
		return add_words(d, w, lid, 1);
	case 2:
		return add_words(d, w, lid, 2);
	default:
		return add_words(d, w, lid, 4);
	}
}

/* All traffic, and who arrives over which channel. */
static bool verify_deps_add_whole_by_port(struct deps *d, const struct walk *w, uint32_t lid)
{
	bool lost = verify_deps_add_all_by_port(d, w, lid);

	if (!lost && w->norder == d->f->nsw)
		arrivals_count(&d->arrivals, w, d->sent);
	return lost;
}

/* The same where that is known of the LID before it, on the same switch: only traffic that goes
 * another way, or with another SL, can bring something new. */
static bool verify_deps_add_fresh_by_port(struct deps *d, struct walk *w, uint32_t lid)
{
	const uint16_t *old = d->sent_block + (size_t)(w->before % LFT_BLOCK) * d->f->nsw;
	uint32_t i, n = deps_find_changed(d, w);
	bool lost = false;

	if (n > d->f->nsw / FEW)
		return verify_deps_add_whole_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			lost |= verify_deps_follow_by_port(d, w, d->changed[i]);
	if (lost)
		return verify_deps_add_all_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			arrivals_update(&d->arrivals, w, d->changed[i], d->sent[d->changed[i]],
					old[d->changed[i]]);
	return verify_deps_deliver_all(d, w, lid);
}

/* The same where only SLs and VLs are wanted, not who loses what. */
static bool verify_deps_add_vls_by_port(struct deps *d, struct walk *w, uint32_t lid)
{
	uint32_t i, n = w->before && w->before == d->before ? deps_find_changed(d, w) : UNKNOWN;

	d->before = lid;
	if (n > d->f->nsw / FEW)
		return verify_deps_add_all_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			verify_deps_follow_by_port(d, w, d->changed[i]);
	return false;
}

/* Ends of a switch that differ in their SLs may use a turn that no other end of it does. */
bool deps_add_by_port(struct deps *d, struct walk *w, uint32_t lid)
{
	bool lost;

	if (d->t->sl_kind == SL_BY_TERM)
		return verify_deps_add_all_by_port(d, w, lid);
	if (!d->turns)
		return verify_deps_add_vls_by_port(d, w, lid);
	if (w->before && w->before == d->before)
		lost = verify_deps_add_fresh_by_port(d, w, lid);
	else
		lost = verify_deps_add_whole_by_port(d, w, lid);
	d->before = lost ? 0 : lid;
	return lost;
}
