/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine.h"

#include "engines/dfdn.h"
#include "engines/dfsssp.h"
#include "engines/dor.h"
#include "engines/escape.h"
#include "engines/ftree.h"
#include "engines/minhop.h"
#include "engines/nue.h"
#include "engines/parx.h"
#include "engines/sar.h"
#include "engines/updn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = {
	&engine_minhop, &engine_updn, &engine_ftree, &engine_dor, &engine_dfsssp,
	&engine_sar,	&engine_parx, &engine_dfdn,  &engine_nue,
};

#define NENGINES (sizeof(engines) / sizeof(*engines))

static int run_with_escape(const struct engine *e, struct tables **out, const struct fabric *f,
			   const struct jobset *jobs, const struct demand *demand,
			   const struct engine_params *params, struct progress *progress,
			   struct err *err)
{
	struct engine_params traffic;
	struct tables *t = NULL;
	int rc = escape_traffic_params(&traffic, f, params, err);

	if (!rc)
		rc = e->route(&t, f, jobs, demand, &traffic, progress, err);
	if (rc == -ENOSPC && err)
		snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
			 " (one more VL is kept for the escape LIDs)");
	if (!rc)
		rc = escape_add(t, f, params, progress, err);
	if (rc) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}

int engine_run(const struct engine *e, struct tables **out, const struct fabric *f,
	       const struct jobset *jobs, const struct demand *demand,
	       const struct engine_params *params, struct progress *progress, struct err *err)
{
	int rc = e->suits && !e->route_asks ? e->suits(f, err) : 0;

	if (rc)
		return rc;
	if (params->escape)
		rc = run_with_escape(e, out, f, jobs, demand, params, progress, err);
	else
		rc = e->route(out, f, jobs, demand, params, progress, err);
	if (!rc && progress && atomic_load_explicit(&progress->cancel, memory_order_relaxed)) {
		tables_put(*out);
		*out = NULL;
		rc = -ECANCELED;
	}
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
