/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfsssp.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/shift_improve.h"
#include "engines/vl/vl_layers.h"

#include <errno.h>

/*
 * The more even the paths, the more turns they take, and the more layers that may need.  So
 * where the most even ones need many, the others are tried too, and those with fewer VLs win
 * unless they are much less even.
 */
#define FEW_VLS 5

static const struct balanced_sssp_how hows[] = {
	{ .rounds = BALANCED_SSSP_ROUNDS }, { .rounds = 1 },	   { .rounds = 0 },
	{ .by_switch = true, .rounds = 1 }, { .by_switch = true },
};

#define NHOWS (sizeof(hows) / sizeof(*hows))

struct attempt {
	struct tables *t; /* NULL: does not fit */
	struct notes notes;
	uint64_t vls; /* needed, also where it does not fit */
	uint64_t max; /* routes on a channel */
};

static int dfsssp_try_how(struct attempt *a, const struct fabric *f,
			  const struct balanced_sssp_how *how, const struct engine_params *params,
			  struct progress *progress, struct err *err)
{
	struct engine_params own = *params;
	struct balanced_sssp_how mine = *how;
	struct tables *t = graph_tables(f, "dfsssp", params, progress);
	int rc;

	*a = (struct attempt){ .t = NULL };
	own.notes = &a->notes;
	mine.max = &a->max;
	rc = balanced_sssp_route(t, f, params, &mine, progress);
	if (!rc)
		rc = vl_layers_assign(t, f, &own, progress, err);
	if (!rc || rc == -ENOSPC)
		a->vls = notes_find(&a->notes, "vls_needed")->value;
	if (rc)
		tables_put(t);
	else
		a->t = t;
	return rc;
}

static void dfsssp_attempt_done(struct attempt *a)
{
	tables_put(a->t);
	notes_done(&a->notes);
}

static void dfsssp_tell(struct notes *out, const struct notes *in)
{
	for (size_t i = 0; i < in->n; i++)
		notes_set(out, in->list[i].key, in->list[i].value, "%s", in->list[i].text);
}

/* One that fits is better than one that does not; of those, which need the fewest. */
static bool dfsssp_better(const struct attempt *a, const struct attempt *b)
{
	if (!a->t || !b->t)
		return a->t || (!b->t && a->vls < b->vls);
	return a->vls < b->vls && a->max <= b->max + b->max / 8;
}

/* -ENOSPC with the sentence about the attempt that needs the fewest VLs. */
static int dfsssp_fewest_vls(struct attempt *best, const struct fabric *f,
			     const struct engine_params *params, struct progress *progress,
			     struct err *err)
{
	int rc = dfsssp_try_how(best, f, &hows[0], params, progress, err);

	for (size_t i = 1; i < NHOWS; i++) {
		struct attempt next;
		struct err why;
		int other;

		if (rc ? rc != -ENOSPC : best->vls <= FEW_VLS)
			break;
		other = dfsssp_try_how(&next, f, &hows[i], params, progress, &why);
		if (other && other != -ENOSPC) {
			rc = other;
		} else if (dfsssp_better(&next, best)) {
			struct attempt worse = *best;

			*best = next;
			next = worse;
			rc = other;
			if (rc && err)
				*err = why;
		}
		dfsssp_attempt_done(&next);
	}
	return rc;
}

static int dfsssp_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
			const struct demand *demand, const struct engine_params *params,
			struct progress *progress, struct err *err)
{
	struct attempt best = { .t = NULL };
	int rc = graph_check_connected(f, err);

	(void)jobs;
	(void)demand;
	if (!rc)
		rc = dfsssp_fewest_vls(&best, f, params, progress, err);
	if (!rc) {
		dfsssp_tell(params->notes, &best.notes);
		*out = best.t;
		best.t = NULL;
		rc = shift_improve(out, f, &hows[0], params, progress, err);
	}
	dfsssp_attempt_done(&best);
	return rc;
}

const struct engine engine_dfsssp = {
	.name = "dfsssp",
	.summary = "shortest paths balanced over the whole fabric; deadlock-free by virtual lanes",
	.suits = graph_check_connected,
	.route = dfsssp_route,
};
