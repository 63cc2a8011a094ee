/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lid_choice_file: for MPI libraries, to which LID of its receiver a message should go.
 *
 *   lid-choice 1                             version
 *   topology hyperx 12x8
 *   lmc 2                                    offsets are below 2^lmc
 *   pair 0 1 small 1 large 0                 from class 0 to class 1: offsets to the base LID, of
 *   pair 0 0 small 1,3 large 0,2             several any one may be taken (at random, say)
 *   switch 0 0x0002000000000000 0 0 sw01     number, GUID, class, quadrant, name
 *   port 4 0 n0001                           base LID of a terminal, number of its switch, name
 *   except 5 17 small 3 large 0,2            from switch 5 to 17 instead of what pair says
 *
 * A message from a port on switch S to a port on switch T: equal switches: any offset; else the
 * except line of S and T, else the pair line of their classes.  The paper calls messages
 * above 512 bytes large.  Lines come in this order; # comments; unknown words are passed over.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/topology/fabric.h"

#include <stdio.h>

int lid_choice_write(FILE *file, const struct fabric *f, const struct lid_choice *c,
		     struct err *err);

/* Switches are found by their GUIDs.  -EINVAL with file:line for a line that cannot be so, a class
 * or switch that is not there or comes twice, a pair or a switch of the fabric that is
 * missing.  The caller owns *out. */
int lid_choice_read(struct lid_choice **out, FILE *file, const char *path, const struct fabric *f,
		    struct read_report *report, struct err *err);
