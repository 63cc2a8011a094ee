/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that computes: what is asked for has an end, whichever. */
#include "console/worker.h"

#include "engines/minhop.h"
#include "fabric/base/clock.h"
#include "tests/unit/route_check.h"
#include "tests/unit/small_net.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SERIAL 7
#define LONG_S 120

/* The next message of one of these types; fails the test after a long time. */
static struct msg *next_of(struct mailbox *box, enum msg_type a, enum msg_type b)
{
	struct pollfd fd = { .fd = mailbox_fd(box), .events = POLLIN };
	double end = clock_s() + LONG_S;
	struct msg *m;

	while (clock_s() < end) {
		while ((m = mailbox_take(box))) {
			if (m->type == a || m->type == b)
				return m;
			msg_drop(m);
		}
		poll(&fd, 1, 100);
	}
	fail_msg("no message of type %d or %d", a, b);
	return NULL;
}

/* It waits for the figures, as on a large fabric just after the start. */
static void a_preview_that_is_cancelled_while_it_waits_is_told(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=36,spines=18,hosts=18");
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct worker *w = worker_start(box);
	struct preview_ask ask = {
		.fabric = f, .current = t, .engine = &engine_minhop, .serial = SERIAL
	};
	struct msg *m;

	(void)state;
	worker_metrics(w, f, t, NULL, true, false);
	msg_drop(next_of(box, MSG_METRICS_STEP, MSG_METRICS));
	worker_preview(w, &ask);
	worker_cancel(w);
	/* a machine that slept meanwhile may have been done before */
	m = next_of(box, MSG_PREVIEW_FAILED, MSG_PREVIEW);
	assert_int_equal(m->total, SERIAL);
	if (m->type == MSG_PREVIEW_FAILED)
		assert_int_equal(m->rc, -ECANCELED);
	msg_drop(m);
	worker_stop(w);
	mailbox_free(box);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_preview_that_is_cancelled_while_it_waits_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
