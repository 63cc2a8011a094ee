/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/headline.h"

#include "engines/weak/failure_cost.h"
#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"
#include "views/data/state/key_hint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void headline_say(struct headline *h, const char *full, const char *brief)
{
	snprintf(h->text, sizeof(h->text), "%s", full);
	snprintf(h->brief, sizeof(h->brief), "%s", brief[0] ? brief : full);
	snprintf(h->least, sizeof(h->least), "%.*s", (int)sizeof(h->least) - 1, h->brief);
}

/* --- what does not answer -------------------------------------------------------------------- */

static bool headline_lost(struct headline *h, const struct state *s)
{
	if (s->mode != RUN_LOST)
		return false;
	headline_say(h, s->lost_why, "");
	return true;
}

/* What is lost meanwhile is told with it: nobody else repairs that. */
static bool headline_sm(struct headline *h, const struct state *s)
{
	const struct failure_cost *c = s->failure;
	bool lost = c && c->lost && !c->repaired;
	char full[320], brief[160], cost[160] = "", jobs[40] = "";

	if (!s->sm.known || !s->sm.lost)
		return false;
	if (lost && c->touched)
		snprintf(jobs, sizeof(jobs), ", %u job%s touched", c->touched, plural(c->touched));
	if (lost)
		snprintf(cost, sizeof(cost), ", and %" PRIu64 " path%s lost (%.60s)%s", c->lost,
			 plural(c->lost), c->since.gone, jobs);
	snprintf(full, sizeof(full), "the subnet manager (%s, LID %u) is gone%s: %s",
		 s->sm.name[0] ? s->sm.name : "unknown", s->sm.lid, cost,
		 lost ? "6: repair" : "nobody repairs the routing; 8: events");
	if (lost)
		snprintf(brief, sizeof(brief),
			 "subnet manager gone, %" PRIu64 " path%s lost%s; 6: repair", c->lost,
			 plural(c->lost), jobs);
	else
		snprintf(brief, sizeof(brief),
			 "subnet manager gone: nobody repairs the routing; 8: events");
	headline_say(h, full, brief);
	return true;
}

/* "spine03 gone", "leaf03/25-spine07/3 and 1 more gone" */
static void headline_first_gone(char *buf, size_t len, const struct carry_report *r)
{
	uint32_t n = r->switches_away + r->cables_away + r->away;
	size_t first = strcspn(r->gone, ",");
	char more[24] = "";

	if (!first) {
		carry_report_text(buf, len, r);
		return;
	}
	if (n > 1)
		snprintf(more, sizeof(more), " and %u more", n - 1);
	snprintf(buf, len, "%.*s%s gone", (int)(first < 40 ? first : 40), r->gone, more);
}

/* Paths are missing: since what, and for whom, if that is known. */
static void headline_cut_off(struct headline *h, const struct state *s)
{
	const struct failure_cost *c = s->failure;
	char text[300], full[320], brief[200], gone[80], jobs[48] = "";

	if (!c || !c->lost) {
		headline_say(h,
			     "the routing is incomplete: hosts cannot reach each other; 6: repair",
			     "routing incomplete: hosts are cut off; 6: repair");
		return;
	}
	snprintf(full, sizeof(full), "%.300s; 6: repair", failure_cost_text(text, sizeof(text), c));
	headline_first_gone(gone, sizeof(gone), &c->since);
	if (c->touched)
		snprintf(jobs, sizeof(jobs), ", %u job%s touched", c->touched, plural(c->touched));
	snprintf(brief, sizeof(brief), "%s: %" PRIu64 " path%s lost%s; 6: repair", gone, c->lost,
		 plural(c->lost), jobs);
	headline_say(h, full, brief);
	snprintf(h->least, sizeof(h->least), "%.70s: %" PRIu64 " path%s lost; 6: repair", gone,
		 c->lost, plural(c->lost));
}

static bool headline_broken(struct headline *h, const struct state *s)
{
	const struct verdict *v = s->verdict;

	if (!v || !state_tables(s) || verdict_ok(v))
		return false;
	if (!v->connected)
		headline_cut_off(h, s);
	else if (!v->loop_free)
		headline_say(h, "packets run in circles: the routing has loops; 6: compute another",
			     "");
	else if (!v->vls_fit)
		headline_say(
			h, "the routing needs more VLs than the switches have; 6: compute another",
			"");
	else if (state_vls_known(s) && s->sls_known)
		headline_say(h, "the routing can deadlock: credit loop; 6: compute another", "");
	else
		return false;
	return true;
}

/* --- what is down, and other problems of ports ----------------------------------------------- */

/* ": 44 paths lost, repaired, 2 jobs touched (4711, ...)"; "" where nothing is lost. */
static void headline_cost(char *buf, size_t size, const struct failure_cost *c, bool ids)
{
	char lost[60] = "", jobs[40] = "", which[90] = "", all[80];

	if (c->lost)
		snprintf(lost, sizeof(lost), ": %" PRIu64 " path%s lost%s", c->lost,
			 plural(c->lost), c->repaired ? ", repaired" : "");
	if (c->touched)
		snprintf(jobs, sizeof(jobs), ", %u job%s touched", c->touched, plural(c->touched));
	if (c->touched && ids)
		snprintf(which, sizeof(which), " (%s)", failure_cost_ids(all, sizeof(all), c));
	snprintf(buf, size, "%s%s%s", lost, jobs, which);
}

/* "1 switch and 2 hosts gone" */
static void headline_count(char *buf, size_t size, uint32_t switches, uint32_t hosts)
{
	char sw[32] = "", ca[32] = "";

	if (switches)
		snprintf(sw, sizeof(sw), "%u switch%s", switches, plural_es(switches));
	if (hosts)
		snprintf(ca, sizeof(ca), "%u host%s", hosts, plural(hosts));
	snprintf(buf, size, "%s%s%s gone", sw, switches && hosts ? " and " : "", ca);
}

static bool headline_gone(struct headline *h, const struct state *s)
{
	const struct state_poll *p = &s->poll;
	const struct failure_cost *c = s->failure;
	char full[260], count[80], names[256], gone[80] = "", cost[120] = "", brief[120] = "";

	if (!p->missing_sw && !p->missing_ca)
		return false;
	headline_count(count, sizeof(count), p->missing_sw, p->missing_ca);
	if (c && (c->since.switches_away || c->since.away)) {
		headline_first_gone(gone, sizeof(gone), &c->since);
		headline_cost(cost, sizeof(cost), c, true);
		headline_cost(brief, sizeof(brief), c, false);
	}
	if (gone[0])
		snprintf(full, sizeof(full), "%s (%s)%s; 8: events", count,
			 text_shorten(names, sizeof(names), c->since.gone, 60), cost);
	else
		snprintf(full, sizeof(full), "%s; 8: events", count);
	headline_say(h, full, "");
	if (!gone[0])
		return true;
	snprintf(h->brief, sizeof(h->brief), "%.60s%s; 8: events", gone, c->lost ? brief : cost);
	snprintf(h->least, sizeof(h->least), "%.60s%s; 8: events", gone,
		 c->repaired ? ", repaired" : "");
	return true;
}

static bool headline_down(struct headline *h, const struct state *s, const struct fabric_summary *v)
{
	const struct failure_cost *c = s->failure;
	char label[200], since[FIGURE_LEN] = "", age[FIGURE_LEN], full[500], others[40] = "";
	char cost[120] = "", what[320], brief[340];
	uint32_t port;
	const char *was;
	double age_s;
	bool longer;

	if (headline_gone(h, s))
		return true;
	if (!v->down || !v->nproblem)
		return false;
	port = s->fabric->port_off[v->problem_sw[0]] + v->problem_port[0];
	was = port_problems_was(v->port_problems, port);
	age_s = s->history_at.on ? NAN
				 : port_problems_age_s(v->port_problems, port, s->now_s, &longer);
	port_label(label, sizeof(label), s->fabric, v->problem_sw[0], v->problem_port[0]);
	if (isfinite(age_s) && !longer)
		snprintf(since, sizeof(since), " for %.20s", figure_age(age, age_s));
	if (v->down > 2)
		snprintf(others, sizeof(others), ", %u ports in all", v->down);
	if (c && c->since.cables_away)
		headline_cost(cost, sizeof(cost), c, true);
	snprintf(what, sizeof(what), "cable down%s: %s%s%.60s%s", since, label, was ? " -> " : "",
		 was ? was : "", others);
	snprintf(full, sizeof(full), "%s%s; %s, Enter: there", what, cost, key_hint("pane"));
	snprintf(brief, sizeof(brief), "%s%s", what, c && c->repaired ? ", repaired" : "");
	headline_say(h, full, cost[0] ? brief : "");
	return true;
}

static bool headline_ports(struct headline *h, const struct fabric_summary *v)
{
	char full[160], part[3][48] = { "", "", "" };

	if (!v->errors && !v->reduced && !v->no_reply)
		return false;
	if (v->errors)
		snprintf(part[0], 48, "%u port%s with errors", v->errors, plural(v->errors));
	if (v->reduced)
		snprintf(part[1], 48, "%s%u reduced", v->errors ? ", " : "", v->reduced);
	if (v->no_reply)
		snprintf(part[2], 48, "%s%u without reply", v->errors || v->reduced ? ", " : "",
			 v->no_reply);
	snprintf(full, sizeof(full), "%s%s%s; %s: problem ports", part[0], part[1], part[2],
		 key_hint("pane"));
	headline_say(h, full, "");
	return true;
}

/* --- jobs
 * ------------------------------------------------------------------------------------------ */

static bool headline_jobs(struct headline *h, const struct state *s)
{
	const struct state_jobs *j = &s->jobs_source;
	char full[400], brief[120], age[FIGURE_LEN], of[48] = "no jobs are known";

	if (j->state != JOBS_UNREACHABLE)
		return false;
	if (s->jobs && isfinite(j->age_s))
		snprintf(of, sizeof(of), "jobs are those of %.20s ago", figure_age(age, j->age_s));
	snprintf(full, sizeof(full), "%s does not answer, %s: %s", j->source, of, j->sentence);
	snprintf(brief, sizeof(brief), "%s does not answer: %s", j->source, of);
	headline_say(h, full, brief);
	return true;
}

static bool headline_keeping(struct headline *h, const struct state *s)
{
	char full[300];

	if (s->collector.keeping != KEEPING_FAILS)
		return false;
	snprintf(full, sizeof(full), "no history is kept: %s", s->collector.why);
	headline_say(h, full, "no history is kept; 8: events");
	return true;
}

/* The job that suffers most, FAB_NONE without one. */
static uint32_t headline_worst_job(const struct link_usage *u, double *slowdown)
{
	const struct prediction *p = u ? u->together : NULL;

	*slowdown = p && p->worst != FAB_NONE ? p->slowdown_max : 1;
	return p ? p->worst : FAB_NONE;
}

/* The link that it shares with most paths of others, and with whom; FAB_NONE: with nobody. */
static uint32_t headline_shared(const struct link_usage *u, uint32_t job, uint32_t *with)
{
	const struct job_routes *r = u->routes;
	uint64_t most = 0;
	uint32_t at = FAB_NONE;

	for (uint64_t i = r->off[job]; i < r->off[job + 1]; i++) {
		uint32_t c = r->chan[i], other = FAB_NONE;
		uint64_t sum = 0;

		for (uint64_t k = r->chan_off[c]; k < r->chan_off[c + 1]; k++) {
			sum += r->job_routes[k];
			if (other == FAB_NONE && r->job[k] != job)
				other = r->job[k];
		}
		if (other == FAB_NONE || sum <= most)
			continue;
		most = sum;
		at = c;
		*with = other;
	}
	return at;
}

/* A plan that gains, or a bound that is far below what there is; "" for neither. */
static const char *headline_better(char buf[64], char least[32], const struct state *s)
{
	const struct plan_preview *p = state_plan(s);
	const struct metrics *m = state_metrics(s);
	const struct pattern_time *now = &p->time_now.of[PREDICT_ALLTOALL];
	const struct pattern_time *plan = &p->time_plan.of[PREDICT_ALLTOALL];

	if (state_plan_ahead(s) && p->time_now.known && p->time_plan.known && p->time_now.jobs &&
	    plan->mean.mean < 0.98 * now->mean.mean) {
		snprintf(buf, 64, "; 6: %.7s takes %.0f%% less time", p->id,
			 100 - 100 * plan->mean.mean / now->mean.mean);
		snprintf(least, 32, "; 6: %.7s -%.0f%%", p->id,
			 100 - 100 * plan->mean.mean / now->mean.mean);
		return buf;
	}
	snprintf(least, 32, "; 6 computes better");
	return m && m->njob && 4 * m->eff_efi_max > 5 * m->eff_efi_bound ? "; 6 computes better"
									 : "";
}

static bool headline_slow(struct headline *h, const struct state *s, bool routing)
{
	const struct link_usage *u = state_usage(s);
	const char *costs = routing ? "routing costs jobs" : "jobs slow each other";
	char full[400], brief[300], label[160], from[NAME_LEN], to[NAME_LEN], buf[64], least[32];
	char ids[2 * JOB_ID_LEN + 16], id[JOB_ID_LEN], other[JOB_ID_LEN], share[320] = "",
									  brief_share[320] = "";
	const char *better = headline_better(buf, least, s);
	double slowdown;
	uint32_t job = headline_worst_job(u, &slowdown), with, chan;

	if (job == FAB_NONE || slowdown < HEAD_SLOW || (better[0] != '\0') != routing || !u->routes)
		return false;
	chan = headline_shared(u, job, &with);
	if (chan != FAB_NONE) {
		snprintf(ids, sizeof(ids), ": %s, %s share", job_text(id, &u->jobs->jobs[job]),
			 job_text(other, &u->jobs->jobs[with]));
		snprintf(share, sizeof(share), "%s %s", ids,
			 chan_label(label, sizeof(label), s->fabric, chan));
		snprintf(brief_share, sizeof(brief_share), "%s %s->%s", ids,
			 switch_label(from, sizeof(from), s->fabric, s->fabric->chan_src[chan]),
			 switch_label(to, sizeof(to), s->fabric, s->fabric->chan_dst[chan]));
	}
	snprintf(full, sizeof(full), "%s up to %.1fx%s%s", costs, slowdown, share, better);
	snprintf(brief, sizeof(brief), "%s %.1fx%s%s", costs, slowdown, brief_share, better);
	headline_say(h, full, brief);
	snprintf(h->least, sizeof(h->least), "%s %.1fx%s%s", routing ? "routing costs" : costs,
		 slowdown, brief_share, better[0] ? least : "");
	return true;
}

/* --- congestion ------------------------------------------------------------------------------ */

/* Seconds that it has waited, as far as the history tells. */
static double headline_waits_s(const struct state *s, uint32_t chan, double limit)
{
	uint8_t row[HISTORY_LEN];
	uint32_t n = s->history ? history_get(s->history, chan, HISTORY_WAIT, row) : 0, k = 0;

	while (k < n && row[n - 1 - k] != HISTORY_UNKNOWN && row[n - 1 - k] >= limit)
		k++;
	return k > 1 ? k * s->poll.interval_s : NAN;
}

/* Of the jobs on a channel the one that loses most; equals by their paths, most first. */
static const struct job *headline_loser(const struct link_usage *u, uint32_t chan)
{
	const struct job_routes *r = u->routes;
	uint32_t job = r->job[r->chan_off[chan]];
	double most = 0;

	for (uint64_t k = r->chan_off[chan]; u->together && k < r->chan_off[chan + 1]; k++) {
		const struct job_prediction *p = &u->together->job[r->job[k]];

		if (!p->flows || p->slowdown <= most)
			continue;
		most = p->slowdown;
		job = r->job[k];
	}
	return &u->jobs->jobs[job];
}

static void headline_cause(char *buf, size_t len, const struct state *s, uint32_t port)
{
	const struct link_usage *u = state_usage(s);
	uint32_t chan = s->fabric->port[port].chan, term = s->fabric->port[port].term;
	const struct jobset *js = s->jobs;
	char id[JOB_ID_LEN];

	buf[0] = '\0';
	if (chan != FAB_NONE && u && u->routes &&
	    u->routes->chan_off[chan] < u->routes->chan_off[chan + 1])
		snprintf(buf, len, ", cause job %s", job_text(id, headline_loser(u, chan)));
	else if (term != FAB_NONE && js && js->nterm == s->fabric->nterm &&
		 js->term_off[term] < js->term_off[term + 1])
		snprintf(buf, len, ", cause job %s: more is sent to this host than it takes",
			 job_text(id, &js->jobs[js->term_job[js->term_off[term]]]));
}

static bool headline_congestion(struct headline *h, const struct state *s,
				const struct fabric_summary *v)
{
	const struct congestion_finding *g = v->congestion.n ? v->congestion.finding : NULL;
	char label[200], full[400], brief[220], age[FIGURE_LEN], since[40] = "", cause[100];
	uint32_t port, sw;
	double s_long;

	if (!g || !s->rates)
		return false;
	port = g->port;
	sw = fabric_port_switch(s->fabric, port);
	s_long = headline_waits_s(s, g->longest, v->congestion.wait_pct);
	if (isfinite(s_long))
		snprintf(since, sizeof(since), " %.20s", figure_age(age, s_long));
	headline_cause(cause, sizeof(cause), s, port);
	port_label(label, sizeof(label), s->fabric, sw, port - s->fabric->port_off[sw]);
	snprintf(full, sizeof(full), "%s congested%s%s: %u link%s wait%s up to %.0f%%; 3: links",
		 label, since, cause, g->waiting, plural(g->waiting), g->waiting == 1 ? "s" : "",
		 state_rate(s, chan_fabric_port(s->fabric, g->longest))->wait_pct);
	if (strstr(cause, ":"))
		*strstr(cause, ":") = '\0';
	snprintf(brief, sizeof(brief), "%s congested%s%s", label, since, cause);
	headline_say(h, full, brief);
	return true;
}

/* --- nothing is wrong
 * ----------------------------------------------------------------------------- */

static bool headline_unknown(struct headline *h, const struct state *s)
{
	const char *why = !s->rates && s->mode == RUN_FILE ? "a file has no counters"
			  : !s->rates			   ? "no rates yet"
			  : !s->tables			   ? state_no_tables(s)
			  : !s->verdict			   ? "the routing is not verified yet"
			  : !state_vls_known(s)		   ? "SL2VL is not read ({vls})"
			  : !s->sls_known && !verdict_ok(s->verdict) ? "SLs of paths are not known"
								     : NULL;
	char full[200], hint[160];

	if (s->incomplete) {
		headline_say(
			h,
			"the file is incomplete: of what is in it nothing is known to be wrong; "
			"8: events",
			"the file is incomplete; 8: events");
		return true;
	}
	if (!why)
		return false;
	snprintf(full, sizeof(full), "nothing is known to be wrong; %s",
		 key_hint_text(hint, sizeof(hint), why));
	headline_say(h, full, "");
	return true;
}

static bool headline_well(struct headline *h, const struct fabric_summary *v)
{
	const struct sample_summary *t = v->sample_summary;
	double util = NAN, wait = 0;
	char full[120], pct[FIGURE_LEN];

	for (uint32_t k = 0; t && k < v->tiers->n; k++) {
		util = fmax(util, t->tier[k].util_max);
		wait = fmax(wait, t->tier[k].wait_max);
	}
	snprintf(full, sizeof(full),
		 "all well: links at most %s full, waiting at most %.0f%% of the time",
		 figure_percent(pct, util), wait);
	headline_say(h, full, "");
	return true;
}

static bool headline_is(struct headline *h, enum headline_kind kind, const struct state *s,
			const struct fabric_summary *v)
{
	switch (kind) {
	case HEAD_LOST:
		return headline_lost(h, s);
	case HEAD_SM:
		return headline_sm(h, s);
	case HEAD_BROKEN:
		return headline_broken(h, s);
	case HEAD_DOWN:
		return headline_down(h, s, v);
	case HEAD_ROUTING:
		return headline_slow(h, s, true);
	case HEAD_CONGESTION:
		return headline_congestion(h, s, v);
	case HEAD_SLOWED:
		return headline_slow(h, s, false);
	case HEAD_JOBS:
		return headline_jobs(h, s);
	case HEAD_KEEPING:
		return headline_keeping(h, s);
	case HEAD_PORTS:
		return headline_ports(h, v);
	case HEAD_UNKNOWN:
		return headline_unknown(h, s);
	default:
		return headline_well(h, v);
	}
}

void headline_make(struct headline *out, const struct state *s, const struct fabric_summary *v)
{
	struct headline other;

	memset(out, 0, sizeof(*out));
	while (out->kind < HEAD_WELL && !headline_is(out, out->kind, s, v))
		out->kind++;
	if (out->kind == HEAD_WELL)
		headline_well(out, v);
	for (int k = (int)out->kind + 1; k < HEAD_UNKNOWN; k++)
		out->more += headline_is(&other, (enum headline_kind)k, s, v);
}
