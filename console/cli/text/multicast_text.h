/* SPDX-License-Identifier: GPL-2.0-or-later */
/* multicast_text: what was found of multicast tables, as lines and as JSON. */
#pragma once

#include "fabric/model/multicast/mcast_judge.h"

#include <jansson.h>
#include <stdio.h>

void multicast_text_print(FILE *out, const struct mcast_verdict *v, const struct fabric *f);
json_t *multicast_text_json(const struct mcast_verdict *v, const struct fabric *f);
