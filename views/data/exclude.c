/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/exclude.h"

#include "fabric/format/site/limits_text.h"

#include <stdlib.h>
#include <strings.h>

static void exclude_say(struct context *ctx)
{
	if (ctx->options.text[PARAM_EXCLUDE][0])
		context_say(ctx, "the next preview (6) routes around %s",
			    ctx->options.text[PARAM_EXCLUDE]);
	else
		context_say(ctx, "the exclude list is empty: the next preview (6) routes around "
				 "nothing");
}

static void exclude_choose(struct context *ctx, const struct state *s, const char *text,
			   bool toggle)
{
	struct err err;

	if (!s->fabric)
		context_say(ctx, "no fabric yet");
	else if (preview_options_exclude(&ctx->options, s->fabric, text, toggle, &err))
		context_say(ctx, "%s", err.text);
	else
		exclude_say(ctx);
}

void exclude_named(struct context *ctx, const struct state *s, const char *text)
{
	if (strcasecmp(text, "none") != 0) {
		exclude_choose(ctx, s, text, false);
		return;
	}
	ctx->options.text[PARAM_EXCLUDE][0] = '\0';
	exclude_say(ctx);
}

static void exclude_toggle(struct context *ctx, const struct state *s, uint32_t sw, uint32_t chan)
{
	struct route_limits *l = route_limits_new(s->fabric);
	char *text;

	route_limits_add(l, s->fabric, sw, chan);
	text = route_limits_exclude_text(l, s->fabric);
	exclude_choose(ctx, s, text, true);
	free(text);
	route_limits_free(l);
}

void exclude_switch(struct context *ctx, const struct state *s, uint32_t sw)
{
	exclude_toggle(ctx, s, sw, FAB_NONE);
}

void exclude_cable(struct context *ctx, const struct state *s, uint32_t chan)
{
	exclude_toggle(ctx, s, FAB_NONE, chan);
}
