/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/failures.h"

#include "console/campaign/failures/failures_page.h"
#include "console/campaign/failures/failures_table.h"
#include "console/campaign/page/jsonl.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/text/json_text.h"
#include "fabric/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 8 /* lives for each thread between two writes */
#define FILES FAILURES_FILES

const char *const failures_files[FILES] = { "cells.jsonl", "seconds.jsonl" };

/* A life on its way: engine and seed, and what it says. */
struct unit {
	size_t engine;
	uint64_t seed;
	struct failures_life said;
	struct err err;
	int rc;
};

struct failing {
	const struct failures *x;
	struct unit *unit;
	uint32_t n;
	FILE *out[FILES];
	struct progress_line watch;
	uint64_t done, all;
};

/* --- what it is a campaign of ------------------------------------------------------------- */

static json_t *failures_rules(const struct damage_rules *d)
{
	json_t *o = json_object(), *rates = json_array(), *kills = json_object();

	for (uint32_t i = 0; i < d->nstep; i++)
		json_array_append_new(rates, json_real(d->by_time ? d->rate[i] : 100 * d->rate[i]));
	json_object_set_new(o, d->by_time ? "days" : "rates_pct", rates);
	for (int k = 0; k < DAMAGE_KINDS; k++)
		if (d->kills[k])
			json_object_set_new(kills, damage_kind_name((enum damage_kind)k),
					    json_real(d->by_time ? d->mtbf_h[k] : 0));
	json_object_set_new(o, d->by_time ? "mtbf_h" : "kill", kills);
	json_object_set_new(o, "repair_days", json_real(d->repair_days));
	return o;
}

json_t *failures_meta(const struct failures *x)
{
	const struct life_rules *r = &x->rules;
	json_t *o = json_object(), *engines = json_array();
	char hex[DIGEST_HEX];

	json_object_set_new(o, "failures", json_integer(FAILURES_VERSION));
	json_object_set_new(o, "program", json_string(IBROUTE_VERSION));
	json_object_set_new(o, "fabric", json_text(r->f->name));
	digest_hex(hex, &r->f->fingerprint);
	json_object_set_new(o, "fingerprint", json_string(hex));
	json_object_set_new(o, "switches", json_integer(r->f->nsw));
	json_object_set_new(o, "terminals", json_integer(r->f->nterm));
	json_object_set_new(o, "cables", json_integer(r->f->nchan / 2));
	json_object_set_new(o, "jobs", json_integer(r->jobs ? r->jobs->njob : 0));
	if (r->jobs)
		digest_hex(hex, &r->jobs->key);
	json_object_set_new(o, "jobs_sha256", r->jobs ? json_string(hex) : json_null());
	for (size_t i = 0; i < x->nengine; i++)
		json_array_append_new(engines, json_text(x->engine[i].label));
	json_object_set_new(o, "engines", engines);
	json_object_set_new(o, "first_seed", json_integer((json_int_t)x->first_seed));
	json_object_set_new(o, "seeds", json_integer(x->seeds));
	json_object_set_new(o, "damage", failures_rules(&r->damage));
	json_object_set_new(o, "vls", json_integer(r->params.vls));
	json_object_set_new(o, "bisections", json_integer(r->bisections));
	json_object_set_new(o, "pattern", json_string(predict_pattern_name(r->pattern)));
	json_object_set_new(o, "with_repair", json_boolean(r->repair));
	json_object_set_new(o, "with_packets", json_boolean(r->packets));
	return o;
}

static int failures_put_json(FILE *out, const void *what, struct err *err)
{
	return output_file_json(out, what, err);
}

static int failures_check_meta(const struct failures *x, json_t *meta, struct err *err)
{
	char *path = xasprintf("%s/failures.json", x->dir);
	json_t *there = json_load_file(path, 0, NULL);
	char *a = json_dumps(there, JSON_COMPACT | JSON_REAL_PRECISION(6)),
	     *b = json_dumps(meta, JSON_COMPACT | JSON_REAL_PRECISION(6));
	int rc = 0;

	if (!x->again && !access(path, F_OK) && (!a || !b || strcmp(a, b)))
		rc = err_set(err, -EEXIST,
			     "%s has a campaign of another fabric, version or with other options: "
			     "take another folder, or --again to begin again",
			     x->dir);
	if (!rc)
		rc = output_file_write(path, failures_put_json, meta, err);
	free(a);
	free(b);
	json_decref(there);
	free(path);
	return rc;
}

/* --- going on ----------------------------------------------------------------------------- */

/* So many whole lives are at the beginning of a file, whose bytes they are; lines are not looked
 * into: what was written in one go and is whole ends with a line feed. */
static uint64_t failures_whole(const char *path, uint32_t steps, off_t *at_of, uint64_t most)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	uint64_t lines = 0, lives = 0;
	off_t at = 0;
	ssize_t n;

	while (in && lives < most && (n = getline(&line, &room, in)) > 0 && line[n - 1] == '\n') {
		at += n;
		if (++lines % steps)
			continue;
		at_of[++lives] = at;
	}
	free(line);
	if (in)
		fclose(in);
	return lives;
}

/* Cuts the files to the lives that all of them have; how many these are. */
static int failures_open(struct failing *w, uint64_t *lives, struct err *err)
{
	const struct failures *x = w->x;
	uint64_t most = (uint64_t)x->seeds * x->nengine, n[FILES];
	off_t *at[FILES];
	int rc = 0;

	for (int i = 0; i < FILES; i++) {
		char *path = xasprintf("%s/%s", x->dir, failures_files[i]);

		at[i] = xcalloc(most + 1, sizeof(**at));
		n[i] = x->again ? 0 : failures_whole(path, x->rules.damage.nstep, at[i], most);
		free(path);
	}
	*lives = n[0] < n[1] ? n[0] : n[1];
	for (int i = 0; i < FILES && !rc; i++) {
		char *path = xasprintf("%s/%s", x->dir, failures_files[i]);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

		if (fd < 0 || ftruncate(fd, at[i][*lives]) || lseek(fd, 0, SEEK_END) < 0)
			rc = err_set(err, -errno, "%s cannot be written: %s", path,
				     strerror(errno));
		w->out[i] = fd < 0 ? NULL : fdopen(fd, "w");
		free(path);
	}
	for (int i = 0; i < FILES; i++)
		free(at[i]);
	return rc;
}

/* --- work --------------------------------------------------------------------------------- */

int failures_life(struct failures_life *said, const struct failures *x, size_t engine, uint64_t seed,
		  struct err *err)
{
	FILE *out[FILES];
	int rc = 0;

	for (int k = 0; k < FILES; k++)
		out[k] = open_memstream(&said->text[k], &said->len[k]);
	if (!out[0] || !out[1])
		rc = err_set(err, -ENOMEM, "out of memory");
	else
		rc = life_run(out[0], out[1], &x->rules, &x->engine[engine], seed, err);
	for (int k = 0; k < FILES; k++)
		if (out[k])
			fclose(out[k]);
	return rc;
}

static bool failures_turn(void *ctx, unsigned worker, uint32_t i)
{
	struct failing *w = ctx;
	struct unit *u = &w->unit[i];

	if (!worker)
		progress_step(&w->watch.progress, "lives", w->done + i, w->all);
	u->rc = failures_life(&u->said, w->x, u->engine, u->seed, &u->err);
	return u->rc != 0;
}

static int failures_write(struct failing *w, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		struct unit *u = &w->unit[i];

		if (!rc && u->rc) {
			rc = u->rc;
			*err = u->err;
		}
		for (int k = 0; k < FILES; k++) {
			if (!rc && u->said.len[k] &&
			    fwrite(u->said.text[k], u->said.len[k], 1, w->out[k]) != 1)
				rc = err_set(err, -EIO, "%s/%s cannot be written", w->x->dir,
					     failures_files[k]);
			free(u->said.text[k]);
		}
	}
	for (int k = 0; k < FILES && !rc; k++)
		if (fflush(w->out[k]))
			rc = err_set(err, -errno, "%s/%s cannot be written: %s", w->x->dir,
				     failures_files[k], strerror(errno));
	return rc;
}

static int failures_live(struct failing *w, struct err *err)
{
	const struct failures *x = w->x;
	struct pool *pool = pool_new(x->threads);
	uint32_t most = BATCH * pool_threads(pool);
	int rc = failures_open(w, &w->done, err);

	w->all = (uint64_t)x->seeds * x->nengine;
	w->unit = xcalloc(most, sizeof(*w->unit));
	progress_line_start(&w->watch);
	while (!rc && w->done < w->all) {
		memset(w->unit, 0, most * sizeof(*w->unit));
		for (w->n = 0; w->n < most && w->done + w->n < w->all; w->n++) {
			w->unit[w->n].engine = (w->done + w->n) % x->nengine;
			w->unit[w->n].seed = x->first_seed + (w->done + w->n) / x->nengine;
		}
		pool_for(pool, w->n, failures_turn, w);
		rc = failures_write(w, err);
		w->done += w->n;
	}
	progress_line_stop(&w->watch);
	for (int i = 0; i < FILES; i++)
		if (w->out[i])
			fclose(w->out[i]);
	free(w->unit);
	pool_free(pool);
	return rc;
}

int failures_report(const char *dir, const json_t *meta, struct err *err)
{
	struct failures_table *t = NULL;
	int rc = failures_table_read(&t, dir, meta, err);

	if (!rc)
		rc = failures_table_write(t, dir, meta, err);
	if (!rc)
		rc = failures_page_write(dir, meta, t, err);
	failures_table_free(t);
	return rc;
}

int failures_run(struct failures *x, struct err *err)
{
	struct failing w = { .x = x };
	json_t *meta = failures_meta(x);
	int rc = output_file_folder(x->dir, err);

	if (!rc)
		rc = failures_check_meta(x, meta, err);
	x->rules.bounds = life_bounds_new(x->first_seed, x->seeds, x->rules.damage.nstep);
	if (!rc)
		rc = failures_live(&w, err);
	life_bounds_free(x->rules.bounds);
	x->rules.bounds = NULL;
	if (!rc)
		rc = failures_report(x->dir, meta, err);
	json_decref(meta);
	return rc;
}
