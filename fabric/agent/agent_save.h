/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_save: what an agent that was killed has to know when it starts again, in a small file.
 *
 * It survives the process, not the node: after a boot the queue pairs are gone, and what is
 * written there of another boot counts as nothing.
 */
#pragma once

#include "fabric/agent/agent_line.h"
#include "fabric/agent/agent_state.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_PEERS_MAX 1024
#define AGENT_JOBS_MAX	256

/* A process with queue pairs that are to be drained. */
struct agent_peer {
	char job[AGENT_JOB_MAX];
	uint32_t rank;
	pid_t pid;	/* 0: not visible from here */
	uint64_t start; /* start time in kernel ticks: the same pid may be used again */
};

struct agent_job {
	char name[AGENT_JOB_MAX];
	uid_t uid; /* its user; (uid_t)-1: not known */
};

struct agent_save {
	struct agent_saved state;
	uint16_t hold_s;
	uint64_t heard_ms; /* CLOCK_BOOTTIME of the last notice */
	uint64_t port_guid;
	VEC(struct agent_job) jobs;
	VEC(struct agent_peer) peers;
};

/* 0; -ENOENT: there is none, or it is of another boot; -EINVAL: damaged, or of another port. */
int agent_save_load(struct agent_save *out, const char *path, uint64_t port_guid, struct err *err);
/* The same from text; for tests.  boot: id of this boot. */
int agent_save_parse(struct agent_save *out, const char *text, size_t n, const char *boot,
		     struct err *err);
/* Whole or not at all. */
int agent_save_store(const struct agent_save *s, const char *path, struct err *err);
void agent_save_clear(struct agent_save *s);

uint64_t agent_boottime_ms(void);
/* 0: there is no such process (any more), or only what is left of one. */
uint64_t agent_pid_start(pid_t pid);
/* One that cannot be seen counts as alive. */
bool agent_peer_alive(const struct agent_peer *p);
