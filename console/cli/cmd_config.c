/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config: what the configuration files say, and whether they can be read. */
#include "console/app/terminal/key_choice.h"
#include "console/cli/commands.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "fabric/version.h"

#include <argp.h>
#include <string.h>

struct config_opts {
	const char *what, *file, *profile;
};

static const struct argp_option rows[] = {
	{ "config", OPT_CONFIG_FILE, "FILE", 0, "this file instead of the default ones", 0 },
	{ NULL, 'f', NULL, OPTION_ALIAS, NULL, 0 },
	{ "fabric", 'F', "NAME", 0, "include the section of this fabric", 0 },
	{ "profile", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_CONFIG_FILE, struct config_opts, file),
	CMDLINE_FIELD('f', struct config_opts, file),
	CMDLINE_FIELD('F', struct config_opts, profile),
	{ 0 },
};

static error_t cmd_config_parse(int key, char *arg, struct argp_state *s)
{
	struct config_opts *o = s->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->what || (strcmp(arg, "show") != 0 && strcmp(arg, "check") != 0 &&
				strcmp(arg, "sample") != 0))
			argp_error(s, "'%s': unknown, show, check or sample is needed", arg);
		o->what = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->what)
			argp_error(s, "show, check or sample is needed");
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

/* A file that changes nothing, with a line for each setting. */
static void cmd_config_sample(FILE *out)
{
	const char *name, *option, *default_value, *help;

	fprintf(out,
		"# Settings of ibroute-top, for the console and its commands: " IBROUTE_ETC
		"/config, or\n# ~/.config/ibroute-top/config. Without its # a line holds. What they mean "
		"is in ibroute-top(1), which\n# of them are in force, and from where, says "
		"\"ibroute-top config show\". Keys (key.NAME) are there, too.\n");
	for (size_t i = 0; (name = config_setting(i, &option, &default_value, &help)); i++) {
		if (!strncmp(name, KEY_SETTING, sizeof(KEY_SETTING) - 1))
			continue;
		fprintf(out, "\n# %s%s\n#%s =%s%s\n", option ? "as option " : "",
			option ? option : help, name, *default_value ? " " : "", default_value);
	}
	fprintf(out,
		"\n# Lines below a name are for --profile NAME, and for the fabric of that name:\n"
		"#[fabric NAME]\n");
}

int cmd_config(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_config_parse,
		.args_doc = "show|check|sample",
		.doc = "Settings of the configuration files: show prints each setting and its "
		       "source, check only verifies the files, sample prints a file with all of "
		       "them as comments.\vFiles: "
		       "/etc/infiniband-diags/ibdiag.conf, " IBROUTE_ETC "/config, "
		       "~/.config/ibroute-top/config. Exit codes: 0 ok; 1 check found an error in "
		       "a file; 64 bad options, or an error in a file (other commands).",
	};
	struct config_opts o = { 0 };
	struct config *c;
	struct err err;

	if (cmdline_parse(&argp, argc, argv, &o))
		return EXIT_BAD_USAGE;
	if (!strcmp(o.what, "sample")) {
		cmd_config_sample(stdout);
		return 0;
	}
	if (config_read(&c, o.file, o.profile, &err)) {
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
		return strcmp(o.what, "check") ? EXIT_BAD_USAGE : EXIT_FINDINGS;
	}
	if (!strcmp(o.what, "show"))
		config_show(c, stdout);
	else
		printf("the configuration is valid\n");
	config_free(c);
	return 0;
}
