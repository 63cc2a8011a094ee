/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_policy.h"

#include "fabric/base/message/plural.h"

#include <stdarg.h>
#include <stdio.h>

static void auto_policy_say(struct auto_policy *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void auto_policy_say(struct auto_policy *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
}

/* Nothing is known to be computed for: the next look computes. */
static uint64_t auto_policy_back_off(struct auto_policy *p, uint64_t now_s, bool written)
{
	uint64_t pause = p->limits.period_s;

	p->computed = false;
	if (written)
		pause *= 2;
	for (uint32_t i = 0; i < p->failures && pause < AUTO_BACKOFF_S; i++)
		pause *= 2;
	if (pause > AUTO_BACKOFF_S)
		pause = p->limits.period_s > AUTO_BACKOFF_S ? p->limits.period_s : AUTO_BACKOFF_S;
	p->failures++;
	p->next_s = now_s + pause;
	return pause;
}

static uint32_t auto_policy_busy_pause(const struct auto_policy *p)
{
	return p->limits.period_s < AUTO_BUSY_S ? p->limits.period_s : AUTO_BUSY_S;
}

void auto_policy_init(struct auto_policy *p, const struct auto_limits *limits, uint64_t now_s)
{
	*p = (struct auto_policy){ .limits = *limits, .next_s = now_s };
	auto_policy_say(p, "waiting for the jobs");
}

static enum auto_act auto_policy_wait_for(struct auto_policy *p, uint64_t next_s)
{
	p->next_s = next_s;
	return AUTO_WAIT;
}

enum auto_act auto_policy_look(struct auto_policy *p, uint64_t now_s, const struct auto_look *in)
{
	uint64_t later = now_s + p->limits.period_s;

	if (!auto_policy_due(p, now_s))
		return AUTO_WAIT;
	if (!in->known) {
		auto_policy_say(p, "the jobs are unknown at present: the installed routing stays");
		return auto_policy_wait_for(p, later);
	}
	if (in->busy) {
		auto_policy_say(
			p, "another update is in progress or was interrupted: waiting for its end");
		return auto_policy_wait_for(p, now_s + auto_policy_busy_pause(p));
	}
	if (!in->njobs) {
		p->computed = false;
		auto_policy_say(p, "no job on several switches: the installed routing stays");
		return auto_policy_wait_for(p, later);
	}
	if (p->computed && !in->changed && !in->fabric_changed) {
		auto_policy_say(p, "the jobs have not changed: the installed routing stays");
		return auto_policy_wait_for(p, later);
	}
	if (!p->computed && p->more)
		auto_policy_say(p,
				"the last update left something to gain: computing a plan for %u "
				"job%s",
				in->njobs, plural(in->njobs));
	else if (!p->computed)
		auto_policy_say(p, "computing a plan for %u job%s", in->njobs, plural(in->njobs));
	else if (in->fabric_changed)
		auto_policy_say(p, "the fabric has changed: computing a plan for %u job%s",
				in->njobs, plural(in->njobs));
	else
		auto_policy_say(p, "%u job%s started, %u ended: computing a plan for %u",
				in->started, plural(in->started), in->ended, in->njobs);
	p->next_s = later;
	return AUTO_COMPUTE;
}

static bool auto_policy_timed(const struct auto_plan *in)
{
	return in->time_before > 0 && in->time_after > 0;
}

double auto_gain(const struct auto_plan *in)
{
	if (auto_policy_timed(in))
		return 1.0 - in->time_after / in->time_before;
	return in->before ? 1.0 - (double)in->after / (double)in->before : 0;
}

double auto_policy_need(const struct auto_policy *p, const struct auto_plan *in)
{
	if (!in->more)
		return p->limits.gain;
	return in->reach > p->limits.gain ? p->limits.gain / 5 : p->limits.gain / 2;
}

/* Is it more than the phases that were drawn can make of nothing? */
static bool auto_policy_is_certain(const struct auto_plan *in)
{
	double error = auto_policy_timed(in) ? in->time_error / in->time_before : 0;

	return auto_gain(in) > 2 * error;
}

bool auto_part_preferred(const struct auto_plan *part, const struct auto_plan *whole, double gain)
{
	if (whole->mends)
		return part->mends == whole->mends;
	return auto_gain(part) > gain && auto_policy_is_certain(part) &&
	       (!part->slower[0] || whole->slower[0]);
}

static bool auto_policy_gains(const struct auto_policy *p, const struct auto_plan *in)
{
	if (in->mends)
		return true;
	return auto_gain(in) > auto_policy_need(p, in) && auto_policy_is_certain(in);
}

/* Why it does not gain: "not more than 5.0 %" */
static const char *auto_policy_lack(char buf[64], const struct auto_policy *p,
				    const struct auto_plan *in)
{
	if (auto_gain(in) > auto_policy_need(p, in))
		return "within twice the uncertainty of the estimate";
	snprintf(buf, 64, "not more than %.1f %%", 100 * auto_policy_need(p, in));
	return buf;
}

#define CHANGE 600
#define COST   160

/* What software gets that knows base LIDs only is no gain. */
static int auto_policy_sizes(char *buf, size_t len, const struct auto_plan *in)
{
	int n = 0;

	if (in->small_before > 0 && in->small_after > 0)
		n = snprintf(buf, len, "; small messages %.2f -> %.2f", in->small_before,
			     in->small_after);
	if (in->base_loses[0])
		n += snprintf(buf + n, len - (size_t)n, "; %s", in->base_loses);
	return n;
}

/* "gain 7.3 +- 0.4 % (mean time of jobs 3.96 -> 3.67, 0.33 -> 0.31 ms/MiB; max job EFI 20 -> 12)"
 */
static const char *auto_policy_change(char buf[CHANGE], const struct auto_plan *in)
{
	int n;

	if (in->mends) {
		snprintf(buf, CHANGE, "paths for %lu pair%s of ports that have none",
			 (unsigned long)in->mends, plural(in->mends));
		return buf;
	}
	n = snprintf(buf, CHANGE, "gain %.1f", 100 * auto_gain(in));
	if (auto_policy_timed(in)) {
		if (in->time_error > 0)
			n += snprintf(buf + n, CHANGE - (size_t)n, " +- %.1f",
				      100 * in->time_error / in->time_before);
		n += snprintf(buf + n, CHANGE - (size_t)n, " %% (mean time of jobs%s %.2f -> %.2f",
			      in->by_size ? ", large messages" : "", in->time_before,
			      in->time_after);
		if (in->time_bound > 0)
			n += snprintf(buf + n, CHANGE - (size_t)n, ", bound %.2f", in->time_bound);
		if (in->s_before > 0 && in->s_after > 0)
			n += snprintf(buf + n, CHANGE - (size_t)n, ", %.2f -> %.2f ms/MiB",
				      1e3 * in->s_before, 1e3 * in->s_after);
		if (in->by_size)
			n += auto_policy_sizes(buf + n, CHANGE - (size_t)n, in);
		n += snprintf(buf + n, CHANGE - (size_t)n, "; ");
	} else {
		n += snprintf(buf + n, CHANGE - (size_t)n, " %% (");
	}
	n += snprintf(buf + n, CHANGE - (size_t)n, "max job EFI %lu -> %lu",
		      (unsigned long)in->before, (unsigned long)in->after);
	if (in->bound)
		n += snprintf(buf + n, CHANGE - (size_t)n, ", bound %lu", (unsigned long)in->bound);
	if (in->jobs_timed)
		n += snprintf(buf + n, CHANGE - (size_t)n, "; %u job%s faster, %u slower",
			      in->jobs_faster, plural(in->jobs_faster), in->jobs_slower);
	snprintf(buf + n, CHANGE - (size_t)n, ")");
	return buf;
}

/* "; 12 LIDs of 3 jobs have to drain": what else people ask of a plan. */
static const char *auto_policy_cost(char buf[COST], const struct auto_plan *in)
{
	int n = 0;

	buf[0] = '\0';
	if (in->drain)
		n = snprintf(buf, COST, "; %u LID%s of %u job%s ha%s to drain", in->drain_lids,
			     plural(in->drain_lids), in->drain_jobs, plural(in->drain_jobs),
			     in->drain_lids == 1 ? "s" : "ve");
	else if (in->engine[0])
		n = snprintf(buf, COST, "; no drain");
	if (in->rest_lids)
		snprintf(
			buf + n, COST - (size_t)n,
			": %u LID%s that would need one stay%s as installed (gain with them: %.1f %%)",
			in->rest_lids, plural(in->rest_lids), in->rest_lids == 1 ? "s" : "",
			100 * in->rest_gain);
	return buf;
}

/* "sar, 1.340 s of CPU: "; before what was decided. */
static const char *auto_policy_maker(char buf[64], const struct auto_plan *in)
{
	buf[0] = '\0';
	if (in->engine[0] && in->cpu_s > 0)
		snprintf(buf, 64, "%s, %.3f s of CPU: ", in->engine, in->cpu_s);
	else if (in->engine[0])
		snprintf(buf, 64, "%s: ", in->engine);
	return buf;
}

static enum auto_act auto_policy_propose(struct auto_policy *p, const struct auto_plan *in,
					 const char *why)
{
	char maker[64], change[CHANGE], cost[COST];

	auto_policy_say(p, "%s%u block%s: %s%s, but %s", auto_policy_maker(maker, in), in->blocks,
			plural(in->blocks), auto_policy_change(change, in),
			auto_policy_cost(cost, in), why);
	return AUTO_PROPOSE;
}

/* Why what gains is left to people; NULL: nothing keeps it back. */
static const char *auto_policy_hindrance(const struct auto_policy *p, const struct auto_plan *in,
					 char buf[400])
{
	if (!p->limits.armed)
		return "automatic mode is not armed (read-only, no --rw): nothing is written";
	if (p->disarmed)
		return p->overwritten[0]
			       ? p->overwritten
			       : "automatic mode has disarmed itself because another writer changed "
				 "the routing: find out which, then restart automatic mode";
	if (in->slower[0] && !p->limits.accept_slower) {
		snprintf(buf, 400,
			 "it would be slower: %s: nothing is written without "
			 "--accept-slower",
			 in->slower);
		return buf;
	}
	if (in->drain && p->limits.drain == AUTO_DRAIN_NONE)
		return "nobody is to drain (--auto-drain none): an operator has to apply it";
	if (in->drain && !in->agents)
		return "not all jobs that have to drain have agents: an operator has to apply it";
	if (in->moved_jobs && !in->agents_all && p->limits.drain == AUTO_DRAIN_ALL)
		return "not all jobs whose paths change have agents (--auto-drain all): packets could "
		       "overtake each other, and an operator has to apply it";
	return NULL;
}

enum auto_act auto_policy_judge(struct auto_policy *p, uint64_t now_s, const struct auto_plan *in)
{
	char maker[64], change[CHANGE], cost[COST], lack[64], buf[400];
	const char *why;

	if (!in->sound) {
		auto_policy_failed(p, now_s, in->why_not);
		return AUTO_WAIT;
	}
	p->next_s = now_s + p->limits.period_s;
	p->computed = true;
	p->more = in->more;
	if (!in->blocks) {
		p->failures = 0;
		auto_policy_say(p, "%sthe engine finds no better routing: the installed one stays",
				auto_policy_maker(maker, in));
		return AUTO_WAIT;
	}
	if (!auto_policy_gains(p, in)) {
		p->failures = 0;
		auto_policy_say(p, "%s%u block%s: %s%s, %s: the installed routing stays",
				auto_policy_maker(maker, in), in->blocks, plural(in->blocks),
				auto_policy_change(change, in), auto_policy_cost(cost, in),
				auto_policy_lack(lack, p, in));
		return AUTO_WAIT;
	}
	why = auto_policy_hindrance(p, in, buf);
	if (why)
		return auto_policy_propose(p, in, why);
	if (in->busy) {
		p->computed = false;
		p->next_s = now_s + auto_policy_busy_pause(p);
		auto_policy_say(
			p,
			"another update was started: waiting for its end before computing again");
		return AUTO_WAIT;
	}
	auto_policy_say(p, "%swriting %u block%s%s: %s%s%s%s%s", auto_policy_maker(maker, in),
			in->blocks, plural(in->blocks),
			in->more ? ", a part of what there is to gain" : "",
			auto_policy_change(change, in), auto_policy_cost(cost, in),
			in->slower[0] ? "; slower, as accepted: " : "", in->slower,
			in->drain ? "; agents drain their jobs" : "");
	return AUTO_APPLY;
}

void auto_policy_overwritten(struct auto_policy *p, const char *sentence)
{
	p->disarmed = true;
	snprintf(p->overwritten, sizeof(p->overwritten),
		 "%.250s: automatic mode writes nothing any "
		 "more until it is restarted",
		 sentence);
	auto_policy_say(p, "%s", p->overwritten);
}

void auto_policy_failed(struct auto_policy *p, uint64_t now_s, const char *what)
{
	uint64_t pause = auto_policy_back_off(p, now_s, false);

	auto_policy_say(p, "no plan (%.140s): the installed routing stays, next try in %lu s",
			what && *what ? what : "the engine failed", (unsigned long)pause);
}

void auto_policy_ended(struct auto_policy *p, uint64_t now_s, enum auto_end end, const char *text)
{
	const char *why = text && *text ? text : "no reason given";

	switch (end) {
	case AUTO_KEPT:
		p->failures = 0;
		p->next_s = now_s + p->limits.period_s;
		p->computed &= !p->more;
		auto_policy_say(p, "the new routing is confirmed%s",
				p->more ? "; what is left to gain comes next" : "");
		break;
	case AUTO_REFUSED:
		auto_policy_say(p, "nothing was written (%.130s), next try in %lu s", why,
				(unsigned long)auto_policy_back_off(p, now_s, false));
		break;
	case AUTO_ROLLED_BACK:
		auto_policy_say(p,
				"rolled back to the previous routing (%.130s), next try in %lu "
				"s",
				why, (unsigned long)auto_policy_back_off(p, now_s, true));
		break;
	case AUTO_INCOMPLETE:
		auto_policy_say(
			p,
			"some switches may still hold the new routing (%.90s): an operator has to "
			"finish that update; next try in %lu s",
			why, (unsigned long)auto_policy_back_off(p, now_s, true));
		break;
	case AUTO_SUPERSEDED:
		p->disarmed = true;
		auto_policy_say(
			p,
			"another writer changed the routing (%.120s): automatic mode writes "
			"nothing any more, next check in %lu s",
			why, (unsigned long)auto_policy_back_off(p, now_s, true));
		break;
	case AUTO_LEFT:
		auto_policy_say(p,
				"the update is left to its watchdog, which rolls back unless it is "
				"confirmed; next try in %lu s",
				(unsigned long)auto_policy_back_off(p, now_s, true));
		break;
	}
}
