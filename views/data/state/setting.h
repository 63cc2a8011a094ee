/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setting: one of those that :set takes and the configuration file may hold. */
#pragma once

#include <stdbool.h>

#define SETTING_LEN 160

struct setting {
	const char *name;
	const char *words; /* what it may be, " yes no "; NULL: a number or a text */
	const char *about;
	char value[SETTING_LEN]; /* "" as usual */
	bool changed;		 /* since the start, and not kept */
};
