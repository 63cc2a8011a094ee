/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --screen: a view as text, after commands that are typed as an operator would. */
#include "console/batch/batch_record.h"

#include "console/app/app_priv.h"
#include "console/app/terminal/keymap.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void batch_screen_export(struct app *a, const struct canvas *c, const struct request *r)
{
	if (!a->export_failed.text[0])
		app_export_now(a, c, r->text, r->type == REQ_EXPORT_OVER, stderr,
			       &a->export_failed);
}

/* A moment that a collector keeps takes a while, in which threads have to be able to log. */
static void batch_screen_await(struct app *a)
{
	struct err err = { "" };

	pthread_mutex_unlock(&a->events_lock);
	if (app_collector_past_wait(a, &err))
		shell_say(a->shell, "%s", err.text);
	pthread_mutex_lock(&a->events_lock);
}

/* Of the requests for the application only those for the history and for files are handled. */
static void batch_screen_press(struct app *a, const struct canvas *c, uint32_t key)
{
	struct request r = { .type = REQ_NONE };
	struct input in;

	keymap_translate(&in, key, shell_view(a->shell), shell_typing(a->shell, app_shown(a)),
			 false);
	shell_input(a->shell, &in, app_shown(a), &r);
	if (r.type == REQ_EXPORT || r.type == REQ_EXPORT_OVER)
		batch_screen_export(a, c, &r);
	else if (r.type == REQ_AGAINST)
		app_against_set(a, r.text);
	else
		app_history_act(a, &r);
	batch_screen_await(a);
}

static void batch_screen_type_commands(struct app *a, struct canvas *c, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ";");

		while (n && *text == ' ') {
			text++;
			n--;
		}
		batch_screen_press(a, c, ':');
		for (size_t i = 0; i < n; i++)
			batch_screen_press(a, c, (unsigned char)text[i]);
		batch_screen_press(a, c, K_ENTER);
		shell_draw(a->shell, c, app_shown(a)); /* for the next one */
		text += n;
		text += *text == ';';
	}
}

void batch_screen(FILE *out, struct app *a, const struct batch_opts *o)
{
	bool ascii = a->opts.ascii;
	char *text, saved[SAVED_NAME + 8];
	struct canvas *c;

	setlocale(LC_CTYPE, "");
	ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	c = canvas_new((int)o->screen_w, (int)o->screen_h, ascii);
	shell_goto(a->shell, o->screen);
	if (o->screen == VIEW_WEAK)
		app_weak_opened(a);
	if (o->screen == VIEW_APPLY)
		app_updates_read(a);
	shell_draw(a->shell, c, app_shown(a)); /* views take over the state when they draw */
	app_saved_read_now(a);		       /* for :view NAME */
	if (o->saved.view.name[0]) {
		snprintf(saved, sizeof(saved), "view %s", o->saved.view.name);
		batch_screen_type_commands(a, c, saved);
	}
	if (o->commands)
		batch_screen_type_commands(a, c, o->commands);
	shell_draw(a->shell, c, app_shown(a));
	text = canvas_dump(c);
	fputs(text, out);
	free(text);
	canvas_free(c);
}
