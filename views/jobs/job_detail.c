/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/jobs/job_detail.h"

#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a large job, with every sample: so many routes are followed, and so many of one destination.
 */
#define WALKS_MAX 4000
#define FEW	  64

#define LINKS_MAX (sizeof(((struct job_detail *)0)->links) / sizeof(uint32_t))

struct ranked {
	double key;
	uint32_t chan;
};

static double job_detail_key_of(const struct sample_summary *t, uint32_t chan, uint32_t routes)
{
	return t->rates ? (isfinite(t->util[chan]) ? t->util[chan] : -1) : routes;
}

static void job_detail_find_links(struct job_detail *d, const struct sample_summary *t,
				  const struct job_routes *r, uint32_t job)
{
	struct ranked top[LINKS_MAX];

	d->nlinks = 0;
	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		double key = job_detail_key_of(t, r->chan[i], r->routes[i]);
		uint32_t k;

		if (d->nlinks == LINKS_MAX && key <= top[LINKS_MAX - 1].key)
			continue;
		k = d->nlinks < LINKS_MAX ? d->nlinks++ : (uint32_t)LINKS_MAX - 1;
		for (; k && top[k - 1].key < key; k--)
			top[k] = top[k - 1];
		top[k] = (struct ranked){ key, r->chan[i] };
	}
	for (uint32_t i = 0; i < d->nlinks; i++)
		d->links[i] = top[i].chan;
}

static bool job_detail_takes(const struct state *s, uint32_t src, uint32_t dst, uint32_t chan)
{
	const struct fabric *f = s->fabric;
	uint32_t sw = f->term_sw[src], lid = f->term_lid[dst], hops = 0;

	while (sw != f->term_sw[dst] && hops++ < f->nsw) {
		uint32_t c = fabric_chan(f, sw, tables_row(s->tables, sw)[lid]);

		if (c == chan)
			return true;
		if (c == FAB_NONE)
			return false;
		sw = f->chan_dst[c];
	}
	return false;
}

/* A host of the job whose route to dst takes the channel: the first, but after FEW switches rather
 * one beside the channel, whose route takes it for certain.  FAB_NONE: none, or walks are used up.
 */
static uint32_t job_detail_source_of(const struct state *s, const struct job *j, uint32_t dst,
				     uint32_t chan, uint32_t *walks)
{
	const struct fabric *f = s->fabric;
	uint32_t tried = 0;

	for (uint32_t a = 0; a < j->nterm && *walks; a++) {
		uint32_t src = j->terms[a];

		/* hosts of one switch take one way */
		if (a && f->term_sw[src] == f->term_sw[j->terms[a - 1]])
			continue;
		if (tried == FEW)
			for (uint32_t i = 0; i < j->nterm; i++)
				if (f->term_sw[j->terms[i]] == f->chan_src[chan])
					return j->terms[i];
		tried++;
		--*walks;
		if (job_detail_takes(s, src, dst, chan))
			return src;
	}
	return FAB_NONE;
}

/* One pair of each destination, so that the few that are shown differ. */
static void job_detail_find_pairs(struct job_detail *d, const struct state *s, const struct job *j)
{
	const struct fabric *f = s->fabric;
	uint32_t chan = d->nlinks ? d->links[0] : FAB_NONE, walks = WALKS_MAX;

	d->npairs = 0;
	for (uint32_t b = 0; chan != FAB_NONE && b < j->nterm && d->npairs < JOB_PAIRS; b++) {
		uint32_t lid = f->term_lid[j->terms[b]], src;

		if (lid > s->tables->max_lid ||
		    tables_row(s->tables, f->chan_src[chan])[lid] != f->chan_port[chan])
			continue;
		src = job_detail_source_of(s, j, j->terms[b], chan, &walks);
		if (src == FAB_NONE)
			continue;
		d->src[d->npairs] = src;
		d->dst[d->npairs++] = j->terms[b];
	}
}

static void job_detail_follow(struct job_detail *d, const struct context *ctx,
			      const struct state *s, uint64_t id)
{
	const struct link_usage *u = state_usage(s);
	uint32_t job = link_usage_job(u, id);
	uint64_t serial = u ? u->serial : 0;

	if (d->id == id && d->serial == serial && d->rates == s->rates)
		return;
	job_detail_done(d);
	d->id = id;
	d->serial = serial;
	d->rates = s->rates ? rates_get(s->rates) : NULL;
	if (job == FAB_NONE || !u->routes)
		return;
	job_detail_find_links(d, ctx->summary.sample_summary, u->routes, job);
	job_detail_find_pairs(d, s, &u->jobs->jobs[job]);
}

static void job_detail_draw_place(const struct state *s, struct canvas *c, struct rect r,
				  const struct job *j)
{
	char time[FIGURE_LEN], age[FIGURE_LEN];
	int x = canvas_textf(c, r, 1, 0, ROLE_TEXT, "%u host%s on %u switch%s%s", j->nterm,
			     plural(j->nterm), j->nsw, plural_es(j->nsw),
			     j->multi ? "" : ": its paths use no link between switches");

	if (j->start_s)
		x = canvas_textf(c, r, x, 0, ROLE_TEXT, "  since %s (%s)",
				 figure_time(time, j->start_s),
				 figure_age(age, (double)(state_time_s(s) - j->start_s)));
	for (int a = JOB_PARTITION; a < JOB_ATTRS; a++)
		if (j->attr[a][0])
			x = canvas_textf(c, r, x, 0, ROLE_DIM, "  %s %.40s",
					 job_attr_key((enum job_attr)a), j->attr[a]);
	if (j->unknown)
		x = canvas_textf(c, r, x, 0, ROLE_WARN, "  %u of its nodes are not in this fabric",
				 j->unknown);
	if (job_ambiguous(j, s->fabric) != FAB_NONE)
		canvas_textf(c, r, x, 0, ROLE_WARN, "  several hosts may be called %.60s",
			     s->fabric->term_name[job_ambiguous(j, s->fabric)]);
	canvas_wrap(c, (struct rect){ r.x, r.y + 1, r.w - 1, 2 }, 1, 0, ROLE_DIM, j->nodes);
}

/* Switches of the job with how many of its hosts, as many as fit. */
static void job_detail_draw_switches(const struct state *s, struct canvas *c, struct rect r, int y,
				     const struct job *j)
{
	const struct fabric *f = s->fabric;
	int x = canvas_text(c, r, 1, y, ROLE_LABEL, "on ");

	for (uint32_t i = 0, n; i < j->nterm && y < r.h; i += n) {
		uint32_t sw = f->term_sw[j->terms[i]];
		char name[NAME_LEN], one[NAME_LEN + 16];

		/* terminals are in the order of GUIDs, and mostly those of a switch together */
		for (n = 1; i + n < j->nterm && f->term_sw[j->terms[i + n]] == sw; n++)
			;
		snprintf(one, sizeof(one), "%s:%u ", switch_label(name, sizeof(name), f, sw), n);
		if (x + text_width(one) > r.w - 4) {
			canvas_text(c, r, x, y, ROLE_DIM, "...");
			return;
		}
		x = canvas_text(c, r, x, y, ROLE_TEXT, one);
	}
}

static void job_detail_draw_link(const struct job_detail *d, const struct context *ctx,
				 const struct state *s, struct canvas *c, struct rect r, int y,
				 uint32_t i)
{
	const struct link_usage *u = state_usage(s);
	uint32_t chan = d->links[i], job = link_usage_job(u, d->id);
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, chan));
	double util = p ? p->util_pct : NAN;
	char label[256], pct[FIGURE_LEN], routes[FIGURE_LEN];

	canvas_rightf(c, r, 6, y,
		      isfinite(util) ? heat_role(ctx->palette, heat_level(util)) : ROLE_DIM, "%s",
		      figure_percent(pct, util));
	canvas_rightf(c, r, 15, y, ROLE_TEXT, "%s",
		      figure_short(routes, job_routes_on(u->routes, job, chan)));
	name_fit_draw(c, r, 17, y, r.w - 18, ROLE_TEXT, s->fabric,
		      chan_label(label, sizeof(label), s->fabric, chan));
}

static void job_detail_draw_links(const struct job_detail *d, const struct context *ctx,
				  const struct state *s, struct canvas *c, struct rect r)
{
	canvas_text(c, r, 1, 0, ROLE_LABEL, " util    paths  its busiest links");
	if (!d->nlinks)
		canvas_text(c, r, 2, 1, ROLE_DIM,
			    state_usage(s) ? "none used" : "not computed yet");
	for (uint32_t i = 0; i < d->nlinks && (int)i + 1 < r.h; i++)
		job_detail_draw_link(d, ctx, s, c, r, (int)i + 1, i);
}

static void job_detail_draw_pairs(const struct job_detail *d, const struct state *s,
				  struct canvas *c, struct rect r)
{
	const struct fabric *f = s->fabric;

	canvas_text(c, r, 1, 0, ROLE_LABEL, "node pairs over the busiest");
	if (!d->npairs)
		canvas_text(c, r, 1, 1, ROLE_DIM, "-");
	for (uint32_t i = 0; i < d->npairs && (int)i + 1 < r.h; i++) {
		char text[2 * END_NAME_LEN + 8], a[END_NAME_LEN], b[END_NAME_LEN];

		snprintf(text, sizeof(text), "%s -> %s", end_name(a, sizeof(a), f, d->src[i]),
			 end_name(b, sizeof(b), f, d->dst[i]));
		name_fit_draw(c, r, 1, (int)i + 1, r.w - 2, ROLE_TEXT, f, text);
	}
}

void job_detail_draw(struct job_detail *d, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r, uint32_t job)
{
	const struct job *j = &ctx->summary.jobs->jobs[job];
	int half = r.w * 3 / 5, top = r.h > 8 ? 4 : 2;
	char title[64], id[JOB_ID_LEN];

	job_detail_follow(d, ctx, s, j->id);
	snprintf(title, sizeof(title), "Job %s", job_text(id, j));
	canvas_rule(c, r, 0, title);
	job_detail_draw_place(s, c, (struct rect){ r.x, r.y + 1, r.w, top }, j);
	if (top > 2)
		job_detail_draw_switches(s, c, (struct rect){ r.x, r.y + 1, r.w, top }, 3, j);
	job_detail_draw_links(d, ctx, s, c,
			      (struct rect){ r.x, r.y + 1 + top, half, r.h - 1 - top });
	job_detail_draw_pairs(
		d, s, c, (struct rect){ r.x + half, r.y + 1 + top, r.w - half, r.h - 1 - top });
}

void job_detail_done(struct job_detail *d)
{
	rates_put(d->rates);
	memset(d, 0, sizeof(*d));
}
