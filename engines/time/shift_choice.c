/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/shift_choice.h"

#include "engines/graph/shift_search.h"
#include "engines/predict/predict.h"
#include "engines/time/shift_time.h"

#define SHIFTS	   256 /* one of every equal part of them all */
#define BISECTIONS 100

bool shift_choice_fits(const struct fabric *f)
{
	return shift_flows_fit(f);
}

int shift_choice_judge(struct shift_figures *out, const struct fabric *f, const struct tables *t,
		       struct progress *progress, struct err *err)
{
	static const struct shift_time_opts so = { .shifts = SHIFTS, .seed = 1, .threads = 1 };
	static const struct ebb_opts eo = { .bisections = BISECTIONS, .seed = 1, .threads = 1 };
	struct shift_time s;
	struct ebb ebb;
	int rc = shift_time_compute(&s, f, t, &so, progress, err);

	if (!rc)
		rc = predict_ebb(&ebb, f, t, &eo, progress, err);
	if (!rc)
		*out = (struct shift_figures){ s.sync.mean, s.rate.mean, ebb.mean };
	return rc;
}

double shift_figures_gain(const struct shift_figures *a, const struct shift_figures *b,
			  double least, double ebb)
{
	if (b->sync < least * a->sync || b->rate < least * a->rate || b->ebb < ebb * a->ebb)
		return 0;
	return b->sync * b->rate * b->ebb / (a->sync * a->rate * a->ebb);
}

bool shift_figures_better(const struct shift_figures *a, const struct shift_figures *b,
			  double least, double ebb)
{
	return shift_figures_gain(a, b, least, ebb) > 1;
}

double shift_figures_worth(const struct shift_figures *a, const struct shift_figures *b,
			   unsigned ebb)
{
	double worth = b->sync * b->rate / (a->sync * a->rate);

	if (b->sync < SHIFT_CHOICE_LITTLE_LESS * a->sync ||
	    b->rate < SHIFT_CHOICE_LITTLE_LESS * a->rate)
		return 0;
	for (unsigned i = 0; i < ebb; i++)
		worth *= b->ebb / a->ebb;
	return worth;
}

int shift_choice_better(bool *better, const struct fabric *f, const struct tables *now,
			const struct tables *other, double least, struct progress *progress,
			struct err *err)
{
	struct shift_figures a, b;
	int rc = shift_choice_judge(&a, f, now, progress, err);

	if (!rc)
		rc = shift_choice_judge(&b, f, other, progress, err);
	*better = !rc && shift_figures_better(&a, &b, least, least);
	return rc;
}
