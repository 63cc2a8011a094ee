/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slow_work: stands in front of what takes long for a new fabric: it does not return while work is
 * slow, and what the thread that draws asks for itself is counted.  To be included by one file of
 * a program, which is linked with SLOW_WORK of the Makefile. */
#pragma once

#include "engines/geometry/topology_kind.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/traffic/jobset.h"
#include "views/data/state/racks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool slow_work;	     /* calls do not return */
static atomic_uint slow_work_waits;  /* calls that do not */
static unsigned slow_work_on_screen; /* calls of the thread that set slow_work_screen */
static pthread_t slow_work_screen;
static bool slow_work_counts; /* these */

static void slow_work_wait(void)
{
	if (pthread_equal(pthread_self(), slow_work_screen)) {
		slow_work_on_screen += slow_work_counts;
		return;
	}
	slow_work_waits++;
	while (slow_work)
		usleep(1000);
	slow_work_waits--;
}

struct topology_kind *__real_topology_kind_new(const struct fabric *f);
struct topology_kind *__wrap_topology_kind_new(const struct fabric *f);
struct topology_kind *__wrap_topology_kind_new(const struct fabric *f)
{
	slow_work_wait();
	return __real_topology_kind_new(f);
}

struct racks *__real_racks_new(const struct fabric *f, const struct slurm_topology *file,
			       const char *path);
struct racks *__wrap_racks_new(const struct fabric *f, const struct slurm_topology *file,
			       const char *path);
struct racks *__wrap_racks_new(const struct fabric *f, const struct slurm_topology *file,
			       const char *path)
{
	slow_work_wait();
	return __real_racks_new(f, file, path);
}

int __real_tables_graft(struct tables **out, const struct fabric *f, const struct tables *t,
			const struct endports *was, struct graft_report *report, struct err *err);
int __wrap_tables_graft(struct tables **out, const struct fabric *f, const struct tables *t,
			const struct endports *was, struct graft_report *report, struct err *err);
int __wrap_tables_graft(struct tables **out, const struct fabric *f, const struct tables *t,
			const struct endports *was, struct graft_report *report, struct err *err)
{
	slow_work_wait();
	return __real_tables_graft(out, f, t, was, report, err);
}

struct jobset *__real_jobset_on(const struct jobset *js, const struct fabric *was,
				const struct fabric *f);
struct jobset *__wrap_jobset_on(const struct jobset *js, const struct fabric *was,
				const struct fabric *f);
struct jobset *__wrap_jobset_on(const struct jobset *js, const struct fabric *was,
				const struct fabric *f)
{
	slow_work_wait();
	return __real_jobset_on(js, was, f);
}
