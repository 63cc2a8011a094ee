/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/route_limits.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct route_limits *route_limits_new(const struct fabric *f)
{
	struct route_limits *l = xcalloc(1, sizeof(*l));

	l->nsw = f->nsw;
	l->nchan = f->nchan;
	l->nend = f->nend;
	return l;
}

static void route_limits_set_flag(bool **flags, uint32_t n, uint32_t i)
{
	if (!*flags)
		*flags = xcalloc(n, sizeof(**flags));
	(*flags)[i] = true;
}

void route_limits_add(struct route_limits *l, const struct fabric *f, uint32_t sw, uint32_t chan)
{
	if (sw != FAB_NONE)
		route_limits_set_flag(&l->exclude_sw, l->nsw, sw);
	if (chan == FAB_NONE)
		return;
	route_limits_set_flag(&l->exclude_chan, l->nchan, chan);
	route_limits_set_flag(&l->exclude_chan, l->nchan, f->chan_rev[chan]);
}

static bool *route_limits_copy_flags(const bool *flags, uint32_t n)
{
	bool *to = flags ? xcalloc(n, sizeof(*to)) : NULL;

	return to ? memcpy(to, flags, n * sizeof(*to)) : NULL;
}

struct route_limits *route_limits_copy(const struct route_limits *l)
{
	struct route_limits *to;

	if (!l)
		return NULL;
	to = xcalloc(1, sizeof(*to));
	*to = *l;
	to->exclude_sw = route_limits_copy_flags(l->exclude_sw, l->nsw);
	to->exclude_chan = route_limits_copy_flags(l->exclude_chan, l->nchan);
	to->exclude_text = l->exclude_text ? xstrdup(l->exclude_text) : NULL;
	to->pin = route_limits_copy_flags(l->pin, l->nend);
	to->pin_text = l->pin_text ? xstrdup(l->pin_text) : NULL;
	return to;
}

void route_limits_free(struct route_limits *l)
{
	if (!l)
		return;
	free(l->exclude_sw);
	free(l->exclude_chan);
	free(l->exclude_text);
	free(l->pin);
	free(l->pin_text);
	free(l);
}

uint32_t route_limits_pinned(const struct route_limits *l, const struct fabric *f)
{
	const char *last = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; l && l->pin && i < f->nterm; i++) {
		const char *name = f->term_name[f->term_by_name[i]];

		if (!l->pin[f->term_by_name[i]])
			continue;
		n += !last || strcmp(last, name) != 0;
		last = name;
	}
	for (uint32_t end = f->nterm; l && l->pin && end < f->nend; end++)
		n += l->pin[end];
	return n;
}

static bool route_limits_any(const bool *flags, uint32_t n)
{
	for (uint32_t i = 0; flags && i < n; i++)
		if (flags[i])
			return true;
	return false;
}

bool route_limits_excludes(const struct route_limits *l)
{
	return l && (route_limits_any(l->exclude_sw, l->nsw) ||
		     route_limits_any(l->exclude_chan, l->nchan));
}
