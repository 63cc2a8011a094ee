/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whatever becomes of a file of a journal: the update can be undone or given up, and the next one
 * begins. */
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/plan/plan.h"
#include "fabric/update/executor.h"
#include "tests/unit/kit/update_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct net_sim *s;
	struct installer in;
	struct executor_opts o;
	char *base, *whole, id[48];
	void *lft, *was; /* of the switches, shared; as the update has left them */
	size_t nlft;
	uint64_t die_at;
};

enum damage { REMOVED, EMPTIED, CUT, FLIPPED_FIRST, FLIPPED_MIDDLE, FLIPPED_LAST, DAMAGES };

static int setup(void **state)
{
	static struct world w;

	w = (struct world){ .f = net_fabric(NULL), .base = net_tmpdir(), .whole = net_tmpdir() };
	w.from = net_tables(w.f, 0, false);
	w.to = net_tables(w.f, 1, false);
	w.s = net_sim_new(w.f, w.from);
	w.in = net_installer(w.s);
	w.o.base = w.base;
	w.nlft = (size_t)w.f->nsw * w.s->stride;
	w.was = xcalloc(w.nlft, 1);
	w.lft = mmap(NULL, w.nlft, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memcpy(w.lft, w.s->lft, w.nlft);
	free(w.s->lft);
	w.s->lft = w.lft;
	*state = &w;
	return plan_new(&w.p, w.f, w.from, w.to, NULL, NULL, 1000, NULL);
}

static int teardown(void **state)
{
	struct world *w = *state;

	w->s->lft = NULL;
	net_sim_free(w->s);
	munmap(w->lft, w->nlft);
	free(w->was);
	net_rmdir(w->base);
	net_rmdir(w->whole);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

static void die(void *ctx, struct net_sim *s, bool write)
{
	struct world *w = ctx;

	if (write && s->writes == w->die_at)
		_exit(42);
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

static void shell(char *cmd)
{
	assert_int_equal(system(cmd), 0);
	free(cmd);
}

/* An update whose process is killed at that write, or (0) while it waits for its confirmation. */
static void leave_behind(struct world *w, uint64_t at)
{
	pid_t pid = fork();
	char *path;
	int status;

	if (!pid) {
		struct executor *e = executor_new(w->p, &w->in, &w->o);

		w->die_at = at;
		w->s->hook = at ? die : NULL;
		w->s->hook_ctx = w;
		_exit(executor_run(e, NULL) ? 1 : 42);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 42);
	memcpy(w->was, w->lft, w->nlft);
	memcpy(w->id, only(w).head.id, sizeof(w->id));
	path = xasprintf("%s/%s/%s", w->base, w->id, JOURNAL_PLAN);
	assert_int_equal(plan_save(path, w->p, NULL), 0);
	free(path);
	shell(xasprintf("cp -a %s/2* %s/", w->base, w->whole));
}

static void as_it_was(struct world *w)
{
	memcpy(w->lft, w->was, w->nlft);
	shell(xasprintf("rm -rf %s/2* && cp -a %s/2* %s/", w->base, w->whole, w->base));
}

static void damage(const char *path, enum damage how)
{
	struct stat st;
	int fd = open(path, O_RDWR);
	off_t at;
	char c;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = how == FLIPPED_FIRST ? 0 : how == FLIPPED_MIDDLE ? st.st_size / 2 : st.st_size - 2;
	if (how == REMOVED) {
		unlink(path);
	} else if (how < FLIPPED_FIRST) {
		assert_int_equal(ftruncate(fd, how == CUT ? st.st_size / 2 : 0), 0);
	} else if (at >= 0 && pread(fd, &c, 1, at) == 1) {
		c ^= 4;
		assert_int_equal(pwrite(fd, &c, 1, at), 1);
	}
	close(fd);
}

/* true: the old tables are back. */
static bool lead_out(struct world *w)
{
	struct journal *j;
	struct executor *e;
	bool back = !journal_open(&j, w->base, w->id, NULL);

	if (!back)
		assert_int_equal(journal_open_lost(&j, w->base, w->id, NULL), 0);
	assert_int_equal(journal_info(j)->lost, !back);
	e = executor_recover(j, w->f, &w->in, &w->o);
	assert_int_equal(back ? executor_rollback(e, NULL) : executor_give_up(e, "test", NULL), 0);
	executor_free(e);
	return back;
}

static void the_next_one_begins(struct world *w)
{
	struct txn_head h = { .fabric = "testnet", .plan = "p-1234" };
	struct journal *j;
	struct err err = { "" };

	if (journal_begin(&j, w->base, w->f, &h, w->p->changes, &err))
		fail_msg("%s", err.text);
	journal_close(j);
}

/* Of every file, in every way; plan: the one of the update is still there. */
static void damage_all(struct world *w, bool plan)
{
	char *dir = xasprintf("%s/%s", w->whole, w->id), *path;
	struct dirent *e;
	DIR *d = opendir(dir);
	uint32_t tried = 0, backs = 0;

	while ((e = readdir(d)))
		for (int how = 0; how < DAMAGES && e->d_name[0] != '.'; how++) {
			bool needed = !strcmp(e->d_name, "head.json") ||
				      !strcmp(e->d_name, "changes.bin"),
			     back;

			as_it_was(w);
			path = xasprintf("%s/%s/%s", w->base, w->id, JOURNAL_PLAN);
			if (!plan)
				unlink(path);
			free(path);
			path = xasprintf("%s/%s/%s", w->base, w->id, e->d_name);
			if (!access(path, F_OK))
				damage(path, (enum damage)how);
			free(path);
			if (needed)
				assert_string_not_equal(only(w).broken, "");
			assert_int_equal(only(w).lost, needed && !plan);
			assert_false(txn_state_final(only(w).state));
			back = lead_out(w);
			assert_int_equal(back, plan || !needed);
			assert_int_equal(net_holds(w->s, w->from, false), back);
			assert_int_equal(only(w).state, back ? TXN_ROLLED_BACK : TXN_GIVEN_UP);
			the_next_one_begins(w);
			tried++;
			backs += back;
		}
	closedir(d);
	assert_true(tried >= 4 * DAMAGES && backs >= (plan ? tried : DAMAGES));
	free(dir);
}

static void a_waiting_update_survives_damage(void **state)
{
	leave_behind(*state, 0);
	damage_all(*state, true);
}

static void a_half_written_update_survives_damage(void **state)
{
	leave_behind(*state, 5);
	damage_all(*state, true);
}

static void without_the_plan_it_can_be_given_up(void **state)
{
	leave_behind(*state, 5);
	damage_all(*state, false);
}

static void what_was_repaired_is_whole_again(void **state)
{
	struct world *w = *state;
	struct txn_info before, after;
	struct journal *j;
	char *path;

	leave_behind(w, 5);
	before = only(w);
	path = xasprintf("%s/%s/head.json", w->base, w->id);
	damage(path, FLIPPED_MIDDLE);
	assert_int_equal(journal_open(&j, w->base, w->id, NULL), 0);
	assert_int_equal(journal_changes(j)->n, w->p->changes->n);
	journal_close(j);
	after = only(w);
	assert_string_equal(after.broken, "");
	assert_string_equal(after.head.plan, w->p->id);
	assert_string_equal(after.head.fabric, before.head.fabric);
	assert_int_equal(after.head.time_s, before.head.time_s);
	assert_int_equal(after.head.number, before.head.number);
	assert_int_equal(after.head.nwaves, before.head.nwaves);
	assert_true(digest_equal(&after.head.fingerprint, &before.head.fingerprint));
	free(path);
}

/* The plugin, for example, knows what routed before. */
static void what_a_lost_one_wrote_may_come_from_elsewhere(void **state)
{
	struct world *w = *state;
	struct txn_head h = { .fabric = "testnet", .plan = "?" };
	struct changes *l = changes_copy(w->p->changes);
	struct executor *e;
	struct journal *j;
	struct err err = { "" };

	leave_behind(w, 5);
	shell(xasprintf("cd %s/%s && rm plan head.json", w->base, w->id));
	assert_int_equal(journal_open(&j, w->base, w->id, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "head.json"));
	assert_int_equal(journal_open_lost(&j, w->base, w->id, NULL), 0);
	journal_adopt(j, &h, l);
	assert_false(journal_info(j)->lost);
	assert_string_equal(journal_info(j)->head.id, w->id);
	e = executor_recover(j, w->f, &w->in, &w->o);
	assert_int_equal(executor_rollback(e, NULL), 0);
	executor_free(e);
	assert_true(net_holds(w->s, w->from, false));
	assert_false(only(w).lost);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_waiting_update_survives_damage),
		T(a_half_written_update_survives_damage),
		T(without_the_plan_it_can_be_given_up),
		T(what_was_repaired_is_whole_again),
		T(what_a_lost_one_wrote_may_come_from_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
