/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explore: larger explorations of the five phases than the unit tests have time for.
 *
 *	explore				all of the list below, then mistakes on purpose and
 *					many agents at once: what "make soak" runs
 *	explore NAME=NUMBER ...		one: nagents=3 max_sends=2 lost=255 deaths=1 ...
 *
 * Needs up to 2 GB.  Exit code 1: a run did not end as it should; how it came to that follows.
 * Also 1: a mistake that was made on purpose was not found.
 */
#include "tests/bench/bench_kit.h"

#include "tests/unit/kit/phase_model.h"

#include "fabric/agent/agent_state.h"
#include "fabric/base/memory/mem.h"
#include "fabric/update/protocol/coordinator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct phase_model list[] = {
	{ .nagents = 1, .deaths = 1, .crashes = 1, .doubled = 1, .faults = 2, .max_sends = 2 },
	{ .nagents = 1, .sms = 1, .cancels = 1, .holds = 1, .asks = 1, .max_sends = 2 },
	{ .nagents = 2, .deaths = 1, .crashes = 1, .doubled = 1 },
	{ .nagents = 2, .sms = 1, .deaths = 1, .faults = 2, .cancels = 1 },
	{ .nagents = 2, .earlier = true, .doubled = 1, .hooks = 1 },
	{ .nagents = 3, .crashes = 1, .without_silent = true },
	{ .nagents = 3, .crashes = 1, .deaths = 1 },
	{ .nagents = 3, .sms = 1, .cancels = 1 },
	{ .nagents = 3, .doubled = 1, .deaths = 1 },
	{ .nagents = 3, .faults = 2, .deaths = 1 },
	{ .nagents = 3, .sms = 1, .deaths = 1 },
	{ .nagents = 3, .sms = 1, .crashes = 1 },
	{ .nagents = 3, .others = 1, .crashes = 1, .deaths = 1 },
	{ .nagents = 3, .doubled = 1, .crashes = 1 },
	{ .nagents = 3, .earlier = true },
	/* all at once, each once; and with switches that fail and an operator who cancels; twice */
	{ .nagents = 3, .doubled = 1, .crashes = 1, .deaths = 1, .sms = 1 },
	{ .nagents = 3,
	  .doubled = 1,
	  .crashes = 1,
	  .deaths = 1,
	  .sms = 1,
	  .faults = 1,
	  .cancels = 1 },
	{ .nagents = 3, .doubled = 1, .crashes = 2, .deaths = 2, .sms = 2 },
	/* each question sent up to twice; three agents with all troubles take minutes more */
	{ .nagents = 2,
	  .doubled = 1,
	  .crashes = 2,
	  .deaths = 1,
	  .sms = 1,
	  .faults = 1,
	  .cancels = 1,
	  .max_sends = 2 },
	{ .nagents = 3, .doubled = 1, .crashes = 1, .sms = 1, .max_sends = 2 },
	{ .nagents = 3, .doubled = 1, .deaths = 1, .max_sends = 2 },
	/* the job of one begins at any moment; its agent asks, and joins or is not there; the last:
	 * 6,872,303 states, 256 MB, 57 s of CPU */
	{ .nagents = 1, .late = 1, .doubled = 1, .crashes = 1, .deaths = 2, .sms = 1, .faults = 1 },
	{ .nagents = 2, .late = 2, .doubled = 1, .crashes = 1, .deaths = 1, .sms = 1 },
	{ .nagents = 3, .late = 1, .doubled = 1, .crashes = 1, .without_silent = true },
	{ .nagents = 3, .late = 1, .faults = 1, .cancels = 1 },
	{ .nagents = 3, .late = 1, .others = 1 },
	{ .nagents = 3, .late = 1, .doubled = 1, .deaths = 1 },
	{ .nagents = 3, .late = 1, .doubled = 1, .crashes = 1, .sms = 1 },
	{ .nagents = 3, .late = 1, .doubled = 1, .crashes = 1, .deaths = 1, .sms = 1 },
	/* a node that means harm (phase_hostile.c): it says what it likes in whoever's name, at
	 * every state; any message may come again at any later time, or not at all */
	{ .nagents = 3,
	  .doubled = 1,
	  .crashes = 1,
	  .deaths = 1,
	  .sms = 1,
	  .hostile = true,
	  .keyed = true },
	{ .nagents = 3, .earlier = true, .doubled = 1, .hostile = true, .keyed = true },
	{ .nagents = 3, .late = 1, .doubled = 1, .deaths = 1, .hostile = true, .keyed = true },
	{ .nagents = 3, .doubled = 1, .deaths = 1, .hostile = true, .recheck = true },
	/* ... that agents without a key believe when it calls them back */
	{ .nagents = 2, .hostile = true, .recheck = true, .callbacks = 2 },
	/* not with another SM or faults: nothing stops a rollback, whatever agents are told */
	{ .nagents = 1, .deaths = 1, .hostile = true, .recheck = true, .callbacks = 2 },
};

/* All at once, by three agents: messages lost, doubled, late and in any order, an agent, the
 * console and the SM that die, each once. */
static const struct phase_model everything = {
	.nagents = 3, .doubled = 1, .crashes = 1, .deaths = 1, .sms = 1
};

/* Found by the same model when one part does not do what it should. */
static const enum phase_mutant mistakes[] = {
	MUTANT_EARLY_ACK,     MUTANT_NO_HOLD,	    MUTANT_BLIND_READ, MUTANT_NO_JOURNAL,
	MUTANT_UNASKED,	      MUTANT_TRUSTING,	    MUTANT_UNLOOKED,   MUTANT_UNINVITED,
	MUTANT_OBEYS_ANYBODY, MUTANT_HEARS_ANYBODY, MUTANT_HASTY
};

struct sum {
	uint64_t models, states, steps, lost, doubled, late, crashes, deaths, sms, joined,
		confirmed, refused, back, superseded, forged, believed;
	double runs;
};

static void add(struct sum *sum, const struct phase_found *f)
{
	sum->models++;
	sum->states += f->states;
	sum->steps += f->steps;
	sum->lost += f->lost;
	sum->doubled += f->doubled;
	sum->late += f->late;
	sum->crashes += f->crashes;
	sum->deaths += f->deaths;
	sum->sms += f->sms;
	sum->joined += f->joined;
	sum->confirmed += f->confirmed;
	sum->refused += f->refused;
	sum->back += f->back;
	sum->superseded += f->superseded;
	sum->forged += f->forged;
	sum->believed += f->believed;
	sum->runs += f->runs;
}

static void tell(const struct sum *s)
{
	printf("all %" PRIu64 ": %" PRIu64 " states, %" PRIu64
	       " steps, %.3g runs; in them messages lost %" PRIu64 ", doubled %" PRIu64
	       ", late answers %" PRIu64 ", agents died %" PRIu64 ", consoles died %" PRIu64
	       ", other SMs %" PRIu64 ", agents joined late %" PRIu64 "; ends: %" PRIu64
	       " confirmed, %" PRIu64 " rolled back, %" PRIu64 " refused, %" PRIu64
	       " superseded by another SM's routing; forged %" PRIu64 ", of them believed %" PRIu64
	       "\n",
	       s->models, s->states, s->steps, s->runs, s->lost, s->doubled, s->late, s->crashes,
	       s->deaths, s->sms, s->joined, s->confirmed, s->back, s->refused, s->superseded,
	       s->forged, s->believed);
}

static int explore(struct sum *sum, const struct phase_model *m)
{
	struct phase_found *f = xcalloc(1, sizeof(*f));
	double start = cpu_s();
	int rc;

	phase_model_explore(f, m);
	printf("agents %u (%u late) waves %u sends %u%s%s doubled %u faults %u hooks %u crashes %u ended %u "
	       "deaths %u cancels %u sms %u others %u holds %u asks %u callbacks %u%s%s%s\n",
	       m->nagents, m->late, m->nwaves, m->max_sends, m->earlier ? " earlier" : "",
	       m->without_silent ? " without-silent" : "", m->doubled, m->faults, m->hooks,
	       m->crashes, m->ended, m->deaths, m->cancels, m->sms, m->others, m->holds, m->asks,
	       m->callbacks, m->hostile ? " hostile" : "", m->keyed ? " keyed" : "",
	       m->recheck ? " recheck" : "");
	printf("\t%lu states, %lu steps, %.3g runs of up to %u steps, %lu MB, %.1f s of CPU: %s\n",
	       (unsigned long)f->states, (unsigned long)f->steps, f->runs, f->longest,
	       (unsigned long)(f->table_bytes >> 20), cpu_s() - start,
	       f->wrong	     ? f->wrong
	       : f->complete ? "every run ends as it should"
			     : "not all states were seen");
	if (f->wrong)
		printf("%s", f->trace);
	rc = f->wrong != NULL || !f->complete || (f->believed && !m->callbacks);
	add(sum, f);
	free(f);
	return rc;
}

static unsigned literal, hostile, keyed, recheck;

static int set(struct phase_model *m, const char *word)
{
	const struct {
		const char *name;
		unsigned *v;
	} known[] = {
		{ "nagents", &m->nagents },
		{ "nwaves", &m->nwaves },
		{ "max_sends", &m->max_sends },
		{ "lost", &m->lost },
		{ "doubled", &m->doubled },
		{ "faults", &m->faults },
		{ "hooks", &m->hooks },
		{ "crashes", &m->crashes },
		{ "ended", &m->ended },
		{ "deaths", &m->deaths },
		{ "cancels", &m->cancels },
		{ "sms", &m->sms },
		{ "holds", &m->holds },
		{ "asks", &m->asks },
		{ "literal", &literal },
		{ "late", &m->late },
		{ "others", &m->others },
		{ "hostile", &hostile },
		{ "keyed", &keyed },
		{ "recheck", &recheck },
		{ "callbacks", &m->callbacks },
	};
	const char *eq = strchr(word, '=');

	for (size_t i = 0; eq && i < sizeof(known) / sizeof(*known); i++) {
		if (strncmp(word, known[i].name, (size_t)(eq - word)) ||
		    strlen(known[i].name) != (size_t)(eq - word))
			continue;
		*known[i].v = (unsigned)strtoul(eq + 1, NULL, 10);
		m->literal = literal;
		m->hostile = hostile;
		m->keyed = keyed;
		m->recheck = recheck;
		return 0;
	}
	fprintf(stderr, "explore: %s: not known\n", word);
	return -1;
}

/* Every agent hears every notice and answers twice; hooks take no time. */
static uint64_t talk(struct coordinator *c, struct agent_state *a, uint32_t n)
{
	struct phase_notice notice, ack;
	uint64_t answers = 0;

	coordinator_notice(c, &notice);
	coordinator_step(c, EV_DONE);
	for (uint32_t i = 0; i < n; i++) {
		agent_state_notice(&a[i], &notice);
		while (agent_state_busy(&a[i]))
			agent_state_step(&a[i], AGENT_EV_DONE);
		agent_state_ack(&a[i], &ack);
		coordinator_ack(c, i, &ack);
		coordinator_ack(c, i, &ack);
		answers += 2;
	}
	return answers;
}

static int crowd(uint32_t n)
{
	struct coord_agent *known = xcalloc(n, sizeof(*known));
	struct agent_state *a = xcalloc(n, sizeof(*a));
	struct coord_drain d = { .agents = known, .nagents = n, .txn = 1, .max_sends = 3 };
	struct coordinator c;
	uint64_t answers = 0;
	double start = cpu_s();

	coordinator_init(&c, 1, 1);
	coordinator_drain(&c, &d);
	coordinator_step(&c, EV_START);
	while (c.action != ACT_WAIT && c.action != ACT_STOP)
		if (c.action == ACT_NOTIFY)
			answers += talk(&c, a, n);
		else
			coordinator_step(&c, c.action == ACT_AWAIT ? EV_DEADLINE : EV_DONE);
	printf("%u agents: %lu answers, %.3f ms of CPU up to CONFIRM, both sides\n", n,
	       (unsigned long)answers, 1e3 * (cpu_s() - start));
	free(a);
	free(known);
	return c.action != ACT_WAIT;
}

static struct phase_model whole(const struct phase_model *from)
{
	struct phase_model m = *from;

	m.nwaves = 1;
	m.max_sends = m.max_sends ? m.max_sends : 1;
	m.lost = LOST_ANY;
	m.safety = true;
	return m;
}

static int find_mistakes(void)
{
	struct phase_found *f = xcalloc(1, sizeof(*f));
	int rc = 0;

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		struct phase_model m = whole(&everything);

		m.mutant = mistakes[i];
		m.faults = m.mutant == MUTANT_BLIND_READ;
		m.late = m.mutant == MUTANT_UNLOOKED || m.mutant == MUTANT_UNINVITED;
		m.hostile = m.mutant >= MUTANT_OBEYS_ANYBODY;
		if (m.hostile) /* without the reductions agents with all troubles are many */
			m = (struct phase_model){ .nagents = 1,
						  .nwaves = 1,
						  .max_sends = 1,
						  .lost = LOST_ANY,
						  .safety = true,
						  .hostile = true,
						  .callbacks = mistakes[i] == MUTANT_HASTY,
						  .mutant = mistakes[i] };
		phase_model_explore(f, &m);
		printf("on purpose, %s: %s after %" PRIu64 " states\n", phase_mutant_name(m.mutant),
		       f->wrong ? f->wrong : "NOT FOUND", f->states);
		rc |= !f->wrong;
	}
	free(f);
	return rc;
}

int main(int argc, char **argv)
{
	struct phase_model m = {
		.nagents = 1, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY, .safety = true
	};
	struct sum sum = { 0 };
	int rc = 0;

	for (int i = 1; i < argc; i++)
		if (set(&m, argv[i]))
			return 2;
	if (m.nagents > 3 || m.late > m.nagents || m.nwaves < 1 || m.nwaves > 2 ||
	    m.max_sends < 1 || m.max_sends > 2 || m.deaths > 2) {
		fprintf(stderr, "explore: up to 3 agents, 2 waves, 2 sends, 2 deaths\n");
		return 2;
	}
	if (argc > 1)
		return explore(&sum, &m);
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		m = whole(&list[i]);
		rc |= explore(&sum, &m);
	}
	tell(&sum);
	return rc | find_mistakes() | crowd(1000);
}
