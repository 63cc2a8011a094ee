/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_poller: the process that talks to SLURM, because libslurm exits, blocks and prints.
 *
 * It is this program started again with SLURM_POLLER_ARG as its first argument; stdin is a pipe
 * whose end of file means that its parent is gone, stdout carries jobwire frames.
 */
#pragma once

#define SLURM_POLLER_ARG "slurm-poller"

/* argv[0] is SLURM_POLLER_ARG; options: --interval-ms N (default 10000).
 * Returns the exit code, or never: libslurm may end the process. */
int slurm_poller_main(int argc, char **argv);
