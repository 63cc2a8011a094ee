/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/slurm_helper.h"

#include "fabric/base/memory/mem.h"
#include "fabric/version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "ibroute-slurm"

static bool slurm_helper_beside(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, size, "%s/" NAME, self) < (int)size && !access(path, X_OK);
}

bool slurm_helper_find(char *path, size_t size)
{
	const char *said = secure_getenv("IBROUTE_SLURM");
	char beside[PATH_MAX] = "";

	if (said && *said) {
		snprintf(path, size, "%s", said);
		return !access(path, X_OK);
	}
	if (slurm_helper_beside(beside, sizeof(beside))) {
		snprintf(path, size, "%s", beside);
		return true;
	}
	snprintf(path, size, "%s", IBROUTE_LIBEXEC "/" NAME);
	if (!access(path, X_OK))
		return true;
	snprintf(path, size, "%.120s, " IBROUTE_LIBEXEC "/" NAME, beside);
	return false;
}

bool slurm_helper_has_squeue(void)
{
	const char *from = getenv("PATH");
	char *dirs = xstrdup(from ? from : ""), *save = NULL;
	char path[PATH_MAX];
	bool found = false;

	for (char *d = strtok_r(dirs, ":", &save); d && !found; d = strtok_r(NULL, ":", &save))
		found = snprintf(path, sizeof(path), "%s/squeue", d) < (int)sizeof(path) &&
			!access(path, X_OK);
	free(dirs);
	return found;
}
