/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_state.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sim_opts_init(struct sim_opts *opts)
{
	*opts = (struct sim_opts){ .seed = 1 };
}

static void sim_count_ca_ports(struct sim *s)
{
	const struct fabric *f = s->f;

	/* the ports of one CA have neighbouring GUIDs in practice, but nothing promises it */
	for (uint32_t t = 0; t < f->nend; t++)
		s->term_nports[t] = f->term_ca_port[t] ? f->term_ca_port[t] : 1;
	for (uint32_t t = 0; t < f->nend; t++) {
		if (f->term_ca_port[t] < 2)
			continue;
		for (uint32_t u = 0; u < f->nend; u++)
			if (f->term_node_guid[u] == f->term_node_guid[t] &&
			    s->term_nports[u] < f->term_ca_port[t])
				s->term_nports[u] = f->term_ca_port[t];
	}
}

int sim_new(struct sim **out, const struct fabric *f, const struct sim_opts *opts, struct err *err)
{
	pthread_condattr_t monotonic;
	struct sim *s;

	if (!f->nterm)
		return err_set(err, -EINVAL, "a simulated fabric needs at least one terminal");
	s = xcalloc(1, sizeof(*s));
	sim_opts_init(&s->o);
	if (opts)
		s->o = *opts;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->arrival, &monotonic);
	pthread_condattr_destroy(&monotonic);
	s->f = fabric_get(f);
	rng_seed(&s->rng, s->o.seed);
	s->clock_ns = 1000000000;
	s->stride = (f->max_lid / LFT_BLOCK + 1) * LFT_BLOCK;
	s->lft = xcalloc((size_t)f->nsw * s->stride, 1);
	memset(s->lft, FAB_NO_PORT, (size_t)f->nsw * s->stride);
	s->top = xcalloc(f->nsw, sizeof(*s->top));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		s->top[sw] = f->max_lid;
	s->sl2vl = xcalloc(f->nsw, sizeof(*s->sl2vl));
	s->weighted = xcalloc(f->nport, sizeof(*s->weighted));
	for (uint32_t i = 0; i < f->nport; i++)
		s->weighted[i] = 0x7fff;
	s->term_nports = xcalloc(f->nend, 1);
	s->sw_dead = xcalloc(f->nsw, sizeof(bool));
	s->term_dead = xcalloc(f->nend, sizeof(bool));
	s->link_down = xcalloc(f->nport, sizeof(bool));
	s->port_ctr = xcalloc(f->nport, sizeof(*s->port_ctr));
	s->term_ctr = xcalloc(f->nend, sizeof(*s->term_ctr));
	s->key_violations = xcalloc(f->nend + f->nsw, sizeof(*s->key_violations));
	s->pkeys = xcalloc(f->nend, sizeof(*s->pkeys));
	s->fail_after = s->lose_after = UINT64_MAX;
	s->traffic = traffic_new(f);
	s->sm = sm_new();
	sim_count_ca_ports(s);
	*out = s;
	s->start_ns = sim_now_ns(s);
	return 0;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	for (uint32_t sw = 0; sw < s->f->nsw; sw++)
		free(s->sl2vl[sw]);
	traffic_free(s->traffic);
	sm_free(s->sm);
	free(s->lft);
	free(s->top);
	free(s->sl2vl);
	free(s->weighted);
	free(s->term_nports);
	free(s->sw_dead);
	free(s->term_dead);
	free(s->link_down);
	for (uint32_t t = 0; t < s->f->nend; t++)
		free(s->pkeys[t]);
	free(s->pkeys);
	free(s->key_violations);
	free(s->port_ctr);
	free(s->term_ctr);
	fabric_put(s->f);
	pthread_cond_destroy(&s->arrival);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void sim_install_sl2vl(struct sim *s, const struct tables *t, uint32_t sw)
{
	uint32_t n = s->f->sw_nports[sw];

	free(s->sl2vl[sw]);
	s->sl2vl[sw] = NULL;
	if (t->sl2vl_kind == SL2VL_IDENTITY)
		return;
	for (uint32_t in = 0; in <= n; in++)
		for (uint32_t out = 0; out <= n; out++) {
			uint8_t *row = sim_sl2vl_row(s, sw, (uint8_t)in, (uint8_t)out);

			for (uint8_t sl = 0; sl < FAB_SLS; sl += 2)
				row[sl / 2] = (uint8_t)(tables_vl(t, s->f, sw, (uint8_t)in,
								  (uint8_t)out, sl)
								<< 4 |
							tables_vl(t, s->f, sw, (uint8_t)in,
								  (uint8_t)out, sl + 1));
		}
}

void sim_set_pkeys(struct sim *s, uint32_t term, const uint16_t *keys, uint32_t n)
{
	pthread_mutex_lock(&s->lock);
	free(s->pkeys[term]);
	s->pkeys[term] = xcalloc(SIM_PKEYS, sizeof(**s->pkeys));
	memcpy(s->pkeys[term], keys, n * sizeof(*keys));
	pthread_mutex_unlock(&s->lock);
}

void sim_set_weighted(struct sim *s, uint32_t sw, uint8_t port, uint16_t vls)
{
	pthread_mutex_lock(&s->lock);
	s->weighted[s->f->port_off[sw] + port] = vls;
	pthread_mutex_unlock(&s->lock);
}

int sim_install_tables(struct sim *s, const struct tables *t, struct err *err)
{
	const struct fabric *f = s->f;
	uint32_t n = t->stride < s->stride ? t->stride : s->stride;

	if (t->nsw != f->nsw || t->nend != f->nend ||
	    !digest_equal(&t->fingerprint, &f->fingerprint))
		return err_set(err, -EINVAL,
			       "these tables were made for another fabric than the simulated one");
	pthread_mutex_lock(&s->lock);
	memset(s->lft, FAB_NO_PORT, (size_t)f->nsw * s->stride);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		memcpy(s->lft + (size_t)sw * s->stride, tables_row(t, sw), n);
		sim_install_sl2vl(s, t, sw);
	}
	sm_path_sls(s->sm, t);
	traffic_changed(s->traffic);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void sim_link_set(struct sim *s, uint32_t sw, uint8_t port, bool up)
{
	const struct fabric *f = s->f;
	uint32_t chan = fabric_chan(f, sw, port);

	pthread_mutex_lock(&s->lock);
	if (!up && !s->link_down[f->port_off[sw] + port])
		s->port_ctr[f->port_off[sw] + port][CTR_LINK_DOWNED]++;
	s->link_down[f->port_off[sw] + port] = !up;
	if (chan != FAB_NONE) {
		uint32_t peer = f->port_off[f->chan_dst[chan]] + f->chan_rport[chan];

		if (!up && !s->link_down[peer])
			s->port_ctr[peer][CTR_LINK_DOWNED]++;
		s->link_down[peer] = !up;
	}
	traffic_changed(s->traffic);
	pthread_mutex_unlock(&s->lock);
}
