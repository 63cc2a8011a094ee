/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/control_socket.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	struct control *c;
	char *dir;
	atomic_uint asked[CONTROL_OPS];
	atomic_uint seconds, watches;
};

static json_t *on_request(void *ctx, const struct control_request *r,
			  const struct control_peer *who)
{
	struct world *w = ctx;

	assert_int_equal(who->uid, getuid());
	w->asked[r->op]++;
	if (r->op == CONTROL_OVERRIDE)
		w->watches = r->watches;
	else
		w->seconds = r->seconds;
	if (r->op == CONTROL_CONFIRM)
		return json_pack("{s:b, s:s}", "ok", 0, "error", "not yet");
	return json_pack("{s:b}", "ok", 1);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->dir = net_tmpdir();
	assert_int_equal(control_new(&w->c, on_request, w, NULL), 0);
	assert_int_equal(control_listen(w->c, w->dir, NULL), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	control_free(w->c);
	net_rmdir(w->dir);
	free(w);
	return 0;
}

static struct control_link link_to(struct world *w)
{
	struct control_link l;

	assert_int_equal(control_connect(&l, w->dir, NULL), 0);
	return l;
}

static json_t *next(struct control_link *l)
{
	json_t *j = NULL;

	assert_int_equal(control_next(&j, l, 5000), 1);
	return j;
}

static const char *str(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

static void requests_are_parsed_strictly(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"[]",
		"{}",
		"{\"op\":1}",
		"{\"op\":\"rm\"}",
		"{\"op\":\"confirm\"",
		"{\"op\":\"confirm\",\"seconds\":5}",
		"{\"op\":\"extend\",\"seconds\":0}",
		"{\"op\":\"extend\",\"seconds\":-1}",
		"{\"op\":\"extend\",\"seconds\":86401}",
		"{\"op\":\"extend\",\"seconds\":\"5\"}",
		"{\"op\":\"override\"}",
		"{\"op\":\"override\",\"what\":\"\"}",
		"{\"op\":\"override\",\"what\":\"weather\"}",
		"{\"op\":\"override\",\"what\":4}",
		"{\"op\":\"confirm\",\"what\":\"sm\"}",
		"{\"op\":\"confirm\",\"op\":\"rollback\"}",
		"{\"op\":\"confirm\"}{\"op\":\"confirm\"}",
	};
	static const char override[] = "{\"op\":\"override\",\"what\":\"sm,jobs\"}";
	struct control_request r;
	char *deep = xcalloc(1, 4096);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(control_parse(&r, bad[i], strlen(bad[i]), NULL), -EINVAL);
	memset(deep, '[', 1000);
	assert_int_equal(control_parse(&r, deep, 1000, NULL), -EINVAL);
	assert_int_equal(control_parse(&r, deep, 4096, NULL), -EINVAL);
	free(deep);
	for (int op = 0; op < CONTROL_OPS; op++) {
		char line[64];

		if (op == CONTROL_OVERRIDE) /* of what? */
			continue;
		snprintf(line, sizeof(line), "{\"op\":\"%s\"}",
			 control_op_name((enum control_op)op));
		assert_int_equal(control_parse(&r, line, strlen(line), NULL), 0);
		assert_int_equal(r.op, op);
		assert_int_equal(r.seconds, 0);
	}
	assert_int_equal(control_parse(&r, "{\"op\":\"extend\",\"seconds\":7}", 27, NULL), 0);
	assert_int_equal(r.seconds, 7);
	assert_int_equal(control_parse(&r, override, strlen(override), NULL), 0);
	assert_int_equal(r.op, CONTROL_OVERRIDE);
	assert_int_equal(r.watches, 1u << WATCH_SM | 1u << WATCH_JOBS);
}

static void random_bytes_are_refused_without_harm(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int i = 0; i < 20000; i++) {
		char line[] = "{\"op\":\"extend\",\"seconds\":300}";
		struct control_request r;

		for (int k = 0; k < 3; k++)
			line[rng_below(&rng, sizeof(line) - 1)] = (char)rng_below(&rng, 256);
		if (!control_parse(&r, line, sizeof(line) - 1, NULL))
			assert_true(r.op < CONTROL_OPS && r.seconds <= CONTROL_EXTEND_S);
	}
}

static void socket_is_for_its_owner_only(void **state)
{
	struct world *w = *state;
	char *path = xasprintf("%s/%s", w->dir, CONTROL_NAME);
	struct stat st;
	int status;
	pid_t pid;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	if (geteuid()) {
		free(path);
		return;
	}
	/* whoever gets past the mode is stopped by his credentials */
	assert_int_equal(chmod(w->dir, 0755) | chmod(path, 0666), 0);
	pid = fork();
	if (!pid) {
		struct control_link l;
		json_t *j = NULL;

		if (setuid(65534) || control_connect(&l, w->dir, NULL))
			_exit(2);
		control_ask(&l, CONTROL_ROLLBACK, 0);
		_exit(control_next(&j, &l, 5000) == -EPIPE ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(w->asked[CONTROL_ROLLBACK], 0);
	free(path);
}

static void questions_are_answered_in_order(void **state)
{
	struct world *w = *state;
	struct control_link l = link_to(w);
	json_t *j;

	control_ask(&l, CONTROL_STATUS, 0);
	control_ask(&l, CONTROL_CONFIRM, 0);
	control_ask(&l, CONTROL_EXTEND, 60);
	control_ask_override(&l, 1u << WATCH_ERRORS | 1u << WATCH_REACH);
	j = next(&l);
	assert_string_equal(str(j, "re"), "status");
	assert_true(json_is_true(json_object_get(j, "ok")));
	json_decref(j);
	j = next(&l);
	assert_string_equal(str(j, "re"), "confirm");
	assert_string_equal(str(j, "error"), "not yet");
	json_decref(j);
	json_decref(next(&l));
	assert_int_equal(w->seconds, 60);
	j = next(&l);
	assert_string_equal(str(j, "re"), "override");
	assert_int_equal(w->watches, 1u << WATCH_ERRORS | 1u << WATCH_REACH);
	json_decref(j);
	control_close(&l);
}

static void followers_get_what_was_kept_and_what_comes(void **state)
{
	struct world *w = *state;
	struct control_link l;
	json_t *j;

	control_publish(w->c, json_pack("{s:s, s:i}", "event", "step", "n", 1), true);
	control_publish(w->c, json_pack("{s:s, s:i}", "event", "item", "n", 2), false);
	l = link_to(w);
	control_ask(&l, CONTROL_FOLLOW, 0);
	json_decref(next(&l));
	j = next(&l);
	assert_int_equal(json_integer_value(json_object_get(j, "n")), 1);
	json_decref(j);
	control_publish(w->c, json_pack("{s:s, s:i}", "event", "item", "n", 3), false);
	j = next(&l);
	assert_int_equal(json_integer_value(json_object_get(j, "n")), 3);
	json_decref(j);
	control_publish(w->c, json_pack("{s:s}", "event", "over"), true);
	control_free(w->c);
	w->c = NULL;
	j = next(&l);
	assert_string_equal(str(j, "event"), "over");
	json_decref(j);
	assert_int_equal(control_next(&j, &l, 5000), -EPIPE);
	control_close(&l);
	assert_int_equal(control_connect(&l, w->dir, NULL), -ENOENT); /* removed at the end */
}

/* Works all the while others misbehave. */
static void still_works(struct world *w)
{
	struct control_link l = link_to(w);
	unsigned before = w->asked[CONTROL_EXTEND];

	control_ask(&l, CONTROL_EXTEND, 1);
	json_decref(next(&l));
	assert_int_equal(w->asked[CONTROL_EXTEND], before + 1);
	control_close(&l);
}

static void garbage_is_answered_once_and_dropped(void **state)
{
	struct world *w = *state;
	struct control_link l = link_to(w);
	json_t *j;

	assert_int_equal(send(l.fd, "GET / HTTP/1.0\r\n\r\n{\"op\":\"rollback\"}\n", 37, 0), 37);
	j = next(&l);
	assert_string_equal(str(j, "re"), "?");
	json_decref(j);
	assert_true(control_next(&j, &l, 5000) < 0);
	assert_int_equal(w->asked[CONTROL_ROLLBACK], 0);
	control_close(&l);
	still_works(w);
}

static void line_without_an_end_is_dropped(void **state)
{
	struct world *w = *state;
	struct control_link l = link_to(w);
	char zeros[2 * CONTROL_LINE_MAX] = "";
	json_t *j = NULL;

	send(l.fd, zeros, sizeof(zeros), MSG_NOSIGNAL);
	while (control_next(&j, &l, 5000) == 1)
		json_decref(j);
	control_close(&l);
	still_works(w);
}

static void many_silent_clients_keep_nobody_out(void **state)
{
	struct world *w = *state;
	struct control_link l[60];

	for (size_t i = 0; i < 60; i++) {
		l[i] = link_to(w);
		if (i % 2)
			send(l[i].fd, "{\"op\":", 6, MSG_NOSIGNAL);
		if (i % 10 == 9)
			still_works(w);
	}
	for (size_t i = 0; i < 60; i++)
		control_close(&l[i]);
	still_works(w);
}

static void client_that_does_not_read_is_dropped_and_slows_nobody(void **state)
{
	struct world *w = *state;
	struct control_link l = link_to(w);
	char *text = xcalloc(1, 60001);
	uint64_t start, took;
	json_t *j;
	int rc;

	memset(text, 'x', 60000);
	control_ask(&l, CONTROL_FOLLOW, 0);
	json_decref(next(&l));
	start = clock_ms();
	for (int i = 0; i < 200; i++)
		control_publish(w->c, json_pack("{s:s}", "event", text), false);
	took = clock_ms() - start;
	assert_true(took < 30000); /* one that waits for the client waits for ever */
	still_works(w);
	while ((rc = control_next(&j, &l, 5000)) == 1)
		json_decref(j);
	assert_true(rc < 0); /* cut off, not kept waiting */
	control_close(&l);
	free(text);
}

static void path_longer_than_an_address_is_fine(void **state)
{
	struct world *w = *state;
	char *deep = xasprintf("%s/%0120d", w->dir, 7);
	struct control *c;
	struct control_link l;

	assert_int_equal(mkdir(deep, 0700), 0);
	assert_int_equal(control_new(&c, on_request, w, NULL), 0);
	assert_int_equal(control_listen(c, deep, NULL), 0);
	assert_int_equal(control_connect(&l, deep, NULL), 0);
	control_ask(&l, CONTROL_STATUS, 0);
	json_decref(next(&l));
	control_close(&l);
	control_free(c);
	free(deep);
}

static void socket_of_a_dead_server_is_replaced(void **state)
{
	struct world *w = *state;
	struct control_link l;
	struct control *c;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (control_new(&c, on_request, w, NULL) || control_listen(c, w->dir, NULL))
			_exit(1);
		_exit(0); /* without removing it */
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(control_connect(&l, w->dir, NULL), -ECONNREFUSED);
	assert_int_equal(control_new(&c, on_request, w, NULL), 0);
	assert_int_equal(control_listen(c, w->dir, NULL), 0);
	still_works(w);
	control_free(c);
}

static atomic_int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

/* Handlers of the process reach what its main thread owns. */
static void signals_are_left_to_the_thread_that_owns_the_update(void **state)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;
	sigset_t one, was, pending;

	still_works(*state); /* it runs */
	sigaction(SIGUSR1, &sa, &old);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one, &was);
	kill(getpid(), SIGUSR1);
	still_works(*state);
	assert_int_equal(signals, 0);
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	assert_int_equal(signals, 1);
	sigaction(SIGUSR1, &old, NULL);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(requests_are_parsed_strictly),
		T(random_bytes_are_refused_without_harm),
		T(socket_is_for_its_owner_only),
		T(questions_are_answered_in_order),
		T(followers_get_what_was_kept_and_what_comes),
		T(garbage_is_answered_once_and_dropped),
		T(line_without_an_end_is_dropped),
		T(many_silent_clients_keep_nobody_out),
		T(client_that_does_not_read_is_dropped_and_slows_nobody),
		T(path_longer_than_an_address_is_fine),
		T(socket_of_a_dead_server_is_replaced),
		T(signals_are_left_to_the_thread_that_owns_the_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
