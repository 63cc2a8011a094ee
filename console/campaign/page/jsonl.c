/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/page/jsonl.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int jsonl_line(const char *path, uint64_t number, char *text,
		      bool (*take)(void *ctx, const json_t *line), void *ctx, struct err *err)
{
	json_error_t why;
	json_t *j = json_loads(text, 0, &why);
	bool last;

	if (!json_is_object(j)) {
		json_decref(j);
		return err_set(err, -EINVAL, "%s:%llu: no line of a campaign: %s", path,
			       (unsigned long long)number, why.text);
	}
	last = take(ctx, j);
	json_decref(j);
	return last;
}

int jsonl_read_file(FILE *in, const char *path, bool (*take)(void *ctx, const json_t *line),
		    void *ctx, struct err *err)
{
	char *text = NULL;
	size_t room = 0;
	uint64_t number = 0;
	int rc = 0;

	while (!rc && getline(&text, &room, in) > 0)
		rc = jsonl_line(path, ++number, text, take, ctx, err);
	free(text);
	return rc < 0 ? rc : 0;
}

int jsonl_read(const char *dir, const char *name, bool (*take)(void *ctx, const json_t *line),
	       void *ctx, struct err *err)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *in = fopen(path, "re");
	int rc = 0;

	if (!in)
		rc = err_set(err, -errno, "%s cannot be read: %s", path, strerror(errno));
	else
		rc = jsonl_read_file(in, path, take, ctx, err);
	if (in)
		fclose(in);
	free(path);
	return rc;
}

double jsonl_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}
