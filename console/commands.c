/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/commands.h"

#include <stddef.h>

const struct command commands[] = {
	{ "topo", "make a fabric from a line of text", cmd_topo },
	{ "route", "compute routes and write them as files", cmd_route },
	{ "check", "judge tables, ours or others'", cmd_check },
	{ "compare", "several engines on one fabric, beside each other", cmd_compare },
	{ "audit", "verify or list the records of sessions", cmd_audit },
	{ NULL, NULL, NULL },
};
