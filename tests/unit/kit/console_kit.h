/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console_kit: a console without a terminal.  A generated fabric with jobs, routes, figures and
 * made-up traffic as a state; keys go in, the text of the canvas is compared with a golden in
 * tests/screens (UPDATE_GOLDEN=1 writes it again).
 */
#pragma once

#include "console/app/terminal/keymap.h"
#include "views/canvas/canvas.h"
#include "views/data/state/state.h"
#include "views/shell/shell.h"

struct console_kit {
	struct state s;
	struct shell *shell;
	struct canvas *c;
	struct request last; /* of the keys pressed last: the newest that is not REQ_NONE */
	struct events events;
	bool quick; /* set before console_fabric(): no lanes and no slowdowns, for large fabrics */
	/* owned, what s points to */
	struct fabric *fabric;
	struct tables *tables, *plan;
	struct jobset *jobs;
	struct link_usage *usage;
	struct metrics *metrics, *plan_metrics, *before;
	struct job_time_changes jobs_time;
	struct verdict *verdict, *plan_verdict;
	struct tables_diff *diff;
	struct plan *ordered;
	struct sample *samples[2];
	struct rates *rates;
	struct history *history;
};

/* A console of w x h without a fabric. */
void console_open(struct console_kit *k, int w, int h);
void console_close(struct console_kit *k);
void console_size(struct console_kit *k, int w, int h);

/* The fabric of a topo spec, routed by shortest paths, with jobs of the sizes given
 * (0-terminated, scattered) and traffic where their routes are; jobs NULL: no job source. */
void console_fabric(struct console_kit *k, const char *spec, const uint32_t *jobs);
/* The same of that fabric; the kit owns it. */
void console_fabric_is(struct console_kit *k, struct fabric *f, const uint32_t *jobs);
/* A preview done by an engine of that name: more even shortest paths. */
void console_preview(struct console_kit *k, const char *engine);
/* As of a file: no counters. */
void console_file(struct console_kit *k);
/* As of a dump without tables: no routing in use either, which a plan could be compared with. */
void console_dump(struct console_kit *k);
/* The preview as a plan in the apply view. */
void console_plan(struct console_kit *k);
/* The port of a channel gave no answer, or errors, or is down. */
void console_no_reply(struct console_kit *k, uint32_t chan);
void console_event(struct console_kit *k, enum log_level level, const char *area, const char *text);

void console_key(struct console_kit *k, uint32_t key);
void console_keys(struct console_kit *k, const char *keys); /* characters */

/* Draws and returns the text; the caller frees. */
char *console_screen(struct console_kit *k);
/* Draws; fails the test when the golden of that name and size differs. */
void console_golden(struct console_kit *k, const char *name);
/* Draws; fails the test when the text is (not) there. */
void console_shows(struct console_kit *k, const char *text);
void console_hides(struct console_kit *k, const char *text);
