/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/format/native/tables_ibr.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define AT_VERSION 8
#define AT_BYTES   16

static struct tables *full_tables(const struct fabric *f, enum sl_kind sl, enum sl2vl_kind vl)
{
	struct tables *t = random_tables(f, 5);
	struct rng r;

	rng_seed(&r, 6);
	if (sl == SL_CONST)
		t->sl_const = 3;
	else
		kit_random_sl(t, f, sl, 8, &r);
	if (vl == SL2VL_UNREAD)
		tables_sl2vl_form(t, vl, f);
	else if (vl != SL2VL_IDENTITY)
		kit_random_sl2vl(t, f, vl, 8, &r);
	t->vls = 4;
	t->sls = 5;
	t->escape = sl == SL_BY_DLID;
	t->seed = 0x123456789abcdef0;
	snprintf(t->engine, sizeof(t->engine), "fifteen-letters");
	snprintf(t->params, sizeof(t->params), "vls=4 lmc=1");
	return t;
}

static void assert_same(const struct fabric *f, const struct tables *a, const struct tables *b)
{
	struct digest x, y;

	tables_hash(&x, a, f);
	tables_hash(&y, b, f);
	assert_true(digest_equal(&x, &y));
	assert_int_equal(a->sl_kind, b->sl_kind);
	assert_int_equal(a->sl2vl_kind, b->sl2vl_kind);
	assert_int_equal(a->vls, b->vls);
	assert_int_equal(a->sls, b->sls);
	assert_int_equal(a->escape, b->escape);
	assert_int_equal(a->seed, b->seed);
	assert_string_equal(a->engine, b->engine);
	assert_string_equal(a->params, b->params);
}

static void every_form_comes_back_and_the_same_tables_give_the_same_bytes(void **state)
{
	struct fabric *f = net_random(2, 5, 8, 4, &(struct net_opts){ .lmc = 1 });

	(void)state;
	for (int i = 0; i < 16; i++) {
		struct tables *t = full_tables(f, i % 4, i / 4), *back = NULL;
		struct tables_ibr_info info;
		struct err err = { "" };
		uint8_t *a, *b;
		size_t na, nb;

		tables_ibr_encode(&a, &na, t);
		assert_int_equal(tables_ibr_decode(&back, a, na, f, "x", &err), 0);
		assert_same(f, t, back);
		memset(back->params + strlen(back->params) + 1, 0x55, 8); /* behind the string */
		tables_ibr_encode(&b, &nb, back);
		assert_int_equal(na, nb);
		assert_memory_equal(a, b, na);
		assert_int_equal(tables_ibr_peek(&info, a, na, "x", &err), 0);
		assert_int_equal(info.bytes, na);
		assert_int_equal(info.nsw, f->nsw);
		assert_string_equal(info.engine, "fifteen-letters");
		free(a);
		free(b);
		tables_put(t);
		tables_put(back);
	}
	fabric_put(f);
}

static void every_single_flipped_bit_is_noticed(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = full_tables(f, SL_BY_DLID, SL2VL_BY_INPUT), *back = NULL;
	struct err err;
	uint8_t *buf;
	size_t len;

	(void)state;
	tables_ibr_encode(&buf, &len, t);
	for (size_t bit = 0; bit < len * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		err.text[0] = '\0';
		assert_int_not_equal(tables_ibr_decode(&back, buf, len, f, "x", &err), 0);
		assert_true(err.text[0]);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_null(back);
	for (size_t n = 0; n < len; n++) {
		uint8_t *part = xcalloc(n, 1); /* so that a reader beyond n is caught */

		memcpy(part, buf, n);
		assert_int_equal(tables_ibr_decode(&back, part, n, f, "x", &err),
				 n < 8 ? -EINVAL : -ENODATA);
		free(part);
	}
	free(buf);
	tables_put(t);
	fabric_put(f);
}

static void each_refusal_says_why(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL), *other = net_tree(2, 1, 3, NULL);
	struct tables *t = full_tables(f, SL_CONST, SL2VL_IDENTITY), *back = NULL;
	struct err err;
	uint8_t *buf;
	size_t len;

	(void)state;
	tables_ibr_encode(&buf, &len, t);
	assert_int_equal(
		tables_ibr_decode(&back, (const uint8_t *)"Switch 36 ", 10, f, "a.ibr", &err),
		-EINVAL);
	assert_non_null(strstr(err.text, "a.ibr: not a tables.ibr"));
	assert_int_equal(tables_ibr_decode(&back, buf, len - 1, f, "a.ibr", &err), -ENODATA);
	assert_non_null(strstr(err.text, "truncated"));
	assert_int_equal(tables_ibr_decode(&back, buf, len, other, "a.ibr", &err), -ESTALE);
	assert_non_null(strstr(err.text, "for another fabric"));
	buf[AT_VERSION] = TABLES_IBR_VERSION + 1;
	assert_int_equal(tables_ibr_decode(&back, buf, len, f, "a.ibr", &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "newer"));
	buf[AT_VERSION] = TABLES_IBR_VLS;
	buf[len - 40] ^= 1;
	assert_int_equal(tables_ibr_decode(&back, buf, len, f, "a.ibr", &err), -EINVAL);
	assert_non_null(strstr(err.text, "checksum"));
	free(buf);
	tables_put(t);
	fabric_put(f);
	fabric_put(other);
}

/* A forger can make the checksum fit; what is inside must be looked at all the same. */
static void contents_that_cannot_be_are_refused_even_with_a_fitting_checksum(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = full_tables(f, SL_BY_SWITCH, SL2VL_BY_INPUT), *back = NULL;
	struct digest sum;
	struct err err;
	uint8_t *buf;
	size_t len;

	(void)state;
	tables_row(t, 0)[1] = 200; /* no such port */
	tables_ibr_encode(&buf, &len, t);
	assert_int_equal(tables_ibr_decode(&back, buf, len, f, "x", &err), -EINVAL);
	assert_non_null(strstr(err.text, "do not match the fabric"));
	free(buf);
	tables_row(t, 0)[1] = 1;
	t->sl[1] = 16;
	tables_ibr_encode(&buf, &len, t);
	assert_int_equal(tables_ibr_decode(&back, buf, len, f, "x", &err), -EINVAL);
	free(buf);
	t->sl[1] = 1;
	tables_ibr_encode(&buf, &len, t);
	for (size_t at = AT_BYTES + 8; at < len - DIGEST_BYTES; at++) {
		uint8_t *copy = xcalloc(len, 1);

		memcpy(copy, buf, len);
		copy[at] ^= 0xff;
		digest_of(&sum, copy, len - DIGEST_BYTES);
		memcpy(copy + len - DIGEST_BYTES, sum.b, DIGEST_BYTES);
		if (!tables_ibr_decode(&back, copy, len, f, "x", &err))
			tables_put(back);
		free(copy);
	}
	free(buf);
	tables_put(t);
	fabric_put(f);
}

/* Version 1 had zeros where version 2 says whether there are escape LIDs. */
static void a_file_of_version_1_is_read_and_has_no_escape_lids(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = full_tables(f, SL_BY_SWITCH, SL2VL_FULL), *back = NULL;
	struct err err = { "" };
	struct digest sum;
	uint8_t *buf;
	size_t len;

	(void)state;
	tables_ibr_encode(&buf, &len, t);
	buf[AT_VERSION] = 1;
	digest_of(&sum, buf, len - DIGEST_BYTES);
	memcpy(buf + len - DIGEST_BYTES, sum.b, DIGEST_BYTES);
	assert_int_equal(tables_ibr_decode(&back, buf, len, f, "x", &err), 0);
	assert_same(f, t, back);
	assert_false(back->escape);
	free(buf);
	tables_put(t);
	tables_put(back);
	fabric_put(f);
}

static void several_encodings_in_one_file_are_read_one_after_the_other(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *a = full_tables(f, SL_CONST, SL2VL_FULL);
	struct tables *b = full_tables(f, SL_BY_TERM, SL2VL_IDENTITY), *back = NULL;
	char path[] = "/tmp/test_tables_ibr.XXXXXX";
	int fd = mkstemp(path);
	struct err err = { "" };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(tables_ibr_write_fd(fd, a, f, path, &err), 0);
	assert_int_equal(tables_ibr_write_fd(fd, b, f, path, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(tables_ibr_read_fd(&back, fd, f, NULL, path, &err), 0);
	assert_same(f, a, back);
	tables_put(back);
	assert_int_equal(tables_ibr_read_fd(&back, fd, f, NULL, path, &err), 0);
	assert_same(f, b, back);
	tables_put(back);
	close(fd);
	unlink(path);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

struct impatient {
	struct progress p;
	uint64_t after, seen;
};

static void lose_patience(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct impatient *i = ctx;

	(void)step;
	assert_true(done <= total);
	if (++i->seen == i->after)
		atomic_store(&i->p.cancel, true);
}

static void who_waits_for_it_can_end_it_between_two_rows(void **state)
{
	struct fabric *f = net_tree(4, 2, 2, NULL);
	struct tables *t = full_tables(f, SL_BY_SWITCH, SL2VL_FULL), *back = NULL;
	struct impatient i = { .p = { .report = lose_patience }, .after = 3 };
	char path[] = "/tmp/test_tables_ibr.XXXXXX";
	int fd = mkstemp(path);
	struct err err = { "" };

	(void)state;
	assert_true(fd >= 0);
	i.p.ctx = &i;
	file_progress_set(&i.p);
	assert_int_equal(tables_ibr_write_fd(fd, t, f, path, &err), -ECANCELED);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(i.seen, 3);
	file_progress_set(NULL);
	assert_int_equal(tables_ibr_write_fd(fd, t, f, path, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	i = (struct impatient){ .p = { .report = lose_patience, .ctx = &i }, .after = 8 };
	file_progress_set(&i.p);
	assert_int_equal(tables_ibr_read_fd(&back, fd, f, NULL, path, &err), -ECANCELED);
	assert_int_equal(i.seen, 8);
	assert_null(back);
	file_progress_set(NULL);
	close(fd);
	unlink(path);
	tables_put(t);
	fabric_put(f);
}

static void saving_replaces_a_file_whole_and_leaves_nothing_else_behind(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = full_tables(f, SL_BY_DLID, SL2VL_FULL), *back = NULL;
	char dir[] = "/tmp/test_tables_ibr.XXXXXX", *path;
	struct err err = { "" };
	FILE *old;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/tables.ibr", dir);
	old = fopen(path, "w");
	fputs("an older file that is not one", old);
	fclose(old);
	assert_int_equal(tables_ibr_load(&back, path, f, NULL, &err), -EINVAL);
	assert_int_equal(tables_ibr_save(path, t, f, &err), 0);
	assert_int_equal(tables_ibr_load(&back, path, f, NULL, &err), 0);
	assert_same(f, t, back);
	unlink(path);
	assert_int_equal(tables_ibr_load(&back, path, f, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(tables_ibr_save(path, t, f, &err), -ENOENT);
	free(path);
	tables_put(t);
	tables_put(back);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_comes_back_and_the_same_tables_give_the_same_bytes),
		cmocka_unit_test(every_single_flipped_bit_is_noticed),
		cmocka_unit_test(each_refusal_says_why),
		cmocka_unit_test(contents_that_cannot_be_are_refused_even_with_a_fitting_checksum),
		cmocka_unit_test(a_file_of_version_1_is_read_and_has_no_escape_lids),
		cmocka_unit_test(several_encodings_in_one_file_are_read_one_after_the_other),
		cmocka_unit_test(who_waits_for_it_can_end_it_between_two_rows),
		cmocka_unit_test(saving_replaces_a_file_whole_and_leaves_nothing_else_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
