/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/update/option_tries.h"

#include <stdbool.h>
#include <string.h>

void option_tries_clear(struct option_tries *t)
{
	jobset_put(t->jobs);
	tables_put(t->from);
	t->jobs = NULL;
	t->from = NULL;
	t->n = 0;
}

bool option_tries_fresh(const struct option_tries *t, const struct jobset *jobs,
			const struct tables *from, const struct fabric *f)
{
	if (!t->n)
		return true;
	if (!jobset_same(t->jobs, jobs))
		return false;
	return t->from == from || (t->from && from && tables_same(t->from, from, f));
}

static void option_tries_remove(struct option_tries *t, uint32_t at)
{
	t->n--;
	memmove(t->list + at, t->list + at + 1, (t->n - at) * sizeof(*t->list));
}

static bool option_tries_differ(const struct preview_options *a, const struct preview_options *b)
{
	char text[64];

	return *option_result_options(text, sizeof(text), a, b) != '\0';
}

void option_tries_take(struct option_tries *t, struct plan_preview *x, const struct fabric *f)
{
	if (!t->n || !option_tries_fresh(t, x->jobs, x->from, f)) {
		option_tries_clear(t);
		t->jobs = x->jobs ? jobset_get(x->jobs) : NULL;
		t->from = x->from ? tables_get(x->from) : NULL;
	}
	x->was.known = false;
	for (uint32_t i = t->n; i-- > 0;) {
		const struct option_result *r = &t->list[i];

		if (r->engine != x->engine)
			continue;
		if (!option_tries_differ(&r->options, &x->options))
			option_tries_remove(t, i);
		else if (!x->was.known && !r->failed)
			x->was = *r;
	}
	if (t->n == OPTION_TRIES)
		option_tries_remove(t, 0);
	option_result_of(&t->list[t->n++], x);
}
