/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/job_highlight.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

static void job_highlight_forget(struct job_highlight *f)
{
	free(f->routes);
	*f = (struct job_highlight){ .id = f->id };
}

static void job_highlight_take_routes(struct job_highlight *f, const struct job_routes *r,
				      uint32_t job)
{
	f->known = true;
	f->nchan = r->nchan;
	f->routes = xcalloc(r->nchan + 1ull, sizeof(*f->routes));
	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		f->routes[r->chan[i]] = r->routes[i];
		f->most = r->routes[i] > f->most ? r->routes[i] : f->most;
		f->links++;
	}
}

void job_highlight_update(struct job_highlight *f, const struct state *s)
{
	const struct link_usage *u = state_usage(s);
	uint32_t job;

	if (!f->id)
		return;
	if (u && f->serial == u->serial)
		return;
	job_highlight_forget(f);
	if (!u)
		return;
	f->serial = u->serial;
	job = link_usage_job(u, f->id);
	if (job != FAB_NONE && u->routes)
		job_highlight_take_routes(f, u->routes, job);
}

void job_highlight_set(struct job_highlight *f, uint64_t id)
{
	job_highlight_done(f);
	f->id = id;
}

void job_highlight_done(struct job_highlight *f)
{
	job_highlight_forget(f);
	f->id = 0;
}
