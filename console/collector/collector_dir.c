/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/collector_dir.h"

#include "fabric/base/file/dir_socket.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG	    64
#define SYSTEMD_FDS 3 /* the first that it hands over */

char *collector_dir_default(const char *name)
{
	if (!name || !*name || *name == '.' || strchr(name, '/'))
		return xstrdup(COLLECTOR_DIR);
	return xasprintf("%s/%s", COLLECTOR_DIR, name);
}

/* --- the collector's side -------------------------------------------------------------------- */

/* 0600 where there is no such group, or this user is not in it. */
static void collector_dir_share(int dir, const char *name, const char *group)
{
	const struct group *g = getgrnam(group);

	if (!g || fchownat(dir, name, (uid_t)-1, g->gr_gid, 0) || fchmodat(dir, name, 0660, 0))
		log_add(LOG_DEBUG, "collector", "socket %s: only this user may use it", name);
}

static int collector_dir_listen(int *fd, const struct collector_dir *d, const char *path,
				const char *name, const char *group, struct err *err)
{
	int rc;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return err_set(err, -errno, "%s: no socket can be made: %m", path);
	unlinkat(d->dir, name, 0);
	rc = dir_socket_listen(*fd, d->dir, name, BACKLOG);
	if (rc)
		return err_set(err, rc, "%s/%s: cannot be listened on: %s", path, name,
			       strerror(-rc));
	collector_dir_share(d->dir, name, group);
	return 0;
}

/* LISTEN_FDS of sd_listen_fds(3): two, of the names look and ask, or in that order. */
static bool collector_dir_is_given(void)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");

	return pid && n && strtol(pid, NULL, 10) == (long)getpid() && strtol(n, NULL, 10) == 2;
}

static bool collector_dir_asks_first(void)
{
	const char *names = getenv("LISTEN_FDNAMES");

	return names && !strcmp(names, "ask:look");
}

/* Those who look have to get through what is new, whatever the umask; what is there stays. */
static int collector_dir_make_one(const char *path)
{
	if (mkdir(path, 0755))
		return errno == EEXIST ? 0 : -errno;
	return chmod(path, 0755) ? -errno : 0;
}

static int collector_dir_make(const char *path, struct err *err)
{
	char *p = xstrdup(path);
	int rc;

	for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		collector_dir_make_one(p); /* what may not be made shows at the last one */
		*s = '/';
	}
	rc = collector_dir_make_one(p);
	free(p);
	return rc ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static int collector_dir_lock(struct collector_dir *d, const char *path, struct err *err)
{
	char *lock = xasprintf("%s/lock", path);
	char holder[32];
	struct err why;
	int rc;

	snprintf(holder, sizeof(holder), "process %d", (int)getpid());
	rc = store_lock(&d->lock, lock, holder, false, &why);
	free(lock);
	if (rc == -EBUSY)
		return err_set(
			err, rc,
			"%s: a collector is running there already; --dir names another folder",
			path);
	return rc ? err_set(err, rc, "%s", why.text) : 0;
}

int collector_dir_open(struct collector_dir *d, const char *path, struct err *err)
{
	int rc;

	*d = (struct collector_dir){ .look = -1, .ask = -1, .lock = -1, .dir = -1 };
	rc = collector_dir_make(path, err);
	if (!rc)
		rc = collector_dir_lock(d, path, err);
	if (!rc) {
		d->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = d->dir < 0 ? err_set(err, -errno, "%s: %m", path) : 0;
	}
	if (!rc && collector_dir_is_given()) {
		d->given = true;
		d->look = SYSTEMD_FDS + collector_dir_asks_first();
		d->ask = SYSTEMD_FDS + !collector_dir_asks_first();
		fcntl(d->look, F_SETFD, FD_CLOEXEC);
		fcntl(d->ask, F_SETFD, FD_CLOEXEC);
	} else if (!rc) {
		rc = collector_dir_listen(&d->look, d, path, "look", COLLECTOR_GROUP_LOOK, err);
		if (!rc)
			rc = collector_dir_listen(&d->ask, d, path, "ask", COLLECTOR_GROUP_ASK,
						  err);
	}
	if (rc)
		collector_dir_close(d);
	return rc;
}

void collector_dir_close(struct collector_dir *d)
{
	if (d->look >= 0)
		close(d->look);
	if (d->ask >= 0)
		close(d->ask);
	if (d->dir >= 0 && !d->given && d->ask >= 0) {
		unlinkat(d->dir, "look", 0);
		unlinkat(d->dir, "ask", 0);
	}
	if (d->dir >= 0)
		close(d->dir);
	store_unlock(d->lock);
	*d = (struct collector_dir){ .look = -1, .ask = -1, .lock = -1, .dir = -1 };
}

/* --- a viewer's side
 * ------------------------------------------------------------------------------ */

/* Whoever owns the folder decides what this user is shown. */
static int collector_dir_trust(int dir, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(dir, &st))
		return err_set(err, -errno, "%s: %m", path);
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(err, -EPERM,
			       "%s: the folder of a collector must be root's or this user's, and "
			       "nobody else's to write to",
			       path);
	return 0;
}

static int collector_dir_try(int *fd, int dir, const char *name)
{
	int rc;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	rc = dir_socket_connect(*fd, dir, name);
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

int collector_dir_connect(int *fd, bool *may_ask, const char *path, struct err *err)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	*fd = -1;
	if (dir < 0)
		return err_set(err, -errno, "%s: no collector: %m", path);
	rc = collector_dir_trust(dir, path, err);
	if (rc) {
		close(dir);
		return rc;
	}
	rc = collector_dir_try(fd, dir, "ask");
	*may_ask = !rc;
	if (rc)
		rc = collector_dir_try(fd, dir, "look");
	close(dir);
	if (rc == -EACCES)
		return err_set(
			err, rc,
			"%s: a collector is there, but this user may not look: that takes the "
			"group " COLLECTOR_GROUP_LOOK " or " COLLECTOR_GROUP_ASK,
			path);
	return rc ? err_set(err, rc, "%s: no collector responds: %s", path, strerror(-rc)) : 0;
}
