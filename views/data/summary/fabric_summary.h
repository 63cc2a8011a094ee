/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric_summary: the fabric and its newest rates summed up once per sample, for all views. */
#pragma once

#include "views/data/state/state.h"
#include "views/data/summary/congestion.h"
#include "views/data/summary/fabric_shape.h"
#include "views/data/summary/port_problems.h"
#include "views/data/summary/sample_summary.h"

#include <stdint.h>

char problem_glyph(enum problem p);	  /* ' ' ~ s ! x */
const char *problem_word(enum problem p); /* "" for none */

/* From warn-util on a link is hot, and from HOT_PCT on where that warns of nothing. */
#define HOT_PCT 80
double fabric_summary_hot_pct(const struct state *s);

/* What the hosts of a job sent at the moment that rates are held against, as job_Bps; NAN also
 * where it began later. */
struct fabric_summary;
double fabric_summary_job_then(const struct fabric_summary *v, const struct state *s, uint32_t job);

struct job_load {
	uint32_t links;	  /* channels; 0 also for a job that is too new */
	uint32_t hot;	  /* of them */
	uint32_t worst;	  /* the most used; FAB_NONE unknown */
	double util_max;  /* of that one; NAN unknown */
	double efi_mean;  /* the job's own routes per channel that it uses; NAN without any */
	double util_then; /* the highest of them at the moment that rates are held against; NAN */
};

#define PROBLEM_MAX 256

struct fabric_summary {
	const struct fabric *fabric; /* own references */
	const struct rates *rates;
	const struct sample *sample;
	const struct jobset *jobs;
	const struct rates *against; /* not owned: to see that it is another one */
	int64_t against_s;

	const struct fabric_shape *shape; /* own reference, of which the next are parts */
	const struct topology_kind *topology;
	const struct racks *racks;
	const struct tiers *tiers;
	double errors_limit;			     /* per minute, of the state */
	const struct sample_summary *sample_summary; /* own reference: of sample and rates */
	struct congestion congestion;		     /* of the same */
	uint32_t down, reduced, errors, no_reply;    /* ports */
	uint8_t *problem;			     /* enum problem, by fabric port */
	uint32_t *lost;				     /* ports that had a link and have none now */
	uint32_t nlost;
	struct port_problems *port_problems; /* since when, and what was there */
	uint32_t nproblem;		     /* listed below: worst kind first */
	uint32_t problem_sw[PROBLEM_MAX];
	uint8_t problem_port[PROBLEM_MAX];

	struct job_load *job_load; /* fabric_summary_job_load() as far as it was asked for */
	uint8_t *job_load_made;	   /* by index in jobs */
	uint64_t usage_serial;

	/* jobs by what they suffer: those without paths first, by their share, then the slowest,
	 * equals by job_Bps; NULL without jobs */
	uint32_t *by_suffering;
	double *job_slowdown; /* by index in jobs: link_usage_slowdown(); NULL without jobs */
	double *job_lost_pct; /* likewise: link_usage_lost_pct() */
	/* what the hosts of each job send, by index in jobs; NAN when a host also runs another job
	 * or a rate is unknown */
	double *job_Bps;
};

/* Follows the state; cheap when nothing changed.  O(ports) bytes where the state has them summed
 * up, else O(ports) figures. */
void fabric_summary_update(struct fabric_summary *v, const struct state *s);
void fabric_summary_done(struct fabric_summary *v);

/* The links that the routes of a job (index in v->jobs) use; NULL: not known.  Added up when first
 * asked for with a sample, O(links of the job); s: of the summary's last update. */
const struct job_load *fabric_summary_job_load(const struct fabric_summary *v,
					       const struct state *s, uint32_t job);
