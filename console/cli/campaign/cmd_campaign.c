/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top campaign: "failures" in cells, by many processes and machines. */
#include "console/cli/commands.h"

#include "console/campaign/cells/campaign.h"
#include "console/campaign/cells/cell_dump.h"
#include "console/campaign/cells/submit.h"
#include "console/cli/campaign/failures_args.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS_USUAL 20
#define TASKS_MAX   100000

struct campaign_cmd {
	const char *verb, *dir, *shard_text;
	uint32_t shard, shards; /* shards 0: not said */
	unsigned tasks, threads;
	bool submit, yes, json;
	const char *cell, *out; /* which one, and the folder for it */
	/* loaded */
	char full[PATH_MAX], began[PATH_MAX]; /* the campaign's folder; where the program began */
	struct failures_args *args;
	struct campaign c;
};

enum { OPT_TASKS = 700, OPT_THREADS };

static const struct argp_option table[] = {
	{ "shard", CMDLINE_KEY(struct campaign_cmd, shard_text), "I/N", 0,
	  "run: only cells I, I+N, I+2N, ... (I from 0)", 0 },
	{ "submit", CMDLINE_KEY(struct campaign_cmd, submit), NULL, 0,
	  "run: compute one cell of each engine here, and print a script for sbatch with the time and "
	  "memory that they took",
	  0 },
	{ "yes", CMDLINE_KEY(struct campaign_cmd, yes), NULL, 0, "with --submit: submit it", 0 },
	{ "tasks", OPT_TASKS, "N", 0,
	  "run --submit, status: tasks of the array (default: 20, or one for each cell)", 0 },
	{ "threads", OPT_THREADS, "N", 0, "run: compute N cells at a time (default: all cores)", 0 },
	{ "json", CMDLINE_KEY(struct campaign_cmd, json), NULL, 0, "status: print JSON", 0 },
	{ "cell", CMDLINE_KEY(struct campaign_cmd, cell), "SEED,ENGINE,STEP", 0,
	  "dump: this damaged fabric, with the engine's tables", 0 },
	{ "output", 'o', "DIR", 0, "dump: the folder that they go into", 0 },
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct campaign_cmd, out),
	CMDLINE_FIELD(OPT_TASKS, struct campaign_cmd, tasks, "--tasks", 1, TASKS_MAX),
	CMDLINE_FIELD(OPT_THREADS, struct campaign_cmd, threads, "--threads", 1, 1024),
	{ 0 },
};

static void cmd_campaign_take_shard(struct campaign_cmd *c, const struct argp_state *state)
{
	int n = 0;

	if (c->shard_text &&
	    (sscanf(c->shard_text, "%u/%u%n", &c->shard, &c->shards, &n) != 2 || c->shard_text[n] ||
	     c->shard >= c->shards))
		argp_error(state, "--shard: '%s' is not I/N with I from 0 to N-1", c->shard_text);
	if (c->submit && c->shard_text)
		argp_error(state, "--submit and --shard cannot be used together");
	if (c->yes && !c->submit)
		argp_error(state, "--yes needs --submit");
}

static error_t cmd_campaign_take(int key, char *arg, struct argp_state *state)
{
	struct campaign_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (c->dir)
			argp_error(state, "too many arguments: one folder is needed");
		*(c->verb ? &c->dir : &c->verb) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->verb)
			argp_error(state, "one of plan, run, status, merge, report and dump is needed");
		if (!c->dir)
			argp_error(state, "%s needs a folder", c->verb);
		cmd_campaign_take_shard(c, state);
		if (!strcmp(c->verb, "dump") ? !c->cell || !c->out : c->cell || c->out)
			argp_error(state, "dump, and nothing else, needs --cell and --output");
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, state);
	}
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_campaign_take,
	.args_doc = "plan DIR OPTIONS OF failures...\nrun DIR\nstatus DIR\nmerge DIR\nreport DIR\ndump DIR --cell SEED,ENGINE,STEP -o OUT",
	.doc = "Computes a failure campaign (see \"failures\") in cells, one for each engine and seed, by "
	       "any number of processes and machines that see the same folder: \"plan\" writes what is "
	       "asked, with copies of the files that are named; \"run\" computes what is not there yet, "
	       "or its share of it; \"merge\" makes the lines, tables and the page of all cells, the "
	       "same bytes as \"failures\" does; \"report\" prints the tables again; "
	       "\"dump\" writes a damaged fabric with its tables into a folder for --load. A cell is a file "
	       "named after all that it depends on, written beside and renamed: \"run\" can be killed, "
	       "requeued and run twice at any moment, under SLURM, xargs -P or anything else.\v"
	       "Examples: campaign plan big --topology torus:dims=6x5x5 --engines dfsssp,nue:4; campaign "
	       "run big --submit --yes; seq 0 7 | xargs -P 8 -I I ibroute-top campaign run big --shard "
	       "I/8. Exit codes: 0 done; 1 cells are missing (status, merge), or the folder is of "
	       "something else or cannot be written; 64 bad options; 255 an input could not be read.",
};

/* --- plan --------------------------------------------------------------------------------------- */

static int cmd_campaign_copy(const char *from, const char *to, struct err *err)
{
	FILE *in = fopen(from, "re"), *out = in ? fopen(to, "we") : NULL;
	char block[65536];
	size_t n;
	int rc = 0;

	while (out && (n = fread(block, 1, sizeof(block), in)) > 0)
		if (fwrite(block, 1, n, out) != n)
			break;
	if (!in)
		rc = err_set(err, -errno, "%s cannot be read: %s", from, strerror(errno));
	else if (!out || ferror(in) || ferror(out))
		rc = err_set(err, -EIO, "%s cannot be copied to %s: %s", from, to, strerror(errno));
	if (in)
		fclose(in);
	if (out && fclose(out) && !rc)
		rc = err_set(err, -errno, "%s cannot be written: %s", to, strerror(errno));
	return rc;
}

/* A file that an argument names goes into the folder, and the argument with it; else *out is the
 * argument. */
static int cmd_campaign_keep(char **out, const char *dir, const char *arg, size_t n,
			     struct err *err)
{
	const char *name = strncmp(arg, "--", 2) ? arg : strchr(arg, '=');
	struct stat st;
	char *to;
	int rc;

	*out = xstrdup(arg);
	if (!name)
		return 0;
	name += *name == '=';
	if (!*name || stat(name, &st) || !S_ISREG(st.st_mode))
		return 0;
	to = xasprintf("%s/inputs/%zu-%s", dir, n, strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	rc = cmd_campaign_copy(name, to, err);
	free(*out);
	*out = xasprintf("%.*s%s", (int)(name - arg), arg, to + strlen(dir) + 1);
	free(to);
	return rc;
}

static int cmd_campaign_arguments(json_t **out, const char *dir, int argc, char **argv,
				  struct err *err)
{
	char *inputs = xasprintf("%s/inputs", dir);
	int rc = output_file_folder(inputs, err);

	*out = json_array();
	for (int i = 0; i < argc && !rc; i++) {
		char *kept;

		rc = cmd_campaign_keep(&kept, dir, argv[i], (size_t)i, err);
		json_array_append_new(*out, json_string(kept));
		free(kept);
	}
	free(inputs);
	return rc;
}

/* What "failures" would be called with. */
static struct failures_args *cmd_campaign_parse(char *name, const json_t *arguments, char *dir)
{
	static char output[] = "-o";
	struct failures_args *a = failures_args_new();
	size_t n = json_array_size(arguments);
	char **argv = xcalloc(n + 4, sizeof(*argv));

	argv[0] = name;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = (char *)(uintptr_t)json_string_value(json_array_get(arguments, i));
	argv[n + 1] = output;
	argv[n + 2] = dir;
	options_parse(&failures_argp, (int)n + 3, argv, a);
	free(argv);
	return a;
}

static int cmd_campaign_plan(char *name, char *dir, int argc, char **argv, struct err *err)
{
	json_t *given = json_array(), *kept = NULL;
	struct failures_args *a;
	struct campaign c;
	int rc;

	for (int i = 0; i < argc; i++)
		json_array_append_new(given, json_string(argv[i]));
	a = cmd_campaign_parse(name, given, dir); /* ends the program where they are bad */
	rc = failures_args_load(a, err);
	if (!rc) {
		campaign_init(&c, dir, &a->x);
		rc = campaign_room(&c, err) ||
				     cmd_campaign_arguments(&kept, dir, argc, argv, err) ||
				     campaign_plan(&c, kept, err)
			     ? EXIT_FINDINGS
			     : 0;
		if (!rc)
			printf("%s: %u cells, of %zu engine%s and %u seed%s\n", dir, c.n,
			       a->x.nengine, plural((uint32_t)a->x.nengine), a->x.seeds,
			       plural(a->x.seeds));
		campaign_done(&c);
	}
	json_decref(kept);
	json_decref(given);
	failures_args_free(a);
	return rc;
}

/* --- what was planned ----------------------------------------------------------------------------- */

/* The arguments name files in the folder. */
static int cmd_campaign_load(struct campaign_cmd *c, char *name, struct err *err)
{
	json_t *arguments;
	int rc;

	if (!realpath(c->dir, c->full)) {
		err_set(err, -errno, "%s: %s", c->dir, strerror(errno));
		return EXIT_UNREADABLE;
	}
	if (campaign_arguments(&arguments, c->full, err))
		return EXIT_UNREADABLE;
	if (!getcwd(c->began, sizeof(c->began)) || chdir(c->full)) {
		json_decref(arguments);
		err_set(err, -errno, "%s: %s", c->dir, strerror(errno));
		return EXIT_UNREADABLE;
	}
	c->args = cmd_campaign_parse(name, arguments, c->full);
	rc = failures_args_load(c->args, err);
	json_decref(arguments);
	if (rc)
		return rc;
	if (c->threads)
		c->args->x.threads = c->threads;
	campaign_init(&c->c, c->full, &c->args->x);
	return campaign_check(&c->c, err) ? EXIT_FINDINGS : 0;
}

static uint32_t cmd_campaign_tasks(const struct campaign_cmd *c)
{
	uint32_t usual = c->c.n < TASKS_USUAL ? c->c.n : TASKS_USUAL;

	return c->tasks ? c->tasks < c->c.n ? c->tasks : c->c.n : usual;
}

/* --- run ------------------------------------------------------------------------------------------- */

static int cmd_campaign_share(struct campaign_cmd *c, struct err *err)
{
	struct campaign_counts n;

	if (campaign_run(&n, &c->c, c->shard, c->shards ? c->shards : 1, 0, err))
		return EXIT_FINDINGS;
	printf("%u cell%s computed in %.1f CPU s, %u there before\n", n.computed, plural(n.computed),
	       n.cpu_s, n.there);
	return 0;
}

static int cmd_campaign_put_script(FILE *out, const void *what, struct err *err)
{
	const struct campaign_cmd *const *both = what;
	const struct submit *s = ((const void *const *)what)[1];

	(void)err;
	submit_script(out, s, &both[0]->c);
	return 0;
}

static int cmd_campaign_sbatch(const char *script, struct err *err)
{
	char *command = xasprintf("sbatch --parsable '%s'", script);
	int status = strchr(script, '\'') ? -1 : system(command);

	free(command);
	if (!status)
		return 0;
	err_set(err, -EIO, "sbatch failed (exit code %d): the script is %s",
		status == -1 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status), script);
	return EXIT_FINDINGS;
}

/* One cell of each engine tells what others will take. */
static int cmd_campaign_submit(struct campaign_cmd *c, struct err *err)
{
	struct submit s = { .tasks = cmd_campaign_tasks(c),
			    .threads = c->threads ? c->threads : 1 };
	const void *both[2] = { c, &s };
	struct campaign_status st;
	struct campaign_counts n;
	struct rusage use;
	char self[PATH_MAX] = "", *script;
	int rc;

	c->args->x.threads = 1;
	rc = campaign_run(&n, &c->c, 0, 1, (uint32_t)c->args->x.nengine, err);
	if (rc)
		return EXIT_FINDINGS;
	getrusage(RUSAGE_SELF, &use);
	s.cell_s = n.computed ? n.cpu_s / n.computed : 0;
	s.bytes = (uint64_t)use.ru_maxrss << 10;
	s.program = readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 ? self : "ibroute-top";
	campaign_look(&st, &c->c, s.tasks);
	s.only = st.tasks;
	script = xasprintf("%s/submit.sh", c->full);
	if (!*st.tasks)
		puts("all cells are there: 'campaign merge' is next");
	else if (output_file_write(c->yes ? script : NULL, cmd_campaign_put_script, both, err))
		rc = EXIT_FINDINGS;
	else if (c->yes)
		rc = cmd_campaign_sbatch(script, err);
	free(script);
	free(st.tasks);
	return rc;
}

static int cmd_campaign_run(struct campaign_cmd *c, struct err *err)
{
	return c->submit ? cmd_campaign_submit(c, err) : cmd_campaign_share(c, err);
}

/* --- status, merge, report --------------------------------------------------------------------------- */

static void cmd_campaign_tell_left(FILE *out, const struct campaign_cmd *c,
				   const struct campaign_status *s)
{
	fprintf(out, "%u of %u cells are missing, %u damaged; with %u tasks: --array=%s\n", s->missing,
		c->c.n, s->damaged, cmd_campaign_tasks(c), s->tasks);
}

static int cmd_campaign_status(struct campaign_cmd *c, struct err *err)
{
	struct campaign_status s;
	uint32_t left;
	int rc = 0;

	campaign_look(&s, &c->c, cmd_campaign_tasks(c));
	left = s.missing + s.damaged;
	if (c->json)
		rc = output_file_print_json(
			json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:s}", "schema", "ibroute-top/1",
				  "cells", (int)c->c.n, "there", (int)s.there, "missing",
				  (int)s.missing, "damaged", (int)s.damaged, "tasks",
				  (int)cmd_campaign_tasks(c), "array", s.tasks),
			err);
	else if (left)
		cmd_campaign_tell_left(stdout, c, &s);
	else
		printf("all %u cells are there\n", c->c.n);
	free(s.tasks);
	return rc || left ? EXIT_FINDINGS : 0;
}

static int cmd_campaign_show(const char *dir, struct err *err)
{
	char *path = xasprintf("%s/failures.txt", dir), text[4096];
	FILE *in = fopen(path, "re");
	size_t n;
	int rc = 0;

	if (!in) {
		err_set(err, -errno, "%s: %s ('campaign merge' makes it)", path, strerror(errno));
		rc = EXIT_FINDINGS;
	}
	while (in && (n = fread(text, 1, sizeof(text), in)) > 0)
		fwrite(text, 1, n, stdout);
	if (in)
		fclose(in);
	free(path);
	return rc ? rc : output_file_flush_stdout(err) ? EXIT_FINDINGS : 0;
}

static int cmd_campaign_report(struct campaign_cmd *c, struct err *err)
{
	return cmd_campaign_show(c->full, err);
}

static int cmd_campaign_merge(struct campaign_cmd *c, struct err *err)
{
	struct campaign_status s;
	int rc = 0;

	campaign_look(&s, &c->c, cmd_campaign_tasks(c));
	if (s.missing + s.damaged) {
		cmd_campaign_tell_left(stderr, c, &s);
		rc = EXIT_FINDINGS;
	}
	free(s.tasks);
	if (!rc && (campaign_merge(&c->c, err) || cmd_campaign_show(c->full, err)))
		rc = EXIT_FINDINGS;
	return rc;
}

static int cmd_campaign_dump(struct campaign_cmd *c, struct err *err)
{
	char *path = c->out[0] == '/' ? xstrdup(c->out) : xasprintf("%s/%s", c->began, c->out);
	int rc = cell_dump(path, &c->args->x, c->cell, err);

	if (!rc)
		printf("%s written; show it with: ibroute-top --load %s\n", c->cell, path);
	free(path);
	return !rc ? 0 : rc == -EINVAL ? EXIT_BAD_USAGE : EXIT_FINDINGS;
}

/* --- the command --------------------------------------------------------------------------------------- */

static const struct campaign_verb {
	const char *name;
	int (*work)(struct campaign_cmd *c, struct err *err);
} verbs[] = {
	{ "run", cmd_campaign_run },
	{ "status", cmd_campaign_status },
	{ "merge", cmd_campaign_merge },
	{ "report", cmd_campaign_report },
	{ "dump", cmd_campaign_dump },
};

static int cmd_campaign_do(struct campaign_cmd *c, char *name, struct err *err)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, c->verb)) {
			int rc = cmd_campaign_load(c, name, err);

			return rc ? rc : verbs[i].work(c, err);
		}
	err_set(err, -EINVAL, "'%s' is none of plan, run, status, merge, report and dump", c->verb);
	return EXIT_BAD_USAGE;
}

int cmd_campaign(int argc, char **argv)
{
	struct campaign_cmd c = { .verb = NULL };
	struct err err = { "" };
	int rc;

	if (argc > 2 && !strcmp(argv[1], "plan") && argv[2][0] != '-') {
		output_file_guard_signals();
		rc = cmd_campaign_plan(argv[0], argv[2], argc - 3, argv + 3, &err);
		return cmdline_end(argv[0], rc, &err);
	}
	options_parse(&argp, argc, argv, &c);
	output_file_guard_signals();
	rc = cmd_campaign_do(&c, argv[0], &err);
	if (c.c.cell)
		campaign_done(&c.c);
	if (c.args)
		failures_args_free(c.args);
	return cmdline_end(argv[0], rc, &err);
}
