/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_form: the options of the engines, one a row, edited in place. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/choices.h"
#include "views/canvas/list.h"
#include "views/data/context.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

struct preview_form {
	bool open, typing;
	struct list list;
	struct entry entry;
	struct choices files; /* that a name may become */
};

void preview_form_open(struct preview_form *m);
/* engine: whose results with other values are shown: index in state.preview.engines. */
void preview_form_draw(struct preview_form *m, struct context *ctx, const struct state *s,
		       struct canvas *c, struct rect r, uint32_t engine);
/* true: it was for the form, which may be closed now. */
bool preview_form_input(struct preview_form *m, struct context *ctx, const struct input *in,
			const struct state *s, uint32_t engine, struct request *out);
