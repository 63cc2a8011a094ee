/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_form: the options of the engines, one a row, edited in place. */
#ifndef VIEWS_PREVIEW_PREVIEW_FORM_H
#define VIEWS_PREVIEW_PREVIEW_FORM_H

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/request.h"
#include "views/data/state.h"
#include "views/shell/choices.h"
#include "views/shell/shell.h"

struct preview_form {
	bool open, typing;
	struct list list;
	struct entry entry;
	struct choices files; /* that a name may become */
	struct preview_options o;
};

void preview_form_open(struct preview_form *m);
void preview_form_draw(struct preview_form *m, const struct state *s, struct canvas *c,
		       struct rect r);
/* true: it was for the form, which may be closed now. */
bool preview_form_input(struct preview_form *m, struct shell *shell, const struct input *in,
			const struct state *s);
/* The form in view_preview's own part of the shell. */
struct preview_form *preview_form_of(void *own);
/* What a text names is excluded, too; with toggle it no longer is where all of it was.  -EINVAL as
 * route_limits_exclude(), also when the list gets too long. */
int preview_form_exclude(struct preview_form *m, const struct state *s, const char *text,
			 bool toggle, struct err *err);
/* What is not as preset, in a few words; "" when all is.  Returns buf. */
const char *preview_options_text(char *buf, size_t len, const struct preview_options *o);

#endif
