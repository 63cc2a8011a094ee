/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/sim_faults.h"

#include "fabric/sim/device/sim_state.h"

#include <string.h>

uint32_t sim_key_violations(struct sim *s, uint64_t guid)
{
	uint32_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (uint32_t end = 0; end < s->f->nend + s->f->nsw; end++)
		if (sim_port_guid(s, end) == guid)
			n += s->key_violations[end];
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void sim_faults_copy_sl2vl(const struct sim *s, struct tables *t, uint32_t sw)
{
	uint32_t n = s->f->sw_nports[sw];

	for (uint32_t in = 0; in <= n; in++)
		for (uint32_t out = 0; out <= n; out++) {
			uint8_t *row = tables_sl2vl_row(t, sw, in, out);

			for (uint8_t sl = 0; sl < FAB_SLS; sl++)
				row[sl] = sim_vl(s, sw, (uint8_t)in, (uint8_t)out, sl);
		}
}

struct tables *sim_tables(struct sim *s)
{
	struct tables *t = tables_new(s->f, "sim");
	bool full = false;

	pthread_mutex_lock(&s->lock);
	for (uint32_t sw = 0; sw < s->f->nsw; sw++) {
		uint32_t n = t->stride < s->stride ? t->stride : s->stride;

		memcpy(tables_row(t, sw), s->lft + (size_t)sw * s->stride, n);
		full |= s->sl2vl[sw] != NULL;
	}
	if (full) {
		tables_sl2vl_form(t, SL2VL_FULL, s->f);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			sim_faults_copy_sl2vl(s, t, sw);
	}
	pthread_mutex_unlock(&s->lock);
	return t;
}

void sim_kill_switch(struct sim *s, uint32_t sw, bool dead)
{
	pthread_mutex_lock(&s->lock);
	s->sw_dead[sw] = dead;
	traffic_changed(s->traffic);
	pthread_mutex_unlock(&s->lock);
}

void sim_kill_term(struct sim *s, uint32_t term, bool dead)
{
	pthread_mutex_lock(&s->lock);
	s->term_dead[term] = dead;
	traffic_changed(s->traffic);
	pthread_mutex_unlock(&s->lock);
}

void sim_loss(struct sim *s, double loss)
{
	pthread_mutex_lock(&s->lock);
	s->o.loss = loss;
	pthread_mutex_unlock(&s->lock);
}

void sim_fail_writes(struct sim *s, uint64_t after)
{
	pthread_mutex_lock(&s->lock);
	s->fail_after = after;
	pthread_mutex_unlock(&s->lock);
}

void sim_lose_writes(struct sim *s, uint64_t after)
{
	pthread_mutex_lock(&s->lock);
	s->lose_after = after;
	pthread_mutex_unlock(&s->lock);
}

void sim_poke_lft(struct sim *s, uint32_t sw, uint16_t lid, uint8_t port)
{
	pthread_mutex_lock(&s->lock);
	if (lid < s->stride)
		s->lft[(size_t)sw * s->stride + lid] = port;
	traffic_changed(s->traffic);
	pthread_mutex_unlock(&s->lock);
}

void sim_stop_sm(struct sim *s, bool stopped)
{
	pthread_mutex_lock(&s->lock);
	s->sm_stopped = stopped;
	sm_forget(s->sm);
	pthread_mutex_unlock(&s->lock);
}

void sim_move_sm(struct sim *s, uint32_t term)
{
	pthread_mutex_lock(&s->lock);
	s->o.sm_term = term;
	sm_forget(s->sm);
	pthread_mutex_unlock(&s->lock);
}

void sim_set_path_sls(struct sim *s, const struct tables *t)
{
	pthread_mutex_lock(&s->lock);
	sm_path_sls(s->sm, t);
	pthread_mutex_unlock(&s->lock);
}

void sim_advance(struct sim *s, double seconds)
{
	pthread_mutex_lock(&s->lock);
	s->clock_ns += (uint64_t)(seconds * 1e9);
	pthread_mutex_unlock(&s->lock);
}

void sim_add_counter(struct sim *s, uint32_t sw, uint8_t port, unsigned counter, uint64_t v)
{
	pthread_mutex_lock(&s->lock);
	s->port_ctr[s->f->port_off[sw] + port][counter] += v;
	pthread_mutex_unlock(&s->lock);
}

uint64_t sim_term_counter(struct sim *s, uint32_t term, unsigned counter)
{
	uint64_t v;

	pthread_mutex_lock(&s->lock);
	v = s->term_ctr[term][counter];
	pthread_mutex_unlock(&s->lock);
	return v;
}
