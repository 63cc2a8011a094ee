/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_path_sl: the SL of one path, as the SM's path record has it: one query. */
#pragma once

#include "fabric/wire/wire.h"

/* From a terminal to a LID.  -EIO: the SM has none, or does not answer, with the reason; or what the
 * port failed with. */
int wire_path_sl(uint8_t *sl, struct wire *w, const struct fabric *f, uint32_t term, uint16_t dlid,
		 struct err *err);
