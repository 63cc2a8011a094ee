/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/pin_priv.h"

#include "engines/graph/layers_verdict.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"
#include "fabric/model/end_find.h"
#include "fabric/model/route_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pin_find_dests(struct pinned *p, uint8_t lmc)
{
	p->dest = xcalloc((size_t)p->nend << lmc, sizeof(*p->dest));
	for (uint32_t e = 0; e < p->f->nend; e++)
		if (p->pin[e])
			p->n += graph_end_dests(p->dest + p->n, p->f, lmc, e);
}

static int pin_check_known(const struct pinned *p, struct err *err)
{
	if (!p->cur)
		return err_set(err, -EINVAL,
			       "routes to %u pinned host%s are to stay as installed, but the "
			       "installed tables are not known: give them, or pin no hosts",
			       p->hosts, plural(p->hosts));
	if (!digest_equal(&p->cur->fingerprint, &p->f->fingerprint) || p->cur->nsw != p->f->nsw ||
	    p->cur->nend != p->f->nend || p->cur->max_lid != p->f->max_lid)
		return err_set(err, -EINVAL,
			       "routes to %u pinned host%s are to stay as installed, but the "
			       "installed tables are of another fabric, or of one that has changed "
			       "since: read them anew, or pin no hosts",
			       p->hosts, plural(p->hosts));
	return 0;
}

int pin_new(struct pinned **out, const struct fabric *f, const struct engine_params *params,
	    struct progress *progress, struct err *err)
{
	const bool *pin = params->limits ? params->limits->pin : NULL;
	struct pinned *p;
	int rc;

	*out = NULL;
	if (!pin)
		return 0;
	p = xcalloc(1, sizeof(*p));
	p->f = f;
	p->cur = params->current;
	p->pin = pin;
	p->text = params->limits->pin_text;
	p->hosts = route_limits_pinned(params->limits, f);
	p->vls = graph_vls(f, params) - params->escape;
	for (uint32_t e = 0; e < f->nend; e++)
		p->nend += pin[e];
	rc = p->nend ? pin_check_known(p, err) : 0;
	if (!rc && p->nend) {
		pin_find_dests(p, graph_lmc(f, params));
		rc = pin_look(p, params, progress, err);
	}
	if (rc || !p->nend)
		pin_free(p);
	else
		*out = p;
	return rc;
}

void pin_free(struct pinned *p)
{
	if (!p)
		return;
	if (p->turn)
		turns_done(&p->turns);
	free(p->turn);
	free(p->dest);
	free(p);
}

static void pin_put_lfts(const struct pinned *p, struct tables *t)
{
	for (uint32_t u = 0; u < p->f->nsw; u++) {
		const uint8_t *from = tables_row(p->cur, u);
		uint8_t *to = tables_row(t, u);

		for (uint32_t i = 0; i < p->n; i++)
			to[p->dest[i].lid] = from[p->dest[i].lid];
	}
}

/* The same fabric as if nobody owned the escape LIDs, which are not routed yet. */
static uint32_t *pin_owners_of_traffic(const struct fabric *f, bool escape)
{
	uint32_t *end = xcalloc(f->max_lid + 1u, sizeof(*end));

	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		end[lid] = escape && fabric_lid_escape(f, lid) ? FAB_NONE : f->lid_end[lid];
	return end;
}

/* Free of deadlocks as it is? */
static int pin_is_sound(bool *ok, const struct pinned *p, const struct tables *t,
			const struct engine_params *params, struct progress *progress,
			struct err *err)
{
	struct fabric f = *p->f;
	struct verdict *v;
	int rc;

	f.lid_end = pin_owners_of_traffic(p->f, params->escape);
	rc = layers_verdict(&v, &f, t, params->threads, progress, err);
	free(f.lid_end);
	if (rc)
		return rc;
	*ok = v->connected && v->loop_free && v->deadlock_free;
	verdict_free(v);
	return 0;
}

int pin_apply(const struct pinned *p, struct tables *t, const struct engine_params *params,
	      struct progress *progress, struct err *err)
{
	unsigned vls = 32u - (unsigned)__builtin_clz((unsigned)p->on_vls | 1);
	bool ok;
	int rc = 0;

	pin_put_lfts(p, t);
	ok = pin_put_sl2vl(p, t);
	if (ok) {
		pin_put_sls(p, t);
		rc = pin_is_sound(&ok, p, t, params, progress, err);
	}
	if (!rc && !ok) {
		rc = pin_layers(p, t, params, progress, err);
		if (!rc)
			pin_put_sls(p, t);
	}
	if (rc)
		return rc;
	t->vls = t->vls > vls ? t->vls : (uint8_t)vls;
	t->sls = (uint8_t)__builtin_popcount(tables_sl_mask(t, p->f));
	notes_set(params->notes, "pinned", p->hosts,
		  "routes to %u pinned host%s stay as installed%s", p->hosts, plural(p->hosts),
		  ok ? "" : ": the other paths have layers beside them");
	return 0;
}

void pin_tell(const struct pinned *p, struct tables *t)
{
	size_t len = strlen(t->params), room = sizeof(t->params) - len;

	if (!p->text)
		return;
	if ((size_t)snprintf(t->params + len, room, " pin=%s", p->text) >= room && room > 4)
		memcpy(t->params + sizeof(t->params) - 4, "...", 4);
}

static bool pin_same_entries(const struct pinned *p, const struct tables *t, uint16_t lid)
{
	for (uint32_t u = 0; u < p->f->nsw; u++)
		if (tables_row(t, u)[lid] != tables_row(p->cur, u)[lid])
			return false;
	return true;
}

int pin_check_escape(const struct pinned *p, const struct tables *t, struct notes *notes,
		     struct err *err)
{
	const struct fabric *f = p->f;
	uint32_t changed = 0;
	char name[64];

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t end = fabric_lid_end(f, lid);

		if (!fabric_lid_escape(f, lid) || !p->pin[end] ||
		    pin_same_entries(p, t, (uint16_t)lid))
			continue;
		if (!p->cur->escape)
			return err_set(
				err, -EINVAL,
				"LID %u of %s, which is pinned, would become an escape LID with "
				"other routes than those installed: route without escape LIDs, "
				"or do not pin it",
				lid, end_name(name, sizeof(name), f, end));
		changed++;
	}
	if (changed)
		notes_set(notes, "pinned_escape", changed,
			  "%u escape LID%s of pinned hosts get other routes: nobody uses them now",
			  changed, plural(changed));
	return 0;
}
