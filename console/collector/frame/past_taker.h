/* SPDX-License-Identifier: GPL-2.0-or-later */
/* past_taker: a moment of the past, made from the answer to a question about it. */
#pragma once

#include "console/collector/frame/taken.h"
#include "console/session/message.h"

struct past_taker {
	struct taken_fabric fabric;
	struct taken_tables tables;
};

void past_taker_done(struct past_taker *p);
/* live: what is current, which is used where a moment had the same.  0 or -EPROTO. */
int past_take(struct msg **out, struct past_taker *p, const struct taken_fabric *live,
	      const struct taken_tables *live_tables, const struct taken_racks *racks,
	      struct bytes_in *in, struct err *err);
