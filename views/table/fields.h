/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields: what is known of the rows of a table, by name.
 *
 * One list per kind of row.  Tables sort and filter by it, and scripts print from it, so a
 * figure has one name, one unit and one way to be had.  Names end with their unit
 * (tx_Bps, wait_pct); nothing here allocates.
 */
#pragma once

#include "views/data/state/state.h"
#include "views/data/summary/fabric_summary.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_kind {
	ROWS_LINKS, /* channels between switches, one per direction */
	ROWS_PORTS, /* ports of switches, also those to hosts and those that lead nowhere */
	ROWS_SWITCHES,
	ROWS_JOBS,     /* of summary.jobs */
	ROWS_TIERS,    /* of the summary */
	ROWS_EVENTS,   /* newest first */
	ROWS_SESSIONS, /* recorded ones, newest first */
	ROWS_ACTIONS,  /* what was done in the one that is open */
	ROWS_FAILURES, /* of each cable and switch, that may come: for scripts there are commands */
	ROWS_CELLS,    /* of a campaign of failures; as the next of the folder that is open */
	ROWS_ROUTINGS, /* of a replay, at a moment */
	ROW_KINDS
};

enum value_kind {
	VALUE_NUMBER, /* decimals as the field says */
	VALUE_COUNT,  /* a whole number */
	VALUE_FLAG,   /* 0 or 1 */
	VALUE_TEXT,
	VALUE_GUID,
};

/* The rows of a state; both are borrowed.  The summary has followed the state. */
struct rows {
	enum row_kind kind;
	const struct state *s;
	const struct fabric_summary *v;
};

#define VALUE_LEN 256
struct value {
	double num;	  /* NUMBER, COUNT, FLAG; NAN unknown */
	uint64_t guid;	  /* GUID; 0 unknown */
	const char *text; /* TEXT: of the state, or buf; NULL unknown.  COUNT: what people see
			     instead */
	double rank; /* what it is sorted by, highest first, whatever else it is; NAN: by itself */
	unsigned of; /* as of the field, for its get() */
	char buf[VALUE_LEN];
};

/* What has to be read of a live fabric to know a field. */
enum field_need {
	NEED_FABRIC = 1 << 0,  /* a discovery */
	NEED_TRAFFIC = 1 << 1, /* counters, as enum sample_what */
	NEED_ERRORS = 1 << 2,
	NEED_WAIT = 1 << 3,
	NEED_RATES = 1 << 4, /* two readings of them */
	NEED_LFTS = 1 << 5,
	NEED_SL2VL = 1 << 6,
	NEED_JOBS = 1 << 7,
	NEED_ALL = (1 << 8) - 1,
};

#define NEED_COUNTERS (NEED_TRAFFIC | NEED_ERRORS | NEED_WAIT)

struct field {
	const char *name;  /* "tx_Bps": in scripts, and in filters */
	const char *alias; /* another name in filters ("tx"); NULL: none */
	const char *title; /* for the head of a column */
	const char *unit;  /* "%", "B/s", "/min"; "" none */
	enum value_kind kind;
	uint8_t decimals;  /* NUMBER */
	bool usual;	   /* printed unless other fields are asked for */
	const char *about; /* a line for lists of fields */
	void (*get)(struct value *c, const struct rows *r, uint32_t row);
	unsigned of;	/* which of several figures that it can get; 0: it is the only one */
	unsigned needs; /* enum field_need */
};

const char *row_kind_name(enum row_kind kind); /* "links" */
/* By its name; ROW_KINDS when there is none. */
enum row_kind row_kind_find(const char *name);

/* All of a kind, in the order in which they are printed. */
const struct field *fields_of(enum row_kind kind, size_t *n);
/* By name or alias, in any case; NULL when there is none.  len: of the name. */
const struct field *field_find(enum row_kind kind, const char *name, size_t len);
/* "links have no column 'x': did you mean y?", or which there are.  what: "column", "field". */
void field_refusal(char *buf, size_t size, enum row_kind kind, const char *what, const char *name,
		   size_t len);
/* The name that was perhaps meant; NULL when nothing is near. */
const char *field_guess(enum row_kind kind, const char *name, size_t len);
/* Is text, not empty, the beginning of the name of one, or all of it? */
bool field_begins(enum row_kind kind, const char *text);

/* Rows that there are, 0 while nothing is known: channels, ports and switches as the fabric
 * numbers them, jobs as the job set does. */
uint32_t rows_count(const struct rows *r);
/* ROWS_PORTS has rows that lead nowhere (and port 0): false for those, but where a link was lost.
 */
bool rows_wanted(const struct rows *r, uint32_t row);
/* Of a row of ROWS_LINKS or ROWS_PORTS: the switch that sends.  O(log switches). */
uint32_t rows_switch(const struct rows *r, uint32_t row);
/* What a search for a word looks at; buf of VALUE_LEN. */
const char *rows_label(char *buf, const struct rows *r, uint32_t row);

static inline void field_get(struct value *c, const struct field *f, const struct rows *r,
			     uint32_t row)
{
	c->num = c->rank = NAN;
	c->guid = 0;
	c->text = NULL;
	c->of = f->of;
	f->get(c, r, row);
}

bool value_known(const struct value *c, const struct field *f);
/* As one writes it: "97.3", "0x0002c90000000001"; "" when unknown.  Returns buf (of VALUE_LEN) or
 * the cell's text. */
const char *value_text(char *buf, const struct value *c, const struct field *f);
