/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/hint_click.h"

#include "views/data/state/key_hint.h"

#include <string.h>

#define BYTES	 1024
#define KEYS_MAX 4

/* Some rows as one sentence. */
struct sentence {
	char text[BYTES];
	struct cell *cell[BYTES]; /* NULL: between two rows */
	size_t n;
};

static void hint_click_add(struct sentence *s, char ch, struct cell *cell)
{
	if (s->n + 1 >= BYTES)
		return;
	s->cell[s->n] = cell;
	s->text[s->n++] = ch;
	s->text[s->n] = '\0';
}

static void hint_click_add_row(struct sentence *s, struct canvas *c, struct rect r, int y)
{
	struct cell *row = c->cell + (r.y + y) * c->w;
	int from = r.x < 0 ? 0 : r.x, end = r.x + r.w < c->w ? r.x + r.w : c->w;

	if (y < 0 || y >= r.h || r.y + y < 0 || r.y + y >= c->h)
		return;
	while (from < end && row[from].ch == ' ')
		from++;
	while (end > from && row[end - 1].ch == ' ')
		end--;
	for (int x = from; x < end; x++)
		hint_click_add(s, row[x].ch && row[x].ch < 0x7f ? (char)row[x].ch : '?', &row[x]);
	hint_click_add(s, ' ', NULL);
}

static void hint_click_press(struct sentence *s, size_t from, size_t end, uint16_t press)
{
	for (size_t i = from; i < end; i++)
		if (s->cell[i])
			s->cell[i]->press = press;
}

/* What may stand between two keys; returns its bytes. */
static size_t hint_click_between(const char *text)
{
	static const char *const words[] = { ", then ", " or ", ", ", "/", " " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return strlen(words[i]);
	return 0;
}

/* What the keys do ends where another sentence or a column begins. */
static size_t hint_click_end(const char *text, size_t at, const char *signs)
{
	while (text[at] && !strchr(signs, text[at]) && strncmp(text + at, "  ", 2) != 0)
		at++;
	return at;
}

/* Keys from there on, and what they do.  Returns what comes behind; from: no hint begins there. */
static size_t hint_click_read(struct sentence *s, size_t from)
{
	size_t at = from, end = from, begin[KEYS_MAX], len;
	uint16_t key[KEYS_MAX];
	int n = 0;

	while (n < KEYS_MAX && (key[n] = key_hint_read(&len, s->text + at)) &&
	       strchr(" :/,", s->text[at + len])) {
		begin[n++] = at;
		end = at + len;
		at = end + hint_click_between(s->text + end);
		if (at == end) /* ':' may be a key, too */
			break;
	}
	if (!n)
		return from;
	if (!strncmp(s->text + end, ": ", 2))
		at = hint_click_end(s->text, end + 2, ";)");
	else if (!strncmp(s->text + end, ", then ", 7))
		at = hint_click_end(s->text, end, ".:");
	else
		return from;
	hint_click_press(s, from, at, key[0]);
	for (int i = 1; i < n && s->text[end] == ':'; i++)
		if (begin[i] < 7 || strncmp(s->text + begin[i] - 7, ", then ", 7) != 0)
			hint_click_press(s, begin[i], i + 1 < n ? begin[i + 1] : end, key[i]);
	return at;
}

void hint_click_mark(struct canvas *c, struct rect r, int y, int rows)
{
	struct sentence s = { .n = 0 };

	for (int i = 0; i < rows; i++)
		hint_click_add_row(&s, c, r, y + i);
	for (size_t i = 0, next; i < s.n; i = next) {
		bool word = !i || s.text[i - 1] == ' ' || s.text[i - 1] == '(';

		next = word ? hint_click_read(&s, i) : i;
		next += next == i;
	}
}

int hint_click_draw(struct canvas *c, struct rect r, int x, int y, const char *command)
{
	const char *key = key_hint(command);
	int end = canvas_text(c, r, x, y, ROLE_KEY, key);
	size_t len;

	canvas_press(c, r, x, y, end - x, key_hint_read(&len, key));
	return end;
}

uint32_t hint_click_at(const struct canvas *c, int x, int y)
{
	bool on = x >= 0 && x < c->w && y >= 0 && y < c->h;

	return on ? key_hint_code(c->cell[y * c->w + x].press) : 0;
}
