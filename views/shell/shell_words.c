/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "fabric/base/memory/mem.h"
#include "views/frame/tabs.h"
#include "views/prompt/command.h"

#include <string.h>

typedef VEC(struct finder_word) shell_words;

static void shell_words_add(shell_words *w, enum finder_kind kind, const char *name,
			    const char *about)
{
	if (name)
		vec_push(w, ((struct finder_word){ kind, xstrdup(name), xstrdup(about), 0 }));
}

static void shell_words_add_notes(shell_words *w, const struct row_notes *all)
{
	static const char *const on[NOTE_KINDS] = { "on a link", "on a switch", "on a host",
						    "on a job", "on a moment" };

	for (size_t i = 0; all && i < all->list.n; i++) {
		const struct row_note *n = &all->list.v[i];

		shell_words_add(w, FINDER_NOTE, n->text, on[n->on.kind]);
		w->v[w->n - 1].at = (uint32_t)i;
	}
}

void shell_words_open(struct shell *shell, const struct state *s, const char *text)
{
	const struct command *c;
	shell_words w = { 0 };
	char about[300];
	size_t n;

	for (int i = VIEW_OVERVIEW; i <= VIEW_COUNT; i++) {
		enum view_id v = (enum view_id)(i % VIEW_COUNT);

		shell_words_add(&w, FINDER_VIEW, command_view_name(v), tab_title(v));
	}
	c = command_all(&n);
	for (size_t i = 0; i < n; i++)
		if (c[i].req != REQ_VIEW || c[i].arg == ARG_VIEW ||
		    strcmp(c[i].name, command_view_name(c[i].view)) != 0)
			shell_words_add(&w, FINDER_COMMAND, c[i].name, c[i].help);
	for (uint32_t i = 0; s->saved_views && i < s->saved_views->n; i++)
		shell_words_add(&w, FINDER_SAVED, s->saved_views->view[i].name,
				saved_view_text(about, sizeof(about), &s->saved_views->view[i]));
	for (size_t i = 0; s->bookmarks && s->bookmarks[i]; i++)
		shell_words_add(&w, FINDER_BOOKMARK, s->bookmarks[i], "a moment of the history");
	shell_words_add_notes(&w, s->row_notes);
	finder_open(&shell->finder, &shell->ctx, s, w.v, (uint32_t)w.n, text);
}
