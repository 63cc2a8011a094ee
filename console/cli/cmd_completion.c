/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion: for bash and zsh, from the tables of options. */
#include "console/cli/commands.h"

#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "engines/engine.h"
#include "views/prompt/command.h"
#include "views/table/fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct programs {
	subcommand_fn *console;
	const struct subcommand *all;
};

struct shell {
	const char *command; /* "" the console itself */
	bool values;	     /* bash: the second round */
};

enum arg_kind {
	VALUE_NONE,
	VALUE_ANY,
	VALUE_FILE,
	VALUE_DIR,
	VALUE_ENGINE,
	VALUE_WORDS,
	VALUE_VIEW,
	VALUE_SCREEN,
	VALUE_FIELD,
};

static bool cmd_completion_called(const struct cmdline_row *row, const char *name)
{
	return row->nnames && !strcmp(row->name[0], name);
}

/* What an argument is, by the name that the table gives it. */
static enum arg_kind cmd_completion_value_of(const struct cmdline_row *row)
{
	const char *arg = row->arg;

	if (!arg)
		return VALUE_NONE;
	if (cmd_completion_called(row, "view"))
		return VALUE_VIEW;
	if (cmd_completion_called(row, "screen"))
		return VALUE_SCREEN;
	if (cmd_completion_called(row, "sort") || cmd_completion_called(row, "fields") ||
	    cmd_completion_called(row, "metric"))
		return VALUE_FIELD;
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

static void cmd_completion_engines_put(FILE *out)
{
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? " " : "", all[i]->name);
}

/* "opensm|smp|file:DIR": the words, up to what is not fixed. */
static void cmd_completion_words_put(FILE *out, const char *arg)
{
	for (; *arg; arg++)
		fputc(islower((unsigned char)*arg) || isdigit((unsigned char)*arg) || *arg == ':'
			      ? *arg
			      : ' ',
		      out);
}

static void cmd_completion_views_put(FILE *out)
{
	for (int k = 0; k < ROWS_FAILURES; k++)
		fprintf(out, "%s ", row_kind_name((enum row_kind)k));
	fputs("overview heatmap history", out);
}

static void cmd_completion_screens_put(FILE *out)
{
	for (int v = 0; v < VIEW_COUNT; v++)
		fprintf(out, "%s%s", v ? " " : "", command_view_name((enum view_id)v));
}

static bool cmd_completion_told_before(enum row_kind kind, const char *name)
{
	size_t n;

	for (int k = 0; k < (int)kind; k++) {
		const struct field *f = fields_of((enum row_kind)k, &n);

		for (size_t i = 0; i < n; i++)
			if (!strcmp(f[i].name, name))
				return true;
	}
	return false;
}

/* Of all kinds of rows: which of them --view asks for may stand later in the line. */
static void cmd_completion_fields_put(FILE *out)
{
	size_t n;

	for (int k = 0; k < ROWS_FAILURES; k++) {
		const struct field *f = fields_of((enum row_kind)k, &n);

		for (size_t i = 0; i < n; i++)
			if (!cmd_completion_told_before((enum row_kind)k, f[i].name))
				fprintf(out, "%s ", f[i].name);
	}
}

/* The words that a value can be; false: it is none of a few. */
static bool cmd_completion_value_put(FILE *out, enum arg_kind v, const struct cmdline_row *row)
{
	switch (v) {
	case VALUE_ENGINE:
		cmd_completion_engines_put(out);
		return true;
	case VALUE_WORDS:
		cmd_completion_words_put(out, row->arg);
		return true;
	case VALUE_VIEW:
		cmd_completion_views_put(out);
		return true;
	case VALUE_SCREEN:
		cmd_completion_screens_put(out);
		return true;
	case VALUE_FIELD:
		cmd_completion_fields_put(out);
		return true;
	default:
		return false;
	}
}

/* "verify FILE\nlist [DIRECTORY]", "show|check": the small words, with which each way to call a
 * command begins; out may be NULL.  false: there are none. */
static bool cmd_completion_actions_put(FILE *out, const struct argp *argp)
{
	const char *at = argp->args_doc ? argp->args_doc : "";
	bool any = false;

	while (*at) {
		size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz");

		if (n && strchr(" \n|", at[n])) {
			if (out)
				fprintf(out, "%s%.*s", any ? " " : "", (int)n, at);
			any = true;
		}
		at += at[n] == '|' ? n : strcspn(at, "\n");
		at += *at != '\0';
	}
	return any;
}

/* bash: " --name --name=" of one command. */
static void cmd_completion_bash_names(const struct cmdline_row *row, void *arg)
{
	(void)arg;
	for (int i = 0; !row->heading && i < row->nnames; i++)
		printf(" --%s%s", row->name[i], row->arg && !row->arg_optional ? "=" : "");
	for (int i = 0; !row->heading && i < row->nletters; i++)
		printf(" -%c", row->letter[i]);
}

static void cmd_completion_bash_value(const struct cmdline_row *row, void *arg)
{
	const struct shell *s = arg;
	enum arg_kind v;

	if (row->heading || row->arg_optional) /* those stand in the same word, after = */
		return;
	v = cmd_completion_value_of(row);
	if (v == VALUE_NONE || (v == VALUE_ANY && !row->nnames))
		return;
	fputs("\t", stdout);
	for (int i = 0; i < row->nnames; i++)
		printf("%s%s:--%s", i ? "|" : "", s->command, row->name[i]);
	for (int i = 0; i < row->nletters; i++)
		printf("%s%s:-%c", i || row->nnames ? "|" : "", s->command, row->letter[i]);
	fputs(") ", stdout);
	if (v == VALUE_FILE || v == VALUE_DIR || v == VALUE_ANY) {
		fputs(v == VALUE_FILE  ? "kind=file"
		      : v == VALUE_DIR ? "kind=dir"
				       : "kind=any",
		      stdout);
	} else {
		fputs("words='", stdout);
		cmd_completion_value_put(stdout, v, row);
		fputs("'", stdout);
	}
	fputs(" ;;\n", stdout);
}

static void cmd_completion_bash_command(const struct argp *argp, void *arg)
{
	const struct shell *s = arg;

	if (s->values) {
		cmdline_each(argp, cmd_completion_bash_value, arg);
		printf("\t%s:%s) [[ $cur == -* ]] || words='", s->command, s->command);
		cmd_completion_actions_put(stdout, argp);
		puts("' ;;");
		return;
	}
	printf("\t%s) names='", s->command[0] ? s->command : "''");
	cmdline_each(argp, cmd_completion_bash_names, arg);
	printf(" --help --usage --version' ;;\n");
}

/* The console and all commands. */
static int cmd_completion_each_command(const struct programs *p, describe_fn *fn, bool values)
{
	struct shell s = { "", values };
	int rc = cmdline_describe("ibroute-top", p->console, fn, &s);

	for (const struct subcommand *c = p->all; !rc && c->name; c++) {
		s.command = c->name;
		rc = cmdline_describe(c->name, c->run, fn, &s);
	}
	return rc;
}

static int cmd_completion_bash(const struct programs *p)
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
	for (const struct subcommand *c = p->all; c->name; c++)
		printf("%s%s", c == p->all ? "" : " ", c->name);
	puts("'\n\tcase $command in");
	rc = cmd_completion_each_command(p, cmd_completion_bash_command, false);
	puts("\tesac\n\tcase $command:$prev in");
	if (!rc)
		rc = cmd_completion_each_command(p, cmd_completion_bash_command, true);
	puts("\tesac\n"
	     "\t# fields come with commas between\n"
	     "\tlocal lead=\n"
	     "\tif [[ $prev == --fields ]]; then\n"
	     "\t\tlead=${cur%\"${cur##*,}\"}; cur=${cur##*,}\n"
	     "\t\tcompopt -o nospace 2>/dev/null\n"
	     "\tfi\n"
	     "\t[[ $kind == file || $kind == dir || ! $words && $cur != -* ]] && compopt -o filenames 2>/dev/null\n"
	     "\tif [[ $kind == dir ]]; then COMPREPLY=($(compgen -d -- \"$cur\"))\n"
	     "\telif [[ $kind == any ]]; then return\n"
	     "\telif [[ $words ]]; then COMPREPLY=($(compgen -P \"$lead\" -W \"$words\" -- \"$cur\"))\n"
	     "\telif [[ $kind != file && $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
	     "\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	     "\telif [[ $kind != file && $COMP_CWORD -eq 1 ]]; then\n"
	     "\t\tcompopt +o filenames 2>/dev/null\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
	     "\telse COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	     "\tfi\n"
	     "\treturn 0\n"
	     "}\n"
	     "complete -F _ibroute_top ibroute-top");
	return rc;
}

/* Text within '...' of an _arguments spec: its brackets and colons are protected. */
static void cmd_completion_zsh_text(const char *text)
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

static void cmd_completion_zsh_value(const struct cmdline_row *row)
{
	enum arg_kind v = cmd_completion_value_of(row);

	if (v == VALUE_NONE)
		return;
	fputs(row->arg_optional ? "::" : ":", stdout);
	cmd_completion_zsh_text(row->arg);
	putchar(':');
	if (v == VALUE_FILE || v == VALUE_DIR || v == VALUE_ANY) {
		fputs(v == VALUE_FILE ? "_files" : v == VALUE_DIR ? "_files -/" : " ", stdout);
		return;
	}
	/* fields come with commas between */
	fputs(cmd_completion_called(row, "fields") ? "_values -s , field " : "(", stdout);
	cmd_completion_value_put(stdout, v, row);
	fputs(cmd_completion_called(row, "fields") ? "" : ")", stdout);
}

static void cmd_completion_zsh_option(const char *dashes, const char *name, const char *join,
				      const struct cmdline_row *row)
{
	printf(" \\\n\t\t'*%s", dashes);
	fputs(name, stdout);
	fputs(row->arg ? join : "", stdout);
	putchar('[');
	cmd_completion_zsh_text(row->doc ? row->doc : "");
	putchar(']');
	cmd_completion_zsh_value(row);
	putchar('\'');
}

static void cmd_completion_zsh_row(const struct cmdline_row *row, void *arg)
{
	(void)arg;
	for (int i = 0; !row->heading && i < row->nnames; i++)
		cmd_completion_zsh_option("--", row->name[i], row->arg_optional ? "=-" : "=", row);
	for (int i = 0; !row->heading && i < row->nletters; i++) {
		char letter[2] = { row->letter[i], '\0' };

		cmd_completion_zsh_option("-", letter, "+", row);
	}
}

static void cmd_completion_zsh_command(const struct argp *argp, void *arg)
{
	const struct shell *s = arg;

	printf("\t%s) _arguments -s", s->command[0] ? s->command : "''");
	cmdline_each(argp, cmd_completion_zsh_row, arg);
	fputs(" \\\n\t\t'(- *)--help[all options]' '--usage[short usage]' "
	      "'(- *)--version[version]'",
	      stdout);
	if (cmd_completion_actions_put(NULL, argp)) {
		fputs(" '1:what:(", stdout);
		cmd_completion_actions_put(stdout, argp);
		fputs(")'", stdout);
	}
	puts(" '*:file:_files' ;;");
}

static int cmd_completion_zsh(const struct programs *p)
{
	int rc;

	puts("#compdef ibroute-top\n"
	     "# Completion of ibroute-top for zsh; made by 'ibroute-top completion zsh'.\n"
	     "_ibroute_top() {\n"
	     "\tlocal command=\n"
	     "\tlocal -a list\n"
	     "\tlist=(");
	for (const struct subcommand *c = p->all; c->name; c++) {
		printf("\t\t'%s:", c->name);
		cmd_completion_zsh_text(c->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command list; return; fi\n"
	     "\tif [[ $words[2] != -* ]]; then command=$words[2]; shift words; (( CURRENT-- )); fi\n"
	     "\tcase $command in");
	rc = cmd_completion_each_command(p, cmd_completion_zsh_command, false);
	/* as a file of fpath it is the function itself; read by source it has to say what it is for
	 */
	puts("\tesac\n}\n"
	     "if [[ $funcstack[1] == _ibroute_top ]]; then _ibroute_top \"$@\"\n"
	     "elif (( $+functions[compdef] )); then compdef _ibroute_top ibroute-top\n"
	     "else print -u2 'ibroute-top: completion: autoload -U compinit && compinit comes first'\n"
	     "fi");
	return rc;
}

static error_t cmd_completion_take(int key, char *text, struct argp_state *s)
{
	const char **which = s->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*which || (strcmp(text, "bash") != 0 && strcmp(text, "zsh") != 0))
			argp_error(s, "unknown shell \"%s\": bash or zsh is needed", text);
		*which = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(s, "a shell is needed: bash or zsh");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_completion(int argc, char **argv, subcommand_fn *console, const struct subcommand *all)
{
	static const struct argp argp = {
		.parser = cmd_completion_take,
		.args_doc = "bash|zsh",
		.doc = "Prints a script that makes the shell complete the commands, options and "
		       "values of this program: source <(ibroute-top completion bash)",
	};
	const struct programs p = { console, all };
	const char *which = NULL;
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &which);
	rc = strcmp(which, "zsh") ? cmd_completion_bash(&p) : cmd_completion_zsh(&p);
	if (!rc)
		rc = output_file_flush_stdout(&err);
	else
		err_set(&err, rc, "the options cannot be listed: %s", strerror(-rc));
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}
