/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/choices.h"

#include "views/data/state/state.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void choices_reset(struct choices *out, size_t at)
{
	out->n = out->all = 0;
	out->common = 0;
	out->files = out->listed = out->choosing = false;
	out->from = at;
}

static size_t choices_alike(const char *a, const char *b, size_t most, bool exact)
{
	size_t n = 0;

	while (n < most && a[n] &&
	       (exact ? a[n] == b[n]
		      : tolower((unsigned char)a[n]) == tolower((unsigned char)b[n])))
		n++;
	return n;
}

void choices_add(struct choices *out, const char *name, bool exact)
{
	if (!out->all)
		out->common = strlen(name);
	else
		out->common = choices_alike(out->text[0], name, out->common, exact);
	if (out->n < CHOICES)
		snprintf(out->text[out->n++], CHOICE_LEN, "%s", name);
	out->all++;
}

static void choices_add_file(void *to, const char *name)
{
	if (strlen(name) < CHOICE_LEN)
		choices_add(to, name, true);
}

void choices_add_files(struct choices *out, const char *text, size_t len, const struct state *s)
{
	char path[PATH_TEXT];

	if (!s || !s->file_names || len >= sizeof(path))
		return;
	snprintf(path, sizeof(path), "%.*s", (int)len, text);
	out->files = true;
	s->file_names(s->file_names_of, path, choices_add_file, out);
}

size_t choices_word_start(const char *text, size_t at, const char *ends)
{
	while (at && !strchr(ends, text[at - 1]))
		at--;
	return at;
}

/* Replaces the word before at by the first n bytes of `with`. */
static bool choices_put(struct choices *c, const char *with, size_t n, char *text, size_t size,
			size_t *at)
{
	size_t rest = strlen(text + *at);

	if (c->from + n + rest >= size)
		return false;
	memmove(text + c->from + n, text + *at, rest + 1);
	memcpy(text + c->from, with, n);
	*at = c->from + n;
	return true;
}

void choices_turn(struct choices *c)
{
	if (!c->n)
		return;
	/* choices_take() advances by one */
	c->choice = c->choosing ? (c->choice + 2 * c->n - 2) % c->n : c->n - 2 + (c->n == 1);
	c->choosing = c->n > 1;
}

bool choices_take(struct choices *c, char *text, size_t size, size_t *at)
{
	bool done;

	if (!c->n)
		return false;
	if (c->n == 1) {
		done = choices_put(c, c->text[0], strlen(c->text[0]), text, size, at);
		c->n = 0;
		return done;
	}
	if (!c->choosing && c->common > *at - c->from)
		return choices_put(c, c->text[0], c->common, text, size, at);
	if (c->files && !c->listed) {
		c->listed = true;
		return false;
	}
	c->choice = c->choosing ? (c->choice + 1) % c->n : 0;
	c->choosing = true;
	return choices_put(c, c->text[c->choice], strlen(c->text[c->choice]), text, size, at);
}

bool choices_file(struct choices *c, char *text, size_t size, const struct state *s)
{
	size_t at = strlen(text);

	if (!c->n) {
		choices_reset(c, choices_word_start(text, at, "/"));
		choices_add_files(c, text, at, s);
	}
	return choices_take(c, text, size, &at);
}

void choices_draw(const struct choices *c, struct canvas *to, struct rect r, int y)
{
	uint32_t first = 0;
	int x = 1;

	/* scrolls to the current choice */
	for (uint32_t i = 0; c->choosing && i <= c->choice; i++) {
		int w = 0;

		for (uint32_t k = first; k <= c->choice; k++)
			w += text_width(c->text[k]) + 2;
		if (w < r.w - 8)
			break;
		first++;
	}
	for (uint32_t i = first; i < c->n; i++) {
		bool on = c->choosing && i == c->choice;

		if (x + text_width(c->text[i]) > r.w - 5) {
			canvas_text(to, r, x, y, ROLE_DIM, "...");
			return;
		}
		x = canvas_text(to, r, x, y, on ? ROLE_CURSOR : ROLE_LABEL, c->text[i]) + 2;
	}
	if (c->all > c->n)
		canvas_text(to, r, x, y, ROLE_DIM, "...");
}
