/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/plan_files.h"

#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void plan_files_add(struct plan_files *files, const char *kind, const char *path,
		    const struct digest *sha256)
{
	size_t len = strlen(path);
	struct plan_file *x;

	if (files->n == PLAN_FILES)
		return;
	x = &files->file[files->n++];
	snprintf(x->kind, sizeof(x->kind), "%s", kind);
	if (len >= sizeof(x->path))
		path += len - sizeof(x->path) + 1;
	snprintf(x->path, sizeof(x->path), "%s", path);
	x->sha256 = *sha256;
}

json_t *plan_files_encode(const struct plan_files *files)
{
	json_t *list = json_array();
	char hex[DIGEST_HEX];

	for (uint32_t i = 0; i < files->n; i++) {
		const struct plan_file *x = &files->file[i];

		json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "kind", x->kind, "path",
						      json_text(x->path), "sha256",
						      digest_hex(hex, &x->sha256)));
	}
	return list;
}

int plan_files_decode(struct plan_files *out, const json_t *j, struct err *err)
{
	json_t *one;
	size_t i;

	memset(out, 0, sizeof(*out));
	if (json_array_size(j) > PLAN_FILES || (j && !json_is_array(j)))
		return err_set(err, -EBADMSG, "the files of its tables are not a list");
	json_array_foreach(j, i, one)
	{
		const char *kind = json_string_value(json_object_get(one, "kind"));
		const char *path = json_string_value(json_object_get(one, "path"));
		const char *hex = json_string_value(json_object_get(one, "sha256"));
		struct digest sum;

		if (!kind || !path || !hex || digest_parse(&sum, hex))
			return err_set(err, -EBADMSG, "the files of its tables are invalid");
		plan_files_add(out, kind, path, &sum);
	}
	return 0;
}

void plan_files_digest(struct digest_stream *s, const struct plan_files *files)
{
	for (uint32_t i = 0; i < files->n; i++) {
		digest_add(s, files->file[i].kind, strlen(files->file[i].kind) + 1);
		digest_add(s, files->file[i].sha256.b, DIGEST_BYTES);
	}
}
