/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/gate_json.h"

static json_t *gate_json_change(const struct time_change *c)
{
	return json_pack("{s:f, s:f, s:f}", "before", c->before, "after", c->after, "stderr",
			 c->error);
}

static json_t *gate_json_patterns(const struct time_gate *g)
{
	json_t *o = json_object();

	for (int p = 0; p < PREDICT_PATTERNS; p++)
		json_object_set_new(o, predict_pattern_name((enum predict_pattern)p),
				    gate_json_change(&g->of[p]));
	return o;
}

json_t *gate_json(const struct time_gate *g)
{
	json_t *job;
	char text[300];

	if (!g->known && !(g->demand.before > 0))
		return json_null();
	job = gate_json_change(&g->job_time);
	json_object_set_new(job, "id", json_integer((json_int_t)g->job_id));
	return json_pack("{s:b, s:s, s:s, s:o, s:s, s:I, s:o, s:o}", "slower", time_gate_slower(g),
			 "text", time_gate_text(text, sizeof(text), g), "pattern",
			 predict_pattern_name(g->pattern), "patterns", gate_json_patterns(g),
			 "worst_pattern", predict_pattern_name(g->worst), "jobs_slower",
			 (json_int_t)g->jobs_slower, "worst_job", job, "demand",
			 g->demand.before > 0 ? gate_json_change(&g->demand) : json_null());
}

void gate_json_add_messages(json_t *o, const struct time_gate *gate)
{
	json_t *sizes;

	if (!json_is_object(o))
		return;
	sizes = json_object();
	for (int size = 0; size < MESSAGE_SIZES; size++)
		json_object_set_new(sizes, message_size_name((enum message_size)size),
				    gate_json(&gate[size]));
	json_object_set_new(o, "messages", sizes);
}
