/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/fabrics/fabric_tabs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEXT_LEN (FABRIC_NAME + FABRIC_WORD + 8)

/* How much of a tab there is room for. */
enum tab_form {
	FORM_WORD, /* "[compute: routing]" */
	FORM_MARK, /* "[compute!]" */
	FORM_CUT,  /* the same, with a part of the name */
};

struct tab_layout {
	enum tab_form form;
	int name; /* columns of a name that is cut */
};

int fabric_tabs_rows(const struct state *s)
{
	return s->fabrics && s->fabrics->n > 1;
}

static const char *fabric_tabs_mark(const struct fabric_tab *t)
{
	static const char *const marks[] = {
		[FABRIC_UNKNOWN] = "?", [FABRIC_WELL] = " ",  [FABRIC_WARN] = "~",
		[FABRIC_BAD] = "!",	[FABRIC_ENDED] = "x",
	};

	return t->updating ? "*" : marks[t->level];
}

static enum role fabric_tabs_role(const struct fabric_tab *t)
{
	static const enum role roles[] = {
		[FABRIC_UNKNOWN] = ROLE_TAB, [FABRIC_WELL] = ROLE_GOOD, [FABRIC_WARN] = ROLE_WARN,
		[FABRIC_BAD] = ROLE_BAD,     [FABRIC_ENDED] = ROLE_DIM,
	};

	return t->updating ? ROLE_LOUD : roles[t->level];
}

/* Without brackets. */
static void fabric_tabs_text(char name[TEXT_LEN], char word[TEXT_LEN], const struct fabric_tab *t,
			     const struct tab_layout *l)
{
	if (l->form == FORM_CUT)
		text_shorten(name, TEXT_LEN, t->name, l->name);
	else
		snprintf(name, TEXT_LEN, "%s", t->name);
	if (l->form == FORM_WORD)
		snprintf(word, TEXT_LEN, "%s%s", t->updating || t->word[0] ? ": " : "",
			 t->updating ? "UPDATE" : t->word);
	else
		snprintf(word, TEXT_LEN, "%s", fabric_tabs_mark(t));
}

static int fabric_tabs_width(const struct fabric_tab *t, const struct tab_layout *l)
{
	char name[TEXT_LEN], word[TEXT_LEN];

	fabric_tabs_text(name, word, t, l);
	return text_width(name) + text_width(word) + 2;
}

static struct tab_layout fabric_tabs_layout(const struct state_fabrics *f, int w)
{
	struct tab_layout l = { FORM_WORD, w / (int)f->n - 3 };

	for (; l.form < FORM_CUT; l.form++) {
		int all = 0;

		for (uint32_t i = 0; i < f->n; i++)
			all += fabric_tabs_width(&f->tab[i], &l);
		if (all <= w)
			break;
	}
	if (l.name < 1)
		l.name = 1;
	return l;
}

void fabric_tabs_draw(struct canvas *c, const struct state_fabrics *f)
{
	struct rect r = { 0, 0, c->w, 1 };
	struct tab_layout l = fabric_tabs_layout(f, c->w);
	int x = 0;

	canvas_fill(c, r, ROLE_TAB, ' ');
	for (uint32_t i = 0; i < f->n; i++) {
		const struct fabric_tab *t = &f->tab[i];
		enum role role = i == f->at ? ROLE_TAB_ON : ROLE_TAB;
		char name[TEXT_LEN], word[TEXT_LEN];

		fabric_tabs_text(name, word, t, &l);
		x = canvas_text(c, r, x, 0, role, i == f->at ? "[" : " ");
		x = canvas_text(c, r, x, 0, role, name);
		x = canvas_text(c, r, x, 0, fabric_tabs_role(t), word);
		x = canvas_text(c, r, x, 0, role, i == f->at ? "]" : " ");
	}
}

uint32_t fabric_tabs_at(const struct state_fabrics *f, int w, int x)
{
	struct tab_layout l = fabric_tabs_layout(f, w);
	int end = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		end += fabric_tabs_width(&f->tab[i], &l);
		if (x >= 0 && x < end)
			return i;
	}
	return f->n;
}

const char *fabric_tabs_word(enum headline_kind kind, enum fabric_level *level)
{
	static const char *const words[HEAD_KINDS] = {
		[HEAD_LOST] = "lost",	     [HEAD_SM] = "no SM",
		[HEAD_BROKEN] = "broken",    [HEAD_DOWN] = "parts down",
		[HEAD_ROUTING] = "routing",  [HEAD_CONGESTION] = "congestion",
		[HEAD_SLOWED] = "slow jobs", [HEAD_JOBS] = "no jobs",
		[HEAD_KEEPING] = "history",  [HEAD_PORTS] = "ports",
		[HEAD_UNKNOWN] = "?",	     [HEAD_WELL] = "well",
	};

	*level = kind == HEAD_WELL	? FABRIC_WELL
		 : kind == HEAD_UNKNOWN ? FABRIC_UNKNOWN
		 : kind <= HEAD_DOWN	? FABRIC_BAD
					: FABRIC_WARN;
	return words[kind];
}

/* The nearest one on that side that has not ended. */
static uint32_t fabric_tabs_beside(const struct state_fabrics *f, uint32_t step)
{
	uint32_t i = f->at;

	do
		i = (i + step) % f->n;
	while (i != f->at && f->tab[i].level == FABRIC_ENDED);
	return i;
}

uint32_t fabric_tabs_find(const struct state_fabrics *f, const char *text)
{
	uint32_t found = f->n, count = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!strcmp(f->tab[i].name, text))
			return i;
	if (!f->n || !text[0] || !strcasecmp(text, "next"))
		return f->n ? fabric_tabs_beside(f, 1) : 0;
	if (!strcasecmp(text, "previous") || !strcasecmp(text, "prev"))
		return fabric_tabs_beside(f, f->n - 1);
	for (uint32_t i = 0; i < f->n; i++)
		if (!strncasecmp(f->tab[i].name, text, strlen(text))) {
			found = i;
			count++;
		}
	return count == 1 ? found : f->n;
}
