/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/audit_heads.h"

#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take(struct audit_head *h, const char *at)
{
	char hex[DIGEST_HEX];

	return sscanf(at, "IBROUTE_HEAD=%64[0-9a-f] sid=%63[^ ] seq=%" SCNu64, hex, h->sid,
		      &h->lines) == 3 &&
	       !digest_parse(&h->head, hex);
}

int audit_heads_read(struct audit_heads *out, const char *path, struct err *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	VEC(struct audit_head) v = { 0 };
	char *line = NULL;
	size_t cap = 0;
	uint64_t n = 0;
	int rc = 0;

	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	while (!rc && getline(&line, &cap, f) > 0) {
		const char *at = strstr(line, "IBROUTE_HEAD=");
		struct audit_head h;

		n++;
		if (at && take(&h, at))
			vec_push(&v, h);
		else if (at)
			rc = err_set(err, -EINVAL,
				     "%s:%" PRIu64 ": IBROUTE_HEAD= without hash, sid= and seq=",
				     path, n);
	}
	if (!rc && ferror(f))
		rc = err_set(err, -EIO, "%s: cannot read", path);
	free(line);
	if (f != stdin)
		fclose(f);
	out->v = v.v;
	out->n = (uint32_t)v.n;
	if (rc)
		audit_heads_free(out);
	return rc;
}

void audit_heads_free(struct audit_heads *h)
{
	free(h->v);
	*h = (struct audit_heads){ NULL, 0 };
}
