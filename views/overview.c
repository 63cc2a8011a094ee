/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview: the fabric in figures, its tiers, hot links, problems, jobs, last events. */
#include "views/list.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum pane { PANE_HOT, PANE_PROBLEMS, PANE_JOBS, PANE_COUNT };

struct overview_ui {
	int pane;
	struct list list[PANE_COUNT];
};

struct overview_layout {
	struct rect fabric, tiers, hot, problems, jobs, events;
};

static struct overview_layout layout(struct rect r)
{
	int half = r.w * 9 / 20, top = 8, rest = r.h - top - 1;
	int hot = rest * 2 / 5, mid = rest / 3, y = r.y;
	struct overview_layout l;

	if (hot < 5)
		hot = 5;
	l.fabric = (struct rect){ r.x, y, half - 1, top };
	l.tiers = (struct rect){ r.x + half, y, r.w - half, top };
	y += top;
	l.hot = (struct rect){ r.x, y, r.w, hot };
	y += hot;
	l.problems = (struct rect){ r.x, y, half - 1, mid };
	l.jobs = (struct rect){ r.x + half, y, r.w - half, mid };
	y += mid;
	l.events = (struct rect){ r.x, y, r.w, r.y + r.h - 1 - y };
	return l;
}

static void draw_absence(struct canvas *c, struct rect r, const struct state *s)
{
	canvas_rule(c, r, 0, "Fabric");
	if (s->mode == RUN_LOST)
		canvas_wrap(c, r, 1, 2, ROLE_BAD, s->lost_why);
	else if (s->poll.preparing)
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "making the simulated fabric and its first routes: %s", s->source);
	else if (s->poll.discovering)
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "discovering the fabric: %u switches and %u hosts so far",
			     s->poll.found_sw, s->poll.found_ca);
	else
		canvas_text(c, r, 1, 2, ROLE_TEXT, "no fabric yet");
}

static void draw_links(struct canvas *c, struct rect r, int y, const struct survey *v)
{
	uint32_t all = v->cables + v->hosts, bad = v->down;
	int x = canvas_textf(c, r, 1, y, ROLE_TEXT, "links %u", all);

	if (!v->down && !v->reduced && !v->errors && !v->no_reply) {
		canvas_text(c, r, x, y, ROLE_GOOD, "  no problems known");
		return;
	}
	if (bad)
		x = canvas_textf(c, r, x, y, ROLE_BAD, "  down %u", bad);
	if (v->reduced)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  reduced %u", v->reduced);
	if (v->errors)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  errors %u", v->errors);
	if (v->no_reply)
		canvas_textf(c, r, x, y, ROLE_WARN, "  silent %u", v->no_reply);
}

static void draw_poll(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct state_poll *p = &s->poll;
	char took[FIGURE_LEN];
	int x;

	if (s->mode == RUN_FILE) {
		canvas_text(c, r, 1, y, ROLE_DIM, "from a file: no counters, no rates");
		return;
	}
	if (!s->sample) {
		canvas_text(c, r, 1, y, ROLE_DIM, p->busy ? "first poll under way" : "no poll yet");
		return;
	}
	x = canvas_textf(c, r, 1, y, ROLE_TEXT, "poll %s  %u ports", figure_age(took, p->took_s),
			 p->asked);
	if (p->answered < p->asked)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  no reply %u", p->asked - p->answered);
	if (p->partial)
		canvas_text(c, r, x, y, ROLE_WARN, "  PARTIAL");
}

static void draw_jobs_line(struct canvas *c, struct rect r, int y, const struct state *s,
			   const struct survey *v)
{
	char load[FIGURE_LEN];
	int x = 1;

	switch (s->jobs_source.state) {
	case JOBS_OFF:
		x = canvas_text(c, r, x, y, ROLE_DIM, "no job source");
		break;
	case JOBS_WAITING:
		x = canvas_textf(c, r, x, y, ROLE_DIM, "%s asked for jobs", s->jobs_source.source);
		break;
	case JOBS_UNREACHABLE:
		x = canvas_textf(c, r, x, y, ROLE_WARN, "%s unreachable", s->jobs_source.source);
		break;
	case JOBS_OK:
		if (s->jobs)
			x = canvas_textf(c, r, x, y, ROLE_TEXT, "jobs %u run, %u wait",
					 s->jobs->njob, s->jobs->pending);
		break;
	}
	canvas_textf(c, r, x, y, ROLE_TEXT, "  load %s%s", figure_pct(load, v->load_pct),
		     isfinite(v->load_pct) ? "%" : "");
}

static void draw_metrics(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN];

	if (!m) {
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->metrics_busy ? "routing figures are being computed"
					    : "EFI -  dark links -");
		return;
	}
	if (!m->njob) {
		canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI -",
			     figure_count(a, m->efi_max));
		canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "dark links -  hops %.2f", m->hops_mean);
		return;
	}
	canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI %s (>= %s)",
		     figure_short(a, m->efi_max), figure_short(b, m->eff_efi_max),
		     figure_short(e, m->eff_efi_bound));
	canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "dark links %.1f%%  hops %.2f", m->dark_fiber_pct,
		     m->hops_mean);
}

static void draw_verdict(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct verdict *v = s->verdict;

	if (!v)
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->tables		  ? "routing not verified yet"
			    : s->mode == RUN_FILE ? "no routing tables (--lfts FILE)"
						  : "routing tables not read yet");
	else if (verdict_ok(v))
		canvas_text(c, r, 1, y, ROLE_GOOD, "routes complete, no deadlock");
	else if (v->connected && v->loop_free && v->vls_fit && !s->sls_known)
		canvas_text(c, r, 1, y, ROLE_WARN, "cyclic if all SLs are 0: not known");
	else
		canvas_textf(c, r, 1, y, ROLE_BAD, "routes:%s%s%s%s",
			     v->connected ? "" : " INCOMPLETE", v->loop_free ? "" : " LOOPS",
			     v->connected && v->loop_free && !v->deadlock_free ? " DEADLOCK" : "",
			     v->vls_fit ? "" : " TOO MANY VLs");
}

static void draw_fabric(struct canvas *c, struct rect r, const struct state *s,
			const struct survey *v)
{
	const struct fabric *f = s->fabric;
	const struct state_poll *p = &s->poll;
	char shape[64], title[96];

	shape_sentence(shape, sizeof(shape), v->shape);
	snprintf(title, sizeof(title), "Fabric: %s", shape);
	canvas_rule(c, r, 0, title);
	if (p->missing_sw || p->missing_ca)
		canvas_textf(c, r, 1, 1, ROLE_BAD, "%u of %u switches %u of %u hosts", f->nsw,
			     f->nsw + p->missing_sw, f->nterm, f->nterm + p->missing_ca);
	else
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "switches %u  hosts %u  cables %u", f->nsw,
			     f->nterm, v->cables);
	draw_links(c, r, 2, v);
	draw_poll(c, r, 3, s);
	draw_jobs_line(c, r, 4, s, v);
	draw_verdict(c, r, 5, s);
	draw_metrics(c, r, 6, s);
}

static void draw_tiers(struct canvas *c, struct rect r, const struct survey *v)
{
	char min[FIGURE_LEN], avg[FIGURE_LEN], max[FIGURE_LEN], wait[FIGURE_LEN];

	canvas_rule(c, r, 0, "Tiers: % of link used, and waiting");
	canvas_text(c, r, 0, 1, ROLE_LABEL, "tier               min  avg  max  wait");
	for (uint32_t t = 0; t < v->ntier && (int)t + 2 < r.h; t++) {
		const struct tier *x = &v->tier[t];
		int y = (int)t + 2;

		canvas_text(c, r, 0, y, ROLE_TEXT, x->name);
		canvas_textf(c, r, 18, y, ROLE_TEXT, "%4s %4s %4s %5s",
			     figure_pct(min, x->util_min), figure_pct(avg, x->util_avg),
			     figure_pct(max, x->util_max), figure_pct(wait, x->wait_max));
		if (r.w > 46)
			canvas_bar(
				c, r, 40, y, r.w - 41,
				heat_role(PALETTE_VIRIDIS, x->known ? heat_level(x->util_avg) : 0),
				x->util_avg / 100, (x->util_max - x->util_avg) / 100);
	}
}

#define HOT_NAME 56

static int spark_width(struct rect r)
{
	return r.w >= 150 ? HISTORY_LEN : r.w >= 100 ? HISTORY_LEN * 2 / 3 : 14;
}

static void draw_hot_row(struct canvas *c, struct rect r, int y, uint32_t chan,
			 const struct state *s)
{
	const struct fabric *f = s->fabric;
	const struct port_rate *p = state_rate(s, chan_fabric_port(f, chan));
	const struct metrics *m = state_metrics(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN] = "-", label[256];
	uint8_t past[HISTORY_LEN];
	int wide = spark_width(r), end, n;

	if (m)
		figure_short(e, m->efi[chan]);
	canvas_textf(c, r, 2, y, heat_role(PALETTE_VIRIDIS, p ? heat_level(p->util_pct) : 0),
		     "%4s%%", figure_pct(a, p ? p->util_pct : NAN));
	canvas_textf(c, r, 8, y, ROLE_TEXT, "%5s %6s", figure_pct(b, p ? p->wait_pct : NAN), e);
	end = r.w - 1 < 24 + HOT_NAME + wide ? r.w - 1 : 24 + HOT_NAME + wide;
	canvas_name(c, r, 22, y, end - wide - 23, ROLE_TEXT,
		    chan_label(label, sizeof(label), f, chan));
	if (!s->history)
		return;
	n = (int)history_get(s->history, chan, past);
	if (n > wide)
		canvas_spark(c, r, end - wide, y, past + n - wide, wide);
	else
		canvas_spark(c, r, end - n, y, past, n);
}

static void mark_row(struct canvas *c, struct rect r, int y, bool on)
{
	if (on)
		list_draw_cursor(c, r, y);
}

static void draw_hot(struct overview_ui *u, struct canvas *c, struct rect r, const struct state *s,
		     const struct survey *v)
{
	struct list *l = &u->list[PANE_HOT];

	list_fit(l, v->nhot, r.h - 2);
	canvas_rule(c, r, 0, "Hot links (Enter: open)");
	canvas_text(c, r, 2, 1, ROLE_LABEL,
		    " util  wait    EFI  from switch/port -> to switch/port");
	if (!v->nhot)
		canvas_text(c, r, 2, 2, ROLE_DIM,
			    s->mode == RUN_FILE ? "no rates: a file has no counters"
						: "no rates yet: they need two polls");
	else if (r.w >= 100)
		canvas_right(c, r,
			     r.w - 1 < 24 + HOT_NAME + spark_width(r)
				     ? r.w - 1
				     : 24 + HOT_NAME + spark_width(r),
			     1, ROLE_LABEL, "history, newest right");
	for (int y = 0; y < r.h - 2 && l->top + (uint32_t)y < v->nhot; y++) {
		draw_hot_row(c, r, y + 2, v->hot[l->top + (uint32_t)y], s);
		mark_row(c, r, y + 2, u->pane == PANE_HOT && l->top + (uint32_t)y == l->cursor);
	}
}

static void draw_problems(struct overview_ui *u, struct canvas *c, struct rect r,
			  const struct state *s, const struct survey *v)
{
	struct list *l = &u->list[PANE_PROBLEMS];

	list_fit(l, v->nproblem, r.h - 1);
	canvas_rule(c, r, 0, "Problem ports");
	if (!v->nproblem)
		canvas_text(c, r, 2, 1, ROLE_DIM, s->sample ? "none" : "none known");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < v->nproblem; y++) {
		uint32_t i = l->top + (uint32_t)y, sw = v->problem_sw[i];
		uint8_t p = v->problem_port[i];
		enum problem kind = v->problem[s->fabric->port_off[sw] + p];
		const char *word = problem_word(kind);
		char label[256];

		canvas_char(c, r, 2, y + 1, kind >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
			    (uint32_t)problem_glyph(kind));
		canvas_name(c, r, 4, y + 1, r.w - 5 - text_width(word), ROLE_TEXT,
			    port_label(label, sizeof(label), s->fabric, sw, p));
		canvas_right(c, r, r.w, y + 1, ROLE_DIM, word);
		mark_row(c, r, y + 1, u->pane == PANE_PROBLEMS && i == l->cursor);
	}
}

static void draw_jobs(struct overview_ui *u, const struct ui *ui, struct canvas *c, struct rect r,
		      const struct state *s, const struct survey *v)
{
	struct list *l = &u->list[PANE_JOBS];
	const struct jobset *js = v->jobs;
	uint32_t n = js ? js->njob : 0;

	list_fit(l, n, r.h - 1);
	canvas_rule(c, r, 0, "Jobs, largest first");
	if (!n)
		canvas_wrap(c, r, 2, 1, ROLE_DIM,
			    s->jobs_source.state == JOBS_UNREACHABLE ? s->jobs_source.sentence
			    : js				     ? "no jobs"
								     : "no jobs known");
	else
		canvas_right(c, r, r.w - 1, 0, ROLE_RULE,
			     ui_bits(ui) ? " nodes  Gb/s  EFI " : " nodes  GB/s  EFI ");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < n; y++) {
		uint32_t i = l->top + (uint32_t)y;
		const struct job *j = &js->jobs[i];
		const struct job_metrics *m =
			job_metrics_of(state_metrics(s), s->metrics_jobs, j->id);
		char rate[FIGURE_LEN], efi[FIGURE_LEN] = "-", name[128];

		snprintf(name, sizeof(name), "%llu %.40s", (unsigned long long)j->id,
			 j->user[0] ? j->user : j->name);
		if (m)
			figure_short(efi, m->efi_max);
		canvas_name(c, r, 2, y + 1, r.w - 24, ROLE_TEXT, name);
		canvas_rightf(c, r, r.w - 2, y + 1, ROLE_TEXT, "%5u %5s %5s", j->nnodes,
			      figure_rate(rate, v->job_Bps ? v->job_Bps[i] : NAN, ui_bits(ui)),
			      efi);
		mark_row(c, r, y + 1, u->pane == PANE_JOBS && i == l->cursor);
	}
}

static void draw_events(struct canvas *c, struct rect r, const struct state *s)
{
	uint32_t n = s->events ? events_count(s->events) : 0;

	canvas_rule(c, r, 0, "Events (8: all)");
	if (!n)
		canvas_text(c, r, 2, 1, ROLE_DIM, "none yet");
	for (uint32_t i = 0; i < n && (int)i < r.h - 1; i++)
		event_draw(c, r, (int)i + 1, events_get(s->events, i));
}

static void draw_auto(struct canvas *c, struct rect r, const struct state *s)
{
	const struct state_auto *a = &s->automatic;
	char age[FIGURE_LEN], text[sizeof(a->text)];
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "Auto: ");

	if (isfinite(a->next_s))
		x = canvas_textf(c, r, x, r.h - 1, ROLE_TEXT, "looks in %s; ",
				 figure_age(age, a->next_s));
	else
		x = canvas_text(c, r, x, r.h - 1, ROLE_TEXT, "at work; ");
	canvas_text(c, r, x, r.h - 1, a->alert ? ROLE_WARN : ROLE_TEXT,
		    text_shorten(text, sizeof(text), a->text, r.w - x - 1));
}

static void draw_hint(struct canvas *c, struct rect r)
{
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "To change the routing: ");

	x = canvas_text(c, r, x, r.h - 1, ROLE_KEY, "6");
	canvas_text(c, r, x, r.h - 1, ROLE_LABEL,
		    " engines: choose, Space or Enter computes a preview");
}

static void overview_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct overview_ui *u = own;
	const struct survey *v = ui_survey(ui);
	struct overview_layout l = layout(r);

	if (!s->fabric) {
		draw_absence(c, r, s);
		draw_events(c, l.events, s);
		return;
	}
	draw_fabric(c, l.fabric, s, v);
	draw_tiers(c, l.tiers, v);
	draw_hot(u, c, l.hot, s, v);
	draw_problems(u, c, l.problems, s, v);
	draw_jobs(u, ui, c, l.jobs, s, v);
	draw_events(c, l.events, s);
	if (s->automatic.on)
		draw_auto(c, r, s);
	else
		draw_hint(c, r);
}

static uint32_t pane_rows(const struct overview_ui *u, const struct survey *v)
{
	if (u->pane == PANE_HOT)
		return v->nhot;
	if (u->pane == PANE_PROBLEMS)
		return v->nproblem;
	return v->jobs ? v->jobs->njob : 0;
}

static void open_row(const struct overview_ui *u, struct ui *ui, const struct state *s)
{
	const struct survey *v = ui_survey(ui);
	uint32_t i = u->list[u->pane].cursor, chan;

	if (i >= pane_rows(u, v))
		return;
	if (u->pane == PANE_JOBS) {
		ui_goto(ui, VIEW_JOBS);
		return;
	}
	if (u->pane == PANE_PROBLEMS) {
		chan = fabric_port(s->fabric, v->problem_sw[i], v->problem_port[i])->chan;
		if (chan == FAB_NONE) {
			ui_say(ui, "this port leads to a host; the links view lists links between "
				   "switches");
			return;
		}
	} else {
		chan = v->hot[i];
	}
	ui_select_chan(ui, chan);
	ui_goto(ui, VIEW_LINKS);
}

static bool overview_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			   struct request *out)
{
	struct overview_ui *u = own;

	(void)out;
	if (in->req == REQ_PANE) {
		u->pane = (u->pane + 1) % PANE_COUNT;
		return true;
	}
	if (!s->fabric)
		return false;
	if (in->req == REQ_ENTER) {
		open_row(u, ui, s);
		return true;
	}
	return list_move(&u->list[u->pane], in->req, pane_rows(u, ui_survey(ui)));
}

static void overview_context(const void *own, const struct state *s, char *buf, size_t len)
{
	(void)own;
	snprintf(buf, len, "source: %s", s->source[0] ? s->source : "-");
}

const struct view view_overview = {
	.name = "Overview",
	.title = "Overview",
	.size = sizeof(struct overview_ui),
	.draw = overview_draw,
	.input = overview_input,
	.context = overview_context,
};
