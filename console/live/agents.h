/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents: the way to the nodes that an update asks to drain, and the site's policy about them. */
#pragma once

#include "console/live/live_fabric.h"
#include "fabric/agent/agent_link.h"
#include "fabric/update/executor.h"

#include <argp.h>

struct agents_opts {
	bool without, silent_go_on;
	bool strangers;	   /* LIDs of no job need not be drained */
	bool names;	   /* all ports of an ambiguous name drain */
	unsigned answer_s; /* 0: as apply has it */
};

/* --without-agents, --accept-strangers, --accept-names, --on-silent, --agent-timeout; the input is a struct
 * agents_opts. */
extern const struct argp agents_argp;

struct job_source;
struct job_list;

/* Where notices go and come from, and which of the jobs are over. */
struct agents {
	struct agent_link link;
	char why[512];		/* there is no link */
	struct site_keys *keys; /* of the site; NULL: none */
	struct job_source *jobs;
	const struct job_list *running;
	bool fresh; /* agents_running() has not seen that */
};

/* Through our plugin inside OpenSM where l has that, else over its wire, if that takes notices; or
 * there is no link.  jobs: those of o are watched as well. */
void agents_open(struct agents *a, const struct live *l, const struct live_opts *o, bool jobs);
/* Is there no key of the site, as far as can be seen from here?  s: of OpenSM's plugin; NULL: it is
 * not there, or not known. */
bool agents_keyless(const struct live_opts *o, const struct osm_status *s);
void agents_close(struct agents *a); /* an all-zero one is fine */
/* Puts both into the options of an update; o may be NULL. */
void agents_apply(struct executor_opts *out, const struct agents *a, const struct agents_opts *o);
/* As apply_opts.ended. */
void agents_ended(struct agents *a, const uint64_t *id, bool *over, uint32_t n);
/* As apply_opts.running. */
const struct jobset *agents_running(struct agents *a, const struct fabric *f);
/* Only the jobs, where nobody is to be asked. */
void agents_watch_jobs(struct agents *a, const struct live_opts *o);
