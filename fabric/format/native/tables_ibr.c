/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/tables_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "fabric/format/native/endports_ibr.h"
#include "fabric/format/native/switch_links_ibr.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/*
 * Offsets of the header.  Everything that decoding needs before the body is here, so that a file
 * of another fabric is distinguished from a damaged one without unpacking it.
 */
enum {
	AT_MAGIC = 0,
	AT_VERSION = 8,
	AT_HEADER = 12, /* bytes of the header: a later version may have a longer one */
	AT_BYTES = 16,	/* of the whole encoding */
	AT_RAW = 24,	/* of the body, unpacked */
	AT_SEED = 32,
	AT_NSW = 40,
	AT_NEND = 44,
	AT_MAX_LID = 48,
	AT_SL_KIND = 52,
	AT_SL_CONST = 53,
	AT_SL2VL_KIND = 54,
	AT_VLS = 55,
	AT_SLS = 56,
	AT_ESCAPE = 57, /* from version 2 on; 0 before */
	AT_FINGERPRINT = 64,
	AT_ENGINE = 96,
	AT_PARAMS = 112,
	HEADER_BYTES = 208,
};

#define MIN_BYTES (HEADER_BYTES + DIGEST_BYTES)

static const char magic[8] = "IBROUTE\n";

static size_t tables_ibr_raw_bytes(const struct tables *t)
{
	size_t rows = t->nsw + tables_sl_rows(t->sl_kind, t->nsw, t->nend);

	return rows * (t->max_lid + 1u) + tables_sl2vl_bytes(t);
}

static void tables_ibr_put_header(uint8_t *h, const struct tables *t, size_t bytes, size_t raw)
{
	memset(h, 0, HEADER_BYTES);
	memcpy(h + AT_MAGIC, magic, sizeof(magic));
	le_put32(h + AT_VERSION, tables_know_vls(t) ? TABLES_IBR_VLS : TABLES_IBR_VERSION);
	le_put32(h + AT_HEADER, HEADER_BYTES);
	le_put64(h + AT_BYTES, bytes);
	le_put64(h + AT_RAW, raw);
	le_put64(h + AT_SEED, t->seed);
	le_put32(h + AT_NSW, t->nsw);
	le_put32(h + AT_NEND, t->nend);
	le_put32(h + AT_MAX_LID, t->max_lid);
	h[AT_SL_KIND] = (uint8_t)t->sl_kind;
	h[AT_SL_CONST] = t->sl_const;
	h[AT_SL2VL_KIND] = (uint8_t)t->sl2vl_kind;
	h[AT_VLS] = t->vls;
	h[AT_SLS] = t->sls;
	h[AT_ESCAPE] = t->escape;
	memcpy(h + AT_FINGERPRINT, t->fingerprint.b, DIGEST_BYTES);
	/* only up to the end of each string: what is behind it is nobody's */
	memcpy(h + AT_ENGINE, t->engine, strnlen(t->engine, sizeof(t->engine) - 1));
	memcpy(h + AT_PARAMS, t->params, strnlen(t->params, sizeof(t->params) - 1));
}

static void tables_ibr_push(z_stream *z, const uint8_t *data, size_t len, int flag)
{
	z->next_in = (Bytef *)(uintptr_t)data;
	while (len || flag == Z_FINISH) {
		uInt part = len > (1u << 30) ? 1u << 30 : (uInt)len;

		z->avail_in = part;
		len -= part;
		deflate(z, len ? Z_NO_FLUSH : flag);
		if (!len)
			break;
	}
}

/* Rows of LFTs and SLs that were packed or unpacked; p may be NULL. */
struct pace {
	struct progress *p;
	const char *step;
	uint64_t done, total;
};

static bool tables_ibr_row_done(struct pace *pace, size_t bytes)
{
	pace->done += bytes;
	return progress_step(pace->p, pace->step, pace->done, pace->total);
}

static int tables_ibr_push_rows(z_stream *z, const uint8_t *rows, size_t n, const struct tables *t,
				struct pace *pace)
{
	for (size_t i = 0; i < n; i++) {
		tables_ibr_push(z, rows + i * t->stride, t->max_lid + 1u, Z_NO_FLUSH);
		if (tables_ibr_row_done(pace, 1))
			return -ECANCELED;
	}
	return 0;
}

/* -ECANCELED: p did not want the rest. */
static int tables_ibr_do_encode(uint8_t **buf, size_t *len, const struct tables *t,
				struct progress *p)
{
	size_t nsl = tables_sl_rows(t->sl_kind, t->nsw, t->nend);
	struct pace pace = { p, "writing", 0, t->nsw + nsl };
	size_t raw = tables_ibr_raw_bytes(t), cap = MIN_BYTES + compressBound(raw) + 64;
	z_stream z = { 0 };
	struct digest sum;
	uint8_t *out = xcalloc(cap, 1);
	size_t bytes;
	int rc;

	if (deflateInit(&z, Z_BEST_SPEED) != Z_OK)
		guard_give_up(-ENOMEM, "out of memory to pack tables");
	z.next_out = out + HEADER_BYTES;
	z.avail_out = (uInt)(cap - MIN_BYTES);
	rc = tables_ibr_push_rows(&z, t->lft, t->nsw, t, &pace);
	if (!rc)
		rc = tables_ibr_push_rows(&z, t->sl, nsl, t, &pace);
	if (!rc)
		tables_ibr_push(&z, t->sl2vl, tables_sl2vl_bytes(t), Z_FINISH);
	bytes = (size_t)(z.next_out - out) + DIGEST_BYTES;
	deflateEnd(&z);
	if (rc) {
		free(out);
		return rc;
	}
	tables_ibr_put_header(out, t, bytes, raw);
	digest_of(&sum, out, bytes - DIGEST_BYTES);
	memcpy(out + bytes - DIGEST_BYTES, sum.b, DIGEST_BYTES);
	*buf = xrealloc(out, bytes, 1);
	*len = bytes;
	return 0;
}

void tables_ibr_encode(uint8_t **buf, size_t *len, const struct tables *t)
{
	tables_ibr_do_encode(buf, len, t, NULL);
}

/* Reads and checks everything but the body. */
static int tables_ibr_check(struct tables_ibr_info *info, const uint8_t *buf, size_t len,
			    const char *what, struct err *err)
{
	struct digest sum;

	memset(info, 0, sizeof(*info));
	if (len < sizeof(magic) || memcmp(buf, magic, sizeof(magic)))
		return err_set(err, -EINVAL, "%s: not a tables.ibr (wrong magic number)", what);
	if (len < AT_BYTES + 8)
		return err_set(err, -ENODATA, "%s: truncated after %zu bytes", what, len);
	info->version = le_get32(buf + AT_VERSION);
	info->bytes = le_get64(buf + AT_BYTES);
	if (info->version > TABLES_IBR_VERSION)
		return err_set(
			err, -ENOTSUP,
			"%s: written by a newer ibroute-top (form %u; this one reads up to %d)",
			what, info->version, TABLES_IBR_VERSION);
	if (info->version < 1 || le_get32(buf + AT_HEADER) != HEADER_BYTES ||
	    info->bytes < MIN_BYTES)
		return err_set(err, -EINVAL, "%s: damaged: its header is invalid", what);
	if (len < info->bytes)
		return err_set(err, -ENODATA,
			       "%s: truncated: it has %zu bytes, %" PRIu64 " were written", what,
			       len, info->bytes);
	digest_of(&sum, buf, info->bytes - DIGEST_BYTES);
	if (memcmp(sum.b, buf + info->bytes - DIGEST_BYTES, DIGEST_BYTES))
		return err_set(err, -EINVAL,
			       "%s: damaged: its checksum does not match its "
			       "contents",
			       what);
	info->nsw = le_get32(buf + AT_NSW);
	info->nend = le_get32(buf + AT_NEND);
	info->max_lid = le_get32(buf + AT_MAX_LID);
	info->seed = le_get64(buf + AT_SEED);
	memcpy(info->fingerprint.b, buf + AT_FINGERPRINT, DIGEST_BYTES);
	memcpy(info->engine, buf + AT_ENGINE, sizeof(info->engine) - 1);
	memcpy(info->params, buf + AT_PARAMS, sizeof(info->params) - 1);
	plain_text(info->engine, "");
	plain_text(info->params, "");
	return 0;
}

int tables_ibr_peek(struct tables_ibr_info *info, const uint8_t *buf, size_t len, const char *what,
		    struct err *err)
{
	return tables_ibr_check(info, buf, len, what, err);
}

static int tables_ibr_check_fabric(const struct tables_ibr_info *info, const struct fabric *f,
				   const char *what, struct err *err)
{
	char theirs[9], ours[9];

	if (digest_equal(&info->fingerprint, &f->fingerprint) && info->nsw == f->nsw &&
	    info->nend == f->nend && info->max_lid == f->max_lid)
		return 0;
	return err_set(
		err, -ESTALE,
		"%s: for another fabric: %s with %u switches and %u ends, this one is %s with %u "
		"and %u (a cable, a node or a LID has changed); route it again",
		what, digest_short(theirs, &info->fingerprint), info->nsw, info->nend,
		digest_short(ours, &f->fingerprint), f->nsw, f->nend);
}

static bool tables_ibr_pull(z_stream *z, uint8_t *to, size_t len)
{
	z->next_out = to;
	while (len) {
		uInt part = len > (1u << 30) ? 1u << 30 : (uInt)len;
		int rc;

		z->avail_out = part;
		rc = inflate(z, Z_NO_FLUSH);
		if (z->avail_out && rc != Z_OK)
			return false;
		if (z->avail_out == part)
			return false;
		len -= part - z->avail_out;
	}
	return true;
}

static int tables_ibr_pull_rows(z_stream *z, uint8_t *rows, size_t n, const struct tables *t,
				struct pace *pace)
{
	for (size_t i = 0; i < n; i++) {
		if (!tables_ibr_pull(z, rows + i * t->stride, t->max_lid + 1u))
			return -EINVAL;
		if (tables_ibr_row_done(pace, t->max_lid + 1u))
			return -ECANCELED;
	}
	return 0;
}

static bool tables_ibr_at_most(const uint8_t *v, size_t n, uint8_t max)
{
	uint8_t top = 0;

	for (size_t i = 0; i < n; i++)
		top = v[i] > top ? v[i] : top;
	return top <= max;
}

static bool tables_ibr_ports_exist(const struct tables *t, const struct fabric *f)
{
	for (uint32_t sw = 0; sw < t->nsw; sw++) {
		const uint8_t *row = tables_row(t, sw);

		for (uint32_t lid = 0; lid <= t->max_lid; lid++)
			if (row[lid] > f->sw_nports[sw] && row[lid] != FAB_NO_PORT)
				return false;
	}
	return true;
}

/* Unpacks the body into t, whose forms are set.  -EINVAL: it does not fit; -ECANCELED. */
static int tables_ibr_get_body(struct tables *t, const struct fabric *f, const uint8_t *data,
			       size_t len)
{
	size_t nsl = tables_sl_rows(t->sl_kind, t->nsw, t->nend), nvl = tables_sl2vl_bytes(t);
	struct pace pace = { file_progress(), "reading", 0, tables_ibr_raw_bytes(t) };
	z_stream z = { 0 };
	int rc;

	if (inflateInit(&z) != Z_OK)
		return -EINVAL;
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	rc = tables_ibr_pull_rows(&z, t->lft, t->nsw, t, &pace);
	if (!rc)
		rc = tables_ibr_pull_rows(&z, t->sl, nsl, t, &pace);
	if (!rc && !tables_ibr_pull(&z, t->sl2vl, nvl))
		rc = -EINVAL;
	inflateEnd(&z);
	if (rc)
		return rc;
	return tables_ibr_ports_exist(t, f) &&
			       tables_ibr_at_most(t->sl, nsl * t->stride, FAB_SLS - 1) &&
			       tables_ibr_at_most(t->sl2vl, nvl, VL_DROP)
		       ? 0
		       : -EINVAL;
}

/* f: the fabric of the tables, or its shape. */
static int tables_ibr_unpack(struct tables **out, const uint8_t *buf,
			     const struct tables_ibr_info *info, const struct fabric *f,
			     const char *what, struct err *err)
{
	struct tables *t;
	int rc;

	if (buf[AT_SL_KIND] > SL_BY_TERM || buf[AT_SL2VL_KIND] > SL2VL_UNREAD ||
	    buf[AT_SL_CONST] >= FAB_SLS || buf[AT_ESCAPE] > 1)
		return err_set(err, -EINVAL, "%s: damaged: unknown forms of SL or SL2VL", what);
	t = tables_new(f, info->engine);
	tables_sl_form(t, buf[AT_SL_KIND], f);
	tables_sl2vl_form(t, buf[AT_SL2VL_KIND], f);
	t->sl_const = buf[AT_SL_CONST];
	t->vls = buf[AT_VLS];
	t->sls = buf[AT_SLS];
	t->escape = buf[AT_ESCAPE] == 1;
	t->seed = info->seed;
	memcpy(t->params, info->params, sizeof(t->params));
	rc = le_get64(buf + AT_RAW) == tables_ibr_raw_bytes(t)
		     ? tables_ibr_get_body(t, f, buf + HEADER_BYTES, info->bytes - MIN_BYTES)
		     : -EINVAL;
	if (rc) {
		tables_put(t);
		return rc == -ECANCELED ? err_set(err, rc, "cancelled")
					: err_set(err, rc,
						  "%s: damaged: its contents do not match the "
						  "fabric",
						  what);
	}
	*out = t;
	return 0;
}

int tables_ibr_decode(struct tables **out, const uint8_t *buf, size_t len, const struct fabric *f,
		      const char *what, struct err *err)
{
	struct tables_ibr_info info;
	int rc = tables_ibr_check(&info, buf, len, what, err);

	if (!rc)
		rc = tables_ibr_check_fabric(&info, f, what, err);
	return rc ? rc : tables_ibr_unpack(out, buf, &info, f, what, err);
}

/* Of another fabric as far as tables have to know it: of the switches and cables of f, or (NULL) of
 * those that was tells of. */
static struct fabric tables_ibr_shape(const struct endports *was, const struct fabric *f)
{
	return (struct fabric){
		.nsw = was->nsw,
		.nend = was->nend,
		.max_lid = (uint16_t)was->max_lid,
		.lmc = was->lmc,
		.sw_nports = f ? f->sw_nports : was->links->nports,
		.fingerprint = was->fingerprint,
	};
}

static int tables_ibr_check_ends(const struct tables_ibr_info *info, const struct endports *was,
				 const char *what, struct err *err)
{
	if (digest_equal(&info->fingerprint, &was->fingerprint) && info->nsw == was->nsw &&
	    info->nend == was->nend && info->max_lid == was->max_lid)
		return 0;
	return err_set(err, -EINVAL, "%s: damaged: its end ports are not those of its tables", what);
}

static int tables_ibr_graft(struct tables **out, const uint8_t *buf,
			    const struct tables_ibr_info *info, const struct endports *was,
			    const struct fabric *f, struct graft_report *grafted, const char *what,
			    struct err *err)
{
	struct fabric shape = tables_ibr_shape(was, f);
	struct tables *t;
	struct err why;
	int rc;

	if (!digest_equal(&was->switch_graph, &f->switch_graph) || was->nsw != f->nsw)
		return tables_ibr_check_fabric(info, f, what, err);
	rc = tables_ibr_unpack(&t, buf, info, &shape, what, err);
	if (rc)
		return rc;
	rc = tables_graft(out, f, t, was, grafted, &why);
	tables_put(t);
	return rc ? err_set(err, rc, "%s: %s; route it again", what, why.text) : 0;
}

static int tables_ibr_carry(struct tables **out, const uint8_t *buf,
			    const struct tables_ibr_info *info, const struct endports *was,
			    const struct fabric *f, struct carry_report *carried, const char *what,
			    struct err *err)
{
	struct fabric shape = tables_ibr_shape(was, NULL);
	struct tables *t;
	struct err why;
	int rc = tables_ibr_unpack(&t, buf, info, &shape, what, err);

	if (rc)
		return rc;
	rc = tables_carry(out, f, t, was, carried, &why);
	tables_put(t);
	return rc ? err_set(err, rc, "%s: %s; route it again", what, why.text) : 0;
}

/* Which ends there were, and which switches, where the file says so. */
static int tables_ibr_decode_ends(struct endports **out, const uint8_t *buf, size_t len,
				  const char *what, struct err *err)
{
	int rc = endports_ibr_decode(out, buf, len, what, err);
	size_t ends;

	if (rc)
		return rc;
	ends = ENDPORTS_IBR_HEADER + endports_ibr_rest(buf);
	rc = switch_links_ibr_decode(&(*out)->links, buf + ends, len - ends, what, err);
	if (!rc && (*out)->links->nsw != (*out)->nsw)
		rc = err_set(err, -EINVAL,
			     "%s: damaged: its switches are not those of its tables", what);
	return rc == -ENOENT ? 0 : rc;
}

/* Of this very fabric; else grafted; or, where the caller wants that, carried over. */
static int tables_ibr_decode_file(struct tables **out, const uint8_t *buf, size_t len,
				  const struct fabric *f, struct graft_report *grafted,
				  struct carry_report *carried, const char *what, struct err *err)
{
	struct tables_ibr_info info;
	struct endports *was = NULL;
	int rc = tables_ibr_check(&info, buf, len, what, err);

	if (rc)
		return rc;
	if (grafted)
		*grafted = (struct graft_report){ 0 };
	rc = tables_ibr_decode_ends(&was, buf + info.bytes, len - info.bytes, what, err);
	if (rc == -ENOENT || (!rc && digest_equal(&info.fingerprint, &f->fingerprint)))
		rc = tables_ibr_decode(out, buf, len, f, what, err);
	else if (!rc)
		rc = tables_ibr_check_ends(&info, was, what, err) ? -EINVAL
		     : carried && was->links
			     ? tables_ibr_carry(out, buf, &info, was, f, carried, what, err)
			     : tables_ibr_graft(out, buf, &info, was, f, grafted, what, err);
	endports_put(was);
	return rc;
}

static void tables_ibr_append_links(uint8_t **buf, size_t *len, const struct endports *e)
{
	uint8_t *links;
	size_t n;

	if (!e->links)
		return;
	switch_links_ibr_encode(&links, &n, e->links);
	*buf = xrealloc(*buf, *len + n, 1);
	memcpy(*buf + *len, links, n);
	*len += n;
	free(links);
}

/* Tables, end ports and switches. */
static int tables_ibr_encode_file(uint8_t **buf, size_t *len, const struct tables *t,
				  const struct endports *e, struct progress *p)
{
	uint8_t *ends;
	size_t n;
	int rc = tables_ibr_do_encode(buf, len, t, p);

	if (rc)
		return rc;
	endports_ibr_encode(&ends, &n, e);
	*buf = xrealloc(*buf, *len + n, 1);
	memcpy(*buf + *len, ends, n);
	*len += n;
	free(ends);
	tables_ibr_append_links(buf, len, e);
	return 0;
}

int tables_ibr_write_fd(int fd, const struct tables *t, const struct fabric *f, const char *what,
			struct err *err)
{
	const struct endports *ends = endports_of(f);
	uint8_t *buf;
	size_t len;
	int rc = tables_ibr_encode_file(&buf, &len, t, ends, file_progress());

	endports_put(ends);
	if (rc)
		return err_set(err, rc, "cancelled");
	rc = store_append(fd, what, buf, len, err);
	free(buf);
	return rc;
}

/* Up to len bytes; fewer only at the end of the file. */
static ssize_t tables_ibr_read_some(int fd, uint8_t *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(fd, buf + have, len - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* Appends want bytes, in steps that what is there justifies.  False: there are fewer, or *rc. */
static bool tables_ibr_append(uint8_t **buf, size_t *have, int fd, uint64_t want, int *rc)
{
	while (want) {
		size_t step = want < (1u << 24) ? (size_t)want : (1u << 24);
		ssize_t n;

		*buf = xrealloc(*buf, *have + step, 1);
		n = tables_ibr_read_some(fd, *buf + *have, step);
		if (n < 0) {
			*rc = (int)n;
			return false;
		}
		*have += (size_t)n;
		want -= (size_t)n;
		if ((size_t)n < step)
			return false;
	}
	return true;
}

/* The tables as their header announces them, and end ports and switches behind them, if there are
 * any. */
static int tables_ibr_read_parts(uint8_t **out, size_t *len, int fd)
{
	uint64_t bytes;
	int rc = 0;

	*out = NULL;
	*len = 0;
	if (!tables_ibr_append(out, len, fd, MIN_BYTES, &rc) || memcmp(*out, magic, sizeof(magic)))
		return rc;
	bytes = le_get64(*out + AT_BYTES);
	if (bytes > MIN_BYTES && !tables_ibr_append(out, len, fd, bytes - MIN_BYTES, &rc))
		return rc;
	if (tables_ibr_append(out, len, fd, ENDPORTS_IBR_HEADER, &rc) &&
	    tables_ibr_append(out, len, fd, endports_ibr_rest(*out + *len - ENDPORTS_IBR_HEADER),
			      &rc) &&
	    tables_ibr_append(out, len, fd, SWITCH_LINKS_IBR_HEADER, &rc))
		tables_ibr_append(out, len, fd,
				  switch_links_ibr_rest(*out + *len - SWITCH_LINKS_IBR_HEADER),
				  &rc);
	return rc;
}

static int tables_ibr_do_read(struct tables **out, int fd, const struct fabric *f,
			      struct graft_report *grafted, struct carry_report *carried,
			      const char *what, struct err *err)
{
	uint8_t *buf;
	size_t len;
	int rc = tables_ibr_read_parts(&buf, &len, fd);

	if (rc)
		err_set(err, rc, "%s: cannot be read: %s", what, strerror(-rc));
	else
		rc = tables_ibr_decode_file(out, buf, len, f, grafted, carried, what, err);
	free(buf);
	return rc;
}

int tables_ibr_read_fd(struct tables **out, int fd, const struct fabric *f,
		       struct graft_report *grafted, const char *what, struct err *err)
{
	return tables_ibr_do_read(out, fd, f, grafted, NULL, what, err);
}

int tables_ibr_read_fd_before(struct tables **out, int fd, const struct fabric *f,
			      struct carry_report *carried, const char *what, struct err *err)
{
	*carried = (struct carry_report){ 0 };
	return tables_ibr_do_read(out, fd, f, NULL, carried, what, err);
}

int tables_ibr_save_with(const char *path, const struct tables *t, const struct endports *ends,
			 struct err *err)
{
	uint8_t *buf;
	size_t len;
	int rc;

	tables_ibr_encode_file(&buf, &len, t, ends, NULL);
	rc = store_replace(path, buf, len, 0666, err);
	free(buf);
	return rc;
}

int tables_ibr_save(const char *path, const struct tables *t, const struct fabric *f,
		    struct err *err)
{
	const struct endports *ends = endports_of(f);
	int rc = tables_ibr_save_with(path, t, ends, err);

	endports_put(ends);
	return rc;
}

int tables_ibr_load(struct tables **out, const char *path, const struct fabric *f,
		    struct graft_report *grafted, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_set(err, -errno, "%s: cannot be opened: %s", path, strerror(errno));
	rc = tables_ibr_read_fd(out, fd, f, grafted, path, err);
	close(fd);
	return rc;
}
