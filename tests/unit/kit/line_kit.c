/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/line_kit.h"

#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void colour(char to[24], enum line_kind kind, enum role role, bool ground)
{
	const struct role_style *l = role_style(role);
	int index = ground ? l->bg : l->fg, rgb = role_rgb(role, ground);

	to[0] = '\0';
	if (kind == LINE_TRUE && rgb >= 0)
		snprintf(to, 24, "%d8;2;%d;%d;%d", 3 + ground, rgb >> 16, rgb >> 8 & 0xff,
			 rgb & 0xff);
	else if (kind != LINE_TRUE && index >= 0)
		snprintf(to, 24, "%d8;5;%d", 3 + ground, index);
}

static void learn(struct screen_code *s, enum line_kind kind)
{
	memset(s, 0, sizeof(*s));
	s->utf8 = true;
	s->erase_char = s->repeat = kind == LINE_XTERM;
	for (int i = 0; i < ROLE_COUNT; i++) {
		colour(s->role[i].fg, kind, (enum role)i, false);
		colour(s->role[i].bg, kind, (enum role)i, true);
		s->role[i].bold = role_style((enum role)i)->bold;
	}
}

void line_open(struct line_kit *l, struct console_kit *k, enum line_kind kind, int w, int h)
{
	*l = (struct line_kit){ .k = k, .kind = kind, .w = w, .h = h };
	learn(&l->code, kind);
	l->shown = xcalloc((size_t)w * (size_t)h, sizeof(*l->shown));
	for (int i = 0; i < w * h; i++)
		l->shown[i].ch = SCREEN_UNKNOWN;
	console_size(k, w, h);
	k->c->ascii = false;
	k->s.colours = kind == LINE_TRUE ? 1 << 24 : 256;
	line_bytes(l, "");
}

void line_close(struct line_kit *l)
{
	screen_code_done(&l->code);
	free(l->shown);
}

size_t line_bytes(struct line_kit *l, const char *keys)
{
	const char *bytes;

	console_keys(l->k, keys);
	shell_draw(l->k->shell, l->k->c, &l->k->s);
	return screen_code_frame(&l->code, &bytes, l->shown, l->w, l->h, l->k->c);
}

void line_is_small(struct line_kit *l, const char *keys)
{
	size_t n = line_bytes(l, keys);
	char *screen;

	if (n <= LINE_BUDGET)
		return;
	screen = console_screen(l->k);
	puts(screen);
	free(screen);
	fail_msg("\"%s\" at %dx%d, terminal %d, sends %zu bytes", keys, l->w, l->h, l->kind, n);
}

void line_make_busy(struct console_kit *k)
{
	uint32_t x = 12345;

	for (uint32_t i = 0; i < k->rates->nport; i++) {
		x = x * 1664525 + 1013904223;
		k->rates->port[i].util_pct = 1 + (double)(x >> 16) / 662;
		k->rates->port[i].wait_pct = (double)(x >> 8 & 0xff) / 4;
	}
	for (int i = 0; i < HISTORY_LEN; i++)
		history_push(k->history, k->fabric, k->rates);
}
