/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames onto the screen, keys from it. */
#include "console/app/app_priv.h"

#include "fabric/base/time/clock.h"
#include "views/data/state/key_hint.h"

#include <stdio.h>

void app_resize(struct app *a)
{
	bool changed;
	int w, h;

	if (!a->term)
		return;
	terminal_size(a->term, &w, &h);
	if (a->canvas && a->canvas->w == w && a->canvas->h == h)
		return;
	changed = a->canvas != NULL;
	canvas_free(a->canvas);
	a->canvas = canvas_new(w, h, terminal_ascii(a->term));
	if (changed)
		app_record_resize(a);
	a->dirty = true;
}

/* For what has come since the last frame. */
static void app_screen_ring(struct app *a)
{
	uint64_t warned;

	pthread_mutex_lock(&a->events_lock);
	warned = a->warned;
	pthread_mutex_unlock(&a->events_lock);
	if (warned == a->rung)
		return;
	a->rung = warned;
	if (a->opts.bell && a->fabrics.away)
		app_fabrics_ring(a);
	else if (a->opts.bell)
		app_bell(a);
}

void app_draw(struct app *a)
{
	if (a->lent)
		return;
	app_resize(a);
	if (!a->canvas)
		return;
	app_refresh(a);
	pthread_mutex_lock(&a->events_lock);
	shell_draw(a->shell, a->canvas, app_shown(a));
	pthread_mutex_unlock(&a->events_lock);
	if (a->term && !a->fabrics.away)
		terminal_show(a->term, a->canvas);
	app_screen_ring(a);
	if (!a->fabrics.away)
		app_record_screen(a);
	app_fabrics_judge(a);
	a->dirty = false;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* A text from elsewhere is no row of commands: it goes where something is being typed, and
 * without its ends of lines, which would answer a question that was not read. */
static bool app_screen_is_for_typing(struct app *a, uint32_t key)
{
	bool typing;

	pthread_mutex_lock(&a->events_lock);
	typing = shell_typing(a->shell, app_shown(a));
	pthread_mutex_unlock(&a->events_lock);
	if (!typing)
		shell_say(a->shell, "paste ignored: open a prompt first (: or /)");
	return typing && key >= ' ' && key < K_UP && key != K_BACKSPACE;
}

static void app_screen_say_no_meaning(struct app *a, uint32_t key)
{
	char name[8] = "Tab";

	if (key > ' ' && key < 0x7f)
		snprintf(name, sizeof(name), "%c", (char)key);
	else if (key >= K_F1 && key <= K_F10)
		snprintf(name, sizeof(name), "F%u", key - K_F1 + 1);
	else if (key != K_TAB)
		return;
	shell_say(a->shell, "%s does nothing in this view; %s lists its keys", name,
		  key_hint("help"));
}

/* True: it has ended something that somebody waits for. */
static bool app_screen_escape(struct app *a)
{
	if (app_files_stop(a))
		return true;
	if (a->state.poll.sweep_asked)
		feed_end_sweep(a->feed);
	return a->state.poll.sweep_asked;
}

/* True: the key was an answer, and is nothing else. */
static bool app_screen_answer(struct app *a, uint32_t key)
{
	void (*yes)(struct app * a) = a->asked_for;

	a->asked_for = NULL;
	if (yes && key == 'Y')
		yes(a);
	else if (yes && !a->asked_lightly)
		shell_say(a->shell, "no: everything stays as it is");
	return yes && (key == 'Y' || !a->asked_lightly);
}

void app_key(struct app *a, uint32_t key)
{
	struct request r = { .type = REQ_NONE };
	const struct state *shown;
	struct input in;
	uint32_t hint;

	if (key == K_EOF) {
		a->quit = true;
		return;
	}
	if (key == K_RESIZE) {
		app_resize(a);
		return;
	}
	if (a->term && terminal_pasting(a->term) && !app_screen_is_for_typing(a, key))
		return;
	a->keys++;
	a->last_key = key;
	if (app_screen_answer(a, key))
		return;
	pthread_mutex_lock(&a->events_lock);
	shown = app_shown(a);
	if (a->term)
		terminal_mouse(a->term, &a->mouse_x, &a->mouse_y);
	if (key == K_CLICK) {
		hint = shell_key_at(a->shell, a->canvas, shown, a->mouse_x, a->mouse_y);
		key = hint ? hint : key;
	}
	if (shell_menu(a->shell) && !shell_typing(a->shell, shown))
		keymap_menu(&in, key);
	else
		keymap_translate(&in, key, shell_view(a->shell), shell_typing(a->shell, shown),
				 shown->rw);
	in.x = a->mouse_x;
	in.y = a->mouse_y;
	if (key == K_ESC && !shell_typing(a->shell, shown) && !shell_menu(a->shell) &&
	    app_screen_escape(a)) {
		pthread_mutex_unlock(&a->events_lock);
		return;
	}
	shell_input(a->shell, &in, shown, &r);
	if (!in.req && !shell_context(a->shell)->note[0])
		app_screen_say_no_meaning(a, key);
	pthread_mutex_unlock(&a->events_lock);
	app_act(a, &r);
}
