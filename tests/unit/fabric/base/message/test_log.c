/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log and the locks of those who take its lines. */
#include "fabric/base/message/log.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_S 20

struct events {
	pthread_mutex_t lock; /* recursive */
	atomic_uint begun, lines;
};

static void keep(void *ctx, const struct log_line *line)
{
	struct events *e = ctx;

	(void)line;
	atomic_fetch_add(&e->begun, 1);
	pthread_mutex_lock(&e->lock);
	atomic_fetch_add(&e->lines, 1);
	pthread_mutex_unlock(&e->lock);
}

static void *say(void *unused)
{
	log_add(LOG_INFO, "test", "from another thread");
	return unused;
}

/* As the thread that draws has the events, and a view logs. */
static void who_has_the_lock_of_a_sink_can_log(void **state)
{
	struct events e = { .begun = 0 };
	pthread_mutexattr_t again;
	pthread_t other;

	(void)state;
	alarm(LONG_S);
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&e.lock, &again);
	log_set_sink(keep, &e);
	pthread_mutex_lock(&e.lock);
	assert_int_equal(pthread_create(&other, NULL, say, NULL), 0);
	while (!atomic_load(&e.begun))
		usleep(1000);
	log_add(LOG_INFO, "test", "while the other waits in the sink");
	pthread_mutex_unlock(&e.lock);
	pthread_join(other, NULL);
	assert_int_equal(atomic_load(&e.lines), 2);
	log_set_sink(NULL, NULL);
	alarm(0);
	pthread_mutex_destroy(&e.lock);
	pthread_mutexattr_destroy(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_the_lock_of_a_sink_can_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
