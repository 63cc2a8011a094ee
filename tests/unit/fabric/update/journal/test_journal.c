/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal.h"
#include "fabric/update/journal/journal_prune.h"
#include "fabric/update/journal/journal_text.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/plan/plan.h"
#include "tests/unit/kit/sync_spy.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <signal.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	char *base;
};

static const struct {
	enum txn_state state;
	uint32_t wave;
} steps[] = {
	{ TXN_PREPARED, 0 },   { TXN_WRITING, 0 },  { TXN_WRITING, 1 },
	{ TXN_CONFIRMING, 0 }, { TXN_ROLLBACK, 1 }, { TXN_INCOMPLETE, 1 },
};
#define STEPS (sizeof(steps) / sizeof(*steps))

static int setup(void **state)
{
	static struct world w;

	w.f = net_fabric(NULL);
	w.from = net_tables(w.f, 0, false);
	w.to = net_tables(w.f, 1, true);
	w.base = net_tmpdir();
	memset(&spy, 0, sizeof(spy));
	*state = &w;
	return plan_new(&w.p, w.f, w.from, w.to, NULL, NULL, 1000, NULL);
}

static int teardown(void **state)
{
	struct world *w = *state;

	net_rmdir(w->base);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	return 0;
}

static struct journal *begin(struct world *w)
{
	struct txn_head h = {
		.fabric = "testnet", .plan = "p-1234", .engine = "sar", .user = "ana"
	};
	struct journal *j;
	struct err err = { "" };

	h.from_hash = w->p->from_hash;
	h.to_hash = w->p->to_hash;
	h.fingerprint = w->f->fingerprint;
	if (journal_begin(&j, w->base, w->f, &h, w->p->changes, &err))
		fail_msg("%s", err.text);
	return j;
}

static void mark(struct journal *j, enum txn_state s, uint32_t wave)
{
	struct err err = { "" };

	if (journal_mark(j, s, wave, "as planned", &err))
		fail_msg("%s", err.text);
}

/* A journal with all steps, closed; returns its id. */
static char *left_behind(struct world *w)
{
	struct journal *j = begin(w);
	char *id = xstrdup(journal_info(j)->head.id);

	for (size_t i = 1; i < STEPS; i++)
		mark(j, steps[i].state, steps[i].wave);
	journal_close(j);
	return id;
}

static char *in_txn(const struct world *w, const char *id, const char *name)
{
	return xasprintf("%s/%s/%s", w->base, id, name);
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

static void overwrite(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(store_append(fd, path, data, len, NULL), 0);
	close(fd);
}

/* The records of sessions may be in the same folder: their names begin with a time as well. */
static void files_of_others_are_no_journals(void **state)
{
	static const char *const names[] = { "20261120T231951Z-4711.jsonl",
					     "20261120T231951Z-4711.2.cast",
					     "20261120T231951Z-4712", "2026-11-20" };
	struct world *w = *state;
	char *id = left_behind(w), *path;
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = xasprintf("%s/%s", w->base, names[i]);
		assert_int_equal(store_write(path, "{}\n", 3, &err), 0);
		free(path);
	}
	path = xasprintf("%s/2026-11-20-backup", w->base);
	assert_int_equal(store_mkdir(path, &err), 0);
	assert_string_equal(only(w).head.id, id);
	assert_string_equal(only(w).broken, "");
	free(path);
	free(id);
}

/* Whoever shows it, while another process holds it. */
static void what_it_writes_is_seen_without_working_on_it(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w);
	struct changes *l = NULL;
	struct txn_head head;
	struct journal *j;

	assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
	assert_int_equal(journal_look(&head, &l, w->base, id, NULL), 0);
	assert_string_equal(head.id, id);
	assert_string_equal(head.user, journal_info(j)->head.user);
	assert_int_equal(l->n, w->p->changes->n);
	assert_memory_equal(l->data, journal_changes(j)->data, l->ndata);
	journal_close(j);
	changes_free(l);
	l = NULL;
	assert_int_equal(journal_look(&head, &l, w->base, "20200101T000000Z-1", NULL), -ENOENT);
	assert_null(l);
	free(id);
}

static void what_was_put_in_comes_out(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w);
	const struct changes *a = w->p->changes, *b;
	struct journal *j;

	assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
	b = journal_changes(j);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->nwaves, b->nwaves);
	assert_int_equal(a->nsl2vl, b->nsl2vl);
	assert_int_equal(changes_bind(journal_changes(j), w->f), 0);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->v[i].guid, b->v[i].guid);
		assert_int_equal(a->v[i].sw, b->v[i].sw);
		assert_int_equal(a->v[i].block, b->v[i].block);
		assert_int_equal(a->v[i].out, b->v[i].out);
		assert_memory_equal(change_old(a, &a->v[i]), change_old(b, &b->v[i]),
				    2 * change_bytes(&a->v[i]));
	}
	assert_string_equal(journal_info(j)->head.plan, "p-1234");
	assert_string_equal(journal_info(j)->head.user, "ana");
	assert_true(digest_equal(&journal_info(j)->head.to_hash, &w->p->to_hash));
	assert_int_equal(journal_info(j)->state, TXN_INCOMPLETE);
	journal_close(j);
	free(id);
}

static void base_and_transactions_are_private(void **state)
{
	struct world *w = *state;
	char *base = xasprintf("%s/a/b", w->base);
	struct txn_head h = { .fabric = "testnet" };
	struct journal *j;
	struct stat st;

	assert_int_equal(journal_begin(&j, base, w->f, &h, w->p->changes, NULL), 0);
	assert_int_equal(stat(base, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	journal_close(j);
	free(base);
}

/* The state after so many bytes of the log: that of the last whole line. */
static size_t whole_lines(const char *log, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += log[i] == '\n';
	return n;
}

static void log_cut_at_any_byte_gives_the_last_whole_step(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), *path = in_txn(w, id, "state.log"), *log;
	struct journal *j;
	size_t len;

	assert_int_equal(store_read(&log, &len, path, NULL), 0);
	assert_int_equal(whole_lines(log, len), STEPS);
	for (size_t cut = 0; cut <= len; cut++) {
		size_t lines = whole_lines(log, cut);
		struct txn_info t;

		overwrite(path, log, cut);
		t = only(w);
		assert_string_equal(t.broken, "");
		/* without any line it must count as written */
		assert_int_equal(t.state, lines ? steps[lines - 1].state : TXN_WRITING);
		assert_int_equal(t.wave, lines ? steps[lines - 1].wave : 0);
		/* and the next step is not lost behind the torn one */
		assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
		mark(j, TXN_ROLLED_BACK, 0);
		journal_close(j);
		assert_int_equal(only(w).state, TXN_ROLLED_BACK);
	}
	free(log);
	free(path);
	free(id);
}

static void changed_byte_of_the_log_ends_what_is_believed(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), *path = in_txn(w, id, "state.log"), *log;
	size_t len;

	assert_int_equal(store_read(&log, &len, path, NULL), 0);
	for (size_t i = 0; i < len; i++) {
		size_t lines = whole_lines(log, i);
		struct txn_info t;

		log[i] ^= 0x05;
		overwrite(path, log, len);
		log[i] ^= 0x05;
		t = only(w);
		assert_int_equal(t.state, lines ? steps[lines - 1].state : TXN_WRITING);
	}
	free(log);
	free(path);
	free(id);
}

static void damaged_contents_are_never_taken(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), *path = in_txn(w, id, "changes.bin"), *data;
	struct err err = { "" };
	struct journal *j;
	size_t len;

	assert_int_equal(store_read(&data, &len, path, NULL), 0);
	for (size_t cut = 0; cut < len; cut += cut < 200 ? 1 : 37) {
		overwrite(path, data, cut);
		assert_int_equal(journal_open(&j, w->base, id, &err), -EBADMSG);
		overwrite(path, data, len);
		data[cut] ^= 1;
		overwrite(path, data, len);
		data[cut] ^= 1;
		assert_int_equal(journal_open(&j, w->base, id, &err), -EBADMSG);
	}
	assert_non_null(strstr(err.text, "damaged"));
	free(data);
	free(path);
	path = in_txn(w, id, "head.json");
	assert_int_equal(store_read(&data, &len, path, NULL), 0);
	for (size_t cut = 0; cut < len; cut++) {
		overwrite(path, data, cut);
		assert_int_equal(journal_open(&j, w->base, id, &err), -EBADMSG);
		assert_string_not_equal(only(w).broken, "");
	}
	free(data);
	free(path);
	free(id);
}

static void unfinished_one_is_found_and_keeps_others_out(void **state)
{
	struct world *w = *state;
	struct txn_head h = { .fabric = "testnet" };
	struct journal *j = begin(w), *second;
	struct txn_info *list;
	struct err err = { "" };
	uint32_t n;

	mark(j, TXN_WRITING, 0);
	assert_int_equal(journal_begin(&second, w->base, w->f, &h, w->p->changes, &err), -EBUSY);
	assert_non_null(strstr(err.text, "in progress"));
	assert_non_null(strstr(err.text, "by ana"));
	assert_int_equal(journal_find(&list, &n, w->base, w->f, NULL), 0);
	assert_int_equal(n, 0); /* somebody works on it */
	free(list);
	journal_close(j);
	assert_int_equal(journal_begin(&second, w->base, w->f, &h, w->p->changes, &err), -EBUSY);
	assert_non_null(strstr(err.text, "roll it back first"));
	assert_int_equal(journal_find(&list, &n, w->base, w->f, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].head.fabric, "testnet");
	assert_int_equal(list[0].state, TXN_WRITING);
	assert_int_equal(journal_open(&j, w->base, list[0].head.id, NULL), 0);
	mark(j, TXN_CONFIRMED, 0);
	journal_close(j);
	free(list);
	assert_int_equal(journal_find(&list, &n, w->base, w->f, NULL), 0);
	assert_int_equal(n, 0);
	free(list);
	assert_int_equal(only(w).state, TXN_CONFIRMED); /* kept */
	assert_int_equal(journal_begin(&second, w->base, w->f, &h, w->p->changes, NULL), 0);
	journal_close(second);
}

static void unfinished_one_of_other_switches_is_no_obstacle(void **state)
{
	struct world *w = *state;
	struct changes *l = w->p->changes;
	struct txn_head h = { .fabric = "other" };
	struct journal *j, *second;
	struct txn_info *list;
	uint32_t n;

	for (uint32_t i = 0; i < l->n; i++)
		l->v[i].guid += 0x10000;
	assert_int_equal(journal_begin(&j, w->base, w->f, &h, l, NULL), 0);
	for (uint32_t i = 0; i < l->n; i++)
		l->v[i].guid -= 0x10000;
	second = begin(w);
	journal_close(j);
	journal_close(second);
	assert_int_equal(journal_find(&list, &n, w->base, w->f, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].head.fabric, "testnet");
	free(list);
	assert_int_equal(journal_find(&list, &n, w->base, NULL, NULL), 0);
	assert_int_equal(n, 2);
	free(list);
}

static void killed_process_leaves_the_lock_free(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), byte;
	struct err err = { "" };
	struct journal *j;
	int pipes[2], status;
	pid_t pid;
	char text[40];

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		if (journal_open(&j, w->base, id, NULL) || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(journal_open(&j, w->base, id, &err), -EBUSY);
	snprintf(text, sizeof(text), "process %ld", (long)pid);
	assert_non_null(strstr(err.text, text));
	assert_true(only(w).live);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_false(only(w).live);
	assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
	journal_close(j);
	close(pipes[0]);
	close(pipes[1]);
	free(id);
}

/* What a child does until it dies; says over the pipe what it has finished. */
static void child(struct world *w, int fd, uint64_t die_at)
{
	struct txn_head h = { .fabric = "testnet", .id = "20260101T000000Z-1" };
	struct journal *j;

	spy.calls = 0;
	spy.die_at = die_at;
	if (journal_begin(&j, w->base, w->f, &h, w->p->changes, NULL) || write(fd, "x", 1) != 1)
		_exit(1);
	for (size_t i = 1; i < STEPS; i++)
		if (journal_mark(j, steps[i].state, steps[i].wave, NULL, NULL) ||
		    write(fd, "x", 1) != 1)
			_exit(1);
	_exit(0);
}

static void killed_at_any_sync_leaves_a_readable_journal(void **state)
{
	struct world *w = *state;
	int status = 42 << 8;

	for (uint64_t at = 1; WEXITSTATUS(status) == 42; at++) {
		struct txn_info *list;
		size_t done = 0;
		int pipes[2];
		uint32_t n;
		char byte;
		pid_t pid;

		assert_int_equal(pipe(pipes), 0);
		pid = fork();
		if (!pid)
			child(w, pipes[1], at);
		close(pipes[1]);
		while (read(pipes[0], &byte, 1) == 1)
			done++;
		close(pipes[0]);
		waitpid(pid, &status, 0);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
		assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
		assert_true(n == 1 || !done);
		if (n) {
			size_t k = list[0].state == TXN_PREPARED ? 1 : done;

			assert_string_equal(list[0].broken, "");
			/* what was said to be done is there, and at most the step after it */
			assert_true((list[0].state == steps[k - 1].state &&
				     list[0].wave == steps[k - 1].wave) ||
				    (k < STEPS && list[0].state == steps[k].state));
		}
		free(list);
		net_rmdir(w->base);
		w->base = net_tmpdir();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void everything_is_synced_before_it_is_visible(void **state)
{
	struct world *w = *state;
	struct journal *j = begin(w);
	const char *id = journal_info(j)->head.id;
	char *dir = xasprintf("%s/%s", w->base, id);
	static const char *const files[] = { "changes.bin", "head.json", "state.log" };

	for (size_t i = 0; i < 3; i++) {
		char *path = in_txn(w, id, files[i]);

		assert_true(spy_synced(path, 0));
		assert_false(spy_synced(path, spy.renamed));
		free(path);
	}
	assert_true(spy_synced(dir, 0));
	assert_false(spy_synced(dir, spy.renamed));
	assert_true(spy_synced(w->base, spy.renamed));
	free(dir);
	journal_close(j);
}

static void step_that_cannot_be_synced_is_an_error(void **state)
{
	struct world *w = *state;
	struct journal *j = begin(w);
	struct err err = { "" };

	mark(j, TXN_WRITING, 0);
	spy.fail_at = spy.calls + 1;
	assert_int_equal(journal_mark(j, TXN_CONFIRMING, 0, NULL, &err), -EIO);
	assert_non_null(strstr(err.text, "state.log"));
	assert_int_equal(only(w).state, TXN_WRITING);
	mark(j, TXN_ROLLBACK, 0);
	journal_close(j);
	assert_int_equal(only(w).state, TXN_ROLLBACK);
}

static void base_that_cannot_be_made_is_refused_with_its_name(void **state)
{
	struct world *w = *state;
	struct txn_head h = { .fabric = "testnet" };
	struct err err = { "" };
	struct journal *j;
	char *base = xasprintf("%s/file", w->base);

	assert_int_equal(store_write(base, "x", 1, NULL), 0);
	assert_int_not_equal(journal_begin(&j, base, w->f, &h, w->p->changes, &err), 0);
	assert_non_null(strstr(err.text, base));
	free(base);
	assert_int_equal(journal_open(&j, w->base, "../etc", &err), -ENOENT);
	assert_int_equal(journal_open(&j, w->base, "20260101T000000Z-9", &err), -ENOENT);
}

/* A line as versions before this one wrote it has no other form. */
static void the_last_word_of_an_update_is_kept_with_its_state(void **state)
{
	struct txn_info t = { 0 };
	char *log[3], *all, words[JOURNAL_SAID + 60];
	uint64_t seq;

	(void)state;
	memset(words, 'x', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	log[0] = txn_mark_line(0, TXN_PREPARED, 0, WHY_NONE, NULL, 5);
	log[1] = txn_mark_line(1, TXN_ROLLED_BACK, 2, WHY_NONE, "another SM is master", 6);
	log[2] = txn_mark_line(2, TXN_SUPERSEDED, 3, WHY_NONE, words, 7);
	all = xasprintf("%s%s%s", log[0], log[1], log[2]);
	txn_log_decode(&t, &seq, all, strlen(log[0]));
	assert_string_equal(t.said, "");
	txn_log_decode(&t, &seq, all, strlen(log[0]) + strlen(log[1]));
	assert_int_equal(t.state, TXN_ROLLED_BACK);
	assert_string_equal(t.said, "another SM is master");
	assert_int_equal(txn_log_decode(&t, &seq, all, strlen(all)), strlen(all));
	assert_int_equal(t.state, TXN_SUPERSEDED);
	assert_true(txn_state_final(t.state));
	assert_int_equal(t.wave, 3);
	words[JOURNAL_SAID] = '\0';
	assert_string_equal(t.said, words);
	for (int i = 0; i < 3; i++)
		free(log[i]);
	free(all);
}

static char *three_lines(enum txn_state s, enum coord_why why, const char *said)
{
	char *a = txn_mark_line(0, TXN_PREPARED, 0, WHY_NONE, NULL, 5);
	char *b = txn_mark_line(1, TXN_WRITING, 0, why, "it goes on", 6);
	char *c = txn_mark_line(2, s, 1, why, said, 7);
	char *all = xasprintf("%s%s%s", a, b, c);

	free(a);
	free(b);
	free(c);
	return all;
}

static void a_line_tells_the_cause_of_an_end(void **state)
{
	struct txn_info t = { 0 };
	uint64_t seq;
	char *all;

	(void)state;
	for (int w = WHY_NONE; w < COORD_WHYS; w++)
		for (int s = TXN_PREPARED; s < TXN_STATES; s++) {
			bool cause = s == TXN_ROLLBACK || s == TXN_INCOMPLETE ||
				     s == TXN_ABANDONED || s == TXN_ROLLED_BACK ||
				     s == TXN_SUPERSEDED || s == TXN_FABRIC_CHANGED;

			all = three_lines((enum txn_state)s, (enum coord_why)w,
					  w % 2 ? "3 blocks differ" : NULL);
			assert_int_equal(txn_log_decode(&t, &seq, all, strlen(all)), strlen(all));
			assert_int_equal(t.state, s);
			assert_int_equal(t.why, cause ? w : WHY_NONE);
			assert_string_equal(t.said, w % 2 ? "3 blocks differ" : "");
			assert_non_null(coord_why_name((enum coord_why)w));
			assert_int_equal(coord_why_by_name(coord_why_name((enum coord_why)w)), w);
			assert_int_equal(!w, !*coord_why_text((enum coord_why)w));
			free(all);
		}
	assert_int_equal(coord_why_by_name("nothing of ours"), WHY_NONE);
	/* of before, and what only looks like a cause */
	static const char *const old[] = {
		"another SM is master", "[nobody] knows", "[", "[]", "[foreign", ""
	};

	for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++) {
		all = three_lines(TXN_ROLLED_BACK, WHY_NONE, old[i]);
		assert_int_equal(txn_log_decode(&t, &seq, all, strlen(all)), strlen(all));
		assert_int_equal(t.why, WHY_NONE);
		assert_string_equal(t.said, old[i]);
		free(all);
	}
}

static void the_first_cause_stays_when_another_process_ends_it(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w);
	struct txn_info *list;
	struct journal *j;
	uint32_t n;

	for (int k = 0; k < 2; k++) {
		assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
		assert_int_equal(journal_info(j)->why, k ? WHY_FOREIGN : WHY_NONE);
		journal_because(j, k ? WHY_RECOVERED : WHY_FOREIGN);
		assert_int_equal(
			journal_mark(j, k ? TXN_ROLLED_BACK : TXN_INCOMPLETE, 1, NULL, NULL), 0);
		journal_close(j);
	}
	assert_int_equal(journal_list(&list, &n, w->base, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].state, TXN_ROLLED_BACK);
	assert_int_equal(list[0].why, WHY_FOREIGN);
	free(list);
	free(id);
}

/* Who recovers asks by job whether anybody is left to be called back. */
static void agents_come_back_from_the_journal_as_they_were(void **state)
{
	static const struct txn_agent in[] = {
		{ 0x2000000000000010, 17, 4, 4711, "n0001" },
		{ 0xffffffff00000011, 0xbff8, 8, 0xfffffffffff, "n0002 HCA-1" },
		{ 1, 1, 1, 0, "" },
	};
	struct world *w = *state;
	char *id = left_behind(w);
	struct txn_agent *out;
	struct journal *j;
	uint32_t n;

	assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
	assert_int_equal(journal_agents(&out, &n, j, NULL), -ENOENT);
	assert_int_equal(journal_put_agents(j, in, 3, NULL), 0);
	journal_close(j);
	assert_int_equal(journal_open(&j, w->base, id, NULL), 0);
	assert_int_equal(journal_agents(&out, &n, j, NULL), 0);
	journal_close(j);
	assert_int_equal(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(out[i].guid, in[i].guid);
		assert_int_equal(out[i].lid, in[i].lid);
		assert_int_equal(out[i].nlids, in[i].nlids);
		assert_int_equal(out[i].job, in[i].job);
		assert_string_equal(out[i].name, in[i].name);
	}
	free(out);
	free(id);
}

/* What others may have written is looked at, not worked on. */
static void one_of_somebody_else_is_not_opened(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), *dir = xasprintf("%s/%s", w->base, id);
	struct journal *j = NULL;
	struct err err = { "" };
	uint32_t n = 7;

	assert_false(journal_of_others(w->base));
	if (geteuid())
		goto out;
	assert_int_equal(chown(dir, 65533, 65533), 0);
	assert_true(journal_of_others(w->base));
	assert_int_equal(journal_open(&j, w->base, id, &err), -EPERM);
	assert_non_null(strstr(err.text, "belongs to user 65533"));
	assert_int_equal(only(w).state, TXN_INCOMPLETE);
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_int_equal(journal_open(&j, w->base, id, &err), 0);
	mark(j, TXN_ROLLED_BACK, 0);
	journal_close(j);
	assert_int_equal(chown(dir, 65533, 65533), 0);
	assert_int_equal(journal_prune(w->base, INT64_MAX, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_int_equal(chown(w->base, 65533, 65533), 0);
	assert_true(journal_of_others(w->base));
	assert_int_equal(chown(w->base, 0, 0), 0);
out:
	free(dir);
	free(id);
}

/* Nobody comes who writes into it. */
static void a_pipe_in_the_place_of_a_file_is_not_waited_for(void **state)
{
	struct world *w = *state;
	char *id = left_behind(w), *log = in_txn(w, id, "state.log"), *lock = in_txn(w, id, "lock");

	assert_int_equal(unlink(log), 0);
	assert_int_equal(mkfifo(log, 0600), 0);
	unlink(lock);
	assert_int_equal(mkfifo(lock, 0600), 0);
	assert_non_null(strstr(only(w).broken, "not a regular file"));
	free(lock);
	free(log);
	free(id);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_was_put_in_comes_out),
		T(files_of_others_are_no_journals),
		T(what_it_writes_is_seen_without_working_on_it),
		T(base_and_transactions_are_private),
		T(log_cut_at_any_byte_gives_the_last_whole_step),
		T(changed_byte_of_the_log_ends_what_is_believed),
		T(damaged_contents_are_never_taken),
		T(unfinished_one_is_found_and_keeps_others_out),
		T(unfinished_one_of_other_switches_is_no_obstacle),
		T(killed_process_leaves_the_lock_free),
		T(killed_at_any_sync_leaves_a_readable_journal),
		T(everything_is_synced_before_it_is_visible),
		T(step_that_cannot_be_synced_is_an_error),
		T(base_that_cannot_be_made_is_refused_with_its_name),
		cmocka_unit_test(the_last_word_of_an_update_is_kept_with_its_state),
		cmocka_unit_test(a_line_tells_the_cause_of_an_end),
		T(the_first_cause_stays_when_another_process_ends_it),
		T(agents_come_back_from_the_journal_as_they_were),
		T(one_of_somebody_else_is_not_opened),
		T(a_pipe_in_the_place_of_a_file_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
