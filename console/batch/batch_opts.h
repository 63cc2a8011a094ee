/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch_opts: what the console prints instead of a screen, and how often. */
#pragma once

#include "console/batch/batch_saved.h"
#include "fabric/model/traffic/port_errors.h"
#include "views/data/state/request.h"
#include "views/table/fields.h"
#include "views/table/row_filter.h"

#include <argp.h>
#include <stdbool.h>

enum batch_form { BATCH_TEXT, BATCH_JSON, BATCH_JSONL, BATCH_PROM, BATCH_SCREEN };

/* Of the metrics for Prometheus, beside those of the fabric as a whole. */
enum prom_group {
	PROM_TIERS = 1,
	PROM_JOBS = 2,
	PROM_PORTS = 4,
	PROM_ERRORS = 8,
	PROM_UPDATES = 16,
	PROM_NONE = 32
};

#define BATCH_OVERVIEW ROW_KINDS /* kinds without a table */
#define BATCH_HEATMAP  (ROW_KINDS + 1)
#define BATCH_HISTORY  (ROW_KINDS + 2)
#define BATCH_ACTIVITY (ROW_KINDS + 3)
#define BATCH_FIELDS   64

struct batch_opts {
	bool on;
	enum batch_form form;
	bool formed;	/* a format was chosen */
	bool check;	/* exit 1 when there are findings */
	unsigned count; /* records; 0: until stopped */
	bool counted;
	unsigned top; /* rows of a table; 0: all */
	bool viewed;
	enum row_kind kind;	  /* or BATCH_OVERVIEW and so on */
	struct batch_saved saved; /* of --view or --screen, if it is one; else its name is "" */
	const char *at;		  /* a sample of a snapshot; NULL: the newest */
	const char *against;	  /* a time; NULL: none */
	const char *mark;	  /* bookmark of the sample that is saved; NULL: none */
	struct request set_mark;  /* the same as a request */
	const char *session;	  /* ROWS_ACTIONS: the beginning of its name; NULL: the newest */
	const char *layout;	  /* of the heatmap; NULL: the first that the fabric has */
	const char *metric_text;
	bool down;	     /* the opposite direction */
	enum view_id screen; /* BATCH_SCREEN */
	unsigned screen_w, screen_h;
	const char *commands; /* as after ':', with ; between; NULL: none */
	const char *sort_text, *filter_text, *fields_text;
	char *threshold_text; /* filter_text, if it is that of a file; free() */
	uint64_t error_limits[ERROR_COUNT];
	const char *prom_file, *prom_listen; /* NULL: none */
	unsigned prom_groups;		     /* enum prom_group, bits; 0: all */
	bool prom_nameless;		     /* no names and users of jobs */
	const char *diff;		     /* dump or snapshot to compare with; NULL: none */
	const char *save;		     /* a folder for a snapshot; NULL: none */

	/* parsed */
	const struct field *metric; /* of the heatmap */
	const struct field *sort;   /* NULL: by name */
	bool reverse;
	struct row_filter *filter; /* NULL: all rows; row_filter_free() */
	const struct field *field[BATCH_FIELDS];
	size_t nfield;
	bool noted; /* notes were asked for: not only where there are some */
};

void batch_opts_init(struct batch_opts *o);
/* Of the file of the error counters that runs of these options compare with; "": they keep none. */
void batch_findings_key(char *key, size_t size, const struct batch_opts *o);
/* The options; the input is a struct batch_opts. */
extern const struct argp batch_argp;
/* What has to be read of a live fabric for that (enum field_need). */
unsigned batch_opts_need(const struct batch_opts *o);
/* Are metrics for Prometheus among what is printed? */
bool batch_opts_metrics(const struct batch_opts *o);
/* --view sessions or actions, which need no fabric. */
bool batch_opts_of_records(const struct batch_opts *o);
/* The name of a view as in --view. */
const char *batch_view_name(enum row_kind kind);
