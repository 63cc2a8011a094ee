/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_values: values of an option that are worth a try, and what is known of them. */
#pragma once

#include "views/data/state/option_result.h"
#include "views/data/state/preview_options.h"

#define OPTION_VALUES 8

/* With that of now, ascending; returns how many: 0 where results do not depend on it, or where what
 * it may be cannot be guessed. */
uint32_t option_values(uint64_t out[OPTION_VALUES], const struct param *p,
		       const struct preview_options *now, const struct fabric *f);
void option_values_set(struct preview_options *o, const struct param *p, uint64_t value);
/* "2", "default", "yes".  Returns buf. */
const char *option_values_text(char *buf, size_t len, const struct param *p, uint64_t value);

/* The result of that engine with these options among n; NULL: it is not there. */
const struct option_result *option_result_find(const struct option_result *list, uint32_t n,
					       uint32_t engine, const struct preview_options *o);
