/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/agents.h"

#include "console/config/cmdline.h"
#include "fabric/base/message/log.h"
#include "fabric/jobs/source.h"
#include "fabric/update/installer/osm_agents.h"
#include "fabric/update/protocol/site_key.h"
#include "fabric/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MS 1000 /* an update takes seconds, and jobs begin meanwhile */

enum { OPT_WITHOUT = 760, OPT_SILENT, OPT_ANSWER, OPT_STRANGERS, OPT_NAMES };

static const struct argp_option rows[] = {
	{ "on-silent", OPT_SILENT, "WHAT", 0,
	  "when agents do not drain in time, or jobs that should drain start during the update: "
	  "abort (default), or continue without draining these jobs",
	  0 },
	{ "agent-timeout", OPT_ANSWER, "S", 0,
	  "seconds that agents may take to drain or to return (default: 30)", 0 },
	{ "accept-strangers", OPT_STRANGERS, NULL, 0,
	  "apply although LIDs of no job, such as those of idle hosts and servers, have to drain: "
	  "what sends to them is paused, or its packets may be lost (default: refuse, and name "
	  "the hosts); --without-agents implies it",
	  0 },
	{ "accept-names", OPT_NAMES, NULL, 0,
	  "drain jobs whose nodes are not certain: where several hosts may have the name of a node, "
	  "each of their ports has to drain; nodes that no host is called, and names that changed "
	  "since the plan was made, are taken as they are (default: refuse, and name them)",
	  0 },
	{ "without-agents", OPT_WITHOUT, NULL, 0,
	  "write without asking agents, although jobs should drain: their packets may be lost or "
	  "deadlock",
	  0 },
	{ 0 },
};

static error_t agents_take(int key, char *arg, struct argp_state *state)
{
	struct agents_opts *o = state->input;

	switch (key) {
	case OPT_WITHOUT:
		o->without = true;
		return 0;
	case OPT_STRANGERS:
		o->strangers = true;
		return 0;
	case OPT_NAMES:
		o->names = true;
		return 0;
	case OPT_SILENT:
		if (strcmp(arg, "abort") != 0 && strcmp(arg, "continue") != 0)
			argp_error(state, "--on-silent: '%s' is neither abort nor continue", arg);
		o->silent_go_on = arg[0] == 'c';
		return 0;
	case OPT_ANSWER:
		o->answer_s = (unsigned)cmdline_count(state, "--agent-timeout", arg, 1, 3600);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp agents_argp = { .options = rows, .parser = agents_take };

/* They are only looked at while agents are awaited, and before waves: a source never blocks. */
static void agents_do_watch_jobs(struct agents *a, const char *name)
{
	bool slurm = name && !strcmp(name, "slurm");
	struct source_opts so = { .path = slurm ? NULL : name, .interval_ms = JOBS_MS };
	struct err err = { "" };

	if (name && source_open(&a->jobs, slurm ? &job_source_slurm : &job_source_file, &so, &err))
		log_add(LOG_WARN, "jobs", "%s", err.text);
}

static void agents_do_link(struct agents *a, struct notice_port *np)
{
	agent_link_over(&a->link, np);
	agent_link_keys(&a->link, a->keys);
}

void agents_open(struct agents *a, const struct live *l, const struct live_opts *o, bool jobs)
{
	struct err err = { "" };

	*a = (struct agents){ 0 };
	if (site_keys_load(&a->keys, o->agents_key, &err))
		snprintf(a->why, sizeof(a->why), "the key of the agents cannot be used: %s",
			 err.text);
	else if (l->osm)
		agent_link_osm(&a->link, l->osm, l->w, a->keys);
	else if (l->w && wire_notices(l->w))
		agents_do_link(a, wire_notices(l->w));
	else
		snprintf(a->why, sizeof(a->why),
			 "responses of agents cannot be received on this port: is another program "
			 "registered for notices there?");
	if (jobs)
		agents_do_watch_jobs(a, o->jobs);
}

bool agents_keyless(const struct live_opts *o, const struct osm_status *s)
{
	if (s && s->opensm[0])
		return !s->key[0];
	if (o->agents_key)
		return !strcmp(o->agents_key, "none");
	return access(SITE_KEY_PRESET, F_OK) != 0; /* it need not be this user's to read */
}

void agents_close(struct agents *a)
{
	agent_link_close(&a->link);
	site_keys_free(a->keys);
	source_close(a->jobs);
	job_list_put(a->running);
	*a = (struct agents){ 0 };
}

void agents_apply(struct executor_opts *out, const struct agents *a, const struct agents_opts *o)
{
	out->agents = a->link.ops ? &a->link : NULL;
	out->no_agents = a->why;
	if (!o)
		return;
	out->without_agents = o->without;
	out->accept_unassigned = o->strangers;
	out->accept_names = o->names;
	out->without_silent = o->silent_go_on;
	out->answer_ms = o->answer_s * 1000;
}

static bool agents_runs(const struct job_list *l, uint64_t id)
{
	for (uint32_t i = 0; i < l->njob; i++)
		if (l->jobs[i].id == id)
			return true;
	return false;
}

static void agents_look(struct agents *a)
{
	const struct job_list *list;

	if (!a->jobs)
		return;
	source_poll(a->jobs);
	list = source_take(a->jobs);
	if (!list)
		return;
	job_list_put(a->running);
	a->running = list;
	a->fresh = true;
}

void agents_ended(struct agents *a, const uint64_t *id, bool *over, uint32_t n)
{
	agents_look(a);
	for (uint32_t i = 0; a->running && i < n; i++)
		over[i] = !agents_runs(a->running, id[i]);
}

const struct jobset *agents_running(struct agents *a, const struct fabric *f)
{
	struct jobset *jobs = NULL;
	struct err err = { "" };

	agents_look(a);
	if (!a->fresh)
		return NULL;
	a->fresh = false;
	if (jobset_from_list(&jobs, a->running, f, &err))
		log_add(LOG_WARN, "jobs", "%s", err.text);
	return jobs;
}

void agents_watch_jobs(struct agents *a, const struct live_opts *o)
{
	*a = (struct agents){ 0 };
	snprintf(a->why, sizeof(a->why), "no job has to be asked");
	agents_do_watch_jobs(a, o->jobs);
}
