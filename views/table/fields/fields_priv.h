/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields_priv: the lists behind fields.h, one file for each kind of row. */
#pragma once

#include "views/data/row_notes.h"
#include "views/table/fields.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

extern const struct field fields_links[], fields_ports[], fields_switches[], fields_jobs[],
	fields_tiers[], fields_events[], fields_sessions[], fields_actions[], fields_failures[],
	fields_cells[], fields_routings[];
extern const size_t nfields_links, nfields_ports, nfields_switches, nfields_jobs, nfields_tiers,
	nfields_events, nfields_sessions, nfields_actions, nfields_failures, nfields_cells,
	nfields_routings;

void job_label(char *buf, const struct rows *r, uint32_t row);
void session_label(char *buf, const struct rows *r, uint32_t row);
void action_label(char *buf, const struct rows *r, uint32_t row);
void failure_label(char *buf, const struct rows *r, uint32_t row);
void campaign_label(char *buf, const struct rows *r, uint32_t row);

/* An empty text is unknown. */
static inline void field_text_if(struct value *c, const char *text)
{
	c->text = text && text[0] ? text : NULL;
}

/* NULL is unknown. */
static inline void field_note(struct value *c, const struct row_note *note)
{
	c->text = note ? note->text : NULL;
}

/* The figure of a struct of rates, loads ... that begins at byte c->of of it. */
static inline double field_figure(const struct value *c, const void *figures)
{
	double v;

	memcpy(&v, (const char *)figures + c->of, sizeof(v));
	return v;
}

/* NULL: not known. */
static inline double field_rate(const struct value *c, const struct port_rate *p)
{
	return p ? field_figure(c, p) : NAN;
}

#define RATE(figure) offsetof(struct port_rate, figure)

/* A function that gets the value c of a field in a row of r, by one statement. */
#define GETTER(name, get)                                                                          \
	static void name(struct value *c, const struct rows *r, uint32_t row)                      \
	{                                                                                          \
		get;                                                                               \
	}

#define FIELDS_END(list) const size_t n##list = sizeof(list) / sizeof(*list)
