/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/folder/campaign_folder.h"

#include "console/campaign/failures/failures_table.h"
#include "console/campaign/page/jsonl.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/apart.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLAY	 "replay.json"
#define FAILURES "failures.json"
#define CAMPAIGN "campaign.json"

struct folder {
	const char *dir;
	char *about_path, *lines_path;
	FILE *about, *lines;
	struct campaign_list *list;
};

/* ---- in the process that reads ---- */

static void campaign_folder_text(char *to, size_t size, const json_t *j)
{
	snprintf(to, size, "%s", json_is_string(j) ? json_string_value(j) : "");
}

static void campaign_folder_make(struct campaign_list *l)
{
	size_t n = (size_t)l->nway * l->nstep;

	l->at = xcalloc(l->nstep, sizeof(*l->at));
	l->jobs = xcalloc(l->nstep, sizeof(*l->jobs));
	l->cell = xcalloc(n, sizeof(*l->cell));
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < CAMPAIGN_FIGURES; k++)
			l->cell[i].figure[k] = NAN;
}

static void campaign_folder_of_step(struct campaign_cell *c, const struct failures_step *s)
{
	static const struct {
		enum campaign_figure to;
		enum failures_figure from;
	} means[] = { { CAMPAIGN_RETAINED, FAIL_RETAINED },	{ CAMPAIGN_EBB, FAIL_EBB },
		      { CAMPAIGN_CUT, FAIL_HOSTS_CUT },		{ CAMPAIGN_ENTRIES, FAIL_ENTRIES },
		      { CAMPAIGN_REPAIR, FAIL_REPAIR_ENTRIES }, { CAMPAIGN_VLS, FAIL_VLS } };

	c->n = s->cells;
	c->good = s->usable;
	c->seed = s->worst_seed;
	for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++)
		c->figure[means[i].to] = failures_mean(s, means[i].from);
	c->figure[CAMPAIGN_LOW] = s->low;
	c->figure[CAMPAIGN_HIGH] = s->high;
}

static void campaign_folder_of_failures(struct campaign_list *l, const struct failures_table *t)
{
	l->kind = t->by_time ? CAMPAIGN_AGES : CAMPAIGN_FAILURES;
	l->nway = (uint32_t)t->nengine;
	l->nstep = t->nstep;
	l->seeds = t->seeds;
	campaign_folder_make(l);
	memcpy(l->at, t->at, l->nstep * sizeof(*l->at));
	for (uint32_t w = 0; w < l->nway; w++) {
		snprintf(l->way[w], sizeof(l->way[w]), "%s", t->engine[w].label);
		for (uint32_t k = 0; k < l->nstep; k++) {
			const struct failures_step *s = &t->engine[w].step[k];
			struct campaign_cell *c = &l->cell[w * l->nstep + k];

			campaign_folder_of_step(c, s);
			if (!c->seed)
				c->seed = t->first_seed;
			if (!l->why[w][0])
				snprintf(l->why[w], sizeof(l->why[w]), "%.150s", s->why);
		}
	}
}

static int campaign_folder_failures(struct folder *f, const json_t *about, struct err *err)
{
	struct failures_table *t;
	int rc = failures_table_read_file(&t, f->lines, f->lines_path, about, err);

	if (!rc)
		campaign_folder_of_failures(f->list, t);
	failures_table_free(t);
	return rc;
}

/* Lines of a replay, moment by moment and within one in the order of the routings. */
struct moments {
	struct campaign_list *l;
	VEC(double) at;
	VEC(uint32_t) jobs;
	VEC(struct campaign_cell) cell; /* by moment, then way */
	bool full;
};

static struct campaign_cell campaign_folder_moment(const json_t *o)
{
	static const struct {
		enum campaign_figure to;
		const char *key;
	} keys[] = { { CAMPAIGN_TIME, "time_mean" },	   { CAMPAIGN_WORST, "time_worst" },
		     { CAMPAIGN_EFI, "eff_efi_max" },	   { CAMPAIGN_UNUSED, "dark_fiber_pct" },
		     { CAMPAIGN_BLOCKS, "blocks" },	   { CAMPAIGN_DRAIN, "drain_lids" },
		     { CAMPAIGN_TOUCHED, "jobs_touched" }, { CAMPAIGN_VLS, "vls" } };
	struct campaign_cell c = { .n = 1 };

	for (int k = 0; k < CAMPAIGN_FIGURES; k++)
		c.figure[k] = NAN;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		c.figure[keys[i].to] = jsonl_number(o, keys[i].key);
	c.good = isfinite(c.figure[CAMPAIGN_TIME]);
	c.adopted = json_is_true(json_object_get(o, "adopted"));
	return c;
}

static bool campaign_folder_take_moment(void *ctx, const json_t *o)
{
	struct moments *m = ctx;
	const char *name = json_string_at(o, "routing");
	double time = jsonl_number(o, "time");
	struct campaign_cell none = { 0 };
	uint32_t way = 0;

	while (way < m->l->nway && strcmp(m->l->way[way], name))
		way++;
	if (way == m->l->nway || isnan(time))
		return false;
	if (!m->at.n || m->at.v[m->at.n - 1] < time) {
		m->full = m->at.n == CAMPAIGN_STEPS;
		if (m->full)
			return true;
		vec_push(&m->at, time);
		vec_push(&m->jobs, json_u32_at(o, "jobs"));
		for (int k = 0; k < CAMPAIGN_FIGURES; k++)
			none.figure[k] = NAN;
		for (uint32_t w = 0; w < m->l->nway; w++)
			vec_push(&m->cell, none);
	}
	m->cell.v[(m->at.n - 1) * m->l->nway + way] = campaign_folder_moment(o);
	return false;
}

static void campaign_folder_of_moments(struct campaign_list *l, const struct moments *m)
{
	l->nstep = (uint32_t)m->at.n;
	campaign_folder_make(l);
	for (uint32_t k = 0; k < l->nstep; k++) {
		l->at[k] = m->at.v[k];
		l->jobs[k] = m->jobs.v[k];
		for (uint32_t w = 0; w < l->nway; w++)
			l->cell[w * l->nstep + k] = m->cell.v[k * l->nway + w];
	}
}

static int campaign_folder_replay(struct folder *f, const json_t *about, struct err *err)
{
	const json_t *ways = json_object_get(about, "routings"), *way;
	struct campaign_list *l = f->list;
	struct moments m = { .l = l };
	size_t i;
	int rc;

	l->kind = CAMPAIGN_REPLAY;
	campaign_folder_text(l->history, sizeof(l->history), json_object_get(about, "history"));
	json_array_foreach(ways, i, way) if (i < CAMPAIGN_WAYS)
		campaign_folder_text(l->way[i], sizeof(l->way[i]), way);
	l->nway = (uint32_t)i;
	if (!i || i > CAMPAIGN_WAYS)
		return err_set(err, -EINVAL, "%s: it has no routings, or more than %u",
			       f->about_path, CAMPAIGN_WAYS);
	rc = jsonl_read_file(f->lines, f->lines_path, campaign_folder_take_moment, &m, err);
	if (!rc && m.full)
		rc = err_set(err, -E2BIG, "%s: more than %u moments", f->lines_path,
			     CAMPAIGN_STEPS);
	if (!rc && !m.at.n)
		rc = err_set(err, -ENODATA, "%s: no line yet", f->lines_path);
	if (!rc)
		campaign_folder_of_moments(l, &m);
	vec_free(&m.at);
	vec_free(&m.jobs);
	vec_free(&m.cell);
	return rc;
}

static int campaign_folder_put(void *ctx, bytes_out *out, struct read_report *report,
			       struct err *err)
{
	struct folder *f = ctx;
	struct campaign_list *l = f->list;
	json_error_t why = { .line = 0 };
	json_t *about = json_text_clean(json_loadf(f->about, 0, &why));
	int rc;

	(void)report;
	if (!json_is_object(about)) {
		json_decref(about);
		return err_set(err, -EINVAL, "%s:%d: truncated or damaged: %s", f->about_path,
			       why.line, why.text);
	}
	campaign_folder_text(l->fabric, sizeof(l->fabric), json_object_get(about, "fabric"));
	rc = json_object_get(about, "replay") ? campaign_folder_replay(f, about, err)
					      : campaign_folder_failures(f, about, err);
	json_decref(about);
	if (rc)
		return rc;
	bytes_put(out, l, sizeof(*l));
	bytes_put(out, l->at, l->nstep * sizeof(*l->at));
	bytes_put(out, l->jobs, l->nstep * sizeof(*l->jobs));
	bytes_put(out, l->cell, (size_t)l->nway * l->nstep * sizeof(*l->cell));
	return 0;
}

/* ---- here: nothing that came is believed ---- */

static void campaign_folder_plain(char *text, size_t size)
{
	text[size - 1] = '\0';
	plain_text(text, "");
}

static bool campaign_folder_fits(const struct campaign_list *l)
{
	return l->kind <= CAMPAIGN_REPLAY && l->nway && l->nway <= CAMPAIGN_WAYS && l->nstep &&
	       l->nstep <= CAMPAIGN_STEPS &&
	       (uint64_t)l->nway * l->nstep <= CAMPAIGN_WAYS * (uint64_t)CAMPAIGN_STEPS;
}

static int campaign_folder_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct folder *f = ctx;
	struct campaign_list *l = f->list;
	size_t cells;

	bytes_take(in, l, sizeof(*l));
	l->at = NULL;
	l->jobs = NULL;
	l->cell = NULL;
	cells = (size_t)l->nway * l->nstep * sizeof(*l->cell);
	if (in->bad || !campaign_folder_fits(l) ||
	    in->left < l->nstep * (sizeof(*l->at) + sizeof(*l->jobs)) + cells)
		return err_set(err, -EPROTO, "%s: its reader answered nonsense", f->dir);
	campaign_folder_plain(l->fabric, sizeof(l->fabric));
	campaign_folder_plain(l->history, sizeof(l->history));
	for (uint32_t w = 0; w < CAMPAIGN_WAYS; w++) {
		campaign_folder_plain(l->way[w], sizeof(l->way[w]));
		campaign_folder_plain(l->why[w], sizeof(l->why[w]));
	}
	campaign_folder_make(l);
	bytes_take(in, l->at, l->nstep * sizeof(*l->at));
	bytes_take(in, l->jobs, l->nstep * sizeof(*l->jobs));
	bytes_take(in, l->cell, cells);
	snprintf(l->dir, sizeof(l->dir), "%s", f->dir);
	l->serial = 0;
	return 0;
}

static char *campaign_folder_path(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static bool campaign_folder_has(const char *dir, const char *name)
{
	char *path = campaign_folder_path(dir, name);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

bool campaign_folder_is(const char *dir)
{
	return campaign_folder_has(dir, REPLAY) || campaign_folder_has(dir, FAILURES) ||
	       campaign_folder_has(dir, CAMPAIGN);
}

static int campaign_folder_open(struct folder *f, struct err *err)
{
	bool replay = campaign_folder_has(f->dir, REPLAY);

	f->about_path = campaign_folder_path(f->dir, replay ? REPLAY : FAILURES);
	f->lines_path = campaign_folder_path(f->dir, replay ? "times.jsonl" : "cells.jsonl");
	f->about = fopen(f->about_path, "re");
	if (!f->about && campaign_folder_has(f->dir, CAMPAIGN))
		return err_set(
			err, -ENOENT,
			"%s: its cells are not put together yet: ibroute-top campaign merge %s",
			f->dir, f->dir);
	f->lines = f->about ? fopen(f->lines_path, "re") : NULL;
	if (!f->lines)
		return err_set(err, -errno, "%s cannot be read: %s",
			       f->about ? f->lines_path : f->about_path, strerror(errno));
	return 0;
}

int campaign_folder_read(struct campaign_list **out, const char *dir, struct err *err)
{
	struct folder f = { .dir = dir, .list = xcalloc(1, sizeof(*f.list)) };
	int rc = campaign_folder_open(&f, err);
	struct apart a = { .path = f.lines_path,
			   .file = f.about,
			   .beside = f.lines,
			   .read = campaign_folder_put,
			   .take = campaign_folder_take,
			   .ctx = &f };

	if (!rc)
		rc = apart_read(&a, NULL, err);
	if (!rc)
		f.list->opens =
			f.list->kind != CAMPAIGN_REPLAY && campaign_folder_has(dir, CAMPAIGN);
	if (f.about)
		fclose(f.about);
	if (f.lines)
		fclose(f.lines);
	free(f.about_path);
	free(f.lines_path);
	*out = rc ? NULL : f.list;
	if (rc)
		campaign_list_free(f.list);
	return rc;
}
