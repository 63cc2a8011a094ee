/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/exclude.h"

#include "fabric/base/message/plural.h"
#include "fabric/format/site/limits_text.h"
#include "views/data/state/key_hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* --- tagged rows ----------------------------------------------------------------------------- */

static void exclude_say_all(struct context *ctx, bool out, uint32_t n, uint32_t other)
{
	const char *list = ctx->options.text[PARAM_EXCLUDE];
	char rest[64] = "";

	if (other)
		snprintf(rest, sizeof(rest), ", %u cannot be", other);
	if (out)
		context_say(ctx,
			    "%u tagged row%s excluded%s (%s: undo); the next preview (6) routes "
			    "around %s",
			    n, plural(n), rest, key_hint("exclude"), list);
	else
		context_say(ctx,
			    "%u tagged row%s no longer excluded; the next preview (6) routes "
			    "around %s",
			    n, plural(n), list[0] ? list : "nothing");
}

/* Adds them to the list; where it had them all already, they leave it. */
static int exclude_toggle_all(struct context *ctx, const struct state *s, const char *text,
			      struct err *err)
{
	char *list = ctx->options.text[PARAM_EXCLUDE], before[PATH_TEXT];
	int rc;

	memcpy(before, list, sizeof(before));
	rc = preview_options_exclude(&ctx->options, s->fabric, text, false, err);
	ctx->tagged.after[0] = '\0';
	if (rc)
		return rc;
	if (!strcmp(before, list))
		return preview_options_exclude(&ctx->options, s->fabric, text, true, err);
	snprintf(ctx->tagged.what, PATH_TEXT, "%s", text);
	memcpy(ctx->tagged.before, before, PATH_TEXT);
	memcpy(ctx->tagged.after, list, PATH_TEXT);
	return 0;
}

void exclude_all(struct context *ctx, const struct state *s, const struct route_limits *l,
		 uint32_t n, uint32_t other)
{
	char *list = ctx->options.text[PARAM_EXCLUDE];
	char *text = route_limits_exclude_text(l, s->fabric);
	struct err err;

	if (!n) {
		context_say(ctx, "no tagged row is a switch or a cable between switches");
	} else if (ctx->tagged.after[0] && !strcmp(list, ctx->tagged.after) &&
		   !strcmp(text, ctx->tagged.what)) {
		memcpy(list, ctx->tagged.before, PATH_TEXT);
		ctx->tagged.after[0] = '\0';
		exclude_say_all(ctx, false, n, other);
	} else if (exclude_toggle_all(ctx, s, text, &err)) {
		context_say(ctx, "%s", err.text);
	} else {
		exclude_say_all(ctx, ctx->tagged.after[0] != '\0', n, other);
	}
	free(text);
}
