/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for an order of writes: how far it is, and that it is ended. */
#include "console/app_priv.h"

#include "console/stopwatch.h"
#include "fabric/base/clock.h"

#include <stdio.h>
#include <string.h>

void app_order_begin(struct app *a)
{
	a->order_asked = clock_s();
	a->order_step = NULL;
	a->state.ordering = (struct state_ordering){ 0 };
}

/* Some steps come several times: each time from 0. */
void app_order_step(struct app *a, const struct msg *msg)
{
	struct state_ordering *o = &a->state.ordering;
	double now = clock_s();

	if (!a->order_step || strcmp(a->order_step, msg->step) != 0 || msg->done < a->order_done) {
		a->order_step = msg->step;
		a->order_start = now;
	}
	a->order_done = msg->done;
	progress_words(o->words, sizeof(o->words), msg->step, msg->done, msg->total,
		       now - a->order_start);
}

void app_order_stop(struct app *a)
{
	struct state_preview *p = &a->state.preview;
	struct proposal *x = &p->list[p->at];
	uint64_t serial = a->kept[p->at].serial;

	if (!p->n || x->order != ORDER_WAITS)
		return;
	x->order = ORDER_FAILED;
	snprintf(x->order_error, sizeof(x->order_error),
		 "the search for an order of writes was ended: r computes the proposal anew, and "
		 "looks again");
	app_record_action(a, "order.stop", x->id);
	if (a->cost_serial == serial) {
		worker_cancel_cost(a->worker);
		a->cost_serial = 0;
	}
	app_order_known(a, serial, x->order_error);
	app_want_cost(a);
}

void app_order_refresh(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].ordering = a->cost_serial && a->kept[i].serial == a->cost_serial;
	a->state.ordering.took_s = clock_s() - a->order_asked;
}
