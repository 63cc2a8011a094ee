/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/file/plan_bytes.h"

#include "fabric/base/file/store.h"
#include "fabric/plan/file/plan_apart.h"
#include "fabric/plan/file/planfile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

int plan_bytes_load(struct plan_bytes *out, struct plan **p, const char *path, struct err *err)
{
	int rc;

	*out = (struct plan_bytes){ 0 };
	*p = NULL;
	rc = store_read(&out->data, &out->len, path, err);
	if (rc)
		return rc;
	digest_of(&out->sum, out->data, out->len);
	rc = plan_decode_apart(p, out->data, out->len, path, err);
	if (rc)
		plan_bytes_clear(out);
	return rc;
}

int plan_bytes_of(struct plan_bytes *out, const struct plan *p, struct err *err)
{
	int rc;

	*out = (struct plan_bytes){ 0 };
	rc = plan_encode(&out->data, &out->len, p, p->id, err);
	if (!rc)
		digest_of(&out->sum, out->data, out->len);
	return rc;
}

int plan_bytes_check(const struct plan_bytes *b, const char *path, struct err *err)
{
	struct digest now;
	struct stat st;
	char *data;
	size_t len;
	int rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return 0;
	rc = store_read(&data, &len, path, err);
	if (rc)
		return rc;
	digest_of(&now, data, len);
	free(data);
	if (digest_equal(&now, &b->sum))
		return 0;
	return err_set(err, -ESTALE,
		       "%s has changed since it was read: look at it again (ibroute-top show)",
		       path);
}

void plan_bytes_clear(struct plan_bytes *b)
{
	free(b->data);
	*b = (struct plan_bytes){ 0 };
}
