/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/keymap_scripts.h"

#include "console/app/terminal/keymap.h"
#include "console/io/roff.h"
#include "views/prompt/command.h"

#include <string.h>

#define CURSOR "- (no cursor: select rows by --filter, nodes by name)"
#define SCREEN "- (on a terminal only)"

/* clang-format off */
static const char *const scripts[REQ_COUNT] = {
	[REQ_UP] = CURSOR, [REQ_DOWN] = CURSOR, [REQ_LEFT] = CURSOR, [REQ_RIGHT] = CURSOR,
	[REQ_PAGE_UP] = CURSOR, [REQ_PAGE_DOWN] = CURSOR, [REQ_TOP] = CURSOR, [REQ_BOTTOM] = CURSOR,
	[REQ_ENTER] = "--view links|switches|ports|jobs --filter ... --fields all; --view actions --session SID; show PLAN",
	[REQ_BACK] = CURSOR,
	[REQ_PANE] = "--view, one of them; dump-lfts; show --diff",
	[REQ_SORT] = "--sort FIELD", [REQ_REVERSE] = "--sort -FIELD",
	[REQ_FILTER] = "--filter EXPRESSION", [REQ_FIND] = "--filter WORD",
	[REQ_FIND_NEXT] = "--filter WORD", [REQ_FIND_PREV] = "--filter WORD",
	[REQ_PROBLEMS] = "--check; --view ports --filter 'state!=active or errors_per_min>0'",
	[REQ_SELECT] = "--filter 'a or b' selects rows; plan -e ENGINE and compare --engines A,B "
		       "compute plans",
	[REQ_TAG_RANGE] = "--filter 'a or b'",
	[REQ_TAGGED] = "--filter 'a or b'", [REQ_UNTAG] = "--filter",
	[REQ_METRIC] = "--view heatmap --metric FIELD", [REQ_DIRECTION] = "--view heatmap --down; paths B A",
	[REQ_LAYOUT] = "--view heatmap --layout NAME; --screen topology --do layout",
	[REQ_ZOOM] = "--view heatmap (single pairs); --screen heatmap --do zoom",
	[REQ_ROWS] = "--screen heatmap --do 'rows rack'",
	[REQ_PALETTE] = "--set palette=NAME (JSON has no colours)",
	[REQ_PALETTE_PICK] = "--set palette=NAME (JSON has no colours)",
	[REQ_UNITS] = "--set units=bits (JSON has bytes per second)",
	[REQ_COMPARE] = "show --links PLAN; show --diff PLAN",
	[REQ_FOLLOW] = "--view links --filter a=NAME",
	[REQ_PATH_FROM] = "paths A B", [REQ_PATH_TO] = "paths A B",
	[REQ_EXCLUDE] = "plan --exclude LIST", [REQ_PIN] = "plan --pin LIST",
	[REQ_OPTIONS] = "plan --vls K --seed N ...; paths A B",
	[REQ_AGAIN] = "plan -e ENGINE", [REQ_IMPACT] = "plan --per-job; show --per-job PLAN",
	[REQ_DIFF] = "show --diff PLAN",
	[REQ_PREVIEW_CANCEL] = "SIGINT to plan or compare", [REQ_PLAN_SAVE] = "plan -o FILE; of a dump: plan --topology FILE --lfts FILE -o FILE",
	[REQ_APPLY_PREPARE] = "plan -o FILE", [REQ_APPLY_EXTEND] = "extend ID 5m",
	[REQ_APPLY_NOTE] = "note ID TEXT", [REQ_APPLY_OVERRIDE] = "override ID CONDITION,...",
	[REQ_APPLY_CLOSE] = "- (not needed: status lists updates)",
	[REQ_ROLLBACK_ASK] = "rollback ID", [REQ_YES] = "rollback ID --yes-fabric NAME",
	[REQ_COPY] = SCREEN,
	[REQ_FABRIC] = "--profile NAME, --Ca CA, --collector DIR, --load PATH or --demo, one run for each",
	[REQ_COLUMN_MENU] = "--fields LIST; --set columns=LIST",
	[REQ_SEARCH] = "--screen NAME --do 'search TEXT'; --filter WORD",
	[REQ_SETTINGS] = "--set NAME=VALUE; config show",
	[REQ_VERIFY] = "audit verify DIRECTORY; --view sessions",
	[REQ_VIEW] = "--view NAME; --screen NAME", [REQ_HELP] = "manual; --help",
	[REQ_COMMAND] = "--screen NAME --do 'COMMAND; ...'",
	[REQ_FREEZE] = "--save DIR", [REQ_SNAPSHOT] = "--save DIR",
	[REQ_HIST_BACK] = "--load DIR --at -N", [REQ_HIST_BACK5] = "--load DIR --at -N",
	[REQ_HIST_FORWARD] = "--load DIR --at -N", [REQ_HIST_FORWARD5] = "--load DIR --at -N",
	[REQ_LIVE] = "--load DIR without --at", [REQ_BOOKMARK] = "--save DIR --mark NAME",
	[REQ_BOOKMARKS] = "--load DIR --view history; --load DIR --at NAME",
	[REQ_PLAY] = "--load DIR --at -N for each; audit replay",
	[REQ_EVENT] = "--load DIR --at TIME", [REQ_EVENT_NEXT] = "--load DIR --at TIME",
	[REQ_EVENT_PREV] = "--load DIR --at TIME",
	[REQ_FASTER] = "--interval S", [REQ_SLOWER] = "--interval S",
	[REQ_STOP] = "SIGINT", [REQ_POLL] = "-n 1", [REQ_SWEEP] = "every run discovers the fabric",
	[REQ_TABLES] = "every run reads them; SIGINT stops it",
	[REQ_REDRAW] = SCREEN, [REQ_SUSPEND] = SCREEN, [REQ_QUIT] = "-n N; SIGINT, SIGTERM",
	[REQ_DETACH] = "apply --detach",
};
/* clang-format on */

const char *keymap_script(enum req req)
{
	return (unsigned)req < REQ_COUNT ? scripts[req] : NULL;
}

static bool keymap_scripts_told_before(const struct binding *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (all[k].req == all[i].req && all[i].req != REQ_VIEW &&
		    !strcmp(all[k].shown, all[i].shown))
			return true;
	return false;
}

void keymap_scripts_put(FILE *out)
{
	size_t n;
	const struct binding *b = keymap_all(&n);

	for (size_t i = 0; i < n; i++) {
		const char *name = command_doing(b[i].req, b[i].view),
			   *script = keymap_script(b[i].req);

		if (!b[i].help || keymap_scripts_told_before(b, i))
			continue;
		fputs(".TP\n\\fB", out);
		roff_chars(out, b[i].shown, strlen(b[i].shown));
		fputs("\\fR", out);
		if (name)
			fprintf(out, "  \\fI:%s\\fR", name);
		fputc('\n', out);
		roff_text(out, script ? script : "?");
	}
}
