/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal_counts.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS_MAX 1000 /* fabrics times engines */
#define NAMES_MAX  100000

void journal_counts_free(struct journal_counts *l)
{
	vec_free(l);
}

void journal_gone_free(struct journal_gone *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	vec_free(l);
}

bool journal_gone_has(const struct journal_gone *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], id))
			return true;
	return false;
}

static struct journal_count *journal_counts_of(struct journal_counts *l, const char *fabric,
					       const char *engine)
{
	struct journal_count c = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].fabric, fabric) && !strcmp(l->v[i].engine, engine))
			return &l->v[i];
	snprintf(c.fabric, sizeof(c.fabric), "%s", fabric);
	snprintf(c.engine, sizeof(c.engine), "%s", engine);
	vec_push(l, c);
	return &l->v[l->n - 1];
}

static void journal_counts_gain(struct journal_count *c, const struct txn_gain *g)
{
	double gain = g->before > 0 ? 1 - g->after / g->before : 0;

	if (gain > 0) {
		c->gains++;
		c->gain += gain;
	} else if (gain < 0) {
		c->losses++;
		c->loss -= gain;
	}
}

static uint64_t journal_counts_jobs(const struct txn_agent *v, uint32_t n)
{
	uint64_t jobs = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t before = 0;

		while (before < i && v[before].job != v[i].job)
			before++;
		jobs += v[i].job && before == i;
	}
	return jobs;
}

void journal_counts_add(struct journal_counts *l, const struct txn_info *t,
			const struct txn_agent *agents, uint32_t nagents)
{
	struct journal_count *c = journal_counts_of(l, t->head.fabric, t->head.engine);

	c->ended[t->state]++;
	if (t->state == TXN_ROLLED_BACK)
		c->why[t->why]++;
	if (t->state == TXN_CONFIRMED)
		journal_counts_gain(c, &t->head.gain);
	c->drains += t->asked;
	c->jobs += journal_counts_jobs(agents, nagents);
	c->ports += nagents;
}

void journal_counts_add_of(struct journal_counts *l, const struct txn_info *t, const char *base)
{
	struct txn_agent *agents = NULL;
	uint32_t n = 0;

	if (!t->asked || journal_read_agents(&agents, &n, base, t->head.id, false, NULL))
		n = 0;
	journal_counts_add(l, t, agents, n);
	free(agents);
}

void journal_count_sum(struct journal_count *c, const struct journal_count *from)
{
	for (int s = 0; s < TXN_STATES; s++)
		c->ended[s] += from->ended[s];
	for (int w = 0; w < COORD_WHYS; w++)
		c->why[w] += from->why[w];
	c->drains += from->drains;
	c->jobs += from->jobs;
	c->ports += from->ports;
	c->gains += from->gains;
	c->losses += from->losses;
	c->gain += from->gain;
	c->loss += from->loss;
}

void journal_counts_join(struct journal_counts *l, const struct journal_count *from)
{
	journal_count_sum(journal_counts_of(l, from->fabric, from->engine), from);
}

/* --- as a file ------------------------------------------------------------------------------- */

static json_t *journal_counts_json(const struct journal_count *c)
{
	json_t *ended = json_object(), *why = json_object();

	for (int s = 0; s < TXN_STATES; s++)
		if (c->ended[s])
			json_object_set_new(ended, txn_state_name((enum txn_state)s),
					    json_integer((json_int_t)c->ended[s]));
	for (int w = 0; w < COORD_WHYS; w++)
		if (c->why[w])
			json_object_set_new(why, coord_why_name((enum coord_why)w),
					    json_integer((json_int_t)c->why[w]));
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "fabric",
			 json_text(c->fabric), "engine", json_text(c->engine), "ended", ended,
			 "why", why, "drains", (json_int_t)c->drains, "jobs", (json_int_t)c->jobs,
			 "ports", (json_int_t)c->ports, "gains", (json_int_t)c->gains, "losses",
			 (json_int_t)c->losses, "gain", c->gain, "loss", c->loss);
}

char *journal_counts_encode(const struct journal_counts *l, const struct journal_gone *gone)
{
	json_t *counts = json_array(), *names = json_array(), *j;
	char *text;

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(counts, journal_counts_json(&l->v[i]));
	for (size_t i = 0; i < gone->n; i++)
		json_array_append_new(names, json_text(gone->v[i]));
	j = json_pack("{s:i, s:o, s:o}", "version", 1, "removed", names, "counts", counts);
	text = json_dumps(j, JSON_INDENT(1));
	json_decref(j);
	return text;
}

static uint64_t journal_counts_number(const json_t *j, const char *key)
{
	json_int_t n = json_integer_at(j, key);

	return n > 0 ? (uint64_t)n : 0;
}

static double journal_counts_share(const json_t *j, const char *key)
{
	double v = json_number_value(json_object_get(j, key));

	return isfinite(v) && v > 0 ? v : 0;
}

static void journal_counts_take(struct journal_counts *l, const json_t *j)
{
	const json_t *ended = json_object_get(j, "ended"), *why = json_object_get(j, "why");
	struct journal_count c = {
		.drains = journal_counts_number(j, "drains"),
		.jobs = journal_counts_number(j, "jobs"),
		.ports = journal_counts_number(j, "ports"),
		.gains = journal_counts_number(j, "gains"),
		.losses = journal_counts_number(j, "losses"),
		.gain = journal_counts_share(j, "gain"),
		.loss = journal_counts_share(j, "loss"),
	};

	snprintf(c.fabric, sizeof(c.fabric), "%s", json_string_at(j, "fabric"));
	snprintf(c.engine, sizeof(c.engine), "%s", json_string_at(j, "engine"));
	for (int s = TXN_ABANDONED; s < TXN_STATES; s++)
		c.ended[s] = journal_counts_number(ended, txn_state_name((enum txn_state)s));
	for (int w = 0; w < COORD_WHYS; w++)
		c.why[w] = journal_counts_number(why, coord_why_name((enum coord_why)w));
	journal_counts_join(l, &c);
}

int journal_counts_decode(struct journal_counts *l, struct journal_gone *gone, const char *data,
			  size_t len)
{
	json_t *j = json_text_clean(json_loadb(data, len, 0, NULL));
	const json_t *counts = json_object_get(j, "counts");
	const json_t *names = json_object_get(j, "removed");
	int rc = json_is_array(counts) && json_is_array(names) &&
				 json_integer_at(j, "version") == 1 &&
				 json_array_size(counts) <= COUNTS_MAX &&
				 json_array_size(names) <= NAMES_MAX
			 ? 0
			 : -EBADMSG;

	for (size_t i = 0; !rc && i < json_array_size(counts); i++)
		journal_counts_take(l, json_array_get(counts, i));
	for (size_t i = 0; !rc && i < json_array_size(names); i++) {
		const char *id = json_string_value(json_array_get(names, i));

		if (id)
			vec_push(gone, xstrdup(id));
	}
	json_decref(j);
	return rc;
}
