/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/jobs_apart.h"

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/process/isolate.h"

#include <errno.h>

struct reading {
	FILE *file;
	const char *path;
};

static void jobs_apart_put(bytes_out *out, const struct job_log *log)
{
	bytes_put(out, &log->n, sizeof(log->n));
	bytes_put(out, &log->local_times, sizeof(log->local_times));
	for (uint32_t i = 0; i < log->n; i++) {
		const struct job_record *r = &log->jobs[i];

		bytes_put(out, &r->id, sizeof(r->id));
		bytes_put(out, &r->task, sizeof(r->task));
		bytes_put(out, &r->wants, sizeof(r->wants));
		bytes_put(out, &r->procs, sizeof(r->procs));
		bytes_put(out, &r->node_procs, sizeof(r->node_procs));
		bytes_put(out, &r->start_s, sizeof(r->start_s));
		bytes_put(out, &r->end_s, sizeof(r->end_s));
		bytes_put_text(out, r->name);
		bytes_put_text(out, r->user);
		bytes_put_text(out, r->nodes);
		for (int k = 0; k < JOB_ATTRS; k++)
			bytes_put_text(out, r->attr[k]);
	}
}

static int jobs_apart_work(void *ctx, struct isolated_out *result, struct err *err)
{
	const struct reading *x = ctx;
	struct read_report report = { .lines = 0 };
	struct job_log *log;
	bytes_out out = { 0 };
	int rc = jobs_file_read(&log, x->file, x->path, &report, err);

	if (rc)
		return rc;
	bytes_put(&out, &report, sizeof(report));
	jobs_apart_put(&out, log);
	isolated_put(result, out.v, out.n);
	return 0;
}

static void jobs_apart_take_one(struct job_log *log, struct bytes_in *in)
{
	struct job_record r = { 0 };
	char *name, *user, *nodes, *attr[JOB_ATTRS];

	bytes_take(in, &r.id, sizeof(r.id));
	bytes_take(in, &r.task, sizeof(r.task));
	bytes_take(in, &r.wants, sizeof(r.wants));
	bytes_take(in, &r.procs, sizeof(r.procs));
	bytes_take(in, &r.node_procs, sizeof(r.node_procs));
	bytes_take(in, &r.start_s, sizeof(r.start_s));
	bytes_take(in, &r.end_s, sizeof(r.end_s));
	r.name = name = bytes_take_text(in);
	r.user = user = bytes_take_text(in);
	r.nodes = nodes = bytes_take_text(in);
	for (int k = 0; k < JOB_ATTRS; k++)
		r.attr[k] = attr[k] = bytes_take_text(in);
	if (!in->bad)
		job_log_add(log, &r);
	free(name);
	free(user);
	free(nodes);
	for (int k = 0; k < JOB_ATTRS; k++)
		free(attr[k]);
}

static int jobs_apart_take(struct job_log **out, struct bytes_in *in, struct read_report *report,
			   const char *path, struct err *err)
{
	struct job_log *log = job_log_new();
	struct read_report r;
	uint8_t local;
	uint32_t n;

	bytes_take(in, &r, sizeof(r));
	read_report_sanitize(&r);
	if (report)
		*report = r;
	bytes_take(in, &n, sizeof(n));
	bytes_take(in, &local, sizeof(local));
	log->local_times = local != 0;
	for (uint32_t i = 0; i < n && !in->bad; i++)
		jobs_apart_take_one(log, in);
	if (bytes_at_end(in)) {
		*out = log;
		return 0;
	}
	job_log_free(log);
	return err_set(err, -EPROTO, "%s: what was read are not jobs", path);
}

int jobs_apart_read(struct job_log **out, FILE *file, const char *path, struct read_report *report,
		    struct err *err)
{
	struct reading x = { file, path };
	struct isolated result;
	struct bytes_in in;
	int rc;

	*out = NULL;
	rc = isolated_read(&result, (FILE *const[2]){ file, NULL }, jobs_apart_work, &x, err);
	if (rc)
		return rc;
	in = (struct bytes_in){ .at = result.data, .left = result.len };
	rc = jobs_apart_take(out, &in, report, path, err);
	isolated_free(&result);
	return rc;
}
