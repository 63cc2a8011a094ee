/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void context_init(struct context *ctx, const struct binding *bindings, size_t n)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->bindings = bindings;
	ctx->nbindings = n;
	ctx->view = VIEW_OVERVIEW;
	ctx->chan = ctx->sw = ctx->row.sw = ctx->path.src = FAB_NONE;
	param_defaults(&ctx->options.params);
}

void context_done(struct context *ctx)
{
	fabric_summary_done(&ctx->summary);
	job_highlight_done(&ctx->job);
	tags_done(&ctx->tags);
}

void context_update(struct context *ctx, const struct state *s)
{
	const struct fabric *f = s->fabric;

	fabric_summary_update(&ctx->summary, s);
	job_highlight_update(&ctx->job, s);
	tags_update(&ctx->tags, f);
	if (ctx->chan != FAB_NONE && (!f || ctx->chan >= f->nchan))
		ctx->chan = FAB_NONE;
	if (ctx->sw != FAB_NONE && (!f || ctx->sw >= f->nsw))
		ctx->sw = FAB_NONE;
	if (ctx->path.src != FAB_NONE && (!f || ctx->path.src >= f->nend + f->nsw))
		ctx->path.src = FAB_NONE;
	if (ctx->path.dlid && (!f || fabric_lid_end(f, ctx->path.dlid) == FAB_NONE))
		ctx->path.dlid = 0;
}

void context_say(struct context *ctx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctx->note, sizeof(ctx->note), fmt, ap);
	va_end(ap);
}

static void context_add_to_trail(struct context *ctx, bool followed)
{
	if (ctx->ntrail == CONTEXT_TRAIL) {
		memmove(ctx->trail, ctx->trail + 1, (CONTEXT_TRAIL - 1) * sizeof(ctx->trail[0]));
		memmove(ctx->followed, ctx->followed + 1, CONTEXT_TRAIL - 1);
		ctx->ntrail--;
	}
	ctx->followed[ctx->ntrail] = followed;
	ctx->trail[ctx->ntrail++] = ctx->view;
}

static void context_go(struct context *ctx, enum view_id view, bool followed)
{
	if ((unsigned)view >= VIEW_COUNT || view == ctx->view)
		return;
	context_add_to_trail(ctx, followed);
	ctx->view = view;
}

void context_goto(struct context *ctx, enum view_id view)
{
	context_go(ctx, view, true);
}

void context_choose(struct context *ctx, enum view_id view)
{
	context_go(ctx, view, false);
}

void context_back(struct context *ctx)
{
	ctx->view = context_from(ctx);
	if (ctx->ntrail)
		ctx->ntrail--;
}

enum view_id context_from(const struct context *ctx)
{
	return ctx->ntrail ? ctx->trail[ctx->ntrail - 1] : VIEW_OVERVIEW;
}

bool context_followed(const struct context *ctx)
{
	return ctx->ntrail && ctx->followed[ctx->ntrail - 1];
}

void context_set_units(struct context *ctx, bool bits)
{
	ctx->bits = bits;
	context_say(ctx, "rates in %s", bits ? "Gb/s" : "GB/s");
}

void context_set_palette(struct context *ctx, enum palette palette)
{
	ctx->palette = palette;
	context_say(ctx, "palette: %s", palette_name(palette));
}

bool context_choose_metric(struct context *ctx, const struct input *in)
{
	enum history_metric m = (ctx->metric + 1) % HISTORY_METRICS;

	if (in->text && in->text[0])
		m = history_metric_find(in->text);
	if (m == HISTORY_METRICS) {
		context_say(ctx, "no history of '%s': choose util, wait or errors", in->text);
		return false;
	}
	ctx->metric = m;
	context_say(ctx, "history (sparklines) now shows %s", history_metric_name(m));
	return true;
}

void context_select_job(struct context *ctx, uint64_t id)
{
	job_highlight_set(&ctx->job, id);
}

uint32_t context_job_routes(const struct context *ctx, uint32_t chan)
{
	return ctx->job.known && chan < ctx->job.nchan ? ctx->job.routes[chan] : 0;
}

bool context_dims(const struct context *ctx, uint32_t chan)
{
	return ctx->job.known && !context_job_routes(ctx, chan);
}
