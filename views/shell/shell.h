/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ui: all views together with where the operator is in each of them.
 *
 * The application's loop is: ui_draw() when something changed; for a key,
 * keymap_translate() with ui_view() and ui_typing(), ui_input(), then act on the request.
 */
#ifndef VIEWS_SHELL_SHELL_H
#define VIEWS_SHELL_SHELL_H

#include "views/canvas/canvas.h"
#include "views/data/request.h"
#include "views/data/state.h"

struct ui;

/* The bindings (the keymap) are borrowed. */
struct ui *ui_new(const struct binding *bindings, size_t n);
void ui_free(struct ui *ui); /* NULL is fine */

/* Draws a whole frame.  s is only read; caches inside ui follow the pointers in it. */
void ui_draw(struct ui *ui, struct canvas *c, const struct state *s);

/* Handles one key; out->type is REQ_NONE when nothing is left to do but to draw again. */
void ui_input(struct ui *ui, const struct input *in, const struct state *s, struct request *out);

enum view_id ui_view(const struct ui *ui);
/* True while keys are text: the keymap then translates to REQ_CHAR, REQ_ERASE, ... */
bool ui_typing(const struct ui *ui, const struct state *s);
/* True while a menu lies over the view: keys go to it, as keymap_menu() has them. */
bool ui_menu(const struct ui *ui);
/* The key whose hint at the bottom of the frame drawn last is there; 0: none. */
uint32_t ui_key_at(const struct ui *ui, const struct state *s, int x, int y);
void ui_goto(struct ui *ui, enum view_id view);	   /* views not in this version: stays, says so */
void ui_select_chan(struct ui *ui, uint32_t chan); /* cursor of heatmap and links */

/* How figures and levels are shown; both say so in a line to the operator. */
void ui_bits_set(struct ui *ui, bool bits); /* rates in Gb/s instead of GB/s */
void ui_palette_set(struct ui *ui, enum palette palette);

/* Of the table of links, of switches or of jobs: columns as :columns takes them, and what it is
 * sorted by ("-util": the other way round); "" as usual.  false: it has no such. */
bool ui_columns_set(struct ui *ui, enum view_id view, const char *columns);
bool ui_sort_set(struct ui *ui, enum view_id view, const char *sort);
/* The same as they are now; false: another table is there now, as the ports of a switch. */
bool ui_columns(const struct ui *ui, enum view_id view, char *buf, size_t len);
bool ui_sort(const struct ui *ui, enum view_id view, char *buf, size_t len);

/* Opens the command line with a command begun: keys go there until Enter or Esc. */
void ui_command_begin(struct ui *ui, const char *text);

/* One line to the operator, above the footer until the next key ("snapshot saved ..."). */
void ui_say(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
