/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power fails at every write, sync, cut and rename of an update, also in the middle of a write;
 * what was not synced is kept or lost.  Then somebody recovers, whose power may fail as well.
 */
#include "fabric/update/executor.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "tests/unit/kit/disk_spy.h"
#include "tests/unit/kit/update_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifdef __SANITIZE_ADDRESS__
#define RECOVERIES 12
#else
#define RECOVERIES 3
#endif

enum end { END_CONFIRM, END_ROLLBACK, END_DIES };

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct net_sim *s;
	uint8_t *switches; /* their memory, shared with the child */
	size_t lft_len, sl2vl_len;
	char *base, *shadow;
	uint32_t runs, recoveries;
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

/* Two waves: a third of a block's entries first. */
static void in_waves(struct world *w)
{
	struct change_order o = { .nwaves = 2, .sl2vl_wave = 0 };
	struct change_write *v = xcalloc(2 * (size_t)w->p->diff->nblocks, sizeof(*v));
	uint64_t third = 0x9249249249249249ull;

	o.v = v;
	for (; o.n < 2 * w->p->diff->nblocks; o.n++) {
		const struct tables_diff_block *b = &w->p->diff->blocks[o.n % w->p->diff->nblocks];
		uint32_t wave = o.n / w->p->diff->nblocks;

		v[o.n] = (struct change_write){ wave, b->sw, b->block, wave ? ~third : third };
	}
	assert_int_equal(plan_in_order(w->p, &o, NULL), 0);
	free(v);
}

/* Switches remember what the process that wrote it does not. */
static void share_switches(struct world *w)
{
	size_t lft = (size_t)w->f->nsw * w->s->stride, sl2vl = (size_t)w->f->nsw * 32 * 32;
	uint8_t *all;

	w->lft_len = lft;
	w->sl2vl_len = sl2vl * sizeof(*w->s->sl2vl);
	all = mmap(NULL, w->lft_len + w->sl2vl_len, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(all, MAP_FAILED);
	memcpy(all, w->s->lft, w->lft_len);
	memcpy(all + w->lft_len, w->s->sl2vl, w->sl2vl_len);
	free(w->s->lft);
	free(w->s->sl2vl);
	w->s->lft = all;
	w->s->sl2vl = (void *)(all + w->lft_len);
	w->switches = xcalloc(1, w->lft_len + w->sl2vl_len);
	memcpy(w->switches, all, w->lft_len + w->sl2vl_len);
}

static int setup(void **state)
{
	static struct world w;

	w = (struct world){ 0 };
	w.f = net_fabric(NULL);
	w.from = net_tables(w.f, 0, true);
	w.to = net_tables(w.f, 1, true);
	assert_int_equal(plan_new(&w.p, w.f, w.from, w.to, NULL, NULL, 1000, NULL), 0);
	in_waves(&w);
	w.s = net_sim_new(w.f, w.from);
	share_switches(&w);
	log_set_sink(quiet, NULL);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	uint8_t *all = w->s->lft;

	w->s->lft = xcalloc(1, 1);
	w->s->sl2vl = xcalloc(1, 1);
	munmap(all, w->lft_len + w->sl2vl_len);
	net_sim_free(w->s);
	free(w->switches);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

static struct executor_opts opts(const struct world *w)
{
	return (struct executor_opts){ .base = w->base, .user = "ana", .accept_sl_change = true };
}

/* In the child. */
static void update(struct world *w, enum end end)
{
	struct installer in = net_installer(w->s);
	struct executor_opts o = opts(w);
	struct executor *a = executor_new(w->p, &in, &o);

	if (executor_run(a, NULL))
		_exit(disk.failing ? 0 : 3);
	if (end == END_CONFIRM && executor_confirm(a, NULL) && disk.fault == DISK_FAIL)
		executor_rollback(a, NULL);
	else if (end == END_ROLLBACK)
		executor_rollback(a, NULL);
	_exit(0);
}

static void one_txn(const struct world *w, struct txn_info *out, uint32_t *n)
{
	struct txn_info *list;

	assert_int_equal(journal_list(&list, n, w->base, NULL), 0);
	assert_true(*n <= 1);
	if (*n)
		*out = list[0];
	free(list);
}

static void recover_once(struct world *w, const char *id)
{
	struct installer in = net_installer(w->s);
	struct executor_opts o = opts(w);
	struct journal *j;
	struct executor *a;

	if (journal_open(&j, w->base, id, NULL))
		_exit(4);
	if (txn_state_final(journal_info(j)->state)) /* the last one got as far as that */
		_exit(0);
	a = executor_recover(j, w->f, &in, &o);
	_exit(executor_rollback(a, NULL) ? 5 : 0);
}

/* What the child did; false: it ended before the fault came. */
static bool ended_by_fault(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != DISK_DIED)
		assert_int_equal(WEXITSTATUS(status), 0);
	return WEXITSTATUS(status) == DISK_DIED;
}

/* What status says, and the scan, is what the switches hold. */
static void status_is_true(struct world *w, const struct txn_info *t, bool noted)
{
	struct installer in = net_installer(w->s);
	struct executor_opts o = opts(w);
	struct recovery_scan s;
	struct journal *j;
	struct executor *a;

	assert_string_equal(t->broken, "");
	assert_false(t->live);
	/* what a disk that is gone for good has not taken down is found by reading the switches */
	if (!noted && !txn_state_final(t->state))
		goto read;
	if (t->state == TXN_PREPARED || t->state == TXN_ABANDONED || t->state == TXN_ROLLED_BACK)
		assert_true(net_holds(w->s, w->from, true));
	if (t->state == TXN_CONFIRMING || t->state == TXN_CONFIRMED)
		assert_true(net_holds(w->s, w->p->to, true));
read:
	assert_int_equal(journal_open(&j, w->base, t->head.id, NULL), 0);
	a = executor_recover(j, w->f, &in, &o);
	assert_int_equal(executor_scan(&s, a, NULL), 0);
	assert_int_equal(!s.new && !s.between, net_holds(w->s, w->from, true));
	assert_int_equal(!s.old && !s.between, net_holds(w->s, w->p->to, true));
	assert_int_equal(s.foreign + s.silent + s.missing, 0);
	executor_free(a);
}

/* Recovers with the power failing at each of its steps, then for good. */
static void recover(struct world *w, enum disk_loss loss, const char *id)
{
	bool died = true;

	for (uint64_t at = 1; died; at += 1 + w->runs % RECOVERIES) {
		pid_t pid = fork();

		if (!pid) {
			disk_fault_at(w->base, w->shadow, at, DISK_DIE, 50);
			recover_once(w, id);
		}
		died = ended_by_fault(pid);
		if (died && loss == DISK_LOSE)
			disk_power_off(w->base, w->shadow);
		w->recoveries++;
	}
}

static void check(struct world *w, enum disk_loss loss, bool noted)
{
	struct txn_info t;
	uint32_t n;

	one_txn(w, &t, &n);
	if (!n) { /* not a byte may have been written without a journal */
		assert_true(net_holds(w->s, w->from, true));
		return;
	}
	status_is_true(w, &t, noted);
	if (txn_state_final(t.state))
		return;
	recover(w, loss, t.head.id);
	one_txn(w, &t, &n);
	assert_int_equal(t.state, TXN_ROLLED_BACK);
	assert_true(net_holds(w->s, w->from, true));
}

static void fresh(struct world *w)
{
	memcpy(w->s->lft, w->switches, w->lft_len);
	memcpy(w->s->sl2vl, w->switches + w->lft_len, w->sl2vl_len);
	w->base = net_tmpdir();
	w->shadow = net_tmpdir();
}

static void clear(struct world *w)
{
	net_rmdir(w->base);
	net_rmdir(w->shadow);
}

/* false: it has fewer steps. */
static bool fails_at(struct world *w, enum end end, uint64_t at, unsigned cut_pct,
		     enum disk_loss loss)
{
	bool died;
	pid_t pid;

	fresh(w);
	pid = fork();
	if (!pid) {
		disk_fault_at(w->base, w->shadow, at, DISK_DIE, cut_pct);
		update(w, end);
	}
	died = ended_by_fault(pid);
	if (loss == DISK_LOSE)
		disk_power_off(w->base, w->shadow);
	w->runs++;
	check(w, loss, true);
	clear(w);
	return died;
}

static void everywhere(struct world *w, enum end end, enum disk_loss loss)
{
#ifdef __SANITIZE_ADDRESS__ /* a fork costs fifty times as much */
	static const unsigned cuts[] = { 50 };
#else
	static const unsigned cuts[] = { 0, 3, 50, 98, 100 };
#endif

	for (size_t k = 0; k < sizeof(cuts) / sizeof(*cuts); k++)
		for (uint64_t at = 1; fails_at(w, end, at, cuts[k], loss); at++)
			;
	print_message("%u power failures, %u recoveries begun\n", w->runs, w->recoveries);
	assert_true(w->runs > 20);
}

static void power_fails_anywhere_of_a_kept_update(void **state)
{
	everywhere(*state, END_CONFIRM, DISK_KEEP);
}

static void power_fails_anywhere_and_takes_what_was_not_synced(void **state)
{
	everywhere(*state, END_CONFIRM, DISK_LOSE);
}

static void power_fails_anywhere_of_a_rollback(void **state)
{
	everywhere(*state, END_ROLLBACK, DISK_LOSE);
}

static void disk_that_fails_once_or_for_good_leaves_no_mixture(void **state)
{
	struct world *w = *state;
	bool failed = true;

	for (uint64_t at = 1; failed; at++) {
		for (int forever = 0; forever < 2; forever++) {
			struct txn_info t;
			int status;
			uint32_t n;
			pid_t pid;

			fresh(w);
			pid = fork();
			if (!pid) {
				disk_fault_at(w->base, w->shadow, at,
					      forever ? DISK_FAIL_ON : DISK_FAIL, 0);
				update(w, END_CONFIRM);
			}
			waitpid(pid, &status, 0);
			assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
			failed = disk_count_of(w->shadow) >= at;
			one_txn(w, &t, &n);
			/* nobody has died: it has ended by itself, one way or the other, or waits
			 * for a confirmation that could not be noted */
			assert_true(net_holds(w->s, w->from, true) ||
				    net_holds(w->s, w->p->to, true));
			if (n)
				check(w, DISK_KEEP, !forever);
			clear(w);
		}
	}
}

/* A disk that did not care about syncs would lose updates: the test can fail. */
static void losing_what_was_synced_would_be_seen(void **state)
{
	struct world *w = *state;
	struct txn_info t;
	uint32_t n;
	pid_t pid;

	fresh(w);
	pid = fork();
	if (!pid) {
		disk_fault_at(w->base, w->shadow, 0, DISK_DIE, 0);
		disk.lying = true;
		update(w, END_DIES);
	}
	assert_false(ended_by_fault(pid));
	disk_power_off(w->base, w->shadow);
	one_txn(w, &t, &n);
	assert_true(!n && net_holds(w->s, w->p->to, true));
	clear(w);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(power_fails_anywhere_of_a_kept_update),
		T(power_fails_anywhere_and_takes_what_was_not_synced),
		T(power_fails_anywhere_of_a_rollback),
		T(disk_that_fails_once_or_for_good_leaves_no_mixture),
		T(losing_what_was_synced_would_be_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
