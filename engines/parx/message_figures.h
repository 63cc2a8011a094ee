/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message_figures: what a routing with a choice of LIDs gives messages by their size, in the
 * numbers that are shown, beside the installed one. */
#pragma once

#include "engines/parx/message_efi.h"
#include "engines/time/time_gate.h"
#include "engines/time/time_summary.h"

struct message_figures {
	bool known;	 /* there is a choice that holds */
	bool chosen_now; /* the installed tables have one, too; else now is of base LIDs */
	struct {
		struct message_efi efi;
		struct time_summary time;
	} now[MESSAGE_SIZES], plan[MESSAGE_SIZES];
	struct time_gate gate[MESSAGE_SIZES]; /* from now to plan */
	/* what software loses that knows base LIDs only, a sentence; "" nothing */
	char base_loses[200];
};
