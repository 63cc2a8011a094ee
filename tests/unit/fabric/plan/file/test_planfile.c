/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/planfile.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/model/topology/host_names.h"
#include "fabric/plan/drain_names.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct jobset *jobs;
	struct plan *p;
	struct sm_pin sm;
	char *dir, *path;
};

static int setup(void **state)
{
	static struct world w;
	struct err err = { "" };

	w.f = net_fabric(NULL);
	w.from = net_tables(w.f, 0, true);
	w.to = net_tables(w.f, 1, true);
	w.jobs = net_jobs(w.f, "7:0-1:4 8:2-3:6");
	w.sm = (struct sm_pin){ 0x8001, 5 };
	w.dir = net_tmpdir();
	w.path = xasprintf("%s/p.plan", w.dir);
	*state = &w;
	if (plan_new(&w.p, w.f, w.from, w.to, w.jobs, &w.sm, 1000, &err) ||
	    plan_save(w.path, w.p, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	plan_free(w->p);
	jobset_put(w->jobs);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	free(w->path);
	net_rmdir(w->dir);
	return 0;
}

struct spy {
	struct progress p;
	const char *end_in; /* the step in which nobody wants the rest */
	bool planned, wrote;
};

static void watch(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct spy *s = ctx;

	assert_true(done <= total);
	s->planned = s->planned || !strcmp(step, "plan");
	s->wrote = s->wrote || !strcmp(step, "writing");
	if (s->end_in && !strcmp(step, s->end_in))
		atomic_store(&s->p.cancel, true);
}

static void loading_a_plan_tells_how_far_it_is_and_is_ended(void **state)
{
	static const char *const steps[] = { "reading", "plan" };
	struct world *w = *state;
	struct spy s = { .p = { .report = watch, .ctx = &s } };
	struct plan *p = NULL;
	struct err err = { "" };

	file_progress_set(&s.p);
	assert_int_equal(plan_load(&p, w->path, &err), 0);
	plan_free(p);
	assert_true(s.planned);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		p = NULL;
		s = (struct spy){ .p = { .report = watch, .ctx = &s }, .end_in = steps[i] };
		assert_int_equal(plan_load(&p, w->path, &err), -ECANCELED);
		assert_null(p);
		assert_non_null(strstr(err.text, "cancelled"));
	}
	file_progress_set(NULL);
}

static void saving_a_plan_that_is_ended_leaves_what_was_there(void **state)
{
	struct world *w = *state;
	struct spy s = { .p = { .report = watch, .ctx = &s }, .end_in = "writing" };
	char *path = xasprintf("%s/other.plan", w->dir);
	struct plan *p;
	struct err err = { "" };

	file_progress_set(&s.p);
	assert_int_equal(plan_save(path, w->p, &err), -ECANCELED);
	assert_int_equal(plan_save(w->path, w->p, &err), -ECANCELED);
	file_progress_set(NULL);
	assert_true(s.wrote);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(plan_load(&p, w->path, &err), 0);
	plan_free(p);
	free(path);
}

static void saved_plan_comes_back_the_same(void **state)
{
	struct world *w = *state;
	struct plan *p;
	struct err err = { "" };

	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_string_equal(p->id, w->p->id);
	assert_string_equal(p->fabric->name, "testnet");
	assert_int_equal(p->changes->n, w->p->changes->n);
	assert_int_equal(p->jobs->njob, 2);
	assert_int_equal(plan_staleness(p, w->f, w->from, w->jobs, &w->sm, NULL), 0);
	plan_free(p);
}

static void same_plan_gives_the_same_bytes(void **state)
{
	struct world *w = *state;
	char *again = xasprintf("%s/q.plan", w->dir), *a, *b;
	size_t la, lb;
	struct plan *p;

	assert_int_equal(plan_new(&p, w->f, w->from, w->to, w->jobs, &w->sm, 9999, NULL), 0);
	assert_int_equal(plan_save(again, p, NULL), 0);
	assert_int_equal(store_read(&a, &la, w->path, NULL), 0);
	assert_int_equal(store_read(&b, &lb, again, NULL), 0);
	assert_int_equal(la, lb);
	assert_memory_equal(a, b, la);
	plan_free(p);
	free(a);
	free(b);
	free(again);
}

static void the_order_of_writes_is_kept_and_protected(void **state)
{
	struct world *w = *state;
	const struct tables_diff *d = w->p->diff;
	struct change_write *v = xcalloc(2 * (size_t)d->nblocks, sizeof(*v));
	struct change_order o = { .v = v, .n = 2 * d->nblocks, .nwaves = 2, .sl2vl_wave = 1 };
	struct digest before = w->p->hash;
	char id[sizeof(w->p->id)];
	struct plan *p, *q;
	struct err err = { "" };

	memcpy(id, w->p->id, sizeof(id));
	for (uint32_t i = 0; i < o.n; i++) {
		const struct tables_diff_block *b = &d->blocks[i % d->nblocks];
		uint32_t wave = i / d->nblocks;

		v[i] = (struct change_write){ wave, b->sw, b->block,
					      wave ? ~0ull << 32 : ~0ull >> 32 };
	}
	assert_int_equal(plan_in_order(w->p, &o, NULL), 0);
	assert_false(digest_equal(&before, &w->p->hash));
	assert_string_equal(w->p->id, id); /* as the preview has shown it */
	assert_int_equal(plan_save(w->path, w->p, NULL), 0);
	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_int_equal(p->changes->n, w->p->changes->n);
	assert_int_equal(p->changes->nwaves, 2);
	assert_int_equal(p->changes->ndata, w->p->changes->ndata);
	assert_memory_equal(p->changes->data, w->p->changes->data, p->changes->ndata);
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_true(digest_equal(&p->hash, &q->hash));
	assert_int_equal(q->changes->nwaves, 2);
	plan_free(q);
	plan_free(p);
	free(v);
}

static void the_files_of_its_tables_are_kept_and_protected(void **state)
{
	struct world *w = *state;
	struct plan_files files = { 0 };
	struct digest sum;
	char was[sizeof(w->p->id)], *data, *at;
	struct plan *p, *q;
	struct err err = { "" };
	size_t len;

	memcpy(was, w->p->id, sizeof(was));
	digest_of(&sum, "tables", 6);
	plan_files_add(&files, "tables", "/tmp/opensm-lfts.dump", &sum);
	plan_files_add(&files, "path-sl", "/tmp/path-sl.dump", &sum);
	plan_from_files(w->p, &files);
	assert_string_not_equal(w->p->id, was);
	assert_int_equal(plan_save(w->path, w->p, &err), 0);
	assert_int_equal(plan_load(&p, w->path, &err), 0);
	assert_int_equal(p->files.n, 2);
	assert_string_equal(p->files.file[0].path, "/tmp/opensm-lfts.dump");
	assert_string_equal(p->files.file[1].kind, "path-sl");
	assert_true(digest_equal(&p->files.file[1].sha256, &sum));
	assert_string_equal(p->id, w->p->id);
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_string_equal(q->id, p->id);
	plan_free(q);
	plan_free(p);
	/* another file is another plan */
	assert_int_equal(store_read(&data, &len, w->path, NULL), 0);
	at = memmem(data, len, "\"path-sl\"", 9);
	assert_non_null(at);
	at[7] = 'x';
	assert_int_not_equal(plan_decode(&p, data, len, "x", &err), 0);
	free(data);
}

static uint16_t lid_of(const struct world *w, const char *name)
{
	uint32_t t;

	assert_int_equal(fabric_terms_by_name(w->f, name, &t, 1), 1);
	return w->f->term_lid[t];
}

/* LIDs of the first host of leaf 0 (in job 7) and of the last leaf (in no job). */
static void what_needs_the_drain_is_kept_and_protected(void **state)
{
	struct world *w = *state;
	uint16_t in = lid_of(w, "n0-0");
	uint16_t out = lid_of(w, "n5-0");
	struct drain d = { .nlid = 2 };
	struct digest before = w->p->hash;
	struct plan *p, *q;
	struct err err = { "" };
	char *data, *at, text[400];
	size_t len;

	d.lid = xcalloc(2, sizeof(*d.lid));
	d.lid[0] = (struct drain_lid){ in, DRAIN_NO_ORDER };
	d.lid[1] = (struct drain_lid){ out, DRAIN_OLD_SL };
	assert_int_equal(drain_find(&d, w->f, w->from, w->to, w->jobs, w->p->diff, NULL, &err), 0);
	assert_int_equal(d.nneeded, 1);
	assert_int_equal(d.unassigned_lids, 1);
	assert_int_equal(d.njob, 2); /* SL2VL tables change for everybody */
	assert_false(d.escape);
	plan_with_drain(w->p, &d);
	assert_false(digest_equal(&before, &w->p->hash));
	assert_int_equal(plan_save(w->path, w->p, NULL), 0);
	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_int_equal(p->drain.nlid, 2);
	assert_int_equal(p->drain.lid[1].lid, out);
	assert_int_equal(p->drain.lid[1].why, DRAIN_OLD_SL);
	assert_int_equal(p->jobs->jobs[p->drain.job[0].job].id, 8);
	assert_false(p->drain.job[0].needed);
	assert_true(p->drain.job[1].needed);
	drain_text(text, sizeof(text), &p->drain, p->fabric, p->jobs);
	assert_non_null(strstr(text, "2 LIDs must be drained, by 1 job on 8 ports; 1 of the LIDs"));
	assert_non_null(strstr(text, "belong to no job: n5-0 (LID "));
	assert_int_equal(drain_check_unassigned(&p->drain, p->fabric, p->jobs, &err), -EPERM);
	assert_non_null(strstr(err.text, "1 LID of no job must be drained"));
	assert_non_null(strstr(err.text, ": n5-0 (LID "));
	assert_non_null(strstr(err.text, "--accept-strangers"));
	drain_unassigned_text(text, 30, &p->drain, p->fabric, p->jobs);
	assert_string_equal(text, "1 more");
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_true(digest_equal(&p->hash, &q->hash));
	plan_free(q);
	plan_free(p);
	assert_int_equal(store_read(&data, &len, w->path, NULL), 0);
	at = strstr(data, "\"strangers\":1");
	assert_non_null(at);
	at[strlen("\"strangers\":")] = '0'; /* one that nobody signed off */
	unlink(w->path);
	assert_int_equal(store_write(w->path, data, len, NULL), 0);
	assert_int_equal(plan_load(&p, w->path, &err), -EBADMSG);
	free(data);
	drain_clear(&d);
}

/* Only entries for the hosts of job 8 change: job 7 is not asked. */
static void only_jobs_whose_paths_change_are_asked(void **state)
{
	struct world *w = *state;
	struct tables *from = net_tables(w->f, 0, false), *to = net_tables(w->f, 0, false);
	uint32_t leaf = fabric_switch_by_guid(w->f, 0x1002);
	struct drain d = { 0 };
	struct tables_diff *diff;
	struct err err = { "" };

	for (uint32_t h = 0; h < 6; h++) {
		char name[16];
		uint8_t *port;
		uint16_t lid;

		snprintf(name, sizeof(name), "n3-%u", h);
		lid = lid_of(w, name);
		port = &tables_row(to, leaf)[lid];
		*port = *port == NET_HOSTS + 1 ? NET_HOSTS + 2 : NET_HOSTS + 1;
	}
	diff = tables_diff_new(w->f, from, to);
	assert_int_equal(drain_find(&d, w->f, from, to, w->jobs, diff, NULL, &err), 0);
	assert_int_equal(d.njob, 1);
	assert_int_equal(w->jobs->jobs[d.job[0].job].id, 8);
	assert_false(d.job[0].needed);
	drain_clear(&d);
	tables_diff_free(diff);
	tables_put(from);
	tables_put(to);
}

static void loaded_plan_says_what_has_changed(void **state)
{
	struct world *w = *state;
	struct fabric *g = net_fabric(&(struct update_net_opts){ .no_cable = true });
	struct tables *t = net_tables(g, 0, true);
	struct err err = { "" };
	struct plan *p, *q;

	assert_int_equal(plan_load(&p, w->path, NULL), 0);
	assert_int_equal(plan_rebase(&q, p, g, t, &err), -ESTALE);
	assert_non_null(strstr(err.text, "leaf0/13-spine0/1"));
	assert_int_equal(plan_rebase(&q, p, w->f, w->to, &err), -ESTALE);
	assert_non_null(strstr(err.text, "installed tables changed"));
	assert_int_equal(plan_rebase(&q, p, w->f, w->from, &err), 0);
	assert_true(digest_equal(&q->hash, &p->hash));
	assert_true(q->fabric == w->f);
	assert_int_equal(q->op_vls, 4); /* which the file does not know */
	plan_free(q);
	plan_free(p);
	tables_put(t);
	fabric_put(g);
}

static void damaged_file_is_refused(void **state)
{
	struct world *w = *state;
	struct err err = { "" };
	struct plan *p;
	char *data;
	size_t len;

	assert_int_equal(store_read(&data, &len, w->path, NULL), 0);
	for (size_t i = 0; i < len; i += i < 400 ? 1 : 101) {
		char *bad = xasprintf("%s/bad.plan", w->dir);

		remove(bad);
		assert_int_equal(store_write(bad, data, i, NULL), 0);
		assert_int_not_equal(plan_load(&p, bad, &err), 0);
		remove(bad);
		data[i] ^= 4;
		assert_int_equal(store_write(bad, data, len, NULL), 0);
		data[i] ^= 4;
		if (!plan_load(&p, bad, &err)) { /* a byte that only people read */
			assert_true(digest_equal(&p->hash, &w->p->hash));
			plan_free(p);
		}
		free(bad);
	}
	free(data);
	assert_int_equal(plan_load(&p, "/no/such.plan", &err), -ENOENT);
}

/* What the node-name-map said is the plan's, and its jobs are those ports whatever they are called.
 */
static void names_of_the_map_and_ports_of_jobs_are_kept(void **state)
{
	struct world *w = *state;
	uint32_t term = w->jobs->jobs[0].terms[0];
	char special[] = "special";
	struct err err = { "" };
	struct plan *p;

	w->f->term_name[term] = special;
	w->f->term_mapped[term] = true;
	assert_int_equal(plan_save(w->path, w->p, &err), 0);
	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_string_equal(p->fabric->term_name[term], "special");
	assert_true(p->fabric->term_mapped[term]);
	assert_int_equal(p->jobs->jobs[0].nterm, w->jobs->jobs[0].nterm);
	assert_int_equal(p->jobs->jobs[0].terms[0], term);
	plan_free(p);
}

/* So that whoever shows or applies it comes to the same times; what is not said is not in the file.
 */
static void what_it_was_measured_with_is_kept_and_protected(void **state)
{
	struct world *w = *state;
	struct demand_builder *b = demand_builder_new(w->f);
	char before[sizeof(w->p->id)], *text, *at;
	struct demand *d;
	struct err err = { "" };
	struct plan *p;
	size_t len;

	memcpy(before, w->p->id, sizeof(before));
	demand_builder_add(b, 0, 3, 1000);
	demand_builder_add(b, 2, 1, 10);
	demand_builder_add(b, 1, 0, 0);
	d = demand_build(b);
	w->f->term_kind[4] = TERM_STORAGE;
	plan_with_traffic(w->p, d, "ring");
	assert_string_equal(w->p->id, before);
	assert_int_equal(plan_save(w->path, w->p, &err), 0);
	if (plan_load(&p, w->path, &err))
		fail_msg("%s", err.text);
	assert_true(digest_equal(&p->hash, &w->p->hash));
	assert_string_equal(p->pattern, "ring");
	assert_int_equal(p->fabric->term_kind[4], TERM_STORAGE);
	assert_int_equal(p->demand->npair, 2);
	assert_int_equal(p->demand->max_bytes, 1000);
	assert_int_equal(demand_weight(p->demand, 0, 3), 255);
	assert_int_equal(demand_weight(p->demand, 2, 1), demand_weight(d, 2, 1));
	assert_int_equal(p->demand->ndest, 3);
	assert_int_equal(p->demand->dest[2], 0);
	plan_free(p);
	assert_int_equal(store_read(&text, &len, w->path, &err), 0);
	assert_non_null(strstr(text, "ibroute-top plan/5"));
	at = strstr(text, "\"pattern\":\"ring\"");
	assert_non_null(at);
	memcpy(at, "\"pattern\":\"rang\"", strlen("\"pattern\":\"rang\""));
	assert_int_equal(plan_decode(&p, text, len, w->path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "do not match its hash"));
	free(text);
	demand_put(d);
}

/* A demand follows its hosts, by their ports. */
static void a_demand_of_another_state_of_the_fabric_is_the_same(void **state)
{
	struct world *w = *state;
	struct demand_builder *b = demand_builder_new(w->f);
	struct demand *d, *on;

	demand_builder_add(b, 0, 3, 1000);
	demand_builder_add(b, 2, 1, 10);
	d = demand_build(b);
	on = demand_on(d, w->f, w->f);
	assert_int_equal(on->npair, d->npair);
	assert_int_equal(on->max_bytes, d->max_bytes);
	assert_int_equal(demand_weight(on, 2, 1), demand_weight(d, 2, 1));
	demand_put(on);
	demand_put(d);
}

static struct drain_renamed renamed(const struct world *w, const struct drain *d, uint32_t term,
				    char *name)
{
	char **desc = xcalloc(w->f->nend, sizeof(*desc));
	struct drain_renamed r;
	struct fabric *f;

	desc[term] = name;
	f = fabric_renamed(w->f, desc);
	drain_names_compare(&r, w->f, f, d, w->jobs);
	fabric_put(f);
	free(desc);
	return r;
}

static void names_that_have_changed_are_told_and_whose_they_are(void **state)
{
	struct world *w = *state;
	const struct job *job = &w->jobs->jobs[0];
	struct drain d = { .known = true, .jobs = true, .njob = 1, .nneeded = 1 };
	uint32_t own = job->terms[0], other = w->f->nterm - 1;
	char fresh[] = "fresh HCA-1", same[100], taken[100];
	struct drain_renamed r;
	struct err err;

	d.job = xcalloc(1, sizeof(*d.job));
	d.job[0] = (struct drain_job){ 0, true };
	snprintf(same, sizeof(same), "%s mlx5_0", w->f->term_name[own]);
	snprintf(taken, sizeof(taken), "%s", w->f->term_name[own]);
	r = renamed(w, &d, own, same); /* only its device */
	assert_int_equal(r.n, 0);
	r = renamed(w, &d, own, fresh);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.drained, 1);
	assert_non_null(strstr(r.text, " and is fresh"));
	r = renamed(w, &d, other, fresh);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.drained, 0);
	r = renamed(w, &d, other, taken); /* as a node of the job is called */
	assert_int_equal(r.drained, 1);
	assert_int_equal(drain_names_check(&d, w->f, w->jobs, &err), 0);
	((struct job *)job)->unknown = 1;
	assert_int_equal(drain_names_check(&d, w->f, w->jobs, &err), -EPERM);
	assert_non_null(strstr(err.text, "1 of its nodes is no host of the fabric"));
	d.job[0].needed = false;
	assert_int_equal(drain_names_check(&d, w->f, w->jobs, &err), 0);
	drain_clear(&d);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(saved_plan_comes_back_the_same),
		T(loading_a_plan_tells_how_far_it_is_and_is_ended),
		T(saving_a_plan_that_is_ended_leaves_what_was_there),
		T(the_order_of_writes_is_kept_and_protected),
		T(the_files_of_its_tables_are_kept_and_protected),
		T(what_needs_the_drain_is_kept_and_protected),
		T(only_jobs_whose_paths_change_are_asked),
		T(same_plan_gives_the_same_bytes),
		T(loaded_plan_says_what_has_changed),
		T(damaged_file_is_refused),
		T(names_of_the_map_and_ports_of_jobs_are_kept),
		T(what_it_was_measured_with_is_kept_and_protected),
		T(a_demand_of_another_state_of_the_fabric_is_the_same),
		T(names_that_have_changed_are_told_and_whose_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
