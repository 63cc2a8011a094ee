/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a site: their file, what they sign, and that nothing else is believed. */
#include "fabric/update/protocol/site_key.h"

#include "fabric/base/hash/rng.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/update/protocol/phase_seal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ONE  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
#define TWO  "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
#define GUID 0x1122334455667788ull

static char path[] = "/tmp/test_site_key.XXXXXX";

static void put_mode(const char *text, mode_t mode)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void put(const char *text)
{
	put_mode(text, 0600);
}

static struct site_keys *keys_of(const char *text)
{
	struct site_keys *k;
	struct err err = { "" };

	put(text);
	if (site_keys_load(&k, path, &err))
		fail_msg("%s", err.text);
	assert_non_null(k);
	return k;
}

static void refused(int rc, const char *why)
{
	struct site_keys *k = (void *)1;
	struct err err = { "" };

	assert_int_equal(site_keys_load(&k, path, &err), rc);
	assert_null(k);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
}

static void a_file_that_others_may_read_is_refused_and_so_is_a_damaged_one(void **state)
{
	struct site_keys *k;
	struct err err = { "" };
	char text[SITE_KEYS_MAX * 70 + 200] = "";

	(void)state;
	for (unsigned mode = 1; mode < 0100; mode <<= 1) {
		put_mode(ONE, 0600 | mode);
		refused(-EACCES, "chmod 600");
	}
	if (!geteuid()) {
		put(ONE);
		assert_int_equal(chown(path, 12345, 0), 0);
		refused(-EACCES, "belongs to user 12345");
	}
	unlink(path);
	refused(-ENOENT, "No such file");
	assert_int_equal(mkdir(path, 0700), 0);
	refused(-EACCES, "is no file");
	rmdir(path);
	put("# nothing\n\n");
	refused(-EINVAL, "has no key");
	put("# one\n" ONE "11 22\n");
	refused(-EINVAL, ":3: neither a key of 64 hexadecimal digits");
	put("node 0x0 " ONE);
	refused(-EINVAL, ":1: ");
	for (int i = 0; i <= SITE_KEYS_MAX; i++)
		strcat(text, ONE);
	put(text);
	refused(-EINVAL, "more than 16 keys");
	put("none");
	assert_int_equal(site_keys_load(&k, "none", &err), 0);
	assert_null(k);
}

static void question(struct notice *n, uint64_t guid)
{
	struct phase_notice said = { .version = PHASE_NOTICE_VERSION,
				     .phase = PHASE_UNPATH,
				     .hold_s = 900,
				     .seq = 3,
				     .txn = 1700000000 };
	struct notice_sender from = { .lid = 17 };

	phase_codec_encode(n, &said, false, &from);
	n->issuer_guid = guid;
}

static void answer(struct notice *n, uint64_t guid)
{
	struct phase_notice said = { .version = PHASE_NOTICE_VERSION,
				     .phase = PHASE_UNPATH,
				     .repeat = 1,
				     .seq = 3,
				     .txn = 1700000000 };
	struct notice_sender from = { .lid = 17, .cap_mask = 0x02514868 };

	phase_codec_encode(n, &said, true, &from);
	n->issuer_guid = guid;
}

static void what_is_signed_is_read_as_before_and_believed(void **state)
{
	struct site_keys *k = keys_of("# a comment\n" ONE);
	struct phase_notice said;
	struct notice n;
	bool is_answer;

	(void)state;
	assert_int_not_equal(site_keys_id(k), 0);
	question(&n, GUID);
	assert_int_equal(phase_seal_check(&n, k), -ENOKEY);
	assert_false(phase_seal_there(&n));
	assert_int_equal(phase_seal_put(&n, GUID, k), 0);
	assert_true(phase_seal_there(&n));
	assert_int_equal(phase_seal_check(&n, k), 0);
	/* by one without a key as well */
	assert_int_equal(phase_codec_decode(&said, &is_answer, &n), 0);
	assert_int_equal(said.txn, 1700000000);
	assert_int_equal(said.hold_s, 900);
	answer(&n, GUID);
	assert_int_equal(phase_seal_put(&n, GUID, k), 0);
	assert_int_equal(phase_seal_check(&n, k), 0);
	assert_int_equal(phase_codec_decode(&said, &is_answer, &n), 0);
	assert_true(is_answer);
	site_keys_free(k);
}

static void every_changed_bit_is_found(void **state)
{
	struct site_keys *k = keys_of(ONE);
	struct notice n, m;

	(void)state;
	for (int what = 0; what < 2; what++) {
		if (what)
			answer(&n, GUID);
		else
			question(&n, GUID);
		assert_int_equal(phase_seal_put(&n, GUID, k), 0);
		for (int i = 0; i < 8 * NOTICE_DETAILS; i++) {
			m = n;
			m.details[i / 8] ^= (uint8_t)(1 << i % 8);
			assert_int_not_equal(phase_seal_check(&m, k), 0);
		}
		m = n;
		m.issuer_lid++;
		assert_int_equal(phase_seal_check(&m, k), -EKEYREJECTED);
		m = n;
		m.issuer_guid++;
		assert_int_equal(phase_seal_check(&m, k), -EKEYREJECTED);
		m = n;
		m.trap = what ? NOTICE_UNPATH : NOTICE_REPATH;
		assert_int_equal(phase_seal_check(&m, k), -EKEYREJECTED);
		m = n;
		m.trap = what ? NOTICE_REPATH : NOTICE_LOCAL_CHANGES;
		assert_int_equal(phase_seal_check(&m, k), -EKEYREJECTED);
	}
	/* an answer of nobody */
	answer(&n, 0);
	assert_int_equal(phase_seal_put(&n, 0, k), 0);
	assert_int_equal(phase_seal_check(&n, k), -ENOKEY);
	site_keys_free(k);
}

static void random_seals_are_not_believed(void **state)
{
	struct site_keys *k = keys_of(ONE TWO);
	struct notice n;
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (int i = 0; i < 20000; i++) {
		if (i % 2)
			question(&n, GUID);
		else
			answer(&n, GUID);
		phase_seal_put(&n, GUID, k); /* the right number */
		for (int b = 16; b < 32; b++)
			n.details[b] = (uint8_t)rng_u64(&r);
		assert_int_equal(phase_seal_check(&n, k), -EKEYREJECTED);
	}
	site_keys_free(k);
}

/* First both believe both, then the new one signs, then the old one goes. */
static void keys_change_without_an_interruption(void **state)
{
	struct site_keys *a = keys_of(ONE), *b = keys_of(ONE);
	struct err err = { "" };
	struct notice n;

	(void)state;
	assert_int_equal(site_keys_refresh(a, &err), 1); /* it was written again */
	assert_int_equal(site_keys_refresh(a, &err), 0);
	put(ONE TWO);
	assert_int_equal(site_keys_refresh(b, &err), 1);
	assert_int_equal(site_keys_id(a), site_keys_id(b));
	put(TWO ONE);
	assert_int_equal(site_keys_refresh(a, &err), 1);
	assert_int_not_equal(site_keys_id(a), site_keys_id(b));
	question(&n, GUID);
	assert_int_equal(phase_seal_put(&n, GUID, a), 0);
	assert_int_equal(phase_seal_check(&n, b), 0);
	question(&n, GUID);
	assert_int_equal(phase_seal_put(&n, GUID, b), 0);
	assert_int_equal(phase_seal_check(&n, a), 0);
	put(TWO);
	assert_int_equal(site_keys_refresh(a, &err), 1);
	assert_int_equal(phase_seal_check(&n, a), -ENOKEY);
	/* what is wrong with the file leaves the keys as they are, and is told again */
	put("rubbish\n");
	assert_int_equal(site_keys_refresh(a, &err), -EINVAL);
	assert_int_equal(site_keys_refresh(a, &err), -EINVAL);
	unlink(path);
	assert_int_equal(site_keys_refresh(a, &err), -ENOENT);
	question(&n, GUID);
	assert_int_equal(phase_seal_put(&n, GUID, a), 0);
	site_keys_free(a);
	site_keys_free(b);
}

static void the_key_of_a_node_answers_for_that_node_only(void **state)
{
	struct site_keys *site = keys_of(ONE), *node;
	struct err err = { "" };
	char *line;
	struct notice n;

	(void)state;
	assert_int_equal(site_key_node(&line, site, GUID, &err), 0);
	node = keys_of(line);
	assert_int_equal(site_keys_id(node), site_keys_id(site));
	question(&n, 5);
	assert_int_equal(phase_seal_put(&n, 5, site), 0);
	assert_int_equal(phase_seal_check(&n, node), 0);
	answer(&n, GUID);
	assert_int_equal(phase_seal_put(&n, GUID, node), 0);
	assert_int_equal(phase_seal_check(&n, site), 0);
	n.issuer_guid = GUID + 1;
	assert_int_equal(phase_seal_check(&n, site), -EKEYREJECTED);
	answer(&n, GUID + 1);
	assert_int_equal(phase_seal_put(&n, GUID + 1, node), -ENOKEY);
	free(line);
	assert_int_equal(site_key_node(&line, node, 9, &err), -ENOKEY);
	site_keys_free(node);
	site_keys_free(site);
}

/* Whoever else has the key: the SM says which port it was. */
static void questions_are_of_the_ports_that_may_ask(void **state)
{
	struct site_keys *k = keys_of(ONE "issuer 0x5\nissuer 0x7\n"), *all = keys_of(ONE);
	struct notice n;

	(void)state;
	for (uint64_t guid = 4; guid < 9; guid++) {
		question(&n, guid);
		assert_int_equal(phase_seal_put(&n, guid, k), 0);
		assert_int_equal(phase_seal_check(&n, all), 0);
		assert_int_equal(phase_seal_check(&n, k),
				 guid == 5 || guid == 7 ? 0 : -EKEYREJECTED);
		answer(&n, guid);
		assert_int_equal(phase_seal_put(&n, guid, k), 0);
		assert_int_equal(phase_seal_check(&n, k), 0);
	}
	site_keys_free(k);
	site_keys_free(all);
	put(ONE "issuer 5 6\n");
	refused(-EINVAL, ":2: not 'issuer GUID'");
	put(ONE "issuer 0\n");
	refused(-EINVAL, ":2: not 'issuer GUID'");
	put("issuer 0x5\n");
	refused(-EINVAL, "has no key");
}

static void a_new_key_is_root_s_and_never_the_same(void **state)
{
	struct site_keys *a, *b;
	struct err err = { "" };
	struct stat st;
	uint16_t ids[8];

	(void)state;
	put("");
	assert_int_equal(site_key_new(path, &err), -EEXIST);
	for (int i = 0; i < 8; i++) {
		unlink(path);
		assert_int_equal(site_key_new(path, &err), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_int_equal(site_keys_load(&a, path, &err), 0);
		assert_int_equal(site_keys_load(&b, path, &err), 0);
		ids[i] = site_keys_id(a);
		assert_int_equal(site_keys_id(b), ids[i]);
		assert_true(!i || ids[i] != ids[i - 1]);
		site_keys_free(a);
		site_keys_free(b);
	}
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_others_may_read_is_refused_and_so_is_a_damaged_one),
		cmocka_unit_test(what_is_signed_is_read_as_before_and_believed),
		cmocka_unit_test(every_changed_bit_is_found),
		cmocka_unit_test(random_seals_are_not_believed),
		cmocka_unit_test(keys_change_without_an_interruption),
		cmocka_unit_test(the_key_of_a_node_answers_for_that_node_only),
		cmocka_unit_test(questions_are_of_the_ports_that_may_ask),
		cmocka_unit_test(a_new_key_is_root_s_and_never_the_same),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
