/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/tagged.h"

#include "views/data/context.h"
#include "fabric/base/memory/mem.h"
#include "views/data/exclude.h"
#include "views/data/pin_hosts.h"

#include <stdio.h>
#include <stdlib.h>

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

static void tagged_add_hosts(bool *host, enum row_kind kind, const struct context *ctx,
			     const struct fabric *f, uint32_t row)
{
	const struct job *j = kind == ROWS_JOBS ? &ctx->summary.jobs->jobs[row] : NULL;

	for (uint32_t i = 0; j && i < j->nterm; i++)
		host[j->terms[i]] = true;
	for (uint32_t t = 0; kind == ROWS_SWITCHES && t < f->nterm; t++)
		host[t] = host[t] || f->term_sw[t] == row;
	if (kind == ROWS_PORTS && f->port[row].term != FAB_NONE)
		host[f->port[row].term] = true;
}

bool tagged_pin(const struct table *t, enum row_kind kind, struct context *ctx,
		const struct state *s)
{
	bool *host;

	if (!s->fabric || (kind != ROWS_JOBS && kind != ROWS_SWITCHES && kind != ROWS_PORTS) ||
	    (!t->ntag && table_cursor(t) == FAB_NONE))
		return false;
	host = xcalloc(s->fabric->nend + 1u, sizeof(*host));
	if (!t->ntag)
		tagged_add_hosts(host, kind, ctx, s->fabric, table_cursor(t));
	for (uint32_t row = 0; t->ntag && row < t->keys_n; row++)
		if (table_is_tagged(t, t->key[row]))
			tagged_add_hosts(host, kind, ctx, s->fabric, row);
	pin_hosts_toggle(ctx, s, host);
	free(host);
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
