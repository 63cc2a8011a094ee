/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/mkey.h"

#include "console/exits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static bool parse(uint64_t *key, const char *text)
{
	char *end;

	errno = 0;
	*key = strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

bool mkey_take(uint64_t *key, char *arg)
{
	bool number = parse(key, arg);

	explicit_bzero(arg, strlen(arg));
	return !number;
}

int mkey_ask(uint64_t *key, struct err *err)
{
	bool tty = isatty(STDIN_FILENO), got;
	struct termios old, quiet;
	char line[64];

	if (tty)
		fputs("M_Key: ", stderr);
	if (tty && !tcgetattr(STDIN_FILENO, &old)) {
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	got = fgets(line, sizeof(line), stdin);
	if (tty) {
		tcsetattr(STDIN_FILENO, TCSANOW, &old);
		fputc('\n', stderr);
	}
	if (got) {
		line[strcspn(line, "\n")] = '\0';
		got = parse(key, line);
	}
	explicit_bzero(line, sizeof(line));
	return got ? 0 : err_set(err, -EINVAL, "the M_Key is a number, such as 0x1234");
}

/* "0x1234", or "0xguid 0x1234": *key; false: neither.  *ports counts lines of the second kind. */
static bool parse_line(uint64_t *key, unsigned *ports, char *line)
{
	char *rest = NULL, *first = strtok_r(line, " \t\r", &rest);
	char *second = strtok_r(NULL, " \t\r", &rest);
	uint64_t guid;

	*ports += second != NULL;
	if (strtok_r(NULL, " \t\r", &rest))
		return false;
	return second ? parse(&guid, first) && parse(key, second) : parse(key, first);
}

static int read_keys(uint64_t *key, FILE *in, const char *path, struct err *err)
{
	unsigned n = 0, lines = 0, ports = 0;
	char line[128];
	uint64_t one = 0;
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), in)) {
		n++;
		line[strcspn(line, "\n")] = '\0';
		if (!line[strspn(line, " \t\r")] || line[0] == '#')
			continue;
		if (!parse_line(&one, &ports, line) || (lines && ports != lines + 1))
			rc = err_set(err, -EINVAL,
				     "%s:%u: neither an M_Key alone nor \"0xguid 0xkey\"", path, n);
		else if (lines++ && one != *key)
			rc = err_set(
				err, -EINVAL,
				"%s:%u: another M_Key than the ports before: one for all ports "
				"is needed (OpenSM's m_key_per_port FALSE)",
				path, n);
		*key = one;
	}
	explicit_bzero(line, sizeof(line));
	if (!rc && ferror(in))
		rc = err_set(err, -EIO, "%s: reading stopped: %s", path, strerror(errno));
	if (!rc && !lines)
		rc = err_set(err, -EINVAL, "%s: no M_Key in it", path);
	return rc;
}

int mkey_file(uint64_t *key, const char *path, struct err *err)
{
	FILE *in = fopen(path, "re");
	struct stat st;
	int rc = 0;

	if (!in || fstat(fileno(in), &st))
		rc = err_set(err, -errno, "%s: the M_Key cannot be read: %s", path,
			     strerror(errno));
	else if (S_ISREG(st.st_mode) && st.st_mode & 077)
		rc = err_set(err, -EPERM,
			     "%s: others than its owner may read this M_Key: chmod 600 it", path);
	if (!rc)
		rc = read_keys(key, in, path, err);
	if (in)
		fclose(in);
	return rc;
}

void mkey_need_file(uint64_t *key, const char *path, const struct argp_state *s)
{
	struct err err = { "" };

	if (mkey_file(key, path, &err))
		argp_failure(s, EXIT_UNREADABLE, 0, "%s", err.text);
}
