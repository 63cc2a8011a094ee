/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs_tool SECONDS: what the job source "slurm" sees, for the lab's tests; asks every second.
 *
 *   state NAME RESTARTS TEXT        at each change
 *   job ID NAME USER NODES COUNT    after each list, one a line, ascending id
 *   failed ID                       one that has lost a node
 *   end PENDING                     closes a list
 */
#include "fabric/base/message/log.h"
#include "fabric/jobs/source.h"
#include "fabric/jobs/squeue_poller.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void show_state(const struct source_status *st)
{
	static struct source_status last = { .state = SOURCE_DEAD + 1 };

	if (st->state == last.state && st->restarts == last.restarts &&
	    !strcmp(st->text, last.text))
		return;
	printf("state %s %u %s\n", source_state_name(st->state), st->restarts, st->text);
	last = *st;
}

static void show_list(const struct job_list *l)
{
	for (uint32_t i = 0; l && i < l->njob; i++) {
		const struct job_rec *j = &l->jobs[i];
		char id[JOB_ID_LEN];

		printf("job %llu %s %s %s %u %s", (unsigned long long)j->id, j->name, j->user,
		       j->nodes, j->nhost, job_id_text(id, j->id, j->attr));
		for (int a = JOB_PARTITION; a < JOB_ATTRS; a++)
			printf(" %s", j->attr[a][0] ? j->attr[a] : "-");
		putchar('\n');
	}
	for (uint32_t i = 0; l && i < l->nfailed; i++)
		printf("failed %llu\n", (unsigned long long)l->failed[i]);
	if (l)
		printf("end %u\n", l->pending);
	job_list_put(l);
}

static void ignore_line(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

int main(int argc, char **argv)
{
	struct source_opts o = { .interval_ms = 1000, .backoff_ms = 500 };
	struct job_source *s;
	struct err err;
	time_t end;

	if (argc > 1 && !strcmp(argv[1], SQUEUE_POLLER_ARG))
		return squeue_poller_main(argc - 1, argv + 1);
	if (argc != 2)
		return 64;
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_set_sink(ignore_line, NULL);
	end = time(NULL) + atoi(argv[1]);
	if (source_open(&s, &job_source_slurm, &o, &err)) {
		fprintf(stderr, "jobs_tool: %s\n", err.text);
		return 1;
	}
	while (time(NULL) < end) {
		struct pollfd p = { .fd = source_fd(s), .events = POLLIN };

		show_state(source_status(s));
		if (poll(&p, 1, 1000) > 0)
			source_poll(s);
		show_list(source_take(s));
	}
	source_close(s);
	return 0;
}
