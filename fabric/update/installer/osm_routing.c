/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_routing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *osm_routing_source(const struct osm_status *s)
{
	if (!s->ours)
		return s->routes[0] ? s->routes : "an engine of its own";
	if (!strcmp(s->source, OSM_SOURCE_CONSOLE))
		return "other tables of the console";
	return !strcmp(s->source, OSM_SOURCE_CONFIRMED)	 ? "its confirmed tables"
	       : !strcmp(s->source, OSM_SOURCE_FILE)	 ? "the tables of its policy"
	       : !strcmp(s->source, OSM_SOURCE_REPAIRED) ? "tables repaired after a change"
							 : "the engine of its policy";
}

static bool osm_routing_other_fabric(const struct osm_update *u, const struct osm_status *s)
{
	return *u->fabric && strcmp(s->fabric, u->fabric);
}

bool osm_routing_is_over(char *text, size_t size, const struct osm_link *l,
			 const struct osm_status *s)
{
	const struct osm_update *u = osm_link_update(l);

	if (!u || strcmp(s->update, u->id))
		snprintf(text, size, "%.190s",
			 s->ended[0] ? s->ended : "OpenSM was restarted during the update");
	else if (osm_routing_other_fabric(u, s))
		snprintf(text, size, "the fabric has changed since the plan was made");
	else
		return false;
	return true;
}

/* Tables that hosts were grafted on to, or taken from, have another hash. */
int osm_routing_check(struct osm_link *l, struct err *err)
{
	const struct osm_update *u = osm_link_update(l);
	const char *given = osm_link_given(l);
	struct osm_status s;
	int rc = u && given ? osm_link_status(l, &s, err) : 0;

	if (!u || !given || rc)
		return rc;
	if (osm_routing_other_fabric(u, &s))
		return !*given || !strcmp(s.source, OSM_SOURCE_CONSOLE)
			       ? 0
			       : err_set(err, -ESTALE,
					 "the fabric has changed since the plan was made: OpenSM "
					 "routes by %s",
					 osm_routing_source(&s));
	if (!strcmp(s.tables, *given ? given : s.base))
		return 0;
	return err_set(err, -EUCLEAN, "OpenSM no longer routes by %s, but by %s%s%.200s",
		       *given ? "the tables of this update" : "what it did when the update began",
		       osm_routing_source(&s), s.why[0] ? ": " : "", s.why);
}
