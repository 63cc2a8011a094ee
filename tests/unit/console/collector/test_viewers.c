/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many who look on, some of whom are slow, and some of whom mean harm. */
#include "console/collector/viewers.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct asked {
	uint32_t past, wants;
	uint64_t viewer;
	enum want_type want;
};

static struct asked asked;

static void on_past(void *ctx, uint64_t viewer, const struct past_ask *ask)
{
	(void)ctx;
	(void)ask;
	asked.past++;
	asked.viewer = viewer;
}

static void on_want(void *ctx, enum want_type want)
{
	(void)ctx;
	asked.wants++;
	asked.want = want;
}

static struct viewers *viewers_of_test(void)
{
	const struct viewers_ops ops = { .past = on_past, .want = on_want };

	asked = (struct asked){ 0 };
	return viewers_new(&ops);
}

/* The viewer's end, which waits for nothing. */
static int joined(struct viewers *v, bool may_write, const struct frame *first)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	viewers_add(v, fd[0], may_write, &first, first ? 1 : 0);
	return fd[1];
}

static struct frame *frame_new(enum frame_kind kind, uint32_t len, uint8_t byte)
{
	uint8_t *data = xcalloc(len, 1);

	memset(data, byte, len);
	return frame_kept(kind, byte, data, len);
}

static void tell(struct viewers *v, enum frame_kind kind, uint32_t len, uint8_t byte)
{
	struct frame *f = frame_new(kind, len, byte);

	viewers_send(v, f, false);
	frame_put(f);
}

static void serve(struct viewers *v)
{
	struct pollfd fds[VIEWERS_MAX];
	uint32_t n = viewers_poll(v, fds);

	poll(fds, n, 0);
	viewers_serve(v, fds, n);
}

/* All that comes until nothing does: kinds and first bytes; returns how many frames. */
static uint32_t heard(struct viewers *v, int fd, uint32_t *kinds, uint8_t *bytes, uint32_t max)
{
	static uint8_t buf[64u << 20];
	size_t n = 0, at = 0;
	uint32_t frames = 0;

	for (int idle = 0; idle < 3;) {
		ssize_t got;

		serve(v);
		got = read(fd, buf + n, sizeof(buf) - n);
		idle = got > 0 ? 0 : idle + 1;
		n += got > 0 ? (size_t)got : 0;
	}
	while (at + sizeof(struct frame_head) <= n && frames < max) {
		struct frame_head h;

		memcpy(&h, buf + at, sizeof(h));
		assert_int_equal(h.magic, FRAME_MAGIC);
		kinds[frames] = h.kind;
		bytes[frames++] = buf[at + sizeof(h)];
		at += sizeof(h) + h.len;
	}
	assert_int_equal(at, n);
	return frames;
}

static void say(int fd, uint32_t kind, const void *data, uint32_t len)
{
	struct frame_head h = { .magic = FRAME_MAGIC, .kind = kind, .len = len };

	assert_int_equal(send(fd, &h, sizeof(h), MSG_NOSIGNAL), sizeof(h));
	if (len)
		assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

static void each_hears_all_that_is_new(void **state)
{
	struct viewers *v = viewers_of_test();
	struct frame *first = frame_new(FRAME_HELLO, 8, 1);
	int a = joined(v, false, first), b = joined(v, false, first);
	uint32_t kinds[8];
	uint8_t bytes[8];

	(void)state;
	tell(v, FRAME_FABRIC, 100, 2);
	tell(v, FRAME_SAMPLE, 100, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(heard(v, i ? b : a, kinds, bytes, 8), 3);
		assert_int_equal(kinds[0], FRAME_HELLO);
		assert_int_equal(kinds[1], FRAME_FABRIC);
		assert_int_equal(kinds[2], FRAME_SAMPLE);
	}
	frame_put(first);
	close(a);
	close(b);
	viewers_free(v);
}

/* Megabytes of samples; but what is once begun is sent to its end. */
static void a_slow_one_gets_the_newest_and_no_backlog(void **state)
{
	struct viewers *v = viewers_of_test();
	int fd = joined(v, false, NULL);
	uint32_t kinds[16], n;
	uint8_t bytes[16];

	(void)state;
	for (uint8_t i = 1; i <= 50; i++) {
		tell(v, FRAME_SAMPLE, 1u << 20, i);
		tell(v, FRAME_JOBS, 1000, i);
		serve(v);
	}
	n = heard(v, fd, kinds, bytes, 16);
	assert_true(n >= 2 && n <= 4);
	assert_int_equal(bytes[n - 1], 50);
	assert_int_equal(bytes[n - 2], 50);
	close(fd);
	viewers_free(v);
}

static void what_is_of_an_older_fabric_is_not_sent_any_more(void **state)
{
	struct viewers *v = viewers_of_test();
	int fd = joined(v, false, NULL);
	struct frame *again = frame_new(FRAME_FABRIC, 10, 3);
	uint32_t kinds[8];
	uint8_t bytes[8];

	(void)state;
	tell(v, FRAME_FABRIC, 10, 1);
	tell(v, FRAME_TABLES, 10, 1);
	tell(v, FRAME_SAMPLE, 10, 1);
	tell(v, FRAME_FABRIC, 10, 2);
	tell(v, FRAME_TABLES, 10, 2);
	/* the same fabric again must not come behind its tables alone */
	viewers_send(v, again, true);
	assert_int_equal(heard(v, fd, kinds, bytes, 8), 2);
	assert_int_equal(kinds[0], FRAME_FABRIC);
	assert_int_equal(bytes[0], 2);
	assert_int_equal(kinds[1], FRAME_TABLES);
	viewers_send(v, again, true);
	assert_int_equal(heard(v, fd, kinds, bytes, 8), 1);
	frame_put(again);
	close(fd);
	viewers_free(v);
}

static void words_are_bounded_and_the_last_are_kept(void **state)
{
	struct viewers *v = viewers_of_test();
	int fd = joined(v, false, NULL);
	static uint32_t kinds[4000];
	static uint8_t bytes[4000];
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		tell(v, FRAME_LOG, 10, (uint8_t)i);
	n = heard(v, fd, kinds, bytes, 4000);
	assert_int_equal(n, 512);
	assert_int_equal(bytes[n - 1], (uint8_t)2999);
	close(fd);
	viewers_free(v);
}

static void one_question_at_a_time_is_answered(void **state)
{
	struct viewers *v = viewers_of_test();
	int fd = joined(v, false, NULL);
	struct past_ask ask = { .serial = 1 };
	struct frame *f = frame_new(FRAME_PAST, 100, 9);
	uint32_t kinds[8];
	uint8_t bytes[8];

	(void)state;
	say(fd, FRAME_ASK_PAST, &ask, sizeof(ask));
	serve(v);
	assert_int_equal(asked.past, 1);
	viewers_answer(v, asked.viewer, f);
	viewers_answer(v, asked.viewer + 1, f); /* who has left */
	assert_int_equal(heard(v, fd, kinds, bytes, 8), 1);
	assert_int_equal(kinds[0], FRAME_PAST);
	say(fd, FRAME_ASK_PAST, &ask, sizeof(ask));
	serve(v);
	assert_int_equal(asked.past, 2);
	assert_int_equal(viewers_count(v), 1);
	/* a second one before the answer is none of a viewer of ours */
	say(fd, FRAME_ASK_PAST, &ask, sizeof(ask));
	serve(v);
	assert_int_equal(asked.past, 2);
	assert_int_equal(viewers_count(v), 0);
	frame_put(f);
	close(fd);
	viewers_free(v);
}

static void only_who_may_write_has_something_read(void **state)
{
	struct viewers *v = viewers_of_test();
	int looks = joined(v, false, NULL), asks = joined(v, true, NULL);
	uint8_t want = WANT_SAMPLE;

	(void)state;
	say(asks, FRAME_ASK_WANT, &want, 1);
	serve(v);
	assert_int_equal(asked.wants, 1);
	assert_int_equal(asked.want, WANT_SAMPLE);
	assert_int_equal(viewers_count(v), 2);
	want = WANT_ERRORS; /* as often as it is asked for, it is read every few seconds */
	say(looks, FRAME_ASK_WANT, &want, 1);
	serve(v);
	assert_int_equal(asked.want, WANT_ERRORS);
	assert_int_equal(viewers_count(v), 2);
	asked.wants = 1;
	want = WANT_SAMPLE;
	say(looks, FRAME_ASK_WANT, &want, 1);
	serve(v);
	assert_int_equal(asked.wants, 1);
	assert_int_equal(viewers_count(v), 1);
	want = WANT_COUNT;
	say(asks, FRAME_ASK_WANT, &want, 1);
	serve(v);
	assert_int_equal(viewers_count(v), 0);
	close(looks);
	close(asks);
	viewers_free(v);
}

static void whoever_says_anything_else_is_closed(void **state)
{
	static const char garbage[] =
		"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: none\r\n\r\n";
	struct frame_head large = { .magic = FRAME_MAGIC, .kind = FRAME_ASK_PAST, .len = 1u << 20 };
	struct viewers *v = viewers_of_test();
	int a = joined(v, true, NULL), b = joined(v, true, NULL), c = joined(v, true, NULL);

	(void)state;
	assert_int_equal(send(a, garbage, sizeof(garbage), 0), sizeof(garbage));
	assert_int_equal(send(b, &large, sizeof(large), 0), sizeof(large));
	close(c);
	serve(v);
	assert_int_equal(viewers_count(v), 0);
	close(a);
	close(b);
	viewers_free(v);
}

/* Each with an answer of its own that it does not read. */
static void answers_that_nobody_reads_are_bounded(void **state)
{
	struct viewers *v = viewers_of_test();
	struct frame *f = frame_new(FRAME_PAST, 16u << 20, 9);
	int fd[12];

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct past_ask ask = { .serial = 1 };

		fd[i] = joined(v, false, NULL);
		say(fd[i], FRAME_ASK_PAST, &ask, sizeof(ask));
		serve(v);
		viewers_answer(v, asked.viewer, f);
	}
	serve(v);
	assert_int_equal(viewers_count(v), 8);
	for (int i = 0; i < 12; i++)
		close(fd[i]);
	frame_put(f);
	viewers_free(v);
}

static void no_more_than_the_most_are_let_in(void **state)
{
	struct viewers *v = viewers_of_test();
	int fd[VIEWERS_MAX + 1];
	char byte;

	(void)state;
	for (int i = 0; i <= VIEWERS_MAX; i++)
		fd[i] = joined(v, false, NULL);
	assert_int_equal(viewers_count(v), VIEWERS_MAX);
	assert_int_equal(read(fd[VIEWERS_MAX], &byte, 1), 0);
	for (int i = 0; i <= VIEWERS_MAX; i++)
		close(fd[i]);
	serve(v);
	assert_int_equal(viewers_count(v), 0);
	viewers_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_hears_all_that_is_new),
		cmocka_unit_test(a_slow_one_gets_the_newest_and_no_backlog),
		cmocka_unit_test(what_is_of_an_older_fabric_is_not_sent_any_more),
		cmocka_unit_test(words_are_bounded_and_the_last_are_kept),
		cmocka_unit_test(one_question_at_a_time_is_answered),
		cmocka_unit_test(only_who_may_write_has_something_read),
		cmocka_unit_test(whoever_says_anything_else_is_closed),
		cmocka_unit_test(answers_that_nobody_reads_are_bounded),
		cmocka_unit_test(no_more_than_the_most_are_let_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
