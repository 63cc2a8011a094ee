/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/audit_dir.h"

#include "console/record/record_files.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct first_list {
	const struct audit_first **v;
	size_t n, cap;
};

struct audit_dir {
	VEC(struct audit_first) all;
	struct first_list by_sid, by_genesis;
	struct first_list by_epoch; /* sealed sessions ... */
	const struct audit_first *
		*late; /* ... of by_epoch up to here the one with the last time ... */
	const struct audit_first **soon; /* ... and from here on the one with the first */
};

/* --- first lines --------------------------------------------------------------------------- */

static void audit_dir_copy(char *dst, size_t size, const json_t *j, const char *key)
{
	snprintf(dst, size, "%s", json_string_at(j, key));
}

static uint64_t audit_dir_number(const json_t *j, const char *key)
{
	json_int_t v = json_integer_at(j, key);

	return v > 0 ? (uint64_t)v : 0;
}

static void audit_dir_take(struct audit_first *f, const json_t *j)
{
	const json_t *data = json_object_get(j, "data"), *g = json_object_get(data, "genesis");

	audit_dir_copy(f->sid, sizeof(f->sid), j, "sid");
	audit_dir_copy(f->ts, sizeof(f->ts), j, "ts");
	f->seq = audit_dir_number(j, "seq");
	f->part = audit_dir_number(data, "part");
	f->epoch = audit_dir_number(json_object_get(j, "seal"), "epoch");
	f->follows = json_string_at(data, "head")[0];
	if (digest_parse(&f->head, json_string_at(data, "head")))
		memset(&f->head, 0, sizeof(f->head));
	if (digest_parse(&f->genesis, json_string_at(g, "head")))
		return;
	audit_dir_copy(f->genesis_sid, sizeof(f->genesis_sid), g, "sid");
	f->genesis_seq = json_integer_at(g, "seq");
}

static void audit_dir_add(struct audit_dir *d, const char *path)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "re");
	ssize_t len = f ? getline(&line, &cap, f) : -1;
	json_t *j = len > 0 ? json_text_clean(json_loadb(line, (size_t)len, 0, NULL)) : NULL;

	if (j) {
		struct audit_first x = {
			.name = plain_text(xstrdup(record_file_name(path)), ""),
		};

		audit_dir_take(&x, j);
		vec_push(&d->all, x);
	}
	json_decref(j);
	free(line);
	if (f)
		fclose(f);
}

/* --- in the orders in which they are looked for --------------------------------------------- */

static int audit_dir_by_sid(const void *pa, const void *pb)
{
	const struct audit_first *a = *(const struct audit_first *const *)pa;
	const struct audit_first *b = *(const struct audit_first *const *)pb;
	int c = strcmp(a->sid, b->sid);

	return c ? c : (a->part > b->part) - (a->part < b->part);
}

static int audit_dir_by_genesis(const void *pa, const void *pb)
{
	const struct audit_first *a = *(const struct audit_first *const *)pa;
	const struct audit_first *b = *(const struct audit_first *const *)pb;
	int c = strcmp(a->genesis_sid, b->genesis_sid);

	return c ? c : strcmp(a->sid, b->sid);
}

static int audit_dir_by_epoch(const void *pa, const void *pb)
{
	const struct audit_first *a = *(const struct audit_first *const *)pa;
	const struct audit_first *b = *(const struct audit_first *const *)pb;

	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return strcmp(a->sid, b->sid);
}

static void audit_dir_sort(struct first_list *l, int (*cmp)(const void *, const void *))
{
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), cmp);
}

static void audit_dir_index_epochs(struct audit_dir *d)
{
	struct first_list *l = &d->by_epoch;

	d->late = xcalloc(l->n, sizeof(*d->late));
	d->soon = xcalloc(l->n, sizeof(*d->soon));
	for (size_t i = 0; i < l->n; i++)
		d->late[i] =
			i && strcmp(d->late[i - 1]->ts, l->v[i]->ts) > 0 ? d->late[i - 1] : l->v[i];
	for (size_t i = l->n; i--;)
		d->soon[i] = i + 1 < l->n && strcmp(d->soon[i + 1]->ts, l->v[i]->ts) < 0
				     ? d->soon[i + 1]
				     : l->v[i];
}

static void audit_dir_index(struct audit_dir *d)
{
	for (size_t i = 0; i < d->all.n; i++) {
		const struct audit_first *f = &d->all.v[i];

		vec_push(&d->by_sid, f);
		if (f->genesis_sid[0])
			vec_push(&d->by_genesis, f);
		if (f->epoch && !f->seq && f->sid[0] && f->ts[0])
			vec_push(&d->by_epoch, f);
	}
	audit_dir_sort(&d->by_sid, audit_dir_by_sid);
	audit_dir_sort(&d->by_genesis, audit_dir_by_genesis);
	audit_dir_sort(&d->by_epoch, audit_dir_by_epoch);
	audit_dir_index_epochs(d);
}

struct audit_dir *audit_dir_read(const char *dir)
{
	struct audit_dir *d = xcalloc(1, sizeof(*d));
	struct record_files files;

	record_files_list(&files, dir);
	for (size_t i = 0; i < files.n; i++)
		audit_dir_add(d, files.v[i]);
	record_files_free(&files);
	audit_dir_index(d);
	return d;
}

void audit_dir_free(struct audit_dir *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->all.n; i++)
		free(d->all.v[i].name);
	vec_free(&d->all);
	vec_free(&d->by_sid);
	vec_free(&d->by_genesis);
	vec_free(&d->by_epoch);
	free(d->late);
	free(d->soon);
	free(d);
}

/* --- who is asked for ------------------------------------------------------------------------ */

/* The first whose sid, or whose genesis' sid, is not below. */
static size_t audit_dir_lower(const struct first_list *l, const char *sid, bool genesis)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (strcmp(genesis ? l->v[mid]->genesis_sid : l->v[mid]->sid, sid) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct audit_first *const *audit_dir_range(size_t *n, const struct first_list *l,
							const char *sid, bool genesis)
{
	size_t at = audit_dir_lower(l, sid, genesis), end = at;

	while (end < l->n && !strcmp(genesis ? l->v[end]->genesis_sid : l->v[end]->sid, sid))
		end++;
	*n = end - at;
	return *n ? l->v + at : NULL;
}

const struct audit_first *const *audit_dir_chained(size_t *n, const struct audit_dir *d,
						   const char *sid)
{
	return audit_dir_range(n, &d->by_genesis, sid, true);
}

const struct audit_first *const *audit_dir_parts(size_t *n, const struct audit_dir *d,
						 const char *sid)
{
	return audit_dir_range(n, &d->by_sid, sid, false);
}

/* The first of by_epoch that is of that epoch or a later one. */
static size_t audit_dir_epoch_from(const struct audit_dir *d, uint64_t epoch)
{
	size_t lo = 0, hi = d->by_epoch.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->by_epoch.v[mid]->epoch < epoch)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct audit_first *audit_dir_wrong_epoch(const struct audit_dir *d, const char *sid,
						const char *ts, uint64_t epoch)
{
	const struct first_list *l = &d->by_epoch;
	size_t from = audit_dir_epoch_from(d, epoch), to = from;

	for (; to < l->n && l->v[to]->epoch == epoch; to++)
		if (strcmp(l->v[to]->sid, sid))
			return l->v[to];
	if (from && strcmp(d->late[from - 1]->ts, ts) > 0)
		return d->late[from - 1];
	return to < l->n && strcmp(d->soon[to]->ts, ts) < 0 ? d->soon[to] : NULL;
}

const struct audit_first *audit_dir_sealed_before(const struct audit_dir *d, const char *ts)
{
	return d->by_epoch.n && strcmp(d->soon[0]->ts, ts) < 0 ? d->soon[0] : NULL;
}
