/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/slurm_helper.h"

#include "fabric/base/memory/mem.h"
#include "fabric/version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "ibroute-slurm"

/* Could nobody have put it there who could not have changed this program, too? */
static bool slurm_helper_is_ours(const char *path)
{
	struct stat st, self;

	return !stat(path, &st) && !stat("/proc/self/exe", &self) && !(st.st_mode & S_IWOTH) &&
	       (!st.st_uid || st.st_uid == self.st_uid);
}

/* Makes path what it is without symbolic links, which others could change later. */
static bool slurm_helper_take(char *path, size_t size)
{
	char real[PATH_MAX], folder[PATH_MAX];

	if (access(path, X_OK) || !realpath(path, real) || strlen(real) >= size)
		return false;
	snprintf(folder, sizeof(folder), "%s", real);
	*strrchr(folder, '/') = '\0';
	if (!slurm_helper_is_ours(real) || !slurm_helper_is_ours(*folder ? folder : "/"))
		return false;
	snprintf(path, size, "%s", real);
	return true;
}

/* Relative to the folder that this program is in, so that a tree can be moved. */
static bool slurm_helper_near(char *path, size_t size, const char *folder)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	path[0] = '\0';
	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	return snprintf(path, size, "%s%s" NAME, self, folder) < (int)size &&
	       slurm_helper_take(path, size);
}

static bool slurm_helper_installed(char *path, size_t size)
{
#ifdef IBROUTE_LIBEXEC
	snprintf(path, size, "%s", IBROUTE_LIBEXEC "/" NAME);
	return slurm_helper_take(path, size);
#else
	return slurm_helper_near(path, size, "../libexec/ibroute-top/");
#endif
}

bool slurm_helper_find(char *path, size_t size)
{
	const char *said = secure_getenv("IBROUTE_SLURM");
	char installed[PATH_MAX];

	if (said && *said) {
		snprintf(path, size, "%s", said);
		return !access(path, X_OK);
	}
	if (slurm_helper_near(path, size, ""))
		return true;
	if (slurm_helper_installed(installed, sizeof(installed))) {
		snprintf(path, size, "%s", installed);
		return true;
	}
	snprintf(installed + strlen(installed), sizeof(installed) - strlen(installed), ", %.120s",
		 path);
	snprintf(path, size, "%s", installed);
	return false;
}

static bool slurm_helper_in_path(const char *name)
{
	const char *from = getenv("PATH");
	char *dirs = xstrdup(from ? from : ""), *save = NULL;
	char path[PATH_MAX];
	bool found = false;

	for (char *d = strtok_r(dirs, ":", &save); d && !found; d = strtok_r(NULL, ":", &save))
		found = snprintf(path, sizeof(path), "%s/%s", d, name) < (int)sizeof(path) &&
			!access(path, X_OK);
	free(dirs);
	return found;
}

const char *slurm_helper_other(void)
{
	return slurm_helper_in_path("squeue")  ? "squeue --json"
	       : slurm_helper_in_path("sacct") ? "sacct"
					       : NULL;
}
