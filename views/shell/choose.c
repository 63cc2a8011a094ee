/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/choose.h"

#include "fabric/model/topology/end_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "leaf17/33": the switch, and its port. */
static bool choose_switch_port(uint32_t *end, uint8_t *port, const struct fabric *f,
			       const char *name)
{
	const char *slash = strrchr(name, '/');
	char own[PATH_TEXT], *rest;
	unsigned long number;
	uint16_t lid;

	if (!slash || slash - name >= PATH_TEXT || slash[1] < '1' || slash[1] > '9')
		return false;
	number = strtoul(slash + 1, &rest, 10);
	snprintf(own, sizeof(own), "%.*s", (int)(slash - name), name);
	if (*rest || end_find(end, &lid, f, own, NULL) || *end < f->nend ||
	    number > f->sw_nports[*end - f->nend])
		return false;
	*port = (uint8_t)number;
	return true;
}

bool choose_node(uint8_t *port, struct context *ctx, const char *name, const struct state *s)
{
	struct err err;
	uint32_t end;
	uint16_t lid;

	*port = 0;
	if (!s->fabric) {
		context_say(ctx, "no fabric yet");
		return false;
	}
	if (end_find(&end, &lid, s->fabric, name, &err) &&
	    !choose_switch_port(&end, port, s->fabric, name)) {
		context_say(ctx, "%s", err.text);
		return false;
	}
	ctx->sw = end >= s->fabric->nend ? end - s->fabric->nend : s->fabric->term_sw[end];
	context_goto(ctx, VIEW_SWITCHES);
	return true;
}

void choose_job(struct context *ctx, const char *text, const struct state *s)
{
	uint64_t id;

	if (!text[0]) {
		context_select_job(ctx, 0);
		context_say(ctx, "no job is highlighted");
		return;
	}
	if (!jobset_id_find(&id, s->jobs, text)) {
		context_say(ctx, "no job '%s'", text);
		return;
	}
	context_select_job(ctx, id);
	context_say(ctx, "job %s is highlighted", text);
}

void choose_path(struct context *ctx, const char *text, const struct state *s)
{
	struct path_ends ends;
	char a[PATH_TEXT], b[PATH_TEXT], more[2];
	struct err err;
	uint16_t lid;
	uint32_t dst;

	if (sscanf(text, "%127s %127s %1s", a, b, more) != 2) {
		context_say(ctx, "path A B: two nodes, by name, LID or GUID");
		return;
	}
	if (!s->fabric) {
		context_say(ctx, "no fabric yet");
		return;
	}
	if (end_find(&ends.src, &lid, s->fabric, a, &err) ||
	    end_find(&dst, &ends.dlid, s->fabric, b, &err)) {
		context_say(ctx, "%s", err.text);
		return;
	}
	ctx->path = ends;
	context_goto(ctx, VIEW_PATHS);
}

void choose_palette(struct context *ctx, const char *name)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		if (!strncasecmp(palette_name((enum palette)i), name, strlen(name))) {
			context_set_palette(ctx, (enum palette)i);
			return;
		}
	context_say(ctx, "no palette '%s': Tab lists them", name);
}

void choose_units(struct context *ctx, const char *name)
{
	if (!strcasecmp(name, "bits") || !strcasecmp(name, "bytes"))
		context_set_units(ctx, !strcasecmp(name, "bits"));
	else
		context_say(ctx, "units: bytes (GB/s) or bits (Gb/s), not '%s'", name);
}
