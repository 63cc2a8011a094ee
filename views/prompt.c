/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/prompt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	p->kind = kind;
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->at = strlen(p->text);
	p->back = 0;
	p->choosing = false;
	p->choices.n = 0;
}

/* --- editing -------------------------------------------------------------------------------- */

/* Bytes of the character before the cursor. */
static size_t before(const struct prompt *p)
{
	size_t n = 0;

	while (n < p->at && (p->text[p->at - ++n] & 0xc0) == 0x80)
		;
	return n;
}

static size_t after(const struct prompt *p)
{
	size_t n = p->text[p->at] != '\0';

	while (n && (p->text[p->at + n] & 0xc0) == 0x80)
		n++;
	return n;
}

static bool insert(struct prompt *p, const char *text, size_t n)
{
	size_t len = strlen(p->text);

	if (len + n >= sizeof(p->text))
		return false;
	memmove(p->text + p->at + n, p->text + p->at, len - p->at + 1);
	memcpy(p->text + p->at, text, n);
	p->at += n;
	return true;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
	p->at = from;
}

static void type(struct prompt *p, uint32_t ch)
{
	char text[8] = "";

	if (text_append(text, sizeof(text), ch))
		insert(p, text, strlen(text));
}

/* --- what was typed before ------------------------------------------------------------------- */

static const char *past(const struct prompt *p, uint32_t back)
{
	return p->past[p->kind][(p->npast[p->kind] - back) % PROMPT_PAST];
}

static void keep(struct prompt *p)
{
	uint32_t *n = &p->npast[p->kind];

	if (!p->text[0] || (*n && !strcmp(past(p, 1), p->text)))
		return;
	memcpy(p->past[p->kind][*n % PROMPT_PAST], p->text, sizeof(p->text));
	(*n)++;
}

static bool step_back(struct prompt *p, int by)
{
	uint32_t n = p->npast[p->kind], most = n < PROMPT_PAST ? n : PROMPT_PAST;

	if ((by > 0 && p->back >= most) || (by < 0 && !p->back))
		return false;
	if (!p->back)
		memcpy(p->draft, p->text, sizeof(p->draft));
	p->back += (uint32_t)by;
	memcpy(p->text, p->back ? past(p, p->back) : p->draft, sizeof(p->text));
	p->at = strlen(p->text);
	return true;
}

/* --- completion ------------------------------------------------------------------------------ */

/* The word before the cursor becomes text. */
static bool put(struct prompt *p, const char *text, size_t n)
{
	size_t from = p->choices.from, at = p->at;
	char was[PROMPT_LEN];

	memcpy(was, p->text, sizeof(was));
	cut(p, from, p->at);
	if (insert(p, text, n))
		return true;
	memcpy(p->text, was, sizeof(was));
	p->at = at;
	return false;
}

/* How much all choices have in common. */
static size_t common(const struct choices *c)
{
	size_t n = strlen(c->text[0]);

	for (uint32_t i = 1; i < c->n; i++) {
		size_t k = 0;

		while (k < n && tolower((unsigned char)c->text[i][k]) ==
					tolower((unsigned char)c->text[0][k]))
			k++;
		n = k;
	}
	return c->all > c->n ? 0 : n;
}

static bool complete(struct prompt *p, const struct prompt_context *ctx)
{
	struct choices *c = &p->choices;
	size_t typed, all;

	if (p->choosing && c->n > 1) {
		p->choice = (p->choice + 1) % c->n;
		return put(p, c->text[p->choice], strlen(c->text[p->choice]));
	}
	choices_find(c, p->kind, p->text, p->at, ctx);
	if (!c->n)
		return false;
	typed = p->at - c->from;
	all = common(c);
	if (c->n == 1) {
		bool done = put(p, c->text[0], all);

		/* an argument may follow, and a name of a field an operator */
		if (done && p->kind == PROMPT_COMMAND && !c->from && !p->text[p->at])
			insert(p, " ", 1);
		c->n = 0;
		return done;
	}
	if (all > typed)
		return put(p, c->text[0], all);
	p->choosing = true;
	p->choice = 0;
	return put(p, c->text[0], strlen(c->text[0]));
}

void prompt_offer(struct prompt *p, const struct prompt_context *ctx)
{
	choices_find(&p->choices, p->kind, p->text, p->at, ctx);
	p->choosing = p->choices.n > 0;
	p->choice = p->choices.n - 1; /* Tab begins with the first */
}

enum prompt_result prompt_input(struct prompt *p, const struct input *in,
				const struct prompt_context *ctx)
{
	if (in->req == REQ_PANE)
		return complete(p, ctx) ? PROMPT_CHANGED : PROMPT_SAME;
	p->choosing = false;
	p->choices.n = 0;
	switch (in->req) {
	case REQ_CHAR:
		type(p, in->ch);
		return PROMPT_CHANGED;
	case REQ_ERASE:
		if (!p->text[0]) {
			p->kind = PROMPT_NONE;
			return PROMPT_LEFT;
		}
		cut(p, p->at - before(p), p->at);
		return PROMPT_CHANGED;
	case REQ_ERASE_ALL:
		cut(p, 0, p->at);
		return PROMPT_CHANGED;
	case REQ_LEFT:
		p->at -= before(p);
		return PROMPT_SAME;
	case REQ_RIGHT:
		p->at += after(p);
		return PROMPT_SAME;
	case REQ_TOP:
		p->at = 0;
		return PROMPT_SAME;
	case REQ_BOTTOM:
		p->at = strlen(p->text);
		return PROMPT_SAME;
	case REQ_UP:
	case REQ_DOWN:
		return step_back(p, in->req == REQ_UP ? 1 : -1) ? PROMPT_CHANGED : PROMPT_SAME;
	case REQ_ENTER:
		keep(p);
		p->kind = PROMPT_NONE;
		return PROMPT_DONE;
	case REQ_BACK:
		p->kind = PROMPT_NONE;
		return PROMPT_LEFT;
	default:
		return PROMPT_SAME;
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

/* What may follow: the arguments of the command so far, and what it does. */
static const char *hint(char *buf, size_t len, const struct prompt *p)
{
	size_t name = strcspn(p->text, " ");
	const struct command *c = p->kind == PROMPT_COMMAND ? command_find(p->text, name) : NULL;

	buf[0] = '\0';
	if (c && p->text[name])
		snprintf(buf, len, "%s%s%s", p->text[name + 1] ? "" : c->args,
			 c->args[0] && !p->text[name + 1] ? ": " : "", c->help);
	else if (c)
		snprintf(buf, len, "%s%s%s: %s", c->name + name, c->args[0] ? " " : "", c->args,
			 c->help);
	else if (p->kind == PROMPT_COMMAND && !p->text[0])
		snprintf(buf, len, "a command; Tab lists them, Up is the one before");
	else if (p->kind == PROMPT_FILTER && !p->text[0])
		snprintf(buf, len, "text, util>80, wait>=1 and tier~spine ...; Tab lists names");
	return buf;
}

static void draw_choices(const struct prompt *p, struct canvas *c, struct rect r, int y)
{
	uint32_t first = 0;
	int x = 1;

	/* the chosen one is in sight */
	for (uint32_t i = 0; p->choosing && i <= p->choice; i++) {
		int w = 0;

		for (uint32_t k = first; k <= p->choice; k++)
			w += text_width(p->choices.text[k]) + 2;
		if (w < r.w - 8)
			break;
		first++;
	}
	for (uint32_t i = first; i < p->choices.n; i++) {
		bool on = p->choosing && i == p->choice;

		if (x + text_width(p->choices.text[i]) > r.w - 5) {
			canvas_text(c, r, x, y, ROLE_DIM, "...");
			return;
		}
		x = canvas_text(c, r, x, y, on ? ROLE_CURSOR : ROLE_LABEL, p->choices.text[i]) + 2;
	}
	if (p->choices.all > p->choices.n)
		canvas_text(c, r, x, y, ROLE_DIM, "...");
}

void prompt_draw(const struct prompt *p, struct canvas *c, int y, const char *why,
		 const struct prompt_context *ctx)
{
	static const char *const signs[PROMPT_KINDS] = { "", ":", "/", "find: " };
	struct rect r = canvas_rect(c);
	char head[PROMPT_LEN], text[160], buf[200];
	int x, room, skip = 0;

	(void)ctx;
	canvas_fill(c, (struct rect){ 0, y, r.w, 2 }, ROLE_TEXT, ' ');
	x = canvas_text(c, r, 0, y, ROLE_KEY, signs[p->kind]);
	snprintf(head, sizeof(head), "%.*s", (int)p->at, p->text);
	/* a text longer than the line: what is before the cursor is in sight */
	room = r.w - x - 2;
	while (head[skip] && text_width(head + skip) > room)
		do
			skip++;
		while ((head[skip] & 0xc0) == 0x80);
	x = canvas_text(c, r, x, y, ROLE_ENTRY, head + skip);
	canvas_text(c, r, x, y, ROLE_ENTRY, p->text[p->at] ? p->text + p->at : "_");
	if (p->text[p->at])
		canvas_style(c, (struct rect){ x, y, 1, 1 }, ROLE_CURSOR, false);
	else
		canvas_text(
			c, r, x + 1, y, ROLE_DIM,
			text_shorten(buf, sizeof(buf), hint(text, sizeof(text), p), r.w - x - 2));
	if (p->choices.n)
		draw_choices(p, c, r, y + 1);
	else if (why[0])
		canvas_text(c, r, 1, y + 1, ROLE_WARN,
			    text_shorten(buf, sizeof(buf), why, r.w - 2));
	else
		canvas_text(c, r, 1, y + 1, ROLE_DIM, "Enter does it  Esc leaves  Tab completes");
}
