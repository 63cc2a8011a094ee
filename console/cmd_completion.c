/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion: for bash and zsh, from the tables of options. */
#include "console/app.h"
#include "console/cmdline.h"
#include "console/commands.h"
#include "console/exits.h"
#include "console/outfile.h"
#include "engines/engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct shell {
	const char *command; /* "" the console itself */
	bool values;	     /* bash: the second round */
};

enum value { VALUE_NONE, VALUE_ANY, VALUE_FILE, VALUE_DIR, VALUE_ENGINE, VALUE_WORDS };

/* What an argument is, by the name that the table gives it. */
static enum value value_of(const struct cmdline_row *row)
{
	const char *arg = row->arg;

	if (!arg)
		return VALUE_NONE;
	if (strchr(arg, '|'))
		return strstr(arg, "FILE") ? VALUE_FILE : VALUE_WORDS;
	if (strstr(arg, "DIR"))
		return VALUE_DIR;
	if (!strcmp(arg, "FILE") || !strcmp(arg, "PATH") || !strcmp(arg, "PLAN"))
		return VALUE_FILE;
	if (row->nnames && strstr(row->name[0], "engine"))
		return VALUE_ENGINE;
	return VALUE_ANY;
}

static void engines_put(FILE *out)
{
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", all[i]->name);
}

/* "opensm|smp|file:DIR": the words, up to what is not fixed. */
static void words_put(FILE *out, const char *arg)
{
	for (; *arg; arg++)
		fputc(islower((unsigned char)*arg) || *arg == ':' ? *arg : ' ', out);
}

/* bash: " --name --name=" of one command. */
static void bash_names(const struct cmdline_row *row, void *arg)
{
	(void)arg;
	for (int i = 0; !row->heading && i < row->nnames; i++)
		printf(" --%s%s", row->name[i], row->arg && !row->arg_optional ? "=" : "");
	for (int i = 0; !row->heading && i < row->nletters; i++)
		printf(" -%c", row->letter[i]);
}

static void bash_value(const struct cmdline_row *row, void *arg)
{
	const struct shell *s = arg;
	enum value v;

	if (row->heading || row->arg_optional) /* those stand in the same word, after = */
		return;
	v = value_of(row);
	if (v == VALUE_NONE || (v == VALUE_ANY && !row->nnames))
		return;
	fputs("\t", stdout);
	for (int i = 0; i < row->nnames; i++)
		printf("%s%s:--%s", i ? "|" : "", s->command, row->name[i]);
	for (int i = 0; i < row->nletters; i++)
		printf("%s%s:-%c", i || row->nnames ? "|" : "", s->command, row->letter[i]);
	fputs(") ", stdout);
	switch (v) {
	case VALUE_FILE:
		fputs("kind=file", stdout);
		break;
	case VALUE_DIR:
		fputs("kind=dir", stdout);
		break;
	case VALUE_ENGINE:
		fputs("words='", stdout);
		engines_put(stdout);
		fputs("'", stdout);
		break;
	case VALUE_WORDS:
		fputs("words='", stdout);
		words_put(stdout, row->arg);
		fputs("'", stdout);
		break;
	default:
		fputs("kind=any", stdout);
	}
	fputs(" ;;\n", stdout);
}

static void bash_command(const struct argp *argp, void *arg)
{
	const struct shell *s = arg;

	if (s->values) {
		cmdline_each(argp, bash_value, arg);
		return;
	}
	printf("\t%s) names='", s->command[0] ? s->command : "''");
	cmdline_each(argp, bash_names, arg);
	printf(" --help --usage --version' ;;\n");
}

/* The console and all commands. */
static int each_command(describe_fn *fn, bool values)
{
	struct shell s = { "", values };
	int rc = cmdline_describe("ibroute-top", app_main, fn, &s);

	for (const struct subcommand *c = commands; !rc && c->name; c++) {
		s.command = c->name;
		rc = cmdline_describe(c->name, c->run, fn, &s);
	}
	return rc;
}

static int bash(void)
{
	int rc;

	puts("# Completion of ibroute-top for bash; made by 'ibroute-top completion bash'.\n"
	     "_ibroute_top() {\n"
	     "\tlocal cur prev command= names= words= kind= first i\n"
	     "\tCOMPREPLY=()\n"
	     "\tcur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\t# --name=value comes in three words\n"
	     "\tif [[ $cur == = ]]; then cur= ; elif [[ $prev == = ]]; then "
	     "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	     "\tfirst=${COMP_WORDS[1]}\n"
	     "\t[[ $COMP_CWORD -gt 1 && $first != -* ]] && command=$first");
	fputs("\tlocal commands='", stdout);
	for (const struct subcommand *c = commands; c->name; c++)
		printf("%s%s", c == commands ? "" : " ", c->name);
	puts("'\n\tcase $command in");
	rc = each_command(bash_command, false);
	puts("\tesac\n\tcase $command:$prev in");
	if (!rc)
		rc = each_command(bash_command, true);
	puts("\tcompletion:completion) [[ $cur == -* ]] || words='bash zsh' ;;\n"
	     "\taudit:audit) [[ $cur == -* ]] || words='verify list' ;;\n"
	     "\tesac\n"
	     "\tif [[ $kind == dir ]]; then COMPREPLY=($(compgen -d -- \"$cur\"))\n"
	     "\telif [[ $kind == any ]]; then return\n"
	     "\telif [[ $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "\telif [[ $kind != file && $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
	     "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	     "\telif [[ $kind != file && $COMP_CWORD -eq 1 ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
	     "\telse COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	     "\tfi\n"
	     "\treturn 0\n"
	     "}\n"
	     "complete -o filenames -F _ibroute_top ibroute-top");
	return rc;
}

/* Text within '...' of an _arguments spec: its brackets and colons are protected. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text == '\n' ? ' ' : *text);
	}
}

static void zsh_value(const struct cmdline_row *row)
{
	enum value v = value_of(row);

	if (v == VALUE_NONE)
		return;
	fputs(row->arg_optional ? "::" : ":", stdout);
	zsh_text(row->arg);
	putchar(':');
	switch (v) {
	case VALUE_FILE:
		fputs("_files", stdout);
		break;
	case VALUE_DIR:
		fputs("_files -/", stdout);
		break;
	case VALUE_ENGINE:
		putchar('(');
		engines_put(stdout);
		putchar(')');
		break;
	case VALUE_WORDS:
		putchar('(');
		words_put(stdout, row->arg);
		putchar(')');
		break;
	default:
		putchar(' ');
	}
}

static void zsh_option(const char *dashes, const char *name, const char *join,
		       const struct cmdline_row *row)
{
	printf(" \\\n\t\t'*%s", dashes);
	fputs(name, stdout);
	fputs(row->arg ? join : "", stdout);
	putchar('[');
	zsh_text(row->doc ? row->doc : "");
	putchar(']');
	zsh_value(row);
	putchar('\'');
}

static void zsh_row(const struct cmdline_row *row, void *arg)
{
	(void)arg;
	for (int i = 0; !row->heading && i < row->nnames; i++)
		zsh_option("--", row->name[i], row->arg_optional ? "=-" : "=", row);
	for (int i = 0; !row->heading && i < row->nletters; i++) {
		char letter[2] = { row->letter[i], '\0' };

		zsh_option("-", letter, "+", row);
	}
}

static void zsh_command(const struct argp *argp, void *arg)
{
	const struct shell *s = arg;

	printf("\t%s) _arguments -s", s->command[0] ? s->command : "''");
	cmdline_each(argp, zsh_row, arg);
	puts(" \\\n\t\t'(- *)--help[all options]' '--usage[short usage]' "
	     "'(- *)--version[version]' '*:file:_files' ;;");
}

static int zsh(void)
{
	int rc;

	puts("#compdef ibroute-top\n"
	     "# Completion of ibroute-top for zsh; made by 'ibroute-top completion zsh'.\n"
	     "_ibroute_top() {\n"
	     "\tlocal command=\n"
	     "\tlocal -a list\n"
	     "\tlist=(");
	for (const struct subcommand *c = commands; c->name; c++) {
		printf("\t\t'%s:", c->name);
		zsh_text(c->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command list; return; fi\n"
	     "\tif [[ $words[2] != -* ]]; then command=$words[2]; shift words; (( CURRENT-- )); fi\n"
	     "\tcase $command in");
	rc = each_command(zsh_command, false);
	puts("\tesac\n}\n_ibroute_top \"$@\"");
	return rc;
}

static error_t take(int key, char *text, struct argp_state *s)
{
	const char **which = s->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*which || (strcmp(text, "bash") != 0 && strcmp(text, "zsh") != 0))
			argp_error(s, "the shell is bash or zsh, not \"%s\"", text);
		*which = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(s, "for which shell: bash or zsh?");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_completion(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = take,
		.args_doc = "bash|zsh",
		.doc = "Prints what lets the shell complete the commands, options and values of "
		       "this program: source <(ibroute-top completion bash)",
	};
	const char *which = NULL;
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &which);
	rc = strcmp(which, "zsh") ? bash() : zsh();
	if (!rc)
		rc = outfile_flush_stdout(&err);
	else
		err_set(&err, rc, "the options cannot be told: %s", strerror(-rc));
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}
