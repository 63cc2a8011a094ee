/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/partitions_text.h"

#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"

#define JOBS_SHOWN 16

uint32_t partitions_text_print(FILE *out, const struct partitions *p, const struct fabric *f,
			       const struct jobset *jobs)
{
	uint32_t n = 0, pair[2];

	for (uint32_t j = 0; j < jobs->njob; j++) {
		if (!partitions_split(pair, p, f, &jobs->jobs[j]) || n++ >= JOBS_SHOWN)
			continue;
		fprintf(out,
			"partitions: job %s: %s and %s may not talk: they have no P_Key in common "
			"of which one is a full member\n",
			JOB_TEXT(&jobs->jobs[j]), f->term_name[pair[0]], f->term_name[pair[1]]);
	}
	if (n > JOBS_SHOWN)
		fprintf(out, "partitions: and %u more jobs (--json has all)\n", n - JOBS_SHOWN);
	if (!n)
		fprintf(out, "partitions: %u; the hosts of each of %u job%s may talk\n", p->n,
			jobs->njob, plural(jobs->njob));
	return n;
}

json_t *partitions_text_json(uint32_t *split, const struct partitions *p, const struct fabric *f,
			     const struct jobset *jobs)
{
	json_t *list = json_array();
	uint32_t pair[2];

	for (uint32_t j = 0; j < jobs->njob; j++)
		if (partitions_split(pair, p, f, &jobs->jobs[j]))
			json_array_append_new(list,
					      json_pack("{s:o, s:[o, o]}", "job",
							json_text(JOB_TEXT(&jobs->jobs[j])),
							"hosts", json_text(f->term_name[pair[0]]),
							json_text(f->term_name[pair[1]])));
	*split = (uint32_t)json_array_size(list);
	return json_pack("{s:I, s:o}", "partitions", (json_int_t)p->n, "split_jobs", list);
}
