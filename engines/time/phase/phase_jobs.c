/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/phase/phase_jobs.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <math.h>

struct phase_jobs_worker {
	struct phase_load load;
	uint32_t *first; /* per job and at the end: its first flow */
};

static void phase_jobs_take(struct phase_jobs *p, const struct phase_jobs_worker *w, uint32_t phase,
			    uint32_t j)
{
	const struct fabric *f = p->paths->f;
	size_t at = (size_t)j * p->phases + phase;
	double most = 0;

	for (uint32_t i = w->first[j]; i < w->first[j + 1]; i++) {
		const struct flow *fl = &w->load.list.flows.v[i];

		if (f->term_sw[fl->src] == f->term_sw[fl->dst])
			continue;
		p->flows[at]++;
		p->stranded[at] += w->load.most[i] < 0;
		most = w->load.most[i] > most ? w->load.most[i] : most;
	}
	p->time[at] += fmax(most / p->messages(p->ctx, j), 1) / p->rounds;
}

static bool phase_jobs_run_phase(void *ctx, unsigned worker, uint32_t phase)
{
	struct phase_jobs *p = ctx;
	struct phase_jobs_worker *w = &p->worker[worker];

	if (worker == 0 && progress_step(p->progress, p->step, phase, p->phases))
		return true;
	for (unsigned round = 0; round < p->rounds; round++) {
		phase_load_begin(&w->load);
		for (uint32_t j = 0; j < p->njob; j++) {
			p->add(p->ctx, &w->load.list, phase, round, j);
			w->first[j + 1] = (uint32_t)w->load.list.flows.n;
		}
		phase_load_trace(&w->load, p->paths);
		phase_load_measure(&w->load, p->paths);
		for (uint32_t j = 0; j < p->njob; j++)
			phase_jobs_take(p, w, phase, j);
	}
	return false;
}

bool phase_jobs_run(struct phase_jobs *p, struct arena *mem, unsigned threads,
		    struct progress *progress, const char *step)
{
	struct pool *pool = pool_new(p->phases > 1 ? threads : 1);
	unsigned workers = pool_threads(pool);
	size_t n = (size_t)p->njob * p->phases;
	bool stopped;

	p->progress = progress;
	p->step = step;
	p->time = arena_alloc(mem, n, sizeof(*p->time));
	p->flows = arena_alloc(mem, n, sizeof(*p->flows));
	p->stranded = arena_alloc(mem, n, sizeof(*p->stranded));
	p->worker = arena_alloc(mem, workers, sizeof(*p->worker));
	for (unsigned w = 0; w < workers; w++) {
		phase_load_init(&p->worker[w].load, p->paths);
		p->worker[w].first = arena_alloc(mem, p->njob + 1u, sizeof(*p->worker[w].first));
	}
	stopped = pool_for(pool, p->phases, phase_jobs_run_phase, p) ||
		  progress_step(progress, step, p->phases, p->phases);
	for (unsigned w = 0; w < workers; w++)
		phase_load_done(&p->worker[w].load);
	pool_free(pool);
	return stopped;
}
