/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/update/update_effect.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_GAIN 3   /* %: less is chance */
#define LEAST_SENT 5e6 /* bytes/s of a job */

struct effect_sample {
	const struct jobset *jobs; /* own reference */
	double *Bps;
};

struct effect_job {
	uint64_t id;
	double before;		  /* bytes per second, mean; NAN unknown */
	double gain;		  /* as foretold: how many times as much; NAN nothing is */
	double told_was, told_is; /* its rates before and after; NAN they are not known */
};

struct update_effect {
	struct effect_sample sample[EFFECT_SAMPLES]; /* a ring */
	uint32_t n, next;
	bool skip; /* the next sample */

	struct effect_job job[EFFECT_JOBS + 1];
	uint32_t njob, nbefore; /* nbefore: samples */
};

/* Sums over the jobs that have sent on both sides. */
struct effect_sum {
	uint32_t n;
	double before, after;
	uint32_t ntold;
	double told_before, told; /* of those of which something is foretold */
};

struct update_effect *update_effect_new(void)
{
	return xcalloc(1, sizeof(struct update_effect));
}

static void update_effect_forget(struct update_effect *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		jobset_put(x->sample[i].jobs);
		free(x->sample[i].Bps);
	}
	x->n = x->next = 0;
}

void update_effect_free(struct update_effect *x)
{
	if (!x)
		return;
	update_effect_forget(x);
	free(x);
}

/* The first sample of a console has no rates. */
static bool update_effect_known(const double *Bps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (isfinite(Bps[i]))
			return true;
	return false;
}

void update_effect_sample(struct update_effect *x, const struct jobset *jobs, const double *Bps)
{
	struct effect_sample *s = &x->sample[x->next];

	if (!update_effect_known(Bps, jobs->njob))
		return;
	if (x->skip) {
		x->skip = false;
		return;
	}
	if (x->n == EFFECT_SAMPLES) {
		jobset_put(s->jobs);
		free(s->Bps);
	} else {
		x->n++;
	}
	s->jobs = jobset_get(jobs);
	s->Bps = xcalloc(jobs->njob + 1u, sizeof(*s->Bps));
	memcpy(s->Bps, Bps, jobs->njob * sizeof(*Bps));
	x->next = (x->next + 1) % EFFECT_SAMPLES;
}

/* Over the samples in which it is known. */
static double update_effect_mean(const struct update_effect *x, uint64_t id)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct effect_sample *s = &x->sample[i];

		for (uint32_t j = 0; j < s->jobs->njob; j++) {
			if (s->jobs->jobs[j].id != id || !isfinite(s->Bps[j]))
				continue;
			sum += s->Bps[j];
			n++;
		}
	}
	return n ? sum / n : NAN;
}

void update_effect_begin(struct update_effect *x, const uint64_t *jobs, uint32_t n,
			 const struct job_time_changes *told)
{
	x->njob = n <= EFFECT_JOBS + 1 ? n : EFFECT_JOBS + 1;
	x->nbefore = x->n;
	for (uint32_t k = 0; k < x->njob; k++) {
		const struct job_time_change *c = job_time_changes_of(told, jobs[k]);

		x->job[k] = (struct effect_job){ .id = jobs[k],
						 .before = update_effect_mean(x, jobs[k]),
						 .gain = c ? job_time_change_gain(c) : NAN,
						 .told_was = c ? c->rate_before : NAN,
						 .told_is = c ? c->rate_after : NAN };
	}
}

void update_effect_routed(struct update_effect *x)
{
	update_effect_forget(x);
	x->skip = true;
}

/* On both sides; before, more than what is shown as 0.00, which management alone may be. */
static bool update_effect_sent(double before, double after)
{
	return before >= LEAST_SENT && after > 0;
}

static double update_effect_percent(double before, double after)
{
	return 100 * (after - before) / before;
}

/* " 24.7 -> 40.0 GB/s (+62%". */
static void update_effect_rates(char *buf, size_t len, double before, double after)
{
	char b[FIGURE_LEN], a[FIGURE_LEN];

	snprintf(buf, len, " %s -> %s GB/s (%+.0f%%", figure_rate(b, before, false),
		 figure_rate(a, after, false), update_effect_percent(before, after));
}

/* Of the slowest one, by itself. */
static void update_effect_slowest(char *buf, size_t len, const struct effect_job *j, double after)
{
	char rates[96], share[48] = "", told[96] = "";

	buf[0] = '\0';
	if (!update_effect_sent(j->before, after))
		return;
	update_effect_rates(rates, sizeof(rates), j->before, after);
	if (j->told_was > 0 && j->told_is > 0)
		snprintf(share, sizeof(share), ": %.0f -> %.0f%% of full rate", 100 * j->told_was,
			 100 * j->told_is);
	if (isfinite(j->gain))
		snprintf(told, sizeof(told), "; predicted %+.0f%%%s",
			 update_effect_percent(1, j->gain), share);
	snprintf(buf, len, "slowest job %llu:%s%s)", (unsigned long long)j->id, rates, told);
}

/* The one that gains most, unless that is the slowest, of which it is told anyway. */
static void update_effect_most(char *buf, size_t len, const struct update_effect *x)
{
	double most = LEAST_GAIN, gain, after_most = NAN;
	const struct effect_job *best = NULL;
	char rates[96];

	buf[0] = '\0';
	for (uint32_t k = 0; k < x->njob; k++) {
		double after = update_effect_mean(x, x->job[k].id);

		if (!update_effect_sent(x->job[k].before, after))
			continue;
		gain = update_effect_percent(x->job[k].before, after);
		if (gain < most)
			continue;
		most = gain;
		best = &x->job[k];
		after_most = after;
	}
	if (!best || best == x->job)
		return;
	update_effect_rates(rates, sizeof(rates), best->before, after_most);
	snprintf(buf, len, "; most gained job %llu:%s)", (unsigned long long)best->id, rates);
}

/* after: of that job; it has sent on both sides, or counts nothing. */
static void update_effect_add(struct effect_sum *s, const struct effect_job *j, double after)
{
	if (!update_effect_sent(j->before, after))
		return;
	s->n++;
	s->before += j->before;
	s->after += after;
	if (!isfinite(j->gain))
		return;
	s->ntold++;
	s->told_before += j->before;
	s->told += j->before * j->gain;
}

void update_effect_before(const struct update_effect *x, char *buf, size_t len)
{
	buf[0] = '\0';
	if (!x->nbefore || !x->njob)
		return;
	snprintf(buf, len, "will be measured by the %u sample%s before the update (at most %u)",
		 x->nbefore, plural(x->nbefore), EFFECT_SAMPLES);
}

bool update_effect_sums(const struct update_effect *x, double *before, double *after)
{
	struct effect_sum s = { 0 };

	for (uint32_t k = 0; k < x->njob; k++)
		update_effect_add(&s, &x->job[k], update_effect_mean(x, x->job[k].id));
	*before = s.before;
	*after = s.after;
	return s.n;
}

bool update_effect_whole(const struct update_effect *x)
{
	return x->nbefore && x->n >= x->nbefore;
}

bool update_effect_text(const struct update_effect *x, char *buf, size_t len)
{
	char slowest[160] = "", most[128], rates[96], told[48] = "", part[48] = "";
	bool whole = x->n >= x->nbefore;
	struct effect_sum s = { 0 };

	buf[0] = '\0';
	if (!x->nbefore || !x->n || !x->njob)
		return false;
	for (uint32_t k = 0; k < x->njob; k++) {
		double after = update_effect_mean(x, x->job[k].id);

		update_effect_add(&s, &x->job[k], after);
		if (!k)
			update_effect_slowest(slowest, sizeof(slowest), &x->job[k], after);
	}
	if (!s.n)
		return whole;
	update_effect_rates(rates, sizeof(rates), s.before, s.after);
	if (s.ntold == s.n)
		snprintf(told, sizeof(told), "; predicted %+.0f%%",
			 update_effect_percent(s.told_before, s.told));
	if (!whole)
		snprintf(part, sizeof(part), "after %u of %u samples: ", x->n, x->nbefore);
	update_effect_most(most, sizeof(most), x);
	snprintf(buf, len, "%s%s%s%u job%s:%s%s)%s", part, slowest, slowest[0] ? "; " : "", s.n,
		 plural(s.n), rates, told, most);
	return whole;
}
