/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns: what comes back, to how many digits, and what is refused. */
#include "console/session/samples/sample_columns.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fabric *f;

static struct fabric *fabric_of(const char *spec)
{
	struct freeze_opts opts = { .name = "hpc1", .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *made = NULL;

	assert_int_equal(topo_build(&b, spec, NULL), 0);
	assert_int_equal(builder_freeze(&made, b, &opts, NULL), 0);
	builder_free(b);
	return made;
}

static int begin(void **state)
{
	(void)state;
	f = fabric_of("fattree2:leaves=5,spines=3,hosts=7"); /* not a multiple of a chunk */
	return 0;
}

static int end(void **state)
{
	(void)state;
	fabric_put(f);
	return 0;
}

/* After before, 2 s later; NULL: of a machine that has long been up.  Now and then one is cleared,
 * stands still, or was not asked. */
static struct sample *sample_after(const struct sample *before, struct rng *rng)
{
	struct sample *s = sample_new(f);

	s->time_ns = before ? before->time_ns + 2000000123 : 86400000000123;
	s->took_ns = 1234567;
	s->asked = s->nport;
	s->answered = s->nport - 1;
	for (uint32_t i = 0; i < s->nport; i++) {
		struct port_counters *p = &s->port[i];

		if (before)
			*p = before->port[i];
		if (!rng_below(rng, 20))
			continue;
		p->time_ns =
			(s->time_ns / SAMPLE_COLUMNS_NS + rng_below(rng, 90)) * SAMPLE_COLUMNS_NS;
		p->valid = rng_below(rng, 50) ? 0x3ff : 0;
		p->wide = 0x1f;
		for (int c = 0; c <= CTR_TX_WAIT; c++)
			p->v[c] +=
				before ? rng_below(rng, 1ull << (10 + 6 * c)) : rng_u64(rng) >> 16;
		p->v[CTR_SYMBOL_ERR] += rng_below(rng, 3);
		if (!rng_below(rng, 100))
			p->v[CTR_RX_PKTS] = 3;
	}
	return s;
}

static struct columns_code code_of(const struct sample *s)
{
	struct columns_code c = { 0 };

	c.byte = sample_columns_encode(&c.len, s);
	return c;
}

static struct columns_code rounded(struct columns_code s, struct columns_code before,
				   struct columns_code base)
{
	struct columns_code c = { 0 };

	c.byte = sample_columns_rounded(&c.len, s, before, base);
	return c;
}

static struct sample *decoded(struct columns_code c, const struct sample *base)
{
	return sample_columns_decode(f, base, c.byte, c.len);
}

static void drop(struct columns_code c)
{
	free((void *)c.byte);
}

static void assert_same(const struct sample *a, const struct sample *b)
{
	assert_non_null(a);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->took_ns, b->took_ns);
	assert_int_equal(a->asked, b->asked);
	assert_int_equal(a->answered, b->answered);
	assert_memory_equal(a->port, b->port, a->nport * sizeof(*a->port));
}

static void a_sample_comes_back_as_it_was(void **state)
{
	struct rng rng;
	struct sample *s, *got;
	struct columns_code c;

	(void)state;
	rng_seed(&rng, 1);
	s = sample_after(NULL, &rng);
	c = code_of(s);
	assert_true(sample_columns_are(c.byte, c.len));
	got = decoded(c, NULL);
	assert_same(got, s);
	sample_put(got);
	sample_put(s);
	drop(c);
}

/* Traffic is below what it was by less than a part of what was counted; all else is exact. */
static void assert_rounded(const struct sample *got, const struct sample *s,
			   const struct sample *before)
{
	uint32_t shorter = 0;

	assert_non_null(got);
	for (uint32_t i = 0; i < s->nport; i++)
		for (int c = 0; c < CTR_COUNT; c++) {
			uint64_t v = s->port[i].v[c], is = got->port[i].v[c],
				 was = before->port[i].v[c];
			uint64_t part = v > was ? (v - was) / SAMPLE_COLUMNS_PARTS : 0;

			assert_true(is <= v && v - is <= part);
			assert_true(c <= CTR_TX_WAIT || is == v);
			shorter += is != v;
			assert_int_equal(got->port[i].time_ns, s->port[i].time_ns);
			assert_int_equal(got->port[i].valid, s->port[i].valid);
			assert_int_equal(got->port[i].wide, s->port[i].wide);
		}
	assert_true(shorter > s->nport);
}

static void with_a_base_it_is_right_to_a_part_of_what_was_counted(void **state)
{
	const struct columns_code none = { 0 };
	struct columns_code c[4], base, last;
	struct sample *s[4], *first, *got;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 2);
	for (int i = 0; i < 4; i++) {
		s[i] = sample_after(i ? s[i - 1] : NULL, &rng);
		c[i] = code_of(s[i]);
	}
	base = rounded(c[1], c[0], none);
	assert_false(sample_columns_need_base(base.byte, base.len));
	first = decoded(base, NULL);
	assert_rounded(first, s[1], s[0]);
	last = rounded(c[3], c[2], base);
	assert_true(sample_columns_need_base(last.byte, last.len));
	assert_true(last.len < c[3].len * 2 / 3);
	got = decoded(last, first);
	assert_rounded(got, s[3], s[2]);
	/* not to be had without, nor with another one */
	assert_null(decoded(last, NULL));
	assert_null(decoded(last, s[0]));
	assert_null(decoded(c[3], first));
	/* where nothing is known of before, nothing is rounded */
	drop(last);
	sample_put(got);
	last = rounded(c[3], none, base);
	got = decoded(last, first);
	assert_same(got, s[3]);
	sample_put(got);
	sample_put(first);
	drop(last);
	drop(base);
	for (int i = 0; i < 4; i++) {
		drop(c[i]);
		sample_put(s[i]);
	}
}

/* A month of counting before changes nothing of what has to be kept. */
static void old_counters_take_no_more_room_than_new_ones(void **state)
{
	size_t len[2];
	struct rng rng;

	(void)state;
	for (int old = 0; old < 2; old++) {
		const struct columns_code none = { 0 };
		struct columns_code c[3], base, less;
		struct sample *s[3];

		rng_seed(&rng, 5);
		s[0] = sample_after(NULL, &rng);
		for (uint32_t i = 0; i < s[0]->nport; i++)
			for (int k = 0; k < CTR_COUNT; k++)
				s[0]->port[i].v[k] = old ? s[0]->port[i].v[k] << 8 : 0;
		for (int i = 0; i < 3; i++) {
			s[i] = i ? sample_after(s[i - 1], &rng) : s[0];
			for (uint32_t p = 0; p < s[i]->nport; p++) /* nobody clears it */
				s[i]->port[p].v[CTR_RX_PKTS] = s[0]->port[p].v[CTR_RX_PKTS];
			c[i] = code_of(s[i]);
		}
		base = rounded(c[1], c[0], none);
		less = rounded(c[2], c[1], base);
		len[old] = less.len;
		drop(base);
		drop(less);
		for (int i = 0; i < 3; i++) {
			drop(c[i]);
			sample_put(s[i]);
		}
	}
	assert_int_equal(len[0], len[1]);
}

static void what_is_of_other_ports_or_no_columns_is_refused(void **state)
{
	struct fabric *other = fabric_of("fattree2:leaves=3,spines=2,hosts=4");
	const struct columns_code none = { 0 };
	struct columns_code c, d, less;
	struct sample *s, *t;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	s = sample_after(NULL, &rng);
	t = sample_new(other);
	c = code_of(s);
	d = code_of(t);
	assert_null(rounded(c, none, d).byte);
	assert_null(rounded(c, d, none).byte);
	assert_null(rounded((struct columns_code){ c.byte, 10 }, none, none).byte);
	assert_null(decoded(d, NULL));
	less = rounded(c, none, c);
	assert_non_null(less.byte);
	assert_null(rounded(less, none, none).byte);
	assert_null(rounded(c, none, less).byte);
	drop(less);
	drop(c);
	drop(d);
	sample_put(s);
	sample_put(t);
	fabric_put(other);
}

static void damaged_bytes_are_refused_or_numbers(void **state)
{
	struct columns_code c;
	struct sample *s, *got;
	uint32_t refused = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4);
	s = sample_after(NULL, &rng);
	c = code_of(s);
	for (int i = 0; i < 2000; i++) {
		size_t n = rng_below(&rng, 4) ? c.len : rng_below(&rng, c.len);
		uint8_t *copy = xcalloc(n ? n : 1, 1);
		struct columns_code d = { copy, n };

		memcpy(copy, c.byte, n);
		if (n)
			copy[rng_below(&rng, n < 60 || i % 2 ? n : 60)] ^=
				(uint8_t)(1 + rng_below(&rng, 255));
		got = decoded(d, NULL);
		refused += !got;
		sample_put(got);
		drop(d);
	}
	assert_true(refused > 500);
	sample_put(s);
	drop(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_sample_comes_back_as_it_was, begin, end),
		cmocka_unit_test_setup_teardown(
			with_a_base_it_is_right_to_a_part_of_what_was_counted, begin, end),
		cmocka_unit_test_setup_teardown(old_counters_take_no_more_room_than_new_ones, begin,
						end),
		cmocka_unit_test_setup_teardown(what_is_of_other_ports_or_no_columns_is_refused,
						begin, end),
		cmocka_unit_test_setup_teardown(damaged_bytes_are_refused_or_numbers, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
