/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions_text: jobs whose hosts have no P_Key with which they may talk, as lines and as JSON.
 */
#pragma once

#include "fabric/model/partitions/partitions.h"

#include <jansson.h>
#include <stdio.h>

/* How many such jobs there are. */
uint32_t partitions_text_print(FILE *out, const struct partitions *p, const struct fabric *f,
			       const struct jobset *jobs);
json_t *partitions_text_json(uint32_t *split, const struct partitions *p, const struct fabric *f,
			     const struct jobset *jobs);
