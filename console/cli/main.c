/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"
#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/live/unfinished.h"
#include "console/update/watchdog_config.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/confine.h"
#include "fabric/jobs/squeue_poller.h"
#include "fabric/update/watchdog/supervisor.h"
#include "fabric/version.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define HELP_WIDTH 111
/* of what options do: the C library puts some lines wrong where a longer option wraps */
#define HELP_COLUMN 31

static int main_run(const struct subcommand *c, int argc, char **argv)
{
	static char name[64];

	snprintf(name, sizeof(name), "ibroute-top %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

/* The lists at the end of --help are wider than argp's 79 columns, where the terminal is. */
static void main_set_help_width(void)
{
	struct winsize size = { .ws_col = 0 };
	char format[32];
	int width = HELP_WIDTH;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 60 && size.ws_col < width)
		width = size.ws_col;
	snprintf(format, sizeof(format), "rmargin=%d,opt-doc-col=%d", width - 1, HELP_COLUMN);
	setenv("ARGP_HELP_FMT", format, 0);
}

/* Those that say it themselves. */
static bool main_knows_updates(const char *name)
{
	static const char *const names[] = { "status", "rollback", "confirm", "attach", "extend" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A file that is opened in place of a closed stdout would get what is printed: tables, journals
 * and ports to the fabric are files, too.  What is written to these fails with EBADF. */
static void main_hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_BAD_USAGE);
}

/* Who reads only the exit code must not take half of an answer for the whole. */
static void main_check_output(int status, void *unused)
{
	struct err err;

	(void)unused;
	if (status || !output_file_flush_stdout(&err))
		return;
	fprintf(stderr, "ibroute-top: %s\n", err.text);
	_exit(EXIT_FINDINGS);
}

/* "--fabric hpc1 status": argp's own message would not help. */
static void main_tell_misplaced(int argc, char **argv)
{
	const struct subcommand *c = commands;
	int last = argc - 1;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		for (c = commands; c->name && strcmp(c->name, argv[i]); c++)
			;
		last = i;
		if (c->name)
			break;
	}
	/* the argument of an option may be called so */
	if (!c->name || (argv[last - 1][0] == '-' && !strchr(argv[last - 1], '=')))
		return;
	fprintf(stderr,
		"ibroute-top: '%s' is a command and must come before options: ibroute-top %s ...\n",
		c->name, c->name);
	exit(EXIT_BAD_USAGE);
}

static bool main_is_command(const char *name)
{
	for (const struct subcommand *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return true;
	return false;
}

/* Root's user id opens root's files, /dev/infiniband/umad* among them, without any capability.
 * Commands that end soon keep the one for files of others, which the operator may name; what runs
 * on keeps it under sudo only, where its own folders may be the operator's.  The collector gives
 * its sockets to their groups.  The agent keeps all: its commands are the site's. */
static void main_confine(const char *first)
{
	bool command = first && main_is_command(first);
	unsigned keep = command || getenv("SUDO_UID") ? CONFINE_KEEP_FILES : 0;
	struct err err;

	if (command && !strcmp(first, "agent"))
		return;
	if (command && !strcmp(first, "collect"))
		keep |= CONFINE_KEEP_GROUPS;
	if (confine_capabilities(keep, &err))
		fprintf(stderr, "ibroute-top: %s\n", err.text);
}

static int main_print_version(void)
{
	int abi = confine_landlock_abi();
	char landlock[32] = "no landlock";

	if (abi)
		snprintf(landlock, sizeof(landlock), "landlock (ABI %d)", abi);
	puts(argp_program_version);
	printf("kernel: %s, %s\n", confine_has_seccomp() ? "seccomp" : "no seccomp", landlock);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	main_hold_streams();
	main_confine(argc > 1 ? argv[1] : NULL);
	on_exit(main_check_output, NULL);
	argp_program_version = "ibroute-top " IBROUTE_VERSION;
	argp_err_exit_status = EXIT_BAD_USAGE;
	main_set_help_width();
	if (argc > 1 && !strcmp(argv[1], "--version"))
		return main_print_version();
	if (argc > 1 && !strcmp(argv[1], SQUEUE_POLLER_ARG))
		return squeue_poller_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], GUARD_ARG))
		return watchdog_main(argc - 1, argv + 1);
	if (argc < 2 || !main_knows_updates(argv[1]))
		unfinished_warn(NULL);
	for (const struct subcommand *c = commands; argc > 1 && c->name; c++)
		if (!strcmp(c->name, argv[1]))
			return main_run(c, argc - 1, argv + 1);
	if (argc > 1 && argv[1][0] != '-') {
		fprintf(stderr, "ibroute-top: unknown command \"%s\"; commands are\n",
			plain_text(argv[1], ""));
		commands_print(stderr);
		fprintf(stderr, "without a command the live console starts; --help lists its "
				"options\n");
		return EXIT_BAD_USAGE;
	}
	if (argc > 1)
		main_tell_misplaced(argc, argv);
	return commands_console(argc, argv);
}
