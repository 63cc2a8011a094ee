/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/rerun_state.h"

#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/format/native/tables_ibr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const rerun_file_names[RERUN_FILES] = { "times.jsonl", "jobs.jsonl", "seconds.jsonl" };

/* Two sets of tables, so that those that state.json names stay until it names others. */
static char *rerun_state_tables(const struct rerun *r, uint32_t set, size_t way)
{
	return xasprintf("%s/state-%u-%zu.ibr", r->dir, set, way);
}

static json_t *rerun_state_policy(const struct auto_policy *p)
{
	json_t *o = json_pack("{s:I, s:b, s:b, s:I}", "next", (json_int_t)p->next_s, "computed",
			      p->computed, "more", p->more, "failures", (json_int_t)p->failures);

	json_object_set_new(o, "why", json_text(p->why));
	return o;
}

static json_t *rerun_state_way(const struct rerun *r, size_t i)
{
	const struct way *w = &r->way[i];

	return json_pack("{s:b, s:b, s:b, s:I, s:o}", "dead", w->dead, "tables", w->t != NULL,
			 "routed", w->routed_for != NULL, "routed_at", (json_int_t)w->routed_at,
			 "policy", rerun_state_policy(&w->policy));
}

static int rerun_state_write(FILE *out, const void *what, struct err *err)
{
	errno = 0;
	/* sums go on from here, and so to their last bit */
	if (!json_dumpf(what, out, JSON_COMPACT | JSON_REAL_PRECISION(17)) &&
	    fputc('\n', out) != EOF)
		return 0;
	return err_set(err, errno ? -errno : -EIO, "the state cannot be written: %s",
		       strerror(errno ? errno : EIO));
}

static uint32_t rerun_state_set(const struct rerun *r)
{
	char *path = xasprintf("%s/state.json", r->dir);
	json_t *j = json_load_file(path, 0, NULL);
	uint32_t set = json_u32_at(j, "set");

	json_decref(j);
	free(path);
	return set;
}

int rerun_state_save(const struct rerun *r, const struct rerun_state *s,
		     const struct rerun_jobs *jobs, struct err *err)
{
	uint32_t set = !rerun_state_set(r);
	json_t *j = json_object(), *ways = json_array(), *bytes = json_array();
	char *path = xasprintf("%s/state.json", r->dir);
	int rc = 0;

	for (size_t i = 0; i < r->nway && !rc; i++) {
		char *file = rerun_state_tables(r, set, i);

		if (r->way[i].t)
			rc = tables_ibr_save(file, r->way[i].t, r->rules.f, err);
		free(file);
		json_array_append_new(ways, rerun_state_way(r, i));
	}
	for (int i = 0; i < RERUN_FILES; i++)
		json_array_append_new(bytes, json_integer(s->bytes[i]));
	json_object_set_new(j, "set", json_integer(set));
	json_object_set_new(j, "next", json_integer(s->next));
	json_object_set_new(j, "bytes", bytes);
	json_object_set_new(j, "ways", ways);
	json_object_set_new(j, "jobs", rerun_jobs_state(jobs));
	if (!rc)
		rc = output_file_write(path, rerun_state_write, j, err);
	json_decref(j);
	free(path);
	return rc;
}

static int rerun_state_take_way(struct rerun *r, size_t i, uint32_t set, const json_t *o,
				bool *has_routed, struct err *err)
{
	struct way *w = &r->way[i];
	const json_t *p = json_object_get(o, "policy");
	char *file = rerun_state_tables(r, set, i);
	struct tables *t;
	int rc = 0;

	w->dead = json_is_true(json_object_get(o, "dead"));
	*has_routed = json_is_true(json_object_get(o, "routed"));
	w->routed_at = json_u32_at(o, "routed_at");
	w->policy.next_s = (uint64_t)json_integer_at(p, "next");
	w->policy.computed = json_is_true(json_object_get(p, "computed"));
	w->policy.more = json_is_true(json_object_get(p, "more"));
	w->policy.failures = json_u32_at(p, "failures");
	snprintf(w->policy.why, sizeof(w->policy.why), "%s", json_string_at(p, "why"));
	if (json_is_true(json_object_get(o, "tables"))) {
		rc = tables_ibr_load(&t, file, r->rules.f, NULL, err);
		if (!rc) {
			tables_put(w->t);
			w->t = t;
		}
	}
	free(file);
	return rc;
}

int rerun_state_load(struct rerun *r, struct rerun_state *s, struct rerun_jobs *jobs,
		     bool has_routed[WAYS_MOST], struct err *err)
{
	char *path = xasprintf("%s/state.json", r->dir);
	json_error_t why;
	json_t *j = json_load_file(path, 0, &why);
	const json_t *ways = json_object_get(j, "ways"), *bytes = json_object_get(j, "bytes");
	int rc = 0;

	*s = (struct rerun_state){ .next = json_u32_at(j, "next") };
	if (!j && access(path, F_OK))
		rc = -ENOENT;
	else if (!j || json_array_size(ways) != r->nway || json_array_size(bytes) != RERUN_FILES ||
		 rerun_jobs_restore(jobs, json_object_get(j, "jobs")))
		rc = err_set(err, -EPROTO,
			     "%s: is not the state of this replay: --again begins it again", path);
	for (int i = 0; i < RERUN_FILES && !rc; i++)
		s->bytes[i] = json_integer_value(json_array_get(bytes, (size_t)i));
	for (size_t i = 0; i < r->nway && !rc; i++)
		rc = rerun_state_take_way(r, i, json_u32_at(j, "set"), json_array_get(ways, i),
					  &has_routed[i], err);
	json_decref(j);
	free(path);
	return rc;
}

void rerun_state_drop(const struct rerun *r)
{
	char *path = xasprintf("%s/state.json", r->dir);

	unlink(path);
	free(path);
	for (uint32_t set = 0; set < 2; set++)
		for (size_t i = 0; i < WAYS_MOST; i++) {
			path = rerun_state_tables(r, set, i);
			unlink(path);
			free(path);
		}
}
