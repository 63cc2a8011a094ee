/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shell_priv: what the files of the shell share; each calls those further up only. */
#pragma once

#include "views/beside/beside.h"
#include "views/data/row_notes.h"
#include "views/finder/finder.h"
#include "views/prompt/prompt.h"
#include "views/saved/saved_view.h"
#include "views/shell/settings_menu.h"
#include "views/shell/shell.h"
#include "views/table/column_menu.h"
#include "views/table/sort_menu.h"
#include "views/tour/tour.h"
#include "views/view.h"

struct shell {
	struct context ctx;
	void *own[VIEW_COUNT]; /* what each view keeps */
	struct prompt prompt;
	struct sort_menu sort;
	struct column_menu columns;
	struct settings_menu settings;
	struct beside beside;
	struct finder finder;
	struct saved_view saving; /* of the last request, as the next */
	struct row_note noting;
	struct tour tour;
	char *copied; /* names that the last request has; NULL: none */
	int w, h;     /* of the canvas drawn last */
};

/* --- shell_tables.c: The view in sight and its table. */

const struct view *shell_tables_view(const struct shell *shell);
void *shell_tables_own(const struct shell *shell);
struct table_in shell_tables_in(struct shell *shell, const struct state *s);
/* Takes what is tagged in the tables, and drops selections that are no longer there. */
void shell_tables_follow(struct shell *shell, const struct state *s);

/* --- shell_words.c: Everything that the search leads to. */

void shell_words_open(struct shell *shell, const struct state *s, const char *text);

/* --- shell_rows.c: What is done with the row under the cursor, or those that are tagged. */

void shell_rows_go_to_port(struct shell *shell, const struct state *s, uint32_t sw, uint8_t port);
void shell_rows_go_to(struct shell *shell, const struct state *s, enum view_id view,
		      enum row_kind kind, uint32_t row);
/* Or the names of those that are tagged.  false: there is no row. */
bool shell_rows_copy(struct shell *shell, const struct state *s, struct request *out);
void shell_rows_exclude(struct shell *shell, const struct state *s, const char *text);
void shell_rows_pin(struct shell *shell, const struct state *s, const char *text);
/* On what is under the cursor, or of the moment of the past that is shown; NULL: none. */
const struct row_note *shell_rows_note_here(struct shell *shell, const struct state *s);
void shell_rows_note(struct shell *shell, const struct state *s, const char *text,
		     struct request *out);
/* The one that is there is edited. */
void shell_rows_note_open(struct shell *shell, const struct state *s);
/* The tagged rows side by side; false: there is no table. */
bool shell_rows_compare(struct shell *shell, const struct state *s);
/* The moment of the event under the cursor. */
void shell_rows_go_to_event(struct shell *shell, const struct state *s, struct request *out);

/* --- shell_menus.c: The menus over the view. */

bool shell_menus_open(struct shell *shell, const struct input *in, const struct state *s);
bool shell_menus_choose_sort(struct shell *shell, const struct input *in);
bool shell_menus_choose_columns(struct shell *shell, const struct input *in);
void shell_menus_draw(struct shell *shell, struct canvas *c, const struct state *s);

/* --- shell_prompt.c: The line at the bottom. */

struct prompt_context shell_prompt_context(struct shell *shell, const struct state *s);
bool shell_prompt_open(struct shell *shell, const struct input *in, const struct state *s);
void shell_prompt_typed(struct shell *shell, enum prompt_kind kind, const char *text,
			const struct state *s);
/* By a command: the prompt is closed, so errors go to the message line. */
void shell_prompt_filter(struct shell *shell, const char *text, const struct state *s);

/* --- shell_do.c: What a key means where it was pressed. */

/* Input of the current view, which may open the prompt (REQ_COMMAND). */
bool shell_do_in_view(struct shell *shell, const struct input *in, const struct state *s,
		      struct request *out);
bool shell_do_works_here(const struct binding *b, const struct shell *shell);
void shell_do(struct shell *shell, const struct input *in, const struct state *s,
	      struct request *out);

/* --- shell_run.c: What a command does. */

void shell_run(struct shell *shell, const char *line, const struct state *s, struct request *out);
