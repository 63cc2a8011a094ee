/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/show_event.h"

#include <stdio.h>
#include <string.h>

void show_event(const struct apply_event *ev, const char *block, const char *txn)
{
	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
		printf("%-8s %s%s\n", phase_name(ev->phase), ev->items ? "" : "begins", ev->text);
		if (ev->items)
			printf("         %u blocks and tables\n", ev->items);
		break;
	case APPLY_PHASE_END:
		printf("%-8s done%s%s\n", phase_name(ev->phase), ev->text[0] ? ": " : "", ev->text);
		break;
	case APPLY_ITEM:
		if (ev->rc)
			printf("         %s: %s\n", block, strerror(-ev->rc));
		break;
	case APPLY_VERIFY:
		printf("         read back: %s%s\n",
		       ev->rc ? "not as it should be: " : "all as it should be", ev->text);
		break;
	case APPLY_OUTCOME:
		printf("%s: %s\n", txn[0] ? txn : "nothing begun", outcome_name(ev->outcome));
		break;
	}
	fflush(stdout);
}
