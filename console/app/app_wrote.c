/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an update's own journal, and the switches read anew, say of it. */
#include "console/app/app_priv.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"
#include "fabric/update/journal.h"
#include "views/apply/apply_wrote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- waves by what their switches are ------------------------------------------------------ */

/* "spines A" and "spines B" where several waves are of one kind. */
static void app_progress_tell_apart(struct state_apply *s)
{
	bool done[APPLY_WAVES] = { false };

	for (uint32_t i = 0; i < s->nwaves; i++) {
		char name[sizeof(s->wave[0].name)];
		char letter = 'A';

		if (s->wave[i].switches < 2 || !strcmp(s->wave[i].name, "switches"))
			continue;
		memcpy(name, s->wave[i].name, sizeof(name));
		for (uint32_t k = i + 1; !done[i] && k < s->nwaves && letter < 'Z'; k++) {
			if (done[k] || strcmp(s->wave[k].name, name))
				continue;
			done[k] = true;
			snprintf(s->wave[k].name, sizeof(name), "%.20s %c", name, ++letter);
		}
		if (letter > 'A')
			snprintf(s->wave[i].name, sizeof(name), "%.20s A", name);
	}
}

/* Marks those that wave w writes; returns how many blocks. */
static uint32_t app_progress_mark_wave(bool *in, const struct changes *l, uint32_t w,
				       uint32_t nwaves)
{
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (l->v[i].wave != w && !(w == nwaves - 1 && l->v[i].wave > w))
			continue;
		blocks++;
		if (l->v[i].sw != FAB_NONE)
			in[l->v[i].sw] = true;
	}
	return blocks;
}

static void app_progress_name_wave(struct apply_wave *w, const bool *in, const struct fabric *f,
				   const struct topology_kind *shape)
{
	uint32_t *sw = xcalloc(f->nsw, sizeof(*sw)), n = 0;
	char label[NAME_LEN];

	for (uint32_t i = 0; i < f->nsw; i++)
		if (in[i])
			sw[n++] = i;
	w->switches = n;
	if (n == 1)
		snprintf(w->name, sizeof(w->name), "%.20s",
			 switch_label(label, sizeof(label), f, sw[0]));
	else
		switches_name(w->name, sizeof(w->name) - 2, shape, sw, n);
	free(sw);
}

void app_wrote_waves(struct state_apply *s, const struct plan *plan)
{
	const struct fabric *f = plan->fabric;
	struct topology_kind *shape = topology_kind_new(f);
	bool *in = xcalloc(f->nsw, sizeof(*in));

	s->nwaves = plan->changes->nwaves < APPLY_WAVES ? plan->changes->nwaves : APPLY_WAVES;
	s->switches = plan->diff->switches;
	for (uint32_t w = 0; w < s->nwaves; w++) {
		memset(in, 0, f->nsw * sizeof(*in));
		s->wave[w].blocks = app_progress_mark_wave(in, plan->changes, w, s->nwaves);
		app_progress_name_wave(&s->wave[w], in, f, shape);
	}
	app_progress_tell_apart(s);
	free(in);
	topology_kind_free(shape);
}

/* --- block by block ------------------------------------------------------------------------ */

void app_wrote_free(struct app *a)
{
	a->state.apply.wrote = NULL;
	apply_wrote_free(a->wrote);
	a->wrote = NULL;
}

/* The journal is there: whose update it is, and what it writes. */
void app_wrote_read(struct app *a)
{
	struct state_apply *s = &a->state.apply;
	struct changes *l = NULL;
	struct txn_head head;
	struct err err = { "" };

	if (!s->txn[0] || !a->fabric)
		return;
	if (!strcmp(s->txn, a->wrote_for)) {
		s->wrote = a->wrote;
		return;
	}
	app_wrote_free(a);
	snprintf(a->wrote_for, sizeof(a->wrote_for), "%s", s->txn);
	if (journal_look(&head, &l, journal_base(a->opts.state_dir), s->txn, &err)) {
		log_add(LOG_WARN, "journal", "%s", err.text);
		return;
	}
	snprintf(s->user, sizeof(s->user), "%s", head.user);
	a->wrote = apply_wrote_new(l, a->fabric);
	s->wrote = a->wrote;
}

/* The newest line of the log is about these blocks. */
static void app_progress_attach(struct state_apply *s, uint32_t first, uint32_t n, bool back)
{
	if (s->log_total)
		s->blocks[(s->log_total - 1) % APPLY_LOG] = (struct apply_blocks){ first, n, back };
}

void app_wrote_verified(struct app *a, uint32_t wave)
{
	struct state_apply *s = &a->state.apply;
	uint32_t first;

	if (!s->wrote || wave >= s->wrote->changes->nwaves)
		return;
	first = wave ? s->wrote->wave_end[wave - 1] : 0;
	app_progress_attach(s, first, s->wrote->wave_end[wave] - first, false);
}

void app_wrote_undone(struct app *a, uint32_t wave)
{
	struct state_apply *s = &a->state.apply;
	const struct apply_wrote *w = s->wrote;
	uint32_t n = 0;

	if (!w)
		return;
	while (n < w->nfirst &&
	       (!s->nwaves || w->changes->v[w->order[w->changes->n + n]].wave <= wave))
		n++;
	app_progress_attach(s, w->changes->n, n, true);
}

/* --- what all switches hold afterwards ----------------------------------------------------- */

/* begun_s: clock_s() when the reading of t began. */
void app_wrote_reread(struct app *a, const struct tables *t, bool partial, double begun_s)
{
	struct state_apply *s = &a->state.apply;
	enum apply_reread was = s->reread;
	char text[200];

	if (s->state != APPLY_CONFIRM || !a->applied || partial || !(begun_s >= a->written_at) ||
	    !digest_equal(&a->applied->fingerprint, &a->fabric->fingerprint))
		return;
	s->reread = tables_forward_same(a->fabric, t, a->applied) ? REREAD_SAME : REREAD_OTHER;
	if (s->reread == was)
		return;
	snprintf(text, sizeof(text),
		 s->reread == REREAD_SAME
			 ? "all %u switches match the plan: every table read by this console"
			 : "the tables of the %u switches, read by this console, are not those of "
			   "the plan",
		 a->fabric->nsw);
	app_apply_log(a, s->reread == REREAD_SAME ? LOG_INFO : LOG_WARN, text);
}

static double app_progress_step_took(const struct state_apply *s, enum phase phase)
{
	for (uint32_t i = 0; i < s->nsteps; i++)
		if (s->steps[i].phase == phase && s->steps[i].state != STEP_SKIPPED &&
		    isfinite(s->steps[i].took_s))
			return s->steps[i].took_s;
	return 0;
}

/* The way back drains, writes as many blocks and returns, as the way there has. */
void app_wrote_estimate(struct state_apply *s)
{
	double write = app_progress_step_took(s, PHASE_WRITE);

	if (s->state != APPLY_RUNNING && s->state != APPLY_CONFIRM) {
		s->back_s = NAN;
		return;
	}
	s->wrote_s = write > 0 ? write : NAN;
	s->back_s = write > 0 ? write + app_progress_step_took(s, PHASE_UNPATH) +
					app_progress_step_took(s, PHASE_REPATH)
			      : NAN;
}
