/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/damage.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[DAMAGE_KINDS] = { "cables", "switches", "linecards" };
static const char *const singles[DAMAGE_KINDS] = { "cable", "switch", "linecard" };

/* A part: a cable, a switch, or some ports of it. */
struct damage_part {
	uint32_t chan, sw;
	uint8_t first, last;
};

struct damage_times {
	VEC(double) days; /* of its failures, ascending */
};

struct damage {
	const struct fabric *f;
	const struct damage_rules *rules;
	struct damage_part *part[DAMAGE_KINDS];
	uint32_t n[DAMAGE_KINDS];
	uint32_t *order[DAMAGE_KINDS];		  /* by rate */
	struct damage_times *times[DAMAGE_KINDS]; /* by time */
};

const char *damage_kind_name(enum damage_kind kind)
{
	return kinds[kind];
}

/* --- rules -------------------------------------------------------------------------------- */

static int damage_add_rate(struct damage_rules *r, double pct, const char *text, struct err *err)
{
	if (!(pct >= 0) || pct > 100)
		return err_set(err, -EINVAL, "%s: a share is from 0 to 100 %%", text);
	if (r->nstep == DAMAGE_STEPS)
		return err_set(err, -EINVAL, "%s: more than %d steps", text, DAMAGE_STEPS);
	if (r->nstep && pct / 100 <= r->rate[r->nstep - 1])
		return pct == 0 && r->nstep == 1
			       ? 0
			       : err_set(err, -EINVAL, "%s: shares must rise", text);
	r->rate[r->nstep++] = pct / 100;
	return 0;
}

/* "10%", or "0"; NAN: neither. */
static double damage_percent(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	return end != text && (!strcmp(end, "%") || (!*end && v == 0)) ? v : NAN;
}

/* "0..10%/0.5%" */
static int damage_add_range(struct damage_rules *r, char *word, const char *text, struct err *err)
{
	char *dots = strstr(word, ".."), *slash = strchr(dots, '/');
	double from, to, by;
	int rc = 0;

	*dots = '\0';
	if (slash)
		*slash = '\0';
	from = damage_percent(word);
	to = damage_percent(dots + 2);
	by = slash ? damage_percent(slash + 1) : NAN;
	if (isnan(from) || isnan(to) || !(by > 0))
		return err_set(err, -EINVAL, "%s: 0..10%%/0.5%% is expected", text);
	for (uint32_t i = 0; !rc && from + i * by <= to + by / 1e6; i++)
		rc = damage_add_rate(r, from + i * by, text, err);
	return rc;
}

int damage_parse_rates(struct damage_rules *r, const char *text, struct err *err)
{
	char *rest = strdupa(text), *word;
	int rc = damage_add_rate(r, 0, text, err);

	while (!rc && (word = strsep(&rest, ",")))
		if (strstr(word, ".."))
			rc = damage_add_range(r, word, text, err);
		else if (isnan(damage_percent(word)))
			rc = err_set(err, -EINVAL, "%s: a share such as 1%% is expected", text);
		else
			rc = damage_add_rate(r, damage_percent(word), text, err);
	return rc;
}

int damage_parse_kinds(struct damage_rules *r, const char *text, struct err *err)
{
	char *rest = strdupa(text), *word;

	while ((word = strsep(&rest, ","))) {
		int k = 0;

		while (k < DAMAGE_KINDS && strcmp(word, kinds[k]))
			k++;
		if (k == DAMAGE_KINDS)
			return err_set(err, -EINVAL,
				       "'%s' is not one of cables, switches, linecards", word);
		r->kills[k] = true;
	}
	return 0;
}

int damage_parse_mtbf(struct damage_rules *r, const char *text, struct err *err)
{
	char *rest = strdupa(text), *word, *end;

	while ((word = strsep(&rest, ","))) {
		char *value = strchr(word, '=');
		int k = 0;

		if (value)
			*value++ = '\0';
		while (k < DAMAGE_KINDS && strcmp(word, singles[k]))
			k++;
		if (k == DAMAGE_KINDS || !value)
			return err_set(err, -EINVAL,
				       "'%s' is not cable=HOURS, switch=HOURS or linecard=HOURS",
				       word);
		r->mtbf_h[k] = strtod(value, &end);
		if (end == value || *end || !(r->mtbf_h[k] >= 1) || r->mtbf_h[k] > 1e12)
			return err_set(err, -EINVAL, "%s=%s: hours from 1 are expected", word,
				       value);
		r->kills[k] = true;
	}
	return 0;
}

void damage_years(struct damage_rules *r, double years)
{
	r->by_time = true;
	r->nstep = 0;
	for (double at = 0; at <= years + 1e-9 && r->nstep < DAMAGE_STEPS; at += 0.25)
		r->rate[r->nstep++] = 365.25 * at;
}

/* --- parts -------------------------------------------------------------------------------- */

static uint32_t damage_list_cables(struct damage_part *out, const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->nchan; c++) {
		if (c > f->chan_rev[c])
			continue;
		if (out)
			out[n] = (struct damage_part){ .chan = c };
		n++;
	}
	return n;
}

static uint32_t damage_list_linecards(struct damage_part *out, const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		for (unsigned p = 1; p <= f->sw_nports[u]; p += LINECARD_PORTS, n++) {
			unsigned last = p + LINECARD_PORTS - 1;

			if (out)
				out[n] = (struct damage_part){
					.sw = u,
					.first = (uint8_t)p,
					.last = last < f->sw_nports[u] ? (uint8_t)last
								       : f->sw_nports[u],
				};
		}
	return n;
}

static uint32_t damage_list_switches(struct damage_part *out, const struct fabric *f)
{
	for (uint32_t u = 0; u < f->nsw && out; u++)
		out[u] = (struct damage_part){ .sw = u };
	return f->nsw;
}

static uint32_t damage_list(struct damage_part *out, const struct fabric *f, enum damage_kind kind)
{
	return kind == DAMAGE_CABLES	 ? damage_list_cables(out, f)
	       : kind == DAMAGE_SWITCHES ? damage_list_switches(out, f)
					 : damage_list_linecards(out, f);
}

uint32_t damage_parts(const struct fabric *f, enum damage_kind kind)
{
	return damage_list(NULL, f, kind);
}

static void damage_draw_order(struct damage *d, int k, struct rng *rng)
{
	d->order[k] = xcalloc(d->n[k], sizeof(uint32_t));
	for (uint32_t i = 0; i < d->n[k]; i++)
		d->order[k][i] = i;
	rng_shuffle_u32(rng, d->order[k], d->n[k]);
}

static void damage_draw_times(struct damage *d, int k, struct rng *rng)
{
	double mean = d->rules->mtbf_h[k] / 24, end = d->rules->rate[d->rules->nstep - 1];

	d->times[k] = xcalloc(d->n[k], sizeof(struct damage_times));
	for (uint32_t i = 0; i < d->n[k]; i++) {
		double at = 0;

		for (;;) {
			at += -mean * log(1 - rng_unit(rng));
			if (at > end)
				break;
			vec_push(&d->times[k][i].days, at);
			if (!(d->rules->repair_days > 0))
				break;
			at += d->rules->repair_days;
		}
	}
}

struct damage *damage_new(const struct fabric *f, const struct damage_rules *r, uint64_t seed)
{
	struct damage *d = xcalloc(1, sizeof(*d));
	struct rng rng;

	d->f = f;
	d->rules = r;
	rng_seed(&rng, seed);
	for (int k = 0; k < DAMAGE_KINDS; k++) {
		if (!r->kills[k])
			continue;
		d->n[k] = damage_parts(f, (enum damage_kind)k);
		d->part[k] = xcalloc(d->n[k], sizeof(struct damage_part));
		damage_list(d->part[k], f, (enum damage_kind)k);
		if (r->by_time)
			damage_draw_times(d, k, &rng);
		else
			damage_draw_order(d, k, &rng);
	}
	return d;
}

void damage_free(struct damage *d)
{
	if (!d)
		return;
	for (int k = 0; k < DAMAGE_KINDS; k++) {
		for (uint32_t i = 0; d->times[k] && i < d->n[k]; i++)
			vec_free(&d->times[k][i].days);
		free(d->times[k]);
		free(d->order[k]);
		free(d->part[k]);
	}
	free(d);
}

/* --- a step ------------------------------------------------------------------------------- */

static bool damage_down_then(const struct damage *d, const struct damage_times *t, double days)
{
	for (size_t i = 0; i < t->days.n; i++)
		if (t->days.v[i] <= days &&
		    (!(d->rules->repair_days > 0) || days < t->days.v[i] + d->rules->repair_days))
			return true;
	return false;
}

static void damage_apply(const struct fabric *f, int kind, const struct damage_part *p, bool *chan,
			 bool *sw, bool *term)
{
	if (kind == DAMAGE_CABLES)
		chan[p->chan] = true;
	if (kind == DAMAGE_SWITCHES)
		sw[p->sw] = true;
	for (unsigned q = p->first; kind == DAMAGE_LINECARDS && q <= p->last; q++) {
		const struct port *port = fabric_port(f, p->sw, (uint8_t)q);

		if (port->chan != FAB_NONE)
			chan[port->chan] = true;
		if (port->term != FAB_NONE)
			term[port->term] = true;
	}
}

int damage_at(struct fabric **out, struct damage_state *state, const struct damage *d,
	      uint32_t step, struct err *err)
{
	const struct damage_rules *r = d->rules;
	bool *chan = xcalloc(d->f->nchan, sizeof(*chan)), *sw = xcalloc(d->f->nsw, sizeof(*sw)),
	     *term = xcalloc(d->f->nend, sizeof(*term));
	struct part_loss loss = { chan, sw, term };
	int rc;

	*state = (struct damage_state){ 0 };
	for (int k = 0; k < DAMAGE_KINDS; k++) {
		uint32_t most = (uint32_t)llround(r->rate[step] * d->n[k]);

		for (uint32_t i = 0; i < d->n[k]; i++) {
			uint32_t at = r->by_time ? i : d->order[k][i];

			if (r->by_time ? !damage_down_then(d, &d->times[k][i], r->rate[step])
				       : i >= most)
				continue;
			state->down[k]++;
			damage_apply(d->f, k, &d->part[k][at], chan, sw, term);
		}
	}
	rc = fabric_part(out, d->f, &loss, &state->cut, err);
	free(chan);
	free(sw);
	free(term);
	return rc;
}
