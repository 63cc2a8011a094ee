/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A past in a file: "IBRPAST1", then two numbers (bytes unpacked and packed) and so many bytes of
 * zlib: fingerprint of the fabric, states of its ports, samples, bookmarks.  Numbers as in
 * past_code.h.
 */
#include "console/past.h"

#include "console/past_code.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC	    "IBRPAST1"
#define RAW_MAX	    ((uint64_t)1 << 31)
#define SAME_TABLES 1
#define SAME_JOBS   2

static void put_ports(struct bytes *b, const struct fabric *f)
{
	put_raw(b, &f->fingerprint, sizeof(f->fingerprint));
	put_uint(b, f->nport);
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *p = &f->port[i];

		put_uint(b, p->state);
		put_uint(b, p->op_vls);
		put_uint(b, p->width);
		put_uint(b, p->rate_Mbps);
		put_raw(b, p->speed, sizeof(p->speed));
	}
}

/* Each as its difference to the one written before it. */
static uint32_t put_samples(struct bytes *b, struct past *p, const struct backdrop *with)
{
	const struct sample *before = NULL;
	uint32_t n = 0;

	for (uint64_t i = past_oldest(p); i && i <= past_newest(p); i++) {
		struct moment m;
		uint8_t *code;
		size_t len;

		if (!past_get(&m, p, i))
			continue;
		if (m.was.fabric == with->fabric) {
			code = past_encode(&len, before, m.sample);
			put_uint(b, (m.was.tables == with->tables ? SAME_TABLES : 0) |
					    (m.was.jobs == with->jobs ? SAME_JOBS : 0));
			put_int(b, m.time_s);
			put_uint(b, len);
			put_raw(b, code, len);
			free(code);
			sample_put(before);
			before = sample_get(m.sample);
			n++;
		}
		moment_done(&m);
	}
	sample_put(before);
	return n;
}

static void put_marks(struct bytes *b, const struct past *p)
{
	const struct mark *mark;
	uint32_t n = past_marks(p, &mark);

	put_uint(b, n);
	for (uint32_t i = 0; i < n; i++) {
		put_int(b, mark[i].time_s);
		put_uint(b, strlen(mark[i].name));
		put_raw(b, mark[i].name, strlen(mark[i].name));
	}
}

static int pack(FILE *out, const struct bytes *raw, struct err *err)
{
	uLongf n = compressBound(raw->n);
	struct bytes head = { 0 };
	uint8_t *packed = xcalloc(n, 1);
	int rc = 0;

	compress2(packed, &n, raw->p, raw->n, 6);
	put_raw(&head, MAGIC, 8);
	put_uint(&head, raw->n);
	put_uint(&head, n);
	if (fwrite(head.p, 1, head.n, out) != head.n || fwrite(packed, 1, n, out) != n)
		rc = err_set(err, -EIO, "the history could not be written: %s", strerror(errno));
	free(head.p);
	free(packed);
	return rc;
}

int past_write(FILE *out, struct past *p, const struct backdrop *b, struct err *err)
{
	struct bytes raw = { 0 }, samples = { 0 };
	uint32_t n = put_samples(&samples, p, b);
	int rc;

	put_ports(&raw, b->fabric);
	put_uint(&raw, n);
	put_raw(&raw, samples.p, samples.n);
	put_marks(&raw, p);
	rc = pack(out, &raw, err);
	free(samples.p);
	free(raw.p);
	return rc;
}

/* --- reading --------------------------------------------------------------------------------- */

static uint8_t *read_all(FILE *in, size_t *len)
{
	struct bytes b = { 0 };
	uint8_t buf[65536];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), in)))
		put_raw(&b, buf, n);
	*len = b.n;
	return b.p;
}

static int unpack(uint8_t **out, size_t *len, FILE *in, const char *what, struct err *err)
{
	size_t nfile;
	uint8_t *file = read_all(in, &nfile);
	struct reader r = { file, file + nfile, false };
	char magic[8] = "";
	uint64_t raw, packed;
	uLongf n;
	int rc = 0;

	get_raw(&r, magic, sizeof(magic));
	raw = get_uint(&r);
	packed = get_uint(&r);
	n = raw;
	*out = NULL;
	if (memcmp(magic, MAGIC, 8) != 0)
		rc = err_set(err, -EINVAL, "%s: not a history of this program", what);
	else if (r.bad || raw > RAW_MAX || packed != (uint64_t)(r.end - r.p))
		rc = err_set(err, -EINVAL, "%s: cut off or damaged", what);
	else
		*out = xcalloc(raw + 1, 1);
	if (!rc && (uncompress(*out, &n, r.p, packed) != Z_OK || n != raw))
		rc = err_set(err, -EINVAL, "%s: damaged", what);
	*len = n;
	free(file);
	return rc;
}

static int get_ports(struct reader *r, struct fabric *f, const char *what, struct err *err)
{
	struct digest of;

	if (!get_raw(r, &of, sizeof(of)) || !digest_equal(&of, &f->fingerprint) ||
	    get_uint(r) != f->nport)
		return err_set(err, -ESTALE, "%s: it is of another fabric than the dump beside it",
			       what);
	for (uint32_t i = 0; i < f->nport && !r->bad; i++) {
		struct port *p = &f->port[i];

		p->state = (uint8_t)get_uint(r);
		p->op_vls = (uint8_t)get_uint(r);
		p->width = (uint8_t)get_uint(r);
		p->rate_Mbps = (uint32_t)get_uint(r);
		get_raw(r, p->speed, sizeof(p->speed));
		p->speed[sizeof(p->speed) - 1] = '\0';
	}
	return 0;
}

static void get_samples(struct reader *r, struct past *p, const struct backdrop *b)
{
	uint64_t n = get_uint(r);
	const struct sample *before = NULL;

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t same = get_uint(r);
		int64_t time_s = get_int(r);
		uint64_t len = get_uint(r);
		struct backdrop was = *b;
		struct sample *s;

		if (r->bad || len > (uint64_t)(r->end - r->p))
			break;
		s = past_decode(b->fabric, before, r->p, len);
		r->p += len;
		if (!s)
			break;
		if (!(same & SAME_TABLES))
			was.tables = NULL;
		if (!(same & SAME_JOBS))
			was.jobs = NULL;
		past_add(p, &was, s, time_s);
		sample_put(before);
		before = s;
		if (i + 1 == n) {
			sample_put(before);
			return;
		}
	}
	r->bad = r->bad || n > 0;
	sample_put(before);
}

static void get_marks(struct reader *r, struct past *p)
{
	uint64_t n = get_uint(r);

	for (uint64_t i = 0; i < n && i < PAST_MARKS && !r->bad; i++) {
		int64_t time_s = get_int(r);
		uint64_t len = get_uint(r);
		char name[32] = "";

		if (len >= sizeof(name) || !get_raw(r, name, len))
			break;
		for (uint64_t at = past_oldest(p); at && at <= past_newest(p); at++) {
			if (past_time(p, at) != time_s)
				continue;
			past_mark(p, at, time_s, name);
			break;
		}
	}
}

int past_read(struct past *p, FILE *in, struct fabric *f, const struct tables *t,
	      const struct jobset *jobs, const char *what, struct err *err)
{
	struct backdrop b = { .fabric = f, .tables = t, .jobs = jobs };
	uint8_t *raw = NULL;
	size_t len;
	struct reader r;
	int rc = unpack(&raw, &len, in, what, err);

	r = (struct reader){ raw, raw + (raw ? len : 0), false };
	if (!rc)
		rc = get_ports(&r, f, what, err);
	if (!rc) {
		get_samples(&r, p, &b);
		get_marks(&r, p);
		if (r.bad)
			rc = err_set(err, -EINVAL, "%s: damaged", what);
	}
	free(raw);
	return rc;
}
