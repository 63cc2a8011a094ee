/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of before on the fabric as it is now: what is named, what stands, of real fabrics, too. */
#include "fabric/model/tables/carry.h"

#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/later_state.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct tables *carried(const struct fabric *now, const struct fabric *f,
			      const struct tables *t, struct carry_report *report)
{
	struct endports *was = endports_of(f);
	struct tables *out;
	struct err err;

	if (tables_carry(&out, now, t, was, report, &err))
		fail_msg("%s", err.text);
	endports_put(was);
	return out;
}

static uint32_t switch_now(const struct fabric *now, const struct fabric *f, uint32_t sw)
{
	return fabric_switch_by_guid(now, f->sw_guid[sw]);
}

/* Does the entry lead over the cable over which it led before? */
static bool leads_as_before(const struct fabric *now, const struct fabric *f, uint32_t sw,
			    uint8_t port)
{
	uint32_t c = fabric_chan(f, sw, port), d = fabric_chan(now, switch_now(now, f, sw), port);

	if (c == FAB_NONE)
		return true; /* to a host, or to itself */
	return d != FAB_NONE && now->sw_guid[now->chan_dst[d]] == f->sw_guid[f->chan_dst[c]];
}

/* Entry by entry, of every host that is in both: its LID may be another. */
static uint64_t compare(const struct fabric *now, const struct tables *u, const struct fabric *f,
			const struct tables *t)
{
	uint64_t none = 0;

	for (uint32_t e = 0; e < now->nend; e++) {
		uint32_t old = fabric_term_by_guid(f, now->term_guid[e]);

		for (uint32_t sw = 0; sw < f->nsw; sw++) {
			uint32_t s = switch_now(now, f, sw);
			uint8_t was, is;

			if (s == FAB_NONE)
				continue;
			was = tables_row(t, sw)[f->term_lid[old]];
			is = tables_row(u, s)[now->term_lid[e]];
			if (fabric_chan(f, sw, was) == FAB_NONE)
				continue;
			assert_int_equal(is, leads_as_before(now, f, sw, was) ? was : FAB_NO_PORT);
			none += is == FAB_NO_PORT;
		}
	}
	return none;
}

static void everything_happens_to(const struct fabric *given)
{
	struct fabric *f = later_state(given, &LATER_NOTHING), *now;
	struct tables *t = even_paths(f), *u;
	uint32_t cable = later_cable(f, 5);
	struct later how = LATER_NOTHING;
	struct carry_report r;
	char text[200];

	now = later_without(f, &cable, 1);
	u = carried(now, f, t, &r);
	carry_report_text(text, sizeof(text), &r);
	assert_string_equal(text, "1 cable gone");
	snprintf(text, sizeof(text), "%s/%u", f->sw_name[f->chan_src[cable]], f->chan_port[cable]);
	assert_non_null(strstr(r.gone, text));
	snprintf(text, sizeof(text), "%s/%u", f->sw_name[f->chan_dst[cable]], f->chan_rport[cable]);
	assert_non_null(strstr(r.gone, text));
	assert_true(compare(now, u, f, t) > 0);
	tables_put(u);
	fabric_put(now);

	how.sw_gone = f->nsw - 1;
	how.end_gone = 0;
	how.shift = 11;
	now = later_state(f, &how);
	u = carried(now, f, t, &r);
	assert_int_equal(r.switches_away, 1);
	assert_int_equal(r.away, 1 + f->sw_nterm[f->nsw - 1]);
	assert_int_equal(r.relabelled, now->nend);
	snprintf(text, sizeof(text), "switch 0x%016lx", (unsigned long)f->sw_guid[f->nsw - 1]);
	assert_non_null(strstr(r.gone, text));
	snprintf(text, sizeof(text), "port 0x%016lx", (unsigned long)f->term_guid[0]);
	assert_non_null(strstr(r.gone, text));
	compare(now, u, f, t);
	tables_put(u);
	fabric_put(now);
	tables_put(t);
	fabric_put(f);
}

static void what_stands_and_what_has_gone(void **state)
{
	static const char *const nets[] = { "fattree2:leaves=6,spines=4,hosts=4",
					    "torus:dims=4x4,hosts=1", "dragonfly:p=2",
					    "hyperx:dims=4x4,hosts=2" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i]);

		everything_happens_to(f);
		fabric_put(f);
	}
}

static void of_real_fabrics(void **state)
{
	static const char *const names[] = { "psmn-x5-2020.ibnetdiscover",
					     "kalcher-qdr-2014.ibnetdiscover" };
	struct freeze_opts opts = { .lmc = -1 };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = shared_file(names[i]);
		struct builder *b;
		struct fabric *f;
		FILE *in;

		if (!path)
			skip();
		in = fopen(path, "r");
		assert_int_equal(ibnd_read(&b, in, path, NULL, NULL), 0);
		assert_int_equal(builder_freeze(&f, b, &opts, NULL), 0);
		builder_free(b);
		fclose(in);
		free(path);
		everything_happens_to(f);
		fabric_put(f);
	}
}

/* As switches hold them: entries over cables that have gone stay. */
static struct tables *as_read(const struct fabric *now, const struct fabric *f,
			      const struct tables *t)
{
	struct tables *read = tables_new(now, TABLES_WIRE);

	for (uint32_t sw = 0; sw < now->nsw; sw++)
		memcpy(tables_row(read, sw),
		       tables_row(t, fabric_switch_by_guid(f, now->sw_guid[sw])),
		       now->max_lid + 1u);
	return read;
}

/* Which tells the SLs of what is read, as long as nobody else has written. */
static void what_switches_hold_is_known_again(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"), *now[2];
	struct later how = LATER_NOTHING;
	struct tables *t = even_paths(f);
	uint32_t cable = later_cable(f, 5);

	(void)state;
	tables_sl_form(t, SL_BY_DLID, f);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		t->sl[lid] = (uint8_t)(lid % 3);
	how.sw_gone = f->nsw - 1;
	now[0] = later_without(f, &cable, 1);
	now[1] = later_state(f, &how);
	for (int i = 0; i < 2; i++) {
		struct tables *u = carried(now[i], f, t, NULL), *read = as_read(now[i], f, t);
		uint8_t *entry = tables_row(read, now[i]->term_sw[0]) + now[i]->sw_lid[1];

		*entry ^= 1;
		assert_false(carry_take_lfts(u, now[i], read));
		*entry ^= 1;
		assert_true(carry_take_lfts(u, now[i], read));
		for (uint32_t sw = 0; sw < now[i]->nsw; sw++)
			assert_memory_equal(tables_row(u, sw), tables_row(read, sw),
					    now[i]->max_lid + 1u);
		for (uint32_t e = 0; e < now[i]->nend; e++)
			assert_int_equal(
				tables_path_sl(u, 0, now[i]->term_sw[0], now[i]->term_lid[e]),
				now[i]->term_lid[e] % 3);
		tables_put(read);
		tables_put(u);
		fabric_put(now[i]);
	}
	tables_put(t);
	fabric_put(f);
}

/* More than five: the first ones, and how many more. */
static void many_are_counted(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=4,hosts=4"), *now;
	struct tables *t = even_paths(f), *u;
	struct carry_report r;
	uint32_t c[8], n = 0;

	(void)state;
	for (uint32_t sw = 0; sw < f->nsw && n < 8; sw++)
		if (f->sw_nterm[sw] && n < 6)
			c[n++] = f->chan_off[sw];
	now = later_without(f, c, n);
	u = carried(now, f, t, &r);
	assert_int_equal(r.cables_away, 6);
	assert_non_null(strstr(r.gone, " and 1 more"));
	assert_null(strstr(r.gone, "and 1 more,"));
	tables_put(u);
	tables_put(t);
	fabric_put(now);
	fabric_put(f);
}

/* Generated fabrics have the same GUIDs. */
static void tables_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"), *g = net_spec("torus:dims=6x6,hosts=2");
	struct endports *was = endports_of(f);
	struct tables *t = even_paths(f), *u;
	struct err err;

	(void)state;
	assert_int_equal(tables_carry(&u, g, t, was, NULL, &err), -ESTALE);
	assert_non_null(strstr(err.text, "for another fabric"));
	endports_put(was);
	tables_put(t);
	fabric_put(g);
	fabric_put(f);
}

/* The dump names the ports behind its LIDs. */
static void a_dump_is_followed_to_other_lids(void **state)
{
	struct fabric *net = net_spec("torus:dims=4x4,hosts=2"), *f, *now;
	struct later how = LATER_NOTHING;
	struct tables *t, *u;
	struct read_report report;
	struct err err;
	char *text;
	FILE *in;

	(void)state;
	f = later_state(net, &LATER_NOTHING);
	t = even_paths(f);
	how.shift = 9;
	now = later_state(f, &how);
	text = text_of(osm_lfts_write, f, t);
	in = text_file(text, strlen(text));
	if (osm_lfts_read(&u, in, "dump", now, &report, &err))
		fail_msg("%s", err.text);
	fclose(in);
	assert_int_equal(compare(now, u, f, t), 0);
	assert_int_equal(report.warnings, 1);
	assert_non_null(strstr(report.notes[0].text, "followed by GUID"));
	free(text);
	tables_put(u);
	tables_put(t);
	fabric_put(now);
	fabric_put(f);
	fabric_put(net);
}

/* Nobody had an entry for it; one that was cut off is refused as before. */
static void a_dump_from_before_a_switch_came(void **state)
{
	struct fabric *net = net_spec("fattree2:leaves=6,spines=4,hosts=4"), *less;
	struct fabric *f = later_state(net, &LATER_NOTHING);
	struct later how = LATER_NOTHING;
	struct read_report report;
	struct tables *t, *u;
	struct err err;
	char *text, *cut;
	FILE *in;

	(void)state;
	how.sw_gone = f->nsw - 1;
	less = later_state(f, &how);
	t = even_paths(less);
	text = text_of(osm_lfts_write, less, t);
	in = text_file(text, strlen(text));
	if (osm_lfts_read(&u, in, "dump", f, &report, &err))
		fail_msg("%s", err.text);
	fclose(in);
	assert_non_null(strstr(report.notes[0].text, "is newer than the tables"));
	tables_put(u);
	free(text);
	tables_put(t);

	t = even_paths(f);
	text = text_of(osm_lfts_write, f, t);
	cut = text;
	for (char *at = text; (at = strstr(at, "Unicast lids")); at++)
		cut = at;
	*cut = '\0'; /* the last switch's */
	in = text_file(text, strlen(text));
	assert_int_equal(osm_lfts_read(&u, in, "dump", f, &report, &err), -ENODATA);
	fclose(in);
	free(text);
	tables_put(t);
	fabric_put(less);
	fabric_put(f);
	fabric_put(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_and_what_has_gone),
		cmocka_unit_test(of_real_fabrics),
		cmocka_unit_test(what_switches_hold_is_known_again),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
		cmocka_unit_test(a_dump_is_followed_to_other_lids),
		cmocka_unit_test(a_dump_from_before_a_switch_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
