/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell.h"

#include "fabric/base/mem.h"
#include "views/data/job_highlight.h"
#include "views/data/past_spark.h"
#include "views/shell/frame.h"
#include "views/shell/shell_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct view *const views[VIEW_COUNT] = {
	[VIEW_OVERVIEW] = &view_overview, [VIEW_HEATMAP] = &view_heatmap,
	[VIEW_LINKS] = &view_links,	  [VIEW_JOBS] = &view_jobs,
	[VIEW_PREVIEW] = &view_preview,	  [VIEW_APPLY] = &view_apply,
	[VIEW_EVENTS] = &view_events,	  [VIEW_HELP] = &view_help,
	[VIEW_TOPOLOGY] = &view_topology, [VIEW_SWITCHES] = &view_switches,
	[VIEW_PATHS] = &view_paths,	  [VIEW_AUDIT] = &view_sessions,
};

const struct view *view_find(enum view_id id)
{
	return (unsigned)id < VIEW_COUNT ? views[id] : NULL;
}

struct ui *ui_new(const struct binding *bindings, size_t n)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));

	ui->bindings = bindings;
	ui->nbindings = n;
	ui->view = VIEW_OVERVIEW;
	ui->chan = ui->sw = ui->path.src = FAB_NONE;
	for (int i = 0; i < VIEW_COUNT; i++)
		if (views[i])
			ui->own[i] = xcalloc(1, views[i]->size);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (int i = 0; i < VIEW_COUNT; i++) {
		if (views[i] && views[i]->done)
			views[i]->done(ui->own[i]);
		free(ui->own[i]);
	}
	fabric_summary_done(&ui->survey);
	job_highlight_done(&ui->focus);
	tags_done(&ui->marks);
	sort_menu_done(&ui->sort);
	column_menu_done(&ui->columns);
	free(ui);
}

static void shell_take_tags(struct ui *ui, const struct state *s)
{
	static const enum view_id from[] = { VIEW_LINKS, VIEW_SWITCHES, VIEW_JOBS };

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		const struct table_ops *ops = NULL;
		const struct table *t = views[from[i]]->table(ui->own[from[i]], &ops);

		if (t && ops)
			tags_take(&ui->marks, t, ops->kind);
	}
	tags_update(&ui->marks, s, &ui->survey);
}

static void shell_forget_stale(struct ui *ui, const struct state *s)
{
	fabric_summary_update(&ui->survey, s);
	job_highlight_update(&ui->focus, s);
	shell_take_tags(ui, s);
	if (ui->chan != FAB_NONE && (!s->fabric || ui->chan >= s->fabric->nchan))
		ui->chan = FAB_NONE;
	if (ui->sw != FAB_NONE && (!s->fabric || ui->sw >= s->fabric->nsw))
		ui->sw = FAB_NONE;
	if (ui->path.src != FAB_NONE &&
	    (!s->fabric || ui->path.src >= s->fabric->nend + s->fabric->nsw))
		ui->path.src = FAB_NONE;
	if (ui->path.dlid && (!s->fabric || fabric_lid_end(s->fabric, ui->path.dlid) == FAB_NONE))
		ui->path.dlid = 0;
}

/* What is cut off looks like what is not there. */
static void shell_draw_small(struct canvas *c)
{
	struct rect r = canvas_rect(c);
	char text[64];

	snprintf(text, sizeof(text), " %dx%d is too small: 80x24 shows all ", c->w, c->h);
	if (text_width(text) > r.w)
		snprintf(text, sizeof(text), "80x24!");
	canvas_fill(c, (struct rect){ 0, r.h - 1, r.w, 1 }, ROLE_LOUD, ' ');
	canvas_text(c, r, 0, r.h - 1, ROLE_LOUD, text);
}

static void shell_say_units(const struct ui *ui, char *context, size_t len)
{
	size_t n = strlen(context);

	snprintf(context + n, len - n, "  rates in %s (U)", ui_bits(ui) ? "Gb/s" : "GB/s");
}

static struct frame_keys shell_frame_keys(const struct ui *ui)
{
	return (struct frame_keys){ ui->bindings, ui->nbindings, views[ui->view]->label,
				    ui->own[ui->view] };
}

void ui_draw(struct ui *ui, struct canvas *c, const struct state *s)
{
	const struct view *v = views[ui->view];
	struct frame_text t = { .note = ui->note, .job = ui->focus.id };
	const struct frame_keys keys = shell_frame_keys(ui);
	const struct table_ops *ops;
	struct table *table;
	struct rect r = { 0, 2, c->w, c->h - 4 };

	ui->w = c->w;
	ui->h = c->h;
	shell_forget_stale(ui, s);
	canvas_clear(c);
	if (r.h > 0)
		v->draw(ui->own[ui->view], ui, c, r, s);
	table = ui_table(ui, &ops);
	if (v->context)
		v->context(ui->own[ui->view], s, t.context, sizeof(t.context));
	else if (table)
		table_context(table, ops, t.context, sizeof(t.context));
	if (table && table->nrow && table_shows_rates(table))
		shell_say_units(ui, t.context, sizeof(t.context));
	t.typing = ui_typing(ui, s);
	frame_draw(c, s, ui->view, &t, &keys);
	ui_menu_draw(ui, c, s);
	if (ui->prompt.kind)
		ui_prompt_draw(ui, c, s);
	if (c->w < 80 || c->h < 24)
		shell_draw_small(c);
}

void ui_say(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->note, sizeof(ui->note), fmt, ap);
	va_end(ap);
}

static void shell_trail_add(struct ui *ui)
{
	if (ui->ntrail == TRAIL) {
		memmove(ui->trail, ui->trail + 1, (TRAIL - 1) * sizeof(ui->trail[0]));
		ui->ntrail--;
	}
	ui->trail[ui->ntrail++] = ui->view;
}

void ui_goto(struct ui *ui, enum view_id view)
{
	if ((unsigned)view >= VIEW_COUNT || !views[view])
		return;
	if (view == ui->view)
		return;
	shell_trail_add(ui);
	ui->view = view;
}

static void shell_go_back(struct ui *ui)
{
	if (ui->ntrail)
		ui->view = ui->trail[--ui->ntrail];
	else
		ui->view = VIEW_OVERVIEW;
}

enum view_id ui_from(const struct ui *ui)
{
	return ui->ntrail ? ui->trail[ui->ntrail - 1] : VIEW_OVERVIEW;
}

static void shell_leave_job(struct ui *ui)
{
	ui_say(ui, "job %llu is not marked any more", (unsigned long long)ui->focus.id);
	job_highlight_done(&ui->focus);
}

void ui_bits_set(struct ui *ui, bool bits)
{
	ui->bits = bits;
	ui_say(ui, "rates in %s", bits ? "Gb/s" : "GB/s");
}

void ui_palette_set(struct ui *ui, enum palette palette)
{
	ui->palette = palette;
	ui_say(ui, "palette: %s", palette_name(palette));
}

/* What every view does alike; true when that was it. */
static bool shell_common_input(struct ui *ui, const struct input *in, const struct state *s,
			       struct request *out)
{
	switch (in->req) {
	case REQ_VIEW:
		ui_goto(ui, in->view);
		out->type = REQ_VIEW;
		out->view = ui->view;
		return true;
	case REQ_HELP:
		if (ui->view == VIEW_HELP)
			shell_go_back(ui);
		else
			ui_goto(ui, VIEW_HELP);
		return true;
	case REQ_BACK:
		if (ui->focus.id)
			shell_leave_job(ui);
		else if (in->esc && s->poll.tables_on && ui->view != VIEW_HELP)
			out->type = REQ_TABLES_END;
		else
			shell_go_back(ui);
		return true;
	case REQ_UNITS:
		ui_bits_set(ui, !ui->bits);
		return true;
	case REQ_PALETTE:
		ui_palette_set(ui, (ui->palette + 1) % PALETTE_COUNT);
		return true;
	case REQ_QUIT:
	case REQ_FREEZE:
	case REQ_FASTER:
	case REQ_SLOWER:
	case REQ_POLL:
	case REQ_STOP:
	case REQ_SWEEP:
	case REQ_TABLES:
	case REQ_SNAPSHOT:
	case REQ_REDRAW:
	case REQ_SUSPEND:
	case REQ_DETACH:
		out->type = in->req;
		return true;
	default:
		return false;
	}
}

static bool shell_table_is_empty(struct ui *ui)
{
	const struct table_ops *ops;
	const struct table *t = ui_table(ui, &ops);

	return t && !t->nrow;
}

/* A key of this view that has nothing to do in the place where one is now. */
static void shell_say_no_use(struct ui *ui, enum req req, const struct state *s)
{
	if (!s->fabric && req != REQ_CLICK && !ui->note[0])
		ui_say(ui, "the fabric is not known yet: there is nothing to do that with");
	if (req == REQ_ENTER && shell_table_is_empty(ui) && !ui->note[0])
		ui_say(ui, "no row is shown: there is nothing to open");
	for (size_t i = 0; req > REQ_BOTTOM && i < ui->nbindings && !ui->note[0]; i++) {
		const struct binding *b = &ui->bindings[i];

		if (b->req == req && (!b->views || (b->views & VIEW_BIT(ui->view))))
			ui_say(ui, "%s finds nothing to do here; it is for: %s", b->shown, b->help);
	}
}

void ui_do(struct ui *ui, const struct input *in, const struct state *s, struct request *out)
{
	const struct view *v = views[ui->view];
	const struct table_ops *ops;
	struct table *t;
	struct table_in at = { ui->own[ui->view], ui, s };

	if (in->req == REQ_NONE)
		return;
	if (in->refused_ro || (in->req == REQ_YES && !s->rw)) {
		ui_say(ui, "read-only: nothing in the fabric can be changed; "
			   "start with --rw to allow it");
		return;
	}
	if (v->input && v->input(ui->own[ui->view], ui, in, s, out))
		return;
	if (ui_prompt_open(ui, in, s))
		return;
	t = ui_table(ui, &ops);
	if (t && table_input(t, ops, &at, in))
		return;
	if (!ui_command_input(ui, in, s, out) && !shell_common_input(ui, in, s, out))
		shell_say_no_use(ui, in->req, s);
}

void ui_input(struct ui *ui, const struct input *in, const struct state *s, struct request *out)
{
	memset(out, 0, sizeof(*out));
	ui->note[0] = '\0';
	shell_forget_stale(ui, s);
	if (ui->prompt.kind)
		ui_prompt_input(ui, in, s, out);
	else if (!ui_menu_input(ui, in, s, out))
		ui_do(ui, in, s, out);
}

bool ui_typing(const struct ui *ui, const struct state *s)
{
	const struct view *v = views[ui->view];

	return ui->prompt.kind || (v->typing && v->typing(ui->own[ui->view], s));
}

uint32_t ui_key_at(const struct ui *ui, const struct state *s, int x, int y)
{
	const struct frame_keys keys = shell_frame_keys(ui);
	const struct binding *b;

	if (y != ui->h - 2 || ui->note[0] || ui_typing(ui, s) || ui_menu(ui))
		return 0;
	b = frame_hint_at(ui->w, s, ui->view, &keys, x);
	return b ? b->keys[0] : 0;
}

enum view_id ui_view(const struct ui *ui)
{
	return ui->view;
}

void ui_select_chan(struct ui *ui, uint32_t chan)
{
	ui->chan = chan;
}

uint32_t ui_job_links(const struct ui *ui)
{
	return ui->focus.links;
}

uint32_t ui_job_routes(const struct ui *ui, uint32_t chan)
{
	return ui->focus.known && chan < ui->focus.nchan ? ui->focus.routes[chan] : 0;
}

bool ui_job_dims(const struct ui *ui, uint32_t chan)
{
	return ui->focus.known && !ui_job_routes(ui, chan);
}

bool ui_chan_tagged(const struct ui *ui, uint32_t chan)
{
	return ui->marks.chan && ui->marks.chan[chan];
}

bool ui_switch_tagged(const struct ui *ui, uint32_t sw)
{
	return ui->marks.sw && ui->marks.sw[sw];
}

bool ui_job_tagged(const struct ui *ui, uint64_t id)
{
	return tags_job(&ui->marks, id);
}

bool ui_any_tagged(const struct ui *ui)
{
	return ui->marks.n[MARK_LINKS] || ui->marks.n[MARK_SWITCHES];
}

uint64_t ui_tag_serial(const struct ui *ui)
{
	return ui->marks.serial;
}

uint32_t ui_selected_chan(const struct ui *ui)
{
	return ui->chan;
}

uint32_t ui_selected_switch(const struct ui *ui)
{
	return ui->sw;
}

void ui_select_switch(struct ui *ui, uint32_t sw)
{
	ui->sw = sw;
}

uint64_t ui_selected_job(const struct ui *ui)
{
	return ui->focus.id;
}

void ui_select_job(struct ui *ui, uint64_t id)
{
	job_highlight_set(&ui->focus, id);
}

struct path_ends ui_path_ends(const struct ui *ui)
{
	return ui->path;
}

void ui_select_path(struct ui *ui, struct path_ends ends)
{
	ui->path = ends;
}

const struct binding *ui_bindings(const struct ui *ui, size_t *n)
{
	*n = ui->nbindings;
	return ui->bindings;
}

bool ui_bits(const struct ui *ui)
{
	return ui->bits;
}

enum history_metric ui_past(const struct ui *ui)
{
	return ui->past;
}

void ui_past_set(struct ui *ui, enum history_metric m)
{
	ui->past = m;
}

bool ui_past_choose(struct ui *ui, const struct input *in)
{
	enum history_metric m = (ui->past + 1) % HISTORY_METRICS;

	if (in->text && in->text[0])
		m = history_metric_find(in->text);
	if (m == HISTORY_METRICS) {
		ui_say(ui, "the past has no '%s' here: util, wait or errors", in->text);
		return false;
	}
	ui->past = m;
	ui_say(ui, "the past of links is shown of %s", history_metric_name(m));
	return true;
}

enum palette ui_palette(const struct ui *ui)
{
	return ui->palette;
}

const struct fabric_summary *ui_survey(const struct ui *ui)
{
	return &ui->survey;
}

void ui_compare(struct ui *ui, bool on)
{
	ui->compare = on;
}

bool ui_comparing(const struct ui *ui)
{
	return ui->compare;
}
