/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/sacct.h"

#include "fabric/format/slurm/jobs_file.h"

#include <errno.h>
#include <time.h>

const char *const sacct_argv[] = {
	"sacct",
	"-a",
	"-X",
	"-P",
	"--state=RUNNING",
	"-o",
	"JobIDRaw,JobID,User,Start,End,NodeList,Partition,Account,Reservation,Constraints,JobName",
	NULL
};

static void sacct_take_job(struct job_list *l, const struct job_record *r)
{
	struct job_rec rec = { .id = r->id,
			       .part = r->part,
			       .name = r->name,
			       .user = r->user,
			       .nodes = r->nodes,
			       .start_s = r->start_s };
	char label[40];

	job_record_attr(rec.attr, label, r);
	job_list_add(l, &rec);
}

int sacct_read(struct job_list **out, FILE *file, struct err *err)
{
	struct read_report report;
	struct job_log *log;
	int rc = jobs_file_read(&log, file, "sacct", &report, err);

	*out = NULL;
	if (rc)
		return rc;
	if (!report.lines) { /* it prints a header where no job runs */
		job_log_free(log);
		return err_set(err, -EINVAL, "sacct prints nothing");
	}
	*out = job_list_new("slurm", time(NULL));
	for (uint32_t i = 0; i < log->n; i++)
		sacct_take_job(*out, &log->jobs[i]);
	job_log_free(log);
	return 0;
}
