/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/audit_heads.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool audit_take(struct audit_head *h, const char *at)
{
	char hex[DIGEST_HEX];
	int end = 0, place = 0;

	*h = (struct audit_head){ .dir = NULL };
	if (sscanf(at, "IBROUTE_HEAD=%64[0-9a-f] sid=%63[^ ] seq=%" SCNu64 "%n", hex, h->sid,
		   &h->lines, &end) != 3 ||
	    digest_parse(&h->head, hex))
		return false;
	plain_text(h->sid, "");
	if (sscanf(at + end, " host=%71[^ ] dir=%n", h->host, &place) == 1 && place)
		h->dir = xasprintf("%.*s", (int)strcspn(at + end + place, "\n"), at + end + place);
	return true;
}

static int audit_by_session(const void *pa, const void *pb)
{
	const struct audit_head *a = pa, *b = pb;
	int c = strcmp(a->sid, b->sid);

	return c ? c : (a->at > b->at) - (a->at < b->at);
}

int audit_heads_read(struct audit_heads *out, const char *path, struct err *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t cap = 0;
	uint64_t n = 0;
	int rc = 0;

	*out = (struct audit_heads){ NULL, 0, 0 };
	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	while (!rc && getline(&line, &cap, f) > 0) {
		const char *at = strstr(line, "IBROUTE_HEAD=");
		struct audit_head h;

		n++;
		if (!at)
			continue;
		if (!audit_take(&h, at)) {
			rc = err_set(err, -EINVAL,
				     "%s:%" PRIu64 ": IBROUTE_HEAD= without hash, sid= and seq=",
				     path, n);
			break;
		}
		h.at = n;
		vec_push(out, h);
	}
	if (!rc && ferror(f))
		rc = err_set(err, -EIO, "%s: cannot read", path);
	free(line);
	if (f != stdin)
		fclose(f);
	if (rc)
		audit_heads_free(out);
	else if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), audit_by_session);
	return rc;
}

const struct audit_head *audit_heads_of(size_t *n, const struct audit_heads *h, const char *sid)
{
	size_t lo = 0, hi = h->n, end;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (strcmp(h->v[mid].sid, sid) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < h->n && !strcmp(h->v[end].sid, sid);)
		end++;
	*n = end - lo;
	return h->v + lo;
}

const struct audit_head *audit_heads_next(const struct audit_heads *h,
					  const struct audit_head *after, const char *dir)
{
	char here[72] = "";

	if (gethostname(here, sizeof(here) - 1))
		return NULL;
	for (const struct audit_head *e = after ? after + 1 : h->v; e < h->v + h->n; e++)
		if (e->dir && !strcmp(e->dir, dir) && !strcmp(e->host, here) &&
		    (!after || strcmp(e->sid, after->sid) != 0))
			return e;
	return NULL;
}

void audit_heads_free(struct audit_heads *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].dir);
	vec_free(h);
}
