/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the thread that owns the wire reads again, and what it does not. */
#include "console/session/poller.h"

#include "console/session/engine_list.h"
#include "engines/minhop.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/baseline/findings.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/wire/notice_port.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/fake_osm.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/thread_spy.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT_S 120

/* The next message of that type; others are dropped. */
static struct msg *next_of(struct mailbox *box, enum msg_type type)
{
	double end = clock_s() + LIMIT_S;

	while (clock_s() < end) {
		struct pollfd p = { .fd = mailbox_fd(box), .events = POLLIN };
		struct msg *msg = mailbox_take(box);

		if (msg && msg->type == type)
			return msg;
		if (msg)
			msg_drop(msg);
		else
			poll(&p, 1, 100);
	}
	fail_msg("no message of type %d within %d s", type, LIMIT_S);
	return NULL;
}

/* The next whole tables: on a slow machine LFTs alone may come before. */
static struct msg *next_tables(struct mailbox *box, bool whole)
{
	struct msg *msg = next_of(box, MSG_TABLES);

	while (whole && !tables_know_vls(msg->tables)) {
		msg_drop(msg);
		msg = next_of(box, MSG_TABLES);
	}
	return msg;
}

/* The wire is closed then, too. */
static void no_thread_is_told_and_leaves_nothing_behind(void **state)
{
	struct poller_opts po = { .interval_s = 60, .sweep_s = 60, .tables_s = 60 };
	struct fabric *f = net_chain(1, 8, FAB_NONE, NULL);
	struct mailbox *box = mailbox_new();
	struct poller *p = NULL;
	struct sim *sim;
	struct wire *w;
	struct err err = { "" };

	(void)state;
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, NULL, &err), 0);
	thread_spy_fail_at = 1;
	assert_int_equal(poller_start(&p, w, &po, box, &err), -EAGAIN);
	assert_null(p);
	assert_non_null(strstr(err.text, "thread poller cannot be started"));
	poller_stop(p);
	poller_free(p);
	assert_null(mailbox_take(box));
	mailbox_free(box);
	sim_free(sim);
	fabric_put(f);
}

static void sl2vl_tables_are_read_again_only_when_a_route_has_changed(void **state)
{
	struct poller_opts po = { .interval_s = 60, .sweep_s = 60 };
	struct fabric *f = net_chain(1, 8, FAB_NONE, NULL);
	struct tables *t = tables_new(f, "test");
	const struct tables *first;
	struct mailbox *box = mailbox_new();
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct err err;
	struct msg *msg;
	uint64_t all;
	uint8_t last;

	(void)state;
	po.tables_s = 0.01;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (fabric_lid_switch(f, lid, &last) == 0)
			tables_row(t, 0)[lid] = last;
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, NULL, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg = next_tables(box, true);
	all = msg->total;
	first = tables_get(msg->tables);
	msg_drop(msg);
	for (int i = 0; i < 2; i++) {
		msg = next_tables(box, true);
		assert_true(msg->total < all / 4);
		assert_ptr_equal(msg->tables, first);
		msg_drop(msg);
	}
	/* somebody writes */
	sim_poke_lft(sim, 0, f->max_lid, 1);
	do {
		msg = next_tables(box, true);
		if (msg->tables == first) {
			msg_drop(msg);
			msg = NULL;
		}
	} while (!msg);
	assert_true(msg->total > all / 2);
	assert_int_equal(tables_row(msg->tables, 0)[f->max_lid], 1);
	tables_put(first);
	first = tables_get(msg->tables);
	msg_drop(msg);
	/* or is known to have written, whatever the LFTs say */
	poller_want(p, WANT_TABLES);
	do {
		msg = next_tables(box, true);
		if (msg->tables == first) {
			msg_drop(msg);
			msg = NULL;
		}
	} while (!msg);
	assert_true(msg->total > all / 2);
	msg_drop(msg);
	tables_put(first);
	poller_stop(p);
	poller_free(p);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* When the next reading of error counters began. */
static uint64_t next_errors(struct mailbox *box)
{
	struct pollfd fd = { .fd = mailbox_fd(box), .events = POLLIN };
	double end = clock_s() + LIMIT_S;
	struct msg *msg;

	while (clock_s() < end) {
		while ((msg = mailbox_take(box))) {
			bool read = msg->type == MSG_FINDINGS;
			uint64_t at = read ? msg->findings->errors->began_ms : 0;

			msg_drop(msg);
			if (read)
				return at;
		}
		poll(&fd, 1, 100);
	}
	fail_msg("no error counters within %d s", LIMIT_S);
	return 0;
}

static void error_counters_are_read_when_wanted_but_not_all_the_time(void **state)
{
	struct poller_opts po = { .interval_s = 60, .sweep_s = 60, .tables_s = 60 };
	struct fabric *f = net_chain(1, 8, FAB_NONE, NULL);
	struct tables *t = tables_new(f, "test");
	struct mailbox *box = mailbox_new();
	uint64_t first, second, asked;
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	uint8_t last;

	(void)state;
	po.watch = po.want_errors = true;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (fabric_lid_switch(f, lid, &last) == 0)
			tables_row(t, 0)[lid] = last;
	assert_int_equal(sim_new(&sim, f, NULL, NULL), 0);
	assert_int_equal(sim_install_tables(sim, t, NULL), 0);
	assert_int_equal(wire_open_sim(&w, sim, NULL, NULL), 0);
	assert_int_equal(poller_start(&p, w, &po, box, NULL), 0);
	first = next_errors(box);
	/* at once many want them: one reading, some seconds after the last one */
	asked = clock_ms();
	for (int i = 0; i < 20; i++)
		poller_want(p, WANT_ERRORS);
	second = next_errors(box);
	assert_in_range(second - first, 4990, 8000);
	assert_true(second >= asked);
	poller_stop(p);
	poller_free(p);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* How a sweep that somebody asked for ended; true: it was ended. */
static bool ended(struct mailbox *box)
{
	struct pollfd fd = { .fd = mailbox_fd(box), .events = POLLIN };
	double end = clock_s() + LIMIT_S;
	struct msg *msg;

	while (clock_s() < end) {
		while ((msg = mailbox_take(box))) {
			bool found = msg->type == MSG_FABRIC;
			bool stopped = msg->type == MSG_DISCOVERING && msg->rc == -ECANCELED;

			if (found) /* who draws need not find out */
				assert_true(msg->engines && msg->engines->n > 1);
			msg_drop(msg);
			if (found || stopped)
				return stopped;
		}
		poll(&fd, 1, 100);
	}
	fail_msg("no end of a sweep within %d s", LIMIT_S);
	return false;
}

static void a_sweep_that_is_ended_leaves_all_as_it_was(void **state)
{
	struct poller_opts po = { .interval_s = 600, .sweep_s = 600, .tables_s = 600 };
	struct fabric *f = net_tree(18, 18, 18, NULL);
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct err err;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, NULL, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg_drop(next_tables(box, false));
	for (int i = 0; i < 50 && !n; i++) { /* it may be over before it is ended */
		poller_want(p, WANT_SWEEP);
		poller_end_sweep(p);
		n += ended(box);
	}
	assert_int_equal(n, 1);
	poller_end_sweep(p); /* there is none */
	poller_want(p, WANT_SWEEP);
	assert_false(ended(box));
	msg_drop(next_tables(box, false)); /* goes on as ever */
	poller_stop(p);
	poller_free(p);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* How far the SL2VL tables are; -ECANCELED: ended. */
static uint64_t next_step(struct mailbox *box, int *rc)
{
	struct msg *msg = next_of(box, MSG_TABLES_READING);
	uint64_t done = msg->done;

	*rc = msg->rc;
	msg_drop(msg);
	return done;
}

/* 33,000 SL2VL tables at 7 ms for 32 of them: 7 s, of which the test sees one or two. */
static void lfts_are_told_at_once_and_sl2vl_can_be_ended_and_goes_on(void **state)
{
	struct poller_opts po = { .interval_s = 600, .sweep_s = 600, .tables_s = 600 };
	struct fabric *f = net_tree(16, 16, 16, NULL);
	struct engine_params params = { 0 };
	struct tables *t = must_route(&engine_minhop, f, NULL, &params);
	struct mailbox *box = mailbox_new();
	struct sim_opts so;
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct err err;
	struct msg *msg;
	uint64_t done, at = 0;
	int rc;

	(void)state;
	sim_opts_init(&so);
	so.delay_us = 7000;
	assert_int_equal(sim_new(&sim, f, &so, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, NULL, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg = next_tables(box, false);
	assert_false(tables_know_vls(msg->tables));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		assert_memory_equal(tables_row(msg->tables, sw), tables_row(t, sw),
				    t->max_lid + 1u);
	msg_drop(msg);
	msg_drop(next_of(box, MSG_SAMPLE)); /* which does not wait for them */
	poller_tables_end(p);
	for (done = next_step(box, &rc); !rc; done = next_step(box, &rc))
		at = done;
	assert_int_equal(rc, -ECANCELED);
	poller_want(p, WANT_SAMPLE);
	msg_drop(next_of(box, MSG_SAMPLE));
	poller_want(p, WANT_READ_ON);
	done = next_step(box, &rc);
	assert_int_equal(rc, 0);
	assert_true(done > at);
	poller_stop(p);
	poller_free(p);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* Long before the next one is due by the clock; a burst is one. */
static void a_notice_of_a_link_leads_to_a_discovery(void **state)
{
	struct poller_opts po = { .interval_s = 600, .sweep_s = 600, .tables_s = 600 };
	struct fabric *f = net_chain(2, 8, FAB_NONE, NULL);
	struct notice link = { .type = NOTICE_URGENT,
			       .producer = NOTICE_SWITCH,
			       .trap = NOTICE_LINK_STATE };
	struct wire_opts wo = { .term = 2, .notices = true };
	struct notice_opts no = { .term = 5 };
	struct tables *t = even_paths(f);
	struct mailbox *box = mailbox_new();
	struct sim_sm_counts counts;
	struct notice_port *np;
	struct mad_port port;
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct msg *msg;
	struct err err;
	int sweeps = 0;
	double end;

	(void)state;
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, &wo, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg_drop(next_of(box, MSG_FABRIC));
	do {
		poll(NULL, 0, 10);
		sim_sm_counts(sim, &counts);
	} while (!counts.subscriptions);
	assert_int_equal(sim_port_open(&port, sim, 5, &err), 0);
	np = notice_port_new(&port, &no);
	for (uint16_t i = 1; i <= 3; i++) {
		link.count = i;
		assert_int_equal(notice_send(np, &link, &err), 0);
	}
	msg_drop(next_of(box, MSG_FABRIC));
	for (end = clock_s() + 1; clock_s() < end;) {
		msg = mailbox_take(box);
		if (!msg) {
			poll(NULL, 0, 10);
			continue;
		}
		sweeps += msg->type == MSG_FABRIC;
		msg_drop(msg);
	}
	assert_int_equal(sweeps, 0);
	poller_stop(p);
	poller_free(p);
	notice_port_close(np);
	while ((msg = mailbox_take(box)))
		msg_drop(msg);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* What the log says of notices. */
static void keep_notices(void *ctx, const struct log_line *line)
{
	if (strstr(line->text, "of link changes"))
		snprintf(ctx, sizeof(line->text), "%s", line->text);
}

static void send_of_switch(const struct mad_port *port, const struct fabric *f, uint32_t sw,
			   uint32_t tid)
{
	struct notice link = { .type = NOTICE_URGENT,
			       .producer = NOTICE_SWITCH,
			       .trap = NOTICE_LINK_STATE,
			       .issuer_lid = f->sw_lid[sw] };
	struct mad_packet p;

	trap_build(&p, f->term_lid[0], &link, tid);
	assert_int_equal(port->ops->send(port->ctx, &p, NULL), 0);
}

static void notices_of_two_switches_lead_to_a_discovery_of_these(void **state)
{
	struct poller_opts po = { .interval_s = 600, .sweep_s = 600, .tables_s = 600 };
	struct fabric *f = net_tree(7, 2, 3, NULL);
	struct wire_opts wo = { .term = 2, .notices = true };
	struct tables *t = even_paths(f);
	struct mailbox *box = mailbox_new();
	struct sim_sm_counts counts;
	char said[sizeof(((struct log_line *)0)->text)] = "";
	struct mad_port port;
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct msg *msg;
	struct err err;
	uint32_t c = f->chan_off[f->term_sw[f->nterm - 1]]; /* no way of the notices */

	(void)state;
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	assert_int_equal(wire_open_sim(&w, sim, &wo, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg_drop(next_of(box, MSG_FABRIC));
	do {
		poll(NULL, 0, 10);
		sim_sm_counts(sim, &counts);
	} while (!counts.subscriptions);
	log_set_sink(keep_notices, said);
	assert_int_equal(sim_port_open(&port, sim, 5, &err), 0);
	sim_link_set(sim, f->chan_src[c], f->chan_port[c], false);
	send_of_switch(&port, f, f->chan_src[c], 77);
	send_of_switch(&port, f, f->chan_dst[c], 78);
	msg = next_of(box, MSG_FABRIC);
	assert_int_equal(msg->fabric->nchan, f->nchan - 2);
	msg_drop(msg);
	assert_non_null(strstr(said, "2 notices of link changes of "));
	assert_non_null(strstr(said, " and others: discovering 2 switches again"));
	poller_stop(p);
	log_set_sink(NULL, NULL);
	poller_free(p);
	port.ops->close(port.ctx);
	while ((msg = mailbox_take(box)))
		msg_drop(msg);
	mailbox_free(box);
	sim_free(sim);
	tables_put(t);
	fabric_put(f);
}

/* The next discovery would be in an hour. */
static void a_link_that_goes_down_is_followed_by_a_discovery(void **state)
{
	struct poller_opts po = { .interval_s = 0.05, .sweep_s = 3600, .tables_s = 3600 };
	struct fabric *f = net_tree(4, 2, 3, NULL);
	struct mailbox *box = mailbox_new();
	struct poller *p;
	struct sim *sim;
	struct wire *w;
	struct err err;
	struct msg *msg;
	uint32_t cables;
	uint8_t port = f->chan_port[0];
	char name[32];
	struct engine_params params;
	struct tables *t;

	(void)state;
	param_defaults(&params);
	t = must_route(&engine_minhop, f, NULL, &params);
	assert_int_equal(sim_new(&sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
	tables_put(t);
	assert_int_equal(wire_open_sim(&w, sim, NULL, &err), 0);
	assert_int_equal(poller_start(&p, w, &po, box, &err), 0);
	msg = next_of(box, MSG_FABRIC);
	cables = msg->fabric->nchan;
	snprintf(name, sizeof(name), "%s", msg->fabric->name);
	msg_drop(msg);
	msg_drop(next_of(box, MSG_SAMPLE));
	msg_drop(next_of(box, MSG_SAMPLE));
	sim_link_set(sim, f->chan_src[0], port, false);
	msg = next_of(box, MSG_FABRIC);
	assert_int_equal(msg->fabric->nchan, cables - 2);
	assert_string_equal(msg->fabric->name, name);
	msg_drop(msg);
	poller_stop(p);
	poller_free(p);
	mailbox_free(box);
	sim_free(sim);
	fabric_put(f);
}

/* Of another fabric than f, or of other tables than t: what comes first; others are dropped. */
static enum msg_type first_news(struct mailbox *box, const struct fabric *f, const struct tables *t)
{
	double end = clock_s() + LIMIT_S;

	while (clock_s() < end) {
		struct pollfd p = { .fd = mailbox_fd(box), .events = POLLIN };
		struct msg *msg = mailbox_take(box);
		enum msg_type news = MSG_LOST;

		if (!msg) {
			poll(&p, 1, 100);
			continue;
		}
		if ((msg->type == MSG_FABRIC && msg->fabric->nchan != f->nchan) ||
		    (msg->type == MSG_TABLES && !tables_forward_same(msg->fabric, msg->tables, t)))
			news = msg->type;
		msg_drop(msg);
		if (news != MSG_LOST)
			return news;
	}
	fail_msg("no news within %d s", LIMIT_S);
	return MSG_LOST;
}

/* What leaves the last leaf over its second cable goes over its first, over which all is read. */
static void move_second_cable(struct sim *sim, const struct fabric *f, struct tables *t)
{
	uint32_t sw = f->term_sw[f->nterm - 1], c = f->chan_off[sw];
	struct err err;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (tables_row(t, sw)[lid] == f->chan_port[c + 1])
			tables_row(t, sw)[lid] = f->chan_port[c];
	assert_int_equal(sim_install_tables(sim, t, &err), 0);
}

/* A fabric with even paths that a poller looks at. */
struct watched {
	struct fabric *f;
	struct tables *t;
	struct mailbox *box;
	struct sim *sim;
	struct poller *p;
};

static void watch(struct watched *x, struct fabric *f, const struct poller_opts *po,
		  const struct wire_opts *wo)
{
	struct wire *w;
	struct err err;

	*x = (struct watched){ .f = f, .t = even_paths(f), .box = mailbox_new() };
	assert_int_equal(sim_new(&x->sim, f, NULL, &err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &err), 0);
	assert_int_equal(wire_open_sim(&w, x->sim, wo, &err), 0);
	assert_int_equal(poller_start(&x->p, w, po, x->box, &err), 0);
}

static void watch_no_more(struct watched *x)
{
	poller_stop(x->p);
	poller_free(x->p);
	mailbox_free(x->box);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
}

/* The first news when somebody moves the paths off a cable, which he has lost or not.  No notice
 * comes, and the next discovery by the clock would be in an hour. */
static enum msg_type news_of_moved_paths(bool lost)
{
	struct poller_opts po = { .interval_s = 3600, .sweep_s = 3600, .tables_s = 0.1 };
	struct fabric *f = net_tree(4, 3, 3, NULL);
	struct tables *moved = even_paths(f);
	uint32_t c = f->chan_off[f->term_sw[f->nterm - 1]] + 1;
	enum msg_type news;
	struct watched x;

	watch(&x, f, &po, NULL);
	msg_drop(next_tables(x.box, true));
	if (lost)
		sim_link_set(x.sim, f->chan_src[c], f->chan_port[c], false);
	move_second_cable(x.sim, f, moved);
	news = first_news(x.box, f, x.t);
	tables_put(moved);
	watch_no_more(&x);
	return news;
}

/* What a failure costs is found from the tables of before, which an SM may have repaired at once.
 */
static void where_tables_change_by_themselves_the_fabric_is_discovered_first(void **state)
{
	(void)state;
	assert_int_equal(news_of_moved_paths(true), MSG_FABRIC);
	assert_int_equal(news_of_moved_paths(false), MSG_TABLES);
}

/* The SM is asked who it is every five seconds only. */
static void hear_by_plugin(bool listens)
{
	struct poller_opts po = { .interval_s = 3600, .sweep_s = 3600, .tables_s = 3600 };
	struct fabric *f = net_tree(7, 2, 3, NULL);
	struct fake_osm *k = fake_osm_new(f, "engine minhop\n", NULL, NULL);
	uint32_t c = f->chan_off[f->term_sw[f->nterm - 1]];
	struct wire_opts wo = { .term = 2, .notices = listens };
	struct watched x;
	struct msg *msg;
	double start;

	po.socket = k->path;
	k->sm_guid = f->term_guid[0];
	watch(&x, f, &po, &wo);
	msg = next_of(x.box, MSG_SM);
	assert_true(msg->counted);
	msg_drop(msg);
	msg_drop(next_tables(x.box, true));   /* the SM is asked before they are read */
	msg_drop(next_of(x.box, MSG_SAMPLE)); /* so that none waits for what is cut off */
	sim_link_set(x.sim, f->chan_src[c], f->chan_port[c], false);
	start = clock_s();
	sm_session_link(k->session, f->sw_lid[f->chan_src[c]]);
	assert_int_equal(first_news(x.box, f, x.t), MSG_FABRIC);
	assert_true(clock_s() - start < 3);
	watch_no_more(&x);
	fake_osm_free(k);
}

/* Also where the wire takes reports, which may be lost with the cable that they tell of. */
static void links_that_the_plugin_hears_of_are_asked_for_more_often(void **state)
{
	(void)state;
	hear_by_plugin(false);
	hear_by_plugin(true);
}

/* SLs and SL2VL were perhaps those of before then. */
static void tables_read_while_opensm_is_at_work_are_read_again(void **state)
{
	struct poller_opts po = { .interval_s = 3600, .sweep_s = 3600, .tables_s = 3600 };
	struct fabric *f = net_tree(4, 2, 3, NULL);
	struct fake_osm *k = fake_osm_new(f, "engine minhop\n", NULL, NULL);
	struct watched x;
	double end;
	struct msg *msg;
	int more = 0;

	(void)state;
	po.socket = k->path;
	k->sm_guid = f->term_guid[0];
	watch(&x, f, &po, NULL);
	msg_drop(next_of(x.box, MSG_SM)); /* the plugin is asked before tables are read */
	msg_drop(next_tables(x.box, true));
	k->at_work = true;
	poller_want(x.p, WANT_TABLES);
	msg_drop(next_tables(x.box, true));
	msg_drop(next_tables(x.box, true));
	k->at_work = false;
	msg_drop(next_tables(x.box, true));
	/* one may have begun before, and is the last but one */
	for (end = clock_s() + 2.5; clock_s() < end; poll(NULL, 0, 20)) {
		msg = mailbox_take(x.box);
		more += msg && msg->type == MSG_TABLES;
		msg_drop(msg);
	}
	assert_true(more <= 1);
	watch_no_more(&x);
	fake_osm_free(k);
}

/* No counter of a link tells that a switch is silent, nor does a notice come. */
static void ports_that_fall_silent_are_followed_by_a_discovery(void **state)
{
	struct poller_opts po = { .interval_s = 0.05, .sweep_s = 3600, .tables_s = 3600 };
	struct fabric *f = net_tree(4, 2, 8, NULL);
	struct wire_opts wo = { .timeout_ms = 20 };
	struct watched x;
	struct msg *msg;

	(void)state;
	watch(&x, f, &po, &wo);
	msg_drop(next_of(x.box, MSG_FABRIC));
	msg_drop(next_of(x.box, MSG_SAMPLE));
	msg_drop(next_of(x.box, MSG_SAMPLE));
	sim_kill_switch(x.sim, f->term_sw[f->nterm - 1], true);
	msg = next_of(x.box, MSG_FABRIC);
	assert_int_equal(msg->fabric->nsw, f->nsw - 1);
	msg_drop(msg);
	watch_no_more(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_thread_is_told_and_leaves_nothing_behind),
		cmocka_unit_test(a_notice_of_a_link_leads_to_a_discovery),
		cmocka_unit_test(notices_of_two_switches_lead_to_a_discovery_of_these),
		cmocka_unit_test(sl2vl_tables_are_read_again_only_when_a_route_has_changed),
		cmocka_unit_test(error_counters_are_read_when_wanted_but_not_all_the_time),
		cmocka_unit_test(lfts_are_told_at_once_and_sl2vl_can_be_ended_and_goes_on),
		cmocka_unit_test(a_sweep_that_is_ended_leaves_all_as_it_was),
		cmocka_unit_test(a_link_that_goes_down_is_followed_by_a_discovery),
		cmocka_unit_test(where_tables_change_by_themselves_the_fabric_is_discovered_first),
		cmocka_unit_test(ports_that_fall_silent_are_followed_by_a_discovery),
		cmocka_unit_test(tables_read_while_opensm_is_at_work_are_read_again),
		cmocka_unit_test(links_that_the_plugin_hears_of_are_asked_for_more_often),
	};

	return cmocka_run_group_tests_name("poller", tests, NULL, NULL);
}
