/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/store.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_PIECE (4u << 20)

static int store_fail(struct err *err, const char *path, const char *what)
{
	int e = errno;

	return err_set(err, -e, "%s: %s: %s", path, what, strerror(e));
}

int store_mkdir(const char *path, struct err *err)
{
	char *p = xstrdup(path);
	int rc = 0;

	for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(p, 0700); /* what is there or may not be made shows at the last one */
		*s = '/';
	}
	if (mkdir(p, 0700) && errno != EEXIST)
		rc = store_fail(err, path, "cannot create the directory");
	free(p);
	return rc;
}

int store_put(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int store_append(int fd, const char *path, const void *data, size_t len, struct err *err)
{
	errno = -store_put(fd, data, len);
	return errno ? store_fail(err, path, "cannot write") : 0;
}

int store_sync(int fd, const char *path, struct err *err)
{
	return fsync(fd) ? store_fail(err, path, "cannot sync to disk") : 0;
}

int store_sync_dir(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return store_fail(err, path, "cannot open");
	rc = store_sync(fd, path, err);
	close(fd);
	return rc;
}

int store_may_replace(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	return err_set(err, -EINVAL, "%s is %s: only regular files are written here", path,
		       S_ISDIR(st.st_mode) ? "a folder" : "a pipe or device");
}

/* name: for the message. */
static int store_create(const char *path, const char *name, const void *data, size_t len,
			mode_t mode, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	int rc;

	if (fd < 0)
		return store_fail(err, name, "cannot create");
	rc = store_append(fd, name, data, len, err);
	if (!rc)
		rc = store_sync(fd, name, err);
	if (close(fd) && !rc)
		rc = store_fail(err, name, "cannot write");
	return rc;
}

int store_write(const char *path, const void *data, size_t len, struct err *err)
{
	return store_create(path, path, data, len, 0600, err);
}

static int store_sync_parent(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? xasprintf("%.*s", (int)(slash - path) + 1, path) : xstrdup(".");
	int rc = store_sync_dir(dir, err);

	free(dir);
	return rc == -EINVAL ? 0 : rc; /* a file system that cannot sync folders */
}

int store_replace(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	char *temp = xasprintf("%s.new-%ld", path, (long)getpid());
	int rc;

	unlink(temp); /* of a process with the same number that was killed */
	rc = store_create(temp, path, data, len, mode, err);
	if (!rc && rename(temp, path))
		rc = store_fail(err, path, "cannot write");
	if (rc)
		unlink(temp);
	else
		rc = store_sync_parent(path, err);
	free(temp);
	return rc;
}

int store_read(char **data, size_t *len, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t n = 0;
	ssize_t got = 1;
	int rc = 0;

	if (fd < 0)
		return store_fail(err, path, "cannot open");
	*data = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = err_set(err, -EINVAL, "%s: not a regular file", path);
		goto out;
	}
	*data = xcalloc((size_t)st.st_size + 1, 1);
	while (n < (size_t)st.st_size && got) {
		size_t want = (size_t)st.st_size - n;

		got = read(fd, *data + n, want < READ_PIECE ? want : READ_PIECE);
		if (got < 0 && errno != EINTR) {
			rc = store_fail(err, path, "cannot read");
			goto out;
		}
		n += got > 0 ? (size_t)got : 0;
		if (progress_step(file_progress(), "reading", n, (uint64_t)st.st_size)) {
			rc = err_set(err, -ECANCELED, "%s: reading it was cancelled", path);
			goto out;
		}
	}
	*len = n;
out:
	close(fd);
	if (rc) {
		free(*data);
		*data = NULL;
	}
	return rc;
}

void store_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(dir);
}

static int store_lock_file(int fd, bool wait)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int rc;

	do
		rc = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	while (rc && errno == EINTR);
	return rc;
}

int store_lock(int *fd, const char *path, const char *holder, bool wait, struct err *err)
{
	char who[256] = "";
	size_t len = strlen(holder);

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return store_fail(err, path, "cannot open");
	if (store_lock_file(*fd, wait)) {
		int e = errno;
		ssize_t n = read(*fd, who, sizeof(who) - 1);

		close(*fd);
		*fd = -1;
		if (e != EAGAIN && e != EACCES)
			return err_set(err, -e, "%s: cannot lock: %s", path, strerror(e));
		return err_set(err, -EBUSY, "%s: held by %s", path,
			       n > 0 ? who : "another process");
	}
	/* the text is for people only; the lock itself is what counts */
	if (ftruncate(*fd, 0) || pwrite(*fd, holder, len, 0) != (ssize_t)len) {
		int rc = store_fail(err, path, "cannot write");

		store_unlock(*fd);
		*fd = -1;
		return rc;
	}
	return 0;
}

void store_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}

bool store_locked(const char *path)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool held;

	if (fd < 0)
		return false;
	held = !fcntl(fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;
	close(fd);
	return held;
}
