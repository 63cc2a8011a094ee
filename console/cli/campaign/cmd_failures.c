/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/campaign/failures_args.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"

#include <stdio.h>
#include <stdlib.h>

static int cmd_failures_write_net(FILE *out, const void *f, struct err *err)
{
	return ibnd_write(out, f, err);
}

static int cmd_failures_dump(const struct failures_args *c, struct err *err)
{
	unsigned long long seed;
	unsigned step;
	struct damage *d;
	struct damage_state state;
	struct fabric *f = NULL;
	int n = 0, rc;

	if (sscanf(c->dump, "%llu,%u%n", &seed, &step, &n) != 2 || c->dump[n] ||
	    step >= c->x.rules.damage.nstep) {
		err_set(err, -1, "--dump: '%s' is not SEED,STEP with a step from 0 to %u", c->dump,
			c->x.rules.damage.nstep - 1);
		return EXIT_BAD_USAGE;
	}
	d = damage_new(c->x.rules.f, &c->x.rules.damage, seed);
	rc = damage_at(&f, &state, d, step, err);
	if (!rc)
		rc = output_file_write(NULL, cmd_failures_write_net, f, err);
	if (f)
		fabric_put(f);
	damage_free(d);
	return rc ? EXIT_FINDINGS : 0;
}

static int cmd_failures_show(const char *dir, struct err *err)
{
	char *path = xasprintf("%s/failures.txt", dir);
	int rc = output_file_print(path, err);

	free(path);
	if (rc)
		return EXIT_FINDINGS;
	printf("\nwritten to %s: report.html, failures.md, failures.csv, cells.jsonl\n", dir);
	return output_file_flush_stdout(err) ? EXIT_FINDINGS : 0;
}

static int cmd_failures_run(struct failures_args *a, struct err *err)
{
	int rc = failures_args_load(a, err);

	if (rc)
		return rc;
	if (a->dump)
		return cmd_failures_dump(a, err);
	return failures_run(&a->x, err) || cmd_failures_show(a->out, err) ? EXIT_FINDINGS : 0;
}

int cmd_failures(int argc, char **argv)
{
	struct failures_args *a = failures_args_new();
	struct err err = { "" };
	int rc;

	options_parse(&failures_argp, argc, argv, a);
	output_file_guard_signals();
	rc = cmd_failures_run(a, &err);
	failures_args_free(a);
	return cmdline_end(argv[0], rc, &err);
}
