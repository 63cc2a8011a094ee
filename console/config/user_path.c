/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/user_path.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *user_path_home_of(const char *user)
{
	const char *home = user[0] ? NULL : getenv("HOME");
	const struct passwd *pw = home ? NULL : user[0] ? getpwnam(user) : getpwuid(getuid());

	return home ? home : pw ? pw->pw_dir : NULL;
}

void user_path_expand(char *path, size_t size)
{
	static pthread_mutex_t one =
		PTHREAD_MUTEX_INITIALIZER; /* what getpwnam() returns is shared */
	size_t len = strcspn(path, "/");
	char user[64], *whole = NULL;
	const char *home;

	if (path[0] != '~' || len > sizeof(user))
		return;
	snprintf(user, sizeof(user), "%.*s", (int)len - 1, path + 1);
	pthread_mutex_lock(&one);
	home = user_path_home_of(user);
	if (home)
		whole = xasprintf("%s%s", home, path + len);
	pthread_mutex_unlock(&one);
	if (whole && strlen(whole) < size)
		memcpy(path, whole, strlen(whole) + 1);
	free(whole);
}

static int user_path_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool user_path_is_folder(DIR *d, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK)
		return e->d_type == DT_DIR;
	return !fstatat(dirfd(d), e->d_name, &st, 0) && S_ISDIR(st.st_mode);
}

struct names {
	char **v;
	size_t n, cap;
};

void user_path_names(const char *path, void (*name)(void *to, const char *name), void *to)
{
	const char *slash = strrchr(path, '/'), *begun = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	struct names names = { 0 };
	const struct dirent *e;
	DIR *d;

	if ((size_t)(begun - path) >= sizeof(folder))
		return;
	snprintf(folder, sizeof(folder), "%.*s", (int)(begun - path), path);
	user_path_expand(folder, sizeof(folder));
	d = opendir(folder[0] ? folder : ".");
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, begun, strlen(begun)) || !strcmp(e->d_name, ".") ||
		    !strcmp(e->d_name, "..") || (e->d_name[0] == '.' && begun[0] != '.'))
			continue;
		vec_push(&names,
			 xasprintf("%s%s", e->d_name, user_path_is_folder(d, e) ? "/" : ""));
	}
	if (d)
		closedir(d);
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), user_path_by_name);
	for (size_t i = 0; i < names.n; i++) {
		name(to, names.v[i]);
		free(names.v[i]);
	}
	free(names.v);
}
