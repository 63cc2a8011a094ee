/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vl_layers: service levels that make given forwarding tables free of deadlocks.
 *
 * Every path (source switch with terminals or other ends, destination LID) goes to the first
 * layer whose channel dependency graph stays acyclic with it; layer = SL = VL.  By Dally and
 * Seitz no layer can then deadlock.  First fit per path needs fewer layers than the cycle breaking
 * of DFSSSP, and no list of paths per dependency.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/*
 * t: complete, loop-free LFTs for every traffic LID and switch, with room for nothing else: SL
 * form, vls and sls are set here (the cheapest SL form that holds them, SL2VL identity).  As few
 * VLs as first fit finds, noted as "vls_needed": each VL takes its part of the switches' buffers,
 * so more are used only when the operator asks for it: with params->spread the paths spread
 * over all graph_vls() VLs (spread.h; SLs by source switch then), noted as "vls_spread".
 *
 * -ENOSPC when more than graph_vls() layers are needed: says how many, and notes it as
 * "vls_needed", FIRST_FIT_MAX + 1 when not even FIRST_FIT_MAX are enough.  -ECANCELED.  -EINVAL
 * when a path of the LFTs does not arrive.  Result does not depend on threads.
 */
int vl_layers_assign(struct tables *t, const struct fabric *f, const struct engine_params *params,
		     struct progress *progress, struct err *err);

/* The same for the destinations switch by switch in that order; NULL: ascending.  Fewer VLs where
 * switches that follow each other are near each other, as GUIDs need not be. */
int vl_layers_assign_in_order(struct tables *t, const struct fabric *f, const uint32_t *switches,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err);

/* The same, but paths that are those of `from` keep their SLs where no cycle forbids it and they
 * are below graph_vls(), so that few hosts have to ask for their paths again; as many VLs as that
 * takes. All are assigned again when they would not fit the VLs. */
int vl_layers_assign_from(struct tables *t, const struct fabric *f, const struct tables *from,
			  const struct engine_params *params, struct progress *progress,
			  struct err *err);

/* Fills the LFTs for every traffic LID and switch, or says why not; jobs may be NULL. */
typedef int (*layers_paths_fn)(struct tables *t, const struct fabric *f, const struct jobset *jobs,
			       const struct engine_params *params, struct progress *progress,
			       struct err *err);

/* All of an engine that needs nothing but paths and layers for them: refuses what is not
 * connected (graph_check_connected()), then calls paths and vl_layers_assign(), whose errors it
 * passes on.  *out belongs to the caller. */
int vl_layers_route(struct tables **out, const struct fabric *f, const char *engine,
		    const struct jobset *jobs, const struct engine_params *params,
		    layers_paths_fn paths, struct progress *progress, struct err *err);
