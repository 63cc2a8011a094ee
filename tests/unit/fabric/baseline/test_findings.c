/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of a fabric that is not as expected, and of counters between two runs. */
#include "fabric/baseline/findings.h"
#include "fabric/baseline/findings_bytes.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/kept_errors.h"

#include "fabric/base/file/store.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Two switches, two hosts; what is changed: see the callers. */
struct shape {
	const char *name2; /* of host 2 */
	const char *speed; /* of the cable between the switches */
	uint8_t port2;	   /* of switch 2, that host 2 is on; 0: it is not there */
	bool cable, third; /* between the switches; a third host */
};

static void add_host(struct builder *b, uint64_t guid, const char *name, uint32_t sw, uint8_t port)
{
	uint32_t id;

	assert_int_equal(builder_node(&id, b, NODE_CA, guid, 1, name, NULL), 0);
	assert_int_equal(builder_port_guid(b, id, 1, guid + 1, NULL), 0);
	assert_int_equal(builder_link(b, id, 1, sw, port, NULL), 0);
}

static struct fabric *shaped(const struct shape *s)
{
	struct builder *b = builder_new();
	uint32_t a, c;
	struct fabric *f;

	assert_int_equal(builder_node(&a, b, NODE_SWITCH, 0x100, 8, "left", NULL), 0);
	assert_int_equal(builder_node(&c, b, NODE_SWITCH, 0x200, 8, "right", NULL), 0);
	add_host(b, 0x10, "n1", a, 1);
	if (s->port2)
		add_host(b, 0x20, s->name2, c, s->port2);
	if (s->third)
		add_host(b, 0x30, "n3", c, 7);
	assert_int_equal(builder_link(b, a, 8, c, 8, NULL), 0);
	if (s->cable) {
		assert_int_equal(builder_link(b, a, 4, c, 4, NULL), 0);
		builder_port_link(b, a, 4, s->speed, NULL);
		builder_port_link(b, c, 4, s->speed, NULL);
	}
	assert_int_equal(builder_freeze(&f, b, NULL, NULL), 0);
	builder_free(b);
	return f;
}

static const struct shape whole = { "n2", "4xEDR", 2, true, false };

/* The texts of what is told, a line each, and how many of them count. */
static char *told_of(const struct shape *now, uint32_t *count)
{
	struct fabric *expected = shaped(&whole), *f = shaped(now);
	struct findings *l = findings_new();
	static char text[1000];

	text[0] = '\0';
	findings_add_fabric(l, expected, f);
	for (size_t i = 0; i < l->n; i++) {
		char *line = finding_text(&l->v[i]);

		strcat(strcat(text, line), "\n");
		free(line);
	}
	*count = findings_count(l);
	findings_put(l);
	fabric_put(expected);
	fabric_put(f);
	return text;
}

static void it_tells_what_has_changed(void **state)
{
	static const struct {
		struct shape now;
		const char *text;
		uint32_t count;
	} all[] = {
		{ { "n2", "4xEDR", 2, true, false }, "", 0 },
		{ { "n2", "4xEDR", 2, false, false }, "cable gone: left/4 - right/4\n", 1 },
		{ { "n2", "4xEDR", 0, true, false }, "host gone: n2\n", 1 },
		{ { "n2", "4xSDR", 2, true, false },
		  "link slower: left/4 - right/4: 4xEDR -> 4xSDR\n",
		  1 },
		{ { "n2", "4xHDR", 2, true, false },
		  "link faster: left/4 - right/4: 4xEDR -> 4xHDR\n",
		  0 },
		{ { "localhost", "4xEDR", 2, true, false }, "renamed: n2 -> localhost\n", 1 },
		{ { "n2", "4xEDR", 5, true, false },
		  "cable moved: right/2 - n2/1 -> right/5 - n2/1\n",
		  1 },
		{ { "n2", "4xEDR", 2, true, true }, "host new: n3\n", 0 },
	};
	uint32_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_string_equal(told_of(&all[i].now, &count), all[i].text);
		assert_int_equal(count, all[i].count);
	}
}

static struct error_set *set_of(uint64_t symbol, uint64_t vl15)
{
	struct error_set *s = error_set_new(2);

	s->port[s->n++] = (struct port_errors){ .guid = 0x11, .port = 1, .host = true };
	s->port[0].v[ERROR_VL15_DROPPED] = vl15;
	s->port[s->n++] = (struct port_errors){ .guid = 0x100, .port = 4 };
	s->port[1].v[ERROR_SYMBOL] = symbol;
	s->time_s = 1790000000;
	error_set_sort(s);
	return s;
}

static uint32_t risen(uint64_t symbol_was, uint64_t symbol, uint64_t vl15_was, uint64_t vl15)
{
	struct error_set *was = set_of(symbol_was, vl15_was), *now = set_of(symbol, vl15);
	struct fabric *f = shaped(&whole);
	struct findings *l = findings_new();
	uint32_t n;

	findings_add_errors(l, was, now, error_limits_default, f);
	n = findings_count(l);
	findings_put(l);
	error_set_put(was);
	error_set_put(now);
	fabric_put(f);
	return n;
}

static void counters_count_where_they_rise_by_more_than_their_limit(void **state)
{
	(void)state;
	assert_int_equal(risen(5, 5, 7, 7), 0);
	assert_int_equal(risen(5, 15, 0, 0), 0);
	assert_int_equal(risen(5, 16, 0, 0), 1);
	assert_int_equal(risen(0, 5000, 0, 300), 2);
	/* somebody has cleared it: what it has since then */
	assert_int_equal(risen(60000, 9, 0, 0), 0);
	assert_int_equal(risen(60000, 11, 0, 0), 1);
}

static void kept_counters_come_back(void **state)
{
	char dir[] = "/tmp/kept.XXXXXX", path[64];
	struct error_set *s = set_of(5000, 300), *back;
	struct err err = { "" };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/errors", dir);
	assert_int_equal(kept_errors_read(&back, path, &err), -ENOENT);
	assert_int_equal(kept_errors_write(path, s, &err), 0);
	assert_int_equal(kept_errors_read(&back, path, &err), 0);
	assert_int_equal(back->n, 2);
	assert_int_equal(back->time_s, s->time_s);
	assert_memory_equal(back->port, s->port, 2 * sizeof(*s->port));
	error_set_put(back);
	error_set_put(s);
	unlink(path);
	/* cut in the middle of a line, of another version, or something else */
	for (int i = 0; i < 4; i++) {
		static const char *const bad[] = { "# ibroute-top errors 1 1\ns 0x100 4 0=5 1",
						   "# ibroute-top errors 2 1\n", "", "x\n" };

		assert_int_equal(store_write(path, bad[i], strlen(bad[i]), &err), 0);
		assert_int_equal(kept_errors_read(&back, path, &err), -EPROTO);
		assert_non_null(strstr(err.text, path));
		unlink(path);
	}
	rmdir(dir);
}

static struct findings *findings_of(enum finding_kind kind, const char *what, const char *subject)
{
	struct findings *l = findings_new();

	l->v = xcalloc(1, sizeof(*l->v));
	l->v[l->n++] = (struct finding){ .kind = kind, .what = what, .subject = xstrdup(subject) };
	l->cap = 1;
	return l;
}

/* A line of cron that looks by way of a collector: its counters are those since its last run. */
static void counters_of_another_list_take_the_place_of_ones_own(void **state)
{
	struct findings *fabric = findings_of(FINDING_GONE, "cable", "leaf1/4 - spine1/1");
	struct findings *counters =
		findings_of(FINDING_ERRORS, error_counter_name(ERROR_SYMBOL), "leaf2/1");
	const struct findings *l = findings_joined(fabric, counters),
			      *m = findings_joined(counters, NULL);

	(void)state;
	assert_int_equal(l->n, 2);
	assert_int_equal(l->v[0].kind, FINDING_GONE);
	assert_string_equal(l->v[0].subject, "leaf1/4 - spine1/1");
	assert_int_equal(l->v[1].kind, FINDING_ERRORS);
	assert_string_equal(l->v[1].subject, "leaf2/1");
	assert_int_equal(m->n, 0);
	findings_put(fabric);
	findings_put(counters);
	findings_put(l);
	findings_put(m);
}

static void findings_come_as_they_were_sent_or_are_refused(void **state)
{
	struct findings *l = findings_of(FINDING_SLOWER, "link", "leaf1/4 - spine1/1");
	const struct findings *got;
	bytes_out out = { 0 };
	struct bytes_in in;
	uint32_t refused = 0;

	(void)state;
	l->v[0].before = xstrdup("100");
	l->since_s = 77;
	l->accepted = true;
	findings_bytes_put(&out, l);
	in = (struct bytes_in){ .at = out.v, .left = out.n };
	assert_int_equal(findings_bytes_take(&got, &in, NULL), 0);
	assert_true(bytes_at_end(&in));
	assert_string_equal(got->v[0].what, "link");
	assert_string_equal(got->v[0].before, "100");
	assert_null(got->v[0].after);
	assert_int_equal(got->since_s, 77);
	assert_true(got->accepted);
	findings_put(got);
	for (size_t at = 0; at < out.n; at++) {
		in = (struct bytes_in){ .at = out.v, .left = at };
		refused += findings_bytes_take(&got, &in, NULL) != 0;
		findings_put(got);
		out.v[at] ^= 0x55;
		in = (struct bytes_in){ .at = out.v, .left = out.n };
		findings_bytes_take(&got, &in, NULL);
		findings_put(got);
		out.v[at] ^= 0x55;
	}
	assert_int_equal(refused, out.n);
	findings_put(l);
	vec_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_what_has_changed),
		cmocka_unit_test(counters_count_where_they_rise_by_more_than_their_limit),
		cmocka_unit_test(kept_counters_come_back),
		cmocka_unit_test(counters_of_another_list_take_the_place_of_ones_own),
		cmocka_unit_test(findings_come_as_they_were_sent_or_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
