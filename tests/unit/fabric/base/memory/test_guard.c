/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that give up, and computations in a process of their own. */
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/isolate.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int too_much(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	free(xcalloc(SIZE_MAX / 4, 2));
	return 0;
}

static int around(void *ctx, struct err *err)
{
	int *inner = ctx;

	*inner = guarded_call(too_much, NULL, err);
	return err_set(err, -EDOM, "the outer one goes on");
}

static void a_guarded_call_returns_what_it_gave_up_with(void **state)
{
	struct err err = { "" };
	int inner = 0;

	(void)state;
	assert_int_equal(guarded_call(too_much, NULL, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "out of memory"));
	assert_int_equal(guarded_call(around, &inner, &err), -EDOM);
	assert_int_equal(inner, -ENOMEM);
	assert_string_equal(err.text, "the outer one goes on");
	assert_int_equal(guarded_call(too_much, NULL, NULL), -ENOMEM);
}

static void *in_a_thread(void *arg)
{
	*(int *)arg = guarded_call(too_much, NULL, NULL);
	return NULL;
}

static void each_thread_has_its_own_guard(void **state)
{
	int rc[4] = { 0 };
	pthread_t t[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, in_a_thread, &rc[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(rc[i], -ENOMEM);
	}
}

static void without_a_guard_the_program_ends(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		close(STDERR_FILENO);
		too_much(NULL, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 255);
}

/* ---- in a process of its own ---- */

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int put_much(void *ctx, struct isolated_out *out, struct err *err)
{
	uint8_t block[4096];

	(void)err;
	for (unsigned i = 0; i < *(unsigned *)ctx; i++) {
		memset(block, (int)i, sizeof(block));
		isolated_put(out, block, sizeof(block));
	}
	*(unsigned *)ctx = 0; /* its own copy */
	return 0;
}

static void what_it_puts_comes_back(void **state)
{
	unsigned n = 1000, before = descriptors();
	struct isolated r;

	(void)state;
	assert_int_equal(isolated_run(&r, put_much, &n, NULL), 0);
	assert_int_equal(n, 1000);
	assert_int_equal(r.len, 1000 * 4096);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(r.data[i * 4096 + 17], i & 0xff);
	isolated_free(&r);
	n = 0;
	assert_int_equal(isolated_run(&r, put_much, &n, NULL), 0);
	assert_int_equal(r.len, 0);
	isolated_free(&r);
	assert_int_equal(descriptors(), before);
}

static void *give_up_in_a_thread(void *arg)
{
	too_much(arg, NULL);
	return NULL;
}

static int end_somehow(void *ctx, struct isolated_out *out, struct err *err)
{
	int how = *(int *)ctx;
	pthread_t t;

	isolated_put(out, "half", 4);
	if (how == 0)
		return err_set(err, -EPROTO, "a refusal with its sentence");
	if (how == 1)
		return too_much(NULL, err);
	if (how == 2 && !pthread_create(&t, NULL, give_up_in_a_thread, NULL))
		pthread_join(t, NULL);
	if (how == 3)
		raise(SIGKILL);
	if (how == 4)
		_exit(0);
	return write(*(int *)ctx, "x", 1) == 1 ? 0 : -errno; /* 5: the caller's descriptor */
}

static void whatever_becomes_of_it_the_caller_goes_on(void **state)
{
	static const struct {
		int rc;
		const char *text;
	} want[] = {
		{ -EPROTO, "a refusal with its sentence" },
		{ -ENOMEM, "out of memory" },
		{ -ENOMEM, "out of memory" },
		{ -ECHILD,
		  "the computation was ended by signal 9: the machine may be out of memory" },
		{ -ECHILD, "the computation ended without a result" },
		{ -EBADF, "" },
	};
	unsigned before = descriptors();
	struct isolated r;
	struct err err;

	(void)state;
	for (int how = 0; how < 6; how++) {
		err.text[0] = '\0';
		assert_int_equal(isolated_run(&r, end_somehow, &how, &err), want[how].rc);
		assert_non_null(strstr(err.text, want[how].text));
		assert_null(r.data);
		isolated_free(&r);
	}
	assert_int_equal(descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
	assert_int_equal(errno, ECHILD);
}

/* A host that does not want to hear of its children. */
static void a_host_that_ignores_children_has_the_result(void **state)
{
	unsigned n = 3;
	struct isolated r;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(isolated_run(&r, put_much, &n, NULL), 0);
	assert_int_equal(r.len, 3 * 4096);
	isolated_free(&r);
	signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guarded_call_returns_what_it_gave_up_with),
		cmocka_unit_test(each_thread_has_its_own_guard),
		cmocka_unit_test(without_a_guard_the_program_ends),
		cmocka_unit_test(what_it_puts_comes_back),
		cmocka_unit_test(whatever_becomes_of_it_the_caller_goes_on),
		cmocka_unit_test(a_host_that_ignores_children_has_the_result),
	};

	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
