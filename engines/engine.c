/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine.h"

#include "engines/dfdn/dfdn.h"
#include "engines/dfsssp.h"
#include "engines/dor.h"
#include "engines/escape_lids.h"
#include "engines/ftree.h"
#include "engines/limits/exclusion.h"
#include "engines/limits/pin.h"
#include "engines/minhop.h"
#include "engines/nue/nue.h"
#include "engines/parx/parx.h"
#include "engines/repair/repair.h"
#include "engines/sar/sar.h"
#include "engines/updn.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = {
	&engine_minhop, &engine_updn, &engine_ftree, &engine_dor, &engine_dfsssp,
	&engine_sar,	&engine_parx, &engine_dfdn,  &engine_nue,
	&engine_repair,
};

#define NENGINES (sizeof(engines) / sizeof(*engines))

/* The traffic LIDs; pinned may be NULL. */
static int engine_route_traffic(const struct engine *e, struct tables **out, const struct fabric *f,
				const struct jobset *jobs, const struct demand *demand,
				const struct engine_params *params, const struct pinned *pinned,
				struct progress *progress, struct err *err)
{
	int rc = e->route(out, f, jobs, demand, params, progress, err);

	if (!rc && pinned)
		rc = pin_apply(pinned, *out, params, progress, err);
	return rc;
}

static int engine_run_with_escape(const struct engine *e, struct tables **out,
				  const struct fabric *f, const struct jobset *jobs,
				  const struct demand *demand, const struct engine_params *params,
				  const struct pinned *pinned, struct progress *progress,
				  struct err *err)
{
	struct engine_params traffic;
	int rc = escape_lids_traffic_params(&traffic, f, params, err);

	if (!rc)
		rc = engine_route_traffic(e, out, f, jobs, demand, &traffic, pinned, progress, err);
	if (rc == -ENOSPC && err)
		snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
			 " (one more VL is reserved for the escape LIDs)");
	if (!rc)
		rc = escape_lids_add(*out, f, params, progress, err);
	if (!rc && pinned)
		rc = pin_check_escape(pinned, *out, params->notes, err);
	return rc;
}

static int engine_run_whole(const struct engine *e, struct tables **out, const struct fabric *f,
			    const struct jobset *jobs, const struct demand *demand,
			    const struct engine_params *params, const struct pinned *pinned,
			    struct progress *progress, struct err *err)
{
	int rc = e->suits && !e->route_asks ? e->suits(f, err) : 0;

	if (rc)
		return rc;
	if (params->escape)
		return engine_run_with_escape(e, out, f, jobs, demand, params, pinned, progress,
					      err);
	return engine_route_traffic(e, out, f, jobs, demand, params, pinned, progress, err);
}

/* The jobs that count; *jobs are the caller's own where that is all of them. */
static struct jobset *engine_drop_small_jobs(const struct jobset **jobs, const struct engine *e,
					     const struct fabric *f,
					     const struct engine_params *params)
{
	struct jobset *large;

	if (!*jobs || !e->uses_jobs || params->job_nodes_min < 2)
		return NULL;
	large = jobset_at_least(*jobs, params->job_nodes_min, f);
	notes_set(params->notes, "jobs_counted", large->njob,
		  "%u of %u jobs have at least %u nodes and count", large->njob, (*jobs)->njob,
		  params->job_nodes_min);
	*jobs = large;
	return large;
}

static void engine_tell_jobs(struct tables *t, unsigned nodes)
{
	size_t len = strlen(t->params);

	snprintf(t->params + len, sizeof(t->params) - len, " jobs>=%u", nodes);
}

/* Would the engine take the fabric with what is excluded?  Then that is why it refused. */
static void engine_blame_exclusion(const struct engine *e, const struct fabric *f,
				   const struct exclusion *x, struct err *err)
{
	struct err why;

	if (!err || (e->suits && e->suits(f, NULL)))
		return;
	why = *err;
	err_set(err, 0, "without %.100s%s, which %s excluded: %.380s", x->text,
		strlen(x->text) > 100 ? "..." : "", strpbrk(x->text, ",[") ? "are" : "is",
		why.text);
}

static int engine_run_without(const struct engine *e, struct tables **out, const struct fabric *f,
			      const struct jobset *jobs, const struct demand *demand,
			      const struct engine_params *params, const struct pinned *pinned,
			      struct progress *progress, struct err *err)
{
	struct exclusion x;
	int rc = exclusion_init(&x, f, params, err);

	if (!rc) {
		rc = engine_run_whole(e, out, x.f, jobs, demand, &x.params, pinned, progress, err);
		if (!rc)
			exclusion_tell(&x, *out);
		else if (rc != -ECANCELED)
			engine_blame_exclusion(e, f, &x, err);
	}
	exclusion_done(&x);
	return rc;
}

int engine_run(const struct engine *e, struct tables **out, const struct fabric *f,
	       const struct jobset *jobs, const struct demand *demand,
	       const struct engine_params *params, struct progress *progress, struct err *err)
{
	struct jobset *large = engine_drop_small_jobs(&jobs, e, f, params);
	struct pinned *pinned;
	struct tables *t = NULL;
	int rc = pin_new(&pinned, f, params, progress, err);

	if (!rc && route_limits_excludes(params->limits))
		rc = engine_run_without(e, &t, f, jobs, demand, params, pinned, progress, err);
	else if (!rc)
		rc = engine_run_whole(e, &t, f, jobs, demand, params, pinned, progress, err);
	if (!rc && progress_cancelled(progress))
		rc = -ECANCELED;
	if (!rc && large)
		engine_tell_jobs(t, params->job_nodes_min);
	if (!rc && pinned)
		pin_tell(pinned, t);
	pin_free(pinned);
	jobset_put(large);
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

const struct engine *const *engine_all(size_t *n)
{
	*n = NENGINES;
	return engines;
}

const struct engine *engine_find(const char *name, struct err *err)
{
	char names[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < NENGINES; i++) {
		if (!strcmp(engines[i]->name, name))
			return engines[i];
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					engines[i]->name);
	}
	err_set(err, -EINVAL, "there is no engine \"%s\"; choose one of: %s", name, names);
	return NULL;
}
