/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal: shows a canvas and reads keys; with terminal_keys and terminal_code
 * the only module that knows curses.
 *
 * One terminal per process.  Nothing here blocks: wait for terminal_fd() with poll(), then
 * take keys until K_NONE.  The screen is restored on close, at exit and on deadly signals.
 */
#pragma once

#include "console/app/terminal/keymap.h"
#include "fabric/base/message/err.h"
#include "views/canvas/canvas.h"

#include <stdbool.h>

#define COLOURS_TRUE (1 << 24)

struct terminal;

struct terminal_opts {
	int colours; /* -1: what the terminal offers, NO_COLOR and COLORTERM respected; else 0, 16,
		      * 256, COLOURS_TRUE (or the 256 it has); where the terminal has true colours
		      * only, 256 stands for them */
	bool ascii, no_mouse;
};

/* 0, or as terminal_open() where there is none at all. */
int terminal_check(struct err *err);
/* -ENOTTY with the sentence to print before exit 64: no terminal, TERM=dumb or unknown. */
int terminal_open(struct terminal **out, const struct terminal_opts *opts, struct err *err);
void terminal_close(struct terminal *t); /* NULL is fine */

int terminal_fd(const struct terminal *t); /* readable when there may be keys */
/* Next key, or K_NONE.  A resize comes as K_RESIZE: call after SIGWINCH or EINTR too. */
uint32_t terminal_key(struct terminal *t);
/* Where the mouse was at the last of K_CLICK, K_WHEEL_*. */
void terminal_mouse(const struct terminal *t, int *x, int *y);
/* The key last taken belongs to a text that is pasted. */
bool terminal_pasting(const struct terminal *t);
void terminal_size(const struct terminal *t, int *w, int *h);
bool terminal_ascii(const struct terminal *t);	/* asked for, or the locale is not UTF-8 */
int terminal_colours(const struct terminal *t); /* COLOURS_TRUE, 256, 16, 0 */

/* Sends what differs from what was shown last. */
void terminal_show(struct terminal *t, const struct canvas *c);
/* As terminal_opts has them, changed while it is open. */
void terminal_set_mouse(struct terminal *t, bool on);
void terminal_set_ascii(struct terminal *t, bool on);
bool terminal_has_mouse(const struct terminal *t);
/* Into the clipboard of the terminal, by OSC 52.  Terminals that do not know it, or are told not to
 * take it (tmux without "set-clipboard on"), leave theirs alone, and nobody tells. */
void terminal_copy(struct terminal *t, const char *text);
void terminal_ring(struct terminal *t); /* its bell, or what it does instead */
/* The styles of roles are other ones; all is drawn again. */
void terminal_restyle(struct terminal *t);
void terminal_redraw(struct terminal *t); /* forget what was shown: all is sent next time */
/* Somebody else draws on it, and has given it back. */
void terminal_lend(struct terminal *t);
void terminal_return(struct terminal *t);
/* Another process has it until terminal_enter(): nothing is written to it, nor put right at the
 * end. */
void terminal_leave(struct terminal *t);
void terminal_enter(struct terminal *t);
void terminal_suspend(struct terminal *t); /* Ctrl-Z: stops the process; returns after fg */
