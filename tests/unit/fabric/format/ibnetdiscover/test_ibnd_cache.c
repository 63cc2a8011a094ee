/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibnetdiscover/ibnd_cache.h"
#include "fabric/ib/codec.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A file as libibnetdisc writes it, field by field. */
static void put(FILE *o, uint64_t v, int bytes)
{
	for (; bytes--; v >>= 8)
		fputc((int)(v & 0xff), o);
}

static void put_node(FILE *o, uint64_t guid, bool sw, uint8_t nports, uint16_t lid,
		     const char *desc)
{
	uint8_t info[SMP_DATA] = { 0 };

	put(o, sw ? lid : 0, 2);
	put(o, 0, 2); /* LMC, enhanced port 0 */
	fwrite(info, 1, sizeof(info), o);
	put(o, guid, 8);
	put(o, sw ? 2 : 1, 1);
	put(o, nports, 1);
	fwrite(info, 1, sizeof(info), o);
	node_desc_encode(info, desc);
	fwrite(info, 1, sizeof(info), o);
	put(o, 1, 1); /* ports of it that have a record, named again */
	put(o, guid, 8);
	put(o, 1, 1);
}

struct end {
	uint64_t port_guid, node;
	uint8_t number;
};

static void put_port(FILE *o, struct end e, uint16_t lid, const struct end *peer)
{
	struct port_info pi = { .lid = lid, .state = 4, .op_vls = 4, .local_port = e.number };
	uint8_t d[SMP_DATA];

	port_info_set_link(&pi, 4, "EDR");
	port_info_encode(d, &pi);
	put(o, e.port_guid, 8);
	put(o, e.number, 1);
	put(o, 0, 1);
	put(o, lid, 2);
	put(o, 0, 1);
	fwrite(d, 1, sizeof(d), o);
	put(o, e.node, 8);
	put(o, peer != NULL, 1);
	put(o, peer ? peer->port_guid : 0, 8);
	put(o, peer ? peer->number : 0, 1);
}

static const struct end leaf1 = { 0x20, 0x20, 1 }, leaf2 = { 0x20, 0x20, 2 },
			spine = { 0x30, 0x30, 1 }, host = { 0x11, 0x10, 1 },
			nobody = { 0x99, 0x99, 7 };

/* One host, one leaf, one spine. */
static char *written(size_t *len, const struct end *behind_host)
{
	char *text;
	FILE *o = open_memstream(&text, len);

	put(o, 0x8fe7832b, 4);
	put(o, 1, 4);
	put(o, 3, 4);
	put(o, 4, 4);
	put(o, host.node, 8);
	put(o, 3, 4);
	put_node(o, spine.node, true, 4, 7, "spine one");
	put_node(o, leaf1.node, true, 4, 6, "leaf");
	put_node(o, host.node, false, 1, 0, "n0001 HCA-1");
	put_port(o, host, 5, behind_host);
	put_port(o, leaf1, 6, &host);
	put_port(o, leaf2, 6, &spine);
	put_port(o, spine, 7, &leaf2);
	fclose(o);
	return text;
}

static int read_back(struct fabric **out, const char *text, size_t len, struct read_report *r,
		     struct err *err)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b = builder_new();
	FILE *in = text_file(text, len);
	int rc = ibnd_cache_read(b, in, "cache", r, err);

	if (!rc)
		rc = builder_freeze(out, b, &opts, err);
	fclose(in);
	builder_free(b);
	return rc;
}

static void nodes_cables_lids_and_speeds_are_read(void **state)
{
	struct read_report r;
	struct fabric *f = NULL;
	struct err err = { "" };
	size_t len;
	char *text = written(&len, &leaf1);

	(void)state;
	assert_true(ibnd_cache_begins(text));
	if (read_back(&f, text, len, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nterm, 1);
	assert_int_equal(f->nchan, 2);
	assert_true(f->lids_given);
	assert_int_equal(f->term_lid[0], 5);
	assert_int_equal(f->sw_lid[0], 6);
	assert_string_equal(f->term_name[0], "n0001");
	assert_string_equal(f->sw_name[1], "spine one");
	assert_int_equal(f->term_guid[0], 0x11);
	assert_int_equal(fabric_port(f, 0, 2)->chan, 0);
	assert_string_equal(fabric_port(f, 0, 2)->speed, "EDR");
	assert_int_equal(fabric_port(f, 0, 1)->op_vls, 8);
	assert_int_equal(r.warnings, 0);
	fabric_put(f);
	free(text);
}

static void a_cable_to_nowhere_is_told(void **state)
{
	struct read_report r;
	struct fabric *f = NULL;
	struct err err = { "" };
	size_t len;
	char *text = written(&len, &nobody);

	(void)state;
	/* its other end names it, too: the host is there all the same */
	assert_int_equal(read_back(&f, text, len, &r, &err), 0);
	assert_int_equal(f->nterm, 1);
	assert_int_equal(r.gaps, 1);
	assert_non_null(strstr(r.notes[0].text, "port 7 of 0x0000000000000099"));
	fabric_put(f);
	free(text);
}

static void a_file_cut_off_anywhere_has_gaps_and_one_too_long_is_refused(void **state)
{
	struct read_report r;
	struct fabric *f = NULL;
	size_t parts = 0;
	struct err err = { "" };
	size_t len;
	char *text = written(&len, &leaf1);

	(void)state;
	for (size_t n = 1; n < len; n++) {
		int rc = read_back(&f, text, n, &r, &err);

		if (rc) {
			assert_int_equal(rc, -ENODATA);
			assert_non_null(strstr(err.text, "cache: truncated"));
			continue;
		}
		assert_true(r.gaps > 0);
		assert_non_null(strstr(r.notes[0].text, "truncated in port "));
		assert_true(f->nterm <= 1 && f->nchan <= 2);
		parts++;
		fabric_put(f);
	}
	assert_true(parts > 0);
	text = realloc(text, len + 1);
	text[len] = 'x';
	assert_int_equal(read_back(&f, text, len + 1, NULL, &err), -EINVAL);
	free(text);
}

static int survive(FILE *in, void *ctx)
{
	struct builder *b = builder_new();
	struct err err = { "" };
	int rc = ibnd_cache_read(b, in, "cache", NULL, &err);

	(void)ctx;
	assert_true(!rc || err.text[0]);
	builder_free(b);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	size_t len;
	char *text = written(&len, &leaf1);
	struct survived s = damage(text, len, 1, 3000, survive, NULL);

	(void)state;
	assert_true(s.accepted && s.refused);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_cables_lids_and_speeds_are_read),
		cmocka_unit_test(a_cable_to_nowhere_is_told),
		cmocka_unit_test(a_file_cut_off_anywhere_has_gaps_and_one_too_long_is_refused),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
