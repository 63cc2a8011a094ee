/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/user_lines.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int user_lines_load(char **text, size_t *len, const char *path, size_t most, struct err *err)
{
	struct stat st;

	*text = NULL;
	*len = 0;
	if (stat(path, &st) && errno == ENOENT)
		return 0;
	if (!stat(path, &st) && st.st_size > (off_t)most)
		return err_set(err, -EFBIG, "%s: too large: at most %zu bytes", path, most);
	return store_read(text, len, path, err);
}

static int user_lines_write(const char *path, size_t most, user_lines_put *put, const void *ctx,
			    struct err *err)
{
	char *old, *text = NULL;
	size_t n, len = 0;
	FILE *out;
	int rc = user_lines_load(&old, &n, path, most, err);

	if (rc)
		return rc;
	out = open_memstream(&text, &len);
	put(out, old ? old : "", n, ctx);
	fclose(out);
	if (len > most)
		rc = err_set(err, -EFBIG, "%s: too large: at most %zu bytes", path, most);
	if (!rc)
		rc = store_may_replace(path, err);
	if (!rc)
		rc = store_replace(path, text, len, 0600, err);
	free(text);
	free(old);
	return rc;
}

int user_lines_change(const char *path, size_t most, user_lines_put *put, const void *ctx,
		      struct err *err)
{
	char *dir = xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	char *lock = xasprintf("%s.lock", path), *real = realpath(path, NULL);
	int fd = -1, rc = store_mkdir(dir, err);

	if (!rc)
		rc = store_lock(&fd, lock, "a console", true, err);
	if (!rc)
		rc = user_lines_write(real ? real : path, most, put, ctx, err);
	store_unlock(fd);
	free(real);
	free(lock);
	free(dir);
	return rc;
}

char *user_lines_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
		text[--n] = '\0';
	return text;
}
