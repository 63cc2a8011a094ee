/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What UCX can use of a choice of LIDs. */
#include "fabric/format/native/mpi_env.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct fabric *f;
	struct tables *t;
	struct lid_choice *c;
	char *text;
};

/* A ring of four switches with two hosts each; all in one class, and all paths with SL 0. */
static int setup(void **state)
{
	static struct world w;

	w.f = net_spec("hyperx:dims=2x2,hosts=2,lmc=2");
	w.t = kit_bfs(w.f);
	w.c = lid_choice_new(w.f->nsw, 1, 0);
	w.c->lmc = 2;
	w.c->lids[0] = (struct lid_set){ 1u << 1, 1u << 2 | 1u << 3 };
	w.text = NULL;
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->text);
	lid_choice_free(w->c);
	tables_put(w->t);
	fabric_put(w->f);
	return 0;
}

static const char *written(struct world *w, const struct jobset *jobs)
{
	size_t len;
	FILE *m;

	free(w->text);
	w->text = NULL;
	m = open_memstream(&w->text, &len);
	assert_int_equal(mpi_env_write(m, w->f, w->t, w->c, jobs, NULL), 0);
	fclose(m);
	return w->text;
}

static void each_host_gets_an_offset_for_small_and_one_for_large_messages(void **state)
{
	struct world *w = *state;

	assert_non_null(strstr(written(w, NULL), "\nn0001 UCX_IB_LID_PATH_BITS=1,2 UCX_IB_SL=0\n"));
	assert_non_null(strstr(w->text, "\nn0008 UCX_IB_LID_PATH_BITS=1,2 UCX_IB_SL=0\n"));
	assert_non_null(strstr(w->text,
			       "# 8 hosts, 0 without a line; an offset of the choice for "
			       "100.0 % of pairs with small messages, 100.0 % with large"));
}

/* Packets on another SL than that of their path could close a cycle: then rather no offset. */
static void offsets_of_several_sls_are_not_used(void **state)
{
	struct world *w = *state;
	uint32_t lid = w->f->term_lid[7];

	tables_sl_form(w->t, SL_BY_DLID, w->f);
	memset(w->t->sl, 0, tables_sl_bytes(w->t));
	w->t->sl[lid + 2] = 1;
	assert_non_null(strstr(written(w, NULL), "\nn0001 UCX_IB_LID_PATH_BITS=1,3 UCX_IB_SL=0\n"));
	for (uint32_t i = 0; i < 4; i++)
		w->t->sl[lid + i] = 1;
	assert_non_null(
		strstr(written(w, NULL), "\n# n0001: the paths of each offset have several"));
	assert_non_null(strstr(w->text, "# 8 hosts, 6 without a line;"));
}

/* With jobs only their receivers count. */
static void receivers_are_those_of_the_job(void **state)
{
	struct world *w = *state;
	uint64_t member[8] = { 1, 0, 1, 0, 0, 0, 0, 0 };
	struct jobset *jobs = kit_jobs(w->f, member, 1);
	uint32_t lid = w->f->term_lid[7];

	tables_sl_form(w->t, SL_BY_DLID, w->f);
	memset(w->t->sl, 0, tables_sl_bytes(w->t));
	for (uint32_t i = 0; i < 4; i++)
		w->t->sl[lid + i] = 1;
	assert_non_null(strstr(written(w, jobs), "\nn0001 UCX_IB_LID_PATH_BITS=1,2 UCX_IB_SL=0\n"));
	assert_non_null(strstr(w->text, "\n# n0002: the paths"));
	jobset_put(jobs);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_host_gets_an_offset_for_small_and_one_for_large_messages),
		T(offsets_of_several_sls_are_not_used),
		T(receivers_are_those_of_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
