/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_idle.h"

#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"
#include "views/data/state/key_hint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MORE_FROM_LINES 22 /* more than 80x24 has */
#define MORE_AT		11 /* line, behind the words */
#define AT_VALUE	15 /* column, behind a label or the name of an engine */
#define BAR_AT		16

static void preview_idle_draw_words(const struct state *s, struct canvas *c, struct rect r)
{
	char text[KEY_HINT_TEXT];

	canvas_rule(c, r, 0, "Preview");
	canvas_wrap(c, r, 1, 2, ROLE_TEXT,
		    key_hint_text(
			    text, sizeof(text),
			    "Choose an engine on the left and press {tag} or Enter. It computes "
			    "a plan: another routing for this fabric and its jobs. This pane then "
			    "shows what would get better or worse, and how many entries would be "
			    "written."));
	canvas_wrap(c, r, 1, 7, ROLE_TEXT, "This does not change anything in the fabric.");
	if (!s->tables)
		canvas_wrap(c, r, 1, 9, ROLE_WARN,
			    "The installed tables are unknown: there is nothing to compare with.");
	else if (!state_vls_known(s))
		canvas_wrap(c, r, 1, 9, ROLE_WARN,
			    s->mode == RUN_FILE
				    ? "This snapshot has no SL2VL tables: there is nothing to "
				      "compare with."
				    : "The SL2VL tables are not read yet: a preview started now "
				      "waits for them.");
}

/* --- the routing in use ---------------------------------------------------------------------- */

static int preview_idle_put(struct canvas *c, struct rect r, int y, const char *label,
			    const char *value)
{
	canvas_text(c, r, 1, y, ROLE_LABEL, label);
	canvas_text(c, r, AT_VALUE, y, ROLE_TEXT, value);
	return y + 1;
}

static int preview_idle_draw_time(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct pattern_time *jobs = &s->time.of[PREDICT_ALLTOALL];
	char text[160], id[JOB_ID_LEN];

	if (s->time.known && s->time.jobs) {
		snprintf(text, sizeof(text), "mean %.2fx, max %.2fx (job %s)", jobs->mean.mean,
			 jobs->worst.mean, jobset_id_text(id, s->metrics_jobs, jobs->worst_job));
		y = preview_idle_put(c, r, y, "job time", text);
	}
	if (s->time.known && s->time.shift.flows) {
		snprintf(text, sizeof(text), "%.1f%% efficiency", s->time.shift.sync.mean * 100);
		y = preview_idle_put(c, r, y, "shifts", text);
	}
	return y;
}

static int preview_idle_draw_efi(const struct metrics *m, struct canvas *c, struct rect r, int y)
{
	char max[FIGURE_LEN], bound[FIGURE_LEN], text[160];

	if (m->njob) {
		snprintf(text, sizeof(text), "max %s, bound %s", figure_count(max, m->eff_efi_max),
			 figure_count(bound, m->eff_efi_bound));
		y = preview_idle_put(c, r, y, "job EFI", text);
	}
	snprintf(text, sizeof(text), "max %s, mean %.1f", figure_count(max, m->efi_max),
		 m->efi_mean);
	y = preview_idle_put(c, r, y, "EFI", text);
	if (m->njob) {
		snprintf(text, sizeof(text), "%u of %u (%.1f%%)", m->dark, m->nchan,
			 m->dark_fiber_pct);
		y = preview_idle_put(c, r, y, "unused links", text);
	}
	snprintf(text, sizeof(text), "mean %.2f, max %u", m->hops_mean, m->hops_max);
	return preview_idle_put(c, r, y, "hops", text);
}

/* Those in use, and those that the links have. */
static int preview_idle_draw_vls(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct metrics *m = state_metrics(s);
	unsigned offered = fabric_min_op_vls(s->fabric);
	char text[160], links[64] = "", why[64];

	if (offered)
		snprintf(links, sizeof(links), ", every link has %u", offered);
	if (!state_vls_known(s))
		snprintf(text, sizeof(text), "%s%s", state_no_vls(why, sizeof(why), s), links);
	else if (m)
		snprintf(text, sizeof(text), "%u in use%s%s", m->vls_used, links,
			 s->sls_known ? "" : " (SLs unknown)");
	else
		snprintf(text, sizeof(text), "-%s", links);
	y = preview_idle_put(c, r, y, "VLs", text);
	snprintf(text, sizeof(text), "%u: %u LID%s for each host", s->fabric->lmc,
		 1u << s->fabric->lmc, plural(1u << s->fabric->lmc));
	return preview_idle_put(c, r, y, "LMC", text);
}

static int preview_idle_draw_routing(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct metrics *m = state_metrics(s);
	char title[64];

	if (!s->fabric || !state_tables(s))
		return y;
	snprintf(title, sizeof(title), "Routing in use: %.40s",
		 s->tables->engine[0] ? s->tables->engine : "?");
	canvas_rule(c, r, y++, title);
	if (m) {
		y = preview_idle_draw_time(s, c, r, y);
		y = preview_idle_draw_efi(m, c, r, y);
	} else {
		canvas_text(c, r, 1, y++, ROLE_DIM,
			    s->metrics_busy ? "computing routing metrics" : "no metrics yet");
	}
	return preview_idle_draw_vls(s, c, r, y) + 1;
}

/* --- the engines ----------------------------------------------------------------------------- */

/* What it is for, and why not for this fabric; returns the lines that takes, also with h 0. */
static int preview_idle_draw_engine(const struct engine_choice *e, struct canvas *c, struct rect r,
				    int y)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	int n;

	canvas_textf(c, in, 1, y, e->suits ? ROLE_TEXT : ROLE_DIM, "%.12s", e->engine->name);
	n = canvas_wrap(c, in, AT_VALUE, y, e->suits ? ROLE_TEXT : ROLE_DIM, e->engine->summary);
	if (!e->suits)
		n += canvas_wrap(c, in, AT_VALUE, y + n, ROLE_WARN, e->why);
	return n;
}

/* All of them, or none where there is no room for all.  Returns the line behind them. */
static int preview_idle_draw_engines(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_preview *p = &s->preview;
	const struct rect none = { r.x, r.y, r.w, 0 };
	int need = 1;

	for (uint32_t i = 0; i < p->nengines; i++)
		need += preview_idle_draw_engine(&p->engines[i], c, none, y);
	if (!p->nengines || y + need > r.h)
		return y;
	canvas_rule(c, r, y++, "Engines: what they are for");
	for (uint32_t i = 0; i < p->nengines; i++)
		y += preview_idle_draw_engine(&p->engines[i], c, r, y);
	return y + 1;
}

/* --- how it loads the links ------------------------------------------------------------------ */

#define BUCKETS 8

/* Logarithmic, so that one link alone is still seen. */
static void preview_idle_draw_bar(struct canvas *c, struct rect r, int y, uint32_t n, uint32_t all)
{
	int width = r.w - BAR_AT - 10, bar = 0;

	if (n)
		bar = 1 + (int)lround((width - 1) * log2(1 + n) / log2(2 + all));
	for (int k = 0; k < bar; k++)
		canvas_char(c, r, BAR_AT + k, y, ROLE_HEAT + 3, '#');
	canvas_textf(c, r, BAR_AT + bar, y, ROLE_DIM, " %u", n);
}

static void preview_idle_draw_links(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct metrics *m = state_metrics(s);
	uint32_t count[BUCKETS] = { 0 };
	uint64_t width, max;

	if (!m || !state_tables(s) || y + 1 + BUCKETS > r.h)
		return;
	max = m->njob ? m->eff_efi_max : m->efi_max;
	width = max / BUCKETS + 1;
	for (uint32_t i = 0; i < m->nchan; i++)
		count[(m->njob ? m->eff_efi : m->efi)[i] / width]++;
	canvas_rule(c, r, y++,
		    m->njob ? "Links by job EFI (log scale)" : "Links by EFI (log scale)");
	for (uint32_t i = 0; i < BUCKETS && i * width <= max; i++, y++) {
		char range[64];

		snprintf(range, sizeof(range), "%llu-%llu", (unsigned long long)(i * width),
			 (unsigned long long)((i + 1) * width - 1));
		canvas_right(c, r, AT_VALUE - 1, y, ROLE_LABEL, range);
		preview_idle_draw_bar(c, r, y, count[i], m->nchan);
	}
}

void preview_idle_draw(const struct state *s, struct canvas *c, struct rect r)
{
	int y;

	preview_idle_draw_words(s, c, r);
	if (r.h < MORE_FROM_LINES)
		return;
	y = preview_idle_draw_routing(s, c, r, MORE_AT);
	y = preview_idle_draw_engines(s, c, r, y);
	preview_idle_draw_links(s, c, r, y);
}
