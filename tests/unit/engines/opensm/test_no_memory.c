/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What OpenSM asks the plugin for, with allocations or SHA-256 that fail: at every point, the call
 * ends with an error or does without, and the next one is as if nothing had been.  Linked with
 * --wrap.
 */
#include "engines/opensm/sm_session.h"

#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/fake_osm.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/evp.h>

#define SPEC "torus:dims=4x4,hosts=1"

enum failing { ALLOCATIONS, DIGEST_FETCHES, DIGEST_STARTS, DIGEST_ENDS };

static enum failing failing;
/* Shared with the processes that compute: calls until the one that fails, 0: none does. */
static atomic_long *left;
static bool for_good; /* and all after it */

static bool fails(enum failing what)
{
	long n = left && what == failing ? atomic_load(left) : 0;

	if (for_good && n == 1)
		return true;
	return n && atomic_fetch_sub(left, 1) == 1;
}

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_vasprintf(char **out, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_vasprintf(char **out, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_aligned_alloc(align, size);
}

int __wrap_vasprintf(char **out, const char *fmt, va_list ap)
{
	return fails(ALLOCATIONS) ? -1 : __real_vasprintf(out, fmt, ap);
}

EVP_MD *__real_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties);
int __real_EVP_DigestInit_ex(EVP_MD_CTX *ctx, const EVP_MD *type, ENGINE *impl);
int __real_EVP_DigestFinal_ex(EVP_MD_CTX *ctx, unsigned char *md, unsigned *size);
EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties);
int __wrap_EVP_DigestInit_ex(EVP_MD_CTX *ctx, const EVP_MD *type, ENGINE *impl);
int __wrap_EVP_DigestFinal_ex(EVP_MD_CTX *ctx, unsigned char *md, unsigned *size);

EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties)
{
	return fails(DIGEST_FETCHES) ? NULL : __real_EVP_MD_fetch(ctx, name, properties);
}

int __wrap_EVP_DigestInit_ex(EVP_MD_CTX *ctx, const EVP_MD *type, ENGINE *impl)
{
	return fails(DIGEST_STARTS) ? 0 : __real_EVP_DigestInit_ex(ctx, type, impl);
}

int __wrap_EVP_DigestFinal_ex(EVP_MD_CTX *ctx, unsigned char *md, unsigned *size)
{
	return fails(DIGEST_ENDS) ? 0 : __real_EVP_DigestFinal_ex(ctx, md, size);
}

/* What a call that gives up had in hand is lost: no leak to be told of. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}

/* ---- what is called ---- */

struct host {
	struct sm_session *session;
	char *policy, *jobs;
	const struct fabric *f;
	struct table_selection c;
	uint8_t *buf; /* tables of a console */
	size_t len;
};

static void keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

static int route(void *ctx, struct err *err)
{
	static const struct table_selection_log log = { keep_quiet, NULL };
	struct host *h = ctx;
	int rc = sm_session_choose(h->session, &h->c, h->f, &log, err);

	if (!rc)
		sm_session_routed(h->session, h->f, &h->c);
	return rc;
}

static int load(void *ctx, struct err *err)
{
	struct osm_update u = { .id = "no memory" };
	struct osm_answer a = { 0 };
	struct host *h = ctx;
	int rc = sm_session_begin(h->session, &u, err);

	return rc ? rc : sm_session_load(h->session, u.id, h->buf, h->len, false, &a, err);
}

static char *written(const char *text)
{
	char *path = xstrdup("/tmp/test_no_memory.XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static void set_up(struct host *h, const char *engine, const char *more)
{
	char *text;

	memset(h, 0, sizeof(*h));
	h->f = net_spec(SPEC);
	h->jobs = written("j1 n000[1-4]\n");
	text = xasprintf("engine %s\nthreads 2\njobs %s\n%s\n", engine, h->jobs, more);
	h->policy = written(text);
	h->session = sm_session_new(h->policy, "/nonexistent/confirmed.ibr");
	free(text);
}

static void tear_down(struct host *h)
{
	unlink(h->policy);
	unlink(h->jobs);
	sm_session_free(h->session);
	tables_put(h->c.tables);
	fabric_put(h->f);
	free(h->policy);
	free(h->jobs);
	free(h->buf);
}

static struct digest hash_of(struct host *h)
{
	struct digest d;

	tables_put(h->c.tables);
	h->c.tables = NULL;
	assert_int_equal(guarded_call(route, h, NULL), 0);
	tables_hash(&d, h->c.tables, h->f);
	return d;
}

/* Calls it with the 1st, 2nd, 3rd, ... allocation failing until none is left to fail; how often it
 * came back with an error. */
static unsigned at_all_points(struct host *h, int (*call)(void *ctx, struct err *err),
			      bool all_after)
{
	struct digest whole = hash_of(h), now;
	struct osm_status s;
	unsigned failed = 0;

	for_good = all_after;
	for (long k = 1; k; k += 1 + k / 16) {
		struct err err = { "" };
		long rest;
		int rc;

		tables_put(h->c.tables);
		h->c.tables = NULL;
		atomic_store(left, k);
		rc = guarded_call(call, h, &err);
		rest = atomic_exchange(left, 0);
		failed += rc != 0;
		if (rc)
			assert_true(err.text[0]);
		sm_session_status(h->session, &s); /* no lock is held */
		if (rest > 1 || (!all_after && rest == 1))
			break;
	}
	now = hash_of(h);
	assert_true(digest_equal(&whole, &now));
	return failed;
}

static void routing_survives(const char *engine, unsigned at_least)
{
	struct host h;

	set_up(&h, engine, "");
	/* how many there are differs from run to run where threads allocate */
	assert_true(at_all_points(&h, route, false) >= at_least);
	assert_true(at_all_points(&h, route, true) >= at_least);
	tear_down(&h);
}

static void a_routing_survives_a_failure_at_every_point(void **state)
{
	(void)state;
	routing_survives("dfsssp:4", 30);
}

static void so_do_engines_with_threads_and_large_tables(void **state)
{
	(void)state;
	routing_survives("nue:2", 30);
	routing_survives("sar", 30);
}

/* Maintenance does not keep a subnet manager from routing: it is tried again without. */
static void what_is_excluded_is_given_up_rather_than_the_routing(void **state)
{
	struct host h;
	unsigned failed;

	(void)state;
	set_up(&h, "updn", "exclude sw0/9");
	failed = at_all_points(&h, route, false);
	assert_true(failed > 0 && failed < 30);
	tear_down(&h);
}

static void so_does_a_load_of_the_console(void **state)
{
	struct host h;

	(void)state;
	set_up(&h, "updn", "");
	hash_of(&h);
	tables_ibr_encode(&h.buf, &h.len, h.c.tables);
	assert_true(at_all_points(&h, load, false) >= 10);
	assert_true(at_all_points(&h, load, true) >= 10);
	assert_int_equal(guarded_call(load, &h, NULL), 0);
	tear_down(&h);
}

/* ---- without SHA-256 ---- */

static int build_fabric(void *ctx, struct err *err)
{
	(void)err;
	*(struct fabric **)ctx = net_spec(SPEC);
	return 0;
}

/* The first thing of a sweep is the fingerprint of what OpenSM has found.  Has to run first: what
 * was fetched once is kept. */
static void a_missing_sha256_fails_the_call_and_not_the_next(void **state)
{
	struct fabric *f = NULL;
	struct err err = { "" };

	(void)state;
	failing = DIGEST_FETCHES;
	atomic_store(left, 1);
	assert_int_equal(guarded_call(build_fabric, &f, &err), -ENOTSUP);
	assert_string_equal(err.text, "libcrypto offers no SHA-256");
	assert_int_equal(atomic_load(left), 0);
	assert_int_equal(guarded_call(build_fabric, &f, &err), 0);
	fabric_put(f);
	failing = ALLOCATIONS;
}

static void a_failed_sha256_fails_that_call_only(void **state)
{
	struct host h, own; /* of what was loaded the routing asks for no hash */

	(void)state;
	set_up(&h, "updn", "");
	set_up(&own, "updn", "");
	hash_of(&h);
	tables_ibr_encode(&h.buf, &h.len, h.c.tables);
	for (failing = DIGEST_STARTS; failing <= DIGEST_ENDS; failing++) {
		assert_true(at_all_points(&h, load, false) > 0);
		assert_true(at_all_points(&h, load, true) > 0);
		assert_true(at_all_points(&own, route, true) > 0);
	}
	failing = ALLOCATIONS;
	tear_down(&h);
	tear_down(&own);
}

/* ---- over the socket ---- */

/* Without an allocation: it is in the process of who answers. */
static int answered(const struct sockaddr_un *to)
{
	static const char policy[] = "engine updn\n";
	struct osm_msg m = { .type = OSM_MSG_POLICY, .id = 7, .len = sizeof(policy) - 1 };
	struct timeval wait = { .tv_sec = 5 };
	uint8_t head[OSM_MSG_HEAD + sizeof(policy)];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), type = 0;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	osm_msg_put(head, &m);
	assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(*to)), 0);
	memcpy(head + OSM_MSG_HEAD, policy, sizeof(policy));
	assert_int_equal(send(fd, head, OSM_MSG_HEAD + m.len, MSG_NOSIGNAL), OSM_MSG_HEAD + m.len);
	if (recv(fd, head, OSM_MSG_HEAD, MSG_WAITALL) == OSM_MSG_HEAD) {
		assert_int_equal(osm_msg_get(&m, head, NULL), 0);
		assert_int_equal(m.id, 7);
		type = m.type;
	}
	close(fd);
	return type;
}

static void so_does_the_socket_and_who_asked_is_told(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct fake_osm *k = fake_osm_new(f, "engine updn\nthreads 1\n", NULL, NULL);
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	unsigned refused = 0;
	int type;

	(void)state;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", k->path);
	for_good = false;
	for (long n = 1; n < 100; n++) {
		atomic_store(left, n);
		type = answered(&to);
		refused += type == OSM_MSG_ERROR;
		if (atomic_exchange(left, 0))
			break;
	}
	assert_true(refused > 3);
	assert_int_equal(type, OSM_MSG_POLICY | OSM_MSG_ANSWER);
	assert_true(fake_osm_status(k).policy_unsaved);
	fake_osm_free(k);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_sha256_fails_the_call_and_not_the_next),
		cmocka_unit_test(a_failed_sha256_fails_that_call_only),
		cmocka_unit_test(a_routing_survives_a_failure_at_every_point),
		cmocka_unit_test(so_do_engines_with_threads_and_large_tables),
		cmocka_unit_test(what_is_excluded_is_given_up_rather_than_the_routing),
		cmocka_unit_test(so_does_a_load_of_the_console),
		cmocka_unit_test(so_does_the_socket_and_who_asked_is_told),
	};

	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (left == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests_name("no_memory", tests, NULL, NULL);
}
