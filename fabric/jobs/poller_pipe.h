/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poller_pipe: the side of the SLURM poller, a process of its own, of the pipes to its parent. */
#pragma once

#include "fabric/jobs/jobwire.h"

#include <stdbool.h>
#include <stdint.h>

/* argv[1..]: nothing, or --interval-ms N (default 10000, at least 100); false: something else. */
bool poller_pipe_args(uint32_t *interval_ms, int argc, char **argv);
/* A descriptor of its own for stdout, so that nothing that a library prints gets between the lines:
 * that goes to stderr.  -1: there is none. */
int poller_pipe_stdout(void);
/* Waits for the next question; false when the parent is gone. */
bool poller_pipe_wait(uint32_t ms);
/* Writes to the parent (of now); false when nobody reads any more. */
bool poller_pipe_text(int fd, enum jobwire_type type, const char *text);
bool poller_pipe_list(int fd, const struct job_list *l);
