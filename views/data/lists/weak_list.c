/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/lists/weak_list.h"

#include "views/data/state/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct weak_list *state_weak(const struct state *s)
{
	const struct weak_list *l = s->weak.list;

	return l && s->fabric && digest_equal(&l->fabric->fingerprint, &s->fabric->fingerprint)
		       ? l
		       : NULL;
}

const char *weak_part_label(char *buf, size_t len, const struct fabric *f,
			    const struct weak_part *p)
{
	char a[NAME_LEN], b[NAME_LEN];
	uint32_t c = p->chan;

	if (c == FAB_NONE)
		return switch_label(buf, len, f, p->sw);
	snprintf(buf, len, "%s/%u - %s/%u", switch_label(a, sizeof(a), f, f->chan_src[c]),
		 f->chan_port[c], switch_label(b, sizeof(b), f, f->chan_dst[c]), f->chan_rport[c]);
	return buf;
}

const char *weak_end_name(enum weak_end end)
{
	static const char *const names[] = {
		[WEAK_REPAIRED] = "repaired", [WEAK_REROUTED] = "rerouted", [WEAK_CUT] = "cut off"
	};

	return names[end];
}

double weak_part_rise(const struct weak_report *w, const struct weak_part *p)
{
	return p->end == WEAK_REPAIRED ? 100 * (p->time / w->time - 1) : (double)NAN;
}

void weak_list_free(struct weak_list *l)
{
	if (!l)
		return;
	weak_report_free(l->report);
	tables_put(l->tables);
	fabric_put(l->fabric);
	free(l);
}
