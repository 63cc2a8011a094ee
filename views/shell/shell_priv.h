/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shell_priv: the shell's own state, shared by its files: shell.c (views, common keys) and
 * ui_prompt.c (commands, filters, searches, and the mouse). */
#ifndef VIEWS_SHELL_SHELL_PRIV_H
#define VIEWS_SHELL_SHELL_PRIV_H

#include "views/canvas/view.h"
#include "views/data/job_highlight.h"
#include "views/shell/prompt.h"
#include "views/shell/settings_menu.h"
#include "views/shell/shell.h"
#include "views/shell/tags.h"
#include "views/table/column_menu.h"
#include "views/table/sort_menu.h"
#include "views/table/table.h"

#define TRAIL 8

struct shell {
	const struct binding *bindings;
	size_t nbindings;
	enum view_id view;
	enum view_id trail[TRAIL]; /* where Esc leads back to */
	uint32_t ntrail;
	void *own[VIEW_COUNT];
	struct fabric_summary survey;
	bool bits;
	enum palette palette;
	enum history_metric past;
	bool compare;
	uint32_t chan, sw;
	struct job_highlight focus;
	struct tags marks;
	struct path_ends path;
	char note[256];
	struct prompt prompt;
	struct sort_menu sort;
	struct column_menu columns;
	struct settings_menu settings;
	int w, h; /* of the canvas drawn last */
};

/* One request, wherever it comes from. */
void shell_do(struct shell *shell, const struct input *in, const struct state *s,
	      struct request *out);

/* The table in view and what it is of; NULL: none. */
struct table *shell_table(struct shell *shell, const struct table_ops **ops);

/* Menus over the view, in ui_menu.c: opens one; a request while one is open (false: it is not for
 * it); draws it. */
bool shell_menu_open(struct shell *shell, const struct input *in, const struct state *s);
bool shell_menu_input(struct shell *shell, const struct input *in, const struct state *s,
		      struct request *out);
void shell_menu_draw(struct shell *shell, struct canvas *c, const struct state *s);

/* A line as typed after ':'. */
void shell_run(struct shell *shell, const char *line, const struct state *s, struct request *out);

/* Opens a line for it; false when the request opens none. */
bool shell_prompt_open(struct shell *shell, const struct input *in, const struct state *s);
void shell_prompt_input(struct shell *shell, const struct input *in, const struct state *s,
			struct request *out);
void shell_prompt_draw(struct shell *shell, struct canvas *c, const struct state *s);
/* For REQ_EXCLUDE: things by name, "none", or "" for what is under the cursor of the table. */
void shell_exclude(struct shell *shell, const struct state *s, const char *text);
/* What only a command or the mouse can ask for; false: nothing of the kind. */
bool shell_command_input(struct shell *shell, const struct input *in, const struct state *s,
			 struct request *out);

#endif
