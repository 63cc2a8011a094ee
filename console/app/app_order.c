/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for an order of writes: how far it is, and that it is ended. */
#include "console/app/app_priv.h"

#include "fabric/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void app_order_begin(struct app *a)
{
	a->order_asked = clock_s();
	a->state.ordering = (struct state_ordering){ .most_s = NAN, .about_s = NAN };
}

void app_order_stop(struct app *a)
{
	struct state_preview *p = &a->state.preview;
	struct proposal *x = &p->list[p->at];
	uint64_t serial = a->kept[p->at].serial;

	if (!p->n || x->order != ORDER_WAITS)
		return;
	x->order = ORDER_ENDED;
	snprintf(x->order_error, sizeof(x->order_error),
		 "the search for an order of writes was ended: %s it again, r computes the "
		 "proposal anew",
		 a->state.rw ? "A or w begins" : "w begins");
	app_record_action(a, "order.stop", x->id);
	if (a->cost_serial == serial) {
		worker_cancel_cost(a->worker);
		a->cost_serial = 0;
	}
	app_order_known(a, serial, x->order_error);
	app_want_cost(a);
}

void app_order_again(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	if (!p->n || p->list[p->at].order != ORDER_ENDED)
		return;
	p->list[p->at].order = ORDER_WAITS;
	p->list[p->at].order_error[0] = '\0';
	app_record_action(a, "order.again", p->list[p->at].id);
	app_order_hurry(a);
}

void app_order_hurry(struct app *a)
{
	const struct state_preview *p = &a->state.preview;
	bool runs = a->work.on && a->work.type == MSG_COST_STEP;

	if (a->cost_serial == a->kept[p->at].serial && runs)
		return;
	app_order_ask(a, p->at, true);
}

void app_order_ask(struct app *a, uint32_t at, bool urgent)
{
	const struct proposal *x = &a->state.preview.list[at];
	struct route_inputs in = { .f = a->fabric,
				   .installed = a->kept[at].msg->from,
				   .tables = x->tables,
				   .files = x->files,
				   .jobs = x->jobs,
				   .sm = app_sm_pin(a) };

	a->cost_serial = a->kept[at].serial;
	app_order_begin(a);
	worker_cost(a->worker, &in, a->cost_serial, urgent);
}

void app_order_refresh(struct app *a)
{
	struct state_preview *p = &a->state.preview;

	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].ordering = a->cost_serial && a->kept[i].serial == a->cost_serial;
	a->state.ordering.took_s = clock_s() - a->order_asked;
}
