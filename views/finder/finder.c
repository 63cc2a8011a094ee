/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/finder/finder.h"

#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"
#include "views/finder/fuzzy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 110
#define NAMES 46 /* columns of the names at most; those in sight need fewer */
#define LEAST 20
#define KINDS 9 /* and of what they are of */

static const char *const kinds[FINDER_KINDS] = {
	[FINDER_VIEW] = "view",		[FINDER_COMMAND] = "command", [FINDER_SAVED] = "saved",
	[FINDER_BOOKMARK] = "bookmark", [FINDER_JOB] = "job",	      [FINDER_SWITCH] = "switch",
	[FINDER_HOST] = "host",		[FINDER_LINK] = "link",	      [FINDER_NOTE] = "note",
};

/* --- what fits ------------------------------------------------------------------------------- */

static int finder_found_cmp(const void *pa, const void *pb)
{
	const struct finder_found *a = pa, *b = pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* The score from which on there are not more than are shown. */
static unsigned finder_least(const uint32_t count[FUZZY_BEST + 1])
{
	unsigned least = FUZZY_BEST + 1;
	uint32_t n = 0;

	while (least > 1 && n + count[least - 1] <= FINDER_SHOWN)
		n += count[--least];
	return least;
}

/* Those from least to most, as long as there is room. */
static void finder_collect(struct finder *m, const uint16_t *score, unsigned least, unsigned most)
{
	for (size_t i = 0; i < m->left.n && m->menu.n < FINDER_SHOWN; i++)
		if (score[i] >= least && score[i] <= most)
			m->found[m->menu.n++] = (struct finder_found){ m->left.v[i], score[i] };
}

/* All that fit one more character fitted without it: only those are looked at again. */
static void finder_begin(struct finder *m, const char *words)
{
	size_t n = strlen(m->so_far);

	if (n && !strncmp(words, m->so_far, n))
		return;
	m->left.n = 0;
	vec_reserve(&m->left, m->names.name.n);
	for (uint32_t i = 0; i < m->names.name.n; i++)
		m->left.v[m->left.n++] = i;
}

static void finder_search(struct finder *m)
{
	uint32_t *count = xcalloc(FUZZY_BEST + 1, sizeof(*count));
	uint16_t *score;
	char words[PATH_TEXT];
	uint32_t kept = 0;
	unsigned least;

	fuzzy_lower(words, m->typed.text, sizeof(words));
	finder_begin(m, words);
	score = xcalloc(m->left.n + 1, sizeof(*score));
	for (size_t i = 0; i < m->left.n; i++) {
		unsigned fit = fuzzy_score(finder_names_lower(&m->names, m->left.v[i]), words);

		if (!fit)
			continue;
		m->left.v[kept] = m->left.v[i];
		score[kept++] = (uint16_t)fit;
		count[fit]++;
	}
	m->left.n = kept;
	least = finder_least(count);
	m->menu.n = 0;
	finder_collect(m, score, least, FUZZY_BEST);
	finder_collect(m, score, least - 1, least - 1);
	if (m->menu.n)
		qsort(m->found, m->menu.n, sizeof(*m->found), finder_found_cmp);
	snprintf(m->so_far, sizeof(m->so_far), "%s", words);
	m->menu.list.cursor = m->menu.list.top = 0;
	free(count);
	free(score);
}

/* --- what there is --------------------------------------------------------------------------- */

static void finder_make(struct finder *m, const struct context *ctx, const struct state *s)
{
	finder_names_make(&m->names, m->word, m->nword, s->fabric, ctx->summary.jobs);
	m->so_far[0] = '\0';
	finder_search(m);
}

static const char *finder_text_at(const struct finder *m, uint32_t line)
{
	return line < m->menu.n ? finder_names_text(&m->names, m->found[line].name) : "";
}

/* Numbers of jobs and nodes are of those that the names were made of: others, other names.  The
 * cursor stays on the same name; false: that is gone. */
static bool finder_follow(struct finder *m, const struct context *ctx, const struct state *s)
{
	char text[256];
	uint32_t line = 0;

	if (m->names.fabric == s->fabric && m->names.jobs == ctx->summary.jobs)
		return true;
	snprintf(text, sizeof(text), "%s", finder_text_at(m, m->menu.list.cursor));
	finder_make(m, ctx, s);
	while (line < m->menu.n && strcmp(finder_text_at(m, line), text) != 0)
		line++;
	if (line == m->menu.n)
		return false;
	m->menu.list.cursor = line;
	return true;
}

static void finder_drop_words(struct finder *m)
{
	for (uint32_t i = 0; i < m->nword; i++) {
		free(m->word[i].name);
		free(m->word[i].about);
	}
	free(m->word);
	m->word = NULL;
	m->nword = 0;
}

void finder_open(struct finder *m, const struct context *ctx, const struct state *s,
		 struct finder_word *words, uint32_t n, const char *text)
{
	finder_drop_words(m);
	m->word = words;
	m->nword = n;
	entry_open(&m->typed, text);
	m->menu = (struct menu){ .open = true };
	finder_make(m, ctx, s);
}

void finder_done(struct finder *m)
{
	finder_drop_words(m);
	finder_names_done(&m->names);
	vec_free(&m->left);
}

/* --- keys ------------------------------------------------------------------------------------ */

static bool finder_take(struct finder *m, uint32_t line, struct finder_hit *hit)
{
	const struct finder_name *name;

	if (line >= m->menu.n)
		return false;
	name = &m->names.name.v[m->found[line].name];
	*hit = (struct finder_hit){ .kind = (enum finder_kind)name->kind, .at = name->at };
	if (hit->kind < FINDER_JOB) {
		hit->name = m->word[name->at].name;
		hit->at = m->word[name->at].at;
	}
	m->menu.open = false;
	return true;
}

/* Home and End are of the list, as there is no cursor in the text. */
bool finder_input(struct finder *m, const struct input *in, const struct context *ctx,
		  const struct state *s, struct finder_hit *hit)
{
	bool same = finder_follow(m, ctx, s);
	struct input move = *in;

	if (in->req == REQ_PANE || in->req == REQ_CHOICE_BACK)
		move.req = in->req == REQ_PANE ? REQ_DOWN : REQ_UP;
	if (menu_move(&m->menu, &move))
		return false;
	if (in->req == REQ_CLICK) {
		uint32_t line = menu_line_at(&m->menu, in);

		m->menu.open = line != UINT32_MAX;
		return m->menu.open && finder_take(m, line, hit);
	}
	switch (entry_input(&m->typed, in)) {
	case ENTRY_CHANGED:
		finder_search(m);
		break;
	case ENTRY_DONE:
		m->typed.active = true;
		return same && finder_take(m, m->menu.list.cursor, hit);
	case ENTRY_LEFT:
		m->menu.open = false;
		break;
	case ENTRY_NONE:
		break;
	}
	return false;
}

/* --- drawing --------------------------------------------------------------------------------- */

static const char *finder_about_job(char *buf, size_t len, const struct job *job)
{
	snprintf(buf, len, "%u node%s", job->nnodes, plural(job->nnodes));
	return buf;
}

static const char *finder_about_link(char *buf, size_t len, const struct state *s, uint32_t chan)
{
	const struct port_rate *r = state_rate(s, chan_fabric_port(s->fabric, chan));
	char util[FIGURE_LEN];

	buf[0] = '\0';
	if (r && isfinite(r->util_pct))
		snprintf(buf, len, "utilisation %s", figure_percent(util, r->util_pct));
	return buf;
}

static const char *finder_about(char *buf, size_t len, const struct finder *m,
				const struct finder_name *name, const struct state *s)
{
	const struct fabric *f = m->names.fabric;
	uint32_t at = name->at;

	buf[0] = '\0';
	switch ((enum finder_kind)name->kind) {
	case FINDER_JOB:
		return finder_about_job(buf, len, &m->names.jobs->jobs[at]);
	case FINDER_SWITCH:
		snprintf(buf, len, "LID %u, %u host%s", f->sw_lid[at], f->sw_nterm[at],
			 plural(f->sw_nterm[at]));
		return buf;
	case FINDER_HOST:
		snprintf(buf, len, "at %s/%u", f->sw_short[f->term_sw[at]], f->term_port[at]);
		return buf;
	case FINDER_LINK:
		return finder_about_link(buf, len, s, at);
	default:
		return m->word[at].about;
	}
}

/* Columns that the names in sight take: what is left tells about them. */
static int finder_name_width(const struct finder *m)
{
	int room = m->menu.at.w - KINDS - 3, most = LEAST;

	for (uint32_t y = 0; y < menu_seen(&m->menu); y++) {
		int w = text_width(
			finder_names_text(&m->names, m->found[m->menu.list.top + y].name));

		most = w > most ? w : most;
	}
	most = most < NAMES ? most : NAMES;
	return most < room ? most : room;
}

/* What was typed stands out in a name that is shown whole. */
static void finder_draw_name(const struct finder *m, struct canvas *c, int y, int w, uint32_t i)
{
	const char *text = finder_names_text(&m->names, i);
	struct rect at = m->menu.at;
	bool mark[256] = { false };
	int x = 2 + KINDS;

	canvas_name(c, at, x, y, w, ROLE_TEXT, text);
	if (text_width(text) > w)
		return;
	fuzzy_mark(mark, sizeof(mark), finder_names_lower(&m->names, i), m->so_far);
	for (size_t k = 0; text[k] && k < sizeof(mark); k++)
		if (mark[k] && !(text[k] & 0x80)) {
			char before[256];

			snprintf(before, sizeof(before), "%.*s", (int)k, text);
			canvas_style(c,
				     (struct rect){ at.x + x + text_width(before), at.y + y, 1, 1 },
				     ROLE_KEY, false);
		}
}

static void finder_draw_line(const struct finder *m, const struct state *s, struct canvas *c, int y,
			     int names, uint32_t line)
{
	const struct finder_name *name = &m->names.name.v[m->found[line].name];
	struct rect at = m->menu.at;
	char about[256], buf[256];
	int x = 4 + KINDS + names;

	canvas_text(c, at, 2, y, ROLE_LABEL, kinds[name->kind]);
	if (x < at.w - 8)
		canvas_text(c, at, x, y, ROLE_DIM,
			    text_shorten_list(buf, sizeof(buf),
					      finder_about(about, sizeof(about), m, name, s),
					      at.w - x - 1));
	if (line == m->menu.list.cursor)
		list_draw_cursor(c, at, y);
	finder_draw_name(m, c, y, names, m->found[line].name);
}

static void finder_draw_typed(const struct finder *m, struct canvas *c)
{
	struct rect r = { 0, c->h - 2, c->w, 2 };
	char most[FIGURE_LEN];
	int x;

	canvas_fill(c, r, ROLE_TEXT, ' ');
	x = entry_draw(&m->typed, c, r, 1, 0, "search everything");
	if (!m->typed.text[0])
		canvas_text(c, r, x + 1, 0, ROLE_DIM, "parts of names, in any order");
	x = canvas_text(c, r, 1, 1, ROLE_DIM, "Enter: go there, or run it  Esc: cancel  ");
	if (!m->left.n)
		canvas_text(c, r, x, 1, ROLE_WARN, "nothing has that name");
	else
		canvas_textf(c, r, x, 1, ROLE_DIM, "%s found", figure_count(most, m->left.n));
}

void finder_draw(struct finder *m, const struct context *ctx, const struct state *s,
		 struct canvas *c)
{
	struct rect over = { 0, 2, c->w, c->h - 4 };
	int names;

	finder_follow(m, ctx, s);
	menu_frame(&m->menu, c, over, WIDTH, "Go to");
	names = finder_name_width(m);
	for (uint32_t y = 0; y < menu_seen(&m->menu); y++)
		finder_draw_line(m, s, c, (int)y, names, m->menu.list.top + y);
	finder_draw_typed(m, c);
}
