/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/txn_phases.h"

#include "fabric/agent/agent_state.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/packets_drive.h"

#include <stdlib.h>
#include <string.h>

#define AGENTS	    6
#define TXN	    9
#define RESEND_ns   200000
#define DEADLINE_ns 30000000
#define SILENT_ns   3000000 /* the deadline when an agent is known to be silent */
#define PATIENCE_ns 2000000 /* of an agent on escape LIDs before it asks */
#define GREET_ns    80000   /* between questions of an agent that begins */
#define GREETINGS   3
#define DELAY_ns    30000  /* of a notice, at most */
#define ROUNDS_MAX  100000 /* steps of one transaction */

struct message {
	uint64_t at_ns;
	uint32_t agent;
	bool answer;
	struct phase_notice n;
};

struct side {
	struct agent_state a;
	bool silent;
	uint64_t heard_ns, subscribe_ns;
};

/* The last agent may be one whose job begins meanwhile. */
struct late {
	bool is, here, sends, joined, greets;
	uint32_t begins; /* round; or just before this write, counted from 0 */
	bool by_writes;
	uint32_t writes;
	uint32_t greetings;
	uint64_t greet_ns;
};

struct game {
	struct world *w;
	struct txn_end *end;
	enum txn_lie lie;
	struct coordinator c;
	struct coord_agent known[AGENTS];
	struct side side[AGENTS];
	uint32_t nagents;
	struct late late;
	VEC(struct message) under_way;
	uint32_t percent_lost, percent_doubled;
	const struct tables *installed; /* whose SLs hosts are told */
	uint64_t asked_ns;
	uint32_t asked_seq;
	uint64_t strike;    /* moments until the trouble */
	uint32_t bad_write; /* of the trouble with writes */
	uint32_t rounds;
	uint16_t epoch;
	bool journal, dead;
};

const char *txn_trouble_name(enum txn_trouble t)
{
	static const char *const name[TROUBLES] = {
		[TROUBLE_NONE] = "none",
		[TROUBLE_CANCEL] = "cancel",
		[TROUBLE_WATCH] = "guard",
		[TROUBLE_SM] = "another SM",
		[TROUBLE_DEATH] = "death of the coordinator",
		[TROUBLE_TIMEOUT] = "not confirmed",
		[TROUBLE_SILENT] = "silent agent",
		[TROUBLE_LOST_WRITE] = "lost write",
		[TROUBLE_DEAF_SWITCH] = "deaf switch",
	};

	return name[t];
}

/* ---- messages ---- */

static bool chance(struct game *g, uint32_t percent)
{
	return rng_below(&g->w->rng, 100) < percent;
}

static void post(struct game *g, const struct message *m)
{
	struct message k = *m;

	g->end->notices++;
	if (chance(g, g->percent_lost)) {
		g->end->lost++;
		return;
	}
	k.at_ns = packets_now_ns(g->w->p) + rng_below(&g->w->rng, DELAY_ns);
	vec_push(&g->under_way, k);
	if (!chance(g, g->percent_doubled))
		return;
	g->end->doubled++;
	k.at_ns += rng_below(&g->w->rng, 20 * DELAY_ns);
	vec_push(&g->under_way, k);
}

static void spread(struct game *g, const struct phase_notice *n)
{
	for (uint32_t i = 0; i < g->nagents; i++)
		post(g, &(struct message){ .agent = i, .n = *n });
}

/* ---- agents ---- */

static bool owns(const struct game *g, uint32_t agent, uint32_t c)
{
	return g->w->conn[c].src % g->nagents == agent;
}

static bool is_late(const struct game *g, uint32_t agent)
{
	return g->late.is && agent == g->nagents - 1;
}

static void each_migrates(struct game *g, uint32_t agent, bool escape)
{
	const struct tables *t = escape ? g->w->old : g->installed;

	for (uint32_t c = 0; c < g->w->nconn; c++) {
		if (!owns(g, agent, c))
			continue;
		g->end->migrations += g->w->conn[c].escape != escape;
		if (g->lie != LIE_MIGRATE || !escape)
			world_migrate(g->w, c, t, escape);
		packets_hold(g->w->p, c, false);
	}
	if (is_late(g, agent) && !g->late.sends) {
		g->late.sends = true;
		g->end->led = escape;
	}
}

/* Nothing of its connections is under way. */
static bool each_drained(struct game *g, uint32_t agent)
{
	struct packets_conn_counts n;

	for (uint32_t c = 0; c < g->w->nconn && g->lie != LIE_DRAIN; c++) {
		if (!owns(g, agent, c))
			continue;
		packets_conn_counts(&n, g->w->p, c);
		if (n.in_flight)
			return false;
	}
	return true;
}

static void each_stops(struct game *g, uint32_t agent)
{
	for (uint32_t c = 0; c < g->w->nconn; c++)
		if (owns(g, agent, c))
			packets_hold(g->w->p, c, true);
}

static void agent_does(struct game *g, uint32_t i, unsigned mask)
{
	struct side *s = &g->side[i];
	struct message m = { .agent = i, .answer = true };

	if (mask & (AGENT_DRAIN | AGENT_RETURN))
		each_stops(g, i);
	if (mask & AGENT_SUBSCRIBE)
		s->subscribe_ns = packets_now_ns(g->w->p) + rng_below(&g->w->rng, 2 * DELAY_ns);
	if (!(mask & AGENT_ACK))
		return;
	agent_state_ack(&s->a, &m.n);
	s->a.flags = 0;
	post(g, &m);
}

static void agent_event(struct game *g, uint32_t i, enum agent_event ev)
{
	agent_does(g, i, agent_state_step(&g->side[i].a, ev));
}

/* A hook that is under way ends when it can. */
static void agent_goes_on(struct game *g, uint32_t i)
{
	struct side *s = &g->side[i];
	uint64_t now = packets_now_ns(g->w->p);

	if (s->subscribe_ns && now >= s->subscribe_ns) {
		s->subscribe_ns = 0;
		agent_event(g, i, AGENT_EV_SUBSCRIBED);
	}
	switch (s->a.mode) {
	case AGENT_DRAINING:
		if (each_drained(g, i))
			agent_event(g, i, AGENT_EV_DONE);
		return;
	case AGENT_MIGRATING:
		each_migrates(g, i, true);
		agent_event(g, i, AGENT_EV_DONE);
		return;
	case AGENT_RETURNING:
		if (!each_drained(g, i))
			return;
		each_migrates(g, i, false);
		agent_event(g, i, AGENT_EV_DONE);
		return;
	case AGENT_ESCAPE:
		if (now < s->heard_ns + PATIENCE_ns)
			return;
		s->heard_ns = now;
		agent_event(g, i, AGENT_EV_TIMEOUT);
		return;
	default:
		return;
	}
}

static void arrives_at_agent(struct game *g, const struct message *m)
{
	struct side *s = &g->side[m->agent];
	unsigned act;

	if (s->silent || !s->a.subscribed)
		return;
	s->heard_ns = packets_now_ns(g->w->p);
	act = agent_state_notice(&s->a, &m->n);
	if (act && is_late(g, m->agent))
		g->late.greets = false;
	agent_does(g, m->agent, act);
}

static void arrives_at_coordinator(struct game *g, const struct message *m)
{
	struct phase_notice reply;

	if (!(m->n.flags & NOTICE_ASK) && !g->dead)
		coordinator_ack(&g->c, m->agent, &m->n);
	else if (m->n.flags & NOTICE_ASK && !g->dead && coordinator_answer(&reply, &g->c, &m->n))
		spread(g, &reply);
	else if (m->n.flags & NOTICE_ASK && g->dead && coordinator_answer(&reply, NULL, &m->n))
		spread(g, &reply);
}

static void deliver(struct game *g)
{
	uint64_t now = packets_now_ns(g->w->p);
	size_t n = g->under_way.n, kept = 0;

	/* what is posted meanwhile stands behind the n */
	for (size_t i = 0; i < n; i++) {
		struct message m = g->under_way.v[i];

		if (m.at_ns > now)
			g->under_way.v[kept++] = m;
		else if (m.answer)
			arrives_at_coordinator(g, &m);
		else
			arrives_at_agent(g, &m);
	}
	memmove(g->under_way.v + kept, g->under_way.v + n,
		(g->under_way.n - n) * sizeof(*g->under_way.v));
	g->under_way.n -= n - kept;
}

/* ---- a job that begins meanwhile ---- */

static void late_begins(struct game *g)
{
	g->late.here = g->end->late = true;
	g->side[g->nagents - 1].a.subscribed = true;
	g->late.greets = g->lie != LIE_UNASKED;
	g->late.greet_ns = packets_now_ns(g->w->p);
}

/* As agent.c does it: its job waits for it. */
static void late_greets(struct game *g)
{
	uint64_t now = packets_now_ns(g->w->p);
	const struct agent_state *a = &g->side[g->nagents - 1].a;

	if (g->late.greets && now >= g->late.greet_ns) {
		g->late.greet_ns += GREET_ns;
		g->late.greets = g->late.greetings++ < GREETINGS;
		if (g->late.greets)
			agent_event(g, g->nagents - 1, AGENT_EV_NEWS);
	}
	if (!g->late.greets && a->mode == AGENT_BASE && (a->want != PHASE_UNPATH || a->failed))
		each_migrates(g, g->nagents - 1, false);
}

static void late_goes_on(struct game *g)
{
	uint32_t now = g->late.by_writes ? g->late.writes : g->rounds;

	if (g->late.is && !g->late.here && now >= g->late.begins)
		late_begins(g);
	if (g->late.here && !g->late.sends)
		late_greets(g);
}

static void look_for_jobs(struct game *g)
{
	if (!g->late.here || g->late.joined)
		return;
	g->late.joined = g->end->joined = true;
	coordinator_join(&g->c, g->known, g->nagents);
}

static void tick(struct game *g, uint64_t ns)
{
	late_goes_on(g);
	world_wait(g->w, ns);
	if (g->under_way.n)
		deliver(g);
	for (uint32_t i = 0; i < g->nagents; i++)
		agent_goes_on(g, i);
	g->rounds++;
}

/* ---- trouble ---- */

static void begin(struct game *g, enum coord_event ev)
{
	struct coord_drain d = { .agents = g->known,
				 .nagents = g->nagents - (g->late.is && !g->late.joined),
				 .txn = TXN,
				 .epoch = g->epoch,
				 .max_sends = 1000 };

	memset(g->known, 0, sizeof(g->known));
	coordinator_init(&g->c, g->w->plan->nwaves ? g->w->plan->nwaves : 1, 2);
	coordinator_drain(&g->c, &d);
	coordinator_step(&g->c, ev);
}

/* Its place is taken a little later by one that knows the journal only. */
static void die(struct game *g)
{
	g->dead = true;
	for (int i = 0; i < 20; i++)
		tick(g, WORLD_STEP_ns * (1 + rng_below(&g->w->rng, 10)));
	if (!g->journal)
		return;
	g->dead = false;
	g->epoch++;
	begin(g, EV_RECOVER);
}

static void strike(struct game *g)
{
	g->end->struck = true;
	switch (g->end->trouble) {
	case TROUBLE_CANCEL:
		coordinator_step(&g->c, EV_CANCEL);
		return;
	case TROUBLE_WATCH:
		coordinator_step(&g->c, EV_WATCH);
		return;
	case TROUBLE_SM:
		for (uint32_t i = 0; i < g->nagents; i++)
			agent_event(g, i, AGENT_EV_SM);
		coordinator_step(&g->c, EV_SM);
		return;
	case TROUBLE_DEATH:
		die(g);
		return;
	default:
		return;
	}
}

/* True when it happens now, and whatever was being done is not to be gone on with. */
static bool moment(struct game *g)
{
	if (!g->strike || --g->strike)
		return false;
	strike(g);
	return true;
}

/* ---- the coordinator's actions ---- */

static uint32_t *in_random_order(struct game *g, uint32_t *n, bool back)
{
	uint32_t *order = xcalloc(g->w->writes.n, sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; i < g->w->writes.n; i++)
		if (back ? !world_holds(g->w, i, true) : g->w->writes.v[i].wave == g->c.wave)
			order[(*n)++] = i;
	rng_shuffle_u32(&g->w->rng, order, *n);
	return order;
}

static bool write_gets_lost(struct game *g, uint32_t i, bool back)
{
	if (i != g->bad_write || back)
		return false;
	g->end->struck = true;
	if (g->end->trouble == TROUBLE_LOST_WRITE)
		g->bad_write = UINT32_MAX;
	return true;
}

static void write_all(struct game *g, bool back)
{
	uint32_t n, *order = in_random_order(g, &n, back);
	bool cut = false;

	for (uint32_t k = 0; k < n && !cut && !g->w->deadlock; k++) {
		if (!write_gets_lost(g, order[k], back)) {
			g->late.writes++;
			world_write(g->w, order[k], back);
			g->end->written = true;
			g->end->exposed |= g->late.sends && !g->late.joined &&
					   g->side[g->nagents - 1].a.mode != AGENT_ESCAPE;
		}
		tick(g, rng_below(&g->w->rng, 500));
		cut = moment(g);
	}
	free(order);
	if (!cut || g->end->trouble != TROUBLE_DEATH)
		coordinator_step(&g->c, EV_DONE);
}

static void read_wave(struct game *g)
{
	uint32_t last = g->c.nwaves - 1;
	bool ok = true;

	for (uint32_t i = 0; i < g->w->writes.n; i++)
		if (g->w->writes.v[i].wave == g->c.wave && !world_holds(g->w, i, false))
			ok = false;
	if (ok && g->c.wave == last)
		g->installed = g->w->new;
	coordinator_step(&g->c, ok ? EV_DONE : EV_FAILED);
}

static void read_old(struct game *g)
{
	bool ok = world_holds_all(g->w, true);

	if (ok) {
		g->installed = g->w->old;
		look_for_jobs(g);
	}
	coordinator_step(&g->c, ok ? EV_DONE : EV_FAILED);
}

/* From the first time that the question was asked. */
static uint64_t deadline(struct game *g)
{
	if (g->asked_seq != g->c.first_seq) {
		g->asked_seq = g->c.first_seq;
		g->asked_ns = packets_now_ns(g->w->p);
	}
	return g->asked_ns + (g->end->trouble == TROUBLE_SILENT ? SILENT_ns : DEADLINE_ns);
}

static void await(struct game *g)
{
	uint64_t resend = packets_now_ns(g->w->p) + RESEND_ns, end = deadline(g);

	while (g->c.action == ACT_AWAIT && !g->w->deadlock) {
		tick(g, WORLD_STEP_ns);
		if (g->c.action != ACT_AWAIT || moment(g))
			return;
		if (packets_now_ns(g->w->p) >= end)
			coordinator_step(&g->c, EV_DEADLINE);
		else if (packets_now_ns(g->w->p) >= resend)
			coordinator_step(&g->c, EV_RESEND);
	}
}

static void operator_decides(struct game *g)
{
	tick(g, 20000);
	if (g->c.action != ACT_WAIT || moment(g))
		return;
	if (g->end->trouble == TROUBLE_TIMEOUT)
		g->end->struck = true;
	coordinator_step(&g->c, g->end->trouble == TROUBLE_TIMEOUT ? EV_TIMEOUT : EV_CONFIRM);
}

static void act(struct game *g)
{
	struct phase_notice n;

	switch (g->c.action) {
	case ACT_NOTIFY:
		coordinator_notice(&g->c, &n);
		spread(g, &n);
		coordinator_step(&g->c, EV_DONE);
		return;
	case ACT_AWAIT:
		await(g);
		return;
	case ACT_WRITE:
	case ACT_WRITE_BACK:
		write_all(g, g->c.action == ACT_WRITE_BACK);
		return;
	case ACT_READ:
		read_wave(g);
		return;
	case ACT_SCAN:
	case ACT_READ_BACK:
		read_old(g);
		return;
	case ACT_WAIT:
		operator_decides(g);
		return;
	default:
		if (g->c.action == ACT_BEGIN_WAVE || g->c.action == ACT_BEGIN_ROLLBACK ||
		    (g->c.action == ACT_BEGIN_REPATH && g->c.touched))
			look_for_jobs(g);
		g->journal = g->journal || g->c.action == ACT_JOURNAL;
		tick(g, WORLD_STEP_ns);
		if (!moment(g) || g->end->trouble != TROUBLE_DEATH)
			coordinator_step(&g->c, EV_DONE);
	}
}

/* ---- from beginning to end ---- */

/* In every second update, at any moment of it, half of them among its writes. */
static void choose_late(struct game *g)
{
	struct rng *r = &g->w->rng;
	uint32_t last = g->nagents - 1;

	if (!last || g->side[last].silent || !rng_below(r, 2))
		return;
	each_stops(g, last);
	if (!world_drained(g->w)) {
		each_migrates(g, last, false);
		return;
	}
	g->late.is = true;
	g->late.by_writes = g->w->writes.n && rng_below(r, 2);
	g->late.begins =
		(uint32_t)rng_below(r, g->late.by_writes ? g->w->writes.n : g->w->writes.n + 200);
	g->side[last].a.subscribed = false;
}

static void choose(struct game *g)
{
	struct rng *r = &g->w->rng;

	g->nagents = 1 + (uint32_t)rng_below(r, AGENTS);
	g->end->agents = g->nagents;
	g->percent_lost = (uint32_t)rng_below(r, 20);
	g->percent_doubled = (uint32_t)rng_below(r, 20);
	/* every third without any */
	g->end->trouble = rng_below(r, 3) ? 1 + rng_below(r, TROUBLES - 1) : TROUBLE_NONE;
	g->strike = 1 + rng_below(r, g->w->writes.n + 200);
	g->bad_write = UINT32_MAX;
	if ((g->end->trouble == TROUBLE_LOST_WRITE || g->end->trouble == TROUBLE_DEAF_SWITCH) &&
	    g->w->writes.n)
		g->bad_write = (uint32_t)rng_below(r, g->w->writes.n);
	for (uint32_t i = 0; i < g->nagents; i++) {
		agent_state_init(&g->side[i].a, NULL);
		g->side[i].a.subscribed = true;
	}
	if (g->end->trouble == TROUBLE_SILENT) {
		g->side[rng_below(r, g->nagents)].silent = true;
		g->end->struck = true;
	}
	if (g->end->trouble == TROUBLE_NONE || g->end->trouble >= TROUBLE_TIMEOUT)
		g->strike = 0;
	choose_late(g);
}

static bool all_on_base(const struct game *g)
{
	for (uint32_t i = 0; i < g->nagents; i++)
		if (g->side[i].a.mode != AGENT_BASE)
			return false;
	return true;
}

static const char *judge(struct game *g)
{
	const struct world *w = g->w;
	bool confirmed = !g->dead && g->c.outcome == OUTCOME_CONFIRMED;

	if (w->deadlock)
		return "a deadlock";
	if (!g->dead && g->c.action != ACT_STOP)
		return "it does not end";
	if (!g->dead && g->c.outcome == OUTCOME_INCOMPLETE)
		return "the way back was not finished";
	if (!world_holds_all(w, !confirmed))
		return "the tables are neither all new after a confirmation nor all old";
	if (!all_on_base(g))
		return "an agent was left on its escape LIDs";
	for (uint32_t c = 0; c < w->nconn; c++)
		if (w->conn[c].escape)
			return "a connection was left on its escape LID";
	return NULL;
}

static bool drain_the_rest(struct world *w)
{
	for (uint32_t c = 0; c < w->nconn; c++)
		packets_hold(w->p, c, true);
	return world_drained(w);
}

void txn_phases_play(struct txn_end *out, struct world *w, enum txn_lie lie)
{
	struct game g = { .w = w, .end = out, .installed = w->old, .lie = lie };
	uint64_t until;

	memset(out, 0, sizeof(*out));
	choose(&g);
	begin(&g, EV_START);
	while (g.c.action != ACT_STOP && !g.dead && !w->deadlock && g.rounds < ROUNDS_MAX)
		act(&g);
	until = packets_now_ns(w->p) + 20 * PATIENCE_ns;
	/* a notice that comes this late may still lead an agent away: it has to find back */
	while (!w->deadlock && (!all_on_base(&g) || g.under_way.n) && packets_now_ns(w->p) < until)
		tick(&g, WORLD_STEP_ns);
	tick(&g, 20000);
	out->outcome = g.dead ? OUTCOME_REFUSED : g.c.outcome;
	out->wrong = judge(&g);
	if (!drain_the_rest(w) && !out->wrong)
		out->wrong = "packets stand that nothing holds";
	vec_free(&g.under_way);
}
