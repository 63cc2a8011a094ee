/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/batch/batch.h"

#include "console/app/app_priv.h"
#include "console/batch/batch_record.h"
#include "console/prom/prom_effect.h"
#include "console/prom/prom_listen.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "fabric/base/time/clock.h"
#include "fabric/baseline/findings.h"
#include "views/table/table.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS	 500
#define SETTLE_S 60 /* the first record waits so long for metrics of the routing and for jobs */

struct batch {
	struct app *a;
	const struct batch_opts *o;
	unsigned needs; /* enum field_need */
	struct fabric_summary survey;
	struct row_order rows;
	struct prom_server *server;
	struct prom_effect *effect; /* of updates; NULL: nobody wants it */
	struct progress_line watch; /* until the first record */
	uint64_t sample_ns;	    /* of the newest record */
	unsigned done;
	double rated_at; /* time of the first rates; 0: none yet */
	bool partial, findings, late_logged, lost_reported;
};

/* --- when a record is due ---------------------------------------------------------------- */

/* A file has one sample only, but its jobs and metrics may come later. */
static bool batch_has_data(const struct batch *b)
{
	const struct state *s = &b->a->state;

	if (!s->fabric)
		return false;
	if (s->mode == RUN_FILE || !(b->needs & NEED_COUNTERS))
		return !b->done;
	return (s->rates || !(b->needs & NEED_RATES)) && s->sample &&
	       s->sample->time_ns != b->sample_ns;
}

/* A collector tells it a while after it was started, if it keeps anything. */
static bool batch_awaits_activity(const struct batch *b)
{
	return b->o->kind == BATCH_ACTIVITY && !b->a->acts && b->a->state.collector.on &&
	       b->a->state.collector.keeping != KEEPING_UNKNOWN;
}

/* The counters that it compares with those of the last run. */
static bool batch_awaits_errors(const struct batch *b)
{
	const struct findings *l = b->a->state.findings;

	return b->a->errors_awaited || (b->a->opts.watch_key[0] && l && !l->errors);
}

static bool batch_settled(const struct batch *b)
{
	const struct state *s = &b->a->state;
	bool no_tables = !s->tables && s->mode == RUN_FILE;

	if (!(b->needs & (NEED_LFTS | NEED_SL2VL)))
		return true;
	return s->jobs_source.state != JOBS_WAITING &&
	       (no_tables || (s->tables && !s->poll.tables_on && !s->metrics_busy));
}

static bool batch_due(struct batch *b)
{
	const struct state *s = &b->a->state;

	if (!batch_has_data(b))
		return false;
	if (b->done || (batch_settled(b) && !batch_awaits_errors(b) && !batch_awaits_activity(b)))
		return true;
	if (s->poll.tables_on)
		return false;
	if (!b->rated_at)
		b->rated_at = clock_s();
	if (clock_s() - b->rated_at < SETTLE_S)
		return false;
	if (!b->late_logged)
		log_add(LOG_WARN, "batch", "after %d s %s still missing: printed as unknown",
			SETTLE_S,
			s->jobs_source.state == JOBS_WAITING ? "the jobs are"
			: s->tables ? "the metrics of the installed routing are"
				    : "the installed tables are");
	b->late_logged = true;
	return true;
}

/* --- records ----------------------------------------------------------------------------- */

static bool batch_is_complete(const struct batch *b)
{
	const struct state *s = &b->a->state;

	return s->mode != RUN_LOST && s->poll.answered >= s->poll.asked && !s->poll.missing_sw &&
	       !s->poll.missing_ca &&
	       (!(b->needs & NEED_JOBS) || (s->jobs_source.state != JOBS_UNREACHABLE &&
					    s->jobs_source.state != JOBS_WAITING)) &&
	       !b->a->fabric_partial && !b->a->tables_partial &&
	       (!s->tables || state_vls_known(s) || !(b->needs & NEED_SL2VL));
}

static uint64_t batch_faults(const struct state *s)
{
	const struct verdict *v = s->verdict;

	if (!v || verdict_ok(v))
		return 0;
	/* without the service levels it is unknown whether packets can deadlock */
	return !v->connected || !v->loop_free || !v->vls_fit || s->sls_known;
}

/* Counters that rose too much; with limits of a file also those that are above them, as far as no
 * row has told of them. */
static uint64_t batch_errors_found(const struct batch *b, const struct state *s)
{
	const struct findings *l = s->findings;
	uint64_t n = batch_findings_over(NULL, l, b->o, s->fabric);

	for (size_t i = 0; l && i < l->n; i++)
		n += l->v[i].kind == FINDING_ERRORS;
	return n;
}

/* As the saved view has it. */
static bool batch_only_problems(const struct batch_opts *o)
{
	return o->kind < ROW_KINDS && o->saved.view.name[0] && o->saved.view.problems;
}

/* Rows that match the filter; without one, problems of the fabric. */
static uint64_t batch_count_findings(struct batch *b, const struct batch_record *r)
{
	const struct state *s = r->s;
	const struct fabric_summary *v = r->v;

	if ((b->o->filter || batch_only_problems(b->o)) && !b->o->threshold_text)
		return r->rows->n;
	if (b->o->filter)
		return r->rows->n + batch_errors_found(b, s);
	return findings_count(s->findings) + (uint64_t)v->down + v->reduced + v->errors +
	       v->no_reply + s->poll.missing_sw + s->poll.missing_ca + batch_faults(s);
}

static void batch_keep_problems(struct row_order *o, const struct rows *rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++)
		if (table_problem(rows, o->row[i]))
			o->row[n++] = o->row[i];
	o->n = n;
}

static void batch_select_rows(struct batch *b, struct batch_record *r)
{
	const struct rows rows = {
		b->o->kind >= ROW_KINDS ? ROWS_PORTS : b->o->kind,
		r->s,
		r->v,
	};

	if (b->o->kind >= ROW_KINDS && !b->o->filter)
		return;
	rows_select(&b->rows, &rows, b->o->filter, b->o->sort, b->o->reverse);
	if (batch_only_problems(b->o))
		batch_keep_problems(&b->rows, &rows);
}

/* The texts of one record: made with the lock of the events, written without it, as a pipe or a
 * file may be slow and the poller needs that lock. */
struct batch_output {
	char *text, *metrics; /* NULL: not wanted */
	size_t text_len, metrics_len;
};

static void batch_render(struct batch_output *out, const struct batch *b,
			 const struct batch_record *r)
{
	if (b->o->formed)
		out->text = batch_record_text(r, &out->text_len);
	if (b->o->prom_file || b->server) {
		FILE *f = open_memstream(&out->metrics, &out->metrics_len);

		prom_print(f, r);
		fclose(f);
	}
}

static int batch_write_metrics(const struct batch_output *out, const char *path, struct err *err)
{
	struct output_file o;
	int rc = output_file_open(&o, path, err);

	if (rc)
		return rc;
	fwrite(out->metrics, 1, out->metrics_len, o.file);
	return output_file_end(&o, 0, err);
}

/* Writes and frees them. */
static int batch_put_out(struct batch *b, struct batch_output *out, struct err *err)
{
	int rc = 0;

	if (out->text)
		rc = batch_record_write(out->text, out->text_len, err);
	if (!rc && b->o->prom_file)
		rc = batch_write_metrics(out, b->o->prom_file, err);
	if (!rc && b->server) {
		prom_server_text(b->server, out->metrics);
		out->metrics = NULL;
	}
	free(out->text);
	free(out->metrics);
	return rc;
}

static int batch_record(struct batch *b, struct err *err)
{
	struct app *a = b->a;
	struct batch_record r = {
		.a = a, .v = &b->survey, .o = b->o, .rows = &b->rows, .effect = b->effect
	};
	struct batch_output out = { .text = NULL };
	int rc = 0;

	app_refresh(a);
	if (b->o->against && !a->state.against)
		rc = app_against_now(a, b->o->against, err);
	if (!rc && b->o->at)
		rc = batch_go_to(a, b->o->at, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&a->events_lock);
	r.s = app_shown(a);
	fabric_summary_update(&b->survey, r.s);
	if (b->effect)
		prom_effect_sample(b->effect, a->updates, &b->survey);
	batch_select_rows(b, &r);
	r.complete = batch_is_complete(b);
	r.findings = batch_count_findings(b, &r);
	if (b->o->top && b->rows.n > b->o->top)
		b->rows.n = b->o->top;
	if (b->o->kind == BATCH_HEATMAP)
		rc = batch_heat_check(&r, err);
	if (b->o->kind == BATCH_ACTIVITY)
		rc = batch_activity_check(a, err);
	if (!rc)
		batch_render(&out, b, &r);
	pthread_mutex_unlock(&a->events_lock);
	if (!rc)
		rc = batch_put_out(b, &out, err);
	if (!rc && a->export_failed.text[0])
		rc = err_set(err, -EIO, "export: %s", a->export_failed.text);
	if (!rc && b->o->check) {
		batch_findings_tell(stderr, r.s->findings);
		batch_findings_over(stderr, r.s->findings, b->o, r.s->fabric);
	}
	b->partial = b->partial || !r.complete;
	b->findings = b->findings || r.findings;
	b->sample_ns = a->state.sample ? a->state.sample->time_ns : 0;
	b->done++;
	return rc;
}

/* --- the run ----------------------------------------------------------------------------- */

static void batch_wait_for_more(const struct app *a)
{
	struct pollfd fds[2] = {
		{ .fd = mailbox_fd(a->box), .events = POLLIN },
		{ .fd = a->source ? source_fd(a->source) : -1, .events = POLLIN },
	};

	poll(fds, 2, WAIT_MS);
}

/* A stream waits for the port, or the collector, to return; meanwhile only what is down is served.
 */
static bool batch_gave_up(struct batch *b, struct err *err)
{
	const struct state *s = &b->a->state;

	if (s->mode != RUN_LOST) {
		b->lost_reported = false;
		return false;
	}
	if (!b->lost_reported && b->server && b->done)
		prom_server_text(b->server, prom_down(s));
	b->lost_reported = true;
	if (b->done && !b->o->count)
		return false;
	err_set(err, -EIO, "%s", s->lost_why);
	return true;
}

static int batch_exit_code(const struct batch *b)
{
	if (b->o->check && b->findings)
		return EXIT_FINDINGS;
	return b->partial ? EXIT_PARTIAL : EXIT_OK;
}

/* Needs neither samples nor jobs. */
static int batch_differences(struct batch *b, struct err *err)
{
	const struct state *s = &b->a->state;
	bool complete = !s->poll.missing_sw && !s->poll.missing_ca && !b->a->fabric_partial;
	int rc = batch_diff(b->a, b->o, &complete, err);

	if (rc < 0)
		return EXIT_UNREADABLE;
	if (rc)
		return EXIT_FINDINGS;
	return complete ? EXIT_OK : EXIT_PARTIAL;
}

/* Shows on a terminal what the first record waits for. */
static void batch_show_wait(struct batch *b)
{
	const struct state *s = &b->a->state;
	char text[160];

	if (b->done)
		return;
	if (!s->fabric)
		snprintf(text, sizeof(text), "discovering the fabric: %u switches, %u hosts%s%s",
			 s->poll.found_sw, s->poll.found_ca, s->poll.pace[0] ? ": " : "",
			 s->poll.pace);
	else if (s->mode != RUN_FILE && !s->tables && (b->needs & NEED_LFTS))
		snprintf(text, sizeof(text), "%s",
			 s->poll.tables_pace[0] ? s->poll.tables_pace : "reading the tables");
	else if (s->poll.tables_on)
		snprintf(text, sizeof(text), "%s",
			 s->poll.tables_pace[0] ? s->poll.tables_pace : "reading SL2VL");
	else if (s->mode != RUN_FILE && !s->rates)
		snprintf(text, sizeof(text), "reading the counters twice, %.3g s apart",
			 s->poll.interval_s);
	else
		snprintf(text, sizeof(text), "metrics of the routing%s%s",
			 s->metrics_step[0] ? ": " : "", s->metrics_step);
	progress_line_tell(&b->watch, text);
}

static int batch_loop(struct batch *b, const volatile sig_atomic_t *stop, struct err *err)
{
	struct app *a = b->a;
	bool file = a->state.mode == RUN_FILE;

	while (!*stop) {
		app_take_messages(a);
		app_take_jobs(a);
		if (batch_gave_up(b, err))
			return EXIT_UNREADABLE;
		if (b->o->diff && a->state.fabric) {
			progress_line_stop(&b->watch);
			return batch_differences(b, err);
		}
		if (!b->o->diff && batch_due(b)) {
			int rc;

			progress_line_stop(&b->watch);
			rc = batch_record(b, err);

			if (rc == -EPIPE)
				return 128 + SIGPIPE;
			if (rc)
				return EXIT_FINDINGS;
			if (b->done == b->o->count || ((file || b->o->at) && !b->server))
				return batch_exit_code(b);
		}
		batch_show_wait(b);
		batch_wait_for_more(a);
	}
	progress_line_stop(&b->watch);
	return 128 + *stop;
}

/* Returns rc, or the exit code of a failure. */
static int batch_save(struct batch *b, int rc, const volatile sig_atomic_t *stop, struct err *err)
{
	struct progress_line watch = { .files = false };
	int failed;

	if (rc <= 128) /* after a signal the samples so far are saved */
		progress_line_files_until(&watch, stop);
	failed = app_snapshot_to(b->a, b->o->save, err);
	progress_line_files_end(&watch);
	if (failed == -ECANCELED)
		return 128 + *stop;
	return failed ? EXIT_FINDINGS : rc;
}

int batch_run(struct app *a, const struct batch_opts *o, const volatile sig_atomic_t *stop)
{
	struct batch b = { .a = a, .o = o, .needs = batch_opts_need(o) };
	struct err err = { "" };
	int rc = 0;

	if (batch_opts_metrics(o))
		b.effect = prom_effect_new();
	progress_line_start(&b.watch);
	app_notes_read_now(a);
	if (b.o->at && a->feed && !feed_has_past(a->feed)) {
		err_set(&err, -EINVAL,
			"--at selects a saved sample: it needs --load, or a collector "
			"that keeps the past (see 'collect --help')");
		rc = EXIT_BAD_USAGE;
	}
	if (!rc && b.o->prom_listen && prom_server_start(&b.server, b.o->prom_listen, &err))
		rc = EXIT_BAD_USAGE;
	if (!rc)
		rc = batch_loop(&b, stop, &err);
	if (b.o->mark && b.done)
		app_history_act(a, &b.o->set_mark);
	if (b.o->save && b.done)
		rc = batch_save(&b, rc, stop, &err);
	if (err.text[0] && rc != 128 + SIGPIPE)
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	prom_server_stop(b.server);
	prom_effect_free(b.effect);
	row_order_done(&b.rows);
	fabric_summary_done(&b.survey);
	return rc;
}
