/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/cmdline.h"

#include "console/config/config.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static describe_fn *describe;
static void *describe_arg;

#define DESCRIBED   0
#define NOT_OPTIONS 1

/* --- settings of configuration files ------------------------------------------------------ */

struct has {
	const char *option; /* without dashes */
	bool found, is_fabric;
};

static void cmdline_has_row(const struct cmdline_row *row, void *arg)
{
	struct has *h = arg;
	bool here = false, fabric = false;

	for (int i = 0; i < row->nnames; i++) {
		here |= !strcmp(row->name[i], h->option);
		fabric |= !strcmp(row->name[i], "fabric");
	}
	h->found |= here;
	h->is_fabric |= here && fabric;
}

static struct has cmdline_has_option(const struct argp *argp, const char *option)
{
	struct has h = { .option = option };

	cmdline_each(argp, cmdline_has_row, &h);
	return h;
}

struct typed {
	const struct argp *argp;
	int argc;
	char **argv;
};

/* Also cut short, as getopt takes it: "--excl=spine1". */
static bool cmdline_is_typed(const struct typed *t, const char *word, const char *option)
{
	size_t n = strcspn(word, "=");
	char name[40];

	if (n < 3 || n >= sizeof(name) || strncmp(word, option, n) != 0)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	return !option[n] || !cmdline_has_option(t->argp, name + 2).found;
}

/* What was typed wins; some options may be there once only.  Those of the screen add up. */
static bool cmdline_takes(const char *option, void *arg)
{
	const struct typed *t = arg;

	for (int i = 1; i < t->argc && strcmp(option, "--set") != 0; i++)
		if (cmdline_is_typed(t, t->argv[i], option))
			return false;
	return cmdline_has_option(t->argp, option + 2).found;
}

/* Files have no port and no jobs of SLURM's. */
static bool cmdline_of_files(const struct argp *argp, int argc, char **argv)
{
	return cmdline_has_option(argp, "topology").found &&
	       config_asked(argc, argv, "--topology", 0) != NULL;
}

static void cmdline_fail(const char *name, const char *why)
{
	fprintf(stderr, "%s: %s\n", strchr(name, ' ') ? name : "ibroute-top", why);
	exit(argp_err_exit_status);
}

/* --fabric is the profile of the console; elsewhere it is the fabric's name, and its profile where
 * there is one. */
static void cmdline_with_config(const struct argp *argp, int *argc, char ***argv)
{
	struct has has = cmdline_has_option(argp, "profile");
	const char *file = config_asked(*argc, *argv, "--config", OPT_CONFIG_FILE);
	const char *profile = config_asked(*argc, *argv, "--profile", 0);
	const char *fabric = config_asked(*argc, *argv, "--fabric", 0);
	struct typed typed = { argp, *argc, *argv };
	struct err err = { "" };
	struct config *c;
	int rc;

	if (!has.found)
		return;
	if (cmdline_of_files(argp, *argc, *argv)) {
		if (file || profile)
			cmdline_fail((*argv)[0],
				     "--profile and --config need a fabric and cannot be used "
				     "with --topology");
		return;
	}
	if (!profile && has.is_fabric)
		profile = fabric;
	rc = config_read(&c, file, profile ? profile : fabric, &err);
	if (rc == -ENOENT && !profile && fabric)
		rc = config_read(&c, file, NULL, &err);
	if (rc)
		cmdline_fail((*argv)[0], err.text);
	config_argv(c, cmdline_takes, &typed, argc, argv);
	config_free(c);
}

static ssize_t cmdline_print_plain(void *unused, const char *text, size_t n)
{
	char *copy = xasprintf("%.*s", (int)n, text);
	ssize_t rc;

	(void)unused;
	rc = write(STDERR_FILENO, plain_text(copy, "\n\t"), strlen(copy));
	free(copy);
	return rc < 0 ? 0 : (ssize_t)n;
}

/* Mistakes quote words of the command line, which may have come from anywhere. */
static int cmdline_parse_plainly(const struct argp *argp, int argc, char **argv, void *input)
{
	FILE *as_it_was = stderr,
	     *plain = fopencookie(NULL, "w",
				  (cookie_io_functions_t){ .write = cmdline_print_plain });
	int rc;

	if (plain) {
		setvbuf(plain, NULL, _IOLBF, 0);
		stderr = plain;
	}
	rc = argp_parse(argp, argc, argv, 0, NULL, input);
	stderr = as_it_was;
	if (plain)
		fclose(plain);
	return rc;
}

int cmdline_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	if (!describe) {
		cmdline_with_config(argp, &argc, &argv);
		return cmdline_parse_plainly(argp, argc, argv, input);
	}
	describe(argp, describe_arg);
	fflush(NULL);
	_exit(DESCRIBED);
}

int cmdline_end(const char *name, int rc, const struct err *err)
{
	if (err->text[0])
		fprintf(stderr, "%s: %s\n", name, err->text);
	return rc;
}

void cmdline_only(const struct argp_state *s, const char *what, const char **out, const char *arg)
{
	if (*out)
		argp_error(s, "only one %s is allowed", what);
	*out = arg;
}

uint64_t cmdline_count(const struct argp_state *s, const char *what, const char *text,
		       uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || v < least || v > most)
		argp_error(s, "%s: '%s' is not a whole number from %llu to %llu", what, text,
			   (unsigned long long)least, (unsigned long long)most);
	return v;
}

double cmdline_real(const struct argp_state *s, const char *what, const char *text, double least,
		    double most)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !(v >= least && v <= most))
		argp_error(s, "%s: '%s' is not a number from %g to %g", what, text, least, most);
	return v;
}

static struct cmdline_field cmdline_field_of_key(int key)
{
	return (struct cmdline_field){ .at = (size_t)key & 0xfffff,
				       .kind = key & 0x100000 ? CMDLINE_FLAG : CMDLINE_TEXT };
}

static void cmdline_store(const struct cmdline_field *f, void *at, const char *arg,
			  const struct argp_state *s)
{
	double least = f->least, most = f->most;

	if (f->what && most <= 0)
		config_range(&least, &most, f->what);
	switch (f->kind) {
	case CMDLINE_TEXT:
		*(const char **)at = arg;
		break;
	case CMDLINE_FLAG:
		*(bool *)at = true;
		break;
	case CMDLINE_REAL:
		*(double *)at = cmdline_real(s, f->what, arg, least, most);
		break;
	case CMDLINE_U64:
		*(uint64_t *)at = cmdline_count(s, f->what, arg, (uint64_t)least, (uint64_t)most);
		break;
	case CMDLINE_INT: /* also an int, which must not be negative */
		*(uint32_t *)at =
			(f->times ? f->times : 1) *
			(uint32_t)cmdline_count(s, f->what, arg, (uint64_t)least, (uint64_t)most);
		break;
	}
}

error_t cmdline_take(const struct cmdline_field *fields, void *to, int key, const char *arg,
		     const struct argp_state *s)
{
	static const struct cmdline_field none = { 0 };
	const struct cmdline_field *f = fields ? fields : &none;
	struct cmdline_field own;

	if (key >> 22 == 1) {
		own = cmdline_field_of_key(key);
		f = &own;
	} else {
		while (f->key && f->key != key)
			f++;
		if (!f->key)
			return key == OPT_CONFIG_FILE || key == OPT_CONFIG_PROFILE
				       ? 0
				       : ARGP_ERR_UNKNOWN;
	}
	cmdline_store(f, (char *)to + f->at, arg, s);
	return 0;
}

int cmdline_describe(const char *name, int (*run)(int argc, char **argv), describe_fn *fn,
		     void *arg)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		char *argv[] = { (char *)(uintptr_t)name, NULL };

		describe = fn;
		describe_arg = arg;
		run(1, argv);
		_exit(NOT_OPTIONS);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status)); /* as SIGPIPE, when the reader is gone */
	return WIFEXITED(status) && WEXITSTATUS(status) == DESCRIBED ? 0 : -ECHILD;
}

static int cmdline_is_end(const struct argp_option *o)
{
	return !o->key && !o->name && !o->doc && !o->group;
}

static void cmdline_row_add(struct cmdline_row *row, const struct argp_option *o)
{
	if (o->flags & OPTION_HIDDEN)
		return;
	if (o->name && row->nnames < CMDLINE_NAMES)
		row->name[row->nnames++] = o->name;
	if (o->key > ' ' && o->key < 127 && row->nletters < CMDLINE_NAMES)
		row->letter[row->nletters++] = (char)o->key;
}

static void cmdline_row_put(const struct argp_option *o, cmdline_row_fn *fn, void *arg)
{
	struct cmdline_row row = { .arg = o->arg, .doc = o->doc };

	row.arg_optional = !!(o->flags & OPTION_ARG_OPTIONAL);
	cmdline_row_add(&row, o);
	for (const struct argp_option *a = o + 1; !cmdline_is_end(a) && (a->flags & OPTION_ALIAS);
	     a++)
		cmdline_row_add(&row, a);
	if (row.nnames || row.nletters)
		fn(&row, arg);
}

/* As argp counts: a row without a group of its own is in that of the row before, a heading
 * begins the next. */
static int cmdline_group_of(const struct argp_option *o, int before)
{
	return o->group ? o->group : o->name || o->key ? before : before + 1;
}

/* Rows of the first group not below *group: 0, 1, ... first, then the negative ones. */
static int cmdline_rank(int group)
{
	return group >= 0 ? group : INT16_MAX + 1 - INT16_MIN + group;
}

static int cmdline_each_of_rank(const struct argp_option *o, int want, cmdline_row_fn *fn,
				void *arg)
{
	int group = 0, next = INT32_MAX;

	for (; o && !cmdline_is_end(o); o++) {
		struct cmdline_row heading = { .heading = o->doc };
		int r;

		group = cmdline_group_of(o, group);
		r = cmdline_rank(group);
		if (r > want && r < next)
			next = r;
		if (r != want || (o->flags & (OPTION_ALIAS | OPTION_DOC)))
			continue;
		if (o->name || o->key)
			cmdline_row_put(o, fn, arg);
		else
			fn(&heading, arg);
	}
	return next;
}

void cmdline_each(const struct argp *argp, cmdline_row_fn *fn, void *arg)
{
	for (int r = 0; r < INT32_MAX;)
		r = cmdline_each_of_rank(argp->options, r, fn, arg);
	for (const struct argp_child *c = argp->children; c && c->argp; c++) {
		struct cmdline_row heading = { .heading = c->header };

		if (c->header && c->header[0])
			fn(&heading, arg);
		cmdline_each(c->argp, fn, arg);
	}
}
