/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/app_kit.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/watchdog/supervisor.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An update starts this program again as its watchdog (supervisor.h): before main(), so that no test
 * begins again in there. */
__attribute__((constructor)) static void app_kit_watchdog(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], GUARD_ARG))
		exit(watchdog_main(argc - 1, argv + 1));
}

struct app *app_kit_begin(const struct app_opts *o, int w, int h)
{
	struct app *a = xcalloc(1, sizeof(*a));
	struct err err = { "" };

	setenv("TZ", "UTC", 1);
	a->headless = true;
	a->opts = *o;
	if (!o->live.record_dir)
		a->opts.live.record_dir = "/nonexistent"; /* nothing is recorded */
	app_prepare(a);
	app_kit_size(a, w, h);
	if ((!o->live.record_dir || !app_record_start(a, &err)) && !app_start(a, &err))
		return a;
	fprintf(stderr, "%s\n", err.text);
	app_end(a);
	return NULL;
}

struct app *app_kit_open_opts(const struct app_opts *o, int w, int h)
{
	struct app *a = app_kit_begin(o, w, h);

	while (a && app_files_waited(a))
		app_kit_run(a, 0.01);
	if (!a || !a->failed.text[0])
		return a;
	fprintf(stderr, "%s\n", a->failed.text);
	app_end(a);
	return NULL;
}

struct app *app_kit_open(const char *spec, const char *load, int w, int h)
{
	struct app_opts o = { .demo = spec != NULL,
			      .demo_spec = spec,
			      .load = load,
			      .interval_s = 0.2,
			      .jobs_interval_s = 10,
			      .params.seed = 1 };

	return app_kit_open_opts(&o, w, h);
}

void app_kit_size(struct app *a, int w, int h)
{
	canvas_free(a->canvas);
	a->canvas = canvas_new(w, h, true);
}

void app_kit_run(struct app *a, double seconds)
{
	double end = clock_s() + seconds;

	do {
		struct pollfd fd = { .fd = mailbox_fd(a->box), .events = POLLIN };

		app_take_messages(a);
		if (seconds > 0)
			poll(&fd, 1, 20);
	} while (clock_s() < end);
	app_refresh(a);
}

bool app_kit_ready(struct app *a, uint32_t samples)
{
	double end = clock_s() + 240;

	while (sample_history_count(a->samples) < samples || !a->state.rates || !a->metrics ||
	       !a->state.usage) {
		if (clock_s() > end)
			return false;
		app_kit_run(a, 0.05);
	}
	return true;
}

void app_kit_keys(struct app *a, const char *keys)
{
	for (; *keys; keys++)
		app_key(a, (uint32_t)(unsigned char)*keys);
}

char *app_kit_screen(struct app *a)
{
	app_draw(a);
	return canvas_dump(a->canvas);
}
