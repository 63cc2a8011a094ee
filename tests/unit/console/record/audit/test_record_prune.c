/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sessions go, and which never do. */
#include "console/record/audit/record_prune.h"

#include "console/record/audit/audit.h"
#include "console/record/record_end.h"
#include "console/record/record_files.h"
#include "console/record/record_hmac.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNFINISHED "20261123T035116Z-20394"

struct world {
	char *dir, *state, *path[8]; /* of sessions, oldest first */
	int n;
	struct record *told;
};

static char *session(struct world *w, const char *note)
{
	struct record_opts o = { .dir = w->dir };
	struct record *r;
	char *path;

	usleep(2000);
	assert_int_equal(record_open(&r, &o, NULL), 0);
	path = xstrdup(record_path(r));
	assert_int_equal(record_add(r, "note", json_pack("{s:s}", "text", note), NULL), 0);
	assert_int_equal(record_close(r, NULL), 0);
	return path;
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct digest key;

	w->dir = net_tmpdir();
	w->state = net_tmpdir();
	assert_int_equal(record_hmac_setup(&key, w->dir, NULL), 0);
	for (w->n = 0; w->n < 5; w->n++)
		w->path[w->n] = session(w, w->n == 1 ? "update " UNFINISHED : "nothing");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < w->n; i++)
		free(w->path[i]);
	net_rmdir(w->dir);
	net_rmdir(w->state);
	free(w);
	return 0;
}

static bool there(const char *path)
{
	return !access(path, F_OK);
}

static void age(const struct world *w, int i, int days)
{
	struct timespec t[2] = { { .tv_sec = time(NULL) - days * 86400L } };

	t[1] = t[0];
	assert_int_equal(utimensat(AT_FDCWD, w->path[i], t, 0), 0);
}

/* In the record of a session that is open meanwhile; returns its path, which the caller frees. */
static char *prune(struct world *w, struct record_policy keep)
{
	struct record_opts o = { .dir = w->dir };
	struct err err = { "" };
	struct record *r;
	char *path;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	path = xstrdup(record_path(r));
	if (record_prune_told(r, w->dir, w->state, &keep, &err))
		fail_msg("%s", err.text);
	assert_int_equal(record_close(r, NULL), 0);
	return path;
}

static void the_last_ones_and_the_current_one_stay(void **state)
{
	struct world *w = *state;
	char *end = record_end_path(w->path[0]), *own, *text;
	size_t len;

	own = prune(w, (struct record_policy){ .sessions = 2 });
	for (int i = 0; i < w->n; i++)
		assert_int_equal(there(w->path[i]), i == 4); /* and the current one */
	assert_false(there(end));
	assert_true(there(own));
	assert_int_equal(store_read(&text, &len, own, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_non_null(strstr(text, record_file_name(w->path[i])));
	free(text);
	free(own);
	free(end);
	/* nobody has asked for anything */
	own = prune(w, (struct record_policy){ 0 });
	assert_true(there(w->path[4]));
	free(own);
}

static void what_is_younger_stays(void **state)
{
	struct world *w = *state;

	age(w, 0, 40);
	age(w, 2, 31);
	age(w, 3, 29);
	free(prune(w, (struct record_policy){ .days = 30 }));
	for (int i = 0; i < w->n; i++)
		assert_int_equal(there(w->path[i]), i != 0 && i != 2);
	/* with both: old, and not among the last */
	age(w, 1, 40);
	age(w, 4, 40);
	free(prune(w, (struct record_policy){ .days = 30, .sessions = 3 }));
	assert_false(there(w->path[1]));
	assert_true(there(w->path[3]) && there(w->path[4]));
}

static void the_oldest_go_until_the_rest_fits(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < w->n; i++) {
		char *cast = record_cast_path(w->path[i]);

		close(creat(cast, 0640));
		assert_int_equal(truncate(cast, 1024 * 1024), 0);
		free(cast);
	}
	free(prune(w, (struct record_policy){ .mib = 3 }));
	for (int i = 0; i < w->n; i++)
		assert_int_equal(there(w->path[i]), i >= 3);
}

/* Whatever the policy says, the record of an update that somebody has to lead back is kept. */
static void a_session_of_an_unfinished_update_stays(void **state)
{
	struct world *w = *state;
	char *txn = xasprintf("%s/" UNFINISHED, w->state);

	assert_int_equal(mkdir(txn, 0700), 0);
	age(w, 1, 400);
	free(prune(w, (struct record_policy){ .sessions = 1 }));
	for (int i = 0; i < w->n; i++)
		assert_int_equal(there(w->path[i]), i == 1);
	rmdir(txn);
	free(prune(w, (struct record_policy){ .sessions = 1 }));
	assert_false(there(w->path[1]));
	free(txn);
}

static void what_cannot_be_told_is_not_removed(void **state)
{
	struct world *w = *state;
	struct record_policy keep = { .sessions = 1 };
	struct err err = { "" };

	assert_int_equal(record_prune_told(NULL, "/no/such/dir", w->state, &keep, &err), -ENOENT);
	assert_true(err.text[0]);
	for (int i = 0; i < w->n; i++)
		assert_true(there(w->path[i]));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_last_ones_and_the_current_one_stay),
		T(what_is_younger_stays),
		T(the_oldest_go_until_the_rest_fits),
		T(a_session_of_an_unfinished_update_stays),
		T(what_cannot_be_told_is_not_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
