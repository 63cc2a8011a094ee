/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A history in a file: "IBRPAST1", then two numbers (bytes unpacked and packed) and so many bytes
 * of zlib: fingerprint of the fabric, states of its ports, job sets, samples, bookmarks.  Numbers
 * as in sample_code.h.
 */
#include "console/session/samples/sample_history.h"

#include "console/session/samples/sample_code.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC	  "IBRPAST1"
#define RAW_MAX	  ((uint64_t)1 << 31)
#define VLS_MAX	  15
#define ATTRS_MAX 64 /* of a job; a later version may know more */
#define WIDTH_MAX 12
#define SETS_MAX  10000
#define SAMPLES_MAX                                                                                \
	(16 * SAMPLE_HISTORY_MAX) /* each is as large as the fabric, whatever it says              \
				   */
#define PIECE ((size_t)1 << 20)	  /* is packed at once */

static void sample_history_file_put_ports(struct bytes *b, const struct fabric *f)
{
	bytes_put_raw(b, &f->fingerprint, sizeof(f->fingerprint));
	bytes_put_uint(b, f->nport);
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *p = &f->port[i];

		bytes_put_uint(b, p->state);
		bytes_put_uint(b, p->op_vls);
		bytes_put_uint(b, p->width);
		bytes_put_uint(b, p->rate_Mbps);
		bytes_put_raw(b, p->speed, sizeof(p->speed));
	}
}

static void sample_history_file_put_text(struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	bytes_put_uint(b, n);
	bytes_put_raw(b, text, n);
}

static void sample_history_file_put_jobs(struct bytes *b, const struct jobset *js)
{
	sample_history_file_put_text(b, js->source);
	bytes_put_uint(b, js->pending);
	bytes_put_int(b, js->time_s);
	bytes_put_uint(b, js->njob);
	for (uint32_t j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		bytes_put_uint(b, job->id);
		sample_history_file_put_text(b, job->name);
		sample_history_file_put_text(b, job->user);
		sample_history_file_put_text(b, job->nodes);
		bytes_put_int(b, job->start_s);
		bytes_put_uint(b, job->unknown);
		bytes_put_uint(b, job->nterm);
		for (uint32_t i = 0; i < job->nterm; i++)
			bytes_put_uint(b, job->terms[i] - (i ? job->terms[i - 1] : 0));
	}
}

/* Job sets of the moments, in the order in which they come up first. */
struct sets {
	const struct jobset **set;
	uint32_t n;
};

/* 0: none; else its number, from 1. */
static uint32_t sample_history_file_set_number(struct sets *s, const struct jobset *js,
					       struct bytes *b)
{
	if (!js)
		return 0;
	for (uint32_t i = s->n; i > 0; i--)
		if (s->set[i - 1] == js)
			return i;
	s->set = xrealloc(s->set, s->n + 1u, sizeof(*s->set));
	s->set[s->n++] = js;
	sample_history_file_put_jobs(b, js);
	return s->n;
}

/* Each as its difference to the one written before it. */
static uint32_t sample_history_file_put_samples(struct bytes *b, struct sample_history *p,
						const struct backdrop *with, struct sets *sets,
						struct bytes *jobs)
{
	const struct sample *before = NULL;
	uint32_t n = 0;

	for (uint64_t i = sample_history_oldest(p); i && i <= sample_history_newest(p); i++) {
		struct snapshot_at m;
		uint8_t *code;
		size_t len;

		if (progress_step(file_progress(), "history", i - sample_history_oldest(p),
				  sample_history_newest(p) - sample_history_oldest(p)))
			break; /* sample_history_file_pack() is told so, too */
		if (!sample_history_get(&m, p, i))
			continue;
		if (m.was.fabric == with->fabric) {
			code = sample_code_encode(&len, before, m.sample);
			bytes_put_uint(b, m.was.tables == with->tables);
			bytes_put_uint(b, sample_history_file_set_number(sets, m.was.jobs, jobs));
			bytes_put_int(b, m.time_s);
			bytes_put_uint(b, len);
			bytes_put_raw(b, code, len);
			free(code);
			sample_put(before);
			before = sample_get(m.sample);
			n++;
		}
		snapshot_at_done(&m);
	}
	sample_put(before);
	return n;
}

static void sample_history_file_put_marks(struct bytes *b, const struct sample_history *p)
{
	const struct mark *mark;
	uint32_t n = sample_history_marks(p, &mark);

	bytes_put_uint(b, n);
	for (uint32_t i = 0; i < n; i++) {
		bytes_put_int(b, mark[i].time_s);
		bytes_put_uint(b, strlen(mark[i].name));
		bytes_put_raw(b, mark[i].name, strlen(mark[i].name));
	}
	/* which of the samples of that second; earlier versions end before */
	for (uint32_t i = 0; i < n; i++)
		bytes_put_uint(b, sample_history_newest(p) - mark[i].serial);
}

/* Partitions, accounts and the like of the jobs, in the order of the sets and of their jobs; those
 * that are not known are left out.  Earlier versions end before. */
static void sample_history_file_put_attrs(struct bytes *b, const struct sets *sets)
{
	for (uint32_t i = 0; i < sets->n; i++)
		for (uint32_t j = 0; j < sets->set[i]->njob; j++) {
			const struct job *job = &sets->set[i]->jobs[j];
			uint32_t n = 0;

			for (int a = 0; a < JOB_ATTRS; a++)
				n += job->attr[a][0] != '\0';
			bytes_put_uint(b, n);
			for (int a = 0; a < JOB_ATTRS; a++)
				if (job->attr[a][0]) {
					sample_history_file_put_text(
						b, job_attr_key((enum job_attr)a));
					sample_history_file_put_text(b, job->attr[a]);
				}
		}
}

/* As compress2() does it, but it can be told how far that is, and cancelled. */
static int sample_history_file_deflate_all(uint8_t *out, uLongf *n, const struct bytes *raw,
					   struct err *err)
{
	z_stream z = { .next_in = raw->p, .next_out = out };
	size_t left = raw->n;
	bool cancelled;

	if (deflateInit(&z, 6) != Z_OK)
		return err_set(err, -ENOMEM, "the history could not be compressed");
	do {
		z.avail_in = (uInt)(left < PIECE ? left : PIECE);
		left -= z.avail_in;
		z.avail_out = 2 * PIECE; /* there is room: compressBound() of all */
		cancelled = progress_step(file_progress(), "compressing the history", raw->n - left,
					  raw->n);
		deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
	} while (left && !cancelled);
	*n = z.total_out;
	deflateEnd(&z);
	return cancelled ? err_set(err, -ECANCELED, "cancelled") : 0;
}

static int sample_history_file_pack(FILE *out, const struct bytes *raw, struct err *err)
{
	uLongf n = compressBound(raw->n);
	struct bytes head = { 0 };
	uint8_t *packed = xcalloc(n, 1);
	int rc = sample_history_file_deflate_all(packed, &n, raw, err);

	bytes_put_raw(&head, MAGIC, 8);
	bytes_put_uint(&head, raw->n);
	bytes_put_uint(&head, n);
	if (!rc && (fwrite(head.p, 1, head.n, out) != head.n || fwrite(packed, 1, n, out) != n))
		rc = err_set(err, -EIO, "the history could not be written: %s", strerror(errno));
	free(head.p);
	free(packed);
	return rc;
}

int sample_history_write(FILE *out, struct sample_history *p, const struct backdrop *b,
			 struct err *err)
{
	struct bytes raw = { 0 }, samples = { 0 }, jobs = { 0 };
	struct sets sets = { 0 };
	uint32_t n = sample_history_file_put_samples(&samples, p, b, &sets, &jobs);
	int rc;

	sample_history_file_put_ports(&raw, b->fabric);
	bytes_put_uint(&raw, sets.n);
	if (jobs.n)
		bytes_put_raw(&raw, jobs.p, jobs.n);
	bytes_put_uint(&raw, n);
	if (samples.n)
		bytes_put_raw(&raw, samples.p, samples.n);
	sample_history_file_put_marks(&raw, p);
	sample_history_file_put_attrs(&raw, &sets);
	rc = sample_history_file_pack(out, &raw, err);
	free(sets.set);
	free(jobs.p);
	free(samples.p);
	free(raw.p);
	return rc;
}

/* --- reading --------------------------------------------------------------------------------- */

static uint8_t *sample_history_file_read_all(FILE *in, size_t *len)
{
	struct bytes b = { 0 };
	uint8_t buf[65536];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), in)))
		bytes_put_raw(&b, buf, n);
	*len = b.n;
	return b.p;
}

static int sample_history_file_unpack(uint8_t **out, size_t *len, FILE *in, const char *what,
				      struct err *err)
{
	size_t nfile;
	uint8_t *file = sample_history_file_read_all(in, &nfile);
	struct reader r = { file, nfile ? file + nfile : file, false };
	char magic[8] = "";
	uint64_t raw, packed;
	uLongf n;
	int rc = 0;

	reader_get_raw(&r, magic, sizeof(magic));
	raw = reader_get_uint(&r);
	packed = reader_get_uint(&r);
	n = raw;
	*out = NULL;
	if (memcmp(magic, MAGIC, 8) != 0)
		rc = err_set(err, -EINVAL, "%s: not a history file of ibroute-top", what);
	else if (r.bad || raw > RAW_MAX || packed != (uint64_t)(r.end - r.p))
		rc = err_set(err, -EINVAL, "%s: truncated or damaged", what);
	else
		*out = xcalloc(raw + 1, 1);
	if (!rc && (uncompress(*out, &n, r.p, packed) != Z_OK || n != raw))
		rc = err_set(err, -EINVAL, "%s: damaged", what);
	*len = n;
	free(file);
	return rc;
}

/* The same in a process that can do nothing else; what it sends is read as the contents of the file
 * are. */
struct history_unpacking {
	FILE *in;
	const char *what;
	uint8_t *raw;
	size_t len;
};

static int sample_history_file_put_raw(void *ctx, bytes_out *out, struct read_report *report,
				       struct err *err)
{
	struct history_unpacking *x = ctx;
	int rc = sample_history_file_unpack(&x->raw, &x->len, x->in, x->what, err);

	(void)report;
	if (!rc)
		bytes_put(out, x->raw, x->len);
	return rc;
}

static int sample_history_file_take_raw(void *ctx, struct bytes_in *in, struct err *err)
{
	struct history_unpacking *x = ctx;

	(void)err;
	if (in->left < sizeof(struct read_report))
		return -EPROTO;
	x->len = in->left - sizeof(struct read_report); /* which comes behind it */
	x->raw = xcalloc(x->len + 1, 1);
	bytes_take(in, x->raw, x->len);
	return 0;
}

static int sample_history_file_unpack_apart(uint8_t **raw, size_t *len, FILE *in, const char *what,
					    struct err *err)
{
	struct history_unpacking x = { .in = in, .what = what };
	struct apart a = { .path = what,
			   .file = in,
			   .read = sample_history_file_put_raw,
			   .take = sample_history_file_take_raw,
			   .ctx = &x };
	int rc = apart_read(&a, NULL, err);

	*raw = x.raw;
	*len = x.len;
	return rc;
}

/* Others may have written it: more than most is none. */
static uint64_t sample_history_file_get_below(struct reader *r, uint64_t most)
{
	uint64_t v = reader_get_uint(r);

	r->bad = r->bad || v > most;
	return v > most ? 0 : v;
}

/* Into port[], where that is not NULL. */
static int sample_history_file_get_ports(struct reader *r, struct port *port,
					 const struct fabric *f, const char *what, struct err *err)
{
	struct digest of;

	if (!reader_get_raw(r, &of, sizeof(of)) || !digest_equal(&of, &f->fingerprint) ||
	    reader_get_uint(r) != f->nport)
		return err_set(err, -ESTALE,
			       "%s: belongs to another fabric than the dump in the "
			       "same folder",
			       what);
	for (uint32_t i = 0; i < f->nport && !r->bad; i++) {
		struct port unused, *p = port ? &port[i] : &unused;

		p->state = (uint8_t)sample_history_file_get_below(r, PORT_ACTIVE);
		p->op_vls = (uint8_t)sample_history_file_get_below(r, VLS_MAX);
		p->width = (uint8_t)sample_history_file_get_below(r, WIDTH_MAX);
		p->rate_Mbps = (uint32_t)sample_history_file_get_below(r, UINT32_MAX);
		reader_get_raw(r, p->speed, sizeof(p->speed));
		p->speed[sizeof(p->speed) - 1] = '\0';
		plain_text(p->speed, "");
	}
	return r->bad ? err_set(err, -EINVAL, "%s: damaged", what) : 0;
}

/* The caller frees. */
static char *sample_history_file_get_text(struct reader *r)
{
	uint64_t n = reader_get_uint(r);
	char *text;

	if (n > (uint64_t)(r->end - r->p)) {
		r->bad = true;
		n = 0;
	}
	text = xcalloc(n + 1, 1);
	reader_get_raw(r, text, n);
	return plain_text(text, "");
}

static void sample_history_file_get_job(struct reader *r, struct jobset_builder *b,
					const struct fabric *f)
{
	struct job head = { .id = reader_get_uint(r) };
	uint64_t unknown, nterm, term = 0;
	uint32_t *terms;

	head.name = sample_history_file_get_text(r);
	head.user = sample_history_file_get_text(r);
	head.nodes = sample_history_file_get_text(r);
	head.start_s = reader_get_int(r);
	unknown = reader_get_uint(r);
	nterm = reader_get_uint(r);
	if (nterm > f->nterm || unknown > 1000000)
		r->bad = true;
	if (!r->bad) {
		terms = xcalloc(nterm + 1, sizeof(*terms));
		for (uint64_t i = 0; i < nterm && !r->bad; i++) {
			term += reader_get_uint(r);
			r->bad = r->bad || term >= f->nterm;
			terms[i] = (uint32_t)term;
		}
		head.unknown = (uint32_t)unknown;
		head.nnodes = (uint32_t)(nterm + unknown);
		if (!r->bad)
			jobset_builder_add_ports(b, &head, terms, (uint32_t)nterm);
		free(terms);
	}
	free(head.name);
	free(head.user);
	free(head.nodes);
}

static const struct jobset *sample_history_file_get_jobs(struct reader *r, const struct fabric *f)
{
	char *source = sample_history_file_get_text(r);
	struct jobset_builder *b = jobset_builder_new(f, source);
	struct jobset *js;
	int64_t time_s;
	uint64_t n;

	jobset_builder_pending(b, (uint32_t)reader_get_uint(r));
	time_s = reader_get_int(r);
	n = reader_get_uint(r);
	for (uint64_t i = 0; i < n && !r->bad; i++)
		sample_history_file_get_job(r, b, f);
	js = jobset_build(b);
	js->time_s = time_s;
	free(source);
	return js;
}

/* Those of now stand for what is the same: nothing is computed twice. */
static const struct jobset **sample_history_file_get_sets(struct reader *r, uint64_t *n,
							  const struct fabric *f)
{
	const struct jobset **set;

	*n = reader_get_uint(r);
	if (*n > SETS_MAX) {
		r->bad = true;
		*n = 0;
	}
	set = xcalloc(*n + 1, sizeof(*set));
	for (uint64_t i = 1; i <= *n && !r->bad; i++)
		set[i] = sample_history_file_get_jobs(r, f);
	return set;
}

static bool sample_history_file_same_jobs(const struct jobset *a, const struct jobset *b)
{
	if (!a || !b || a->njob != b->njob || !jobset_same(a, b))
		return false;
	for (uint32_t j = 0; j < a->njob; j++)
		if (a->jobs[j].id != b->jobs[j].id || a->jobs[j].nterm != b->jobs[j].nterm)
			return false;
	return true;
}

static void sample_history_file_get_samples(struct reader *r, struct sample_history *p,
					    const struct backdrop *b, const struct jobset **set,
					    uint64_t nset)
{
	uint64_t n = reader_get_uint(r);
	const struct sample *before = NULL;

	r->bad = r->bad || n > SAMPLES_MAX;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t tables = reader_get_uint(r), jobs = reader_get_uint(r);
		int64_t time_s = reader_get_int(r);
		uint64_t len = reader_get_uint(r);
		struct backdrop was = *b;
		struct sample *s = NULL;

		if (!r->bad && jobs <= nset && len <= (uint64_t)(r->end - r->p))
			s = sample_code_decode(b->fabric, before, r->p, len);
		if (!s) {
			r->bad = true;
			break;
		}
		r->p += len;
		if (!tables)
			was.tables = NULL;
		was.jobs = jobs && sample_history_file_same_jobs(set[jobs], b->jobs) ? b->jobs
										     : set[jobs];
		sample_history_add(p, &was, s, time_s);
		sample_put(before);
		before = s;
	}
	sample_put(before);
}

/* back: samples before the newest, where the file says it; else the first of that second. */
static uint64_t sample_history_file_marked(const struct sample_history *p, int64_t time_s,
					   const uint64_t *back)
{
	uint64_t oldest = sample_history_oldest(p), newest = sample_history_newest(p);

	if (back && newest && *back <= newest - oldest &&
	    sample_history_time(p, newest - *back) == time_s)
		return newest - *back;
	for (uint64_t at = oldest; at && at <= newest; at++)
		if (sample_history_time(p, at) == time_s)
			return at;
	return 0;
}

static void sample_history_file_get_marks(struct reader *r, struct sample_history *p)
{
	struct mark mark[SAMPLE_HISTORY_MARKS] = { 0 };
	uint64_t n = reader_get_uint(r), got = 0;

	for (; got < n && got < SAMPLE_HISTORY_MARKS && !r->bad; got++) {
		struct mark *m = &mark[got];
		uint64_t len;

		m->time_s = reader_get_int(r);
		len = reader_get_uint(r);
		if (len >= sizeof(m->name) || !reader_get_raw(r, m->name, len))
			break;
		plain_text(m->name, "");
	}
	for (uint64_t i = 0; i < got; i++) {
		bool told = !r->bad && got == n && r->p < r->end;
		uint64_t back = told ? reader_get_uint(r) : 0;
		uint64_t at = sample_history_file_marked(p, mark[i].time_s, told ? &back : NULL);

		if (at)
			sample_history_mark(p, at, mark[i].time_s, mark[i].name);
	}
}

static void sample_history_file_get_attr(struct reader *r, struct jobset *js, struct job *job)
{
	char *key = sample_history_file_get_text(r), *text = sample_history_file_get_text(r);

	for (int a = 0; a < JOB_ATTRS && !r->bad; a++)
		if (!strcmp(key, job_attr_key((enum job_attr)a)))
			job->attr[a] = arena_strdup(js->arena, text);
	free(key);
	free(text);
}

/* Of sets that nobody else has yet; they have the order in which they were written. */
static void sample_history_file_get_attrs(struct reader *r, const struct jobset **set, uint64_t n)
{
	for (uint64_t i = 1; i <= n && r->p < r->end; i++) {
		struct jobset *js = (struct jobset *)set[i];

		for (uint32_t j = 0; js && j < js->njob && !r->bad; j++) {
			uint64_t of = sample_history_file_get_below(r, ATTRS_MAX);

			while (of-- && !r->bad)
				sample_history_file_get_attr(r, js, &js->jobs[j]);
		}
	}
}

int sample_history_read_ports(FILE *in, struct fabric *f, const char *what, struct err *err)
{
	uint8_t *raw = NULL;
	size_t len;
	int rc = sample_history_file_unpack_apart(&raw, &len, in, what, err);
	struct reader r = { raw, raw ? raw + len : raw, false };

	if (!rc)
		rc = sample_history_file_get_ports(&r, f->port, f, what, err);
	free(raw);
	return rc;
}

int sample_history_read(struct sample_history *p, FILE *in, const struct fabric *f,
			const struct tables *t, const struct jobset *jobs, const char *what,
			struct err *err)
{
	struct backdrop b = { .fabric = f, .tables = t, .jobs = jobs };
	const struct jobset **set;
	uint8_t *raw = NULL;
	size_t len;
	uint64_t nset;
	int rc = sample_history_file_unpack_apart(&raw, &len, in, what, err);
	struct reader r = { raw, raw ? raw + len : raw, false };

	if (!rc)
		rc = sample_history_file_get_ports(&r, NULL, f, what, err);
	if (rc)
		goto out;
	set = sample_history_file_get_sets(&r, &nset, f);
	if (!r.bad)
		sample_history_file_get_samples(&r, p, &b, set, nset);
	sample_history_file_get_marks(&r, p);
	if (!r.bad)
		sample_history_file_get_attrs(&r, set, nset);
	for (uint64_t i = 1; i <= nset; i++)
		jobset_put(set[i]);
	free(set);
	if (r.bad)
		rc = err_set(err, -EINVAL, "%s: damaged", what);
out:
	free(raw);
	return rc;
}
