/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/state.h"

#include "fabric/model/topology/end_find.h"
#include "views/data/state/key_hint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void state_init(struct state *s)
{
	memset(s, 0, sizeof(*s));
	s->rec_s = NAN;
	s->limits = (struct state_limits){ .util_pct = 95, .wait_pct = 20, .for_s = 60 };
	s->poll.age_s = s->poll.took_s = s->poll.next_s = s->poll.interval_s = NAN;
	s->jobs_source.age_s = NAN;
	s->automatic.next_s = NAN;
	s->ordering.most_s = s->ordering.about_s = NAN;
	s->preview.fraction = s->preview.elapsed_s = s->preview.eta_s = s->preview.rate = NAN;
	s->preview.mads_per_s = s->preview.sweep_s = NAN;
	for (int i = 0; i < APPLY_STEPS; i++)
		s->apply.steps[i].took_s = NAN;
}

int64_t state_time_s(const struct state *s)
{
	bool held = s->history_at.on || s->mode == RUN_FROZEN || s->mode == RUN_FILE;

	return held && s->history_at.time_s ? s->history_at.time_s : s->now_s;
}

const struct metrics *state_metrics(const struct state *s)
{
	const struct metrics *m = s->metrics;

	return m && s->fabric && m->nchan == s->fabric->nchan ? m : NULL;
}

const struct link_usage *state_usage(const struct state *s)
{
	const struct link_usage *u = s->usage;

	return u && s->fabric && u->tables == s->tables && u->fabric->nchan == s->fabric->nchan
		       ? u
		       : NULL;
}

const struct chan_dest_list *state_chan_dests(const struct state *s, uint32_t chan)
{
	const struct link_usage *u = state_usage(s);

	return u && u->dests && chan < u->dests->nchan ? &u->dests->of[chan] : NULL;
}

const struct plan_preview *state_plan(const struct state *s)
{
	static const struct plan_preview none;
	const struct state_preview *p = &s->preview;
	const struct plan_preview *x = p->at < p->n ? &p->list[p->at] : &none;
	bool fits = x->after && s->fabric && x->after->nchan == s->fabric->nchan &&
		    (!x->before || x->before->nchan == s->fabric->nchan);

	return fits ? x : &none;
}

bool state_preview_ready(const struct state *s)
{
	return state_plan(s)->after != NULL;
}

bool state_plan_ahead(const struct state *s)
{
	return state_preview_ready(s) && !state_plan(s)->stale[0];
}

const char *switch_label(char *buf, size_t len, const struct fabric *f, uint32_t sw)
{
	snprintf(buf, len, "%s", f->sw_short[sw]);
	return buf;
}

int switch_label_width(const struct fabric *f)
{
	size_t most = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (strlen(f->sw_short[sw]) > most)
			most = strlen(f->sw_short[sw]);
	return (int)most;
}

const char *chan_label(char *buf, size_t len, const struct fabric *f, uint32_t chan)
{
	char from[NAME_LEN], to[NAME_LEN];

	snprintf(buf, len, "%s/%u -> %s/%u", switch_label(from, sizeof(from), f, f->chan_src[chan]),
		 f->chan_port[chan], switch_label(to, sizeof(to), f, f->chan_dst[chan]),
		 f->chan_rport[chan]);
	return buf;
}

const char *port_label(char *buf, size_t len, const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);
	char name[NAME_LEN], end[END_NAME_LEN];

	if (port->chan != FAB_NONE)
		return chan_label(buf, len, f, port->chan);
	switch_label(name, sizeof(name), f, sw);
	if (port->term != FAB_NONE &&
	    !strcmp(end_name(end, sizeof(end), f, port->term), f->term_name[port->term]))
		snprintf(buf, len, "%s/%u -> %s/%u", name, p, end, f->term_ca_port[port->term]);
	else if (port->term != FAB_NONE)
		snprintf(buf, len, "%s/%u -> %s", name, p, end);
	else
		snprintf(buf, len, "%s/%u", name, p);
	return buf;
}

const struct job_metrics *job_metrics_of(const struct metrics *m, const struct jobset *jobs,
					 uint64_t id)
{
	if (!m || !jobs || m->njob != jobs->njob)
		return NULL;
	for (uint32_t j = 0; j < jobs->njob; j++)
		if (jobs->jobs[j].id == id)
			return &m->job[j];
	return NULL;
}

static const struct tables *state_of_fabric(const struct state *s, const struct tables *t)
{
	const struct fabric *f = s->fabric;

	return t && f && t->nsw == f->nsw && t->nend == f->nend ? t : NULL;
}

const struct tables *state_tables(const struct state *s)
{
	return state_of_fabric(s, s->tables);
}

const struct tables *state_plan_tables(const struct state *s)
{
	return state_of_fabric(s, state_plan(s)->tables);
}

const char *state_no_tables(const struct state *s)
{
	static char ended[KEY_HINT_LEN + 48];

	if (s->mode == RUN_FILE)
		return "this file has no routing tables: --lfts FILE reads them";
	if (!s->poll.tables_ended)
		return "routing tables not read yet";
	snprintf(ended, sizeof(ended), "routing tables not read: %s reads them", key_hint("vls"));
	return ended;
}

bool state_vls_known(const struct state *s)
{
	return s->tables && tables_know_vls(s->tables);
}

const char *state_no_vls(char *buf, size_t len, const struct state *s)
{
	const struct state_poll *p = &s->poll;

	if (s->history_at.on)
		snprintf(buf, len, "SL2VL was not read at that time");
	else if (s->mode == RUN_FILE)
		snprintf(buf, len, "SL2VL is not in this snapshot");
	else if (p->tables_on && p->tables_total)
		snprintf(buf, len, "SL2VL not read yet (%.0f %%)",
			 100.0 * (double)p->tables_done / (double)p->tables_total);
	else
		key_hint_text(buf, len,
			      p->tables_on ? "SL2VL not read yet" : "SL2VL not read ({vls})");
	return buf;
}
