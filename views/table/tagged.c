/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/tagged.h"

#include "views/data/context.h"
#include "views/data/exclude.h"

#include <stdio.h>

/* false: neither a switch nor a cable between switches. */
static bool tagged_add(struct route_limits *l, enum row_kind kind, const struct fabric *f,
		       uint32_t row)
{
	uint32_t sw = FAB_NONE, chan = FAB_NONE;

	if (kind == ROWS_SWITCHES)
		sw = row;
	else if (kind == ROWS_LINKS)
		chan = row;
	else if (kind == ROWS_PORTS)
		chan = f->port[row].chan;
	if (sw == FAB_NONE && chan == FAB_NONE)
		return false;
	route_limits_add(l, f, sw, chan);
	return true;
}

bool tagged_exclude(const struct table *t, enum row_kind kind, struct context *ctx,
		    const struct state *s)
{
	struct route_limits *l;
	uint32_t n = 0, other = 0;

	if (!t->ntag || !s->fabric)
		return false;
	l = route_limits_new(s->fabric);
	for (uint32_t row = 0; row < t->keys_n; row++) {
		if (!table_is_tagged(t, t->key[row]))
			continue;
		if (tagged_add(l, kind, s->fabric, row))
			n++;
		else
			other++;
	}
	exclude_all(ctx, s, l, n, other);
	route_limits_free(l);
	return true;
}

const char *tagged_name(char *buf, const struct rows *r, uint32_t row)
{
	char id[JOB_ID_LEN];

	/* by more than that they are found */
	if (r->kind == ROWS_SWITCHES)
		return switch_label(buf, NAME_LEN, r->s->fabric, row);
	if (r->kind != ROWS_JOBS)
		return rows_label(buf, r, row);
	snprintf(buf, VALUE_LEN, "%s", jobset_id_text(id, r->v->jobs, r->v->jobs->jobs[row].id));
	return buf;
}

char *tagged_names(uint32_t *n, const struct table *t, enum row_kind kind, struct context *ctx,
		   const struct state *s)
{
	struct rows r = { .kind = kind, .s = s, .v = &ctx->summary };
	char label[VALUE_LEN], *text = NULL;
	size_t len;
	FILE *out;

	*n = 0;
	if (!t->ntag)
		return NULL;
	out = open_memstream(&text, &len);
	for (uint32_t row = 0; row < t->keys_n; row++)
		if (table_is_tagged(t, t->key[row])) {
			fprintf(out, "%s\n", tagged_name(label, &r, row));
			++*n;
		}
	fclose(out);
	return text;
}
