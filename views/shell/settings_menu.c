/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/settings_menu.h"

#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

#define WIDTH  100
#define NAMES  16
#define VALUES 24 /* columns of the values at most; those in sight need fewer */

static uint32_t settings_menu_count(const struct state *s)
{
	struct setting x;
	uint32_t n = 0;

	while (s->setting && s->setting(s->setting_of, n, &x))
		n++;
	return n;
}

void settings_menu_open(struct settings_menu *m, const struct state *s)
{
	m->menu = (struct menu){ .open = true, .n = settings_menu_count(s) };
}

/* The value `by` places after the current one, wrapping around. */
static void settings_menu_other_word(const struct setting *x, int by, char *out, size_t len)
{
	const char *word[16];
	size_t size[16], n = 0, at = 0;

	for (const char *p = x->words; *(p += strspn(p, " ")) && n < 16; p += size[n++]) {
		word[n] = p;
		size[n] = strcspn(p, " ");
		if (!strncmp(x->value, p, size[n]) && !x->value[size[n]])
			at = n;
	}
	if (!n)
		return;
	at = (at + n + (size_t)by) % n;
	snprintf(out, len, "set %s=%.*s", x->name, (int)size[at], word[at]);
}

static enum settings_act settings_menu_change(const struct setting *x, int by, char *line,
					      size_t len)
{
	if (!x->words) {
		snprintf(line, len, "set %s=%s", x->name, x->value);
		return SETTINGS_TYPE;
	}
	settings_menu_other_word(x, by, line, len);
	return SETTINGS_DO;
}

enum settings_act settings_menu_input(struct settings_menu *m, const struct state *s,
				      const struct input *in, char *line, size_t len)
{
	struct setting x;

	if (menu_move(&m->menu, in))
		return SETTINGS_NONE;
	if (in->req == REQ_CLICK)
		menu_click(&m->menu, in);
	if (in->req == REQ_BACK || in->req == REQ_QUIT)
		m->menu.open = false;
	if (!m->menu.open || !s->setting || !s->setting(s->setting_of, m->menu.list.cursor, &x))
		return SETTINGS_NONE;
	switch (in->req) {
	case REQ_CLICK:
	case REQ_ENTER:
	case REQ_SELECT:
	case REQ_RIGHT:
		return settings_menu_change(&x, 1, line, len);
	case REQ_LEFT:
		return settings_menu_change(&x, -1, line, len);
	case REQ_CHAR:
		if (in->ch != 'w')
			return SETTINGS_NONE;
		snprintf(line, len, "keep");
		return SETTINGS_DO;
	default:
		return SETTINGS_NONE;
	}
}

static const char *settings_menu_value(const struct setting *x)
{
	return x->value[0] ? x->value : "default";
}

/* Columns that the values in sight take: what is left says what they are. */
static int settings_menu_values(const struct settings_menu *m, const struct state *s)
{
	struct setting x;
	int most = 0;

	for (uint32_t y = 0; y < menu_seen(&m->menu); y++) {
		if (!s->setting(s->setting_of, m->menu.list.top + y, &x))
			break;
		if (text_width(settings_menu_value(&x)) > most)
			most = text_width(settings_menu_value(&x));
	}
	return most < VALUES ? most : VALUES;
}

static void settings_menu_draw_line(const struct settings_menu *m, const struct setting *x,
				    struct canvas *c, int y, int values, bool on)
{
	struct rect at = m->menu.at;
	char value[SETTING_LEN], about[160];
	int x0 = 3 + NAMES, x1 = x0 + values + 2;

	if (x->changed)
		canvas_char(c, at, 1, y, ROLE_KEY, '*');
	canvas_text(c, at, 3, y, ROLE_LABEL, x->name);
	canvas_text(c, at, x0, y, x->value[0] ? ROLE_TEXT : ROLE_DIM,
		    text_shorten(value, sizeof(value), settings_menu_value(x), values));
	canvas_text(c, at, x1, y, ROLE_DIM,
		    text_shorten(about, sizeof(about), x->about, at.w - x1 - 1));
	if (on)
		list_draw_cursor(c, at, y);
}

void settings_menu_draw(struct settings_menu *m, const struct state *s, struct canvas *c,
			struct rect over)
{
	struct setting x;
	int values;

	menu_frame(&m->menu, c, over, WIDTH, "Display settings (* changed, not saved)");
	values = settings_menu_values(m, s);
	for (uint32_t y = 0; y < menu_seen(&m->menu); y++) {
		uint32_t i = m->menu.list.top + y;

		if (!s->setting(s->setting_of, i, &x))
			break;
		settings_menu_draw_line(m, &x, c, (int)y, values, i == m->menu.list.cursor);
		if (i == m->menu.list.cursor)
			menu_about(&m->menu, c, x.about);
	}
}
