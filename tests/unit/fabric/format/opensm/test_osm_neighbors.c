/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/mkey.h"
#include "fabric/format/opensm/osm_neighbors.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* What OpenSM writes: both directions, empty lines between.  Two hosts, a leaf, a spine. */
static const char good[] = "0x0000000000000020:1 0x0000000000000011:1\n\n"
			   "0x0000000000000011:1 0x0000000000000020:1\n\n"
			   "0x0000000000000012:2 0x0000000000000020:2\n\n"
			   "0x0000000000000020:2 0x0000000000000012:2\n\n"
			   "0x0000000000000020:9 0x0000000000000030:4\n\n"
			   "0x0000000000000020:8 0x0000000000000030:3\n\n";

static int read_text(struct fabric **f, const char *text, const struct guid_lid *lids, uint32_t n,
		     struct read_report *r, struct err *err)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b = builder_new();
	FILE *in = text_file(text, strlen(text));
	int rc = osm_neighbors_read(b, in, "neighbors", lids, n, r, err);

	*f = NULL;
	if (!rc)
		rc = builder_freeze(f, b, &opts, err);
	fclose(in);
	builder_free(b);
	return rc;
}

static void cables_from_either_end_make_a_fabric(void **state)
{
	static const struct guid_lid lids[] = {
		{ 0x11, 4, 5 }, { 0x12, 6, 7 }, { 0x20, 9, 9 }, { 0x30, 10, 10 }
	};
	struct read_report r;
	struct fabric *f;
	struct err err = { "" };

	(void)state;
	assert_true(osm_neighbors_begin(good));
	assert_false(osm_neighbors_begin("0x0000000000000011 0x0004 0x0004\n"));
	assert_int_equal(read_text(&f, good, lids, 4, &r, &err), 0);
	assert_int_equal(r.warnings, 0);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nterm, 2);
	assert_int_equal(f->nchan, 4);
	assert_true(f->lids_given);
	assert_int_equal(f->lmc, 1);
	assert_int_equal(f->term_lid[1], 6);
	assert_int_equal(f->term_ca_port[1], 2);
	assert_int_equal(f->sw_lid[0], 9);
	assert_int_equal(fabric_port(f, 0, 9)->chan, 1);
	fabric_put(f);
	assert_int_equal(read_text(&f, good, NULL, 0, &r, &err), 0);
	assert_false(f->lids_given);
	fabric_put(f);
}

static void mistakes_have_their_line(void **state)
{
	struct read_report r;
	struct fabric *f;
	struct err err = { "" };
	char text[1000];

	(void)state;
	assert_int_equal(read_text(&f, "# nothing\n", NULL, 0, &r, &err), -EINVAL);
	snprintf(text, sizeof(text), "%snonsense\n0x20:0 0x11:1\n0x20:1 0x11:1 2\n", good);
	assert_int_equal(read_text(&f, text, NULL, 0, &r, &err), 0);
	assert_int_equal(r.skipped, 3);
	assert_int_equal(r.notes[0].line, 13);
	fabric_put(f);
	/* another cable on a port that has one */
	snprintf(text, sizeof(text), "%s0x0000000000000030:5 0x0000000000000020:1\n", good);
	assert_int_not_equal(read_text(&f, text, NULL, 0, &r, &err), 0);
	assert_non_null(strstr(err.text, "neighbors:13: "));
	/* cut off: what is left of the line could be another port */
	assert_int_equal(
		read_text(&f, "0x20:1 0x11:1\n0x20:2 0x12:1\n0x20:3 0x13:1", NULL, 0, &r, &err), 0);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.notes[0].line, 3);
	assert_int_equal(f->nterm, 2);
	fabric_put(f);
}

/* --- guid2mkey --------------------------------------------------------------------------- */

static int key_of(uint64_t *key, const struct mkeys **keys, const char *text, mode_t mode,
		  struct err *err)
{
	char dir[] = "/tmp/mkey.XXXXXX", path[64];
	int fd, rc;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/guid2mkey", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fchmod(fd, mode);
	close(fd);
	rc = mkey_file(key, keys, path, err);
	unlink(path);
	rmdir(dir);
	return rc;
}

static void an_m_key_is_read_from_a_file_of_the_owners(void **state)
{
	const struct mkeys *keys;
	struct err err = { "" };
	uint64_t key = 0;

	(void)state;
	assert_int_equal(key_of(&key, &keys, "0x12ab\n", 0600, &err), 0);
	assert_int_equal(key, 0x12ab);
	assert_null(keys);
	assert_int_equal(key_of(&key, &keys, "# ours\n\n77", 0400, &err), 0);
	assert_int_equal(key, 77);
	assert_int_equal(key_of(&key, &keys, "0x20 0xfeed\n\n0x11 0xbeef\n", 0600, &err), 0);
	assert_int_equal(key, 77);
	assert_int_equal(mkeys_of(keys, 0x20, 0), 0xfeed);
	assert_int_equal(mkeys_of(keys, 0x11, 0), 0xbeef);
	assert_int_equal(keys->ncable, 0);
}

static void keys_of_ports_come_with_the_cables_beside_them_and_reach_the_watchdog(void **state)
{
	char dir[] = "/tmp/mkey.XXXXXX", path[64], beside[64];
	struct err err = { "" };
	const struct mkeys *keys, *there;
	uint64_t key = 0, peer;
	json_t *j;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/guid2mkey", dir);
	snprintf(beside, sizeof(beside), "%s/neighbors", dir);
	f = fopen(path, "w");
	fputs("0x20 0xffffffffffffffff\n0x11 0x2\n", f);
	fchmod(fileno(f), 0600);
	fclose(f);
	f = fopen(beside, "w");
	fputs("0x20:3 0x11:1\n", f);
	fclose(f);
	assert_int_equal(mkey_file(&key, &keys, path, &err), 0);
	unlink(path);
	unlink(beside);
	rmdir(dir);
	j = mkey_json(keys);
	there = mkey_from_json(j);
	assert_true(mkeys_peer(&peer, there, 0x20, 3));
	assert_int_equal(peer, 0x11);
	assert_true(mkeys_peer(&peer, there, 0x11, 1));
	assert_int_equal(peer, 0x20);
	assert_true(mkeys_of(there, 0x20, 0) == UINT64_MAX);
	assert_int_equal(mkeys_of(there, 0x11, 0), 2);
	json_decref(j);
	j = mkey_json(NULL);
	assert_null(mkey_from_json(j));
	json_decref(j);
}

static void a_file_that_others_read_or_of_neither_kind_is_refused(void **state)
{
	static const char *const bad[] = { "0x20 0x1\n0x11\n", "0x1\n0x2\n",	 "0x1\n0x11 0x1\n",
					   "0x11 0x1\n0x1\n",  "0x11 0x1 0x1\n", "0x1\nkey\n" };
	const struct mkeys *keys;
	struct err err = { "" };
	uint64_t key;

	(void)state;
	assert_int_equal(key_of(&key, &keys, "0x12ab\n", 0640, &err), -EPERM);
	assert_non_null(strstr(err.text, "chmod 600"));
	assert_null(strstr(err.text, "12ab"));
	assert_int_equal(key_of(&key, &keys, "\n", 0600, &err), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(key_of(&key, &keys, bad[i], 0600, &err), -EINVAL);
	assert_int_equal(mkey_file(&key, &keys, "/no/such/file", &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cables_from_either_end_make_a_fabric),
		cmocka_unit_test(mistakes_have_their_line),
		cmocka_unit_test(an_m_key_is_read_from_a_file_of_the_owners),
		cmocka_unit_test(
			keys_of_ports_come_with_the_cables_beside_them_and_reach_the_watchdog),
		cmocka_unit_test(a_file_that_others_read_or_of_neither_kind_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
