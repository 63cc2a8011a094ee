/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of links (channels between switches) and of all ports; both look at a switch's port. */
#include "fabric/model/topology/end_find.h"
#include "views/data/state/chan_text.h"
#include "views/table/fields/fields_priv.h"

static uint32_t fields_ports_of(const struct rows *r, uint32_t row)
{
	return r->kind == ROWS_LINKS ? chan_fabric_port(r->s->fabric, row) : row;
}

static const struct port *fields_ports_hw(const struct rows *r, uint32_t row)
{
	return &r->s->fabric->port[fields_ports_of(r, row)];
}

uint32_t rows_switch(const struct rows *r, uint32_t row)
{
	const struct fabric *f = r->s->fabric;

	return r->kind == ROWS_LINKS ? f->chan_src[row] : fabric_port_switch(f, row);
}

static uint32_t fields_ports_no(const struct rows *r, uint32_t row)
{
	return fields_ports_of(r, row) - r->s->fabric->port_off[rows_switch(r, row)];
}

GETTER(fields_ports_get_label, c->text = port_label(c->buf, sizeof(c->buf), r->s->fabric,
						    rows_switch(r, row), fields_ports_no(r, row)))
GETTER(fields_ports_get_a,
       c->text = switch_label(c->buf, NAME_LEN, r->s->fabric, rows_switch(r, row)))
GETTER(fields_ports_get_a_port, c->num = fields_ports_no(r, row))
GETTER(fields_ports_get_a_guid, c->guid = r->s->fabric->sw_guid[rows_switch(r, row)])
GETTER(fields_ports_get_a_lid, c->num = r->s->fabric->sw_lid[rows_switch(r, row)])

struct far_end {
	const char *name; /* in buf, or of the fabric; NULL: the port leads nowhere */
	uint64_t guid;
	double port, lid;
};

/* "spine07/9": what was there before the link was lost. */
static struct far_end fields_ports_lost_end(char buf[VALUE_LEN], const struct rows *r, uint32_t row)
{
	const struct port_problems *t = r->v ? r->v->port_problems : NULL;
	const char *was = t ? port_problems_was(t, fields_ports_of(r, row)) : NULL;
	const char *slash = was ? strrchr(was, '/') : NULL;

	if (!slash)
		return (struct far_end){ NULL, 0, NAN, NAN };
	snprintf(buf, NAME_LEN, "%.*s", (int)(slash - was), was);
	return (struct far_end){ buf, 0, atoi(slash + 1), NAN };
}

static struct far_end fields_ports_far(char buf[VALUE_LEN], const struct rows *r, uint32_t row)
{
	const struct fabric *f = r->s->fabric;
	const struct port *p = fields_ports_hw(r, row);
	uint32_t sw;

	if (p->chan != FAB_NONE) {
		sw = f->chan_dst[p->chan];
		return (struct far_end){ switch_label(buf, NAME_LEN, f, sw), f->sw_guid[sw],
					 f->chan_rport[p->chan], f->sw_lid[sw] };
	}
	if (p->term != FAB_NONE)
		return (struct far_end){ end_name(buf, VALUE_LEN, f, p->term),
					 f->term_guid[p->term], f->term_ca_port[p->term],
					 f->term_lid[p->term] };
	return fields_ports_lost_end(buf, r, row);
}

GETTER(fields_ports_get_b, c->text = fields_ports_far(c->buf, r, row).name)
GETTER(fields_ports_get_b_port, c->num = fields_ports_far(c->buf, r, row).port)
GETTER(fields_ports_get_b_guid, c->guid = fields_ports_far(c->buf, r, row).guid)
GETTER(fields_ports_get_b_lid, c->num = fields_ports_far(c->buf, r, row).lid)

static void fields_ports_get_kind(struct value *c, const struct rows *r, uint32_t row)
{
	const struct port *p = fields_ports_hw(r, row);

	c->text = p->chan != FAB_NONE ? "switch" : p->term != FAB_NONE ? "host" : "none";
}

static void fields_ports_get_tier(struct value *c, const struct rows *r, uint32_t row)
{
	uint8_t t = r->v->tiers->of[fields_ports_of(r, row)];

	c->text = t < r->v->tiers->n ? r->v->tiers->name[t] : NULL;
}

static void fields_ports_get_state(struct value *c, const struct rows *r, uint32_t row)
{
	static const char *const words[] = { NULL, "down", "init", "armed", "active" };

	c->text = words[fields_ports_hw(r, row)->state % 5];
}

static void fields_ports_get_problem(struct value *c, const struct rows *r, uint32_t row)
{
	enum problem p = (enum problem)r->v->problem[fields_ports_of(r, row)];

	c->text = p ? problem_word(p) : "none";
}

GETTER(fields_ports_get_speed, field_text_if(c, fields_ports_hw(r, row)->speed))

static void fields_ports_known_count(struct value *c, uint32_t v)
{
	c->num = v ? v : NAN;
}

GETTER(fields_ports_get_width, fields_ports_known_count(c, fields_ports_hw(r, row)->width))
GETTER(fields_ports_get_vls, fields_ports_known_count(c, fields_ports_hw(r, row)->op_vls))
GETTER(fields_ports_get_rate, fields_ports_known_count(c, fields_ports_hw(r, row)->rate_Mbps))

static const struct port_rate *fields_ports_rate_of(const struct rows *r, uint32_t row)
{
	static const struct port_rate none = { NAN, NAN, NAN, NAN, NAN };
	const struct port_rate *p = state_rate(r->s, fields_ports_of(r, row));

	return p ? p : &none;
}

GETTER(fields_ports_get_figure, c->num = field_rate(c, state_rate(r->s, fields_ports_of(r, row))))

/* Of links the same in columns of their own: a large table is sorted by one with every sample.
 * NULL: not of these. */
static const struct sample_summary *fields_ports_columns(const struct rows *r)
{
	const struct sample_summary *t = r->v->sample_summary;

	return r->kind == ROWS_LINKS && t && t->rates && t->rates == r->s->rates &&
			       t->fabric->nchan == r->s->fabric->nchan
		       ? t
		       : NULL;
}

static void fields_ports_get_util(struct value *c, const struct rows *r, uint32_t row)
{
	const struct sample_summary *t = fields_ports_columns(r);

	c->num = t ? t->util[row] : fields_ports_rate_of(r, row)->util_pct;
}

static void fields_ports_get_congestion(struct value *c, const struct rows *r, uint32_t row)
{
	const struct sample_summary *t = fields_ports_columns(r);

	c->num = t ? t->congestion[row] : port_rate_congestion(fields_ports_rate_of(r, row));
}

/* Index in the summary's findings; FAB_NONE: it is in none. */
static uint32_t fields_ports_finding(const struct rows *r, uint32_t row)
{
	return fields_ports_columns(r) && r->v->congestion.n ? r->v->congestion.of_chan[row]
							     : FAB_NONE;
}

#define FINDING_SPAN 1024 /* of ranks in one: a cause is in the middle of it */

/* Findings in their order, in each the cause and then what waits for it; behind them all
 * others.  Within each by congestion. */
static void fields_ports_get_finding(struct value *c, const struct rows *r, uint32_t row)
{
	const struct congestion *g = &r->v->congestion;
	uint32_t at = fields_ports_finding(r, row);

	fields_ports_get_congestion(c, r, row);
	c->rank = c->num < FINDING_SPAN / 2 ? c->num : isnan(c->num) ? NAN : FINDING_SPAN / 2 - 1;
	c->num = NAN;
	if (at == FAB_NONE)
		return;
	c->num = at + 1.0;
	if (g->finding[at].port == fields_ports_of(r, row))
		c->rank = FINDING_SPAN / 2;
	c->rank = (isfinite(c->rank) ? c->rank : 0) + (double)(g->n - at) * FINDING_SPAN;
}

static void fields_ports_get_cause(struct value *c, const struct rows *r, uint32_t row)
{
	const struct fabric *f = r->s->fabric;
	uint32_t at = fields_ports_finding(r, row), port, sw;

	if (at == FAB_NONE)
		return;
	port = r->v->congestion.finding[at].port;
	sw = fabric_port_switch(f, port);
	c->text = port_label(c->buf, sizeof(c->buf), f, sw, port - f->port_off[sw]);
}

GETTER(fields_ports_get_then,
       c->num = field_rate(c, state_rate_then(r->s, fields_ports_of(r, row))))
GETTER(fields_ports_get_change,
       c->num = field_rate(c, state_rate(r->s, fields_ports_of(r, row))) -
		field_rate(c, state_rate_then(r->s, fields_ports_of(r, row))))

/* Figures of routes are of channels between switches. */
static void fields_ports_of_chan(struct value *c, const struct rows *r, uint32_t row,
				 const struct metrics *m, bool effective)
{
	uint32_t chan = fields_ports_hw(r, row)->chan;

	if (!m || chan >= m->nchan || (effective && !m->njob))
		return;
	c->num = (double)(effective ? m->eff_efi : m->efi)[chan];
}

/* NULL: there is no plan, or it is not of what is there now, as after it was applied. */
static const struct metrics *fields_ports_plan_of(const struct rows *r)
{
	return state_plan_ahead(r->s) ? state_plan(r->s)->after : NULL;
}

GETTER(fields_ports_get_efi, fields_ports_of_chan(c, r, row, state_metrics(r->s), false))
GETTER(fields_ports_get_eff, fields_ports_of_chan(c, r, row, state_metrics(r->s), true))

static void fields_ports_get_dark(struct value *c, const struct rows *r, uint32_t row)
{
	fields_ports_of_chan(c, r, row, state_metrics(r->s), true);
	if (!isnan(c->num))
		c->num = c->num < 0.5;
}

GETTER(fields_ports_get_plan_efi, fields_ports_of_chan(c, r, row, fields_ports_plan_of(r), false))
GETTER(fields_ports_get_plan_eff, fields_ports_of_chan(c, r, row, fields_ports_plan_of(r), true))

static const struct link_usage *fields_ports_usage_of(const struct rows *r, uint32_t row)
{
	return fields_ports_hw(r, row)->chan != FAB_NONE ? state_usage(r->s) : NULL;
}

static void fields_ports_get_problem_age(struct value *c, const struct rows *r, uint32_t row)
{
	bool longer;

	if (!r->s->history_at.on)
		c->num = port_problems_age_s(r->v->port_problems, fields_ports_of(r, row),
					     r->s->now_s, &longer);
}

static void fields_ports_get_lanes(struct value *c, const struct rows *r, uint32_t row)
{
	const struct link_usage *u = fields_ports_usage_of(r, row);

	if (u && u->lanes)
		c->num = vl_usage_lanes(u->lanes, fields_ports_hw(r, row)->chan);
}

static void fields_ports_get_lane_use(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_ports_usage_of(r, row) &&
	    chan_lanes_text(c->buf, sizeof(c->buf), r->s, fields_ports_hw(r, row)->chan,
			    VALUE_LEN)[0])
		c->text = c->buf;
}

static void fields_ports_get_njobs(struct value *c, const struct rows *r, uint32_t row)
{
	const struct link_usage *u = fields_ports_usage_of(r, row);
	uint32_t chan = fields_ports_hw(r, row)->chan;

	if (u && u->routes)
		c->num = (double)(u->routes->chan_off[chan + 1] - u->routes->chan_off[chan]);
}

static void fields_ports_get_jobs(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_ports_usage_of(r, row) &&
	    chan_jobs_text(c->buf, sizeof(c->buf), r->s, fields_ports_hw(r, row)->chan,
			   VALUE_LEN)[0])
		c->text = c->buf;
}

static void fields_ports_get_plan_util(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_ports_hw(r, row)->chan != FAB_NONE)
		c->num = chan_planned_util(r->s, fields_ports_hw(r, row)->chan);
}

static void fields_ports_get_counter(struct value *c, const struct rows *r, uint32_t row)
{
	const struct sample *s = r->s->sample;
	const struct port_counters *pc;

	if (!s || s->nport != r->s->fabric->nport)
		return;
	pc = &s->port[fields_ports_of(r, row)];
	if (pc->valid & 1u << c->of)
		c->num = (double)pc->v[c->of];
}

static void fields_ports_get_reply(struct value *c, const struct rows *r, uint32_t row)
{
	const struct sample *s = r->s->sample;

	if (s && s->nport == r->s->fabric->nport)
		c->num = s->port[fields_ports_of(r, row)].valid != 0;
}

GETTER(fields_ports_get_note,
       field_note(c, row_notes_port(r->s->row_notes, r->s->fabric, rows_switch(r, row),
				    (uint8_t)fields_ports_no(r, row))))

/* clang-format off */
#define NOTE { "note", NULL, "note", "", VALUE_TEXT, 0, true, "what was noted on it (:note)", fields_ports_get_note, 0, NEED_FABRIC }

#define ENDS                                                                                       \
	{ "a", "from", "from", "", VALUE_TEXT, 0, true, "sending switch", fields_ports_get_a, 0, NEED_FABRIC },               \
	{ "a_port", NULL, "port", "", VALUE_COUNT, 0, true, "its port", fields_ports_get_a_port, 0, NEED_FABRIC },               \
	{ "a_guid", NULL, "GUID", "", VALUE_GUID, 0, false, "its node GUID", fields_ports_get_a_guid, 0, NEED_FABRIC },          \
	{ "a_lid", NULL, "LID", "", VALUE_COUNT, 0, false, "its LID", fields_ports_get_a_lid, 0, NEED_FABRIC },                  \
	{ "b", "to", "to", "", VALUE_TEXT, 0, true, "node at the other end", fields_ports_get_b, 0, NEED_FABRIC },            \
	{ "b_port", NULL, "port", "", VALUE_COUNT, 0, true, "its port", fields_ports_get_b_port, 0, NEED_FABRIC },               \
	{ "b_guid", NULL, "GUID", "", VALUE_GUID, 0, false, "GUID of that node or host port", fields_ports_get_b_guid, 0, NEED_FABRIC }, \
	{ "b_lid", NULL, "LID", "", VALUE_COUNT, 0, false, "its LID", fields_ports_get_b_lid, 0, NEED_FABRIC }

#define CONDITION                                                                                  \
	{ "tier", NULL, "tier", "", VALUE_TEXT, 0, false, "tier of what is sent", fields_ports_get_tier, 0, NEED_FABRIC },       \
	{ "state", NULL, "state", "", VALUE_TEXT, 0, true, "down, init, armed, active", fields_ports_get_state, 0, NEED_FABRIC }, \
	{ "problem", NULL, "problem", "", VALUE_TEXT, 0, true,                                      \
	  "none, reduced, errors, no reply, down", fields_ports_get_problem, 0, NEED_RATES | NEED_ERRORS },                                  \
	{ "problem_age_s", "since", "since", "s", VALUE_COUNT, 0, false,                            \
	  "age of the problem, at least", fields_ports_get_problem_age, 0, NEED_RATES | NEED_ERRORS },                        \
	{ "speed", NULL, "speed", "", VALUE_TEXT, 0, false, "link speed, SDR to XDR", fields_ports_get_speed, 0, NEED_FABRIC },              \
	{ "width", NULL, "width", "", VALUE_COUNT, 0, false, "width in physical lanes", fields_ports_get_width, 0, NEED_FABRIC },                  \
	{ "vls", NULL, "VLs", "", VALUE_COUNT, 0, false, "operational data VLs", fields_ports_get_vls, 0, NEED_FABRIC },         \
	{ "rate_Mbps", "rate", "rate", "Mb/s", VALUE_COUNT, 0, false,                               \
	  "data rate of one direction", fields_ports_get_rate, 0, NEED_FABRIC }

#define TRAFFIC                                                                                    \
	{ "tx_Bps", "tx", "tx", "B/s", VALUE_NUMBER, 0, true, "data sent", fields_ports_get_figure, RATE(tx_Bps), NEED_RATES | NEED_TRAFFIC },                \
	{ "rx_Bps", "rx", "rx", "B/s", VALUE_NUMBER, 0, true, "data received", fields_ports_get_figure, RATE(rx_Bps), NEED_RATES | NEED_TRAFFIC },            \
	{ "util_pct", "util", "util%", "%", VALUE_NUMBER, 2, true,                                   \
	  "data sent relative to the data rate", fields_ports_get_util, 0, NEED_RATES | NEED_TRAFFIC },                                               \
	{ "wait_pct", "wait", "wait%", "%", VALUE_NUMBER, 2, true,                                   \
	  "time with data to send but no credits (XmitWait)", fields_ports_get_figure, RATE(wait_pct), NEED_RATES | NEED_WAIT },                                  \
	{ "congestion_pct", "congestion", "congestion%", "%", VALUE_NUMBER, 2, false,               \
	  "time with data to send: utilisation and wait together", fields_ports_get_congestion, 0, NEED_RATES | NEED_TRAFFIC | NEED_WAIT },             \
	{ "errors_per_min", "errors", "errors", "/min", VALUE_NUMBER, 2, true,                      \
	  "sum of all error counters", fields_ports_get_figure, RATE(errors_per_min), NEED_RATES | NEED_ERRORS }

#define AGAINST                                                                                    \
	{ "util_then_pct", "utilthen", "then%", "%", VALUE_NUMBER, 2, false,                        \
	  "utilisation at the other moment", fields_ports_get_then, RATE(util_pct), NEED_RATES | NEED_TRAFFIC },                                  \
	{ "util_change_pct", "utilchange", "change", "%", VALUE_NUMBER, 2, false,                       \
	  "utilisation less that of the other moment", fields_ports_get_change, RATE(util_pct), NEED_RATES | NEED_TRAFFIC },                      \
	{ "wait_then_pct", "waitthen", "wait then%", "%", VALUE_NUMBER, 2, false,                   \
	  "wait at the other moment", fields_ports_get_then, RATE(wait_pct), NEED_RATES | NEED_WAIT },                                            \
	{ "wait_change_pct", "waitchange", "wait change", "%", VALUE_NUMBER, 2, false,                  \
	  "wait less that of the other moment", fields_ports_get_change, RATE(wait_pct), NEED_RATES | NEED_WAIT }

#define ROUTES                                                                                     \
	{ "efi", NULL, "EFI", "", VALUE_COUNT, 0, true,                                             \
	  "paths over it, of all pairs of hosts", fields_ports_get_efi, 0, NEED_LFTS },                                      \
	{ "eff_efi", "eff", "job EFI", "", VALUE_COUNT, 0, true,                                    \
	  "paths over it, of pairs of hosts that share a job", fields_ports_get_eff, 0, NEED_LFTS | NEED_JOBS },                                  \
	{ "dark", NULL, "unused", "", VALUE_FLAG, 0, false, "unused: no path of a job crosses it", fields_ports_get_dark, 0, NEED_LFTS | NEED_JOBS }, \
	{ "plan_efi", NULL, "plan EFI", "", VALUE_COUNT, 0, false,                                  \
	  "EFI with the plan", fields_ports_get_plan_efi, 0, NEED_ALL },                                            \
	{ "plan_eff_efi", "plan", "plan", "", VALUE_COUNT, 0, false,                                \
	  "job EFI with the plan", fields_ports_get_plan_eff, 0, NEED_ALL },                                            \
	{ "plan_util_pct", "planutil", "plan util", "%", VALUE_NUMBER, 1, false,                    \
	  "predicted utilisation with the plan", fields_ports_get_plan_util, 0, NEED_ALL },                              \
	{ "lanes", "vl", "VL", "", VALUE_COUNT, 0, false, "virtual lanes (VLs) with paths", fields_ports_get_lanes, 0, NEED_ALL }, \
	{ "lane_use", NULL, "VL use", "", VALUE_TEXT, 0, false, "share of paths on each VL", fields_ports_get_lane_use, 0, NEED_ALL }, \
	{ "njobs", NULL, "jobs", "", VALUE_COUNT, 0, false, "jobs with paths over it", fields_ports_get_njobs, 0, NEED_LFTS | NEED_JOBS }, \
	{ "jobs", "job", "jobs", "", VALUE_TEXT, 0, false, "their ids and shares, largest first", fields_ports_get_jobs, 0, NEED_LFTS | NEED_JOBS }

#define COUNTERS                                                                                   \
	{ "tx_bytes", NULL, "tx bytes", "B", VALUE_COUNT, 0, false, "counter: data sent", fields_ports_get_counter, CTR_TX_BYTES, NEED_TRAFFIC }, \
	{ "rx_bytes", NULL, "rx bytes", "B", VALUE_COUNT, 0, false, "counter: data received", fields_ports_get_counter, CTR_RX_BYTES, NEED_TRAFFIC }, \
	{ "tx_packets", NULL, "tx packets", "", VALUE_COUNT, 0, false, "counter: packets sent", fields_ports_get_counter, CTR_TX_PKTS, NEED_TRAFFIC }, \
	{ "rx_packets", NULL, "rx packets", "", VALUE_COUNT, 0, false, "counter: packets received", fields_ports_get_counter, CTR_RX_PKTS, NEED_TRAFFIC }, \
	{ "tx_wait_ticks", NULL, "wait ticks", "", VALUE_COUNT, 0, false, "counter: PortXmitWait", fields_ports_get_counter, CTR_TX_WAIT, NEED_WAIT }, \
	{ "symbol_errors", NULL, "symbol err", "", VALUE_COUNT, 0, false, "counter: SymbolErrorCounter", fields_ports_get_counter, CTR_SYMBOL_ERR, NEED_ERRORS }, \
	{ "link_recovered", NULL, "recovered", "", VALUE_COUNT, 0, false, "counter: LinkErrorRecoveryCounter", fields_ports_get_counter, CTR_LINK_RECOVERED, NEED_ERRORS }, \
	{ "link_downed", NULL, "downed", "", VALUE_COUNT, 0, false, "counter: LinkDownedCounter", fields_ports_get_counter, CTR_LINK_DOWNED, NEED_ERRORS }, \
	{ "rx_errors", NULL, "rx errors", "", VALUE_COUNT, 0, false, "counter: PortRcvErrors", fields_ports_get_counter, CTR_RX_ERR, NEED_ERRORS }, \
	{ "tx_discards", NULL, "discards", "", VALUE_COUNT, 0, false, "counter: PortXmitDiscards", fields_ports_get_counter, CTR_TX_DISCARD, NEED_ERRORS }, \
	{ "replied", NULL, "replied", "", VALUE_FLAG, 0, false, "its counters were read in the latest poll", fields_ports_get_reply, 0, NEED_ERRORS }

const struct field fields_links[] = {
	{ "link", "name", "link", "", VALUE_TEXT, 0, false, "both ends: leaf1/3 -> spine2/1", fields_ports_get_label, 0, NEED_FABRIC },
	ENDS, CONDITION, TRAFFIC,
	{ "congestion_rank", NULL, "congestion", "", VALUE_COUNT, 0, false, "congestion it is part of (1: the worst), cause first", fields_ports_get_finding, 0, NEED_RATES | NEED_TRAFFIC | NEED_WAIT },
	{ "cause", NULL, "cause", "", VALUE_TEXT, 0, false, "full port that this congestion comes from: leaf1/3 -> spine2/1", fields_ports_get_cause, 0, NEED_RATES | NEED_TRAFFIC | NEED_WAIT },
	AGAINST, ROUTES, COUNTERS, NOTE,
};
FIELDS_END(fields_links);

const struct field fields_ports[] = {
	{ "port", "name", "port", "", VALUE_TEXT, 0, false, "both ends: leaf1/3 -> n0001/1", fields_ports_get_label, 0, NEED_FABRIC },
	ENDS,
	{ "kind", NULL, "kind", "", VALUE_TEXT, 0, true, "kind of the node at the other end: switch, host", fields_ports_get_kind, 0, NEED_FABRIC },
	CONDITION, TRAFFIC, AGAINST, ROUTES, COUNTERS, NOTE,
};
FIELDS_END(fields_ports);
/* clang-format on */
