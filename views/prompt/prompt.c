/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/prompt/prompt.h"

#include "views/prompt/command.h"

#include <stdio.h>
#include <string.h>

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	p->kind = kind;
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->at = strlen(p->text);
	p->back = 0;
	p->choices.choosing = false;
	p->choices.n = 0;
}

/* --- editing --------------------------------------------------------------------------------- */

/* Bytes of the character before the cursor. */
static size_t prompt_before(const struct prompt *p)
{
	size_t n = 0;

	while (n < p->at && (p->text[p->at - ++n] & 0xc0) == 0x80)
		;
	return n;
}

static size_t prompt_after(const struct prompt *p)
{
	size_t n = p->text[p->at] != '\0';

	while (n && (p->text[p->at + n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Start of the word before the cursor: parts of names and paths are words. */
static size_t prompt_word_before(const struct prompt *p)
{
	size_t at = p->at;

	while (at && strchr(" /=,", p->text[at - 1]))
		at--;
	while (at && !strchr(" /=,", p->text[at - 1]))
		at--;
	return at;
}

static bool prompt_insert(struct prompt *p, const char *text, size_t n)
{
	size_t len = strlen(p->text);

	if (len + n >= sizeof(p->text))
		return false;
	memmove(p->text + p->at + n, p->text + p->at, len - p->at + 1);
	memcpy(p->text + p->at, text, n);
	p->at += n;
	return true;
}

static void prompt_cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
	p->at = from;
}

static void prompt_type(struct prompt *p, uint32_t ch)
{
	char text[8] = "";

	if (text_append(text, sizeof(text), ch))
		prompt_insert(p, text, strlen(text));
}

/* --- history ----------------------------------------------------------------------------- */

static const char *prompt_earlier(const struct prompt *p, uint32_t back)
{
	return p->history[p->kind][(p->nhistory[p->kind] - back) % PROMPT_HISTORY];
}

static void prompt_keep(struct prompt *p)
{
	uint32_t *n = &p->nhistory[p->kind];

	if (!p->text[0] || (*n && !strcmp(prompt_earlier(p, 1), p->text)))
		return;
	memcpy(p->history[p->kind][*n % PROMPT_HISTORY], p->text, sizeof(p->text));
	(*n)++;
}

static bool prompt_recall(struct prompt *p, int by)
{
	uint32_t n = p->nhistory[p->kind], most = n < PROMPT_HISTORY ? n : PROMPT_HISTORY;

	if ((by > 0 && p->back >= most) || (by < 0 && !p->back))
		return false;
	if (!p->back)
		memcpy(p->draft, p->text, sizeof(p->draft));
	p->back += (uint32_t)by;
	memcpy(p->text, p->back ? prompt_earlier(p, p->back) : p->draft, sizeof(p->text));
	p->at = strlen(p->text);
	return true;
}

/* --- completion ------------------------------------------------------------------------------ */

static bool prompt_complete(struct prompt *p, const struct prompt_context *ctx, bool back)
{
	struct choices *c = &p->choices;
	bool one;

	if (!c->n)
		completion_find(c, p->kind, p->text, p->at, ctx);
	one = c->n == 1;
	if (back)
		choices_turn(c);
	if (!choices_take(c, p->text, sizeof(p->text), &p->at))
		return false;
	/* an argument may follow, and a name of a field an operator */
	if (one && p->kind == PROMPT_COMMAND && !c->from && !p->text[p->at])
		prompt_insert(p, " ", 1);
	return true;
}

void prompt_offer(struct prompt *p, const struct prompt_context *ctx)
{
	completion_find(&p->choices, p->kind, p->text, p->at, ctx);
	p->choices.choosing = p->choices.n > 0;
	p->choices.choice = p->choices.n - 1; /* Tab begins with the first */
}

enum prompt_result prompt_input(struct prompt *p, const struct input *in,
				const struct prompt_context *ctx)
{
	if (in->req == REQ_PANE || in->req == REQ_CHOICE_BACK)
		return prompt_complete(p, ctx, in->req == REQ_CHOICE_BACK) ? PROMPT_CHANGED
									   : PROMPT_SAME;
	p->choices.choosing = false;
	p->choices.n = 0;
	switch (in->req) {
	case REQ_CHAR:
		prompt_type(p, in->ch);
		return PROMPT_CHANGED;
	case REQ_ERASE:
		if (!p->text[0]) {
			p->kind = PROMPT_NONE;
			return PROMPT_LEFT;
		}
		prompt_cut(p, p->at - prompt_before(p), p->at);
		return PROMPT_CHANGED;
	case REQ_ERASE_WORD:
		prompt_cut(p, prompt_word_before(p), p->at);
		return PROMPT_CHANGED;
	case REQ_ERASE_NEXT:
		prompt_cut(p, p->at, p->at + prompt_after(p));
		return PROMPT_CHANGED;
	case REQ_ERASE_ALL:
		prompt_cut(p, 0, p->at);
		return PROMPT_CHANGED;
	case REQ_LEFT:
		p->at -= prompt_before(p);
		return PROMPT_SAME;
	case REQ_RIGHT:
		p->at += prompt_after(p);
		return PROMPT_SAME;
	case REQ_TOP:
		p->at = 0;
		return PROMPT_SAME;
	case REQ_BOTTOM:
		p->at = strlen(p->text);
		return PROMPT_SAME;
	case REQ_UP:
	case REQ_DOWN:
		return prompt_recall(p, in->req == REQ_UP ? 1 : -1) ? PROMPT_CHANGED : PROMPT_SAME;
	case REQ_ENTER:
		prompt_keep(p);
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

/* The arguments of the command, and what it does. */
static const char *prompt_hint(char *buf, size_t len, const struct prompt *p)
{
	size_t name = strcspn(p->text, " ");
	const struct command *c = p->kind == PROMPT_COMMAND ? command_find(p->text, name) : NULL;

	buf[0] = '\0';
	if (c && p->text[name])
		snprintf(buf, len, "%s%s%s", p->text[name + 1] ? " " : c->args,
			 c->args[0] && !p->text[name + 1] ? ": " : "", c->help);
	else if (c)
		snprintf(buf, len, "%s%s%s: %s", p->text[name - 1] == '!' ? "" : c->name + name,
			 c->args[0] ? " " : "", c->args, c->help);
	else if (p->kind == PROMPT_COMMAND && !p->text[0])
		snprintf(buf, len, "a command; Tab lists them, Up: the previous one");
	else if (p->kind == PROMPT_FILTER && !p->text[0])
		snprintf(buf, len, "text, util>80, wait>=1 and tier~spine ...; Tab lists names");
	return buf;
}

void prompt_draw(const struct prompt *p, struct canvas *c, int y, const char *why)
{
	static const char *const signs[PROMPT_KINDS] = { "", ":", "/", "find: " };
	struct rect r = canvas_rect(c);
	char head[PROMPT_LEN], text[512], buf[512];
	int x, width, skip = 0;

	canvas_fill(c, (struct rect){ 0, y, r.w, 2 }, ROLE_TEXT, ' ');
	x = canvas_text(c, r, 0, y, ROLE_KEY, signs[p->kind]);
	snprintf(head, sizeof(head), "%.*s", (int)p->at, p->text);
	/* scrolls to the cursor in a long text */
	width = r.w - x - 2;
	while (head[skip] && text_width(head + skip) > width)
		do
			skip++;
		while ((head[skip] & 0xc0) == 0x80);
	x = canvas_text(c, r, x, y, ROLE_ENTRY, head + skip);
	canvas_text(c, r, x, y, ROLE_ENTRY, p->text[p->at] ? p->text + p->at : "_");
	if (p->text[p->at])
		canvas_style(c, (struct rect){ x, y, 1, 1 }, ROLE_CURSOR, false);
	else
		canvas_text(c, r, x + 1, y, ROLE_DIM,
			    text_shorten_list(buf, sizeof(buf), prompt_hint(text, sizeof(text), p),
					      r.w - x - 2));
	if (p->choices.n)
		choices_draw(&p->choices, c, r, y + 1);
	else if (why[0])
		canvas_text(c, r, 1, y + 1, ROLE_WARN,
			    text_shorten(buf, sizeof(buf), why, r.w - 2));
	else
		canvas_text(c, r, 1, y + 1, ROLE_DIM, "Enter: run  Esc: cancel  Tab: complete");
}
