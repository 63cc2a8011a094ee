/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_place.h"

#include "console/record/record_line.h"
#include "fabric/base/mem.h"
#include "fabric/base/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOGINUID_UNSET 4294967295u

int record_mkdir(const char *dir, struct err *err)
{
	struct stat st;
	int rc;

	if (!stat(dir, &st))
		return S_ISDIR(st.st_mode) ? 0 : err_set(err, -ENOTDIR, "%s: not a directory", dir);
	rc = store_mkdir(dir, err);
	if (!rc && chmod(dir, 0750))
		rc = err_set(err, -errno, "%s: %s", dir, strerror(errno));
	return rc;
}

char *record_part_path(const char *dir, const char *sid, unsigned part, const char *ending)
{
	if (part == 1)
		return xasprintf("%s/%s.%s", dir, sid, ending);
	return xasprintf("%s/%s.%u.%s", dir, sid, part, ending);
}

int record_file(int *fd, const char *path, struct err *err)
{
	int rc;

	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
	if (*fd < 0)
		return err_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
	/* whatever the umask: the group may read, nobody else */
	if (!fchmod(*fd, 0640) && !flock(*fd, LOCK_EX | LOCK_NB))
		return 0;
	rc = err_set(err, -errno, "%s: cannot be locked: %s", path, strerror(errno));
	close(*fd);
	*fd = -1;
	return rc;
}

static json_t *record_loginuid(void)
{
	FILE *f = fopen("/proc/self/loginuid", "re");
	uint32_t id = LOGINUID_UNSET;

	if (f && fscanf(f, "%" SCNu32, &id) != 1)
		id = LOGINUID_UNSET;
	if (f)
		fclose(f);
	return id == LOGINUID_UNSET ? json_null() : json_integer(id);
}

char *record_user(void)
{
	const char *ssh = getenv("SSH_CONNECTION");
	json_t *user = json_pack("{s:I, s:o, s:o}", "uid", (json_int_t)getuid(), "loginuid",
				 record_loginuid(), "ssh", ssh ? record_str(ssh) : json_null());
	char *text = json_dumps(user, JSON_COMPACT);

	json_decref(user);
	return text;
}
