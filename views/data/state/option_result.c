/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/option_result.h"

#include "views/data/state/plan_preview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of large messages where it depends on their size, as in the table of the preview. */
static const struct time_summary *option_result_time(const struct plan_preview *x)
{
	return x->messages && x->messages->known ? &x->messages->plan[MESSAGES_LARGE].time
						 : &x->time_plan;
}

static double option_result_efi(const struct plan_preview *x, bool jobs)
{
	const struct message_efi *large =
		x->messages && x->messages->known ? &x->messages->plan[MESSAGES_LARGE].efi : NULL;

	if (!x->after || jobs != (x->after->njob > 0))
		return NAN;
	if (large)
		return jobs ? large->eff_efi_max : large->efi_max;
	return (double)(jobs ? x->after->eff_efi_max : x->after->efi_max);
}

void option_result_of(struct option_result *out, const struct plan_preview *x)
{
	const struct time_summary *t = option_result_time(x);
	const struct pattern_time *jobs = &t->of[PREDICT_ALLTOALL];
	bool timed = t->known && t->jobs;

	*out = (struct option_result){
		.known = true,
		.engine = x->engine,
		.options = x->options,
		.metric = { [OPTION_TIME_MAX] = timed ? jobs->worst.mean : NAN,
			    [OPTION_TIME_MEAN] = timed ? jobs->mean.mean : NAN,
			    [OPTION_JOB_EFI] = option_result_efi(x, true),
			    [OPTION_EFI] = option_result_efi(x, false),
			    [OPTION_VLS] = x->after ? x->after->vls_used : NAN,
			    [OPTION_BLOCKS] = x->diff ? (double)x->diff->nblocks : NAN },
	};
}

/* Long names and lists keep their beginning. */
static void option_result_value(char buf[64], const struct preview_options *o,
				const struct param *p)
{
	const char *text = p->id < PARAM_TEXTS ? o->text[p->id] : "";
	const char *slash = p->type == PARAM_FILE ? strrchr(text, '/') : NULL;

	if (p->id >= PARAM_TEXTS && p->min && !param_value(&o->params, p))
		snprintf(buf, 64, "default");
	else if (p->id >= PARAM_TEXTS)
		param_text(buf, 64, &o->params, p);
	else if (!text[0])
		snprintf(buf, 64, "%s", p->unset ? p->unset : "none");
	else
		snprintf(buf, 64, "%.24s%s", slash ? slash + 1 : text,
			 strlen(slash ? slash + 1 : text) > 24 ? ".." : "");
}

static bool option_result_same(const struct preview_options *a, const struct preview_options *b,
			       const struct param *p)
{
	if (p->id == PARAM_THREADS || p->id == PARAM_LMC)
		return true;
	return p->id < PARAM_TEXTS ? !strcmp(a->text[p->id], b->text[p->id])
				   : param_value(&a->params, p) == param_value(&b->params, p);
}

const char *option_result_options(char *buf, size_t len, const struct preview_options *was,
				  const struct preview_options *now)
{
	const struct param *all;
	size_t n, at = 0;

	all = param_all(&n);
	buf[0] = '\0';
	for (size_t i = 0; i < n && at < len; i++) {
		char from[64], to[64];

		if (option_result_same(was, now, &all[i]))
			continue;
		option_result_value(from, was, &all[i]);
		option_result_value(to, now, &all[i]);
		at += (size_t)snprintf(buf + at, len - at, "%s%s %s -> %s", at ? ", " : "",
				       all[i].label ? all[i].label : all[i].option, from, to);
	}
	return buf;
}
