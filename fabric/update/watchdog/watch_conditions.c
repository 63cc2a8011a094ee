/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/watch_conditions.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/source.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS	   256 /* that are asked whether they answer */
#define HOSTS_ONCE 64
#define MISSES	   3 /* in a row */
#define SM_LOST_MS 10000
#define BLOCKS_MS  3000
#define JOBS_MS	   5000 /* for the first list */
#define SETTLE_MS  1000 /* what is on its way has gone then */
#define SHARE	   20	/* reading may take this part of the time */

struct host {
	uint16_t lid;
	uint8_t missed;
};

struct watch {
	struct watch_opts o;
	struct wire *wire;
	const struct plan *plan;
	bool on[WATCHES];
	char last[WATCHES][200];
	uint64_t due_ms[WATCHES];
	uint32_t looks[WATCHES];

	struct wire_sm sm;
	uint64_t sm_heard_ms;
	const struct sample *before;
	bool mends; /* messages are lost that the plan has paths for */
	uint64_t settled_ms;
	const struct sample *mended; /* of then; NULL: not yet */
	bool *marked;		     /* by port, nmarked of them */
	uint32_t nmarked;
	struct host *hosts;
	uint32_t nhosts, next_host;
	uint64_t blocks_ms;
	VEC(uint64_t) failed; /* jobs that had failed before */
	bool jobs_known;
};

/* ---- lists of conditions and limits as they are typed ---- */

/* A link that trained again or drops what it should carry is never right; a few symbol errors
 * are: a port at the limit of its bit error rate of 1e-12 makes some in a minute. */
const struct watch_limits watch_limits_default = {
	.symbol = 50, .rcv = 50, .discard = 100, .downed = 0
};

static const char *const watch_names[WATCHES] = { "sm", "errors", "reach", "jobs" };

const char *watch_name(enum watch_what w)
{
	return watch_names[w];
}

int watch_parse(unsigned *mask, const char *list, struct err *err)
{
	*mask = 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		int k = 0;

		while (k < WATCHES &&
		       (strlen(watch_names[k]) != len || memcmp(watch_names[k], list, len)))
			k++;
		if (k == WATCHES)
			return err_set(err, -EINVAL,
				       "'%.*s' is not a watch condition: sm, errors, reach, jobs",
				       (int)len, list);
		*mask |= 1u << k;
		list += len + (list[len] == ',');
	}
	return 0;
}

int watch_limits_parse(struct watch_limits *l, const char *list, struct err *err)
{
	const struct {
		const char *name;
		uint64_t *to;
	} known[] = { { "symbol", &l->symbol },
		      { "rcv", &l->rcv },
		      { "discard", &l->discard },
		      { "downed", &l->downed } };

	while (*list) {
		size_t len = strcspn(list, "=,"), k = 0;
		char *end;

		while (k < 4 && (strlen(known[k].name) != len || memcmp(known[k].name, list, len)))
			k++;
		if (k == 4 || list[len] != '=' || list[len + 1] < '0' || list[len + 1] > '9')
			return err_set(err, -EINVAL,
				       "'%s': limits are symbol=N, rcv=N, discard=N, downed=N",
				       list);
		*known[k].to = strtoull(list + len + 1, &end, 10);
		if (*end && *end != ',')
			return err_set(err, -EINVAL, "'%s' is not a number", list + len + 1);
		list = end + (*end == ',');
	}
	return 0;
}

/* ---- what a list of changes touches, and what the counters there say ---- */

static void conditions_mark_port(bool *marked, const struct fabric *f, uint32_t sw, uint8_t p)
{
	uint32_t chan;

	if (!p || p > f->sw_nports[sw])
		return;
	marked[f->port_off[sw] + p] = true;
	chan = fabric_chan(f, sw, p);
	if (chan != FAB_NONE)
		marked[f->port_off[f->chan_dst[chan]] + f->chan_rport[chan]] = true;
}

void watch_mark_links(bool *marked, const struct fabric *f, const struct changes *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		const uint8_t *old = change_old(l, c), *new = change_new(l, c);

		if (c->sw == FAB_NONE)
			continue;
		if (c->kind == CHANGE_SL2VL) {
			conditions_mark_port(marked, f, c->sw, c->in);
			conditions_mark_port(marked, f, c->sw, c->out);
			continue;
		}
		for (uint32_t k = 0; k < CHANGE_LFT_BYTES; k++) {
			if (old[k] == new[k])
				continue;
			conditions_mark_port(marked, f, c->sw, old[k]);
			conditions_mark_port(marked, f, c->sw, new[k]);
		}
	}
}

/* LIDs of terminals that some block routes otherwise. */
static uint8_t *conditions_changed_lids(const struct fabric *f, const struct changes *l,
					uint32_t *n)
{
	uint8_t *is = xcalloc(65536, 1);

	*n = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		const uint8_t *old = change_old(l, c), *new = change_new(l, c);

		if (c->kind != CHANGE_LFT)
			continue;
		for (uint32_t k = 0; k < CHANGE_LFT_BYTES; k++) {
			uint32_t lid = (uint32_t)c->block * LFT_BLOCK + k;

			if (old[k] == new[k] || lid > f->max_lid || is[lid] ||
			    fabric_lid_end(f, lid) >= f->nend)
				continue;
			is[lid] = 1;
			(*n)++;
		}
	}
	return is;
}

uint32_t watch_pick_lids(uint16_t *lids, uint32_t max, const struct fabric *f,
			 const struct changes *l)
{
	uint32_t all, n = 0, seen = 0;
	uint8_t *is = conditions_changed_lids(f, l, &all);

	for (uint32_t lid = 0; lid < 65536 && n < max; lid++) {
		if (!is[lid])
			continue;
		/* the one of each max-th part */
		if (all <= max || (uint64_t)seen * max / all >= n)
			lids[n++] = (uint16_t)lid;
		seen++;
	}
	free(is);
	return n;
}

static uint64_t conditions_rise(const struct port_counters *was, const struct port_counters *is,
				int c)
{
	uint32_t bit = 1u << c;

	if (!(is->valid & was->valid & bit))
		return 0;
	return is->v[c] >= was->v[c] ? is->v[c] - was->v[c] : is->v[c];
}

/* The end of a port's link, for people: "leaf1/3". */
static void conditions_port_name(char *buf, size_t size, const struct fabric *f, uint32_t port)
{
	uint32_t sw = 0;

	while (sw + 1 < f->nsw && f->port_off[sw + 1] <= port)
		sw++;
	snprintf(buf, size, "%s/%u", f->sw_name[sw], port - f->port_off[sw]);
}

bool watch_errors_judge(char *text, size_t size, uint64_t *worst, const struct fabric *f,
			const struct sample *was, const struct sample *is, const bool *marked,
			const struct watch_limits *l)
{
	static const struct {
		int ctr;
		const char *name;
	} what[] = { { CTR_SYMBOL_ERR, "symbol errors" },
		     { CTR_RX_ERR, "receive errors" },
		     { CTR_TX_DISCARD, "discards" },
		     { CTR_LINK_DOWNED, "times down" } };
	const uint64_t limit[] = { l->symbol, l->rcv, l->discard, l->downed };
	uint32_t nport = was->nport < is->nport ? was->nport : is->nport;

	*worst = 0;
	for (uint32_t p = 0; p < nport; p++) {
		uint64_t sum = 0;

		for (int k = 0; marked[p] && k < 4; k++) {
			uint64_t r = conditions_rise(&was->port[p], &is->port[p], what[k].ctr);
			char name[100];

			sum += r;
			if (r <= limit[k])
				continue;
			conditions_port_name(name, sizeof(name), f, p);
			snprintf(text, size,
				 "%s: %" PRIu64 " %s more since the update, limit %" PRIu64, name,
				 r, what[k].name, limit[k]);
			*worst = sum;
			return true;
		}
		*worst = sum > *worst ? sum : *worst;
	}
	return false;
}

/* ---- the watch ---- */

struct watch *watch_new(const struct watch_opts *o)
{
	static const uint32_t every_ms[WATCHES] = { 2000, 5000, 3000, 1000 };
	struct watch *w = xcalloc(1, sizeof(*w));

	w->o = *o;
	if (!w->o.blocks_ms)
		w->o.blocks_ms = BLOCKS_MS;
	if (!w->o.settle_ms)
		w->o.settle_ms = SETTLE_MS;
	for (int i = 0; i < WATCHES; i++)
		if (!w->o.interval_ms[i])
			w->o.interval_ms[i] = every_ms[i];
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	sample_put(w->before);
	sample_put(w->mended);
	free(w->marked);
	free(w->hosts);
	vec_free(&w->failed);
	free(w);
}

void watch_off(struct watch *w, enum watch_what what)
{
	w->on[what] = false;
}

bool watch_on(const struct watch *w, enum watch_what what)
{
	return w->on[what];
}

const char *watch_last(const struct watch *w, enum watch_what what)
{
	return w->last[what];
}

uint32_t watch_looks(const struct watch *w, enum watch_what what)
{
	return w->looks[what];
}

static void conditions_note(struct watch *w, struct watch_finding *f, enum watch_what what,
			    bool tripped, const char *text)
{
	*f = (struct watch_finding){ .what = what, .tripped = tripped };
	if (tripped || strcmp(w->last[what], text))
		snprintf(f->text, sizeof(f->text), "%s", text);
	snprintf(w->last[what], sizeof(w->last[what]), "%s", text);
}

/* ---- sm ---- */

static bool conditions_sm_begin(struct watch *w, char *text, size_t size)
{
	struct err err = { "" };

	if (wire_sm_info(&w->sm, w->wire, &err)) {
		snprintf(text, size, "%.190s", err.text);
		return false;
	}
	w->sm_heard_ms = clock_ms();
	snprintf(text, size, "0x%016" PRIx64 " priority %u is master", w->sm.guid, w->sm.priority);
	return true;
}

static bool conditions_sm_gone(const struct watch *w, struct err *why, char *text, size_t size)
{
	uint64_t silent_ms = clock_ms() - w->sm_heard_ms;

	snprintf(text, size, "no response for %.1f s (%.120s)", (double)silent_ms / 1000,
		 why->text);
	return silent_ms >= SM_LOST_MS;
}

/* Each SM counts its activity up from its start. */
static bool conditions_sm_poll(struct watch *w, char *text, size_t size)
{
	struct err err = { "" };
	struct wire_sm now;

	if (wire_sm_info(&now, w->wire, &err))
		return conditions_sm_gone(w, &err, text, size);
	w->sm_heard_ms = clock_ms();
	if (now.guid != w->sm.guid) {
		snprintf(text, size,
			 "another subnet manager: 0x%016" PRIx64 " priority %u, was 0x%016" PRIx64,
			 now.guid, now.priority, w->sm.guid);
		return true;
	}
	if (now.state != w->sm.state) {
		snprintf(text, size, "the subnet manager is %s, was %s",
			 wire_sm_state_name(now.state), wire_sm_state_name(w->sm.state));
		return true;
	}
	if (now.act_count < w->sm.act_count) {
		snprintf(text, size, "the subnet manager was restarted (count %u after %u)",
			 now.act_count, w->sm.act_count);
		return true;
	}
	w->sm.act_count = now.act_count;
	snprintf(text, size, "0x%016" PRIx64 " is master", now.guid);
	return false;
}

/* ---- errors ---- */

static bool conditions_leads_nowhere(const struct fabric *f, uint32_t sw, uint8_t port)
{
	const struct port *p;

	if (port > f->sw_nports[sw])
		return true;
	p = &f->port[f->port_off[sw] + port];
	return port && p->chan == FAB_NONE && p->term == FAB_NONE;
}

/* Does the plan lead messages to hosts that end on a switch now? */
static bool conditions_mends(const struct fabric *f, const struct changes *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct change *c = &l->v[i];
		const uint8_t *old = change_old(l, c), *new = change_new(l, c);

		for (uint32_t k = 0; c->kind == CHANGE_LFT && k < CHANGE_LFT_BYTES; k++) {
			uint32_t lid = (uint32_t)c->block * LFT_BLOCK + k;

			if (old[k] != new[k] && lid <= f->max_lid &&
			    fabric_lid_end(f, lid) <
				    f->nend &&conditions_leads_nowhere(f, c->sw, old[k]) &&
			    !conditions_leads_nowhere(f, c->sw, new[k]))
				return true;
		}
	}
	return false;
}

static bool conditions_errors_begin(struct watch *w, char *text, size_t size)
{
	const struct fabric *f = w->plan->fabric;
	uint32_t nport = f->port_off[f->nsw];
	struct sample *s;
	struct err err = { "" };

	if (wire_read_sample(&s, w->wire, f, SAMPLE_ERRORS, NULL, &err) || !s->answered) {
		snprintf(text, size, "no counters can be read: %.150s", err.text);
		return false;
	}
	w->before = s;
	w->mends = conditions_mends(f, w->plan->changes);
	w->marked = xcalloc(nport, sizeof(bool));
	watch_mark_links(w->marked, f, w->plan->changes);
	for (uint32_t i = 0; i < nport; i++)
		w->nmarked += w->marked[i];
	snprintf(text, size,
		 "%u ports of changed links; limits: %" PRIu64 " symbol errors, %" PRIu64
		 " receive errors, %" PRIu64 " discards, %" PRIu64 " times down",
		 w->nmarked, w->o.limits.symbol, w->o.limits.rcv, w->o.limits.discard,
		 w->o.limits.downed);
	return true;
}

/* Where messages were lost before, their discards count from when the new routes are in use and
 * nothing is on its way by the old ones. */
static bool conditions_errors_bad(struct watch *w, const struct sample *s, char *text, size_t size,
				  uint64_t *worst)
{
	struct watch_limits others = w->o.limits, discards = { UINT64_MAX, UINT64_MAX, 0, 0 };
	uint64_t more = 0;

	if (!w->mends)
		return watch_errors_judge(text, size, worst, w->plan->fabric, w->before, s,
					  w->marked, &w->o.limits);
	others.discard = discards.downed = UINT64_MAX;
	discards.discard = w->o.limits.discard;
	if (watch_errors_judge(text, size, worst, w->plan->fabric, w->before, s, w->marked,
			       &others))
		return true;
	*worst = 0; /* with the discards of before */
	if (!w->mended) {
		w->mended = sample_get(s);
		return false;
	}
	if (watch_errors_judge(text, size, &more, w->plan->fabric, w->mended, s, w->marked,
			       &discards))
		return true;
	*worst = more;
	return false;
}

static bool conditions_errors_poll(struct watch *w, char *text, size_t size)
{
	uint64_t start = clock_ms(), worst;
	struct err err = { "" };
	struct sample *s;
	bool bad;

	if (w->mends && !w->settled_ms) {
		w->settled_ms = start + w->o.settle_ms;
		snprintf(text, size, "messages were lost: counted from %u ms after the last write",
			 w->o.settle_ms);
		return false;
	}
	if (wire_read_sample(&s, w->wire, w->plan->fabric, SAMPLE_ERRORS, NULL, &err)) {
		snprintf(text, size, "no counters could be read: %.150s", err.text);
		return false;
	}
	bad = conditions_errors_bad(w, s, text, size, &worst);
	if (!bad && worst)
		snprintf(text, size,
			 "%" PRIu64 " errors more on the worst of %u ports of changed links", worst,
			 w->nmarked);
	else if (!bad)
		snprintf(text, size, "no error counter rose on %u ports of changed links",
			 w->nmarked);
	sample_put(s);
	w->due_ms[WATCH_ERRORS] = clock_ms() + (clock_ms() - start) * SHARE;
	return bad;
}

/* ---- reach ---- */

static void conditions_ask_hosts(struct watch *w, const struct host *const *h, struct wire_ping *p,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct wire_ping){ .lid = h[i]->lid };
	wire_ping(w->wire, p, n, NULL, NULL);
}

static bool conditions_reach_begin(struct watch *w, char *text, size_t size)
{
	uint16_t lids[HOSTS];
	struct wire_ping p[HOSTS];
	struct host all[HOSTS];
	const struct host *h[HOSTS];
	uint32_t n = watch_pick_lids(lids, HOSTS, w->plan->fabric, w->plan->changes);

	for (uint32_t i = 0; i < n; i++) {
		all[i] = (struct host){ .lid = lids[i] };
		h[i] = &all[i];
	}
	conditions_ask_hosts(w, h, p, n);
	w->hosts = xcalloc(n, sizeof(*w->hosts));
	for (uint32_t i = 0; i < n; i++)
		if (!p[i].rc)
			w->hosts[w->nhosts++] = all[i];
	w->blocks_ms = clock_ms() + w->o.blocks_ms;
	snprintf(text, size, "%u of %u LIDs whose paths change respond", w->nhosts, n);
	return w->nhosts || w->o.blocks;
}

static bool conditions_blocks_poll(struct watch *w, char *text, size_t size)
{
	uint64_t start = clock_ms();
	struct err err = { "" };
	int rc;

	if (!w->o.blocks || start < w->blocks_ms)
		return false;
	rc = w->o.blocks(w->o.ctx, &err);
	w->blocks_ms = clock_ms() + (clock_ms() - start) * SHARE;
	if (w->blocks_ms < start + w->o.blocks_ms)
		w->blocks_ms = start + w->o.blocks_ms;
	if (rc)
		snprintf(text, size, "%.190s", err.text);
	return rc == -EUCLEAN;
}

/* One that missed is asked again with the next lot. */
static bool conditions_reach_poll(struct watch *w, char *text, size_t size)
{
	struct wire_ping p[HOSTS_ONCE];
	struct host *h[HOSTS_ONCE];
	uint32_t n = 0, missed = 0;

	if (conditions_blocks_poll(w, text, size))
		return true;
	for (uint32_t i = 0; i < w->nhosts && n < HOSTS_ONCE; i++)
		if (w->hosts[i].missed)
			h[n++] = &w->hosts[i];
	for (uint32_t i = 0; i < w->nhosts && n < HOSTS_ONCE; i++) {
		struct host *k = &w->hosts[w->next_host++ % w->nhosts];

		if (!k->missed)
			h[n++] = k;
	}
	conditions_ask_hosts(w, (const struct host *const *)h, p, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = fabric_lid_end(w->plan->fabric, h[i]->lid);

		h[i]->missed = p[i].rc ? (uint8_t)(h[i]->missed + 1) : 0;
		missed += h[i]->missed > 0;
		if (h[i]->missed < MISSES)
			continue;
		snprintf(text, size,
			 "%s (LID %u) responded before the update and has not %u "
			 "times since",
			 end < w->plan->fabric->nend ? w->plan->fabric->term_name[end] : "a port",
			 h[i]->lid, h[i]->missed);
		return true;
	}
	snprintf(text, size, "%u hosts asked, %u did not respond", n, missed);
	if (missed)
		w->due_ms[WATCH_REACH] = clock_ms() + 1000;
	return false;
}

/* ---- jobs ---- */

static bool conditions_is_known(const struct watch *w, uint64_t id)
{
	for (size_t i = 0; i < w->failed.n; i++)
		if (w->failed.v[i] == id)
			return true;
	return false;
}

/* Takes down the failed ones; *id: one that was not known. */
static bool conditions_take_failed(struct watch *w, const struct job_list *l, uint64_t *id)
{
	bool any = false;

	for (uint32_t i = 0; i < l->nfailed; i++) {
		if (conditions_is_known(w, l->failed[i]))
			continue;
		vec_push(&w->failed, l->failed[i]);
		*id = l->failed[i];
		any = true;
	}
	return any;
}

static bool conditions_jobs_poll(struct watch *w, char *text, size_t size)
{
	const struct job_list *l;
	uint64_t id = 0;
	bool new;

	source_poll(w->o.jobs);
	l = source_take(w->o.jobs);
	if (!l) {
		snprintf(text, size, "%s", w->last[WATCH_JOBS]);
		if (source_status(w->o.jobs)->state > SOURCE_OK)
			snprintf(text, size, "%.190s", source_status(w->o.jobs)->text);
		return false;
	}
	new = conditions_take_failed(w, l, &id);
	snprintf(text, size, "%u jobs running, none has lost a node", l->njob);
	if (new && w->jobs_known)
		snprintf(text, size,
			 "job %" PRIu64 " has lost a node (NODE_FAIL, or requeued), %u jobs "
			 "runningningning",
			 id, l->njob);
	new = new && w->jobs_known;
	w->jobs_known = true;
	job_list_put(l);
	return new;
}

/* What failed before the update is not its fault: taken down with the first list. */
static bool conditions_jobs_begin(struct watch *w, char *text, size_t size)
{
	if (!w->o.jobs) {
		snprintf(text, size, "no batch system is queried (--jobs slurm)");
		return false;
	}
	for (uint64_t end = clock_ms() + JOBS_MS; !w->jobs_known && clock_ms() < end;) {
		struct pollfd p = { .fd = source_fd(w->o.jobs), .events = POLLIN };

		poll(&p, 1, 200);
		conditions_jobs_poll(w, text, size);
	}
	if (!w->jobs_known)
		snprintf(text, size, "waiting for the first list of jobs");
	return true;
}

/* ---- all ---- */

typedef bool (*watch_fn)(struct watch *w, char *text, size_t size);

void watch_begin(struct watch *w, struct wire *wire, const struct plan *p,
		 void (*said)(void *ctx, const struct watch_finding *f), void *ctx)
{
	static const watch_fn begin[WATCHES] = { conditions_sm_begin, conditions_errors_begin,
						 conditions_reach_begin, conditions_jobs_begin };

	w->wire = wire;
	w->plan = p;
	for (int i = 0; i < WATCHES; i++) {
		struct watch_finding f;
		char text[200] = "not selected", said_text[200];

		w->on[i] = w->o.mask & 1u << i && begin[i](w, text, sizeof(text));
		snprintf(said_text, sizeof(said_text), "%s%.180s",
			 w->on[i] ? "watched: " : "off: ", text);
		conditions_note(w, &f, (enum watch_what)i, false, said_text);
		w->due_ms[i] = clock_ms();
		said(ctx, &f);
	}
}

static bool conditions_look(struct watch *w, enum watch_what what, struct watch_finding *out)
{
	static const watch_fn poll[WATCHES] = { conditions_sm_poll, conditions_errors_poll,
						conditions_reach_poll, conditions_jobs_poll };
	char text[200] = "";
	uint64_t due = clock_ms() + w->o.interval_ms[what];
	bool bad;

	w->due_ms[what] = due;
	bad = poll[what](w, text, sizeof(text));
	if (what == WATCH_ERRORS && w->due_ms[what] < due) /* it may ask for more time, not less */
		w->due_ms[what] = due;
	if (what == WATCH_ERRORS && w->mends && !w->mended)
		w->due_ms[what] = w->settled_ms;
	conditions_note(w, out, what, bad, text);
	w->looks[what]++;
	return bad;
}

bool watch_poll(struct watch *w, struct watch_finding *out)
{
	uint64_t now = clock_ms();

	*out = (struct watch_finding){ 0 };
	for (int i = 0; i < WATCHES; i++) {
		struct watch_finding f;

		if (!w->on[i] || now < w->due_ms[i])
			continue;
		if (conditions_look(w, (enum watch_what)i, &f)) {
			*out = f;
			return true;
		}
		if (f.text[0])
			*out = f;
	}
	return false;
}

bool watch_sm_now(struct watch *w, struct watch_finding *out)
{
	*out = (struct watch_finding){ 0 };
	return w->on[WATCH_SM] && conditions_look(w, WATCH_SM, out);
}

uint32_t watch_next_ms(const struct watch *w)
{
	uint64_t now = clock_ms(), next = now + 1000;

	for (int i = 0; i < WATCHES; i++)
		if (w->on[i] && w->due_ms[i] < next)
			next = w->due_ms[i];
	return next > now ? (uint32_t)(next - now) : 0;
}
