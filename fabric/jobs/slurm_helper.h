/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_helper: where ibroute-slurm is, the program that is linked with libslurm. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* $IBROUTE_SLURM; else beside this program; else where "make install" puts it, unless others than
 * root and the owner of this program could have put it there.  false: there is none; path then has
 * where it was looked for, for people. */
bool slurm_helper_find(char *path, size_t size);
/* What else in $PATH can be asked: "squeue --json", "sacct"; NULL: nothing. */
const char *slurm_helper_other(void);
