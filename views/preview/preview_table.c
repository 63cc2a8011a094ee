/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_table.h"

#include "views/canvas/text.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_WIDTH  17
#define COLUMN	    8
#define CHANGE	    7  /* beside the figure of each of several */
#define TABLE_WIDTH 72 /* wider is harder to read */

enum better { LESS, MORE };

enum figure {
	UNREACHABLE,
	TIME,
	TIME_MAX,
	TIME_S,
	SYNC,
	IO_TIME,
	IO_EFI,
	EFI_MAX,
	EFI_MEAN,
	EFI_SPREAD,
	JOB_EFI,
	IN_A_JOB,
	DARK,
	LINKS,
	HOPS_MAX,
	HOPS_MEAN,
	VLS,
	UTIL,
	BISECTION,
	SLOWDOWN,
	SLOWEST,
	LOOPS,
	FIGURES
};

static const struct {
	const char *name;
	int digits;
	enum better better;
	bool tall;
} figures[FIGURES] = {
	[TIME] = { "mean job time x", 2, LESS, false },
	[TIME_MAX] = { "max job time x", 2, LESS, false },
	[TIME_S] = { "job time ms/MiB", 3, LESS, true },
	[IO_TIME] = { "mean I/O time x", 2, LESS, false },
	[IO_EFI] = { "max I/O EFI", 0, LESS, true },
	[SYNC] = { "shift efficiency %", 1, MORE, false },
	[EFI_MAX] = { "max EFI", 0, LESS, false },
	[EFI_MEAN] = { "mean EFI", 1, LESS, true },
	[EFI_SPREAD] = { "EFI std. dev.", 1, LESS, true },
	[JOB_EFI] = { "max job EFI", 0, LESS, false },
	[IN_A_JOB] = { "mean per-job EFI", 1, LESS, true },
	[DARK] = { "unused links %", 1, LESS, false },
	[LINKS] = { "links per job", 1, MORE, true },
	[HOPS_MAX] = { "max hops", 0, LESS, false },
	[HOPS_MEAN] = { "mean hops", 2, LESS, false },
	[UNREACHABLE] = { "unreachable pairs", 0, LESS, false },
	[VLS] = { "VLs used", 0, LESS, false },
	[UTIL] = { "max util %, pred.", 0, LESS, false },
	[BISECTION] = { "bisection BW %", 1, MORE, false },
	[SLOWDOWN] = { "mean slowdown x", 2, LESS, false },
	[SLOWEST] = { "max slowdown x", 2, LESS, true },
	[LOOPS] = { "credit loops", 0, LESS, false },
};

static bool preview_table_timed(enum figure f)
{
	return f >= TIME && f <= IO_EFI;
}

/* Times and loads of a routing that loses messages are no match for those of one that does not. */
static bool preview_table_lacks_paths(const struct plan_preview *x)
{
	return x->before && x->before->unreachable > x->after->unreachable;
}

static bool preview_table_comparable(const struct plan_preview *x, enum figure f)
{
	return !preview_table_lacks_paths(x) || f == UNREACHABLE || f == VLS || f == LOOPS;
}

static double preview_table_of_metrics(const struct metrics *m, enum figure f, bool vls_known)
{
	bool jobs = m && m->njob;

	if (!m)
		return NAN;
	switch (f) {
	case EFI_MAX:
		return (double)m->efi_max;
	case EFI_MEAN:
		return m->efi_mean;
	case EFI_SPREAD:
		return m->efi_stddev;
	case JOB_EFI:
		return jobs ? (double)m->eff_efi_max : NAN;
	case IN_A_JOB:
		return jobs ? m->job_efi_max_mean : NAN;
	case DARK:
		return jobs ? m->dark_fiber_pct : NAN;
	case LINKS:
		return jobs ? m->links_per_job_mean : NAN;
	case HOPS_MAX:
		return m->hops_max;
	case HOPS_MEAN:
		return m->hops_mean;
	case UNREACHABLE:
		return (double)m->unreachable;
	case VLS:
		return vls_known ? m->vls_used : NAN;
	default:
		return NAN;
	}
}

/* on_its_way: what is not known yet is being computed (infinity). */
static double preview_table_of_forecast(const struct forecast *p, const struct traffic *t,
					enum figure f, bool on_its_way)
{
	double none = on_its_way ? INFINITY : NAN;

	switch (f) {
	case UTIL:
		return t->known ? t->util_max : none;
	case BISECTION:
		return p->known ? p->ebb * 100 : none;
	case SLOWDOWN:
		return !p->known ? none : p->jobs ? p->slowdown_mean : NAN;
	case SLOWEST:
		return !p->known ? none : p->jobs ? p->slowdown_max : NAN;
	default:
		return NAN;
	}
}

static double preview_table_of_time(const struct time_summary *t, enum figure f)
{
	const struct pattern_time *jobs = &t->of[PREDICT_ALLTOALL];

	if (f == SYNC)
		return t->known && t->shift.flows ? t->shift.sync.mean * 100 : NAN;
	if (f == IO_TIME || f == IO_EFI)
		return !t->io.nodes ? NAN : f == IO_TIME ? t->io.mean.mean : (double)t->io.efi_max;
	if (!t->known || !t->jobs)
		return NAN;
	if (f == TIME_S)
		return 1e3 * jobs->s_per_MiB;
	return f == TIME ? jobs->mean.mean : jobs->worst.mean;
}

/* What its LIDs give messages of one size; NAN: that depends on no LID, or is not known of them. */
static double preview_table_of_efi(const struct message_efi *e, const struct metrics *m,
				   enum figure f)
{
	bool jobs = m && m->njob;

	switch (f) {
	case EFI_MAX:
		return e->efi_max;
	case JOB_EFI:
		return jobs ? e->eff_efi_max : NAN;
	case IN_A_JOB:
		return jobs ? e->job_efi_max_mean : NAN;
	case DARK:
		return jobs ? e->dark_fiber_pct : NAN;
	case HOPS_MAX:
		return e->hops_max;
	case HOPS_MEAN:
		return e->hops_mean;
	default:
		return NAN;
	}
}

static bool preview_table_by_size(const struct plan_preview *x)
{
	return x->messages && x->messages->known;
}

/* Does it depend on the LID that a message takes, so that the table tells it by size? */
static bool preview_table_sized(enum figure f)
{
	return preview_table_timed(f) || f == EFI_MAX || f == JOB_EFI || f == IN_A_JOB ||
	       f == DARK || f == HOPS_MAX || f == HOPS_MEAN;
}

static double preview_table_now_sized(const struct plan_preview *x, enum figure f,
				      enum message_size size)
{
	if (!x->before)
		return NAN;
	return preview_table_timed(f)
		       ? preview_table_of_time(&x->messages->now[size].time, f)
		       : preview_table_of_efi(&x->messages->now[size].efi, x->before, f);
}

static double preview_table_plan_sized(const struct plan_preview *x, enum figure f,
				       enum message_size size)
{
	return preview_table_timed(f)
		       ? preview_table_of_time(&x->messages->plan[size].time, f)
		       : preview_table_of_efi(&x->messages->plan[size].efi, x->after, f);
}

static double preview_table_now_of(const struct state *s, const struct plan_preview *x,
				   enum figure f)
{
	if (preview_table_by_size(x) && preview_table_sized(f))
		return preview_table_now_sized(x, f, MESSAGES_LARGE);
	if (preview_table_timed(f))
		return preview_table_lacks_paths(x) ? NAN : preview_table_of_time(&x->time_now, f);
	if (f >= UTIL && f <= SLOWEST)
		return preview_table_of_forecast(&x->now, &x->traffic_now, f, x->forecasting);
	if (f == LOOPS)
		return s->verdict ? !s->verdict->deadlock_free : NAN;
	return preview_table_of_metrics(x->before, f, s->sls_known);
}

static double preview_table_plan_of(const struct plan_preview *x, enum figure f)
{
	if (preview_table_by_size(x) && preview_table_sized(f))
		return preview_table_plan_sized(x, f, MESSAGES_LARGE);
	if (preview_table_timed(f))
		return preview_table_of_time(&x->time_plan, f);
	if (f >= UTIL && f <= SLOWEST)
		return preview_table_of_forecast(&x->plan, &x->traffic_plan, f, x->forecasting);
	if (f == LOOPS)
		return x->verdict ? !x->verdict->deadlock_free : NAN;
	return preview_table_of_metrics(x->after, f, true);
}

static const char *preview_table_number(char buf[FIGURE_LEN], double v, enum figure f)
{
	if (isnan(v))
		return strcpy(buf, "-");
	if (isinf(v)) /* on its way */
		return strcpy(buf, "...");
	if (f == LOOPS)
		return strcpy(buf, v > 0 ? "yes" : "none");
	if (!figures[f].digits || v >= 1e4)
		return v < 1e6 ? figure_count(buf, (uint64_t)(v + 0.5))
			       : figure_short(buf, (uint64_t)v);
	snprintf(buf, FIGURE_LEN, "%.*f", figures[f].digits, v);
	return buf;
}

static bool preview_table_shown(const struct state *s, enum figure f, bool tall)
{
	const struct plan_preview *x = state_plan(s);
	bool missing = x->after->unreachable || (x->before && x->before->unreachable);

	if (f == UNREACHABLE || f == HOPS_MAX)
		return missing == (f == UNREACHABLE);
	if ((f == IO_TIME || f == IO_EFI) && !x->time_plan.io.nodes)
		return false;
	return tall || !figures[f].tall;
}

static void preview_table_draw_name(const struct state *s, struct canvas *c, struct rect r, int y,
				    enum figure f)
{
	const struct metrics *m = state_plan(s)->after;
	char bound[FIGURE_LEN];

	if (f == JOB_EFI && m->njob)
		canvas_textf(c, r, 1, y, ROLE_TEXT, "job EFI, bound %s",
			     figure_short(bound, m->eff_efi_bound));
	else
		canvas_text(c, r, 1, y, ROLE_TEXT, figures[f].name);
}

/* Loops on SL 0 need not be there: switches do not tell the SLs. */
static void preview_table_draw_now(const struct state *s, struct canvas *c, struct rect r, int end,
				   int y, enum figure f, double v)
{
	char buf[FIGURE_LEN];

	if (f == LOOPS && v > 0 && !s->sls_known)
		canvas_right(c, r, end, y, ROLE_WARN, "on SL 0");
	else
		canvas_right(c, r, end, y, f == LOOPS && v > 0 ? ROLE_BAD : ROLE_TEXT,
			     preview_table_number(buf, v, f));
}

/* Against now, "" where there is nothing to tell; buf has 16 bytes.  True: the same. */
static bool preview_table_change(char *buf, enum figure f, double now, double plan)
{
	double change = (plan - now) / (fabs(now) > 0 ? fabs(now) : 1) * 100;
	bool same = fabs(change) < 0.5;

	buf[0] = '\0';
	if (!isfinite(change) || f == LOOPS)
		return false;
	if (same)
		snprintf(buf, 16, "0%%");
	else if (fabs(change) < 999.5)
		snprintf(buf, 16, "%+.0f%%", change);
	else
		snprintf(buf, 16, "x%.0f", plan / (now > 0 ? now : 1));
	return same;
}

/* One plan: what changes, in words too. */
static void preview_table_draw_change(struct canvas *c, struct rect r, int end, int y,
				      enum figure f, double now, double plan)
{
	char pct[16];
	bool same = preview_table_change(pct, f, now, plan);
	bool good = figures[f].better == LESS ? plan < now : plan > now;
	enum role role = same ? ROLE_DIM : good ? ROLE_GOOD : ROLE_WARN;

	if (!pct[0])
		return;
	canvas_right(c, r, end - 7, y, role, pct);
	canvas_right(c, r, end, y, role, same ? "same" : good ? "better" : "worse");
}

/* Of what changes, with its words; a very narrow table leaves it out. */
static int preview_table_change_width(struct rect r)
{
	return r.w >= NAME_WIDTH + 31 ? 14 : 0;
}

static void preview_table_draw_alone(const struct state *s, struct canvas *c, struct rect r, int y,
				     enum figure f)
{
	const struct plan_preview *x = state_plan(s);
	double now = preview_table_now_of(s, x, f), plan = preview_table_plan_of(x, f);
	char buf[FIGURE_LEN];
	int end = r.w - 1, change = preview_table_change_width(r);

	preview_table_draw_now(s, c, r, end - change - 10, y, f, now);
	canvas_right(c, r, end - change, y, f == LOOPS && plan > 0 ? ROLE_BAD : ROLE_TEXT,
		     preview_table_number(buf, plan, f));
	if (change && preview_table_comparable(x, f))
		preview_table_draw_change(c, r, end, y, f, now, plan);
}

/* One plan with a choice of LIDs: what messages get by their size.  Forecasts are of large ones,
 * what depends on no LID is told once. */
static void preview_table_draw_sizes(const struct state *s, struct canvas *c, struct rect r, int y,
				     enum figure f)
{
	const struct plan_preview *x = state_plan(s);
	bool sized = preview_table_sized(f);
	enum message_size only = f >= UTIL && f <= SLOWEST ? MESSAGES_LARGE : MESSAGES_BASE;
	int end = NAME_WIDTH + COLUMN;

	preview_table_draw_now(s, c, r, end, y, f, preview_table_now_of(s, x, f));
	for (int i = 0; i < MESSAGE_SIZES; i++) {
		enum message_size size = (enum message_size)i;
		double now =
			sized ? preview_table_now_sized(x, f, size) : preview_table_now_of(s, x, f);
		double plan =
			sized ? preview_table_plan_sized(x, f, size) : preview_table_plan_of(x, f);
		bool better = figures[f].better == LESS ? plan < now : plan > now;
		char buf[FIGURE_LEN];
		enum role role = !isfinite(now) || !preview_table_comparable(x, f) ||
						 fabs(plan - now) <= .005 * fabs(now)
					 ? ROLE_TEXT
				 : better ? ROLE_GOOD
					  : ROLE_WARN;

		end += COLUMN;
		if (!sized && size != only)
			continue;
		canvas_right(c, r, end, y, f == LOOPS && plan > 0 ? ROLE_BAD : role,
			     preview_table_number(buf, plan, f));
	}
}

/* Columns of several: which are in sight. */
struct plan_columns {
	uint32_t first, n;
	int change; /* cells of each for its change; 0: no room */
};

/* All of them with their changes, or as many as fit without. */
static struct plan_columns preview_table_columns(const struct state *s, int width)
{
	int room = width - NAME_WIDTH - COLUMN - 1, fit = room / COLUMN;
	struct plan_columns k = { .n = s->preview.n };

	if ((int)k.n * (COLUMN + CHANGE) <= room)
		k.change = CHANGE;
	if (fit < 1)
		fit = 1;
	if (k.n > (uint32_t)fit)
		k.n = (uint32_t)fit;
	if (s->preview.at >= k.n)
		k.first = s->preview.at + 1 - k.n;
	return k;
}

static bool preview_table_as_good(double a, double b, enum figure f)
{
	return figures[f].better == LESS ? a <= b : a >= b;
}

/* Of all, in sight or not; NAN: all are alike, so none is the best. */
static double preview_table_best_of(const struct state *s, enum figure f)
{
	const struct state_preview *p = &s->preview;
	double best = NAN, worst = NAN;

	for (uint32_t i = 0; i < p->n; i++) {
		double v = preview_table_plan_of(&p->list[i], f);

		if (!isfinite(v))
			continue;
		if (isnan(best) || preview_table_as_good(v, best, f))
			best = v;
		if (isnan(worst) || preview_table_as_good(worst, v, f))
			worst = v;
	}
	return best == worst ? NAN : best;
}

/* Against now: the same within half a per cent is neither. */
static enum role preview_table_change_role(double now, double plan, enum figure f)
{
	if (f == LOOPS)
		return plan > 0 ? ROLE_BAD : now > 0 ? ROLE_GOOD : ROLE_TEXT;
	if (!isfinite(now) || !isfinite(plan) || fabs(plan - now) <= .005 * fabs(now))
		return ROLE_TEXT;
	return preview_table_as_good(plan, now, f) ? ROLE_GOOD : ROLE_WARN;
}

static void preview_table_draw_several(const struct state *s, struct canvas *c, struct rect r,
				       int y, enum figure f, struct plan_columns k)
{
	double best = preview_table_best_of(s, f), now = preview_table_now_of(s, state_plan(s), f);
	int x = NAME_WIDTH + COLUMN;

	preview_table_draw_now(s, c, r, x, y, f, now);
	for (uint32_t i = 0; i < k.n; i++) {
		uint32_t at = k.first + i;
		double v = preview_table_plan_of(&s->preview.list[at], f);
		char buf[FIGURE_LEN], pct[16];
		bool comparable = preview_table_comparable(&s->preview.list[at], f);
		enum role role = comparable ? preview_table_change_role(now, v, f) : ROLE_TEXT;

		x += COLUMN;
		canvas_right(c, r, x - 1, y, role, preview_table_number(buf, v, f));
		if (k.change && comparable)
			canvas_right(c, r, x + k.change - 1, y,
				     preview_table_change(pct, f, now, v) ? ROLE_DIM : role, pct);
		/* the least bad one is not the best */
		if (v == best && (role == ROLE_GOOD || !isfinite(now)))
			canvas_text(c, r, x - 1, y, ROLE_GOOD, "*");
		x += k.change;
	}
}

static const char *preview_table_engine_of(const struct state *s, const struct plan_preview *x)
{
	return x->engine < s->preview.nengines ? s->preview.engines[x->engine].engine->name
	       : x->tables		       ? x->tables->engine
					       : "?";
}

/* The name of the file that it was read from, without folders; "" it was computed. */
static const char *preview_table_file_of(const struct plan_preview *x)
{
	const char *path = x->files && x->files->n ? x->files->file[0].path : "";
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The routing that it is compared with. */
static const char *preview_table_from(const struct state *s, const struct plan_preview *x)
{
	const struct tables *from = x->stale[0] ? x->from : s->tables;

	return from ? from->engine : "?";
}

static int preview_table_draw_heads(const struct state *s, struct canvas *c, struct rect r, int y,
				    struct plan_columns k)
{
	int x = NAME_WIDTH + COLUMN;

	canvas_right(c, r, x - 1, y, ROLE_LABEL, plan_preview_when(state_plan(s)));
	canvas_textf(c, r, 1, y, ROLE_KEY, k.n < s->preview.n ? "%s %s: more" : "%s %s: choose",
		     key_hint("left"), key_hint("right"));
	hint_click_mark(c, (struct rect){ r.x, r.y, NAME_WIDTH, r.h }, y, 1);
	canvas_right(c, r, x, y + 1, ROLE_LABEL, preview_table_from(s, state_plan(s)));
	canvas_text(c, r, 1, y + 1, ROLE_LABEL, "* best");
	for (uint32_t i = 0; i < k.n; i++) {
		const struct plan_preview *p = &s->preview.list[k.first + i];
		bool on = k.first + i == s->preview.at;
		char id[16], name[COLUMN];

		x += COLUMN;
		snprintf(id, sizeof(id), on ? ">%s%s" : "%s%s ", p->id, p->stale[0] ? "!" : "");
		snprintf(name, sizeof(name), "%.7s", preview_table_engine_of(s, p));
		canvas_right(c, r, x, y, p->stale[0] ? ROLE_WARN : on ? ROLE_KEY : ROLE_LABEL, id);
		canvas_right(c, r, x - 1, y + 1, on ? ROLE_KEY : ROLE_LABEL, name);
		if (k.change)
			canvas_right(c, r, x + k.change - 1, y + 1, ROLE_LABEL, "change");
		x += k.change;
	}
	return y + 2;
}

static int preview_table_draw_head(const struct state *s, struct canvas *c, struct rect r, int y)
{
	int end = r.w - 1, change = preview_table_change_width(r);

	canvas_text(c, r, 1, y, ROLE_LABEL, "metric");
	canvas_right(c, r, end - change - 10, y, ROLE_LABEL, plan_preview_when(state_plan(s)));
	canvas_right(c, r, end - change, y, ROLE_LABEL, state_plan(s)->id);
	if (change)
		canvas_right(c, r, end - 7, y, ROLE_LABEL, "change");
	return y + 1;
}

static int preview_table_draw_size_heads(const struct state *s, struct canvas *c, struct rect r,
					 int y)
{
	int end = NAME_WIDTH + COLUMN;

	canvas_text(c, r, 1, y, ROLE_LABEL, "messages");
	canvas_right(c, r, end, y, ROLE_LABEL, plan_preview_when(state_plan(s)));
	for (int size = 0; size < MESSAGE_SIZES; size++)
		canvas_right(c, r, end += COLUMN, y, ROLE_LABEL,
			     message_size_name((enum message_size)size));
	if (state_plan(s)->messages->chosen_now)
		canvas_text(c, r, end + 2, y, ROLE_DIM, "now: large");
	return y + 1;
}

/* The names of both routings come first, then its age, then how long it took. */
static void preview_table_draw_title(const struct state *s, struct canvas *c, struct rect r)
{
	const struct plan_preview *p = state_plan(s);
	char title[320], how[160], took[FIGURE_LEN], age[FIGURE_LEN], file[100],
		more[2][64] = { 0 };
	int n;

	if (*preview_table_file_of(p)) {
		snprintf(how, sizeof(how), "file %s",
			 text_shorten(file, sizeof(file), preview_table_file_of(p), 24));
	} else {
		snprintf(how, sizeof(how), "%s -> %s", preview_table_from(s, p),
			 preview_table_engine_of(s, p));
		snprintf(more[0], sizeof(more[0]), ", took %s", figure_age(took, p->seconds));
	}
	if (p->made_s)
		snprintf(more[1], sizeof(more[1]), ", %s old",
			 figure_age(age, (double)(s->now_s - p->made_s)));
	for (n = 0; n < 3; n++) {
		snprintf(title, sizeof(title), "%s%s: %s%s%s", p->id, p->stale[0] ? " STALE" : "",
			 how, n ? "" : more[0], n > 1 ? "" : more[1]);
		if (text_width(title) <= r.w - 6)
			break;
	}
	canvas_rule(c, r, 0, title);
}

int preview_table_draw(const struct state *s, struct canvas *c, struct rect r, bool tall)
{
	bool several = s->preview.n > 1, sizes = !several && preview_table_by_size(state_plan(s));
	struct plan_columns k;
	int y;

	if (r.w > TABLE_WIDTH)
		r.w = TABLE_WIDTH;
	k = preview_table_columns(s, r.w);
	preview_table_draw_title(s, c, r);
	y = several ? preview_table_draw_heads(s, c, r, 1, k)
	    : sizes ? preview_table_draw_size_heads(s, c, r, 1)
		    : preview_table_draw_head(s, c, r, 1);
	for (int f = 0; f < FIGURES; f++) {
		if (!preview_table_shown(s, (enum figure)f, tall))
			continue;
		preview_table_draw_name(s, c, r, y, (enum figure)f);
		if (several)
			preview_table_draw_several(s, c, r, y, (enum figure)f, k);
		else if (sizes)
			preview_table_draw_sizes(s, c, r, y, (enum figure)f);
		else
			preview_table_draw_alone(s, c, r, y, (enum figure)f);
		y++;
	}
	return y;
}
