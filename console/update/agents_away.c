/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/agents_away.h"

#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/ib/phase_notice.h"
#include "fabric/update/installer/osm_link.h"
#include "fabric/update/protocol/coordinator.h"
#include "views/canvas/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define AWAY_NAMED 4 /* in one line */
#define LINK_MS	   2000
#define RECENT_S   3600 /* agents return by themselves long before */

struct merging {
	VEC(struct agent_away) v;
	const char *base;
	const struct txn_info *list;
	uint32_t nlist;
};

/* Where a journal alone lets suspect it.  While the update waits to be confirmed all were called
 * back, and those that did not come ask again. */
static bool agents_away_suspect(const struct txn_info *t, int64_t now_s)
{
	if (txn_state_final(t->state))
		return now_s - t->state_s < RECENT_S;
	return t->asked && t->state != TXN_CONFIRMING;
}

static void agents_away_of_journal(struct merging *m, const struct txn_info *t)
{
	struct txn_agent *port;
	uint32_t n;

	if (journal_read_agents(&port, &n, m->base, t->head.id, txn_state_final(t->state), NULL))
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct agent_away a = { .guid = port[i].guid,
					.txn = t->head.number,
					.lid = port[i].lid,
					.where = AWAY_UNKNOWN,
					.since_s = t->state_s };

		snprintf(a.name, sizeof(a.name), "%s", port[i].name);
		snprintf(a.id, sizeof(a.id), "%s", t->head.id);
		vec_push(&m->v, a);
	}
	free(port);
}

static bool agents_away_name_in(struct agent_away *a, const char *base, const struct txn_info *t)
{
	struct txn_agent *port;
	uint32_t n;

	if (journal_read_agents(&port, &n, base, t->head.id, false, NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (port[i].guid == a->guid)
			snprintf(a->name, sizeof(a->name), "%s", port[i].name);
	free(port);
	return a->name[0];
}

/* Numbers of other admin nodes may be the same by chance: the port tells. */
static void agents_away_name(struct agent_away *a, const struct merging *m)
{
	for (uint32_t i = m->nlist; i-- > 0 && !a->name[0];) {
		const struct txn_info *t = &m->list[i];

		if (t->head.number == a->txn && agents_away_name_in(a, m->base, t))
			snprintf(a->id, sizeof(a->id), "%s", t->head.id);
	}
	for (uint32_t i = m->nlist; i-- > 0 && !a->name[0];)
		agents_away_name_in(a, m->base, &m->list[i]);
}

/* Who is away asks; who does not is gone with its node or its job. */
static bool agents_away_is(const struct osm_agent *h)
{
	if (h->age_ms > RECENT_S * 1000ull)
		return false;
	if (h->phase == PHASE_UNPATH)
		return !(h->flags & NOTICE_FAILED);
	return h->phase == PHASE_REPATH && h->flags & NOTICE_FAILED;
}

/* What the plugin heard counts, unless the update came later. */
static void agents_away_of_plugin(struct merging *m, const struct osm_agent *h, int64_t now_s)
{
	struct agent_away a = { .guid = h->guid,
				.txn = h->txn,
				.lid = h->lid,
				.where = h->phase == PHASE_UNPATH ? AWAY_ESCAPE : AWAY_MIXED,
				.since_s = now_s - (int64_t)(h->age_ms / 1000) };
	bool later = false;
	size_t n = 0;

	for (size_t i = 0; i < m->v.n; i++) {
		const struct agent_away *was = &m->v.v[i];

		later |= was->guid == h->guid && h->txn && was->txn > h->txn;
		if (was->guid != h->guid || (h->txn && was->txn > h->txn))
			m->v.v[n++] = *was;
	}
	m->v.n = n;
	if (later || !agents_away_is(h))
		return;
	agents_away_name(&a, m);
	vec_push(&m->v, a);
}

static int agents_away_by_name(const void *a, const void *b)
{
	const struct agent_away *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->guid > y->guid) - (x->guid < y->guid);
}

void agents_away_merge(struct agent_away **out, uint32_t *n, const char *base,
		       const struct txn_info *list, uint32_t nlist, const struct osm_agent *heard,
		       uint32_t nheard, int64_t now_s)
{
	struct merging m = { .base = base, .list = list, .nlist = nlist };

	for (uint32_t i = 0; i < nlist; i++)
		if (agents_away_suspect(&list[i], now_s))
			agents_away_of_journal(&m, &list[i]);
	for (uint32_t i = 0; i < nheard; i++)
		agents_away_of_plugin(&m, &heard[i], now_s);
	if (m.v.n)
		qsort(m.v.v, m.v.n, sizeof(*m.v.v), agents_away_by_name);
	*out = m.v.v;
	*n = (uint32_t)m.v.n;
}

void agents_away_find(struct agent_away **out, uint32_t *n, const char *base, const char *socket,
		      const char *id)
{
	struct osm_agent *heard = NULL;
	struct txn_info *list = NULL;
	uint32_t nheard = 0, nlist = 0, kept = 0;
	struct osm_link *l;

	if (!osm_link_open(&l, socket, LINK_MS, NULL)) {
		if (osm_link_agents(l, &heard, &nheard, NULL))
			nheard = 0;
		osm_link_close(l);
	}
	if (journal_list(&list, &nlist, base, NULL))
		nlist = 0;
	agents_away_merge(out, n, base, list, nlist, heard, nheard, time(NULL));
	for (uint32_t i = 0; i < *n; i++)
		if (!id || !strcmp((*out)[i].id, id))
			(*out)[kept++] = (*out)[i];
	*n = kept;
	free(heard);
	free(list);
}

static const char *agents_away_words(char *buf, size_t size, const struct agent_away *a)
{
	static const char *const words[] = {
		[AWAY_ESCAPE] = "on its escape LIDs",
		[AWAY_MIXED] = "could not return",
		[AWAY_UNKNOWN] = "has not reported that it is back",
	};
	char at[FIGURE_LEN];

	snprintf(buf, size, "%s%s%s; %s %s", a->id[0] ? "update " : "", a->id,
		 a->id[0] ? "" : "an update of another machine", words[a->where],
		 figure_utc(at, a->since_s));
	return buf;
}

char *agents_away_text(char *buf, size_t size, const struct agent_away *a, uint32_t n,
		       const struct fabric *f)
{
	int len;

	buf[0] = '\0';
	if (!n)
		return buf;
	len = snprintf(buf, size, "%u agent%s not on %s base LIDs: ", n, n == 1 ? " is" : "s are",
		       n == 1 ? "its" : "their");
	for (uint32_t i = 0; i < n && len < (int)size; i++) {
		uint32_t term = fabric_term_by_guid(f, a[i].guid);
		char port[32];

		snprintf(port, sizeof(port), "port 0x%016" PRIx64, a[i].guid);
		len += snprintf(buf + len, size - (size_t)len, "%s%s", i ? ", " : "",
				i == AWAY_NAMED	   ? "..."
				: a[i].name[0]	   ? a[i].name
				: term != FAB_NONE ? f->term_name[term]
						   : port);
		if (i == AWAY_NAMED)
			break;
	}
	return buf;
}

void agents_away_print(const struct agent_away *a, uint32_t n)
{
	char port[32], words[200];

	if (n)
		printf("%u agent%s away from the base LIDs:\n", n, plural(n));
	for (uint32_t i = 0; i < n; i++) {
		snprintf(port, sizeof(port), "port 0x%016" PRIx64, a[i].guid);
		printf("  %-12s LID %u: %s\n", a[i].name[0] ? a[i].name : port, a[i].lid,
		       agents_away_words(words, sizeof(words), &a[i]));
	}
}

json_t *agents_away_json(const struct agent_away *a, uint32_t n)
{
	static const char *const name[] = { "escape", "mixed", "unknown" };
	json_t *all = json_array();

	for (uint32_t i = 0; i < n; i++) {
		char guid[20], at[FIGURE_LEN];

		snprintf(guid, sizeof(guid), "0x%016" PRIx64, a[i].guid);
		json_array_append_new(
			all, json_pack("{s:o, s:s, s:i, s:o, s:s, s:s}", "node",
				       a[i].name[0] ? json_text(a[i].name) : json_null(),
				       "port_guid", guid, "lid", (int)a[i].lid, "update",
				       a[i].id[0] ? json_string(a[i].id) : json_null(), "state",
				       name[a[i].where], "since", figure_utc(at, a[i].since_s)));
	}
	return all;
}
