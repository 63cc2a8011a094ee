/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/audit_report.h"

#include "console/record/audit/audit.h"
#include "console/record/record_files.h"
#include "console/record/record_read.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/protocol/coordinator.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WRITES_SHOWN 200 /* blocks with their hashes; the record has them all */

static const json_t *audit_report_data_of(const struct audit_change *c, uint32_t i)
{
	return json_object_get(c->line[i], "data");
}

static bool audit_report_is(const struct audit_change *c, uint32_t i, const char *type)
{
	return !strcmp(json_string_at(c->line[i], "type"), type);
}

/* --- the lines of an update --------------------------------------------------------------- */

/* Lines before an update has its ID: its plan, the metrics of that, the order to start it, and the
 * first lines of its start. */
#define PRELUDE 5

struct gather {
	struct audit_change *c;
	const char *id;
	json_t *prelude[PRELUDE]; /* the latest of each */
	VEC(json_t *) lines;
	VEC(struct report_file) files;
	struct audit_dir *dir; /* that is being read; NULL: single files */
	int rc;
	struct err *err;
};

/* Actions whose detail is the ID of an update: its record may be read after theirs. */
static bool audit_report_names_update(const json_t *data)
{
	static const char *const actions[] = { "apply.keep", "abort",  "rollback",
					       "recover",    "extend", "detach" };
	const char *action = json_string_at(data, "action");

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(action, actions[i]))
			return true;
	return false;
}

/* The update a line is about; some actions name it as their detail. */
static const char *audit_report_txn_of(const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *txn = json_string_at(data, "txn");

	if (txn[0] || strcmp(json_string_at(j, "type"), "key.action"))
		return txn;
	return audit_report_names_update(data) ? json_string_at(data, "detail") : "";
}

static bool audit_report_about(struct gather *g, const json_t *j)
{
	const char *txn = audit_report_txn_of(j);

	if (!txn[0] || strncmp(txn, g->id, strlen(g->id)))
		return false;
	if (g->c->txn[0] && strcmp(g->c->txn, txn)) {
		g->rc = err_set(g->err, -EINVAL,
				"both %s and %s begin with %s: give more "
				"characters",
				g->c->txn, txn, g->id);
		return false;
	}
	snprintf(g->c->txn, sizeof(g->c->txn), "%s", txn);
	return true;
}

/* The place of a line among those of the prelude; PRELUDE: none of them. */
static int audit_report_prelude_of(const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *type = json_string_at(j, "type");

	if (!strcmp(type, "plan.create"))
		return 0;
	if (!strcmp(type, "plan.figures"))
		return 1;
	if (!strcmp(type, "key.action") && !strcmp(json_string_at(data, "action"), "apply.start"))
		return 2;
	if (!strcmp(type, "apply.begin"))
		return 3;
	if (!strcmp(type, "phase.begin") && !audit_report_txn_of(j)[0])
		return 4;
	return PRELUDE;
}

static bool audit_report_take_line(void *ctx, json_t *line)
{
	struct gather *g = ctx;
	int place = audit_report_prelude_of(line);

	if (audit_report_about(g, line)) {
		for (int i = 0; i < PRELUDE; i++)
			if (g->prelude[i])
				vec_push(&g->lines, g->prelude[i]);
		memset(g->prelude, 0, sizeof(g->prelude));
		vec_push(&g->lines, json_incref(line));
	} else if (place < PRELUDE) {
		json_decref(g->prelude[place]);
		g->prelude[place] = json_incref(line);
	}
	return !g->rc;
}

static void audit_report_take_file(struct gather *g, const char *path)
{
	size_t before = g->lines.n;
	int rc = record_lines(path, audit_report_take_line, g, g->err);

	g->rc = g->rc ? g->rc : rc;
	for (int i = 0; i < PRELUDE; i++)
		json_decref(g->prelude[i]);
	memset(g->prelude, 0, sizeof(g->prelude));
	if (g->lines.n > before) {
		struct report_file rf = { .path = xstrdup(path) };

		if (audit_verify(&rf.verdict, path, &(const struct audit_opts){ .dir = g->dir },
				 NULL))
			rf.verdict.ok = false;
		vec_push(&g->files, rf);
	}
}

static void audit_report_take_name(struct gather *g, const char *name)
{
	struct record_files files;
	struct stat st;

	if (stat(name, &st) || !S_ISDIR(st.st_mode)) {
		audit_report_take_file(g, name);
		return;
	}
	record_files_list(&files, name);
	g->dir = audit_dir_read(name);
	for (size_t i = 0; i < files.n && !g->rc; i++)
		audit_report_take_file(g, files.v[i]);
	audit_dir_free(g->dir);
	g->dir = NULL;
	record_files_free(&files);
}

static int audit_report_by_time(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int by_ts = strcmp(json_string_at(x, "ts"), json_string_at(y, "ts"));
	json_int_t sx = json_integer_at(x, "seq"), sy = json_integer_at(y, "seq");

	return by_ts ? by_ts : (sx > sy) - (sx < sy);
}

int audit_change_read(struct audit_change *out, const char *id, char *const *names, int n,
		      struct err *err)
{
	struct gather g = { .c = out, .id = id, .err = err };

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < n && !g.rc; i++)
		audit_report_take_name(&g, names[i]);
	if (!g.rc && !g.lines.n)
		g.rc = err_set(err, -ENOENT, "no record of an update %s", id);
	if (g.lines.n)
		qsort(g.lines.v, g.lines.n, sizeof(*g.lines.v), audit_report_by_time);
	out->line = g.lines.v;
	out->n = (uint32_t)g.lines.n;
	out->file = g.files.v;
	out->nfiles = (uint32_t)g.files.n;
	for (uint32_t i = 0; i < out->n; i++) {
		json_t *data = json_object_get(out->line[i], "data");

		if (!strcmp(json_string_at(out->line[i], "type"), "plan.create"))
			out->plan = data;
		if (!strcmp(json_string_at(out->line[i], "type"), "plan.figures"))
			out->figures = data;
	}
	if (g.rc)
		audit_change_free(out);
	return g.rc;
}

void audit_change_free(struct audit_change *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		json_decref(c->line[i]);
	for (uint32_t i = 0; i < c->nfiles; i++)
		free(c->file[i].path);
	free(c->line);
	free(c->file);
	memset(c, 0, sizeof(*c));
}

/* --- who, what, how it ended ------------------------------------------------------------- */

/* The entries of two sessions may alternate. */
static bool audit_report_is_known_session(const struct audit_change *c, uint32_t i)
{
	const char *sid = json_string_at(c->line[i], "sid");

	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(json_string_at(c->line[k], "sid"), sid))
			return true;
	return false;
}

static void audit_report_put_who(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "uid", "login uid", "from", "session", "record" };

	doc_heading(d, "Who");
	doc_table(d, 5, head);
	for (uint32_t i = 0; i < c->n; i++) {
		const json_t *user = json_object_get(c->line[i], "user");
		const json_t *login = json_object_get(user, "loginuid");
		const char *sid = json_string_at(c->line[i], "sid"),
			   *ssh = json_string_at(user, "ssh");
		char uid[24], loginuid[24] = "not set", file[80] = "";

		if (audit_report_is_known_session(c, i))
			continue;
		snprintf(uid, sizeof(uid), "%" PRId64, (int64_t)json_integer_at(user, "uid"));
		if (json_is_integer(login))
			snprintf(loginuid, sizeof(loginuid), "%" PRId64,
				 (int64_t)json_integer_value(login));
		snprintf(file, sizeof(file), "%.60s.jsonl", sid);
		doc_row(d, (const char *[]){ uid, loginuid, ssh[0] ? ssh : "this machine", sid,
					     file });
	}
	doc_table_end(d);
}

static const char *audit_report_outcome(const struct audit_change *c)
{
	for (uint32_t i = c->n; i--;)
		if (audit_report_is(c, i, "confirm") || audit_report_is(c, i, "apply.end"))
			return json_string_at(audit_report_data_of(c, i), "outcome");
	return "no outcome recorded";
}

/* Why the update was not confirmed; "": it was, or no reason is recorded. */
static const char *audit_report_cause(const struct audit_change *c)
{
	for (uint32_t i = c->n; i--;)
		if (audit_report_is(c, i, "apply.end"))
			return coord_why_text(coord_why_by_name(
				json_string_at(audit_report_data_of(c, i), "why")));
	return "";
}

/* The files that the tables were read from. */
static void audit_report_put_files(struct report_doc *d, const json_t *files)
{
	json_t *one;
	size_t i;

	json_array_foreach(files, i, one)
	{
		char what[32];

		snprintf(what, sizeof(what), "file of %.16s", json_string_at(one, "kind"));
		doc_row(d, (const char *[]){ what, json_string_at(one, "path") });
		doc_row(d,
			(const char *[]){ "SHA-256 of the file", json_string_at(one, "sha256") });
	}
}

/* A key of the record and how the report names it. */
struct report_row {
	const char *key, *label;
};

static const char *audit_report_value(char buf[32], const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		snprintf(buf, 32, "%" PRId64, (int64_t)json_integer_value(v));
	else if (json_is_real(v) && fabs(json_real_value(v)) > 0 && fabs(json_real_value(v)) < 0.01)
		snprintf(buf, 32, "%.6f", json_real_value(v)); /* seconds per MiB */
	else if (json_is_real(v))
		snprintf(buf, 32, "%.2f", json_real_value(v));
	else
		snprintf(buf, 32, "-");
	return buf;
}

static void audit_report_put_plan(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "", "" };
	static const struct report_row rows[] = {
		{ "plan", "plan" },
		{ "hash", "SHA-256 of the plan" },
		{ "fabric", "fabric" },
		{ "fingerprint", "fingerprint of the fabric" },
		{ "engine", "routing engine" },
		{ "params", "options of the engine" },
		{ "from", "tables before" },
		{ "to", "tables after" },
		{ "lft_blocks", "LFT blocks" },
		{ "lft_entries", "LFT entries changed" },
		{ "sl2vl_tables", "SL2VL tables" },
	};
	char buf[32];

	if (!c->plan)
		return;
	doc_heading(d, "Plan");
	doc_table(d, 2, head);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		doc_row(d, (const char *[]){ rows[i].label,
					     audit_report_value(buf, c->plan, rows[i].key) });
	audit_report_put_files(d, json_object_get(c->plan, "files"));
	doc_row(d, (const char *[]){ "has to drain", json_string_at(c->plan, "drain") });
	doc_table_end(d);
}

/* --- figures ----------------------------------------------------------------------------- */

/* What neither has is left out. */
static void audit_report_put_pairs(struct report_doc *d, const struct report_row *row, size_t n,
				   const json_t *before, const json_t *after)
{
	char a[32], b[32];

	for (size_t i = 0; i < n; i++) {
		const char *key = row[i].key;

		if (!json_object_get(before, key) && !json_object_get(after, key))
			continue;
		doc_row(d, (const char *[]){ row[i].label, audit_report_value(a, before, key),
					     audit_report_value(b, after, key) });
	}
	doc_table_end(d);
}

static const json_t *audit_report_live(const struct audit_change *c, const char *when)
{
	for (uint32_t i = c->n; i--;)
		if (audit_report_is(c, i, "live.figures") &&
		    !strcmp(json_string_at(audit_report_data_of(c, i), "when"), when))
			return audit_report_data_of(c, i);
	return NULL;
}

static double audit_report_largest(const json_t *cells)
{
	double top = 0;

	for (size_t y = 0; y < json_array_size(cells); y++) {
		const json_t *row = json_array_get(cells, y);

		for (size_t x = 0; x < json_array_size(row); x++)
			top = fmax(top, (double)json_integer_value(json_array_get(row, x)));
	}
	return top;
}

static void audit_report_put_pictures(struct report_doc *d, const json_t *heat)
{
	double top = fmax(audit_report_largest(json_object_get(heat, "before")),
			  audit_report_largest(json_object_get(heat, "after")));

	doc_heat(d, heat, "before", top);
	doc_heat(d, heat, "after", top);
}

static void audit_report_put_figures(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "metric", "before", "predicted" };
	/* time decides, EFI explains it; earlier records have no times */
	static const struct report_row rows[] = {
		{ "time_mean", "time of jobs, mean" },
		{ "time_worst", "time of the slowest job" },
		{ "time_s_per_mib", "time of jobs, s per MiB" },
		{ "small_time_mean", "time of jobs, small messages" },
		{ "base_time_mean", "time of jobs, base LIDs only" },
		{ "io_time_mean", "I/O time of jobs, mean" },
		{ "demand_time", "time of the demand" },
		{ "sync", "shift efficiency, all hosts" },
		{ "rate_mean", "mean rate, all hosts" },
		{ "job_efi_max", "job EFI, maximum" },
		{ "job_efi_bound", "job EFI, lower bound of the maximum" },
		{ "job_efi_mean", "job EFI, mean" },
		{ "efi_max", "EFI, maximum" },
		{ "efi_mean", "EFI, mean" },
		{ "efi_stddev", "EFI, standard deviation" },
		{ "dark_links", "unused links" },
		{ "dark_pct", "unused links, %" },
		{ "hops_max", "hops, maximum" },
		{ "hops_mean", "hops, mean" },
		{ "vls", "virtual lanes (VLs)" },
		{ "unreachable", "unreachable pairs of hosts" },
	};
	const json_t *before = json_object_get(c->figures, "before");
	const json_t *after = json_object_get(c->figures, "after");
	const json_t *heat = json_object_get(c->figures, "heat");
	const json_t *gate = json_object_get(c->figures, "time_gate");
	const char *pattern;

	if (!c->figures)
		return;
	pattern = json_string_at(c->figures, "pattern");
	doc_heading(d, "Metrics");
	doc_text(d,
		 "Time is how long the messages of jobs take (%s) in units of one without "
		 "contention. EFI explains it: the number of paths over a link in one direction; "
		 "job EFI counts only paths between hosts of a job. Jobs: %" PRId64 ".",
		 *pattern ? pattern : "alltoall", (int64_t)json_integer_at(c->figures, "jobs"));
	if (json_is_true(json_object_get(gate, "slower")))
		doc_text(d, "Slower than before: %s.", json_string_at(gate, "text"));
	doc_table(d, 3, head);
	audit_report_put_pairs(d, rows, sizeof(rows) / sizeof(*rows), before, after);
	if (json_is_object(heat))
		audit_report_put_pictures(d, heat);
}

static void audit_report_put_measured(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "measured", "before", "after" };
	static const struct report_row rows[] = {
		{ "util_max_pct", "utilisation, maximum, %" },
		{ "wait_max_pct", "XmitWait, maximum, %" },
		{ "errors_per_min", "port errors per minute" },
	};
	const json_t *before = audit_report_live(c, "before"),
		     *after = audit_report_live(c, "after");

	if (!before && !after)
		return;
	doc_table(d, 3, head);
	audit_report_put_pairs(d, rows, sizeof(rows) / sizeof(*rows), before, after);
}

/* --- phases and writes ------------------------------------------------------------------- */

/* Where phases end, in the order of session, phase, wave and line. */
struct phase_end {
	const char *sid, *phase; /* borrowed from the line */
	int64_t wave;
	uint32_t at;
};

struct phase_ends {
	struct phase_end *v;
	uint32_t n;
	uint32_t *outcome; /* by line: the next one with the outcome; 0: none */
};

static struct phase_end audit_report_phase_of(const struct audit_change *c, uint32_t i)
{
	const json_t *data = audit_report_data_of(c, i);

	return (struct phase_end){ json_string_at(c->line[i], "sid"), json_string_at(data, "phase"),
				   json_integer_at(data, "wave"), i };
}

static int audit_report_by_phase(const void *pa, const void *pb)
{
	const struct phase_end *a = pa, *b = pb;
	int by = strcmp(a->sid, b->sid);

	by = by ? by : strcmp(a->phase, b->phase);
	by = by ? by : (a->wave > b->wave) - (a->wave < b->wave);
	return by ? by : (a->at > b->at) - (a->at < b->at);
}

static void audit_report_find_ends(struct phase_ends *e, const struct audit_change *c)
{
	e->v = xcalloc(c->n + 1u, sizeof(*e->v));
	e->outcome = xcalloc(c->n + 1u, sizeof(*e->outcome));
	for (uint32_t i = c->n, outcome = 0; i--;) {
		e->outcome[i] = outcome;
		if (audit_report_is(c, i, "confirm") || audit_report_is(c, i, "apply.end"))
			outcome = i;
		if (audit_report_is(c, i, "phase.end") || audit_report_is(c, i, "rollback.end"))
			e->v[e->n++] = audit_report_phase_of(c, i);
	}
	if (e->n)
		qsort(e->v, e->n, sizeof(*e->v), audit_report_by_phase);
}

static void audit_report_free_ends(struct phase_ends *e)
{
	free(e->v);
	free(e->outcome);
}

/* Index of the end of the phase that line i begins; 0: none.  CONFIRM may end with the outcome. */
static uint32_t audit_report_end_of(const struct phase_ends *e, const struct audit_change *c,
				    uint32_t i)
{
	struct phase_end begin = audit_report_phase_of(c, i), found;
	uint32_t lo = 0, hi = e->n, end = 0, outcome = e->outcome[i];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (audit_report_by_phase(&e->v[mid], &begin) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < e->n) {
		found = e->v[lo];
		found.at = i;
		end = audit_report_by_phase(&found, &begin) ? 0 : e->v[lo].at;
	}
	if (!strcmp(begin.phase, "CONFIRM") && outcome && (!end || outcome < end))
		end = outcome;
	return end;
}

static void audit_report_put_phases(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "phase", "wave", "start (UTC)", "duration", "result" };
	struct phase_ends ends = { 0 };

	audit_report_find_ends(&ends, c);
	doc_heading(d, "Phases");
	doc_table(d, 5, head);
	for (uint32_t i = 0; i < c->n; i++) {
		const json_t *data = audit_report_data_of(c, i);
		char wave[24], took[32] = "-";
		uint32_t end;

		if (!audit_report_is(c, i, "phase.begin") &&
		    !audit_report_is(c, i, "rollback.begin"))
			continue;
		end = audit_report_end_of(&ends, c, i);
		wave[0] = '\0';
		if (!strcmp(json_string_at(data, "phase"), "WRITE"))
			snprintf(wave, sizeof(wave), "%" PRId64,
				 (int64_t)json_integer_at(data, "wave") + 1);
		if (end)
			snprintf(took, sizeof(took), "%.3f s",
				 (double)(json_integer_at(c->line[end], "mono_ns") -
					  json_integer_at(c->line[i], "mono_ns")) /
					 1e9);
		doc_row(d, (const char *[]){
				   json_string_at(data, "phase"), wave,
				   json_string_at(c->line[i], "ts"), took,
				   !end ? "no end recorded"
				   : json_integer_at(audit_report_data_of(c, end), "status")
					   ? json_string_at(audit_report_data_of(c, end), "text")
					   : "done" });
	}
	doc_table_end(d);
	audit_report_free_ends(&ends);
}

static const char *audit_report_short_hash(char buf[16], const json_t *j)
{
	const char *s = json_string_value(j);

	snprintf(buf, 16, "%.12s", s ? s : "");
	return buf;
}

/* A value of a block or table; old records have arrays instead of objects. */
static const json_t *audit_report_part_of(const json_t *w, const char *name, size_t at)
{
	return json_is_object(w) ? json_object_get(w, name) : json_array_get(w, at);
}

static void audit_report_put_took(char buf[32], const json_t *w, size_t at)
{
	const json_t *ms = json_object_get(w, "ms");
	json_int_t us = json_integer_value(json_array_get(w, at));

	if (json_is_number(ms))
		snprintf(buf, 32, "%.3f", json_number_value(ms));
	else if (us)
		snprintf(buf, 32, "%.3f", (double)us / 1000);
	else
		snprintf(buf, 32, "-"); /* OpenSM does not report it */
}

static void audit_report_put_write(struct report_doc *d, const json_t *sw, const json_t *w,
				   bool lft, const char *wave)
{
	char where[64], from[16], to[16], took[32];
	const char *name = json_string_at(sw, "name");
	size_t at = lft ? 1 : 2;

	if (lft)
		snprintf(where, sizeof(where), "block %" PRId64,
			 (int64_t)json_integer_value(audit_report_part_of(w, "block", 0)));
	else
		snprintf(where, sizeof(where), "in %" PRId64 " out %" PRId64,
			 (int64_t)json_integer_value(audit_report_part_of(w, "in", 0)),
			 (int64_t)json_integer_value(audit_report_part_of(w, "out", 1)));
	audit_report_put_took(took, w, at + 3);
	doc_row(d, (const char *[]){
			   wave, name[0] ? name : json_string_at(sw, "sw"), where,
			   audit_report_short_hash(from, audit_report_part_of(w, "old", at)),
			   audit_report_short_hash(to, audit_report_part_of(w, "new", at + 1)),
			   json_integer_value(audit_report_part_of(w, "status", at + 2)) ? "failed"
											 : "ok",
			   took });
}

/* The blocks or tables of one switch; *n counts all, also those that are not shown. */
static void audit_report_put_switch(struct report_doc *d, const json_t *sw, bool lft,
				    const char *wave, size_t *n)
{
	const json_t *list = json_object_get(sw, lft ? "blocks" : "tables");

	for (size_t i = 0; i < json_array_size(list); i++)
		if ((*n)++ < WRITES_SHOWN)
			audit_report_put_write(d, sw, json_array_get(list, i), lft, wave);
}

static void audit_report_put_blocks(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "wave",	   "switch", "what", "old SHA-256",
					    "new SHA-256", "status", "ms" };
	size_t n = 0;

	doc_heading(d, "Writes");
	doc_table(d, 7, head);
	for (uint32_t i = 0; i < c->n; i++) {
		const json_t *data = audit_report_data_of(c, i);
		const json_t *list = json_object_get(data, "switches");
		bool lft = audit_report_is(c, i, "lft.write");
		char wave[32];

		if (!lft && !audit_report_is(c, i, "sl2vl.write"))
			continue;
		snprintf(wave, sizeof(wave), "%" PRId64 "%s",
			 (int64_t)json_integer_at(data, "wave") + 1,
			 json_is_true(json_object_get(data, "rollback")) ? " back" : "");
		for (size_t k = 0; k < json_array_size(list); k++)
			audit_report_put_switch(d, json_array_get(list, k), lft, wave, &n);
	}
	doc_table_end(d);
	doc_text(d, "%zu writes%s.", n,
		 n > WRITES_SHOWN ? ", of which only the first are shown; the record has all" : "");
}

/* An entry as a sentence. */
static void audit_report_sentence(char buf[300], const struct audit_change *c, uint32_t i)
{
	const json_t *data = audit_report_data_of(c, i);

	snprintf(buf, 300, "%.250s", json_string_at(data, "text"));
	if (audit_report_is(c, i, "key.action"))
		snprintf(buf, 300, "%.60s %.230s", json_string_at(data, "action"),
			 json_string_at(data, "detail"));
	if (audit_report_is(c, i, "apply.begin"))
		snprintf(buf, 300, "written by %.80s; %" PRId64 " s to confirm",
			 json_string_at(data, "installer"),
			 (int64_t)json_integer_at(data, "confirm_s"));
	if (audit_report_is(c, i, "agents.ask"))
		snprintf(buf, 300, "%" PRId64 " agents, %.40s",
			 (int64_t)json_integer_at(data, "agents"), json_string_at(data, "asked"));
	if (audit_report_is(c, i, "verify"))
		snprintf(buf, 300, "%" PRId64 " read back, %s",
			 (int64_t)json_integer_at(data, "items"),
			 json_integer_at(data, "status") ? "not all as written" : "all as written");
}

static void audit_report_put_lines(struct report_doc *d, const struct audit_change *c)
{
	static const char *const types[] = { "apply.begin",    "agents.ask", "agents.answer",
					     "agents.settled", "verify",     "note",
					     "override",       "extend",     "request",
					     "watch",	       "confirm",    "apply.end",
					     "key.action",     "error" };
	static const char *const head[] = { "time (UTC)", "what", "" };
	char buf[300];

	doc_heading(d, "Actions, agents and notes");
	doc_table(d, 3, head);
	for (uint32_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++) {
			if (!audit_report_is(c, i, types[k]))
				continue;
			audit_report_sentence(buf, c, i);
			doc_row(d, (const char *[]){ json_string_at(c->line[i], "ts"), types[k],
						     buf });
		}
	doc_table_end(d);
}

static void audit_report_put_verdict(struct report_doc *d, const struct audit_change *c)
{
	static const char *const head[] = { "record", "chain", "lines", "head" };

	doc_heading(d, "Verification of the record");
	doc_table(d, 4, head);
	for (uint32_t i = 0; i < c->nfiles; i++) {
		const struct audit_report *r = &c->file[i].verdict;
		const char *slash = strrchr(c->file[i].path, '/');
		char lines[24], hex[DIGEST_HEX];

		snprintf(lines, sizeof(lines), "%" PRIu64, r->lines);
		doc_row(d, (const char *[]){ slash ? slash + 1 : c->file[i].path,
					     !r->ok	  ? r->what
					     : r->ended	  ? "intact, ended"
					     : r->rotated ? "intact, continues in another part"
							  : "intact, no end",
					     lines, digest_hex(hex, &r->head) });
	}
	doc_table_end(d);
	doc_text(d, "Verify it with: ibroute-top audit verify FILE");
}

void audit_report_write(struct report_doc *d, const struct audit_change *c)
{
	char title[160];

	snprintf(title, sizeof(title), "Update %s of %s: %s", c->txn,
		 c->plan ? json_string_at(c->plan, "fabric") : "a fabric", audit_report_outcome(c));
	doc_begin(d, title);
	doc_text(d, "From %s to %s.", c->n ? json_string_at(c->line[0], "ts") : "-",
		 c->n ? json_string_at(c->line[c->n - 1], "ts") : "-");
	if (audit_report_cause(c)[0])
		doc_text(d, "Not confirmed: %s.", audit_report_cause(c));
	audit_report_put_who(d, c);
	audit_report_put_plan(d, c);
	audit_report_put_figures(d, c);
	audit_report_put_measured(d, c);
	audit_report_put_phases(d, c);
	audit_report_put_blocks(d, c);
	audit_report_put_lines(d, c);
	audit_report_put_verdict(d, c);
	doc_end(d);
}
