/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source: the seam "job source", behind which are SLURM, a file and the simulator's workload.
 *
 * A source never blocks.  Its one descriptor stays the same as long as it is open and becomes
 * readable whenever source_poll() has something to do (time-outs included), so a caller
 * adds it to its poll loop and needs no timer.  One thread per source.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"

#include <stdbool.h>
#include <stdint.h>

struct workload;

enum source_state {
	SOURCE_STARTING,    /* nothing heard yet */
	SOURCE_OK,	    /* the list is what the source says now */
	SOURCE_UNREACHABLE, /* asked, refused or silent; the last good list stands */
	SOURCE_DEAD,	    /* the poller is gone; it is started again after a pause */
};

struct source_status {
	enum source_state state;
	char text[400];	     /* for the operator, without the age; "" when all is well */
	int64_t last_good_s; /* Unix time of the last answer; 0 never */
	uint32_t restarts;   /* of the poller */
};

struct source_opts {
	const char *path;	   /* file: the jobs file */
	struct workload *workload; /* sim: where the jobs come from; must outlive the source */
	int64_t at_s; /* file: the jobs of that moment, for ever; 0: those of now */
	uint32_t interval_ms;	   /* slurm, file: between two questions; 0: the source's own */
	const char *const
		*poller;      /* slurm: argv of the poller, up to 7; NULL: this program's own */
	uint32_t quiet_ms;    /* slurm: silence that counts as unreachable; 0: interval + 5 s */
	uint32_t deadline_ms; /* slurm: silence until the poller is killed; 0: interval + 75 s */
	uint32_t backoff_ms;  /* slurm: first pause before a restart, doubled up to 60 s; 0: 1 s */
};

struct job_source;

struct job_source_type {
	const char *name, *summary;
	int (*open)(struct job_source **out, const struct source_opts *opts, struct err *err);
	void (*poll)(struct job_source *s);
	void (*close)(struct job_source *s);
};

/* What every source starts with; the rest is the source's own. */
struct job_source {
	const struct job_source_type *type;
	int fd;
	const struct job_list *newest; /* not taken yet */
	struct source_status status;
};

extern const struct job_source_type job_source_slurm, job_source_file; /* and see source_sim.h */

const char *source_state_name(enum source_state s); /* "starting", "ok", ... */

/* -EINVAL: an option is missing; -ENOSYS: built without it; else the system's error. */
int source_open(struct job_source **out, const struct job_source_type *type,
		const struct source_opts *opts, struct err *err);
void source_close(struct job_source *s); /* NULL is fine */

/* To watch for reading. */
int source_fd(const struct job_source *s);
/* Does what is to be done now; true when there is a list to take or the status changed. */
bool source_poll(struct job_source *s);
/* The newest list since the last call, or NULL; the caller puts it. */
const struct job_list *source_take(struct job_source *s);
const struct source_status *source_status(const struct job_source *s);
