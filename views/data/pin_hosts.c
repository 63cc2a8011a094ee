/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/pin_hosts.h"

#include "fabric/format/site/pin_text.h"

#include <stdlib.h>
#include <strings.h>

static void pin_hosts_say(struct context *ctx)
{
	const char *list = ctx->options.text[PARAM_PIN];

	if (list[0])
		context_say(ctx, "the next preview (6) leaves the paths to %s as they are", list);
	else
		context_say(ctx, "no host is pinned: the next preview (6) may change all paths");
}

static void pin_hosts_choose(struct context *ctx, const struct state *s, const char *text,
			     bool toggle)
{
	struct err err;

	if (!s->fabric)
		context_say(ctx, "no fabric yet");
	else if (preview_options_pin(&ctx->options, s->fabric, s->jobs, text, toggle, &err))
		context_say(ctx, "%s", err.text);
	else
		pin_hosts_say(ctx);
}

void pin_hosts_named(struct context *ctx, const struct state *s, const char *text)
{
	if (strcasecmp(text, "none") != 0) {
		pin_hosts_choose(ctx, s, text, false);
		return;
	}
	ctx->options.text[PARAM_PIN][0] = '\0';
	pin_hosts_say(ctx);
}

void pin_hosts_toggle(struct context *ctx, const struct state *s, const bool *host)
{
	char *text = pin_text_hosts(host, s->fabric);

	if (text[0])
		pin_hosts_choose(ctx, s, text, true);
	else
		context_say(ctx, "there are no hosts on it to be pinned");
	free(text);
}
