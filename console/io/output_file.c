/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/output_file.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the signal handler removes; "" nothing. */
static char unfinished[PATH_MAX];
static volatile sig_atomic_t have_unfinished;

static void output_file_stop(int sig)
{
	if (have_unfinished)
		unlink(unfinished);
	_exit(128 + sig);
}

void output_file_guard_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = output_file_stop };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		if (!sigaction(sigs[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(sigs[i], &sa, NULL);
}

/* A name that nobody can have prepared, and the mode that a new file has. */
static int output_file_make(char *temp)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t some[6];
	int fd;

	do {
		if (getrandom(some, sizeof(some), 0) != sizeof(some))
			return -1;
		for (size_t i = 0; i < sizeof(some); i++)
			temp[strlen(temp) - 1 - i] = letters[some[i] % 32];
		fd = open(temp, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

static int output_file_open_temp(struct output_file *o)
{
	int fd;

	if (strlen(o->temp) >= sizeof(unfinished))
		return -ENAMETOOLONG;
	fd = output_file_make(o->temp);
	if (fd < 0)
		return -errno;
	memcpy(unfinished, o->temp, strlen(o->temp) + 1);
	have_unfinished = true;
	o->file = fdopen(fd, "w");
	setvbuf(o->file, NULL, _IOFBF, 1 << 18);
	return 0;
}

int output_file_open(struct output_file *o, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	int rc = store_may_replace(path, err);

	*o = (struct output_file){ 0 };
	if (rc)
		return rc;
	o->path = xstrdup(path);
	o->temp = xasprintf("%.*s.%s.XXXXXX", dir, path, path + dir);
	rc = output_file_open_temp(o);
	if (!rc)
		return 0;
	output_file_abandon(o);
	return err_set(err, rc, "%s cannot be written: %s", path, strerror(-rc));
}

int output_file_commit(struct output_file *o, struct err *err)
{
	int rc = 0;

	errno = 0;
	if (fflush(o->file) || ferror(o->file))
		rc = errno ? -errno : -EIO;
	else
		rc = file_progress_sync(fileno(o->file));
	if (rc == -EINVAL || rc == -EROFS) /* not a file that can be synced */
		rc = 0;
	if (fclose(o->file) && !rc)
		rc = -errno;
	o->file = NULL;
	if (!rc && rename(o->temp, o->path))
		rc = -errno;
	if (!rc)
		have_unfinished = false;
	else if (rc == -ECANCELED)
		err_set(err, rc, "%s: cancelled", o->path);
	else
		err_set(err, rc, "%s cannot be written: %s", o->path, strerror(-rc));
	output_file_abandon(o);
	return rc;
}

void output_file_abandon(struct output_file *o)
{
	if (o->file)
		fclose(o->file);
	if (have_unfinished)
		unlink(unfinished);
	have_unfinished = false;
	free(o->path);
	free(o->temp);
	*o = (struct output_file){ 0 };
}

int output_file_end(struct output_file *o, int rc, struct err *err)
{
	if (!rc)
		return output_file_commit(o, err);
	output_file_abandon(o);
	return rc;
}

int output_file_write(const char *path, int (*write)(FILE *out, const void *what, struct err *err),
		      const void *what, struct err *err)
{
	struct output_file o;
	int rc;

	if (!path) {
		rc = write(stdout, what, err);
		return rc ? rc : output_file_flush_stdout(err);
	}
	rc = output_file_open(&o, path, err);
	return rc ? rc : output_file_end(&o, write(o.file, what, err), err);
}

int output_file_folder(const char *path, struct err *err)
{
	char *copy = xstrdup(path);
	struct stat st;
	int rc = 0;

	for (char *p = copy + 1; *copy && !rc; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			rc = -errno;
		*p = was;
		if (!was)
			break;
	}
	if (!rc && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		rc = -ENOTDIR;
	free(copy);
	return rc ? err_set(err, rc, "the folder %s cannot be created: %s", path, strerror(-rc))
		  : 0;
}

int output_file_print(const char *path, struct err *err)
{
	char text[4096];
	FILE *in = fopen(path, "re");
	size_t n;
	int rc;

	if (!in)
		return err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	while ((n = fread(text, 1, sizeof(text), in)) > 0)
		fwrite(text, 1, n, stdout);
	rc = ferror(in) ? err_set(err, -EIO, "%s cannot be read", path) : 0;
	fclose(in);
	return rc;
}

int output_file_flush_stdout(struct err *err)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (!errno) { /* it failed earlier, and the reason is lost: try again to get it */
		clearerr(stdout);
		putchar('\n');
		fflush(stdout);
	}
	return err_set(err, errno ? -errno : -EIO, "writing to stdout failed: %s",
		       strerror(errno ? errno : EIO));
}

int output_file_json(FILE *out, const json_t *value, struct err *err)
{
	errno = 0;
	if (!json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) &&
	    fputc('\n', out) != EOF)
		return 0;
	return err_set(err, errno ? -errno : -EIO, "writing JSON failed: %s",
		       strerror(errno ? errno : EIO));
}

int output_file_print_json(json_t *value, struct err *err)
{
	int rc = output_file_json(stdout, value, err);

	json_decref(value);
	return rc;
}
