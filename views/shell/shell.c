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

struct shell *shell_new(const struct binding *bindings, size_t n)
{
	struct shell *shell = xcalloc(1, sizeof(*shell));

	shell->bindings = bindings;
	shell->nbindings = n;
	shell->view = VIEW_OVERVIEW;
	shell->chan = shell->sw = shell->path.src = FAB_NONE;
	for (int i = 0; i < VIEW_COUNT; i++)
		if (views[i])
			shell->own[i] = xcalloc(1, views[i]->size);
	return shell;
}

void shell_free(struct shell *shell)
{
	if (!shell)
		return;
	for (int i = 0; i < VIEW_COUNT; i++) {
		if (views[i] && views[i]->done)
			views[i]->done(shell->own[i]);
		free(shell->own[i]);
	}
	fabric_summary_done(&shell->survey);
	job_highlight_done(&shell->focus);
	tags_done(&shell->marks);
	sort_menu_done(&shell->sort);
	column_menu_done(&shell->columns);
	free(shell);
}

static void shell_take_tags(struct shell *shell, const struct state *s)
{
	static const enum view_id from[] = { VIEW_LINKS, VIEW_SWITCHES, VIEW_JOBS };

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		const struct table_ops *ops = NULL;
		const struct table *t = views[from[i]]->table(shell->own[from[i]], &ops);

		if (t && ops)
			tags_take(&shell->marks, t, ops->kind);
	}
	tags_update(&shell->marks, s, &shell->survey);
}

static void shell_forget_stale(struct shell *shell, const struct state *s)
{
	fabric_summary_update(&shell->survey, s);
	job_highlight_update(&shell->focus, s);
	shell_take_tags(shell, s);
	if (shell->chan != FAB_NONE && (!s->fabric || shell->chan >= s->fabric->nchan))
		shell->chan = FAB_NONE;
	if (shell->sw != FAB_NONE && (!s->fabric || shell->sw >= s->fabric->nsw))
		shell->sw = FAB_NONE;
	if (shell->path.src != FAB_NONE &&
	    (!s->fabric || shell->path.src >= s->fabric->nend + s->fabric->nsw))
		shell->path.src = FAB_NONE;
	if (shell->path.dlid &&
	    (!s->fabric || fabric_lid_end(s->fabric, shell->path.dlid) == FAB_NONE))
		shell->path.dlid = 0;
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

static void shell_say_units(const struct shell *shell, char *context, size_t len)
{
	size_t n = strlen(context);

	snprintf(context + n, len - n, "  rates in %s (U)", shell_bits(shell) ? "Gb/s" : "GB/s");
}

static struct frame_keys shell_frame_keys(const struct shell *shell)
{
	return (struct frame_keys){ shell->bindings, shell->nbindings, views[shell->view]->label,
				    shell->own[shell->view] };
}

void shell_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	const struct view *v = views[shell->view];
	struct frame_text t = { .note = shell->note, .job = shell->focus.id };
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct table_ops *ops;
	struct table *table;
	struct rect r = { 0, 2, c->w, c->h - 4 };

	shell->w = c->w;
	shell->h = c->h;
	shell_forget_stale(shell, s);
	canvas_clear(c);
	if (r.h > 0)
		v->draw(shell->own[shell->view], shell, c, r, s);
	table = shell_table(shell, &ops);
	if (v->context)
		v->context(shell->own[shell->view], s, t.context, sizeof(t.context));
	else if (table)
		table_context(table, ops, t.context, sizeof(t.context));
	if (table && table->nrow && table_shows_rates(table))
		shell_say_units(shell, t.context, sizeof(t.context));
	t.typing = shell_typing(shell, s);
	frame_draw(c, s, shell->view, &t, &keys);
	shell_menu_draw(shell, c, s);
	if (shell->prompt.kind)
		shell_prompt_draw(shell, c, s);
	if (c->w < 80 || c->h < 24)
		shell_draw_small(c);
}

void shell_say(struct shell *shell, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(shell->note, sizeof(shell->note), fmt, ap);
	va_end(ap);
}

static void shell_trail_add(struct shell *shell)
{
	if (shell->ntrail == TRAIL) {
		memmove(shell->trail, shell->trail + 1, (TRAIL - 1) * sizeof(shell->trail[0]));
		shell->ntrail--;
	}
	shell->trail[shell->ntrail++] = shell->view;
}

void shell_goto(struct shell *shell, enum view_id view)
{
	if ((unsigned)view >= VIEW_COUNT || !views[view])
		return;
	if (view == shell->view)
		return;
	shell_trail_add(shell);
	shell->view = view;
}

static void shell_go_back(struct shell *shell)
{
	if (shell->ntrail)
		shell->view = shell->trail[--shell->ntrail];
	else
		shell->view = VIEW_OVERVIEW;
}

enum view_id shell_from(const struct shell *shell)
{
	return shell->ntrail ? shell->trail[shell->ntrail - 1] : VIEW_OVERVIEW;
}

static void shell_leave_job(struct shell *shell)
{
	shell_say(shell, "job %llu is not marked any more", (unsigned long long)shell->focus.id);
	job_highlight_done(&shell->focus);
}

void shell_bits_set(struct shell *shell, bool bits)
{
	shell->bits = bits;
	shell_say(shell, "rates in %s", bits ? "Gb/s" : "GB/s");
}

void shell_palette_set(struct shell *shell, enum palette palette)
{
	shell->palette = palette;
	shell_say(shell, "palette: %s", palette_name(palette));
}

/* What every view does alike; true when that was it. */
static bool shell_common_input(struct shell *shell, const struct input *in, const struct state *s,
			       struct request *out)
{
	switch (in->req) {
	case REQ_VIEW:
		shell_goto(shell, in->view);
		out->type = REQ_VIEW;
		out->view = shell->view;
		return true;
	case REQ_HELP:
		if (shell->view == VIEW_HELP)
			shell_go_back(shell);
		else
			shell_goto(shell, VIEW_HELP);
		return true;
	case REQ_BACK:
		if (shell->focus.id)
			shell_leave_job(shell);
		else if (in->esc && s->poll.tables_on && shell->view != VIEW_HELP)
			out->type = REQ_TABLES_END;
		else
			shell_go_back(shell);
		return true;
	case REQ_UNITS:
		shell_bits_set(shell, !shell->bits);
		return true;
	case REQ_PALETTE:
		shell_palette_set(shell, (shell->palette + 1) % PALETTE_COUNT);
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

static bool shell_table_is_empty(struct shell *shell)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	return t && !t->nrow;
}

/* A key of this view that has nothing to do in the place where one is now. */
static void shell_say_no_use(struct shell *shell, enum req req, const struct state *s)
{
	if (!s->fabric && req != REQ_CLICK && !shell->note[0])
		shell_say(shell, "the fabric is not known yet: there is nothing to do that with");
	if (req == REQ_ENTER && shell_table_is_empty(shell) && !shell->note[0])
		shell_say(shell, "no row is shown: there is nothing to open");
	for (size_t i = 0; req > REQ_BOTTOM && i < shell->nbindings && !shell->note[0]; i++) {
		const struct binding *b = &shell->bindings[i];

		if (b->req == req && (!b->views || (b->views & VIEW_BIT(shell->view))))
			shell_say(shell, "%s finds nothing to do here; it is for: %s", b->shown,
				  b->help);
	}
}

void shell_do(struct shell *shell, const struct input *in, const struct state *s,
	      struct request *out)
{
	const struct view *v = views[shell->view];
	const struct table_ops *ops;
	struct table *t;
	struct table_in at = { shell->own[shell->view], shell, s };

	if (in->req == REQ_NONE)
		return;
	if (in->refused_ro || (in->req == REQ_YES && !s->rw)) {
		shell_say(shell, "read-only: nothing in the fabric can be changed; "
				 "start with --rw to allow it");
		return;
	}
	if (v->input && v->input(shell->own[shell->view], shell, in, s, out))
		return;
	if (shell_prompt_open(shell, in, s))
		return;
	t = shell_table(shell, &ops);
	if (t && table_input(t, ops, &at, in))
		return;
	if (!shell_command_input(shell, in, s, out) && !shell_common_input(shell, in, s, out))
		shell_say_no_use(shell, in->req, s);
}

void shell_input(struct shell *shell, const struct input *in, const struct state *s,
		 struct request *out)
{
	memset(out, 0, sizeof(*out));
	shell->note[0] = '\0';
	shell_forget_stale(shell, s);
	if (shell->prompt.kind)
		shell_prompt_input(shell, in, s, out);
	else if (!shell_menu_input(shell, in, s, out))
		shell_do(shell, in, s, out);
}

bool shell_typing(const struct shell *shell, const struct state *s)
{
	const struct view *v = views[shell->view];

	return shell->prompt.kind || (v->typing && v->typing(shell->own[shell->view], s));
}

uint32_t shell_key_at(const struct shell *shell, const struct state *s, int x, int y)
{
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct binding *b;

	if (y != shell->h - 2 || shell->note[0] || shell_typing(shell, s) || shell_menu(shell))
		return 0;
	b = frame_hint_at(shell->w, s, shell->view, &keys, x);
	return b ? b->keys[0] : 0;
}

enum view_id shell_view(const struct shell *shell)
{
	return shell->view;
}

void shell_select_chan(struct shell *shell, uint32_t chan)
{
	shell->chan = chan;
}

uint32_t shell_job_links(const struct shell *shell)
{
	return shell->focus.links;
}

uint32_t shell_job_routes(const struct shell *shell, uint32_t chan)
{
	return shell->focus.known && chan < shell->focus.nchan ? shell->focus.routes[chan] : 0;
}

bool shell_job_dims(const struct shell *shell, uint32_t chan)
{
	return shell->focus.known && !shell_job_routes(shell, chan);
}

bool shell_chan_tagged(const struct shell *shell, uint32_t chan)
{
	return shell->marks.chan && shell->marks.chan[chan];
}

bool shell_switch_tagged(const struct shell *shell, uint32_t sw)
{
	return shell->marks.sw && shell->marks.sw[sw];
}

bool shell_job_tagged(const struct shell *shell, uint64_t id)
{
	return tags_job(&shell->marks, id);
}

bool shell_any_tagged(const struct shell *shell)
{
	return shell->marks.n[MARK_LINKS] || shell->marks.n[MARK_SWITCHES];
}

uint64_t shell_tag_serial(const struct shell *shell)
{
	return shell->marks.serial;
}

uint32_t shell_selected_chan(const struct shell *shell)
{
	return shell->chan;
}

uint32_t shell_selected_switch(const struct shell *shell)
{
	return shell->sw;
}

void shell_select_switch(struct shell *shell, uint32_t sw)
{
	shell->sw = sw;
}

uint64_t shell_selected_job(const struct shell *shell)
{
	return shell->focus.id;
}

void shell_select_job(struct shell *shell, uint64_t id)
{
	job_highlight_set(&shell->focus, id);
}

struct path_ends shell_path_ends(const struct shell *shell)
{
	return shell->path;
}

void shell_select_path(struct shell *shell, struct path_ends ends)
{
	shell->path = ends;
}

const struct binding *shell_bindings(const struct shell *shell, size_t *n)
{
	*n = shell->nbindings;
	return shell->bindings;
}

bool shell_bits(const struct shell *shell)
{
	return shell->bits;
}

enum history_metric shell_past(const struct shell *shell)
{
	return shell->past;
}

void shell_past_set(struct shell *shell, enum history_metric m)
{
	shell->past = m;
}

bool shell_past_choose(struct shell *shell, const struct input *in)
{
	enum history_metric m = (shell->past + 1) % HISTORY_METRICS;

	if (in->text && in->text[0])
		m = history_metric_find(in->text);
	if (m == HISTORY_METRICS) {
		shell_say(shell, "the past has no '%s' here: util, wait or errors", in->text);
		return false;
	}
	shell->past = m;
	shell_say(shell, "the past of links is shown of %s", history_metric_name(m));
	return true;
}

enum palette shell_palette(const struct shell *shell)
{
	return shell->palette;
}

const struct fabric_summary *shell_survey(const struct shell *shell)
{
	return &shell->survey;
}

void shell_compare(struct shell *shell, bool on)
{
	shell->compare = on;
}

bool shell_comparing(const struct shell *shell)
{
	return shell->compare;
}
