/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulator's workload as a job source; its time is moved on by somebody else. */
#include "fabric/sim/device/source_sim.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LOOK_MS 250 /* the workload cannot wake us: it has no descriptor */

struct sim_source {
	struct job_source base;
	struct workload *workload;
	uint64_t serial; /* of the last list handed out */
	bool any;
};

static void source_sim_poll(struct job_source *base)
{
	struct sim_source *s = (struct sim_source *)base;
	uint64_t ticks;

	if (read(base->fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return;
	base->status.last_good_s = workload_now_s(s->workload);
	if (s->any && s->serial == workload_jobs_serial(s->workload))
		return;
	job_list_put(base->newest);
	base->newest = workload_jobs(s->workload);
	base->status.state = SOURCE_OK;
	s->serial = workload_jobs_serial(s->workload);
	s->any = true;
}

static void source_sim_close(struct job_source *base)
{
	if (base->fd >= 0)
		close(base->fd);
	free(base);
}

static int source_sim_open(struct job_source **out, const struct source_opts *o, struct err *err)
{
	struct itimerspec it = { .it_value.tv_nsec = 1, .it_interval.tv_nsec = LOOK_MS * 1000000L };
	struct sim_source *s;
	int rc;

	if (!o->workload)
		return err_set(err, -EINVAL, "The job source \"sim\" needs a simulated fabric.");
	s = xcalloc(1, sizeof(*s));
	s->base.type = &job_source_sim;
	s->workload = o->workload;
	s->base.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->base.fd < 0 || timerfd_settime(s->base.fd, 0, &it, NULL)) {
		rc = -errno;
		source_sim_close(&s->base);
		return err_set(err, rc, "Cannot watch the simulated jobs: %s", strerror(-rc));
	}
	*out = &s->base;
	return 0;
}

const struct job_source_type job_source_sim = {
	.name = "sim",
	.summary = "jobs of the simulated fabric",
	.open = source_sim_open,
	.poll = source_sim_poll,
	.close = source_sim_close,
};
