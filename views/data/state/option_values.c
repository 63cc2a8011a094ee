/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/option_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t vls[] = { 0, 1, 2, 4, 8 };
static const uint64_t seeds[] = { 1, 2, 3, 4 };
static const uint64_t percents[] = { 0, 10, 25, 50, 100 };
static const uint64_t nodes[] = { 0, 4, 16, 64 };
static const uint64_t flags[] = { 0, 1 };
static const uint64_t words[OPTION_VALUES] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static const uint64_t *option_values_usual(uint32_t *n, const struct param *p,
					   const struct fabric *f)
{
	const uint64_t *v = NULL;

	*n = 0;
	if (p->id < PARAM_TEXTS || p->id == PARAM_THREADS || p->id == PARAM_LMC ||
	    (p->id == PARAM_ESCAPE && (!f || !f->lmc)))
		return NULL;
	if (p->type == PARAM_FLAG) {
		*n = 2;
		v = flags;
	} else if (p->type == PARAM_WORD) {
		while (*n < OPTION_VALUES && p->words[*n])
			++*n;
		v = words;
	} else if (p->type == PARAM_PERCENT) {
		*n = sizeof(percents) / sizeof(*percents);
		v = percents;
	} else if (p->id == PARAM_VLS) {
		*n = sizeof(vls) / sizeof(*vls);
		v = vls;
	} else if (p->id == PARAM_SEED) {
		*n = sizeof(seeds) / sizeof(*seeds);
		v = seeds;
	} else if (p->id == PARAM_JOB_NODES_MIN) {
		*n = sizeof(nodes) / sizeof(*nodes);
		v = nodes;
	}
	return v;
}

uint32_t option_values(uint64_t out[OPTION_VALUES], const struct param *p,
		       const struct preview_options *now, const struct fabric *f)
{
	uint32_t usual, n = 0;
	const uint64_t *v = option_values_usual(&usual, p, f);
	uint64_t is = v ? param_value(&now->params, p) : 0;
	bool had = false;

	for (uint32_t i = 0; v && i < usual; i++) {
		if (!had && v[i] > is && n < OPTION_VALUES)
			out[n++] = is;
		had |= v[i] >= is;
		if (n < OPTION_VALUES)
			out[n++] = v[i];
	}
	if (v && !had && n < OPTION_VALUES)
		out[n++] = is;
	return n;
}

void option_values_set(struct preview_options *o, const struct param *p, uint64_t value)
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	param_set_or_unset(&o->params, p,
			   p->type == PARAM_FLAG   ? (value ? "yes" : "no")
			   : p->type == PARAM_WORD ? p->words[value]
						   : number,
			   NULL);
}

const char *option_values_text(char *buf, size_t len, const struct param *p, uint64_t value)
{
	struct preview_options o = { .params = { 0 } };

	if (p->type != PARAM_FLAG && p->type != PARAM_WORD && p->min && !value) {
		snprintf(buf, len, "default");
		return buf;
	}
	option_values_set(&o, p, value);
	return param_text(buf, len, &o.params, p);
}

const struct option_result *option_result_find(const struct option_result *list, uint32_t n,
					       uint32_t engine, const struct preview_options *o)
{
	char text[64];

	for (uint32_t i = n; i-- > 0;)
		if (list[i].engine == engine &&
		    !*option_result_options(text, sizeof(text), &list[i].options, o))
			return &list[i];
	return NULL;
}
