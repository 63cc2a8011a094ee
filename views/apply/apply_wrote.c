/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/apply/apply_wrote.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct apply_wrote *apply_wrote_new(struct changes *l, const struct fabric *f)
{
	struct apply_wrote *w = xcalloc(1, sizeof(*w));
	uint32_t *at;

	changes_bind(l, f);
	w->fabric = fabric_get(f);
	w->changes = l;
	w->order = xcalloc(2ull * l->n, sizeof(*w->order));
	w->wave_end = xcalloc(l->nwaves, sizeof(*w->wave_end));
	for (uint32_t i = 0; i < l->n; i++)
		w->wave_end[l->v[i].wave]++;
	at = xcalloc(l->nwaves, sizeof(*at));
	for (uint32_t wave = 0, sum = 0; wave < l->nwaves; wave++) {
		at[wave] = sum;
		sum += w->wave_end[wave];
		w->wave_end[wave] = sum;
	}
	for (uint32_t i = 0; i < l->n; i++)
		w->order[at[l->v[i].wave]++] = i;
	for (uint32_t k = 0; k < l->n; k++)
		if (l->v[w->order[k]].prev == FAB_NONE)
			w->order[l->n + w->nfirst++] = w->order[k];
	free(at);
	return w;
}

void apply_wrote_free(struct apply_wrote *w)
{
	if (!w)
		return;
	changes_free(w->changes);
	fabric_put(w->fabric);
	free(w->wave_end);
	free(w->order);
	free(w);
}

static uint32_t apply_wrote_entries(const struct changes *l, const struct change *c)
{
	const uint8_t *old = change_old(l, c), *new = change_new(l, c);
	uint32_t n = 0;

	for (size_t i = 0; i < change_bytes(c); i++)
		n += old[i] != new[i];
	return n;
}

void apply_wrote_line(char *buf, size_t len, const struct apply_wrote *w, uint32_t i, bool back)
{
	const struct changes *l = w->changes;
	const struct change *c = &l->v[w->order[i]];
	char name[160], hex[DIGEST_HEX], part[48] = "";
	struct digest sum;

	digest_of(&sum, back ? change_old(l, c) : change_new(l, c), change_bytes(c));
	change_name(name, sizeof(name), c, w->fabric);
	if (c->kind == CHANGE_LFT && !back)
		snprintf(part, sizeof(part), " (%u of %d entries)", apply_wrote_entries(l, c),
			 CHANGE_LFT_BYTES);
	snprintf(buf, len, "%.120s %s%s  sha256 %.8s..", name,
		 back ? "restored, read back" : "read-back ok", part, digest_hex(hex, &sum));
}

static const char *apply_wrote_plural_level(char buf[24], const struct topology_kind *s,
					    uint32_t level)
{
	char room[16];
	const char *one = topology_kind_level_name(room, s, level);

	if (!strcmp(one, "leaf"))
		snprintf(buf, 24, "leaves");
	else
		snprintf(buf, 24, "%.16s%s", one, strncmp(one, "level", 5) ? "s" : "");
	return buf;
}

static bool apply_wrote_tiers_name(char *buf, size_t len, const struct topology_kind *s,
				   const uint32_t *sw, uint32_t n)
{
	uint64_t has = 0;
	uint32_t kinds = 0;
	size_t at = 0;
	char one[24];

	for (uint32_t i = 0; i < n; i++)
		has |= 1ull << (s->tree->row[sw[i]] & 63);
	kinds = (uint32_t)__builtin_popcountll(has);
	if (kinds > 1 && kinds == s->tree->nrow)
		return false;
	for (uint32_t level = s->tree->nrow; level-- > 0;)
		if (has >> (level & 63) & 1 && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s", at ? ", " : "",
					       apply_wrote_plural_level(one, s, level));
	return kinds && at < len;
}

const char *switches_name(char *buf, size_t len, const struct topology_kind *s, const uint32_t *sw,
			  uint32_t n)
{
	bool one_group = s && s->kind == TOPOLOGY_GROUPS && n;

	for (uint32_t i = 1; one_group && i < n; i++)
		one_group = s->group[sw[i]] == s->group[sw[0]];
	if (one_group)
		snprintf(buf, len, "group %u", s->group[sw[0]] + 1);
	else if (!s || s->kind != TOPOLOGY_TREE || !apply_wrote_tiers_name(buf, len, s, sw, n))
		snprintf(buf, len, "switches");
	return buf;
}
