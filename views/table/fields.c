/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/fields.h"

#include "views/data/lists/campaign_list.h"
#include "views/data/lists/session_list.h"
#include "views/data/lists/weak_list.h"
#include "views/table/fields/fields_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ROW_KINDS] = { "links",	  "ports",  "switches", "jobs",
					      "tiers",	  "events", "sessions", "actions",
					      "failures", "cells",  "routings" };

const char *row_kind_name(enum row_kind kind)
{
	return names[kind];
}

enum row_kind row_kind_find(const char *name)
{
	enum row_kind k = 0;

	while (k < ROW_KINDS && strcmp(names[k], name) != 0)
		k++;
	return k;
}

const struct field *fields_of(enum row_kind kind, size_t *n)
{
	static const struct field *const list[ROW_KINDS] = {
		fields_links,	 fields_ports,	fields_switches, fields_jobs,
		fields_tiers,	 fields_events, fields_sessions, fields_actions,
		fields_failures, fields_cells,	fields_routings
	};
	static const size_t *const count[ROW_KINDS] = {
		&nfields_links,	   &nfields_ports,  &nfields_switches, &nfields_jobs,
		&nfields_tiers,	   &nfields_events, &nfields_sessions, &nfields_actions,
		&nfields_failures, &nfields_cells,  &nfields_routings
	};

	*n = *count[kind];
	return list[kind];
}

static bool fields_is_name(const char *a, const char *name, size_t len)
{
	return a && strlen(a) == len && !strncasecmp(a, name, len);
}

const struct field *field_find(enum row_kind kind, const char *name, size_t len)
{
	size_t n;
	const struct field *f = fields_of(kind, &n);

	for (size_t i = 0; i < n; i++)
		if (fields_is_name(f[i].name, name, len))
			return &f[i];
	for (size_t i = 0; i < n; i++)
		if (fields_is_name(f[i].alias, name, len))
			return &f[i];
	return NULL;
}

#define GUESS_LEN 24

/* Levenshtein distance in any case; names longer than GUESS_LEN are far from all. */
static unsigned fields_distance(const char *a, const char *b, size_t nb)
{
	size_t na = strlen(a);
	unsigned row[GUESS_LEN + 1];

	if (na > GUESS_LEN || nb > GUESS_LEN)
		return GUESS_LEN;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diag = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned put = diag + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);

			diag = row[j];
			put = put < row[j] + 1 ? put : row[j] + 1;
			row[j] = put < row[j - 1] + 1 ? put : row[j - 1] + 1;
		}
	}
	return row[nb];
}

const char *field_guess(enum row_kind kind, const char *name, size_t len)
{
	size_t n;
	const struct field *f = fields_of(kind, &n);
	const char *best = NULL;
	unsigned least = len > 4 ? 3 : 2;

	for (size_t i = 0; len > 1 && i < n; i++)
		for (int k = 0; k < 2; k++) {
			const char *a = k ? f[i].alias : f[i].name;

			if (a && fields_distance(a, name, len) < least) {
				least = fields_distance(a, name, len);
				best = f[i].name;
			}
		}
	for (size_t i = 0; !best && len > 1 && i < n; i++)
		if (!strncasecmp(f[i].name, name, len))
			best = f[i].name;
	return best;
}

/* All names where they fit, else as many as do and dots. */
static void fields_append_names(char *buf, size_t size, enum row_kind kind)
{
	size_t n, at = strlen(buf);
	const struct field *f = fields_of(kind, &n);

	for (size_t i = 0; i < n; i++) {
		if (at + strlen(f[i].name) + sizeof(", ...") > size) {
			snprintf(buf + at, size - at, ", ...");
			return;
		}
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", f[i].name);
	}
}

void field_refusal(char *buf, size_t size, enum row_kind kind, const char *what, const char *name,
		   size_t len)
{
	const char *guess = field_guess(kind, name, len);

	snprintf(buf, size, "%s have no %s '%.*s'; ", row_kind_name(kind), what,
		 (int)(len < 40 ? len : 40), name);
	if (guess)
		snprintf(buf + strlen(buf), size - strlen(buf), "did you mean %s?", guess);
	else
		strncat(buf, "there are ", size - strlen(buf) - 1);
	if (!guess)
		fields_append_names(buf, size, kind);
}

bool field_begins(enum row_kind kind, const char *text)
{
	size_t n, len = strlen(text);
	const struct field *f = fields_of(kind, &n);

	for (size_t i = 0; len && i < n; i++)
		if (!strncasecmp(f[i].name, text, len) ||
		    (f[i].alias && !strncasecmp(f[i].alias, text, len)))
			return true;
	return false;
}

uint32_t rows_count(const struct rows *r)
{
	const struct state *s = r->s;

	switch (r->kind) {
	case ROWS_LINKS:
		return s->fabric ? s->fabric->nchan : 0;
	case ROWS_PORTS:
		return s->fabric ? s->fabric->nport : 0;
	case ROWS_SWITCHES:
		return s->fabric ? s->fabric->nsw : 0;
	case ROWS_JOBS:
		return r->v->jobs ? r->v->jobs->njob : 0;
	case ROWS_TIERS:
		return s->fabric ? r->v->tiers->n : 0;
	case ROWS_EVENTS:
		return s->events ? events_count(s->events) : 0;
	case ROWS_SESSIONS:
		return s->sessions ? s->sessions->nrow : 0;
	case ROWS_ACTIONS:
		return s->sessions ? s->sessions->naction : 0;
	case ROWS_FAILURES:
		return state_weak(s) ? state_weak(s)->report->n : 0;
	case ROWS_CELLS:
	case ROWS_ROUTINGS:
		return s->campaign.list ? campaign_rows(s->campaign.list) : 0;
	case ROW_KINDS:
		break;
	}
	return 0;
}

bool rows_wanted(const struct rows *r, uint32_t row)
{
	return r->kind != ROWS_PORTS || port_cabled(&r->s->fabric->port[row]) ||
	       (r->v && r->v->problem && r->v->problem[row] == PROBLEM_DOWN);
}

const char *rows_label(char *buf, const struct rows *r, uint32_t row)
{
	struct value c;

	switch (r->kind) {
	case ROWS_LINKS:
		return chan_label(buf, VALUE_LEN, r->s->fabric, row);
	case ROWS_PORTS:
		fields_ports[0].get(&c, r, row);
		memcpy(buf, c.buf, VALUE_LEN);
		break;
	case ROWS_SWITCHES:
		snprintf(buf, VALUE_LEN, "%s 0x%016lx %.100s",
			 switch_label(c.buf, NAME_LEN, r->s->fabric, row),
			 (unsigned long)r->s->fabric->sw_guid[row], r->s->fabric->sw_desc[row]);
		break;
	case ROWS_JOBS:
		job_label(buf, r, row);
		break;
	case ROWS_TIERS:
		snprintf(buf, VALUE_LEN, "%s", r->v->tiers->name[row]);
		break;
	case ROWS_EVENTS:
		snprintf(buf, VALUE_LEN, "%s %s", events_get(r->s->events, row)->area,
			 events_get(r->s->events, row)->text);
		break;
	case ROWS_SESSIONS:
		session_label(buf, r, row);
		break;
	case ROWS_ACTIONS:
		action_label(buf, r, row);
		break;
	case ROWS_FAILURES:
		failure_label(buf, r, row);
		break;
	case ROWS_CELLS:
	case ROWS_ROUTINGS:
		campaign_label(buf, r, row);
		break;
	case ROW_KINDS:
		break;
	}
	return buf;
}

bool value_known(const struct value *c, const struct field *f)
{
	if (f->kind == VALUE_TEXT)
		return c->text != NULL;
	return f->kind == VALUE_GUID ? c->guid != 0 : isfinite(c->num);
}

const char *value_text(char *buf, const struct value *c, const struct field *f)
{
	buf[0] = '\0';
	if (!value_known(c, f))
		return buf;
	switch (f->kind) {
	case VALUE_TEXT:
		return c->text;
	case VALUE_GUID:
		snprintf(buf, VALUE_LEN, "0x%016lx", (unsigned long)c->guid);
		break;
	case VALUE_FLAG:
		return c->num > 0.5 ? "yes" : "no";
	case VALUE_COUNT:
		if (c->text)
			return c->text;
		snprintf(buf, VALUE_LEN, "%.0f", c->num);
		break;
	case VALUE_NUMBER:
		snprintf(buf, VALUE_LEN, "%.*f", f->decimals, c->num);
		break;
	}
	return buf;
}
