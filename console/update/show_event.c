/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/show_event.h"

#include <stdio.h>
#include <string.h>

static void show_event_begin(const struct executor_event *ev)
{
	const char *name = phase_name(ev->phase);

	if (ev->phase == PHASE_UNPATH || ev->phase == PHASE_REPATH) {
		printf("%-8s %u agents\n", name, ev->items);
		return;
	}
	printf("%-8s %s%s\n", name, ev->items ? "" : "begins", ev->text);
	if (ev->phase == PHASE_WRITE)
		printf("         wave %u: %u blocks and tables\n", ev->wave + 1, ev->items);
	else if (ev->items)
		printf("         %u blocks and tables\n", ev->items);
}

void show_event(const struct executor_event *ev, const char *block, const char *txn)
{
	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
		show_event_begin(ev);
		break;
	case APPLY_ASK:
		printf("         asking %u agents to %s\n", ev->items,
		       ev->asked == PHASE_UNPATH ? "drain" : "return");
		break;
	case APPLY_ANSWER:
	case APPLY_SETTLED:
		printf("         %s\n", ev->text);
		break;
	case APPLY_PHASE_END:
		if (ev->phase == PHASE_UNPATH || ev->phase == PHASE_REPATH)
			break; /* said as they settled */
		printf("%-8s done%s%s\n", phase_name(ev->phase), ev->text[0] ? ": " : "", ev->text);
		break;
	case APPLY_ITEM:
		if (ev->rc)
			printf("         %s: %s\n", block, ev->text);
		break;
	case APPLY_VERIFY:
		printf("         read back: %s%s\n", ev->rc ? "not as written: " : "all as written",
		       ev->text);
		break;
	case APPLY_OUTCOME:
		printf("%s: %s\n", txn[0] ? txn : "not started", outcome_name(ev->outcome));
		break;
	}
	fflush(stdout);
}
