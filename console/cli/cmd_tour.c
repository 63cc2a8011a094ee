/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console over a simulated fabric whose routing is worth changing, with a tour. */
#include "console/cli/commands.h"

#include "console/app/app.h"
#include "console/app/app_opts.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/live/live_fabric.h"

#include <argp.h>

/* Its slowest job gains half and more by sar, and none starts or ends for seven minutes. */
#define TOUR_SPEC "fattree2:leaves=18,spines=18,hosts=18"
#define TOUR_SEED 463

static const struct argp_option cmd_tour_rows[] = {
	OPTION_CONFIG(1),
	{ "set", OPT_SET, "NAME=VALUE", 0, "as for the console", 1 },
	{ "ascii", CMDLINE_KEY(struct app_opts, ascii), 0, 0, "use only ASCII characters", 1 },
	{ "no-mouse", CMDLINE_KEY(struct app_opts, no_mouse), 0, 0,
	  "leave the mouse to the terminal", 1 },
	{ "theme", CMDLINE_KEY(struct app_opts, theme), "dark|light|mono|FILE", 0,
	  "colours, as for the console", 1 },
	{ "color", OPT_COLOUR, "auto|16|256|true|never", 0, "number of colours", 1 },
	OPTIONS_LIVE_DIRS(1),
	{ 0 }
};

static error_t cmd_tour_take(int key, char *arg, struct argp_state *s)
{
	/* there are no parsers below it here */
	return key == ARGP_KEY_INIT ? 0 : app_argp.parser(key, arg, s);
}

int cmd_tour(int argc, char **argv)
{
	const struct argp argp = {
		.options = cmd_tour_rows,
		.parser = cmd_tour_take,
		.doc = "A tour of the console, on a simulated fabric: what to look at, and which key "
		       "to press next, from what is wrong to another routing that is confirmed, and "
		       "what the jobs have of it.  It takes three minutes, follows what is done, and "
		       "is left by Esc.",
	};
	struct app_opts o;

	app_opts_init(&o);
	o.demo = o.tour = o.rw = true;
	o.demo_spec = TOUR_SPEC;
	o.params.seed = TOUR_SEED;
	o.interval_s = 1;
	if (cmdline_parse(&argp, argc, argv, &o))
		return EXIT_BAD_USAGE;
	return app_run(&o, NULL, NULL);
}
