/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each key of the help is pressed, and what happens is compared with what the help says of it.
 *
 * A row begins with the words of the help, so a sentence that changes has to be tried again; a key
 * without a row, a row without a key, and one whose effect was there before it was pressed, fail.
 */
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"

#include "fabric/base/memory/mem.h"
#include "views/data/lists/campaign_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum world { LIVE, PLAN, READY, WAITING, RECORDS, CAMPAIGN };

struct trial {
	const char *help;   /* its first words: enough to tell it from others */
	const char *before; /* keys that lead there */
	const char *shows;  /* then, and not before */
	const char *hides;  /* no longer */
	enum req asks;	    /* of the application */
	const char *view;   /* its tab is on then, and was not */
	enum world world;
};

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

/* clang-format off */
#define ROW(w, h, b, s, i, a, v) { .world = w, .help = h, .before = b, .shows = s, .hides = i, .asks = a, .view = v }
#define SAYS(w, h, b, s, i) ROW(w, h, b, s, i, REQ_NONE, NULL)
#define ASKS(w, h, b, a) ROW(w, h, b, NULL, NULL, a, NULL)
#define GOES(w, h, b, v) ROW(w, h, b, NULL, NULL, REQ_NONE, v)

static const struct trial trials[] = {
	SAYS(LIVE, "next metric: utilisation, XmitWait", "2", ": wait |", ": utilisation |"),
	SAYS(LIVE, "next metric of the history", "1", "Congested links by XmitWait", "Hot links"),
	SAYS(LIVE, "the opposite direction of each cable", "2", "| down", "| up"),
	SAYS(LIVE, "next layout: levels", "2", "layout 2/", "layout 1/"),
	SAYS(LIVE, "zoom in: worst of n x n pairs", "2", "cables", NULL),
	SAYS(LIVE, "row order: by layout", "2", "rows by utilisation", NULL),
	SAYS(LIVE, "the pane with the cursor takes", "1", "Esc: all panes", "-- Tiers: utilisation"),
	SAYS(LIVE, "zoom in: from pods", "t", "zoom 2 of", "zoom 1 of"),
	SAYS(LIVE, "choose the cables drawn", "t", "at the cursor", "worst lines"),
	SAYS(LIVE, "go to a switch by its name", "t", "switch: ", NULL),
	SAYS(LIVE, "next match; without a search: next switch", "t", "-- leaf05 -", "-- leaf01 -"),
	SAYS(LIVE, "previous match", "3fleaf07\rn", "-- leaf07/10 -> spine1/7 -", "-- spine1/7 -> leaf07/10 -"),
	SAYS(LIVE, "previous match", "tnn", "-- leaf05 -", "-- leaf12 -"),
	SAYS(LIVE, "go to the switch at the other end", "4\rGk", "-- Switch spine", "-- Switch leaf"),
	SAYS(LIVE, "show the LFT by LID or by port", "4\r\t", "port  to ", "LID  destination"),
	SAYS(LIVE, "path from here", "4", "path from leaf", NULL),
	SAYS(LIVE, "path to here", "4", "path to leaf", NULL),
	SAYS(LIVE, "exclude this switch or cable", "2", "the next preview (6) routes around", NULL),
	SAYS(LIVE, "exclude tagged rows, or this one", "4", "the next preview (6) routes around", NULL),
	ASKS(LIVE, "compute a plan with the engine under the cursor; nothing", "6", REQ_PREVIEW_START),
	ASKS(PLAN, "take the plan to view 7", "6", REQ_APPLY_PREPARE),
	SAYS(LIVE, "enter source and destination", "0", "from: ", NULL),
	SAYS(LIVE, "the path in the opposite direction", "0:path n0001 n0002\r", "Path n0002 -> n0001", "Path n0001 -> n0002"),
	SAYS(LIVE, "pairs of hosts whose paths cross", "3\x1b" "0", "[Pairs]", "[Hops]"),
	SAYS(LIVE, "in the list of pairs: next job", "3\r0\t", "pairs of job 81214", "pairs of job 81200"),
	SAYS(LIVE, "in the list of pairs: previous job", "3\r0\tn", "pairs of job 81200", "pairs of job 81214"),
	SAYS(LIVE, "inside a switch: ports", "4\r", "[LFT]", "[Ports]"),
	SAYS(PLAN, "next page: metrics", "6", "page 2/5", "page 1/5"),
	ASKS(PLAN, "the plan to the left", "6", REQ_PLAN_SELECT),
	ASKS(PLAN, "the plan to the right", "6", REQ_PLAN_SELECT),
	SAYS(LIVE, "edit the options", "6", "Options for the next preview", NULL),
	SAYS(PLAN, "what the plan changes for each job", "6", "page 4/5", NULL),
	SAYS(PLAN, "changed LFT entries", "6", "page 5/5", NULL),
	ASKS(PLAN, "compute the plan again", "6", REQ_PREVIEW_START),
	SAYS(PLAN, "save the plan to a file", "6", "save the plan, for: ibroute-top apply FILE", NULL),
	ASKS(PLAN, "stop the computation or the search", "6", REQ_PLAN_REMOVE),
	SAYS(LIVE, "tagged switches or ports side by side", "4 j ", "-- Tagged -----", NULL),
	SAYS(LIVE, "tagged rows side by side", "3 j ", "-- Tagged -----", NULL),
	ROW(PLAN, "heatmap of what the plan would change", "6", "plan - now", NULL, REQ_NONE, "2 Heat"),
	SAYS(READY, "type the fabric's name", "7", "to START the update", NULL),
	SAYS(WAITING, "roll back to the previous routing", "7", "Roll back?", NULL),
	ROW(WAITING, "yes, to the question whether", "7R", NULL, "Roll back?", REQ_APPLY_ROLLBACK, NULL),
	ASKS(WAITING, "extend the time to confirm", "7", REQ_APPLY_EXTEND),
	SAYS(WAITING, "add a note to the record", "7", "note: ", NULL),
	SAYS(WAITING, "name watch conditions", "7", "Watch conditions to ignore: ", NULL),
	ASKS(READY, "discard the plan, or dismiss", "7", REQ_APPLY_CLOSE),
	SAYS(WAITING, "log of the update in the whole view", "7", "-- Watch -----", "-- Phases -----"),
	ASKS(RECORDS, "read the records again", "9", REQ_VERIFY),
	ASKS(RECORDS, "list the actions of the session", "9", REQ_SESSION_OPEN),
	ASKS(LIVE, "search again, with the current tables", "W", REQ_WEAK),
	SAYS(LIVE, "go to the link or switch that would fail", "W", "no row is shown", NULL),
	ASKS(CAMPAIGN, "failures: open the damaged fabric", "K", REQ_CELL),
	ASKS(CAMPAIGN, "read the folder again", "K", REQ_CAMPAIGN),
	GOES(LIVE, "go to the link, switch or job of the event", "8", "3 Links"),
	ASKS(LIVE, "go back in the history to the moment of the event", "8", REQ_AT),
	ROW(LIVE, "sort in the full table", "1", "Sort by (Enter", NULL, REQ_NONE, "3 Links"),
	ROW(LIVE, "filter in the full table", "1", "Tab lists names", NULL, REQ_NONE, "3 Links"),
	ROW(LIVE, "search in the full table", "1", "find: _", NULL, REQ_NONE, "3 Links"),
	SAYS(LIVE, "sort by a column", "3", "Sort by (Enter", NULL),
	SAYS(LIVE, "reverse the sort order", "3", "(reversed)", NULL),
	SAYS(LIVE, "show only the lines of this help", "?", "search: _", NULL),
	SAYS(LIVE, "show only rows that contain", "3", "Tab lists names", NULL),
	SAYS(LIVE, "search in the rows", "3", "find: _", NULL),
	SAYS(LIVE, "next match; without a search: next row", "3", "-- leaf05/16 -> spine7/5 -", NULL),
	SAYS(LIVE, "tag the row", "3", "tagged: 1", NULL),
	SAYS(LIVE, "show tagged rows only", "3 ", "1 of 312 links", NULL),
	SAYS(LIVE, "tag all rows from", "3 jjj", "> +   129     95", NULL),
	SAYS(LIVE, "remove all tags", "3 j ", NULL, "tagged: 2"),
	SAYS(LIVE, "only rows with a problem", "3", "of 312 links", NULL),
	SAYS(LIVE, "next pane", "1", "> ! leaf05/16", "Hot links (Enter: open)"),
	SAYS(LIVE, "up", "3jj", "-- leaf03/10 -> spine1/3, waits", "-- leaf01/10 -> spine1/1, waits"),
	SAYS(LIVE, "down", "3", "-- leaf03/10 -> spine1/3, waits", "-- spine1/8 -> leaf08/10 -"),
	SAYS(LIVE, "left", "2l", ">leaf01 [@]", ">leaf01  @ [-]"),
	SAYS(LIVE, "right", "2", ">leaf01  @ [-]", ">leaf01 [@]"),
	SAYS(LIVE, "one page up", "3G", "rows 276-294 of 312", "rows 294-312 of 312"),
	SAYS(LIVE, "one page down", "3", NULL, "rows 1-"),
	SAYS(LIVE, "first row", "3G", "rows 1-", NULL),
	SAYS(LIVE, "last row", "3", "-312 of 312", NULL),
	ASKS(LIVE, "compute a plan with the engine under the cursor", "6", REQ_PREVIEW_START),
	SAYS(LIVE, "mark the links of this job", "5", "marked in all views", NULL),
	GOES(LIVE, "open what is under the cursor", "2", "3 Links"),
	GOES(LIVE, "back; leave a filter", "2\r", "2 Heat"),
	GOES(LIVE, "overview", "3", "1 Over"),
	GOES(LIVE, "heatmap of the links", "3", "2 Heat"),
	GOES(LIVE, "table of the links", "1", "3 Links"),
	GOES(LIVE, "switches: ports, LFT", "1", "4 Switch"),
	GOES(LIVE, "jobs and the links they use", "1", "5 Jobs"),
	GOES(LIVE, "engines: compute another", "1", "6 Eng"),
	GOES(LIVE, "apply a plan to the switches", "1", "7 Apply"),
	GOES(LIVE, "what happened", "1", "8 Event"),
	GOES(LIVE, "recorded sessions", "1", "9 Audit"),
	GOES(LIVE, "paths, hop by hop", "1", "0 Paths"),
	GOES(LIVE, "drawing of the topology", "1", "t Topo"),
	SAYS(LIVE, "what the failure of each cable", "1", "-- If it fails -----", NULL),
	SAYS(LIVE, "campaigns: what replay", "1", "Campaign", NULL),
	ASKS(LIVE, "freeze the display", "1", REQ_FREEZE),
	ASKS(LIVE, "one sample back", "1", REQ_HIST_BACK),
	ASKS(LIVE, "one sample forward", "1", REQ_HIST_FORWARD),
	ASKS(LIVE, "five samples back", "1", REQ_HIST_BACK5),
	ASKS(LIVE, "five samples forward", "1", REQ_HIST_FORWARD5),
	ASKS(LIVE, "back to the moment of the event before", "1", REQ_EVENT_PREV),
	ASKS(LIVE, "forward to the moment of the next event", "1", REQ_EVENT_NEXT),
	ASKS(LIVE, "play the history", "1", REQ_PLAY),
	ASKS(LIVE, "back to live", "1", REQ_LIVE),
	ASKS(LIVE, "bookmark this moment", "1", REQ_BOOKMARK),
	ASKS(LIVE, "list the bookmarks", "1", REQ_BOOKMARKS),
	ASKS(LIVE, "shorter poll interval", "1", REQ_FASTER),
	ASKS(LIVE, "longer poll interval", "1", REQ_SLOWER),
	ASKS(LIVE, "poll the counters now", "1", REQ_POLL),
	ASKS(LIVE, "stop the computation shown", "1", REQ_STOP),
	ASKS(LIVE, "discover the fabric again", "1", REQ_SWEEP),
	ASKS(LIVE, "read the missing SL2VL tables", "1", REQ_TABLES),
	SAYS(LIVE, "GB/s or Gb/s", "3", "rates in Gb/s", NULL),
	SAYS(LIVE, "next palette", "1", "palette: cividis", NULL),
	SAYS(LIVE, "choose a palette", "1", ":palette _", NULL),
	ASKS(LIVE, "save everything known", "1", REQ_SNAPSHOT),
	SAYS(LIVE, "choose the columns", "3", "show/hide", NULL),
	ASKS(LIVE, "copy the names of tagged rows", "3", REQ_COPY),
	SAYS(LIVE, "command line", "1", "Tab lists them", NULL),
	SAYS(LIVE, "write a note on the link", "3", "note", NULL),
	SAYS(LIVE, "search everything", "1", "Go to", NULL),
	SAYS(LIVE, "change and save settings", "1", "Display settings", NULL),
	ASKS(LIVE, "with several fabrics", "1", REQ_FABRIC),
	ASKS(LIVE, "redraw the screen", "1", REQ_REDRAW),
	ASKS(LIVE, "suspend to the shell", "1", REQ_SUSPEND),
	SAYS(LIVE, "this list", "1", "-- Overview", NULL),
	ASKS(LIVE, "quit; an open update continues", "1", REQ_DETACH),
	ASKS(LIVE, "close what is open", "1", REQ_QUIT),
};
/* clang-format on */

#define NTRIAL (sizeof(trials) / sizeof(trials[0]))

/* Of the rows that fit, those with most words do. */
static size_t words_of(const char *help)
{
	size_t most = 0;

	for (size_t i = 0; i < NTRIAL; i++)
		if (!strncmp(help, trials[i].help, strlen(trials[i].help)) &&
		    strlen(trials[i].help) > most)
			most = strlen(trials[i].help);
	return most;
}

/* Of failures, one of which can be opened. */
static struct campaign_list *campaign(void)
{
	struct campaign_list *l = xcalloc(1, sizeof(*l));

	l->kind = CAMPAIGN_FAILURES;
	l->nway = l->nstep = l->seeds = 1;
	l->serial = 1;
	l->opens = true;
	snprintf(l->fabric, sizeof(l->fabric), "lab");
	snprintf(l->dir, sizeof(l->dir), "results/wear");
	snprintf(l->way[0], sizeof(l->way[0]), "updn");
	l->at = xcalloc(1, sizeof(*l->at));
	l->jobs = xcalloc(1, sizeof(*l->jobs));
	l->cell = xcalloc(1, sizeof(*l->cell));
	l->cell->n = l->cell->good = 1;
	l->cell->seed = 3;
	return l;
}

static void world_up(struct console_kit *k, const struct trial *t)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	k->s.rw = true;
	console_event(k, LOG_WARN, "pma", "spine3/7 gave no reply to 3 polls");
	console_no_reply(k, 40);
	console_no_reply(k, 100);
	if (t->world == PLAN || t->world == READY || t->world == WAITING)
		console_preview(k, "sar");
	if (t->world == READY || t->world == WAITING)
		console_plan(k);
	if (t->world == WAITING) {
		console_running(k);
		console_waiting(k);
	}
	if (t->world == RECORDS)
		k->s.sessions = console_records();
	if (t->world == CAMPAIGN)
		k->s.campaign.list = campaign();
	console_keys(k, t->before);
}

static void world_down(struct console_kit *k)
{
	if (k->s.campaign.list)
		campaign_list_free((struct campaign_list *)k->s.campaign.list);
	console_close(k);
}

static bool has(const char *screen, const char *text)
{
	return !text || strstr(screen, text);
}

/* The tab of that view is the one that is on. */
static bool in_view(const char *screen, const char *view)
{
	char on[32];

	snprintf(on, sizeof(on), "[%c%s", view[0], view + 2);
	return strstr(screen, on) != NULL;
}

static unsigned bad;

static void complain(const struct binding *b, uint32_t key, const struct trial *t, const char *what,
		     const char *screen)
{
	fprintf(stderr, "key %u (%s): \"%s\": %s\n%s", key, b->shown, t->help, what, screen);
	bad++;
}

/* false: the row leads to a view where this is another key. */
static bool press(const struct binding *b, uint32_t key, const struct trial *t)
{
	struct console_kit k;
	char *before, *after;

	world_up(&k, t);
	if (b->views && !(b->views & VIEW_BIT(shell_view(k.shell)))) {
		world_down(&k);
		return false;
	}
	before = console_screen(&k);
	k.last.type = REQ_NONE;
	console_key(&k, key);
	after = console_screen(&k);
	if (t->shows && has(before, t->shows))
		complain(b, key, t, "it shows that before", before);
	if (!has(after, t->shows))
		complain(b, key, t, t->shows, after);
	if (t->hides && !has(before, t->hides))
		complain(b, key, t, "there is nothing to hide", before);
	if (t->hides && has(after, t->hides))
		complain(b, key, t, "still there", after);
	if (t->view && (in_view(before, t->view) || !in_view(after, t->view)))
		complain(b, key, t, t->view, after);
	if (t->asks && k.last.type != t->asks)
		complain(b, key, t, "asks for something else", after);
	if (!t->shows && !t->hides && !t->view && !t->asks)
		complain(b, key, t, "nothing is expected of it", "");
	free(before);
	free(after);
	world_down(&k);
	return true;
}

static void each_key_does_what_the_help_says(void **state)
{
	bool used[NTRIAL] = { false };
	size_t n;
	const struct binding *b = keymap_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		size_t words = words_of(b[i].help);
		unsigned pressed = 0;

		for (size_t k = 0; words && k < NTRIAL; k++)
			if (strlen(trials[k].help) == words &&
			    !strncmp(b[i].help, trials[k].help, words))
				for (int x = 0; x < BINDING_KEYS && b[i].keys[x]; x++)
					if (press(&b[i], b[i].keys[x], &trials[k])) {
						used[k] = true;
						pressed++;
					}
		if (!pressed) {
			fprintf(stderr, "not tried: %s: %s\n", b[i].shown, b[i].help);
			bad++;
		}
	}
	for (size_t i = 0; i < NTRIAL; i++)
		if (!used[i]) {
			fprintf(stderr, "no key says: %s\n", trials[i].help);
			bad++;
		}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_does_what_the_help_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
