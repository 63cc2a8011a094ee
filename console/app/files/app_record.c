/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into the session's record: actions as they were understood, and the screen. */
#include "console/app/app_priv.h"

#include "console/session/samples/sample_reading.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "views/data/state/key_hint.h"
#include "views/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void app_record_missing(struct app *a, const struct err *err)
{
	log_add(LOG_WARN, "record", "this session is not recorded: %s", err->text);
	record_close(a->record, NULL);
	a->record = NULL;
	a->state.record_lost = false;
}

int app_record_start(struct app *a, struct err *err)
{
	struct record_opts ro = { .dir = a->opts.live.record_dir,
				  .fabric = a->opts.live.name,
				  .mode = a->opts.demo	 ? "demo"
					  : a->opts.load ? "file"
					  : a->opts.rw	 ? "rw"
							 : "ro",
				  .syslog = !a->opts.demo };
	int rc = record_start(&a->record, &ro, err);

	if (rc && a->opts.rw)
		return rc;
	if (rc)
		app_record_missing(a, err);
	return 0;
}

void app_record_welcome(struct app *a)
{
	if (a->opts.tour || shell_context(a->shell)->note[0])
		return;
	shell_say(a->shell, "first time here?  %s: all keys;  %s: a tour in three minutes",
		  key_hint("help"), a->demo ? ":tour" : "ibroute-top tour");
}

/* Has it been opened?  With --rw whoever starts the session waits for that, and ends it. */
static void app_record_look(struct app *a)
{
	struct err err;
	int rc = a->record ? record_opened(a->record, false, &err) : -EINPROGRESS;

	if (!rc) {
		if (!a->state.recording && !a->keys && a->term && record_is_first(a->record))
			app_record_welcome(a);
		a->state.recording = !a->state.record_lost;
	} else if (rc != -EINPROGRESS && !a->opts.rw) {
		app_record_missing(a, &err);
	}
}

static void app_record_lost(struct app *a, const struct err *err)
{
	if (!a->state.record_lost)
		log_add(LOG_ERROR, "record", "%s", err->text);
	a->state.recording = false;
	a->state.record_lost = true;
}

static void app_record_add(struct app *a, const char *type, json_t *data)
{
	struct err err;

	if (record_add(a->record, type, data, &err))
		app_record_lost(a, &err);
}

void app_record_action(struct app *a, const char *action, const char *detail)
{
	app_record_action_of(a, action, detail, NULL);
}

void app_record_action_of(struct app *a, const char *action, const char *detail, const char *txn)
{
	json_t *data;
	char label[128];

	if (!a->record)
		return;
	data = json_pack("{s:s}", "action", action);
	if (detail)
		json_object_set_new(data, "detail", json_text(detail));
	if (txn)
		json_object_set_new(data, "txn", json_text(txn));
	snprintf(label, sizeof(label), "%s%s%.80s", action, detail ? " " : "",
		 detail ? detail : "");
	record_mark(a->record, label);
	app_record_add(a, "key.action", data);
}

/* The end of the chain by now, where an update is shown. */
static void app_record_heads(struct app *a)
{
	struct state *s = &a->state;
	char hex[DIGEST_HEX];
	struct digest head;

	s->rec_head[0] = '\0';
	if (!a->record || s->apply.state == APPLY_NONE)
		return;
	record_head(a->record, &head, &s->rec_cast);
	s->rec_seq = record_seq(a->record);
	digest_hex(hex, &head);
	snprintf(s->rec_head, sizeof(s->rec_head), "%.4s..%.4s", hex, hex + DIGEST_HEX - 5);
}

/* What the record itself could not do shows as a gap. */
void app_record_error(struct app *a, const char *area, const char *text)
{
	if (a->record && strcmp(area, "record"))
		record_error(a->record, area, text);
}

void app_fail(struct app *a, const char *area, const char *text)
{
	shell_say(a->shell, "%s", text);
	app_record_error(a, area, text);
}

static json_t *app_record_figure(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* What was measured on the links between switches. */
static void app_record_live_line(struct app *a, const char *when, const struct live_metrics *l)
{
	if (l->known)
		app_record_add(a, "live.figures",
			       json_pack("{s:s, s:s, s:o, s:o, s:o}", "txn", a->state.apply.txn,
					 "when", when, "util_max_pct",
					 app_record_figure(l->util_max), "wait_max_pct",
					 app_record_figure(l->wait_max), "errors_per_min",
					 app_record_figure(l->errors_per_min)));
}

void app_record_phase(struct app *a, const struct executor_event *ev)
{
	struct live_metrics now;
	char label[128];

	if (!a->record || (ev->kind != APPLY_PHASE_BEGIN && ev->kind != APPLY_OUTCOME))
		return;
	if (ev->kind == APPLY_OUTCOME)
		snprintf(label, sizeof(label), "outcome %s", outcome_name(ev->outcome));
	else if (ev->phase == PHASE_WRITE)
		snprintf(label, sizeof(label), "phase WRITE wave %u", ev->wave + 1);
	else
		snprintf(label, sizeof(label), "phase %s", phase_name(ev->phase));
	record_mark(a->record, label);
	if (ev->kind == APPLY_OUTCOME) {
		live_metrics(&now, &a->state);
		app_record_live_line(a, "before", &a->state.apply.before);
		app_record_live_line(a, "after", &now);
	}
}

void app_record_screen(struct app *a)
{
	struct err err;

	if (!a->record)
		return;
	if (record_screen(a->record, a->canvas, a->state.colours, &err) ||
	    record_lost(a->record, &err)) {
		app_record_lost(a, &err);
	} else if (a->state.record_lost) {
		a->state.recording = true;
		a->state.record_lost = false;
		log_add(LOG_INFO, "record", "recording of this session has resumed");
	}
}

void app_record_resize(struct app *a)
{
	if (a->record)
		app_record_add(
			a, "session.resize",
			json_pack("{s:i, s:i}", "width", a->canvas->w, "height", a->canvas->h));
}

/* --- polls ----------------------------------------------------------------------------------- */

#define POLLS_S 60.0

static double app_record_most(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static uint32_t app_record_problem_ports(const struct app_polls *p)
{
	uint32_t n = 0;

	for (int kind = PROBLEM_NONE + 1; kind < PROBLEM_KINDS; kind++)
		n += p->problem[kind];
	return n;
}

static json_t *app_record_problems(const struct app_polls *p)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "down", (json_int_t)p->problem[PROBLEM_DOWN],
			 "no_reply", (json_int_t)p->problem[PROBLEM_NO_REPLY], "errors",
			 (json_int_t)p->problem[PROBLEM_ERRORS], "reduced",
			 (json_int_t)p->problem[PROBLEM_REDUCED]);
}

void app_record_polls(struct app *a)
{
	struct app_polls *p = &a->polls;

	if (!a->record || !p->n)
		return;
	app_record_add(a, "poll.summary",
		       json_pack("{s:I, s:f, s:I, s:I, s:f, s:o, s:o, s:I, s:o}", "polls",
				 (json_int_t)p->n, "seconds", clock_s() - p->since, "asked",
				 (json_int_t)p->asked, "answered", (json_int_t)p->answered,
				 "took_max_s", p->took_s, "util_max_pct",
				 app_record_figure(p->util_max), "wait_max_pct",
				 app_record_figure(p->wait_max), "problem_ports",
				 (json_int_t)app_record_problem_ports(p), "problems",
				 app_record_problems(p)));
	*p = (struct app_polls){ .told = p->asked - p->answered };
}

static void app_record_add_poll(struct app *a, const struct sample_reading *r)
{
	const struct sample_summary *t = r->sample_summary;
	const struct fabric_summary *v = &shell_context(a->shell)->summary;
	struct app_polls *p = &a->polls;
	uint32_t errors;

	if (!p->n++) {
		p->since = clock_s();
		p->util_max = p->wait_max = NAN;
	}
	p->asked = r->sample->asked;
	p->answered = r->sample->answered;
	p->took_s = fmax(p->took_s, (double)r->sample->took_ns / 1e9);
	if (t->top[HISTORY_UTIL].n)
		p->util_max = app_record_most(p->util_max, t->util[t->top[HISTORY_UTIL].chan[0]]);
	for (uint32_t i = 0; i < TIERS; i++)
		p->wait_max = app_record_most(p->wait_max, t->tier[i].wait_max);
	errors = p->problem[PROBLEM_ERRORS]; /* they come and go */
	sample_summary_problems(p->problem, t, a->state.limits.errors_per_min);
	if (p->problem[PROBLEM_ERRORS] < errors)
		p->problem[PROBLEM_ERRORS] = errors;
	/* ports without a link lead nowhere in the fabric: that they had one is known to the survey
	 */
	if (v->fabric && digest_equal(&v->fabric->fingerprint, &t->fabric->fingerprint))
		p->problem[PROBLEM_DOWN] += v->nlost;
}

void app_record_poll(struct app *a, const struct sample_reading *r)
{
	struct app_polls *p = &a->polls;

	if (!a->record)
		return;
	app_record_add_poll(a, r);
	if (p->asked - p->answered != p->told || clock_s() - p->since >= POLLS_S)
		app_record_polls(a);
}

void app_print_log(const struct app *a, const struct log_line *line)
{
	if (a->opts.no_screen && line->level >= LOG_WARN)
		fprintf(stderr, "ibroute-top: %s: %s: %s\n", log_level_name(line->level),
			line->area, line->text);
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_record_take(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	if (msg->type == MSG_LOG && !msg->printed)
		app_print_log(a, &msg->line);
	if (msg->type == MSG_LOG && msg->line.level == LOG_ERROR)
		app_record_error(a, msg->line.area, msg->line.text);
	return msg->type == MSG_LOG;
}

static void app_record_refresh(struct app *a)
{
	app_record_look(a);
	app_record_heads(a);
}

const struct app_part app_record_part = { .take = app_record_take, .refresh = app_record_refresh };
