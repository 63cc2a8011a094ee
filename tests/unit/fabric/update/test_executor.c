/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/executor.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "tests/unit/kit/sync_spy.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct net_sim *s;
	char *base;
	struct installer in;
	struct executor_opts o;
	struct executor *a;
	/* seen by the callbacks */
	uint64_t gates, refuse_gate; /* the one to refuse, from 1 */
	uint64_t items, cancel_at;
	enum outcome last;
	enum coord_why last_why; /* of that event */
	bool wrote;		 /* somebody else did */
	enum foreign_verdict verdict;
	int fresh;
	uint64_t die_at;
	uint32_t seen; /* waves, as bits */
	int approve;   /* what the judge says; 1: waits until it is cancelled */
	uint32_t judged;
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

static int gate(void *ctx, const struct executor_event *ev, struct err *err)
{
	struct world *w = ctx;

	(void)ev;
	return ++w->gates == w->refuse_gate ? err_set(err, -EROFS, "the record is full") : 0;
}

static int fresh(void *ctx, struct err *err)
{
	struct world *w = ctx;

	return w->fresh ? err_set(err, w->fresh, "the fabric changed") : 0;
}

static int approve(void *ctx, const struct plan *p, struct progress *progress, struct err *err)
{
	struct world *w = ctx;

	assert_ptr_equal(p, w->p);
	assert_int_equal(w->s->writes, 0);
	w->judged++;
	for (uint32_t i = 0; w->approve == 1; i++) {
		struct executor_status st;

		if (progress_step(progress, "verify", i, i + 1))
			return err_set(err, -ECANCELED, "cancelled");
		executor_status(w->a, &st);
		assert_non_null(strstr(st.step, "judging"));
		if (i == 3)
			executor_cancel(w->a);
	}
	return w->approve ? err_set(err, w->approve, "packets may go round") : 0;
}

static void event(void *ctx, const struct executor_event *ev)
{
	struct world *w = ctx;

	for (uint32_t i = 0; ev->kind == APPLY_ITEM && i < ev->items; i++)
		if (++w->items == w->cancel_at)
			executor_cancel(w->a);
	if (ev->kind == APPLY_OUTCOME)
		w->last = ev->outcome;
	if (ev->kind == APPLY_OUTCOME)
		w->last_why = ev->why;
}

static void make(struct world *w, bool sl2vl)
{
	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, sl2vl);
	w->to = net_tables(w->f, 1, sl2vl);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, NULL, 1000, NULL), 0);
	w->s = net_sim_new(w->f, w->from);
	w->in = net_installer(w->s);
	w->base = net_tmpdir();
	w->o = (struct executor_opts){ .base = w->base,
				       .user = "ana",
				       .fresh = fresh,
				       .gate = gate,
				       .event = event,
				       .ctx = w };
}

/* Every block in up to three waves, a third of its LIDs each; SL2VL in the middle. */
static void in_waves(struct world *w)
{
	struct change_order o = { .nwaves = 3, .sl2vl_wave = 1 };
	struct change_write *v = xcalloc(3 * (size_t)w->p->diff->nblocks, sizeof(*v));

	o.v = v;
	for (o.n = 0; o.n < 3 * w->p->diff->nblocks; o.n++) {
		const struct tables_diff_block *b = &w->p->diff->blocks[o.n % w->p->diff->nblocks];
		uint32_t wave = o.n / w->p->diff->nblocks;
		uint64_t now = 0;

		for (uint32_t k = wave; k < LFT_BLOCK; k += 3)
			now |= 1ull << k;
		v[o.n] = (struct change_write){ wave, b->sw, b->block, now };
	}
	assert_int_equal(plan_in_order(w->p, &o, NULL), 0);
	assert_true(w->p->changes->nlft > 2 * w->p->diff->nblocks);
	free(v);
}

static int setup(void **state)
{
	static struct world w;

	w = (struct world){ 0 };
	memset(&spy, 0, sizeof(spy));
	make(&w, true);
	log_set_sink(quiet, NULL);
	*state = &w;
	return 0;
}

static int setup_lft(void **state)
{
	static struct world w;

	w = (struct world){ 0 };
	memset(&spy, 0, sizeof(spy));
	make(&w, false);
	log_set_sink(quiet, NULL);
	*state = &w;
	return 0;
}

static int setup_waves(void **state)
{
	int rc = setup(state);

	in_waves(*state);
	return rc;
}

static int setup_lft_waves(void **state)
{
	int rc = setup_lft(state);

	in_waves(*state);
	return rc;
}

static int teardown(void **state)
{
	struct world *w = *state;

	executor_free(w->a);
	net_rmdir(w->base);
	net_sim_free(w->s);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

/* Everything as at the start, for the next of a series. */
static void reset(struct world *w, enum fault fault, uint64_t at, uint64_t again)
{
	executor_free(w->a);
	w->a = NULL;
	net_sim_free(w->s);
	w->s = net_sim_new(w->f, w->from);
	w->s->fault = fault;
	w->s->at = at;
	w->s->again = again;
	w->in = net_installer(w->s);
	net_rmdir(w->base);
	w->base = net_tmpdir();
	w->o.base = w->base;
	w->gates = w->items = w->refuse_gate = w->cancel_at = 0;
	w->last = OUTCOME_NONE;
}

static int run(struct world *w, struct err *err)
{
	executor_free(w->a);
	w->a = executor_new(w->p, &w->in, &w->o);
	return executor_run(w->a, err);
}

static struct txn_info only(const struct world *w)
{
	struct txn_info *list, one;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
	assert_int_equal(n, 1);
	one = list[0];
	free(list);
	return one;
}

static int exit_code(const struct world *w)
{
	struct executor_status st;

	executor_status(w->a, &st);
	return outcome_exit_code(executor_outcome(w->a), st.why);
}

static uint32_t transactions(const struct world *w)
{
	struct txn_info *list;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
	free(list);
	return n;
}

static void plan_is_written_read_back_and_confirmed(void **state)
{
	struct world *w = *state;
	struct executor_status st;
	struct err err = { "" };

	if (run(w, &err))
		fail_msg("%s", err.text);
	executor_status(w->a, &st);
	assert_true(st.waiting);
	assert_int_equal(st.phase, PHASE_CONFIRM);
	assert_int_equal(st.written, w->p->changes->n);
	assert_int_equal(st.verified, w->p->changes->n);
	assert_int_equal(only(w).state, TXN_CONFIRMING);
	assert_true(net_holds(w->s, w->p->to, true));
	assert_int_equal(w->s->writes, w->p->changes->n);
	assert_int_equal(executor_confirm(w->a, NULL), 0);
	assert_int_equal(w->last, OUTCOME_CONFIRMED);
	assert_int_equal(only(w).state, TXN_CONFIRMED);
	assert_int_equal(executor_confirm(w->a, &err), -EINVAL);
	assert_int_equal(executor_rollback(w->a, &err), -EINVAL);
}

static void operator_may_roll_back_instead(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w, NULL), 0);
	assert_int_equal(executor_rollback(w->a, NULL), 0);
	assert_int_equal(w->last, OUTCOME_ROLLED_BACK);
	assert_true(net_holds(w->s, w->from, true));
	assert_int_equal(only(w).state, TXN_ROLLED_BACK);
	assert_int_equal(only(w).why, WHY_OPERATOR);
	assert_int_equal(w->last_why, WHY_OPERATOR);
	assert_int_equal(exit_code(w), 5);
}

static void check_on_disk(void *ctx, struct net_sim *s, bool write)
{
	static const char *const files[] = { "changes.bin", "head.json", "state.log" };
	struct world *w = ctx;
	struct txn_info t;

	(void)s;
	if (!write)
		return;
	t = only(w);
	assert_true(t.state == TXN_WRITING || t.state == TXN_ROLLBACK);
	/* waves that follow on another are noted, but only the first is waited for */
	for (size_t i = 0; i < (t.state == TXN_WRITING && t.wave ? 2 : 3); i++) {
		char *path = xasprintf("%s/%s/%s", w->base, t.head.id, files[i]);

		assert_true(spy_synced(path, 0));
		free(path);
	}
	assert_true(spy_synced(w->base, spy.renamed));
	assert_true(w->gates >= 2);
}

static void no_write_before_the_journal_is_on_disk(void **state)
{
	struct world *w = *state;

	w->s->hook = check_on_disk;
	w->s->hook_ctx = w;
	assert_int_equal(run(w, NULL), 0);
	assert_int_equal(executor_rollback(w->a, NULL), 0);
	assert_int_equal(w->s->writes, 2 * w->p->changes->n);
}

/* Of a block: what wave k or the one before it leaves; as bits k. */
static uint32_t mixtures(const struct changes *l, const struct change *last, const uint8_t *now)
{
	const struct change *c = last;
	uint32_t from = UINT16_MAX, fits = 0;

	/* what c left stands from its wave on, up to the wave of the next one */
	for (;; c = &l->v[c->prev]) {
		for (uint32_t k = c->wave; k <= from && k < l->nwaves; k++)
			fits |= (uint32_t)!memcmp(now, change_new(l, c), change_bytes(c)) << k;
		from = c->wave;
		if (c->prev == FAB_NONE)
			break;
	}
	for (uint32_t k = 0; k <= from; k++)
		fits |= (uint32_t)!memcmp(now, change_old(l, c), change_bytes(c)) << k;
	return fits;
}

static void check_one_wave(void *ctx, struct net_sim *s, bool write)
{
	struct world *w = ctx;
	const struct changes *l = w->p->changes;
	uint32_t fits = UINT32_MAX;

	(void)write;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];

		if (c->kind == CHANGE_LFT && c->next == FAB_NONE)
			fits &= mixtures(l, c, s->lft + (size_t)c->sw * s->stride + c->block * 64u);
	}
	assert_true(fits);
	w->seen |= fits & -fits;
}

static void there_is_never_a_mixture_of_more_than_one_wave(void **state)
{
	struct world *w = *state;

	for (uint64_t k = 0; k <= w->p->changes->n; k++) {
		reset(w, FAULT_NONE, 0, 0);
		w->s->hook = check_one_wave;
		w->s->hook_ctx = w;
		w->cancel_at = k;
		if (!run(w, NULL))
			assert_int_equal(executor_rollback(w->a, NULL), 0);
		assert_true(net_holds(w->s, w->from, true));
	}
	assert_int_equal(w->seen, 7);
}

static void an_order_that_leaves_something_old_is_refused(void **state)
{
	struct world *w = *state;
	const struct tables_diff_block *b = &w->p->diff->blocks[0];
	struct change_write v = { 0, b->sw, b->block, ~0ull };
	struct change_order o = { .v = &v, .n = 1, .nwaves = 1 };
	struct err err;
	char id[8];

	memcpy(id, w->p->id, sizeof(id));
	assert_int_equal(plan_in_order(w->p, &o, &err), -EINVAL);
	assert_non_null(strstr(err.text, "without its new contents"));
	v.wave = 1;
	assert_int_equal(plan_in_order(w->p, &o, &err), -EINVAL);
	assert_string_equal(w->p->id, id);
}

static void refused(struct world *w, int rc, const char *text)
{
	struct err err = { "" };

	assert_int_equal(run(w, &err), rc);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" lacks \"%s\"", err.text, text);
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_int_equal(exit_code(w), 4);
	assert_int_equal(w->s->writes, 0);
}

static void stale_or_impossible_plan_writes_nothing(void **state)
{
	struct world *w = *state;
	struct fabric *g = net_fabric(&(struct update_net_opts){ .no_lids = true });
	struct plan *p = w->p;
	struct tables *a, *b;

	w->fresh = -ESTALE;
	refused(w, -ESTALE, "the fabric changed");
	w->fresh = 0;
	w->s->lft[5] ^= 1;
	refused(w, -ESTALE, "differ from what the plan was made for");
	w->s->lft[5] ^= 1;
	w->s->dead[2] = true;
	refused(w, -EHOSTUNREACH, "no response");
	w->s->dead[2] = false;
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->from, NULL, NULL, 0, NULL), 0);
	refused(w, -EALREADY, "changes nothing");
	plan_free(w->p);
	b = net_tables(w->f, 1, false);
	b->sl_const = 1;
	assert_int_equal(plan_new(&w->p, w->f, w->from, b, NULL, NULL, 0, NULL), 0);
	refused(w, -ENOTSUP, "service levels");
	plan_free(w->p);
	tables_put(b);
	a = net_tables(g, 0, false);
	b = net_tables(g, 1, false);
	assert_int_equal(plan_new(&w->p, g, a, b, NULL, NULL, 0, NULL), 0);
	refused(w, -ENOTSUP, "assigned by this program");
	plan_free(w->p);
	tables_put(a);
	tables_put(b);
	fabric_put(g);
	w->p = p;
	assert_int_equal(transactions(w), 0);
}

/* Whatever the plan says of itself. */
static void what_is_not_found_safe_is_not_written(void **state)
{
	struct world *w = *state;

	w->o.approve = approve;
	w->approve = -EPROTO;
	refused(w, -EPROTO, "packets may go round");
	w->approve = 1;
	refused(w, -ECANCELED, "before anything was written");
	assert_int_equal(w->judged, 2);
	assert_int_equal(w->s->writes, 0);
	assert_int_equal(transactions(w), 0);
	w->approve = 0;
	w->judged = 0;
	w->o.approve = approve;
	assert_int_equal(run(w, NULL), 0);
	assert_int_equal(w->judged, 1);
	assert_true(w->s->writes > 0);
	assert_int_equal(executor_rollback(w->a, NULL), 0);
}

static void record_that_cannot_be_written_stops_before_the_first_write(void **state)
{
	struct world *w = *state;

	for (uint64_t n = 1; n <= 3; n++) {
		reset(w, FAULT_NONE, 0, 0);
		w->refuse_gate = n;
		refused(w, -EROFS, "the record is full");
	}
	assert_int_equal(only(w).state, TXN_ABANDONED);
	/* later it means back, and the way back is not stopped by it */
	reset(w, FAULT_NONE, 0, 0);
	w->refuse_gate = 4;
	assert_int_equal(run(w, NULL), -EROFS);
	assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
	assert_true(net_holds(w->s, w->from, true));
	/* nor is a confirmation taken that it could not note */
	reset(w, FAULT_NONE, 0, 0);
	w->refuse_gate = 5;
	assert_int_equal(run(w, NULL), 0);
	assert_int_equal(executor_confirm(w->a, NULL), -EROFS);
	assert_int_equal(only(w).state, TXN_CONFIRMING);
	assert_int_equal(executor_confirm(w->a, NULL), 0);
}

static void disk_that_fails_at_any_sync_never_leaves_a_mixture(void **state)
{
	struct world *w = *state;
	uint64_t syncs;

	assert_int_equal(run(w, NULL), 0);
	syncs = spy.calls;
	for (uint64_t n = 1; n <= syncs; n++) {
		struct err err = { "" };

		reset(w, FAULT_NONE, 0, 0);
		spy.calls = 0;
		spy.fail_at = n;
		if (run(w, &err) == 0)
			assert_true(net_holds(w->s, w->p->to, false));
		else
			assert_true(net_holds(w->s, w->from, false));
		spy.fail_at = 0;
	}
	reset(w, FAULT_NONE, 0, 0);
	assert_int_equal(run(w, NULL), 0);
	spy.fail_at = spy.calls + 1;
	assert_int_equal(executor_confirm(w->a, NULL), -EIO);
	assert_int_equal(executor_confirm(w->a, NULL), 0);
}

/* Somebody has put back the old contents of one change. */
static void undo_one(struct world *w, uint32_t k)
{
	const struct changes *l = w->p->changes;
	const struct change *c = &l->v[k];
	struct install_item it = {
		.sw = c->sw, .block = c->block, .kind = c->kind, .in = c->in, .out = c->out
	};

	memcpy(it.data, change_old(l, c), change_bytes(c));
	assert_int_equal(w->in.ops->write(w->in.ctx, w->f, &it, 1, NULL, NULL), 0);
}

static void what_no_longer_holds_what_was_written_is_not_confirmed(void **state)
{
	struct world *w = *state;
	const uint32_t one_of_each[] = { 0, w->p->changes->n - 1 };

	assert_int_equal(w->p->changes->v[0].kind, CHANGE_SL2VL);
	assert_int_equal(w->p->changes->v[one_of_each[1]].kind, CHANGE_LFT);
	for (int k = 0; k < 2; k++) {
		struct err err = { "" };

		reset(w, FAULT_NONE, 0, 0);
		assert_int_equal(run(w, NULL), 0);
		undo_one(w, one_of_each[k]);
		assert_int_equal(executor_confirm(w->a, &err), -EUCLEAN);
		assert_non_null(strstr(err.text, "not confirmed: 1 of "));
		assert_non_null(strstr(err.text, k ? "LFT block" : "SL2VL"));
		assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
		assert_int_equal(w->last_why, WHY_FOREIGN);
		assert_int_equal(only(w).state, TXN_ROLLED_BACK);
		assert_int_equal(only(w).why, WHY_FOREIGN);
		assert_true(net_holds(w->s, w->from, true));
	}
}

static void a_switch_that_is_silent_delays_the_confirmation(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	assert_int_equal(run(w, NULL), 0);
	w->s->dead[w->p->changes->v[0].sw] = true;
	assert_int_equal(executor_confirm(w->a, &err), -EHOSTUNREACH);
	assert_non_null(strstr(err.text, "cannot be read"));
	assert_int_equal(executor_outcome(w->a), OUTCOME_NONE);
	assert_int_equal(only(w).state, TXN_CONFIRMING);
	net_revive(w->s);
	assert_int_equal(executor_confirm(w->a, NULL), 0);
	assert_int_equal(only(w).state, TXN_CONFIRMED);
}

/* After any failure: as before, or the switches that are not are named. */
static void check_after_failure(struct world *w, const struct err *err)
{
	const struct changes *l;
	const uint32_t *left;
	uint32_t n;

	if (executor_outcome(w->a) == OUTCOME_ROLLED_BACK) {
		assert_true(net_holds(w->s, w->from, false));
		assert_int_equal(only(w).state, TXN_ROLLED_BACK);
		return;
	}
	assert_int_equal(executor_outcome(w->a), OUTCOME_INCOMPLETE);
	assert_int_equal(only(w).state, TXN_INCOMPLETE);
	left = executor_left(w->a, &n, &l);
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strstr(err->text, w->f->sw_name[l->v[left[i]].sw]))
			fail_msg("%s is not named in \"%s\"", w->f->sw_name[l->v[left[i]].sw],
				 err->text);
	/* all but those are as before */
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		bool is_left = false;

		for (uint32_t k = 0; k < n; k++)
			is_left |= change_first(l, &l->v[left[k]]) == change_first(l, c);
		if (!is_left)
			assert_memory_equal(w->s->lft + (size_t)c->sw * w->s->stride +
						    c->block * 64u,
					    change_old(l, change_first(l, c)), CHANGE_LFT_BYTES);
	}
}

static void fault_at_any_operation_ends_in_old_tables_or_a_list(void **state)
{
	static const uint64_t again[] = { 0, 3, 40 };
	struct world *w = *state;
	uint64_t ops, ends[4] = { 0 };

	assert_int_equal(run(w, NULL), 0);
	ops = w->s->ops;
	for (int fault = FAULT_LOST; fault < FAULTS; fault++) {
		for (uint64_t k = 0; k < 3 * ops; k++) {
			struct err err = { "" };

			reset(w, (enum fault)fault, k / 3, again[k % 3]);
			if (run(w, &err) == 0) {
				assert_true(net_holds(w->s, w->p->to, false));
				ends[0]++;
				continue;
			}
			if (executor_outcome(w->a) == OUTCOME_REFUSED) {
				assert_true(net_holds(w->s, w->from, false));
				assert_int_equal(w->s->writes, 0);
				ends[1]++;
				continue;
			}
			check_after_failure(w, &err);
			ends[executor_outcome(w->a) == OUTCOME_ROLLED_BACK ? 2 : 3]++;
			if (executor_outcome(w->a) == OUTCOME_INCOMPLETE &&
			    fault != FAULT_FOREIGN && fault != FAULT_GARBLED) {
				net_revive(w->s);
				assert_int_equal(executor_rollback(w->a, NULL), 0);
				assert_true(net_holds(w->s, w->from, false));
			}
		}
	}
	for (int i = 0; i < 4; i++)
		assert_true(ends[i] > 0);
}

static void cancel_at_any_block_rolls_back(void **state)
{
	struct world *w = *state;

	for (uint64_t k = 1; k <= w->p->changes->n; k++) {
		struct err err = { "" };

		reset(w, FAULT_NONE, 0, 0);
		w->cancel_at = k;
		assert_int_equal(run(w, &err), -ECANCELED);
		assert_int_equal(executor_outcome(w->a), OUTCOME_ROLLED_BACK);
		assert_true(net_holds(w->s, w->from, true));
	}
}

static void foreign_write_is_left_alone_and_named(void **state)
{
	struct world *w = *state;
	const struct change *c = &w->p->changes->v[3];
	uint8_t *cell = w->s->lft + (size_t)c->sw * w->s->stride + c->block * 64u + 9;
	struct executor_status st;
	struct err err = { "" };
	uint8_t theirs;

	assert_int_equal(run(w, NULL), 0);
	theirs = *cell = (uint8_t)(*cell + 77);
	assert_int_equal(executor_rollback(w->a, &err), -EUCLEAN);
	assert_int_equal(*cell, theirs);
	assert_non_null(strstr(err.text, w->f->sw_name[c->sw]));
	executor_status(w->a, &st);
	assert_int_equal(st.foreign, 1);
	assert_int_equal(exit_code(w), 6);
	executor_free(w->a);
	w->a = NULL;
	/* told to, it is written over */
	w->o.overwrite_foreign = true;
	{
		struct journal *j;

		assert_int_equal(journal_open(&j, w->base, only(w).head.id, NULL), 0);
		w->a = executor_recover(j, w->f, &w->in, &w->o);
	}
	assert_int_equal(executor_rollback(w->a, NULL), 0);
	assert_true(net_holds(w->s, w->from, false));
}

/* Into every block of the first wave, once some of them are written. */
static void another_writer(void *ctx, struct net_sim *s, bool write)
{
	struct world *w = ctx;

	if (write || !s->writes || w->wrote)
		return;
	w->wrote = true;
	for (uint32_t i = 0; i < w->p->changes->n; i++) {
		const struct change *c = &w->p->changes->v[i];

		if (!c->wave)
			s->lft[(size_t)c->sw * s->stride + c->block * 64u + 9] = 77;
	}
}

static void another_writer_meanwhile_is_not_the_operator(void **state)
{
	struct world *w = *state;
	struct executor_status st;
	struct err err = { "" };

	for (int over = 0; over < 2; over++) {
		reset(w, FAULT_NONE, 0, 0);
		w->wrote = false;
		w->s->hook = another_writer;
		w->s->hook_ctx = w;
		w->o.overwrite_foreign = over;
		assert_int_equal(run(w, &err), over ? -ESTALE : -EUCLEAN);
		assert_int_equal(executor_outcome(w->a),
				 over ? OUTCOME_ROLLED_BACK : OUTCOME_INCOMPLETE);
		executor_status(w->a, &st);
		assert_true(st.foreign > 0);
		assert_int_equal(st.why, WHY_FOREIGN);
		assert_int_equal(w->last_why, WHY_FOREIGN);
		assert_int_equal(only(w).why, WHY_FOREIGN);
		assert_int_equal(exit_code(w), over ? 10 : 6);
		assert_non_null(strstr(st.text, "written by another writer"));
	}
	assert_true(net_holds(w->s, w->from, false));
}

static int judge(void *ctx, struct executor_foreign *out, struct err *err)
{
	struct world *w = ctx;

	if (w->verdict == FOREIGN_NOT_JUDGED)
		return err_set(err, -EIO, "leaf1 does not respond");
	*out = (struct executor_foreign){ .verdict = w->verdict,
					  .blocks = 100,
					  .old_lft = 40,
					  .new_lft = 60,
					  .text = "as it was judged" };
	return 0;
}

/* No SM has died: somebody writes a routing of its own while it waits for its confirmation. */
static void foreign_routing_is_the_end_of_it_only_when_it_is_sound(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	for (int v = FOREIGN_NOT_JUDGED; v <= FOREIGN_SOUND; v++) {
		bool sound = v == FOREIGN_SOUND;

		reset(w, FAULT_NONE, 0, 0);
		w->verdict = (enum foreign_verdict)v;
		w->o.judge = judge;
		assert_int_equal(run(w, NULL), 0);
		for (uint32_t i = 0; i < w->p->changes->n; i++) {
			const struct change *c = &w->p->changes->v[i];

			w->s->lft[(size_t)c->sw * w->s->stride + c->block * 64u + 9] = 77;
		}
		assert_int_equal(executor_rollback(w->a, &err), sound ? -ESTALE : -EUCLEAN);
		assert_int_equal(executor_outcome(w->a),
				 sound ? OUTCOME_SUPERSEDED : OUTCOME_INCOMPLETE);
		assert_int_equal(w->last, executor_outcome(w->a));
		assert_int_equal(only(w).state, sound ? TXN_SUPERSEDED : TXN_INCOMPLETE);
		assert_non_null(strstr(err.text, v ? "as it was judged" : "leaf1 does not"));
		if (!sound)
			continue;
		assert_non_null(strstr(only(w).said,
				       "somebody else has changed the routing: 40 of 100 LFT"));
		for (uint32_t i = 0; i < w->p->changes->n; i++) {
			const struct change *c = &w->p->changes->v[i];

			assert_int_equal(
				w->s->lft[(size_t)c->sw * w->s->stride + c->block * 64u + 9], 77);
		}
	}
}

/* ---- killed and recovered ---- */

static void die(void *ctx, struct net_sim *s, bool write)
{
	struct world *w = ctx;

	(void)write;
	if (s->ops == w->die_at)
		_exit(42);
}

/* A process that is killed at an operation; the switches live on in shared memory. */
static int killed(struct world *w, uint64_t at, bool recover)
{
	int status;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	w->die_at = at;
	w->s->ops = 0;
	w->s->hook = die;
	w->s->hook_ctx = w;
	if (recover) {
		struct journal *j;

		if (journal_open(&j, w->base, only(w).head.id, NULL))
			_exit(1);
		w->a = executor_recover(j, w->f, &w->in, &w->o);
		_exit(executor_rollback(w->a, NULL) ? 2 : 0);
	}
	w->a = executor_new(w->p, &w->in, &w->o);
	_exit(executor_run(w->a, NULL) ? 1 : 0);
}

/* The switches must outlast the process that writes them. */
static void share(struct world *w, void *mem)
{
	memcpy(mem, w->s->lft, (size_t)w->f->nsw * w->s->stride);
	free(w->s->lft);
	w->s->lft = mem;
}

static void recover_here(struct world *w)
{
	struct recovery_scan scan;
	struct journal *j;
	struct err err = { "" };

	if (journal_open(&j, w->base, only(w).head.id, &err))
		fail_msg("%s", err.text);
	executor_free(w->a);
	w->a = executor_recover(j, w->f, &w->in, &w->o);
	assert_int_equal(executor_scan(&scan, w->a, NULL), 0);
	assert_int_equal(scan.old + scan.new + scan.between,
			 w->p->diff->nblocks + w->p->diff->nsl2vl);
	if (executor_rollback(w->a, &err))
		fail_msg("%s", err.text);
	assert_true(net_holds(w->s, w->from, false));
	assert_int_equal(only(w).state, TXN_ROLLED_BACK);
}

static void killed_anywhere_is_recovered_even_when_killed_again(void **state)
{
	struct world *w = *state;
	size_t len = (size_t)w->f->nsw * w->s->stride;
	uint8_t *keep = xcalloc(len, 1);
	int fd = open(w->base, O_TMPFILE | O_RDWR, 0600), rc = 42;
	void *mem;

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)len));
	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memcpy(keep, w->s->lft, len);
	share(w, mem);
	for (uint64_t at = 1; rc == 42; at++) {
		memcpy(mem, keep, len);
		rc = killed(w, at, false);
		assert_true(rc == 42 || rc == 0);
		if (!transactions(w))
			continue; /* nothing was written yet */
		for (uint64_t again = 1; again < 40; again += 7)
			killed(w, again, true);
		if (!txn_state_final(only(w).state))
			recover_here(w);
		assert_memory_equal(mem, keep, len);
		executor_free(w->a);
		w->a = NULL;
		net_rmdir(w->base);
		w->base = net_tmpdir();
		w->o.base = w->base;
	}
	w->s->lft = keep;
	munmap(mem, len);
	close(fd);
}

static void left_waiting_for_the_operator_can_be_kept_when_all_is_new(void **state)
{
	struct world *w = *state;
	struct recovery_scan scan;
	struct journal *j;
	struct err err = { "" };

	assert_int_equal(run(w, NULL), 0);
	executor_free(w->a);
	assert_int_equal(journal_open(&j, w->base, only(w).head.id, NULL), 0);
	w->a = executor_recover(j, w->f, &w->in, &w->o);
	assert_int_equal(executor_scan(&scan, w->a, NULL), 0);
	assert_int_equal(scan.new, w->p->changes->n);
	w->s->lft[(size_t)w->p->changes->v[w->p->changes->n - 1].sw * w->s->stride + 3] ^= 1;
	assert_int_equal(executor_confirm(w->a, &err), -EUCLEAN);
	w->s->lft[(size_t)w->p->changes->v[w->p->changes->n - 1].sw * w->s->stride + 3] ^= 1;
	assert_int_equal(executor_confirm(w->a, NULL), 0);
	assert_int_equal(only(w).state, TXN_CONFIRMED);
}

static void recovery_without_a_switch_is_incomplete_until_given_up(void **state)
{
	struct world *w = *state;
	struct fabric *g = net_fabric(&(struct update_net_opts){ .no_last_leaf = true });
	struct recovery_scan scan;
	struct net_sim *s;
	struct tables *t;
	struct journal *j;
	struct err err = { "" };

	assert_int_equal(run(w, NULL), 0);
	executor_free(w->a);
	assert_int_equal(journal_open(&j, w->base, only(w).head.id, NULL), 0);
	t = net_tables(g, 0, true);
	s = net_sim_new(g, t);
	w->in = net_installer(s);
	w->a = executor_recover(j, g, &w->in, &w->o);
	assert_int_equal(executor_scan(&scan, w->a, NULL), 0);
	assert_true(scan.missing > 0);
	assert_int_equal(executor_rollback(w->a, &err), -EUCLEAN);
	assert_non_null(strstr(err.text, "0x0000000000001005"));
	assert_int_equal(executor_give_up(w->a, "leaf5 is scrap", NULL), 0);
	assert_int_equal(only(w).state, TXN_GIVEN_UP);
	assert_int_equal(executor_give_up(w->a, "twice", NULL), -EINVAL);
	executor_free(w->a);
	w->a = NULL;
	net_sim_free(s);
	tables_put(t);
	fabric_put(g);
}

int main(void)
{
#define T(fn)  cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define L(fn)  cmocka_unit_test_setup_teardown(fn, setup_lft, teardown)
#define TW(fn) cmocka_unit_test_setup_teardown(fn, setup_waves, teardown)
#define LW(fn) cmocka_unit_test_setup_teardown(fn, setup_lft_waves, teardown)
	const struct CMUnitTest tests[] = {
		T(plan_is_written_read_back_and_confirmed),
		T(operator_may_roll_back_instead),
		T(no_write_before_the_journal_is_on_disk),
		L(stale_or_impossible_plan_writes_nothing),
		T(what_is_not_found_safe_is_not_written),
		T(record_that_cannot_be_written_stops_before_the_first_write),
		T(what_no_longer_holds_what_was_written_is_not_confirmed),
		T(a_switch_that_is_silent_delays_the_confirmation),
		L(disk_that_fails_at_any_sync_never_leaves_a_mixture),
		L(fault_at_any_operation_ends_in_old_tables_or_a_list),
		T(cancel_at_any_block_rolls_back),
		L(foreign_write_is_left_alone_and_named),
		L(another_writer_meanwhile_is_not_the_operator),
		L(foreign_routing_is_the_end_of_it_only_when_it_is_sound),
		L(killed_anywhere_is_recovered_even_when_killed_again),
		L(left_waiting_for_the_operator_can_be_kept_when_all_is_new),
		T(recovery_without_a_switch_is_incomplete_until_given_up),
		L(an_order_that_leaves_something_old_is_refused),
		TW(there_is_never_a_mixture_of_more_than_one_wave),
		TW(no_write_before_the_journal_is_on_disk),
		LW(disk_that_fails_at_any_sync_never_leaves_a_mixture),
		LW(fault_at_any_operation_ends_in_old_tables_or_a_list),
		TW(cancel_at_any_block_rolls_back),
		LW(foreign_write_is_left_alone_and_named),
		LW(another_writer_meanwhile_is_not_the_operator),
		LW(foreign_routing_is_the_end_of_it_only_when_it_is_sound),
		LW(killed_anywhere_is_recovered_even_when_killed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
