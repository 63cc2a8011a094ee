/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibroute-slurm: the program that asks SLURM for its jobs, because libslurm exits, blocks, prints,
 * and has another name with every release.  Built for each SLURM; the others need none of it.
 *
 * stdin is a pipe whose end of file means that its parent is gone; stdout carries jobwire.h.
 */
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/process/confine.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/jobs/jobwire.h"
#include "fabric/jobs/poller_pipe.h"
#include "fabric/version.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* A job as it ran when it was last seen running. */
struct ran {
	uint32_t id;
	uint16_t restarts;
	char *nodes;
};

typedef VEC(struct ran) ran_list;

struct poller {
	int out;
	uint32_t interval_ms;
	time_t last_update; /* of the last list, as slurmctld counts it */
	ran_list ran;	    /* ascending id */
	VEC(uint32_t) lost; /* requeued since a node of theirs is down */
};

/* Of a component of a heterogeneous job the leader's. */
static uint32_t ibroute_slurm_job_id(const slurm_job_info_t *j)
{
	return j->het_job_id ? j->het_job_id : j->job_id;
}

static const char *ibroute_slurm_user_of(const slurm_job_info_t *j, char *buf, size_t size)
{
	struct passwd *pw;

	if (j->user_name && *j->user_name)
		return j->user_name;
	pw = getpwuid(j->user_id);
	if (pw)
		return pw->pw_name;
	snprintf(buf, size, "%u", (unsigned)j->user_id);
	return buf;
}

/* "5_1" of a task of an array; of other jobs "", which are known by their number. */
static const char *ibroute_slurm_label(char buf[JOB_ID_LEN], const slurm_job_info_t *j)
{
	buf[0] = '\0';
	if (j->array_job_id && j->array_task_id != NO_VAL)
		snprintf(buf, JOB_ID_LEN, "%u_%u", (unsigned)j->array_job_id,
			 (unsigned)j->array_task_id);
	return buf;
}

static void ibroute_slurm_add_job(struct job_list *l, const slurm_job_info_t *j)
{
	char uid[16], label[JOB_ID_LEN];

	job_list_add(l, &(struct job_rec){ .id = ibroute_slurm_job_id(j),
					   .part = j->het_job_id ? 1 + j->het_job_offset : 0,
					   .name = j->name,
					   .user = ibroute_slurm_user_of(j, uid, sizeof(uid)),
					   .nodes = j->nodes,
					   .attr = { [JOB_LABEL] = ibroute_slurm_label(label, j),
						     [JOB_PARTITION] = j->partition,
						     [JOB_ACCOUNT] = j->account,
						     [JOB_RESERVATION] = j->resv_name,
						     [JOB_FEATURES] = j->features },
					   .start_s = j->start_time });
}

/* ---- jobs that were requeued ---- */

static int ibroute_slurm_by_id(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static const struct ran *ibroute_slurm_find_ran(const struct poller *p, uint32_t id)
{
	struct ran key = { .id = id };

	return p->ran.n ? bsearch(&key, p->ran.v, p->ran.n, sizeof(key), ibroute_slurm_by_id)
			: NULL;
}

static void ibroute_slurm_clear_ran(ran_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].nodes);
	vec_free(l);
}

static bool ibroute_slurm_has(const struct hostlist *nodes, const char *name)
{
	for (uint32_t i = 0; i < hostlist_count(nodes); i++)
		if (!strcmp(hostlist_names(nodes)[i], name))
			return true;
	return false;
}

/* Is one of those nodes down, or does it not answer slurmctld?  false: or not known. */
static bool ibroute_slurm_any_down(const char *nodes, const node_info_msg_t *all)
{
	struct hostlist *hl;
	struct err err;
	bool down = false;

	if (hostlist_parse(&hl, nodes, &err))
		return false;
	for (uint32_t i = 0; i < all->record_count && !down; i++) {
		const node_info_t *n = &all->node_array[i];
		bool bad = (n->node_state & NODE_STATE_BASE) == NODE_STATE_DOWN ||
			   n->node_state & (NODE_STATE_NO_RESPOND | NODE_STATE_FAIL);

		down = bad && n->name && ibroute_slurm_has(hl, n->name);
	}
	hostlist_free(hl);
	return down;
}

static bool ibroute_slurm_is_lost(const struct poller *p, uint32_t id)
{
	for (size_t i = 0; i < p->lost.n; i++)
		if (p->lost.v[i] == id)
			return true;
	return false;
}

/* SLURM requeues a batch job at once when it loses a node: it is never seen with NODE_FAIL, only
 * with one restart more.  So has one that somebody requeued, but then its nodes are up. */
static void ibroute_slurm_look_for_lost(struct poller *p, const job_info_msg_t *msg)
{
	node_info_msg_t *all = NULL;

	for (uint32_t i = 0; i < msg->record_count; i++) {
		const slurm_job_info_t *j = &msg->job_array[i];
		const struct ran *was = ibroute_slurm_find_ran(p, j->job_id);

		if (!was || j->restart_cnt <= was->restarts || ibroute_slurm_is_lost(p, j->job_id))
			continue;
		if (!all && slurm_load_node(0, &all, SHOW_ALL))
			return;
		if (ibroute_slurm_any_down(was->nodes, all))
			vec_push(&p->lost, j->job_id);
	}
	if (all)
		slurm_free_node_info_msg(all);
}

/* A job that waits keeps the nodes that it had: they may be seen to be down a moment later. */
static void ibroute_slurm_remember(struct poller *p, const job_info_msg_t *msg)
{
	ran_list now = { 0 };

	for (uint32_t i = 0; i < msg->record_count; i++) {
		const slurm_job_info_t *j = &msg->job_array[i];
		bool runs = (j->job_state & JOB_STATE_BASE) == JOB_RUNNING && j->nodes && *j->nodes;
		const struct ran *was = runs ? NULL : ibroute_slurm_find_ran(p, j->job_id);

		if (runs || was)
			vec_push(&now,
				 ((struct ran){ j->job_id, was ? was->restarts : j->restart_cnt,
						xstrdup(was ? was->nodes : j->nodes) }));
	}
	if (now.n)
		qsort(now.v, now.n, sizeof(*now.v), ibroute_slurm_by_id);
	ibroute_slurm_clear_ran(&p->ran);
	p->ran = now;
}

static bool ibroute_slurm_send_jobs(struct poller *p, const job_info_msg_t *msg, time_t asked)
{
	struct job_list *l = job_list_new("slurm", asked);
	bool sent;

	ibroute_slurm_look_for_lost(p, msg);
	ibroute_slurm_remember(p, msg);
	for (uint32_t i = 0; i < msg->record_count; i++) {
		const slurm_job_info_t *j = &msg->job_array[i];
		/* the upper bits are flags (completing, requeued, ...) */
		uint32_t state = j->job_state & JOB_STATE_BASE;

		if (state == JOB_RUNNING && j->nodes && *j->nodes)
			ibroute_slurm_add_job(l, j);
		else if (state == JOB_PENDING)
			l->pending++;
		else
			l->other++;
		if (state == JOB_NODE_FAIL || ibroute_slurm_is_lost(p, j->job_id))
			job_list_failed(l, ibroute_slurm_job_id(j));
	}
	sent = poller_pipe_list(p->out, l);
	job_list_put(l);
	return sent;
}

/* One question.  Every rc but 0 is a failure, whatever errno says; 0 errno included. */
static bool ibroute_slurm_ask(struct poller *p)
{
	job_info_msg_t *msg = NULL;
	time_t asked = time(NULL);
	char text[300];
	bool sent;
	int rc, e;

	errno = 0;
	rc = slurm_load_jobs(p->last_update, &msg, SHOW_ALL);
	e = rc ? errno : 0;
	if (!rc && msg) {
		sent = ibroute_slurm_send_jobs(p, msg, asked);
		p->last_update = msg->last_update;
		slurm_free_job_info_msg(msg);
		return sent;
	}
	if (p->last_update && e == SLURM_NO_CHANGE_IN_DATA)
		return poller_pipe_text(p->out, JOBWIRE_SAME, "");
	snprintf(text, sizeof(text), "slurmctld does not respond: %s",
		 e ? slurm_strerror(e) : "no reason given");
	p->last_update = 0;
	sent = poller_pipe_text(p->out, JOBWIRE_FAIL, text);
	/* the controller may have moved: read slurm.conf again before the next question */
	slurm_fini();
	slurm_init(NULL);
	return sent;
}

static int ibroute_slurm_run(uint32_t interval_ms)
{
	struct poller p = { .out = poller_pipe_stdout(), .interval_ms = interval_ms };
	struct err err;
	char text[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (confine_capabilities(0, &err) || confine_to_asking(&err))
		fprintf(stderr, "what libslurm may do is not confined: %s\n", err.text);
	if (p.out < 0 || !poller_pipe_wait(0))
		return 1;
	snprintf(text, sizeof(text), "%u.%u.%u",
		 (unsigned)SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
		 (unsigned)SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
		 (unsigned)SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
	if (!poller_pipe_text(p.out, JOBWIRE_HELLO, text))
		return 1;
	slurm_init(NULL);
	while (ibroute_slurm_ask(&p) && poller_pipe_wait(p.interval_ms))
		;
	slurm_fini();
	ibroute_slurm_clear_ran(&p.ran);
	vec_free(&p.lost);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t interval_ms;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("ibroute-slurm %s, protocol %d, for SLURM %u.%02u\n", IBROUTE_VERSION,
		       JOBWIRE_VERSION, (unsigned)SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
		       (unsigned)SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER));
		return 0;
	}
	if (!poller_pipe_args(&interval_ms, argc, argv)) {
		fprintf(stderr, "usage: ibroute-slurm [--interval-ms N]: writes SLURM's jobs to "
				"stdout, for ibroute-top\n");
		return 64;
	}
	return ibroute_slurm_run(interval_ms);
}
