/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the process of an update, the journal of an update, and the switches read afterwards tell of
 * it becomes steps, bars and a log. */
#include "console/app/app_priv.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/clock.h"
#include "views/apply/apply_wrote.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void app_apply_log(struct app *a, enum log_level level, const char *fmt, ...)
{
	struct state_apply *s = &a->state.apply;
	struct log_line *line = &s->log[s->log_total++ % APPLY_LOG];
	va_list args;

	memset(line, 0, sizeof(*line));
	memset(&s->blocks[(s->log_total - 1) % APPLY_LOG], 0, sizeof(s->blocks[0]));
	line->time_ns = (uint64_t)time(NULL) * 1000000000u;
	line->level = level;
	snprintf(line->area, sizeof(line->area), "apply");
	va_start(args, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, args);
	va_end(args);
}

static struct apply_step *app_progress_known_step(struct state_apply *s, const char *name)
{
	for (uint32_t i = 0; i < s->nsteps; i++)
		if (!strcmp(s->steps[i].name, name))
			return &s->steps[i];
	return NULL;
}

/* Adds it where it is not yet; NULL: no room. */
static struct apply_step *app_progress_find_step(struct state_apply *s, const char *name)
{
	struct apply_step *step = app_progress_known_step(s, name);

	if (step)
		return step;
	if (s->nsteps == APPLY_STEPS)
		return NULL;
	s->steps[s->nsteps].took_s = NAN;
	snprintf(s->steps[s->nsteps].name, sizeof(s->steps[0].name), "%s", name);
	return &s->steps[s->nsteps++];
}

static void app_progress_step_is(struct app *a, const char *name, enum step_state state,
				 const char *text)
{
	struct apply_step *step = app_progress_find_step(&a->state.apply, name);

	if (!step)
		return;
	if (state == STEP_RUNNING && step->state != STEP_RUNNING)
		a->apply_step_start = /* again: in another wave */
			clock_s() -
			(step->state == STEP_DONE && isfinite(step->took_s) ? step->took_s : 0);
	step->took_s = clock_s() - a->apply_step_start;
	step->state = state;
	if (text)
		snprintf(step->text, sizeof(step->text), "%.119s", text);
}

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

/* That of the screen, where it has the same switches and cables; another one takes too long here.
 */
static const struct topology_kind *app_progress_shape(struct app *a, const struct fabric *f)
{
	const struct fabric_summary *v = &shell_context(a->shell)->summary;

	return v->fabric && digest_equal(&v->fabric->switch_graph, &f->switch_graph) ? v->topology
										     : NULL;
}

void app_progress_waves(struct app *a, const struct plan *plan)
{
	struct state_apply *s = &a->state.apply;
	const struct fabric *f = plan->fabric;
	bool *in = xcalloc(f->nsw, sizeof(*in));
	const struct topology_kind *shape = app_progress_shape(a, f);

	s->nwaves = plan->changes->nwaves < APPLY_WAVES ? plan->changes->nwaves : APPLY_WAVES;
	s->switches = plan->diff->switches;
	for (uint32_t w = 0; w < s->nwaves; w++) {
		memset(in, 0, f->nsw * sizeof(*in));
		s->wave[w].blocks = app_progress_mark_wave(in, plan->changes, w, s->nwaves);
		app_progress_name_wave(&s->wave[w], in, f, shape);
	}
	app_progress_tell_apart(s);
	free(in);
}

/* --- block by block ------------------------------------------------------------------------ */

static void app_progress_wrote_free(struct app *a)
{
	a->state.apply.wrote = NULL;
	apply_wrote_free(a->wrote);
	a->wrote = NULL;
}

/* The journal is there: whose update it is, and what it writes. */
static void app_progress_take_journal(struct app *a, struct msg *msg)
{
	app_progress_wrote_free(a);
	snprintf(a->wrote_for, sizeof(a->wrote_for), "%s", msg->txn);
	snprintf(a->state.apply.user, sizeof(a->state.apply.user), "%.39s", msg->text);
	a->wrote = apply_wrote_new(msg->changes, a->state.fabric);
	msg->changes = NULL;
}

/* The newest line of the log is about these blocks. */
static void app_progress_attach(struct state_apply *s, uint32_t first, uint32_t n, bool back)
{
	if (s->log_total)
		s->blocks[(s->log_total - 1) % APPLY_LOG] = (struct apply_blocks){ first, n, back };
}

static void app_progress_wrote_verified(struct app *a, uint32_t wave)
{
	struct state_apply *s = &a->state.apply;
	uint32_t first;

	if (!s->wrote || wave >= s->wrote->changes->nwaves)
		return;
	first = wave ? s->wrote->wave_end[wave - 1] : 0;
	app_progress_attach(s, first, s->wrote->wave_end[wave] - first, false);
}

static void app_progress_wrote_undone(struct app *a, uint32_t wave)
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

/* --- phase by phase ---------------------------------------------------------------------- */

/* What a phase is about to do, for the log. */
static void app_progress_begun(struct app *a, const struct executor_event *ev)
{
	switch (ev->phase) {
	case PHASE_PREPARE:
		app_apply_log(a, LOG_INFO,
			      "re-reading the fabric and %u blocks: is the plan still valid?",
			      ev->items);
		break;
	case PHASE_UNPATH:
	case PHASE_REPATH:
		return; /* told when they are asked */
	case PHASE_WRITE:
		app_apply_log(a, LOG_INFO, "wave %u: writing %u blocks", ev->wave + 1, ev->items);
		break;
	case PHASE_CONFIRM:
		app_apply_log(a, LOG_INFO,
			      "the switches hold the new routing; waiting for confirmation");
		break;
	case PHASE_ROLLBACK:
		app_apply_log(a, LOG_WARN, "writing the previous contents back: %.120s", ev->text);
		break;
	default:
		if (ev->text[0])
			app_apply_log(a, LOG_INFO, "%.150s", ev->text);
	}
}

static void app_progress_ended(struct app *a, const struct executor_event *ev,
			       const struct executor_status *st)
{
	const struct state_apply *s = &a->state.apply;
	uint32_t switches = a->apply_diff ? a->apply_diff->switches : 0;
	char text[200];

	snprintf(text, sizeof(text), "%.190s", ev->text);
	if (ev->phase == PHASE_WRITE && !ev->rc)
		snprintf(text, sizeof(text), "%llu block%s on %u switch%s",
			 (unsigned long long)s->total, plural(s->total), switches,
			 plural_es(switches));
	app_progress_step_is(a, phase_name(ev->phase), ev->rc ? STEP_FAILED : STEP_DONE, text);
	if (ev->phase == PHASE_PREPARE && !ev->rc)
		app_apply_log(a, LOG_INFO,
			      "the plan is still valid; previous contents saved in journal %.48s",
			      st->txn);
	else if (text[0] && ev->phase != PHASE_WRITE)
		app_apply_log(a, ev->rc ? LOG_WARN : LOG_INFO, "%s", text);
}

static void app_progress_read_back(struct app *a, const struct executor_event *ev,
				   const struct executor_status *st)
{
	bool back = ev->phase == PHASE_ROLLBACK;
	const struct state_apply *s = &a->state.apply;
	struct apply_step *step;
	char text[120], done[24] = "not all";

	if (!ev->rc)
		snprintf(done, sizeof(done), "%llu", (unsigned long long)s->done);
	snprintf(text, sizeof(text), "%s of %llu read back %s, %u retr%s", done,
		 (unsigned long long)s->total, back ? "as before" : "as written", st->retries,
		 st->retries == 1 ? "y" : "ies");
	app_progress_step_is(a, back ? phase_name(PHASE_ROLLBACK) : "VERIFY",
			     ev->rc ? STEP_FAILED
			     : back ? STEP_RUNNING
				    : STEP_DONE,
			     text);
	step = app_progress_known_step(&a->state.apply, "VERIFY");
	if (step)
		step->took_s = NAN; /* part of writing */
	if (step && !back && !ev->rc && ev->wave + 1 < s->nwaves)
		step->state = STEP_RUNNING;
	app_apply_log(a, ev->rc ? LOG_WARN : LOG_INFO, "%s", text);
	if (!back && !ev->rc)
		app_progress_wrote_verified(a, ev->wave);
}

/* The end: no step may look as if it still ran, and none is kept but by being confirmed. */
static void app_progress_end_steps(struct app *a, enum outcome outcome)
{
	bool kept = outcome == OUTCOME_CONFIRMED, well = kept || outcome == OUTCOME_ROLLED_BACK;
	struct state_apply *s = &a->state.apply;

	for (uint32_t i = 0; i < s->nsteps; i++) {
		struct apply_step *step = &s->steps[i];

		if (step->state != STEP_RUNNING)
			continue;
		step->took_s = clock_s() - a->apply_step_start;
		step->state = well ? STEP_DONE : STEP_FAILED;
		if (strcmp(step->name, "CONFIRM"))
			continue;
		step->state = kept ? STEP_DONE : STEP_SKIPPED;
		snprintf(step->text, sizeof(step->text), kept ? "confirmed" : "not confirmed");
	}
}

static void app_progress_over(struct app *a, const struct executor_event *ev,
			      const struct executor_status *st)
{
	const struct state_apply *s = &a->state.apply;
	const char *what = s->plan[0] ? s->plan : st->txn;
	uint32_t switches = a->apply_diff ? a->apply_diff->switches : 0;
	bool kept = ev->outcome == OUTCOME_CONFIRMED;
	char text[320];

	app_progress_end_steps(a, ev->outcome);
	if (kept)
		snprintf(text, sizeof(text), "confirmed: %.60s, %u block%s on %u switch%s", what,
			 (uint32_t)s->total, plural(s->total), switches, plural_es(switches));
	else
		snprintf(text, sizeof(text), "%s: %.60s: %.190s", outcome_name(ev->outcome), what,
			 ev->text);
	log_add(kept ? LOG_INFO : LOG_WARN, "apply", "%s", text);
	app_apply_log(a, kept || a->rollback_asked ? LOG_INFO : LOG_WARN, "%s", text);
	if (ev->outcome == OUTCOME_ROLLED_BACK)
		app_progress_wrote_undone(a, ev->wave);
}

/* For the next preview: how long jobs stand still here. */
static void app_progress_take_pause(struct app *a, const struct executor_event *ev,
				    const struct executor_status *st)
{
	double took = clock_s() - a->asked_at;

	if (ev->kind == APPLY_ASK)
		a->asked_at = clock_s();
	if (ev->kind != APPLY_SETTLED || ev->rc || ev->phase == PHASE_ROLLBACK ||
	    !st->agents.done || st->agents.failed || st->agents.silent)
		return;
	if (ev->asked == PHASE_UNPATH)
		a->state.preview.drained_s = took;
	else
		a->state.preview.returned_s = took;
}

/* "7 of 7 returned"; who has not, where there are such. */
static void app_progress_settled(char *buf, size_t len, const struct executor_event *ev,
				 const struct executor_status *st)
{
	int n = snprintf(buf, len, "%u of %u %s", st->agents.done, st->agents.expected,
			 ev->asked == PHASE_UNPATH ? "drained" : "returned");

	if (st->agents.resent)
		n += snprintf(buf + n, len - (size_t)n, ", asked %u times", st->agents.resent + 1);
	if (st->agents.failed)
		n += snprintf(buf + n, len - (size_t)n, ", %u could not", st->agents.failed);
	if (st->agents.silent)
		n += snprintf(buf + n, len - (size_t)n, ", %u not responding", st->agents.silent);
	if (st->agents.who[0])
		snprintf(buf + n, len - (size_t)n, ": %.60s", st->agents.who);
}

/* What agents are asked, and what became of it. */
static void app_progress_agents(struct app *a, const struct executor_event *ev,
				const struct executor_status *st)
{
	const char *what = ev->asked == PHASE_UNPATH ? "drain" : "return";
	char text[200];

	app_progress_take_pause(a, ev, st);
	switch (ev->kind) {
	case APPLY_ASK:
		snprintf(text, sizeof(text), "asking %u agents to %s", ev->items, what);
		if (ev->phase != PHASE_ROLLBACK)
			app_progress_step_is(a, phase_name(ev->phase), STEP_RUNNING, text);
		break;
	case APPLY_ANSWER:
		snprintf(text, sizeof(text), "%.190s", ev->text);
		break;
	default:
		snprintf(text, sizeof(text), "%.190s", ev->text);
		if (ev->phase == PHASE_ROLLBACK)
			break;
		app_progress_settled(text, sizeof(text), ev, st);
		app_progress_step_is(a, phase_name(ev->asked), ev->rc ? STEP_FAILED : STEP_DONE,
				     text);
	}
	app_apply_log(a, ev->kind != APPLY_ASK && ev->rc ? LOG_WARN : LOG_INFO, "%s", text);
}

/* A phase that was passed over does not wait any more. */
static void app_progress_passed_over(struct app *a, const char *name)
{
	struct apply_step *step = app_progress_known_step(&a->state.apply, name);

	if (!step || step->state != STEP_WAIT)
		return;
	app_progress_step_is(a, name, STEP_SKIPPED, "no agents to ask");
	step->took_s = NAN;
}

static void app_progress_take_agents(struct state_apply *s, const struct executor_status *st)
{
	s->agents = (struct apply_agents){
		.asked = (uint8_t)st->agents.asked,
		.expected = st->agents.expected,
		.waiting = st->agents.waiting,
		.done = st->agents.done,
		.failed = st->agents.failed,
		.silent = st->agents.silent,
		.gone = st->agents.gone,
		.resent = st->agents.resent,
	};
	snprintf(s->agents.who, sizeof(s->agents.who), "%s", st->agents.who);
}

/* The slowest first; what is not in the fabric any more is left out. */
static void app_progress_take_slow(struct app *a, const struct executor_status *st)
{
	struct state_apply *s = &a->state.apply;
	uint32_t n = 0;

	memset(s->slow, 0, sizeof(s->slow));
	for (int i = 0; i < APPLY_SLOW && a->state.fabric; i++) {
		uint32_t sw = fabric_switch_by_guid(a->state.fabric, st->slow[i].guid), k = n;

		if (!st->slow[i].us || sw == FAB_NONE || n == APPLY_SLOWEST)
			continue;
		for (n++; k && s->slow[k - 1].us < st->slow[i].us; k--)
			s->slow[k] = s->slow[k - 1];
		switch_label(s->slow[k].name, sizeof(s->slow[k].name), a->state.fabric, sw);
		s->slow[k].us = st->slow[i].us;
	}
}

static uint64_t app_progress_blocks_before(const struct state_apply *s, uint32_t wave)
{
	uint64_t n = 0;

	for (uint32_t w = 0; w < wave && w < s->nwaves; w++)
		n += s->wave[w].blocks;
	return n;
}

/* The status counts those of a wave, and twice what was tried again; here they are counted over all
 * waves, and stay while the fabric is as written. */
static void app_progress_take_counts(struct state_apply *s, const struct executor_event *ev,
				     const struct executor_status *st)
{
	uint64_t done = ev->kind == APPLY_VERIFY ? st->verified : st->written;

	if (ev->phase != PHASE_PREPARE && ev->phase != PHASE_WRITE && ev->phase != PHASE_ROLLBACK)
		return;
	s->done = done < st->total ? done : st->total;
	s->total = st->total;
	if (ev->phase != PHASE_WRITE || !s->nwaves)
		return;
	s->total = app_progress_blocks_before(s, s->nwaves);
	s->done += app_progress_blocks_before(s, st->wave);
	s->done = s->done < s->total ? s->done : s->total;
}

static void app_progress_take_waves(struct state_apply *s, const struct executor_event *ev,
				    const struct executor_status *st)
{
	if (ev->phase != PHASE_WRITE || !s->nwaves)
		return;
	s->at_wave = st->wave < s->nwaves ? st->wave : s->nwaves - 1;
	s->wave_done = st->written;
	if (ev->kind == APPLY_PHASE_END && !ev->rc)
		s->at_wave = s->nwaves;
}

/* It waits, and who keeps the deadline then. */
static void app_progress_window(struct app *a)
{
	const struct state_apply *s = &a->state.apply;

	if (s->watched && s->process)
		app_apply_log(a, LOG_INFO,
			      "%.0f s to confirm; watchdog process %ld rolls back otherwise, even "
			      "if this terminal is lost",
			      s->confirm_all_s, s->process);
	else
		app_apply_log(a, LOG_INFO, "%.0f s to confirm", s->confirm_all_s);
}

static void app_progress_deadline(struct app *a, double left_s)
{
	struct state_apply *s = &a->state.apply;

	a->deadline = clock_s() + left_s;
	s->confirm_left_s = left_s;
	if (!isfinite(s->confirm_all_s)) {
		s->confirm_all_s = left_s;
		app_progress_window(a);
	}
	if (!(s->confirm_all_s >= left_s))
		s->confirm_all_s = left_s;
}

static void app_progress_take_found(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;

	snprintf(s->found, sizeof(s->found), "%s: %.180s", msg->step ? msg->step : "watch",
		 msg->text);
	s->job_failed |= msg->rc && msg->step && !strcmp(msg->step, "jobs");
	app_apply_log(a, msg->rc ? LOG_ERROR : LOG_INFO, "%s", s->found);
}

static void app_progress_take_way(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;

	s->process = msg->done ? (long)msg->done : s->process;
	if (msg->text[0])
		snprintf(s->installer, sizeof(s->installer), "%.15s", msg->text);
}

static void app_progress_take_seen(struct app *a, const struct msg *msg)
{
	if (a->state.apply.state == APPLY_CONFIRM)
		a->state.apply.seen = *msg->seen;
}

static void app_progress_take_event(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;
	const struct executor_event *ev = &msg->event;
	const struct executor_status *st = &msg->apply;

	snprintf(s->txn, sizeof(s->txn), "%s", st->txn);
	if (!strcmp(s->txn, a->wrote_for))
		s->wrote = a->wrote;
	app_record_phase(a, ev);
	app_progress_take_counts(s, ev, st);
	s->retries = st->retries;
	app_progress_take_agents(s, st);
	app_progress_take_slow(a, st);
	app_progress_take_waves(s, ev, st);
	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
		if (ev->phase == PHASE_ROLLBACK) {
			s->state = APPLY_ROLLING_BACK;
			if (app_progress_known_step(s, "CONFIRM"))
				app_progress_step_is(a, "CONFIRM", STEP_SKIPPED, "not confirmed");
		}
		if (ev->phase == PHASE_WRITE)
			app_progress_passed_over(a, "UNPATH");
		if (ev->phase == PHASE_CONFIRM)
			app_progress_passed_over(a, "REPATH");
		app_progress_step_is(a, phase_name(ev->phase), STEP_RUNNING, ev->text);
		app_progress_begun(a, ev);
		break;
	case APPLY_PHASE_END:
		if (ev->phase != PHASE_UNPATH && ev->phase != PHASE_REPATH)
			app_progress_ended(a, ev, st);
		break;
	case APPLY_ASK:
	case APPLY_ANSWER:
	case APPLY_SETTLED:
		app_progress_agents(a, ev, st);
		break;
	case APPLY_ITEM:
		break;
	case APPLY_VERIFY:
		app_progress_read_back(a, ev, st);
		break;
	case APPLY_OUTCOME:
		app_progress_over(a, ev, st);
		break;
	}
}

static enum apply_state app_progress_ended_as(const struct app *a, const struct executor_status *st)
{
	if (st->waiting)
		return APPLY_CONFIRM;
	switch (st->outcome) {
	case OUTCOME_CONFIRMED:
		return APPLY_KEPT;
	case OUTCOME_ROLLED_BACK:
		return a->rollback_asked ? APPLY_ROLLED_BACK : APPLY_FAILED;
	case OUTCOME_INCOMPLETE:
		return APPLY_INCOMPLETE;
	case OUTCOME_SUPERSEDED:
		return APPLY_SUPERSEDED;
	case OUTCOME_FABRIC_CHANGED:
		return APPLY_FABRIC_CHANGED;
	case OUTCOME_REFUSED:
	case OUTCOME_NONE:
		break;
	}
	return APPLY_REFUSED;
}

static void app_progress_take_end(struct app *a, const struct msg *msg)
{
	struct state_apply *s = &a->state.apply;

	s->state = app_progress_ended_as(a, &msg->apply);
	feed_want(a->feed, WANT_TABLES); /* another process has written */
	s->retries = msg->apply.retries;
	app_progress_take_slow(a, &msg->apply);
	a->deadline = s->confirm_left_s = NAN;
	a->written_at = msg->made_s;
	if (s->state != APPLY_CONFIRM)
		s->took_s = clock_s() - a->update_at;
	if (s->state == APPLY_CONFIRM) {
		app_progress_step_is(a, "CONFIRM", STEP_RUNNING,
				     "waiting for the fabric's name, or a rollback");
		s->done = s->total;
	}
	snprintf(s->result, sizeof(s->result), "%.255s", msg->text);
	if (s->state == APPLY_ROLLED_BACK)
		snprintf(s->result, sizeof(s->result),
			 "Rollback verified on every switch that was written: it holds the "
			 "previous routing.");
	if (msg->rc && (s->state == APPLY_REFUSED || s->state == APPLY_FAILED))
		app_record_error(a, "apply", msg->text);
	if (s->state == APPLY_INCOMPLETE || s->state == APPLY_SUPERSEDED ||
	    s->state == APPLY_FABRIC_CHANGED)
		log_add(LOG_ERROR, "apply", "%s", msg->text);
}

/* --- what all switches hold afterwards ----------------------------------------------------- */

/* begun_s: clock_s() when the reading of t began. */
static void app_progress_wrote_reread(struct app *a, const struct tables *t, bool partial,
				      double begun_s)
{
	struct state_apply *s = &a->state.apply;
	enum apply_reread was = s->reread;

	if (s->state != APPLY_CONFIRM || !a->applied || partial || !(begun_s >= a->written_at) ||
	    !digest_equal(&a->applied->fingerprint, &a->state.fabric->fingerprint))
		return;
	s->reread =
		tables_forward_same(a->state.fabric, t, a->applied) ? REREAD_SAME : REREAD_OTHER;
	if (s->reread == was)
		return;
	if (s->reread == REREAD_SAME)
		app_apply_log(a, LOG_INFO,
			      "all %u switches match the plan: this console has read every table",
			      a->state.fabric->nsw);
	else
		app_apply_log(a, LOG_WARN,
			      "the tables of the %u switches, as read by this console, differ from "
			      "the plan",
			      a->state.fabric->nsw);
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
static void app_progress_wrote_estimate(struct state_apply *s)
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

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_progress_take(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	switch (msg->type) {
	case MSG_APPLY_JOURNAL:
		app_progress_take_journal(a, msg);
		return true;
	case MSG_APPLY_EVENT:
		app_progress_take_event(a, msg);
		return true;
	case MSG_APPLY_END:
		app_progress_take_end(a, msg);
		return true;
	case MSG_APPLY_DEADLINE:
		app_progress_deadline(a, msg->seconds);
		return true;
	case MSG_APPLY_FOUND:
		app_progress_take_found(a, msg);
		return true;
	case MSG_APPLY_WAY:
		app_progress_take_way(a, msg);
		return true;
	case MSG_APPLY_SEEN:
		app_progress_take_seen(a, msg);
		return true;
	default:
		return false;
	}
}

static void app_progress_hear(struct app *a, const struct app_news *n)
{
	if (n->type == NEWS_TABLES_READ)
		app_progress_wrote_reread(a, n->msg->tables,
					  n->msg->partial || !tables_know_vls(n->msg->tables),
					  n->msg->since_s);
}

static void app_progress_refresh(struct app *a)
{
	struct state_apply *s = &a->state.apply;

	for (uint32_t i = 0; i < s->nsteps; i++)
		if (s->steps[i].state == STEP_RUNNING)
			s->steps[i].took_s = clock_s() - a->apply_step_start;
	app_progress_wrote_estimate(s);
}

const struct app_part app_progress_part = {
	.take = app_progress_take,
	.hear = app_progress_hear,
	.refresh = app_progress_refresh,
	.end = app_progress_wrote_free,
};
