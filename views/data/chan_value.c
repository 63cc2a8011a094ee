/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/chan_value.h"

#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>

const char *chan_metric_name(enum chan_metric m)
{
	static const char *const names[CHAN_METRICS] = {
		"utilisation",	"wait",	     "EFI",
		"job EFI",	"errors",    "virtual lanes",
		"unused links", "problems",  "utilisation change",
		"wait change",	"plan - now"
	};

	return names[m];
}

/* The plan has nothing that it could be held against. */
static bool chan_metrics_of_plan(const struct state *s)
{
	const struct plan_preview *p = state_plan(s);

	return !s->tables && !state_metrics(s) && p->after && !p->before;
}

const struct metrics *chan_metrics(const struct state *s)
{
	return chan_metrics_of_plan(s) ? state_plan(s)->after : state_metrics(s);
}

static bool chan_metric_is_of_paths(enum chan_metric m)
{
	return m == CHAN_EFI || m == CHAN_JOB_EFI || m == CHAN_DARK;
}

const char *chan_metric_title(char *buf, size_t len, enum chan_metric m, const struct state *s)
{
	const struct plan_preview *p = state_plan(s);
	const char *name = chan_metric_name(m);

	if (!chan_metric_is_of_paths(m) || state_metrics(s) || s->mode != RUN_FILE)
		snprintf(buf, len, "%s", name);
	else if (!chan_metrics(s))
		snprintf(buf, len, "%s%s", name, s->tables ? "" : " (Space in 6)");
	else if (p->engine < s->preview.nengines && s->preview.engines[p->engine].engine)
		snprintf(buf, len, "%s of plan %s", name,
			 s->preview.engines[p->engine].engine->name);
	else
		snprintf(buf, len, "%s of plan %s", name, p->id);
	return buf;
}

enum chan_metric chan_metric_first(enum chan_metric m, const struct state *s)
{
	if (s->mode != RUN_FILE || s->rates)
		return m;
	if (chan_metrics(s))
		return CHAN_EFI;
	return s->tables ? m : CHAN_PROBLEM;
}

static bool chan_metric_is_change(enum chan_metric m)
{
	return m == CHAN_UTIL_CHANGE || m == CHAN_WAIT_CHANGE;
}

enum chan_metric chan_metric_shown(enum chan_metric m, const struct state *s)
{
	return chan_metric_is_change(m) && !s->against ? CHAN_UTIL : m;
}

enum chan_metric chan_metric_next(enum chan_metric m, const struct state *s)
{
	do
		m++;
	while (chan_metric_is_change(m) && !s->against);
	return m;
}

struct chan_value chan_value_sign(char glyph, enum role role, uint8_t bad)
{
	return (struct chan_value){ .pct = NAN, .bad = bad, .glyph = glyph, .role = role };
}

/* How bad a share is; the order of chan_value_heat(). */
static uint8_t chan_value_share_bad(double pct)
{
	return isfinite(pct) ? (uint8_t)(2 + (pct > 100 ? 100 : pct > 0 ? pct : 0) * 2) : 1;
}

struct chan_value chan_value_heat(double pct, enum palette palette)
{
	int level;

	if (!isfinite(pct))
		return chan_value_sign('?', ROLE_DIM, 1);
	level = heat_level(pct);
	return (struct chan_value){ .pct = pct,
				    .bad = chan_value_share_bad(pct),
				    .glyph = heat_glyph(level),
				    .role = heat_role(palette, level) };
}

static struct chan_value chan_value_share(uint64_t part, uint64_t max, enum palette palette)
{
	return chan_value_heat((double)part * 100 / (double)(max ? max : 1), palette);
}

/* Hardly used, as no route leads there: that is to be seen. */
static struct chan_value chan_value_unless_dark(struct chan_value v, bool dark)
{
	if (dark && v.pct < 5)
		v.glyph = 'o';
	return v;
}

static bool chan_value_is_unrouted(const struct state *s, uint32_t chan)
{
	const struct metrics *k = state_metrics(s);

	return k && !k->efi[chan];
}

/* A change in per cent on the scale of what a plan changes. */
static struct chan_value chan_value_of_change(double pct, enum palette palette)
{
	int level;

	if (!isfinite(pct))
		return chan_value_sign('?', ROLE_DIM, 1);
	level = delta_level(pct);
	return (struct chan_value){ .pct = pct,
				    .bad = (uint8_t)fmin(250, 2 + fabs(pct) * 2),
				    .glyph = delta_glyph(level),
				    .role = delta_role(palette, level) };
}

/* Now less then. */
static struct chan_value chan_value_since(enum chan_metric m, enum palette palette,
					  const struct state *s, uint32_t port)
{
	const struct port_rate *now = state_rate(s, port), *then = state_rate_then(s, port);

	if (!now || !then)
		return chan_value_sign('?', ROLE_DIM, 1);
	return chan_value_of_change(m == CHAN_UTIL_CHANGE ? now->util_pct - then->util_pct
							  : now->wait_pct - then->wait_pct,
				    palette);
}

static struct chan_value chan_value_change(const struct state *s, enum palette palette,
					   uint32_t chan)
{
	const struct plan_preview *p = state_plan(s);
	bool jobs;
	uint64_t max;
	double pct;

	if (!p->before)
		return chan_value_sign('?', ROLE_DIM, 1);
	jobs = p->after->njob > 0;
	max = jobs ? p->before->eff_efi_max : p->before->efi_max;
	pct = ((double)(jobs ? p->after->eff_efi : p->after->efi)[chan] -
	       (double)(jobs ? p->before->eff_efi : p->before->efi)[chan]) /
	      (double)(max ? max : 1) * 100;
	return chan_value_of_change(pct, palette);
}

static struct chan_value chan_value_of_rate(enum chan_metric m, enum palette palette,
					    const struct state *s, uint32_t port)
{
	const struct port_rate *r = state_rate(s, port);

	if (!r)
		return chan_value_sign('?', ROLE_DIM, 1);
	if (m == CHAN_UTIL)
		return chan_value_heat(r->util_pct, palette);
	if (m == CHAN_WAIT)
		return chan_value_heat(r->wait_pct, palette);
	return chan_value_heat(history_errors_pct(r->errors_per_min),
			       palette); /* each tenfold is two levels */
}

/* How many lanes its routes are on, as a digit; and how evenly, as the colour. */
static struct chan_value chan_value_of_lanes(const struct link_usage *u, enum palette palette,
					     uint32_t chan)
{
	struct chan_value v;
	uint32_t n;

	if (!u || !u->lanes)
		return chan_value_sign('?', ROLE_DIM, 1);
	n = vl_usage_lanes(u->lanes, chan);
	if (!n)
		return chan_value_sign('o', ROLE_DIM, 2);
	v = chan_value_heat(100 * vl_usage_spread(u->lanes, chan), palette);
	v.glyph = (char)(n < 10 ? '0' + n : 'a' + n - 10);
	v.bad = (uint8_t)(10 + n * 10);
	return v;
}

static struct chan_value chan_value_of_problem(enum problem p)
{
	if (p == PROBLEM_NONE)
		return (struct chan_value){ .glyph = '.', .role = ROLE_DIM };
	return (struct chan_value){ .pct = 100,
				    .bad = (uint8_t)(100 + 20 * p),
				    .glyph = problem_glyph(p),
				    .role = p >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN };
}

/* Where nothing is down or silent, a channel is as bad as its utilisation, which is in a column. */
static bool chan_value_is_plain(enum chan_metric m, const struct state *s,
				const struct fabric_summary *v)
{
	return m == CHAN_UTIL && s->rates && !v->down && !v->no_reply && v->sample_summary &&
	       v->sample_summary->rates == s->rates;
}

struct chan_value chan_value_of(enum chan_metric m, enum palette palette, const struct state *s,
				const struct fabric_summary *v, uint32_t chan)
{
	const struct metrics *k;
	enum problem p;
	uint32_t port;

	if (chan_value_is_plain(m, s, v))
		return chan_value_unless_dark(
			chan_value_heat(v->sample_summary->util[chan], palette),
			chan_value_is_unrouted(s, chan));
	port = chan_fabric_port(s->fabric, chan);
	p = (enum problem)v->problem[port];
	if (m == CHAN_PROBLEM)
		return chan_value_of_problem(p);
	if (p == PROBLEM_DOWN)
		return chan_value_sign('x', ROLE_BAD, 255);
	if (m == CHAN_DELTA)
		return chan_value_change(s, palette, chan);
	if (m == CHAN_LANES)
		return chan_value_of_lanes(state_usage(s), palette, chan);
	if (chan_metric_is_change(m))
		return p == PROBLEM_NO_REPLY ? chan_value_sign('!', ROLE_WARN, 60)
					     : chan_value_since(m, palette, s, port);
	k = chan_metrics(s);
	if (m < CHAN_EFI || m == CHAN_ERRORS)
		return p == PROBLEM_NO_REPLY ? chan_value_sign('!', ROLE_WARN, 60)
		       : m == CHAN_UTIL
			       ? chan_value_unless_dark(chan_value_of_rate(m, palette, s, port),
							chan_value_is_unrouted(s, chan))
			       : chan_value_of_rate(m, palette, s, port);
	if (!k || (m != CHAN_EFI && !k->njob))
		return chan_value_sign('?', ROLE_DIM, 1);
	if (m == CHAN_DARK)
		return k->eff_efi[chan] ? (struct chan_value){ .glyph = '.', .role = ROLE_DIM }
					: chan_value_sign('o', ROLE_WARN, 100);
	return m == CHAN_EFI
		       ? chan_value_unless_dark(chan_value_share(k->efi[chan], k->efi_max, palette),
						!k->efi[chan])
		       : chan_value_unless_dark(
				 chan_value_share(k->eff_efi[chan], k->eff_efi_max, palette),
				 !k->eff_efi[chan]);
}

static uint32_t chan_value_most_used(const double *util, const uint32_t *chan, uint32_t n)
{
	uint32_t worst = 0;
	double most = -1;

	for (uint32_t i = 0; i < n; i++)
		if (util[chan[i]] > most) { /* not what is unknown */
			most = util[chan[i]];
			worst = i;
		}
	return worst;
}

uint32_t chan_worst(enum chan_metric m, enum palette palette, const struct state *s,
		    const struct fabric_summary *v, const uint32_t *chan, uint32_t n)
{
	uint32_t worst = 0;
	int bad = -1;

	if (chan_value_is_plain(m, s, v))
		return chan_value_most_used(v->sample_summary->util, chan, n);
	for (uint32_t i = 0; i < n && bad < 255; i++) {
		int b = chan_value_of(m, palette, s, v, chan[i]).bad;

		if (b <= bad)
			continue;
		bad = b;
		worst = i;
	}
	return worst;
}

static int chan_value_legend_levels(enum palette palette, enum heat_quiet quiet, struct canvas *c,
				    struct rect r, int x, int y)
{
	static const char *const limits[] = {
		"<5", "<15", "<30", "<45", "<60", "<75", "<90", ">=90"
	};

	for (int l = 0; l < HEAT_LEVELS; l++) {
		enum role role = heat_role(palette, l);

		x = canvas_textf(c, r, x, y, fill_role(heat_role_quiet(role, quiet)), "%c%s ",
				 heat_glyph(l), limits[l]);
	}
	return x;
}

/* As many as have room, whole: "!=no" would be something else. */
static void chan_value_legend_signs(enum chan_metric m, struct canvas *c, struct rect r, int x,
				    int y)
{
	static const char *const signs[] = { "o=unused", "x=down", "!=no reply", "?=unknown",
					     " blank=no link" };

	x = canvas_text(c, r, x, y, ROLE_DIM,
			m == CHAN_UTIL ? "%"
			: m < CHAN_EFI ? "% "
				       : "% of max ");
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if ((i == 0 && m == CHAN_WAIT) || (i == 2 && m >= CHAN_EFI))
			continue;
		if (x + 1 + text_width(signs[i]) > r.w)
			return;
		x = canvas_textf(c, r, x, y, ROLE_DIM, " %s", signs[i]);
	}
}

void chan_value_legend(enum chan_metric m, enum palette palette, enum heat_quiet quiet,
		       const struct state *s, struct canvas *c, struct rect r, int y)
{
	int x = 1;

	switch (m) {
	case CHAN_DELTA:
		for (int l = -3; l <= 3; l++)
			x = canvas_textf(c, r, x, y, fill_role(delta_role(palette, l)), "%c ",
					 delta_glyph(l));
		canvas_text(c, r, x, y, ROLE_DIM,
			    " fewer .. more paths: over 2, 15, 40 % of current max");
		return;
	case CHAN_UTIL_CHANGE:
	case CHAN_WAIT_CHANGE:
		for (int l = -3; l <= 3; l++)
			x = canvas_textf(c, r, x, y, fill_role(delta_role(palette, l)), "%c ",
					 delta_glyph(l));
		canvas_text(c, r, x, y, ROLE_DIM, " less .. more than then: over 2, 15, 40 points");
		return;
	case CHAN_DARK:
		canvas_text(c, r, x, y, ROLE_DIM,
			    "o unused: no path between hosts of a job   . "
			    "used");
		return;
	case CHAN_PROBLEM:
		canvas_textf(c, r, x, y, ROLE_DIM,
			     "x down  ! no reply  s errors  ~ reduced  . no problem%s",
			     s->mode == RUN_FILE && !s->tables && !chan_metrics(s)
				     ? "  EFI: Space in 6"
				     : "");
		return;
	case CHAN_LANES:
		canvas_text(c, r, x, y, ROLE_DIM,
			    "1-9 VLs in use, colour: share not on the busiest VL  o no path  "
			    "?=unknown");
		return;
	case CHAN_ERRORS:
		x = canvas_text(c, r, x, y, ROLE_TEXT, ". none  ");
		for (int l = 2; l < HEAT_LEVELS; l++)
			x = canvas_textf(c, r, x, y, fill_role(heat_role(palette, l)), "%c ",
					 heat_glyph(l));
		canvas_text(c, r, x, y, ROLE_DIM,
			    "errors per minute, low to high  x=down !=no "
			    "reply");
		return;
	default:
		x = chan_value_legend_levels(palette, quiet, c, r, x, y);
		chan_value_legend_signs(m, c, r, x, y);
	}
}
