/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/fields.h"

#include "fabric/base/text/natural.h"
#include "tests/unit/kit/console_kit.h"
#include "views/data/lists/campaign_list.h"
#include "views/data/lists/session_list.h"
#include "views/data/lists/weak_list.h"
#include "views/data/summary/fabric_summary.h"
#include "views/table/order.h"
#include "views/table/row_filter.h"
#include "views/table/text_order.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct console_kit kit;
static struct fabric_summary survey;
static struct session_row session = { .file = "20261120T234000Z-4740.jsonl",
				      .sid = "20261120T234000Z-4740",
				      .part = 1,
				      .start = "2026-11-20T23:40:00.123Z",
				      .fabric = "hpc1",
				      .uid = 1000,
				      .bytes = 2049,
				      .ok = true,
				      .gaps = 1 };
static struct session_action action = { 7, "23:40:01", "key.action", "preview sar", false };
static struct sessions recorded = { .row = &session, .nrow = 1, .action = &action, .naction = 1 };

static struct weak_part fails = { .chan = 0,
				  .sw = FAB_NONE,
				  .end = WEAK_REPAIRED,
				  .lids = 3,
				  .needed = 4,
				  .changed = 5,
				  .vls = 2,
				  .time = 1.5 };
static struct weak_report failures = { .time = 1.25, .vls = 1, .n = 1, .part = &fails };
static struct weak_list weak = { .report = &failures };

/* Two engines at two steps. */
static double steps[] = { 0, 2.5 };
static uint32_t runs[] = { 3, 4 };
static struct campaign_cell cells[] = {
	{ .n = 10, .good = 10, .figure = { [CAMPAIGN_RETAINED] = 100, [CAMPAIGN_TIME] = 1.5 } },
	{ .n = 10, .good = 9, .figure = { [CAMPAIGN_RETAINED] = 91.25 } },
	{ .n = 10, .good = 10, .figure = { [CAMPAIGN_RETAINED] = 100, [CAMPAIGN_TIME] = 2.5 } },
	{ .n = 10, .good = 10, .adopted = true, .figure = { [CAMPAIGN_RETAINED] = 95 } },
};
static struct campaign_list campaign = { .nway = 2,
					 .nstep = 2,
					 .seeds = 10,
					 .way = { "updn", "nue:4" },
					 .at = steps,
					 .jobs = runs,
					 .cell = cells };

static int open_tree(void **state)
{
	static const uint32_t jobs[] = { 16, 8, 8, 4, 0 };
	struct log_line line = { .time_ns = 1763680742123456789u,
				 .level = LOG_WARN,
				 .area = "sweep",
				 .text = "two switches are gone" };

	(void)state;
	console_open(&kit, 80, 24);
	console_fabric(&kit, "xgft:h=2,m=4x12,w=1x4", jobs);
	console_no_reply(&kit, 3);
	fabric_summary_update(&survey, &kit.s);
	events_add(&kit.events, &line);
	kit.s.sessions = &recorded;
	weak.fabric = kit.fabric;
	kit.s.weak.list = &weak;
	kit.s.campaign.list = &campaign;
	return 0;
}

static int close_tree(void **state)
{
	(void)state;
	fabric_summary_done(&survey);
	console_close(&kit);
	return 0;
}

static struct rows rows(enum row_kind kind)
{
	return (struct rows){ kind, &kit.s, &survey };
}

static const struct field *field(enum row_kind kind, const char *name)
{
	const struct field *f = field_find(kind, name, strlen(name));

	if (!f)
		fail_msg("no field %s", name);
	return f;
}

static struct value get(enum row_kind kind, const char *name, uint32_t row)
{
	struct rows r = rows(kind);
	struct value c;

	field_get(&c, field(kind, name), &r, row);
	return c;
}

static const char *text(enum row_kind kind, const char *name, uint32_t row)
{
	static char buf[VALUE_LEN];
	static struct value c;

	/* not get(): a text may be inside the value */
	struct rows r = rows(kind);

	field_get(&c, field(kind, name), &r, row);
	return value_text(buf, &c, field(kind, name));
}

static bool unit_in_name(const struct field *f)
{
	static const char *const ends[][2] = { { "%", "_pct" },	    { "B/s", "_Bps" },
					       { "Mb/s", "_Mbps" }, { "/min", "_per_min" },
					       { "s", "_s" },	    { "B", "_bytes" },
					       { "", "" } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(f->unit, ends[i][0]) && strlen(f->name) > strlen(ends[i][1]) &&
		    !strcmp(f->name + strlen(f->name) - strlen(ends[i][1]), ends[i][1]))
			return true;
	return false;
}

static void names_are_one_word_with_their_unit_and_only_once(void **state)
{
	(void)state;
	for (enum row_kind k = 0; k < ROW_KINDS; k++) {
		size_t n;
		const struct field *f = fields_of(k, &n);

		assert_int_equal(row_kind_find(row_kind_name(k)), k);
		for (size_t i = 0; i < n; i++) {
			for (const char *c = f[i].name; *c; c++)
				assert_true(isalnum((unsigned char)*c) || *c == '_');
			assert_true(unit_in_name(&f[i]));
			assert_true(f[i].title[0] && f[i].about[0]);
			for (size_t j = 0; j < n; j++) {
				assert_true(i == j || strcasecmp(f[i].name, f[j].name) != 0);
				if (i != j && f[i].alias)
					assert_true(strcasecmp(f[i].alias, f[j].name) != 0 &&
						    (!f[j].alias ||
						     strcasecmp(f[i].alias, f[j].alias) != 0));
			}
			assert_ptr_equal(field_find(k, f[i].name, strlen(f[i].name)), &f[i]);
			if (f[i].alias)
				assert_ptr_equal(field_find(k, f[i].alias, strlen(f[i].alias)),
						 &f[i]);
		}
	}
	assert_int_equal(row_kind_find("cables"), ROW_KINDS);
	assert_null(field_find(ROWS_LINKS, "nodes", 5));
	assert_string_equal(field_guess(ROWS_LINKS, "erors", 5), "errors_per_min");
	assert_string_equal(field_guess(ROWS_LINKS, "tx_by", 5), "tx_Bps");
	assert_string_equal(field_guess(ROWS_LINKS, "symbol", 6), "symbol_errors");
	assert_null(field_guess(ROWS_LINKS, "qwertyuiop", 10));
}

static void every_cell_of_every_row_can_be_had(void **state)
{
	uint64_t known = 0;

	(void)state;
	for (enum row_kind k = 0; k < ROW_KINDS; k++) {
		struct rows r = rows(k);
		size_t n;
		const struct field *f = fields_of(k, &n);

		assert_true(rows_count(&r) > 0);
		for (uint32_t i = 0; i < rows_count(&r); i++) {
			char buf[VALUE_LEN];

			assert_true(rows_label(buf, &r, i)[0]);
			for (size_t j = 0; j < n; j++) {
				struct value c;

				field_get(&c, &f[j], &r, i);
				known += value_known(&c, &f[j]);
				assert_int_equal(value_known(&c, &f[j]),
						 value_text(buf, &c, &f[j])[0] != '\0');
			}
		}
	}
	assert_true(known > 1000);
}

static void links_say_what_fabric_rates_and_figures_say(void **state)
{
	const struct fabric *f = kit.fabric;
	uint32_t c = f->chan_off[2] + 1, p = chan_fabric_port(f, c);
	char name[NAME_LEN], guid[24];

	(void)state;
	assert_string_equal(text(ROWS_LINKS, "a", c), switch_label(name, NAME_LEN, f, 2));
	assert_string_equal(text(ROWS_LINKS, "b", c),
			    switch_label(name, NAME_LEN, f, f->chan_dst[c]));
	assert_int_equal(get(ROWS_LINKS, "a_port", c).num, f->chan_port[c]);
	assert_int_equal(get(ROWS_LINKS, "b_port", c).num, f->chan_rport[c]);
	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)f->sw_guid[2]);
	assert_string_equal(text(ROWS_LINKS, "a_guid", c), guid);
	assert_true(get(ROWS_LINKS, "util", c).num == state_rate(&kit.s, p)->util_pct);
	assert_true(get(ROWS_LINKS, "tx", c).num == state_rate(&kit.s, p)->tx_Bps);
	assert_true(get(ROWS_LINKS, "efi", c).num == (double)kit.metrics->efi[c]);
	assert_true(get(ROWS_LINKS, "eff", c).num == (double)kit.metrics->eff_efi[c]);
	assert_true(get(ROWS_LINKS, "tx_bytes", c).num ==
		    (double)kit.samples[1]->port[p].v[CTR_TX_BYTES]);
	assert_false(isfinite(get(ROWS_LINKS, "tx_discards", c).num)); /* nobody reported it */
	assert_string_equal(text(ROWS_LINKS, "state", c), "active");
	/* the same port as a row of ports */
	assert_string_equal(text(ROWS_PORTS, "kind", p), "switch");
	assert_true(get(ROWS_PORTS, "efi", p).num == (double)kit.metrics->efi[c]);
	for (uint32_t t = 0; t < f->nterm; t++) {
		uint32_t i = f->port_off[f->term_sw[t]] + f->term_port[t];

		assert_string_equal(text(ROWS_PORTS, "b", i), f->term_name[t]);
		assert_int_equal(get(ROWS_PORTS, "a_lid", i).num, f->sw_lid[f->term_sw[t]]);
		assert_int_equal(get(ROWS_PORTS, "b_lid", i).num, f->term_lid[t]);
		assert_false(isfinite(get(ROWS_PORTS, "efi", i).num));
	}
}

static void rates_are_held_against_those_of_another_moment(void **state)
{
	const struct fabric *f = kit.fabric;
	uint32_t c = f->chan_off[2] + 1, p = chan_fabric_port(f, c);
	struct port_rate then[4096] = { 0 };
	struct rates r = { .nport = f->nport, .port = then };

	(void)state;
	assert_true(f->nport <= 4096);
	assert_false(isfinite(get(ROWS_LINKS, "util_change_pct", c).num));
	then[p].util_pct = 30;
	then[p].wait_pct = NAN;
	kit.s.against = &r;
	assert_true(get(ROWS_LINKS, "util_then_pct", c).num == 30);
	assert_true(get(ROWS_LINKS, "util_change_pct", c).num ==
		    state_rate(&kit.s, p)->util_pct - 30);
	assert_true(get(ROWS_PORTS, "util_change_pct", p).num ==
		    state_rate(&kit.s, p)->util_pct - 30);
	assert_false(isfinite(get(ROWS_LINKS, "wait_change_pct", c).num));
	/* of a switch, that of the busiest port then, which may be another one */
	assert_true(get(ROWS_SWITCHES, "util_then_pct", 2).num == 30);
	assert_true(get(ROWS_SWITCHES, "util_change_pct", 2).num ==
		    get(ROWS_SWITCHES, "util_pct", 2).num - 30);
	r.nport--; /* of another fabric */
	assert_false(isfinite(get(ROWS_LINKS, "util_then_pct", c).num));
	assert_false(isfinite(get(ROWS_SWITCHES, "util_then_pct", 2).num));
	assert_false(isfinite(get(ROWS_SWITCHES, "util_change_pct", 2).num));
	kit.s.against = NULL;
}

/* Ports of hosts carry 1000 B/s each, channels between switches 10 %. */
static void jobs_are_held_against_another_moment(void **state)
{
	struct port_rate then[4096] = { 0 };
	struct rates r = { .nport = kit.fabric->nport, .port = then };
	uint32_t hosts = kit.jobs->jobs[0].nterm;
	double now;

	(void)state;
	assert_true(kit.fabric->nport <= 4096);
	assert_false(isfinite(get(ROWS_JOBS, "tx_then_Bps", 0).num));
	assert_false(isfinite(get(ROWS_JOBS, "util_then_pct", 0).num));
	for (uint32_t p = 0; p < kit.fabric->nport; p++)
		then[p] = (struct port_rate){ .rx_Bps = 1000, .util_pct = 10 };
	kit.s.against = &r;
	kit.s.against_s = kit.s.now_s;
	fabric_summary_update(&survey, &kit.s);
	now = get(ROWS_JOBS, "tx_Bps", 0).num;
	assert_true(isfinite(now));
	assert_true(get(ROWS_JOBS, "tx_then_Bps", 0).num == 1000.0 * hosts);
	assert_true(get(ROWS_JOBS, "tx_change_Bps", 0).num == now - 1000.0 * hosts);
	assert_true(get(ROWS_JOBS, "util_then_pct", 0).num == 10);
	assert_true(get(ROWS_JOBS, "util_change_pct", 0).num ==
		    get(ROWS_JOBS, "util_max_pct", 0).num - 10);
	for (uint32_t p = 0; p < kit.fabric->nport; p++)
		then[p].util_pct = 20;
	kit.s.against_s--; /* another moment: what was kept is made again */
	fabric_summary_update(&survey, &kit.s);
	assert_true(get(ROWS_JOBS, "util_then_pct", 0).num == 20);
	kit.s.against_s = kit.jobs->jobs[0].start_s - 1; /* it had not begun */
	assert_false(isfinite(get(ROWS_JOBS, "tx_then_Bps", 0).num));
	kit.s.against = NULL;
	fabric_summary_update(&survey, &kit.s);
	assert_false(isfinite(get(ROWS_JOBS, "util_then_pct", 0).num));
}

static void switches_sum_up_their_ports(void **state)
{
	const struct fabric *f = kit.fabric;

	(void)state;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		double most = NAN, sum = NAN;
		uint64_t efi = 0;

		for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
			const struct port_rate *r = state_rate(&kit.s, f->port_off[sw] + p);

			if (isnan(r->util_pct))
				continue;
			most = isnan(most) ? r->util_pct : fmax(most, r->util_pct);
			sum = isnan(sum) ? r->tx_Bps : sum + r->tx_Bps;
		}
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			efi = kit.metrics->efi[c] > efi ? kit.metrics->efi[c] : efi;
		assert_true(get(ROWS_SWITCHES, "util", sw).num == most);
		assert_true(get(ROWS_SWITCHES, "tx", sw).num == sum);
		assert_true(get(ROWS_SWITCHES, "efi", sw).num == (double)efi);
	}
}

static void events_have_a_time(void **state)
{
	(void)state;
	assert_string_equal(text(ROWS_EVENTS, "ts", 0), "2025-11-20T23:19:02.123Z");
	assert_string_equal(text(ROWS_EVENTS, "level", 0), "warn");
	assert_string_equal(text(ROWS_EVENTS, "area", 0), "sweep");
}

static void sessions_have_a_verdict_and_unknown_is_not_zero(void **state)
{
	(void)state;
	assert_string_equal(text(ROWS_SESSIONS, "record", 0), "intact, with gaps");
	assert_string_equal(text(ROWS_SESSIONS, "size", 0), "3");
	assert_string_equal(text(ROWS_SESSIONS, "user", 0), "1000");
	assert_true(isnan(get(ROWS_SESSIONS, "epoch", 0).num));
	assert_string_equal(text(ROWS_SESSIONS, "end", 0), "");
	assert_string_equal(text(ROWS_ACTIONS, "text", 0), "preview sar");
	session.ok = false;
	assert_string_equal(text(ROWS_SESSIONS, "record", 0), "CHANGED");
	session.ok = true;
}

static void check_order(const struct row_order *o, enum row_kind kind, const char *name,
			bool reverse)
{
	bool unknown = false;

	for (uint32_t i = 0; i < o->n; i++) {
		double v = get(kind, name, o->row[i]).num, before;

		if (isnan(v)) {
			unknown = true;
			continue;
		}
		assert_false(unknown); /* they are last */
		before = i ? get(kind, name, o->row[i - 1]).num : v;
		assert_true(reverse ? before <= v : before >= v);
	}
	assert_true(unknown);
}

static void cells_go_engine_by_engine_and_routings_by_moment(void **state)
{
	char buf[VALUE_LEN];
	struct rows r = rows(ROWS_CELLS);

	(void)state;
	assert_int_equal(rows_count(&r), 4);
	assert_string_equal(text(ROWS_CELLS, "engine", 1), "updn");
	assert_string_equal(text(ROWS_CELLS, "retained", 1), "91.2");
	assert_string_equal(text(ROWS_CELLS, "usable", 1), "9");
	assert_string_equal(rows_label(buf, &r, 3), "nue:4 2.5 %");
	campaign.kind = CAMPAIGN_REPLAY;
	kit.s.campaign.step = 1;
	r = rows(ROWS_ROUTINGS);
	assert_int_equal(rows_count(&r), 2);
	assert_string_equal(text(ROWS_ROUTINGS, "adopted", 1), "yes");
	kit.s.campaign.step = 0;
	assert_string_equal(text(ROWS_ROUTINGS, "time", 1), "2.500");
	campaign.kind = CAMPAIGN_FAILURES;
}

static void failures_have_what_their_repair_costs(void **state)
{
	(void)state;
	assert_string_equal(text(ROWS_FAILURES, "kind", 0), "cable");
	assert_string_equal(text(ROWS_FAILURES, "rise", 0), "20.0");
	assert_string_equal(text(ROWS_FAILURES, "entries", 0), "5");
	assert_string_equal(text(ROWS_FAILURES, "needed", 0), "4");
	assert_string_equal(text(ROWS_FAILURES, "after", 0), "repaired");
	fails.end = WEAK_CUT;
	assert_string_equal(text(ROWS_FAILURES, "rise", 0), "");
	assert_string_equal(text(ROWS_FAILURES, "time", 0), "");
	fails.end = WEAK_REPAIRED;
}

static void rows_are_sorted_by_any_field(void **state)
{
	struct rows r = rows(ROWS_LINKS);
	struct row_order o = { 0 };
	const struct fabric *f = kit.fabric;

	(void)state;
	rows_select(&o, &r, NULL, field(ROWS_LINKS, "util"), false);
	assert_int_equal(o.n, f->nchan);
	check_order(&o, ROWS_LINKS, "util", false);
	rows_select(&o, &r, NULL, field(ROWS_LINKS, "util"), true);
	check_order(&o, ROWS_LINKS, "util", true);
	rows_select(&o, &r, NULL, field(ROWS_LINKS, "b"), false);
	for (uint32_t i = 1; i < o.n; i++) {
		char a[NAME_LEN], b[NAME_LEN];

		switch_label(a, sizeof(a), f, f->chan_dst[o.row[i - 1]]);
		switch_label(b, sizeof(b), f, f->chan_dst[o.row[i]]);
		assert_true(natural_cmp(a, b) <= 0);
	}
	r = rows(ROWS_SWITCHES);
	rows_select(&o, &r, NULL, field(ROWS_SWITCHES, "guid"), true);
	assert_int_equal(o.n, f->nsw);
	for (uint32_t i = 0; i < o.n; i++)
		assert_int_equal(o.row[i], f->nsw - 1 - i);
	row_order_done(&o);
}

/* Ranks against the order that few rows are brought into, text by text. */
static void check_ranks(enum row_kind kind, const struct field *f)
{
	struct rows r = rows(kind);
	struct row_order o = { 0 };
	struct text_order by = { 0 };
	uint32_t all = rows_count(&r), *natural = calloc(all + 1, sizeof(*natural));
	const uint32_t *rank;

	assert_true(all < 1000); /* more would be put in order by ranks already */
	for (uint32_t i = 0; i < all; i++)
		natural[i] = all - 1 - i;
	rank = text_order(&by, &r, all, f, natural);
	rows_select(&o, &r, NULL, f, false);
	for (uint32_t i = 1; i < o.n; i++) {
		struct value a, b;

		field_get(&a, f, &r, o.row[i - 1]);
		field_get(&b, f, &r, o.row[i]);
		if (!b.text)
			assert_int_equal(rank[o.row[i]], TEXT_ORDER_NONE);
		else
			assert_int_equal(rank[o.row[i]] > rank[o.row[i - 1]],
					 natural_cmp(a.text, b.text) < 0);
		assert_true(rank[o.row[i]] >= rank[o.row[i - 1]]);
	}
	row_order_done(&o);
	text_order_done(&by);
	free(natural);
}

static void ranks_of_texts_are_in_the_order_of_texts(void **state)
{
	static const enum row_kind kinds[] = { ROWS_LINKS, ROWS_PORTS, ROWS_SWITCHES };
	unsigned checked = 0;

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		size_t n;
		const struct field *f = fields_of(kinds[k], &n);

		for (size_t i = 0; i < n; i++)
			if (f[i].kind == VALUE_TEXT) {
				check_ranks(kinds[k], &f[i]);
				checked++;
			}
	}
	assert_true(checked > 20);
}

static void ranks_are_kept_while_the_texts_are_the_same(void **state)
{
	struct rows r = rows(ROWS_LINKS);
	struct text_order by = { 0 };
	uint32_t *natural = calloc(kit.fabric->nchan + 1, sizeof(*natural)), port;
	const uint32_t *rank;

	(void)state;
	for (uint32_t i = 0; i < kit.fabric->nchan; i++)
		natural[i] = i;
	rank = text_order(&by, &r, kit.fabric->nchan, field(ROWS_LINKS, "link"), natural);
	by.rank[0] = 123456;
	assert_int_equal(
		text_order(&by, &r, kit.fabric->nchan, field(ROWS_LINKS, "link"), natural)[0],
		123456);
	rank = text_order(&by, &r, kit.fabric->nchan, field(ROWS_LINKS, "b"), natural);
	assert_true(rank[0] < kit.fabric->nsw);
	/* a problem may come with any sample */
	port = chan_fabric_port(kit.fabric, 7);
	rank = text_order(&by, &r, kit.fabric->nchan, field(ROWS_LINKS, "problem"), natural);
	assert_int_equal(survey.problem[port], PROBLEM_NONE);
	assert_int_equal(rank[7], rank[8]);
	survey.problem[port] = PROBLEM_DOWN;
	rank = text_order(&by, &r, kit.fabric->nchan, field(ROWS_LINKS, "problem"), natural);
	assert_true(rank[7] < rank[8]); /* down, none */
	survey.problem[port] = PROBLEM_NONE;
	text_order_done(&by);
	free(natural);
}

static void without_a_field_rows_are_in_the_order_of_names(void **state)
{
	struct rows r = rows(ROWS_PORTS);
	struct row_order o = { 0 };
	struct row_filter *filter;

	(void)state;
	rows_select(&o, &r, NULL, NULL, false);
	assert_int_equal(o.n, kit.fabric->nchan + kit.fabric->nterm);
	for (uint32_t i = 1; i < o.n; i++) {
		char a[VALUE_LEN], b[VALUE_LEN];

		assert_true(natural_cmp(rows_label(a, &r, o.row[i - 1]),
					rows_label(b, &r, o.row[i])) < 0);
	}
	assert_int_equal(row_filter_new(&filter, ROWS_PORTS, "kind=host", NULL, NULL), 0);
	rows_select(&o, &r, filter, NULL, true);
	assert_int_equal(o.n, kit.fabric->nterm);
	for (uint32_t i = 1; i < o.n; i++) {
		char a[VALUE_LEN], b[VALUE_LEN];

		assert_true(natural_cmp(rows_label(a, &r, o.row[i - 1]),
					rows_label(b, &r, o.row[i])) > 0);
	}
	row_filter_free(filter);
	row_order_done(&o);
}

static void nothing_known_means_no_rows(void **state)
{
	struct fabric_summary v = { 0 };
	struct state s;

	(void)state;
	state_init(&s);
	fabric_summary_update(&v, &s);
	for (enum row_kind k = 0; k < ROW_KINDS; k++) {
		struct rows r = { k, &s, &v };
		struct row_order o = { 0 };

		assert_int_equal(rows_count(&r), 0);
		rows_select(&o, &r, NULL, NULL, false);
		assert_int_equal(o.n, 0);
		row_order_done(&o);
	}
	fabric_summary_done(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_one_word_with_their_unit_and_only_once),
		cmocka_unit_test(every_cell_of_every_row_can_be_had),
		cmocka_unit_test(links_say_what_fabric_rates_and_figures_say),
		cmocka_unit_test(rates_are_held_against_those_of_another_moment),
		cmocka_unit_test(jobs_are_held_against_another_moment),
		cmocka_unit_test(switches_sum_up_their_ports),
		cmocka_unit_test(events_have_a_time),
		cmocka_unit_test(sessions_have_a_verdict_and_unknown_is_not_zero),
		cmocka_unit_test(failures_have_what_their_repair_costs),
		cmocka_unit_test(cells_go_engine_by_engine_and_routings_by_moment),
		cmocka_unit_test(rows_are_sorted_by_any_field),
		cmocka_unit_test(ranks_of_texts_are_in_the_order_of_texts),
		cmocka_unit_test(ranks_are_kept_while_the_texts_are_the_same),
		cmocka_unit_test(without_a_field_rows_are_in_the_order_of_names),
		cmocka_unit_test(nothing_known_means_no_rows),
	};

	return cmocka_run_group_tests(tests, open_tree, close_tree);
}
