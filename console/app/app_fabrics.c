/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This fabric as one of several, each of which has a console: see console/fabrics/fabrics.h. */
#include "console/app/app_priv.h"

#include "console/config/exits.h"
#include "views/fabrics/fabric_tabs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Until the screen is known that it will have. */
#define AWAY_W 80
#define AWAY_H 24

void app_fabrics_start(struct app *a)
{
	if (!a->opts.link)
		return;
	a->fabrics.away = true;
	a->state.fabrics = &a->fabrics.all;
	a->canvas = canvas_new(AWAY_W, AWAY_H, a->opts.ascii);
}

int app_fabrics_fd(const struct app *a)
{
	return a->opts.link ? a->opts.link : -1;
}

/* --- the terminal ----------------------------------------------------------------------------- */

/* What options said of it before it was there. */
static void app_fabrics_set_terminal(struct app *a)
{
	struct err err;

	for (size_t i = 0; i < a->opts.nset; i++)
		if (!strncmp(a->opts.set[i], "mouse=", 6) || !strncmp(a->opts.set[i], "ascii=", 6))
			app_set(a, a->opts.set[i], &err);
}

static void app_fabrics_open(struct app *a)
{
	struct terminal_opts to = { .colours = a->opts.colours,
				    .ascii = a->opts.ascii,
				    .no_mouse = a->opts.no_mouse };

	if (terminal_open(&a->term, &to, &a->failed)) {
		a->exit_code = EXIT_BAD_USAGE;
		a->quit = true;
		return;
	}
	a->state.colours = terminal_colours(a->term);
	app_fabrics_set_terminal(a);
}

static void app_fabrics_front(struct app *a, const char *say)
{
	if (!a->fabrics.away)
		return;
	if (a->term)
		terminal_enter(a->term);
	else
		app_fabrics_open(a);
	a->fabrics.away = false;
	if (say[0])
		shell_say(a->shell, "%s", say);
}

static void app_fabrics_leave(struct app *a)
{
	const struct fabric_msg lent = { .word = LINK_LENT };

	if (!a->fabrics.away && a->term)
		terminal_leave(a->term);
	a->fabrics.away = true;
	a->asked_for = NULL; /* nobody is there to answer */
	app_fabrics_tell(a);
	fabric_link_send(a->opts.link, &lent);
}

/* --- what the others want --------------------------------------------------------------------- */

static void app_fabrics_do(struct app *a, const struct fabric_msg *m)
{
	switch (m->word) {
	case LINK_TABS:
		a->fabrics.all = m->all;
		a->dirty = true;
		break;
	case LINK_FRONT:
		a->fabrics.all = m->all;
		app_fabrics_front(a, m->text);
		break;
	case LINK_AWAY:
		app_fabrics_leave(a);
		break;
	case LINK_SAY:
		log_add(LOG_WARN, "fabrics", "%s", m->text);
		shell_say(a->shell, "%s", m->text);
		a->dirty = true;
		break;
	case LINK_RUNG:
		app_bell(a);
		break;
	case LINK_LEAVE:
		if (app_updating(a))
			shell_say(a->shell,
				  "an update is in progress: confirm it or roll it back first");
		else
			a->quit = true;
		break;
	default:
		break;
	}
}

/* Without the process that passes the terminal on there is no terminal, as when it has hung up. */
bool app_fabrics_take(struct app *a)
{
	bool away = a->fabrics.away;
	struct fabric_msg m;
	int rc = a->opts.link ? 0 : -EAGAIN;

	while (!rc) {
		rc = fabric_link_take(a->opts.link, &m);
		if (!rc)
			app_fabrics_do(a, &m);
	}
	if (rc == -EAGAIN)
		return away && !a->fabrics.away;
	a->exit_code = 128 + SIGHUP;
	a->quit = true;
	return false;
}

/* --- how this one is -------------------------------------------------------------------------- */

/* A moment of the past is no verdict on now. */
void app_fabrics_judge(struct app *a)
{
	struct fabric_tab *now = &a->fabrics.now;
	struct headline h;

	if (!a->opts.link)
		return;
	if (app_shown(a) != &a->state || a->state.mode == RUN_FROZEN) {
		now->level = FABRIC_UNKNOWN;
		snprintf(now->word, sizeof(now->word), "%s",
			 a->state.mode == RUN_FROZEN ? "frozen" : "history");
	} else {
		headline_make(&h, &a->state, &shell_context(a->shell)->summary);
		snprintf(now->word, sizeof(now->word), "%s", fabric_tabs_word(h.kind, &now->level));
	}
	app_fabrics_tell(a);
}

void app_fabrics_tell(struct app *a)
{
	struct app_fabrics *f = &a->fabrics;
	struct fabric_msg m = { .word = LINK_STATUS };

	if (!a->opts.link)
		return;
	f->now.updating = app_updating(a);
	if (f->now.level == f->told.level && f->now.updating == f->told.updating &&
	    !strcmp(f->now.word, f->told.word))
		return;
	m.tab = f->now;
	if (!fabric_link_send(a->opts.link, &m))
		f->told = f->now;
}

void app_fabrics_ring(struct app *a)
{
	const struct fabric_msg m = { .word = LINK_RING };

	fabric_link_send(a->opts.link, &m);
}

/* --- what the operator wants ------------------------------------------------------------------ */

void app_fabrics_go(struct app *a, const char *text)
{
	const struct state_fabrics *all = &a->fabrics.all;
	struct fabric_msg m = { .word = LINK_GO };

	if (all->n < 2) {
		shell_say(a->shell, "there is one fabric: --tab shows several");
		return;
	}
	m.to = fabric_tabs_find(all, text);
	if (m.to == all->n)
		shell_say(a->shell, "no fabric '%s': Tab lists them", text);
	else if (all->tab[m.to].level == FABRIC_ENDED)
		shell_say(a->shell, "the console of fabric %s has ended", all->tab[m.to].name);
	else if (m.to != all->at)
		fabric_link_send(a->opts.link, &m);
}

bool app_fabrics_quit(struct app *a)
{
	const struct fabric_msg m = { .word = LINK_QUIT };

	app_fabrics_tell(a);
	return a->opts.link && !fabric_link_send(a->opts.link, &m);
}
