/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows, in which order, and what keys do to that; table_draw.c draws. */
#include "views/table/table.h"

#include "fabric/base/memory/mem.h"
#include "views/data/lists/campaign_list.h"
#include "views/data/state/key_hint.h"
#include "views/data/lists/session_list.h"
#include "views/data/lists/weak_list.h"
#include "views/table/table_priv.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOLD_S 5

struct rows table_rows(const struct table_ops *ops, const struct table_in *in)
{
	return (struct rows){ .kind = ops->kind, .s = in->s, .v = &in->ctx->summary };
}

void table_done(struct table *t)
{
	typed_filter_done(&t->filter);
	row_order_done(&t->order);
	free(t->row);
	free(t->key);
	free(t->tag);
	memset(t, 0, sizeof(*t));
}

/* --- keys of rows ---------------------------------------------------------------------------- */

/* FNV-1a */
static uint64_t table_text_key(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return h;
}

static uint64_t table_mix(uint64_t guid, uint64_t n)
{
	return (guid + n * 0x9e3779b97f4a7c15ull) | 1;
}

uint64_t table_key(const struct rows *r, uint32_t row)
{
	const struct fabric *f = r->s->fabric;
	uint32_t sw;

	switch (r->kind) {
	case ROWS_LINKS:
		return table_mix(f->sw_guid[f->chan_src[row]], f->chan_port[row]);
	case ROWS_PORTS:
		sw = rows_switch(r, row);
		return table_mix(f->sw_guid[sw], row - f->port_off[sw]);
	case ROWS_SWITCHES:
		return f->sw_guid[row];
	case ROWS_JOBS:
		return r->v->jobs->jobs[row].id;
	case ROWS_EVENTS:
		return r->s->events->total - row;
	case ROWS_SESSIONS:
		return table_text_key(r->s->sessions->row[row].file);
	default:
		return row;
	}
}

static uint32_t table_tag_place(const struct table *t, uint64_t key)
{
	uint32_t lo = 0, hi = t->ntag;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->tag[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool table_is_tagged(const struct table *t, uint64_t key)
{
	uint32_t at = table_tag_place(t, key);

	return at < t->ntag && t->tag[at] == key;
}

static void table_toggle_tag(struct table *t, uint64_t key)
{
	uint32_t at = table_tag_place(t, key);

	if (at < t->ntag && t->tag[at] == key) {
		memmove(t->tag + at, t->tag + at + 1, (t->ntag - at - 1) * sizeof(*t->tag));
		t->ntag--;
		return;
	}
	t->tag = xrealloc(t->tag, t->ntag + 1u, sizeof(*t->tag));
	memmove(t->tag + at + 1, t->tag + at, (t->ntag - at) * sizeof(*t->tag));
	t->tag[at] = key;
	t->ntag++;
}

/* --- rows ------------------------------------------------------------------------------------ */

bool table_problem(const struct rows *r, uint32_t row)
{
	uint32_t way, step;

	switch (r->kind) {
	case ROWS_LINKS:
		return r->v->problem[chan_fabric_port(r->s->fabric, row)] != PROBLEM_NONE;
	case ROWS_PORTS:
		return r->v->problem[row] != PROBLEM_NONE;
	case ROWS_SWITCHES:
		for (uint32_t p = r->s->fabric->port_off[row];
		     p <= r->s->fabric->port_off[row] + r->s->fabric->sw_nports[row]; p++)
			if (r->v->problem[p])
				return true;
		return false;
	case ROWS_JOBS:
		return r->v->jobs->jobs[row].unknown > 0 ||
		       job_ambiguous(&r->v->jobs->jobs[row], r->s->fabric) != FAB_NONE;
	case ROWS_EVENTS:
		return events_get(r->s->events, row)->level >= LOG_WARN;
	case ROWS_SESSIONS:
		return session_problem(&r->s->sessions->row[row]);
	case ROWS_ACTIONS:
		return r->s->sessions->action[row].loud;
	case ROWS_FAILURES:
		return state_weak(r->s)->report->part[row].end != WEAK_REPAIRED;
	case ROWS_CELLS:
		return campaign_row(r->s, row, &way, &step)->good < r->s->campaign.list->seeds;
	default:
		return false;
	}
}

static bool table_row_wanted(const struct table *t, const struct table_ops *ops,
			     const struct table_in *in, const struct rows *r, uint32_t row)
{
	if (ops->wanted && !ops->wanted(in, row))
		return false;
	if (t->problems && !table_problem(r, row))
		return false;
	return !t->tagged_only || table_is_tagged(t, table_key(r, row));
}

static bool table_of_fabric(enum row_kind kind)
{
	return kind == ROWS_LINKS || kind == ROWS_PORTS || kind == ROWS_SWITCHES;
}

/* Keys of channels, ports and switches are made once per fabric, all others with the rows. */
static void table_make_keys(struct table *t, const struct rows *r)
{
	if (table_of_fabric(r->kind) && t->keys_of == r->s->fabric && t->keys_n == t->all)
		return;
	t->keys_of = r->s->fabric;
	t->keys_n = t->all;
	t->key = xrealloc(t->key, t->all + 1u, sizeof(*t->key));
	for (uint32_t row = 0; row < t->all; row++)
		t->key[row] = table_key(r, row);
}

static void table_make_rows(struct table *t, const struct table_ops *ops, const struct table_in *in,
			    const struct field *sort)
{
	struct rows r = table_rows(ops, in);

	rows_select(&t->order, &r, t->filter.filter, sort, t->reverse);
	t->all = rows_count(&r);
	table_make_keys(t, &r);
	t->row = xrealloc(t->row, t->order.n + 1u, sizeof(*t->row));
	t->nrow = 0;
	for (uint32_t i = 0; i < t->order.n; i++)
		if (table_row_wanted(t, ops, in, &r, t->order.row[i]))
			t->row[t->nrow++] = t->order.row[i];
}

static int table_place_cmp(const void *pa, const void *pb)
{
	const struct table_place *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

static struct table_place *table_places(const struct table *t)
{
	struct table_place *p = xcalloc(t->nrow + 1u, sizeof(*p));

	for (uint32_t i = 0; i < t->nrow; i++)
		p[i] = (struct table_place){ t->key[t->row[i]], t->row[i] };
	return p;
}

/* Other rows than before: those that are still there in the order of before, then the new. */
static void table_keep_order(struct table *t, const struct table_place *old, uint32_t nold)
{
	struct table_place *now = table_places(t);
	uint32_t n = 0, nnow = t->nrow;

	if (nnow)
		qsort(now, nnow, sizeof(*now), table_place_cmp);
	for (uint32_t i = 0; i < nold && nnow; i++) {
		struct table_place *p = bsearch(&old[i], now, nnow, sizeof(*now), table_place_cmp);

		if (!p || p->row == FAB_NONE)
			continue;
		t->row[n++] = p->row;
		p->row = FAB_NONE;
	}
	for (uint32_t i = 0; i < nnow; i++)
		if (now[i].row != FAB_NONE)
			t->row[n++] = now[i].row;
	free(now);
}

bool table_select(struct table *t, uint64_t key)
{
	uint32_t row = 0;

	while (row < t->keys_n && t->key[row] != key)
		row++;
	for (uint32_t i = 0; row < t->keys_n && i < t->nrow; i++) {
		if (t->row[i] != row)
			continue;
		t->list.cursor = i;
		t->cursor_key = key;
		t->moved = true;
		return true;
	}
	return false;
}

uint32_t table_cursor(const struct table *t)
{
	return t->list.cursor < t->nrow ? t->row[t->list.cursor] : FAB_NONE;
}

static const struct field *table_field_named(const struct table_ops *ops, const char *name)
{
	return name ? field_find(ops->kind, name, strlen(name)) : NULL;
}

static void table_made_now(struct table_made *m, const struct table_ops *ops,
			   const struct table_in *in)
{
	const struct state *s = in->s;
	const struct fabric_summary *v = &in->ctx->summary;
	const struct metrics *metrics = state_metrics(s);

	memset(m, 0, sizeof(*m));
	m->set[0] = s->fabric;
	m->set[1] = v->jobs;
	if (ops->kind == ROWS_EVENTS && s->events) {
		m->set[2] = s->events;
		m->figure[3] = (double)s->events->total;
	}
	if ((ops->kind == ROWS_SESSIONS || ops->kind == ROWS_ACTIONS) && s->sessions) {
		m->set[2] = s->sessions;
		m->figure[3] = (double)s->sessions->serial;
		m->version = (uint64_t)s->sessions->nrow << 32 | s->sessions->naction;
	}
	if (ops->kind == ROWS_FAILURES && state_weak(s)) {
		m->set[2] = state_weak(s);
		m->figure[3] = (double)state_weak(s)->serial;
	}
	if (ops->kind == ROWS_CELLS || ops->kind == ROWS_ROUTINGS) {
		m->set[2] = s->campaign.list;
		m->figure[3] = s->campaign.list ? (double)s->campaign.list->serial : 0;
	}
	m->data[0] = s->rates;
	m->data[1] = s->sample;
	m->data[2] = metrics;
	m->data[3] = state_plan(s)->after;
	m->data[4] = s->against;
	m->figure[0] = s->sample ? (double)s->sample->time_ns : 0;
	m->figure[1] = metrics ? metrics->efi_mean : 0;
	m->figure[2] = metrics ? metrics->eff_efi_mean : 0;
	if (ops->version)
		m->version = ops->version(in);
}

static void table_start(struct table *t, const struct table_ops *ops, const struct table_in *in)
{
	const char *name = ops->sort_by ? ops->sort_by(in) : ops->sort;
	const struct field *sort = table_field_named(ops, name);

	if (!t->ready)
		t->stale = true;
	t->ready = true;
	if (t->sort_chosen || t->sort == sort)
		return;
	t->sort = sort;
	t->stale = true;
}

/* Rows that never change, but become more: there is no order to be held. */
static bool table_is_log(enum row_kind kind)
{
	return kind == ROWS_EVENTS || kind == ROWS_SESSIONS || kind == ROWS_ACTIONS;
}

/* Rows of another set must not be shown for a moment: their numbers mean something else. */
void table_follow(struct table *t, const struct table_ops *ops, const struct table_in *in)
{
	bool held = t->moved && in->s->now_s - t->moved_s < HOLD_S;
	struct table_made now;
	struct table_place *old = NULL;
	uint32_t nold = t->nrow;
	bool set;

	table_start(t, ops, in);
	table_made_now(&now, ops, in);
	set = memcmp(now.set, t->made.set, sizeof(now.set)) != 0 ||
	      (table_is_log(ops->kind) && memcmp(&now, &t->made, sizeof(now)) != 0);
	held = held && !t->stale && !table_is_log(ops->kind);
	t->held = false;
	if (!t->stale && memcmp(&now, &t->made, sizeof(now)) == 0)
		return;
	t->held = held;
	if (held && !set)
		return;
	if (held)
		old = table_places(t);
	table_make_rows(t, ops, in, held ? NULL : t->sort);
	if (held) {
		table_keep_order(t, old, nold);
		memcpy(t->made.set, now.set, sizeof(now.set));
	} else {
		t->made = now;
	}
	free(old);
	t->stale = false;
	/* on the newest event one stays on the newest */
	if (t->moved && (ops->kind != ROWS_EVENTS || t->list.cursor) &&
	    table_select(t, t->cursor_key))
		return;
	/* where there is no room to draw them, nobody else sees to that */
	if (t->list.cursor >= t->nrow)
		t->list.cursor = t->nrow ? t->nrow - 1 : 0;
	if (t->moved && t->nrow)
		t->cursor_key = t->key[t->row[t->list.cursor]];
}

/* --- what is asked for ----------------------------------------------------------------------- */

static void table_cursor_moved(struct table *t, const struct table_ops *ops,
			       const struct table_in *in)
{
	if (t->list.cursor >= t->nrow)
		return;
	t->moved = true;
	t->moved_s = in->s->now_s;
	t->cursor_key = t->key[t->row[t->list.cursor]];
	if (ops->moved)
		ops->moved(in, t->row[t->list.cursor]);
}

void table_sort(struct table *t, const struct field *f)
{
	t->sort = f;
	t->sort_chosen = true;
	t->stale = true;
	t->moved = false;
	t->list.cursor = t->list.top = 0;
}

static void table_refuse_column(const struct table_ops *ops, struct context *ctx, const char *name,
				size_t len)
{
	char why[280];

	field_refusal(why, sizeof(why), ops->kind, "column", name, len);
	context_say(ctx, "%s", why);
}

static void table_sort_named(struct table *t, const struct table_ops *ops, struct context *ctx,
			     const char *name)
{
	const struct field *f = table_field_named(ops, name);

	if (f)
		table_sort(t, f);
	else
		table_refuse_column(ops, ctx, name, strlen(name));
}

/* The first that does not exist, *len bytes; NULL: all do. */
static const char *table_no_column(size_t *len, const char *columns, const struct table_ops *ops)
{
	const char *p = columns;

	while (*p) {
		*len = strcspn(p, ", ");
		if (*len && !field_find(ops->kind, p, *len))
			return p;
		p += *len;
		p += strspn(p, ", ");
	}
	return NULL;
}

bool table_columns(struct table *t, const char *columns, const struct table_ops *ops)
{
	size_t len;

	if (table_no_column(&len, columns, ops))
		return false;
	snprintf(t->columns, sizeof(t->columns), "%s", columns);
	return true;
}

static void table_choose_columns(struct table *t, const struct table_ops *ops, struct context *ctx,
				 const char *text)
{
	size_t len;
	const char *none = table_no_column(&len, text ? text : "", ops);

	if (none)
		table_refuse_column(ops, ctx, none, len);
	else
		table_columns(t, text ? text : "", ops);
}

static bool table_row_has(const struct rows *r, uint32_t row, const char *text)
{
	char buf[VALUE_LEN];

	return strcasestr(rows_label(buf, r, row), text) != NULL;
}

/* The next row in that direction that has what is searched for, else a problem; in a circle. */
static void table_find_row(struct table *t, const struct table_ops *ops, const struct table_in *in,
			   bool forward)
{
	struct rows r = table_rows(ops, in);

	for (uint32_t k = 1; k < t->nrow; k++) {
		uint32_t i = (t->list.cursor + (forward ? k : t->nrow - k)) % t->nrow;

		if (t->find[0] ? table_row_has(&r, t->row[i], t->find)
			       : table_problem(&r, t->row[i])) {
			t->list.cursor = i;
			table_cursor_moved(t, ops, in);
			return;
		}
	}
	if (t->find[0])
		context_say(in->ctx, "no other row matches '%s'", t->find);
	else
		context_say(in->ctx, "no more rows with a problem; f searches for text");
}

void table_find(struct table *t, const char *text, const struct table_ops *ops,
		const struct table_in *in)
{
	struct rows r = table_rows(ops, in);

	table_follow(t, ops, in);
	snprintf(t->find, sizeof(t->find), "%s", text);
	if (text[0] && t->nrow && !table_row_has(&r, table_cursor(t), text))
		table_find_row(t, ops, in, true);
}

void table_filter(struct table *t, const char *text, const struct table_ops *ops)
{
	snprintf(t->filter_text, sizeof(t->filter_text), "%s", text);
	if (typed_filter_set(&t->filter, ops->kind, text))
		t->stale = true;
}

bool table_reveal(struct table *t, const struct table_ops *ops, const struct table_in *in,
		  uint64_t key)
{
	bool there;

	table_follow(t, ops, in);
	there = table_select(t, key);
	if (!there && (t->filter_text[0] || t->tagged_only || t->problems)) {
		table_filter(t, "", ops);
		t->tagged_only = t->problems = false;
		t->stale = true;
		table_follow(t, ops, in);
		there = table_select(t, key);
	}
	if (there)
		table_cursor_moved(t, ops, in);
	return there;
}

/* All rows from the one that was tagged last to this one, as they are shown. */
static void table_tag_range(struct table *t, const struct table_in *in)
{
	uint32_t from = 0, to = t->list.cursor, n = 0;

	while (from < t->nrow && t->key[t->row[from]] != t->tagged_last)
		from++;
	if (!t->tagged_last || from == t->nrow || to >= t->nrow) {
		context_say(in->ctx, "tag the first row of the range by %s, then go to the last",
			    key_hint("tag"));
		return;
	}
	for (uint32_t i = from < to ? from : to; i <= (from < to ? to : from); i++) {
		uint64_t key = t->key[t->row[i]];

		if (!table_is_tagged(t, key))
			table_toggle_tag(t, key);
		n++;
	}
	t->tagged_last = t->key[t->row[to]];
	context_say(in->ctx, "%u rows tagged", n);
}

static void table_tag(struct table *t, const struct table_ops *ops, const struct table_in *in)
{
	uint64_t key;

	if (t->list.cursor >= t->nrow)
		return;
	key = t->key[t->row[t->list.cursor]];
	table_toggle_tag(t, key);
	t->tagged_last = table_is_tagged(t, key) ? key : 0;
	if (t->tagged_only)
		t->stale = true;
	else if (t->list.cursor + 1 < t->nrow)
		t->list.cursor++;
	table_cursor_moved(t, ops, in);
}

bool table_narrowed(const struct table *t)
{
	return t->find[0] || t->tagged_only || t->filter_text[0];
}

/* What Esc takes away first; false: nothing is left. */
static bool table_back(struct table *t, const struct table_ops *ops)
{
	if (t->find[0])
		t->find[0] = '\0';
	else if (t->tagged_only)
		t->tagged_only = false;
	else if (t->filter_text[0])
		table_filter(t, "", ops);
	else
		return false;
	t->stale = true;
	return true;
}

/* 0 the text is another, 1 begins so, 2 the same */
static int table_cell_is(const struct rows *r, const struct field *f, uint32_t row,
			 const char *name)
{
	char buf[VALUE_LEN];
	struct value c;
	const char *text;

	field_get(&c, f, r, row);
	text = value_text(buf, &c, f);
	if (!strcasecmp(text, name))
		return 2;
	return strncasecmp(text, name, strlen(name)) == 0;
}

/* A name in full before one that only begins so. */
static bool table_go_to(struct table *t, const struct table_ops *ops, const struct table_in *in,
			const char *name)
{
	struct rows r = table_rows(ops, in);
	uint32_t best = FAB_NONE;
	int best_how = 0;
	size_t n;
	const struct field *f = fields_of(ops->kind, &n);

	for (uint32_t i = 0; i < t->nrow; i++)
		for (size_t k = 0; k < n; k++) {
			bool named = f[k].kind == VALUE_TEXT || f[k].kind == VALUE_GUID ||
				     !strcmp(f[k].name, "id");
			int how = named ? table_cell_is(&r, &f[k], t->row[i], name) : 0;

			if (how <= best_how)
				continue;
			best = i;
			best_how = how;
		}
	if (best == FAB_NONE)
		return false;
	t->list.cursor = best;
	table_cursor_moved(t, ops, in);
	return true;
}

static void table_click_head(struct table *t, int x)
{
	for (uint32_t i = 0; i < t->nshown; i++) {
		const struct table_shown *c = &t->shown[i];

		if (!c->field || x < c->x || x >= c->x + c->w)
			continue;
		if (c->field == t->sort)
			t->reverse = !t->reverse;
		else
			table_sort(t, c->field);
		t->stale = true;
	}
}

static bool table_click(struct table *t, const struct table_ops *ops, const struct table_in *in,
			const struct input *input)
{
	int x = input->x - t->at.x, y = input->y - t->at.y;
	uint32_t i;

	if (x < 0 || x >= t->at.w || y < -1 || y >= t->at.h)
		return false;
	if (y == -1) {
		table_click_head(t, x);
		return true;
	}
	i = t->list.top + (uint32_t)y;
	if (i >= t->nrow)
		return true;
	if (i == t->list.cursor && t->moved && ops->open) {
		ops->open(in, t->row[i]);
		return true;
	}
	t->list.cursor = i;
	table_cursor_moved(t, ops, in);
	return true;
}

static bool table_settings(struct table *t, const struct table_ops *ops, const struct table_in *in,
			   const struct input *input)
{
	switch (input->req) {
	case REQ_SORT:
		if (input->text && input->text[0])
			table_sort_named(t, ops, in->ctx, input->text);
		return true;
	case REQ_COLUMNS:
		table_choose_columns(t, ops, in->ctx, input->text);
		return true;
	case REQ_REVERSE:
		t->reverse = !t->reverse;
		break;
	case REQ_PROBLEMS:
		t->problems = !t->problems;
		break;
	case REQ_TAGGED:
		t->tagged_only = !t->tagged_only;
		break;
	case REQ_UNTAG:
		t->ntag = 0;
		t->tagged_last = 0;
		t->tagged_only = false;
		break;
	default:
		return false;
	}
	t->stale = true;
	return true;
}

bool table_input(struct table *t, const struct table_ops *ops, const struct table_in *in,
		 const struct input *input)
{
	table_follow(t, ops, in);
	if (list_move(&t->list, input->req, t->nrow) || list_wheel(&t->list, input->req, t->nrow)) {
		table_cursor_moved(t, ops, in);
		return true;
	}
	switch (input->req) {
	case REQ_FIND_NEXT:
	case REQ_FIND_PREV:
		table_find_row(t, ops, in, input->req == REQ_FIND_NEXT);
		return true;
	case REQ_SELECT:
		table_tag(t, ops, in);
		return true;
	case REQ_TAG_RANGE:
		table_tag_range(t, in);
		return true;
	case REQ_BACK:
		return table_back(t, ops);
	case REQ_ENTER:
		if (ops->open && t->nrow)
			ops->open(in, table_cursor(t));
		return ops->open && t->nrow;
	case REQ_GOTO:
		return input->text && table_go_to(t, ops, in, input->text);
	case REQ_CLICK:
		return table_click(t, ops, in, input);
	default:
		return table_settings(t, ops, in, input);
	}
}

void table_context(const struct table *t, const struct table_ops *ops, char *buf, size_t len)
{
	char filter[140] = "none", find[140] = "", tags[32] = "", of[32] = "";

	if (t->nrow != t->all)
		snprintf(of, sizeof(of), " of %u", t->all);
	if (t->filter_text[0])
		snprintf(filter, sizeof(filter), "%s", t->filter_text);
	if (t->find[0])
		snprintf(find, sizeof(find), "  find: %s", t->find);
	if (t->ntag)
		snprintf(tags, sizeof(tags), "  tagged: %u", t->ntag);
	snprintf(buf, len, "%u%s %s  filter: %s%s%s%s", t->nrow, of,
		 t->all == 1 ? ops->one : ops->what, filter, find, tags,
		 t->held ? "  sorting paused" : "");
}
