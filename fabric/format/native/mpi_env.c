/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/mpi_env.h"

#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define OFFSETS 32

/* Of one sender: by offset, receivers on other switches, and the SLs of the paths to them. */
struct offsets {
	uint32_t n, receivers;
	uint32_t small[OFFSETS], large[OFFSETS];
	uint32_t sls[OFFSETS]; /* as bits */
};

/* Those of small and of large messages; served: of receivers. */
struct env_pick {
	bool found;
	uint32_t small, large, served_small, served_large;
};

/* job: by terminal, or FAB_NONE. */
static void mpi_env_count(struct offsets *x, const struct fabric *f, const struct tables *t,
			  const struct lid_choice *c, const uint32_t *job, uint32_t term)
{
	uint32_t sw = f->term_sw[term];

	*x = (struct offsets){ .n = c->lmc < 5 ? 1u << c->lmc : OFFSETS };
	for (uint32_t to = 0; to < f->nterm; to++) {
		struct lid_set lids;

		if (f->term_sw[to] == sw || (job[term] != FAB_NONE && job[to] != job[term]))
			continue;
		x->receivers++;
		lids = lid_choice_get(c, sw, f->term_sw[to]);
		for (uint32_t i = 0; i < x->n; i++) {
			x->small[i] += lids.small >> i & 1;
			x->large[i] += lids.large >> i & 1;
			x->sls[i] |= 1u << tables_path_sl(t, term, sw, f->term_lid[to] + i);
		}
	}
}

static bool mpi_env_one_sl(uint32_t sls)
{
	return sls && !(sls & (sls - 1));
}

/* UCX takes a single SL, and any other than that of a path could close a cycle of buffers. */
static struct env_pick mpi_env_pick(const struct offsets *x)
{
	struct env_pick best = { 0 };

	for (uint32_t a = 0; a < x->n; a++)
		for (uint32_t b = 0; b < x->n; b++) {
			struct env_pick p = { true, a, b, x->small[a], x->large[b] };

			if (mpi_env_one_sl(x->sls[a] | x->sls[b]) &&
			    (!best.found || p.served_small + p.served_large >
						    best.served_small + best.served_large))
				best = p;
		}
	return best;
}

static void mpi_env_put(struct text_out *o, const char *name, const struct offsets *x,
			const struct env_pick *p)
{
	if (!x->receivers)
		return;
	if (!p->found) {
		text_out_fmt(o,
			     "# %s: the paths of each offset have several SLs, of which UCX can "
			     "take one\n",
			     name);
		return;
	}
	text_out_fmt(o, "%s UCX_IB_LID_PATH_BITS=%u", name, p->small);
	if (p->large != p->small)
		text_out_fmt(o, ",%u", p->large);
	text_out_fmt(o, " UCX_IB_SL=%d\n", __builtin_ctz(x->sls[p->small]));
}

/* What the receivers of all hosts get of the choice. */
struct env_sum {
	uint64_t pairs, small, large;
	uint32_t hosts, without;
};

static void mpi_env_add(struct env_sum *sum, const struct offsets *x, const struct env_pick *p)
{
	if (!x->receivers)
		return;
	sum->hosts++;
	sum->without += !p->found;
	sum->pairs += x->receivers;
	sum->small += p->served_small;
	sum->large += p->served_large;
}

/* The first that each is in. */
static uint32_t *mpi_env_jobs(const struct fabric *f, const struct jobset *jobs)
{
	uint32_t *job = xcalloc(f->nterm, sizeof(*job));

	for (uint32_t t = 0; t < f->nterm; t++)
		job[t] = FAB_NONE;
	for (uint32_t i = jobs ? jobs->njob : 0; i--;)
		for (uint32_t k = 0; k < jobs->jobs[i].nterm; k++)
			job[jobs->jobs[i].terms[k]] = i;
	return job;
}

int mpi_env_write(FILE *file, const struct fabric *f, const struct tables *t,
		  const struct lid_choice *c, const struct jobset *jobs, struct err *err)
{
	uint32_t *job = mpi_env_jobs(f, jobs);
	struct text_out *o = text_out_new(file);
	struct env_sum sum = { 0 };
	const char *last = "";

	text_out_str(o,
		     "# What UCX can use of lid-choice.txt, by host; made for UCX 1.13, not run "
		     "with an adapter.\n"
		     "# The first offset is for small messages, the second one for large ones.\n");
	for (uint32_t term = 0; term < f->nterm; term++) {
		struct offsets x;
		struct env_pick p;

		if (!strcmp(f->term_name[term], last))
			continue;
		last = f->term_name[term];
		mpi_env_count(&x, f, t, c, job, term);
		p = mpi_env_pick(&x);
		mpi_env_add(&sum, &x, &p);
		mpi_env_put(o, last, &x, &p);
	}
	text_out_fmt(o,
		     "# %u hosts, %u without a line; an offset of the choice for %.1f %% of pairs "
		     "with small messages, %.1f %% with large ones\n",
		     sum.hosts, sum.without,
		     sum.pairs ? 100.0 * (double)sum.small / (double)sum.pairs : 0,
		     sum.pairs ? 100.0 * (double)sum.large / (double)sum.pairs : 0);
	free(job);
	return text_out_end(o, "the environment of MPI", err);
}
