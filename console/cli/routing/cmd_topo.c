/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <string.h>

struct topo_opts {
	const char *spec, *out;
	bool list;
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0, "write to FILE, which is replaced as a whole (default: stdout)",
	  0 },
	{ "list", 'l', NULL, 0, "list the types of fabric and their keys, and exit", 0 },
	{ 0 },
};

static error_t cmd_topo_take(int key, char *arg, struct argp_state *state)
{
	struct topo_opts *o = state->input;

	switch (key) {
	case 'o':
		o->out = arg;
		return 0;
	case 'l':
		o->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->spec)
			argp_error(state, "only one SPEC is allowed; unexpected argument \"%s\"",
				   arg);
		o->spec = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->spec && !o->list)
			argp_error(state, "a SPEC is needed, such as fattree2:leaves=18,spines=18,"
					  "hosts=18; --list shows all types");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void cmd_topo_print_keys(FILE *out, const struct topo_key *k)
{
	for (; k->name; k++)
		fprintf(out, "    %-11s %-11s %s\n", k->name, k->fallback ? k->fallback : "needed",
			k->what);
}

static void cmd_topo_print_types(FILE *out)
{
	size_t n;
	const struct topo_type *const *types = topo_types(&n);

	fprintf(out, "Types of fabric, with their keys, default values and meaning:\n");
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\n  %s: %s\n    for example %s\n", types[i]->name, types[i]->summary,
			types[i]->example);
		cmd_topo_print_keys(out, types[i]->keys);
	}
	fprintf(out, "\n  all types\n");
	cmd_topo_print_keys(out, topo_common_keys());
}

/* --help shows the types below the options. */
static char *cmd_topo_help(int key, const char *text, void *input)
{
	char *types;
	size_t len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&types, &len);
	if (!out)
		return NULL;
	cmd_topo_print_types(out);
	fclose(out);
	return types;
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_topo_take,
	.args_doc = "SPEC",
	.doc = "Generates a fabric and writes it in ibnetdiscover format, which ibsim reads as a "
	       "net file. SPEC is a type and its keys: TYPE:key=value,key=value,...\v",
	.help_filter = cmd_topo_help,
};

static int cmd_topo_write(FILE *out, const void *f, struct err *err)
{
	return ibnd_write(out, f, err);
}

static int cmd_topo_make(struct fabric **out, const char *spec, struct err *err)
{
	struct builder *b;
	int rc = topo_build(&b, spec, err);

	if (rc)
		return rc;
	rc = builder_freeze(out, b, NULL, err);
	builder_free(b);
	return rc;
}

int cmd_topo(int argc, char **argv)
{
	struct topo_opts o = { 0 };
	struct fabric *f = NULL;
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &o);
	if (o.list) {
		cmd_topo_print_types(stdout);
		rc = output_file_flush_stdout(&err);
	} else if (cmd_topo_make(&f, o.spec, &err)) {
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
		return EXIT_BAD_USAGE;
	} else {
		output_file_guard_signals();
		rc = output_file_write(o.out, cmd_topo_write, f, &err);
	}
	fabric_put(f);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}
