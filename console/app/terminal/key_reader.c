/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/key_reader.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define BYTES	4096
#define ESC	0x1b
#define ESC_S	0.025 /* Esc alone, or the begin of a sequence */
#define GAP_S	0.3   /* a sequence that has begun and goes on so late will never end */
#define LATE_S	1.0   /* on a slow way the rest of a sequence comes when Esc was taken already */
#define PASTE_S 2     /* its end got lost: what is typed now is typed */

struct learnt {
	uint32_t key;
	uint8_t n;
	char bytes[27];
};

struct key_reader {
	VEC(struct learnt) learnt;
	bool no_x10; /* \033[M is a key here, and no report of the mouse */
	uint8_t buf[BYTES];
	size_t n;
	double last_s; /* when the newest byte came */
	double esc_s;  /* when Esc was taken last, where no more bytes had come; 0: never */
	bool alone;    /* the Esc that the buffer begins with begins nothing */
	bool pasting;
	int x, y;
};

/* What most terminals send, whatever TERM is. */
static const struct {
	const char *bytes;
	uint32_t key;
} usual[] = {
	{ "[A", K_UP },	   { "[B", K_DOWN },	{ "[C", K_RIGHT }, { "[D", K_LEFT },
	{ "[H", K_HOME },  { "[F", K_END },	{ "OA", K_UP },	   { "OB", K_DOWN },
	{ "OC", K_RIGHT }, { "OD", K_LEFT },	{ "OH", K_HOME },  { "OF", K_END },
	{ "[1~", K_HOME }, { "[3~", K_DELETE }, { "[4~", K_END },  { "[5~", K_PGUP },
	{ "[6~", K_PGDN }, { "[7~", K_HOME },	{ "[8~", K_END },  { "[Z", K_BACKTAB },
	{ "OM", K_ENTER }, { "OP", K_F1 },	{ "OQ", K_F2 },	   { "OR", K_F3 },
	{ "OS", K_F4 },	   { "[[A", K_F1 },	{ "[[B", K_F2 },   { "[[C", K_F3 },
	{ "[[D", K_F4 },   { "[[E", K_F5 },	{ "[11~", K_F1 },  { "[12~", K_F2 },
	{ "[13~", K_F3 },  { "[14~", K_F4 },	{ "[15~", K_F5 },  { "[17~", K_F6 },
	{ "[18~", K_F7 },  { "[19~", K_F8 },	{ "[20~", K_F9 },  { "[21~", K_F10 },
};

struct key_reader *key_reader_new(void)
{
	return xcalloc(1, sizeof(struct key_reader));
}

void key_reader_free(struct key_reader *r)
{
	if (!r)
		return;
	vec_free(&r->learnt);
	free(r);
}

void key_reader_learn(struct key_reader *r, const char *bytes, uint32_t key)
{
	struct learnt l = { .key = key };
	size_t n = strlen(bytes);

	if (n < 2 || n > sizeof(l.bytes) || bytes[0] != ESC)
		return;
	for (size_t i = 0; i < r->learnt.n; i++)
		if (r->learnt.v[i].n == n && !memcmp(r->learnt.v[i].bytes, bytes, n))
			return;
	l.n = (uint8_t)n;
	memcpy(l.bytes, bytes, n);
	vec_push(&r->learnt, l);
	if (key && !strcmp(bytes, "\033[M"))
		r->no_x10 = true;
}

/* --- where a sequence ends: 0: more bytes belong to it ------------------------------------------
 */

static size_t key_reader_end_of_csi(const struct key_reader *r, const uint8_t *b, size_t n)
{
	bool private = n > 2 && b[2] >= '<' && b[2] <= '?';
	size_t i = 2;

	if (n > 2 && b[2] == '[') /* of the Linux console */
		return n > 3 ? 4 : 0;
	while (i < n && b[i] >= 0x30 && b[i] <= 0x3f)
		i++;
	if (i < n && b[i] == '$' && !private) /* of rxvt, with Shift */
		return i + 1;
	while (i < n && b[i] >= 0x20 && b[i] <= 0x2f)
		i++;
	if (i == n)
		return 0;
	if (b[i] == 'M' && i == 2 && !r->no_x10)
		return n >= 6 ? 6 : 0;
	/* what cannot be in one has begun something else */
	return b[i] >= 0x40 && b[i] <= 0x7e ? i + 1 : i;
}

static size_t key_reader_end_of_ss3(const uint8_t *b, size_t n)
{
	size_t i = 2;

	while (i < n && ((b[i] >= '0' && b[i] <= '9') || b[i] == ';'))
		i++;
	if (i == n)
		return 0;
	return b[i] >= 0x20 && b[i] <= 0x7e ? i + 1 : i;
}

/* An answer of the terminal: up to BEL or ST. */
static size_t key_reader_end_of_text(const uint8_t *b, size_t n)
{
	for (size_t i = 2; i < n; i++) {
		if (b[i] == '\a' || b[i] == 0x18 || b[i] == 0x1a)
			return i + 1;
		if (b[i] == ESC && i + 1 < n)
			return b[i + 1] == '\\' ? i + 2 : i;
	}
	return 0;
}

static size_t key_reader_end_of_char(const uint8_t *b, size_t n)
{
	mbstate_t state = { 0 };
	size_t used = mbrlen((const char *)b, n, &state);

	if (used == (size_t)-2)
		return 0;
	return used == (size_t)-1 || !used ? 1 : used;
}

static bool key_reader_begins_text(uint8_t c)
{
	return c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X';
}

static size_t key_reader_end(const struct key_reader *r, const uint8_t *b, size_t n)
{
	size_t rest;

	if (n < 2)
		return 0;
	if (b[1] == '[')
		return key_reader_end_of_csi(r, b, n);
	if (b[1] == 'O')
		return key_reader_end_of_ss3(b, n);
	if (key_reader_begins_text(b[1]))
		return key_reader_end_of_text(b, n);
	rest = b[1] == ESC ? key_reader_end(r, b + 1, n - 1) : key_reader_end_of_char(b + 1, n - 1);
	return rest ? rest + 1 : 0;
}

/* --- what a sequence means ----------------------------------------------------------------------
 */

/* The longest that the bytes begin with; NULL: none. */
static const struct learnt *key_reader_learnt(const struct key_reader *r)
{
	const struct learnt *best = NULL;

	for (size_t i = 0; i < r->learnt.n; i++) {
		const struct learnt *l = &r->learnt.v[i];

		if (l->n <= r->n && !memcmp(l->bytes, r->buf, l->n) && (!best || l->n > best->n))
			best = l;
	}
	return best;
}

static uint32_t key_reader_usual(const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strlen(usual[i].bytes) == n - 1 && !memcmp(usual[i].bytes, b + 1, n - 1))
			return usual[i].key;
	return K_NONE;
}

/* Presses without Shift, Alt and Ctrl only. */
static uint32_t key_reader_mouse_key(struct key_reader *r, int button, int x, int y)
{
	r->x = x - 1;
	r->y = y - 1;
	return button == 0    ? K_CLICK
	       : button == 64 ? K_WHEEL_UP
	       : button == 65 ? K_WHEEL_DOWN
			      : K_NONE;
}

static uint32_t key_reader_report(struct key_reader *r, size_t n)
{
	int button, x, y;
	char text[32];

	if (n == 6 && !memcmp(r->buf, "\033[M", 3))
		return key_reader_mouse_key(r, r->buf[3] - 32, r->buf[4] - 32, r->buf[5] - 32);
	if (n < sizeof(text) && r->buf[n - 1] == 'M') {
		memcpy(text, r->buf, n);
		text[n] = '\0';
		if (sscanf(text, "\033[<%d;%d;%d", &button, &x, &y) == 3)
			return key_reader_mouse_key(r, button, x, y);
	}
	if (n == 6 && !memcmp(r->buf, "\033[200~", n))
		r->pasting = true;
	if (n == 6 && !memcmp(r->buf, "\033[201~", n))
		r->pasting = false;
	return K_NONE;
}

static void key_reader_drop(struct key_reader *r, size_t n)
{
	r->n -= n;
	memmove(r->buf, r->buf + n, r->n);
}

static uint32_t key_reader_sequence(struct key_reader *r, size_t n)
{
	const struct learnt *l = key_reader_learnt(r);
	uint32_t key = K_NONE;

	if (l && l->n >= n) {
		n = l->n;
		key = l->key;
	}
	if (!key)
		key = key_reader_usual(r->buf, n);
	if (!key)
		key = key_reader_report(r, n);
	key_reader_drop(r, n);
	return key;
}

/* --- bytes that are not all there ---------------------------------------------------------------
 */

static bool key_reader_only_esc(const struct key_reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->buf[i] != ESC)
			return false;
	return r->n > 0;
}

static uint32_t key_reader_esc(struct key_reader *r)
{
	key_reader_drop(r, 1);
	r->alone = r->alone && r->n && r->buf[0] == ESC;
	return K_ESC;
}

static bool key_reader_is_key(const struct key_reader *r)
{
	const struct learnt *l = key_reader_learnt(r);

	return key_reader_only_esc(r) || (l && l->n == r->n);
}

static double key_reader_limit_s(const struct key_reader *r)
{
	/* Alt-P begins an answer of the terminal like any, and is alone */
	if (key_reader_is_key(r) || (r->n == 2 && key_reader_begins_text(r->buf[1])))
		return ESC_S;
	return GAP_S;
}

/* Nothing more has come: what is there is a key, or never ends. */
static uint32_t key_reader_give_up(struct key_reader *r, double now_s)
{
	if (now_s - r->last_s < key_reader_limit_s(r))
		return K_NONE;
	if (key_reader_only_esc(r)) {
		r->esc_s = now_s;
		return key_reader_esc(r);
	}
	return key_reader_sequence(r, r->n);
}

double key_reader_wait_s(const struct key_reader *r, double now_s)
{
	double left = r->last_s + ESC_S - now_s;

	if (!key_reader_is_key(r) || key_reader_end(r, r->buf, r->n))
		return -1;
	return left > 0 ? left : 0;
}

/* The same in eight bits as ESC and a letter in seven. */
static bool key_reader_is_c1(uint8_t c)
{
	return c == 0x9b || c == 0x8f || c == 0x90 || c == 0x9d || c == 0x9e || c == 0x9f;
}

/* A character of its own; K_NONE: it is not all there yet, or none. */
static uint32_t key_reader_char(struct key_reader *r, double now_s)
{
	mbstate_t state = { 0 };
	wchar_t ch = 0;
	size_t used = mbrtowc(&ch, (const char *)r->buf, r->n, &state);

	if (used == (size_t)-2 && now_s - r->last_s < GAP_S)
		return K_NONE;
	if ((used > r->n || (ch >= 0x80 && ch < 0xa0)) && key_reader_is_c1(r->buf[0]) &&
	    r->n < BYTES) {
		memmove(r->buf + 1, r->buf, r->n++);
		r->buf[1] = (uint8_t)(r->buf[1] - 0x40);
		r->buf[0] = ESC;
		return K_NONE;
	}
	key_reader_drop(r, used > r->n || !used ? 1 : used);
	return used > BYTES || (ch >= 0x80 && ch < 0xa0) ? K_NONE : (uint32_t)ch;
}

void key_reader_put(struct key_reader *r, const void *bytes, size_t n, double now_s)
{
	const uint8_t *b = bytes;

	if (r->pasting && now_s - r->last_s > PASTE_S)
		r->pasting = false;
	if (r->n && now_s - r->last_s >= GAP_S) {
		r->n = 0;
		r->alone = false;
	}
	/* with Alt it is sent together with its key */
	if (n && key_reader_only_esc(r))
		r->alone = !strchr("[O\033", b[0]) && !key_reader_begins_text(b[0]);
	if (!r->n && n > 1 && r->esc_s > 0 && now_s - r->esc_s < LATE_S &&
	    (b[0] == '[' || b[0] == 'O'))
		r->buf[r->n++] = ESC;
	r->esc_s = 0;
	if (n > BYTES - r->n)
		n = BYTES - r->n;
	memcpy(r->buf + r->n, b, n);
	r->n += n;
	r->last_s = now_s;
}

uint32_t key_reader_take(struct key_reader *r, double now_s)
{
	uint32_t key = K_NONE;
	size_t before, end;

	while (r->n && !key) {
		before = r->n;
		if (r->alone) {
			key = key_reader_esc(r);
		} else if (r->buf[0] != ESC) {
			key = key_reader_char(r, now_s);
		} else {
			end = key_reader_end(r, r->buf, r->n);
			key = end ? key_reader_sequence(r, end) : key_reader_give_up(r, now_s);
		}
		if (r->n == before)
			break;
	}
	return key;
}

bool key_reader_pasting(const struct key_reader *r)
{
	return r->pasting;
}

void key_reader_mouse(const struct key_reader *r, int *x, int *y)
{
	*x = r->x;
	*y = r->y;
}
