/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/host_play.h"

#include "engines/engine.h"
#include "engines/transition/transition.h"
#include "engines/verify/kept/kept_verdict.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/write_judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum host_event { HOST_GOES, HOST_COMES, HOST_MOVES, CABLE_SLOWER, HOST_EVENTS };

static bool wrong(struct host_play *p, const char *what)
{
	snprintf(p->why, sizeof(p->why), "event %u: %.550s", p->events, what);
	return false;
}

/* --- a state as a fabric ---------------------------------------------------------------------- */

static int put_switch(struct builder *b, uint32_t *id, const struct fabric *f, uint32_t sw,
		      struct err *err)
{
	int rc = builder_node(id, b, NODE_SWITCH, f->sw_guid[sw], f->sw_nports[sw] + f->nend + 1u,
			      f->sw_name[sw], err);

	return rc ? rc : builder_port_lid(b, *id, 0, f->sw_lid[sw], 0, err);
}

static int put_cable(struct host_play *p, struct builder *b, const uint32_t *id, uint32_t c,
		     struct err *err)
{
	const struct fabric *f = p->f;
	const char *link = p->slow[c] ? "4xSDR" : "4xEDR";
	uint32_t a = id[f->chan_src[c]], z = id[f->chan_dst[c]];
	int rc = builder_link(b, a, f->chan_port[c], z, f->chan_rport[c], err);

	if (!rc)
		rc = builder_port_link(b, a, f->chan_port[c], link, err);
	return rc ? rc : builder_port_link(b, z, f->chan_rport[c], link, err);
}

static int put_host(struct host_play *p, struct builder *b, const uint32_t *id, uint32_t e,
		    struct err *err)
{
	const struct fabric *f = p->f;
	bool moved = p->at[e] != f->term_sw[e];
	uint32_t port = moved ? f->sw_nports[p->at[e]] + 1u + e : f->term_port[e], ca;
	int rc = builder_node(&ca, b, NODE_CA, f->term_guid[e] + (1ull << 48), 1, f->term_name[e],
			      err);

	if (!rc)
		rc = builder_port_guid(b, ca, 1, f->term_guid[e], err);
	if (!rc)
		rc = builder_port_lid(b, ca, 1, f->term_lid[e], f->lmc, err);
	return rc ? rc : builder_link(b, ca, 1, id[p->at[e]], port, err);
}

static int build(struct fabric **out, struct host_play *p, struct err *err)
{
	const struct fabric *f = p->f;
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = f->lmc };
	uint32_t *id = xcalloc(f->nsw, sizeof(*id));
	int rc = 0;

	for (uint32_t sw = 0; sw < f->nsw && !rc; sw++)
		if (!p->e.gone[sw])
			rc = put_switch(b, &id[sw], f, sw, err);
	for (uint32_t c = 0; c < f->nchan && !rc; c++)
		if (f->chan_rev[c] > c && !p->e.down[c])
			rc = put_cable(p, b, id, c, err);
	for (uint32_t e = 0; e < f->nend && !rc; e++)
		if (!p->away[e] && !p->e.gone[p->at[e]])
			rc = put_host(p, b, id, e, err);
	if (!rc)
		rc = builder_freeze(out, b, &opts, err);
	builder_free(b);
	free(id);
	return rc;
}

bool host_play_begin(struct host_play *p, const struct fabric *f, const char *engine, uint64_t seed)
{
	struct engine_params params = { .seed = seed, .threads = 1 };
	struct fabric *now;
	struct tables *t;
	struct err err;

	p->f = f;
	cable_events_init(&p->e, f, seed);
	p->away = xcalloc(f->nend + 1u, sizeof(*p->away));
	p->at = xcalloc(f->nend + 1u, sizeof(*p->at));
	p->slow = xcalloc(f->nchan + 1u, sizeof(*p->slow));
	memcpy(p->at, f->term_sw, f->nend * sizeof(*p->at));
	if (build(&now, p, &err))
		return wrong(p, err.text);
	p->now = now;
	if (engine_run(engine_find(engine, NULL), &t, now, NULL, NULL, &params, NULL, &err))
		return true; /* it does not route this: t stays NULL */
	p->t = t;
	return true;
}

void host_play_end(struct host_play *p)
{
	tables_put(p->t);
	fabric_put(p->now);
	cable_events_done(&p->e);
	free(p->away);
	free(p->at);
	free(p->slow);
}

/* --- judged ----------------------------------------------------------------------------------- */

static bool same(const struct verdict *a, const struct verdict *b)
{
	return a->connected == b->connected && a->deadlock_free == b->deadlock_free &&
	       a->pairs == b->pairs && a->vl_mask == b->vl_mask && a->hops_max == b->hops_max &&
	       !memcmp(&a->hops_mean, &b->hops_mean, sizeof(a->hops_mean)) &&
	       a->vertices == b->vertices && a->edges == b->edges;
}

static bool verified(struct host_play *p, const struct fabric *now, const struct tables *t)
{
	struct verdict *full, kept;
	struct kept_verdict *k;
	char text[300];
	struct err err;
	bool fine;

	if (verify_tables(&full, now, t, NULL, NULL, &err) ||
	    kept_verdict_new(&k, now, t, false, NULL, &err))
		return wrong(p, err.text);
	verdict_sentence(text, sizeof(text), full, now);
	fine = verdict_ok(full) || wrong(p, text);
	kept_verdict_get(k, &kept);
	fine = fine && (same(&kept, full) || wrong(p, "the kept verdict has other figures"));
	kept_verdict_free(k);
	verdict_free(full);
	return fine;
}

static bool safe(struct host_play *p, const struct fabric *now, const struct tables *was,
		 const struct tables *t)
{
	struct judge_count count = { 0 };
	struct transition *plan;
	const char *what;
	struct err err;

	if (!p->orders || tables_same(was, t, now))
		return true;
	if (transition_plan(&plan, now, was, t, NULL, NULL, &err))
		return wrong(p, err.text);
	what = judge_transition(now, was, t, plan, false, p->orders, 1, &count);
	transition_free(plan);
	return !what || wrong(p, what);
}

static int put_file(const struct host_play *p, const char *name, const struct fabric *f,
		    const struct tables *t, struct err *err)
{
	char path[400];
	FILE *out;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", p->files, name);
	out = fopen(path, "we");
	if (!out)
		return err_set(err, -errno, "%s cannot be written", path);
	rc = !strcmp(name, "subnet.lst") ? osm_subnet_write(out, f, err)
	     : !strcmp(name, "fdbs")	 ? osm_fdbs_write(out, f, t, err)
	     : !strcmp(name, "path-sl")	 ? path_sl_write(out, f, t, err)
					 : ibdm_sl2vl_write(out, f, t, err);
	fclose(out);
	return rc;
}

static bool ibdm_says(const struct host_play *p, const char *regex)
{
	char line[1200];

	snprintf(line, sizeof(line), "grep -aqE '%s' '%s/out'", regex, p->files);
	return !system(line); /* NOLINT: of this program's own words */
}

/* Its words count: it often crashes after the verdict, or, with some files, before it. */
static bool ibdm_clean(struct host_play *p, const struct fabric *now, const struct tables *t)
{
	static const char *const names[] = { "subnet.lst", "fdbs", "path-sl", "sl2vl" };
	char line[2400];
	struct err err;

	if (!p->files || now->lmc)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (put_file(p, names[i], now, t, &err))
			return wrong(p, err.text);
	snprintf(
		line, sizeof(line),
		"cd '%s' && : >empty && for t in tcache_count=2 tcache_count=0 "
		"mmap_threshold=4096; do GLIBC_TUNABLES=glibc.malloc.$t timeout 60 ibdmchk -m empty "
		"-l 0 -s subnet.lst -f fdbs -c path-sl -d sl2vl >out 2>&1 </dev/null; grep -aqE "
		"\"credit loops|Failed|Fail to\" out && break; done 2>err",
		p->files);
	p->asked++;
	(void)!system(line); /* NOLINT */
	if (ibdm_says(p, "no credit loops found") && !ibdm_says(p, "Traversals Failed"))
		return true;
	if (ibdm_says(p, "credit loops in routing|Traversals Failed"))
		return wrong(p, "ibdmchk finds credit loops, or paths that do not arrive");
	p->refused++;
	return true;
}

/* --- an event --------------------------------------------------------------------------------- */

static uint32_t host_that(struct host_play *p, bool away)
{
	uint32_t e = (uint32_t)rng_below(&p->e.rng, p->f->nend);

	for (uint32_t i = 0; i < p->f->nend && p->away[e] != away; i++)
		e = (e + 1) % p->f->nend;
	return e;
}

static bool host_happens(struct host_play *p, enum host_event kind)
{
	uint32_t e = host_that(p, kind == HOST_COMES), here = 0, c;

	for (uint32_t i = 0; i < p->f->nend; i++)
		here += !p->away[i] && !p->e.gone[p->at[i]];
	switch (kind) {
	case HOST_GOES:
	case HOST_COMES:
		if (p->away[e] != (kind == HOST_COMES) || (kind == HOST_GOES && here < 4))
			return false;
		p->away[e] = !p->away[e];
		return true;
	case HOST_MOVES:
		p->at[e] = (uint32_t)rng_below(&p->e.rng, p->f->nsw);
		return !p->e.gone[p->at[e]];
	default:
		c = (uint32_t)rng_below(&p->e.rng, p->f->nchan);
		p->slow[c] = p->slow[p->f->chan_rev[c]] = !p->slow[c];
		return true;
	}
}

static uint64_t note_of(const struct notes *notes, const char *key)
{
	const struct note *n = notes_find(notes, key);

	return n ? n->value : 0;
}

/* Repaired, or, where there is no repair, routed again. */
static int repaired(struct host_play *p, struct tables **out, const struct fabric *now,
		    const struct tables *stands, struct err *err)
{
	struct notes notes = { 0 };
	struct engine_params params = { .threads = 1, .current = stands, .notes = &notes };
	int rc = engine_run(engine_find("repair", NULL), out, now, NULL, NULL, &params, NULL, err);

	p->needed += note_of(&notes, "entries_needed");
	p->changed += note_of(&notes, "entries_changed");
	if (!rc && note_of(&notes, "entries_needed") > note_of(&notes, "entries_changed"))
		rc = err_set(err, -EPROTO, "fewer entries changed than had to");
	notes_done(&notes);
	if (rc != -ENOSPC)
		return rc;
	p->again++;
	params.notes = NULL;
	return engine_run(engine_find("nue", NULL), out, now, NULL, NULL, &params, NULL, err);
}

static bool judged(struct host_play *p, const struct fabric *now, const struct tables *stands,
		   const struct tables *t, bool host)
{
	struct tables_diff *d = tables_diff_new(now, stands, t);
	uint64_t entries = d->entries;

	tables_diff_free(d);
	/* to the one LID or a few of a host that came, nothing to any other */
	if (host && entries > (uint64_t)now->nsw << now->lmc)
		return wrong(p, "a host that went or came has moved others' paths");
	return verified(p, now, t) && safe(p, now, stands, t) && ibdm_clean(p, now, t);
}

static bool carried(struct host_play *p, struct fabric *now, bool host)
{
	struct endports *ends = endports_of(p->now);
	struct carry_report since;
	struct tables *stands = NULL, *t = NULL;
	struct err err;
	bool fine;
	int rc = tables_carry(&stands, now, p->t, ends, &since, &err);

	endports_put(ends);
	if (!rc)
		rc = repaired(p, &t, now, stands, &err);
	fine = rc ? wrong(p, err.text) : judged(p, now, stands, t, host);
	tables_put(stands);
	if (t) {
		tables_put(p->t);
		p->t = t;
	}
	fabric_put(p->now);
	p->now = now;
	return fine;
}

bool host_play_event(struct host_play *p)
{
	uint32_t kind = (uint32_t)rng_below(&p->e.rng, HOST_EVENTS + CABLE_EVENTS);
	bool host = kind == HOST_GOES || kind == HOST_COMES;
	struct fabric *now;
	struct err err;

	if (kind < HOST_EVENTS
		    ? !host_happens(p, (enum host_event)kind)
		    : !cable_events_happen(&p->e, (enum cable_event)(kind - HOST_EVENTS)))
		return true;
	p->events++;
	if (build(&now, p, &err))
		return wrong(p, err.text);
	if (now->nend < 2 || !fabric_connected(now)) {
		fabric_put(now); /* the next one starts from the same tables */
		return true;
	}
	return carried(p, now, host);
}
