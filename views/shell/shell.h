/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shell: all views together with where the operator is in each of them.
 *
 * The application's loop is: shell_draw() when something changed; for a key,
 * keymap_translate() with shell_view() and shell_typing(), shell_input(), then act on the request.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/context.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

struct finder;
struct prompt;
struct shell;
struct table;
struct table_ops;

/* The bindings (the keymap) are borrowed. */
struct shell *shell_new(const struct binding *bindings, size_t n);
void shell_free(struct shell *shell); /* NULL is fine */

/* Draws a whole frame.  s is only read; caches inside shell follow the pointers in it. */
void shell_draw(struct shell *shell, struct canvas *c, const struct state *s);

/* Handles one key; out->type is REQ_NONE when only a redraw is needed. */
void shell_input(struct shell *shell, const struct input *in, const struct state *s,
		 struct request *out);

enum view_id shell_view(const struct shell *shell);
/* True while keys are text: the keymap then translates to REQ_CHAR, REQ_ERASE, ... */
bool shell_typing(const struct shell *shell, const struct state *s);
/* True while a menu is open: it gets the keys, see keymap_menu(). */
bool shell_menu(const struct shell *shell);
/* The key whose hint is at (x, y) of the last frame, which is on c; 0: none. */
uint32_t shell_key_at(const struct shell *shell, const struct canvas *c, const struct state *s,
		      int x, int y);
void shell_goto(struct shell *shell, enum view_id view);
/* From its first step on, below the view; Esc ends it. */
void shell_tour_begin(struct shell *shell);
/* What the views share: units, palette, selection; borrowed. */
struct context *shell_context(struct shell *shell);
/* The table in view and what it is of; NULL: none. */
struct table *shell_table(struct shell *shell, const struct table_ops **ops);
/* The same, its rows up to date with the state. */
struct table *shell_table_of(struct shell *shell, const struct state *s,
			     const struct table_ops **ops);
/* The input line at the bottom. */
const struct prompt *shell_prompt(const struct shell *shell);
/* The list of all that one may go to. */
const struct finder *shell_finder(const struct shell *shell);

/* Of the table of links, switches or jobs: the columns as for :columns, and the sort key ("-util":
 * reversed); "" the default.  false: there is no such column. */
bool shell_columns_set(struct shell *shell, enum view_id view, const char *columns);
bool shell_sort_set(struct shell *shell, enum view_id view, const char *sort);
/* The current ones; false: another table is open, such as the ports of a switch. */
bool shell_columns(const struct shell *shell, enum view_id view, char *buf, size_t len);
bool shell_sort(const struct shell *shell, enum view_id view, char *buf, size_t len);

/* Opens the prompt with an incomplete command. */
void shell_command_begin(struct shell *shell, const char *text);

/* One line to the operator, above the footer until the next key ("snapshot saved ..."). */
void shell_say(struct shell *shell, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
