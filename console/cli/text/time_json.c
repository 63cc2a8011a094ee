/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/text/time_json.h"

#include <math.h>

static json_t *time_json_real(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static json_t *time_json_pattern(const struct pattern_time *x)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:I, s:o}", "mean", x->mean.mean, "stderr",
			 x->mean.error, "node_mean", x->node_mean.mean, "worst", x->worst.mean,
			 "worst_job", (json_int_t)x->worst_job, "s_per_mib",
			 time_json_real(x->s_per_MiB));
}

json_t *time_json_patterns(const struct time_summary *t)
{
	json_t *o;

	if (!t->known || !t->jobs)
		return json_null();
	o = json_object();
	for (int p = 0; p < PREDICT_PATTERNS; p++)
		json_object_set_new(o, predict_pattern_name((enum predict_pattern)p),
				    time_json_pattern(&t->of[p]));
	return o;
}

void time_json_add_job(json_t *o, const struct job_time *job)
{
	bool known = job->flows > 0;

	json_object_set_new(o, "time", time_json_real(known ? job->time.mean : NAN));
	json_object_set_new(o, "time_stderr", time_json_real(known ? job->time.error : NAN));
	json_object_set_new(o, "time_s_per_mib", time_json_real(known ? job->s_per_MiB : NAN));
}
