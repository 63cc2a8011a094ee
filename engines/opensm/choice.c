/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/choice.h"

#include "engines/verify.h"
#include "fabric/files/demand_file.h"
#include "fabric/files/guid_list.h"
#include "fabric/files/jobs_file.h"
#include "fabric/files/tables_ibr.h"
#include "fabric/model/demand.h"
#include "fabric/model/jobset.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(const struct choice_log *log, const char *fmt,
						      ...)
{
	char sentence[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	log->say(log->ctx, sentence);
}

/* Takes over t when it passes. */
static int judge(struct choice *out, const struct fabric *f, struct tables *t, struct err *err)
{
	struct verdict *v;
	char why[300];
	int rc = verify_tables(&v, f, t, NULL, NULL, err);

	if (rc)
		return rc;
	if (verdict_ok(v)) {
		out->tables = t;
		out->vls_used = v->vls_used;
		out->sls_used = v->sls_used;
		out->hops_max = v->hops_max;
	} else {
		verdict_sentence(why, sizeof(why), v, f);
		rc = err_set(err, -EPROTO, "the tables did not pass: %s", why);
	}
	verdict_free(v);
	return rc;
}

static int from_file(struct choice *out, const struct fabric *f, const struct policy *p,
		     struct err *err)
{
	struct tables *t;
	int rc = tables_ibr_load(&t, p->tables, f, err);

	if (rc)
		return rc;
	rc = judge(out, f, t, err);
	if (rc)
		tables_put(t);
	out->from_file = !rc;
	return rc;
}

static FILE *open_input(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");

	if (!file)
		err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	return file;
}

/* Jobs and demand make routes better, not right: without them the engine routes all the same. */
static struct jobset *load_jobs(const struct fabric *f, const char *path,
				const struct choice_log *log)
{
	struct jobset *jobs = NULL;
	struct job_log *list;
	struct err why;
	FILE *file = open_input(path, &why);
	int rc = -EINVAL;

	if (file) {
		rc = jobs_file_read(&list, file, path, NULL, &why);
		fclose(file);
	}
	if (!rc) {
		rc = job_log_jobset(&jobs, list, f, JOB_LOG_ALL, "policy", &why);
		job_log_free(list);
	}
	if (rc)
		say(log, "routing without jobs: %s", why.text);
	return rc ? NULL : jobs;
}

static struct demand *load_demand(const struct fabric *f, const char *path,
				  const struct choice_log *log)
{
	struct demand *demand = NULL;
	struct err why;
	FILE *file = open_input(path, &why);
	int rc = -EINVAL;

	if (file) {
		rc = demand_file_read(&demand, file, path, NULL, f, NULL, &why);
		fclose(file);
	}
	if (rc)
		say(log, "routing without a demand: %s", why.text);
	return rc ? NULL : demand;
}

static int load_roots(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	FILE *file = open_input(path, err);
	int rc;

	if (!file)
		return -EINVAL;
	rc = guid_list_read(out, n, file, path, err);
	fclose(file);
	return rc;
}

static int from_engine(struct choice *out, const struct fabric *f, const struct policy *p,
		       const struct choice_log *log, struct err *err)
{
	struct engine_params params = { .vls = p->vls,
					.spread = p->spread,
					.threads = p->threads,
					.seed = p->seed,
					.escape = p->escape };
	struct jobset *jobs = NULL;
	struct demand *demand = NULL;
	struct tables *t = NULL;
	uint64_t *roots = NULL;
	int rc = p->roots ? load_roots(&roots, &params.nroots, p->roots, err) : 0;

	if (rc)
		return rc;
	params.roots = roots;
	engine_spec_apply(&p->spec, &params);
	if (p->jobs)
		jobs = load_jobs(f, p->jobs, log);
	if (p->demand)
		demand = load_demand(f, p->demand, log);
	rc = engine_run(p->spec.engine, &t, f, jobs, demand, &params, NULL, err);
	if (!rc) {
		rc = judge(out, f, t, err);
		if (rc)
			tables_put(t);
	}
	demand_put(demand);
	jobset_put(jobs);
	free(roots);
	return rc;
}

int choice_make(struct choice *out, const struct fabric *f, const struct policy *policy,
		const struct choice_log *log, struct err *err)
{
	struct err why;

	*out = (struct choice){ 0 };
	if (policy->tables) {
		if (!from_file(out, f, policy, &why))
			return 0;
		say(log, "not the given tables, but %s: %s", policy->spec.label, why.text);
	}
	return from_engine(out, f, policy, log, err);
}
