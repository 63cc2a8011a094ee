/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/jobwire.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MAGIC	   0x4a534249u /* "IBSJ" */
#define HEAD_BYTES 16u

typedef VEC(uint8_t) bytes;

static void jobwire_put_raw(bytes *b, const void *data, size_t len)
{
	vec_reserve(b, b->n + len);
	memcpy(b->v + b->n, data, len);
	b->n += len;
}

static void jobwire_put_int(bytes *b, uint64_t v, int size)
{
	uint8_t le[8];

	le_put(le, v, (size_t)size);
	jobwire_put_raw(b, le, (size_t)size);
}

static void jobwire_put_str(bytes *b, const char *s)
{
	size_t len = strlen(s);

	jobwire_put_int(b, len, 4);
	jobwire_put_raw(b, s, len);
}

/* Starts a frame; the length and the checksum follow in jobwire_frame_end(). */
static void jobwire_frame_begin(bytes *b, enum jobwire_type type)
{
	jobwire_put_int(b, MAGIC, 4);
	jobwire_put_int(b, JOBWIRE_VERSION, 2);
	jobwire_put_int(b, type, 2);
	jobwire_put_int(b, 0, 8);
}

/* Over all that precedes it in the header, and the payload. */
static uint32_t jobwire_checksum(const uint8_t *head, uint32_t payload)
{
	return (uint32_t)crc32(crc32(0, head, 12), head + HEAD_BYTES, payload);
}

static uint8_t *jobwire_frame_end(size_t *len, bytes *b)
{
	uint32_t payload = (uint32_t)(b->n - HEAD_BYTES);
	uint32_t crc;

	le_put32(b->v + 8, payload);
	crc = jobwire_checksum(b->v, payload);
	le_put32(b->v + 12, crc);
	*len = b->n;
	return b->v;
}

uint8_t *jobwire_list(size_t *len, const struct job_list *l)
{
	bytes b = { 0 };

	jobwire_frame_begin(&b, JOBWIRE_LIST);
	jobwire_put_int(&b, (uint64_t)l->time_s, 8);
	jobwire_put_int(&b, l->pending, 4);
	jobwire_put_int(&b, l->other, 4);
	jobwire_put_int(&b, l->nfailed, 4);
	for (uint32_t i = 0; i < l->nfailed; i++)
		jobwire_put_int(&b, l->failed[i], 8);
	jobwire_put_int(&b, l->njob, 4);
	for (uint32_t i = 0; i < l->njob; i++) {
		const struct job_rec *r = &l->jobs[i];

		jobwire_put_int(&b, r->id, 8);
		jobwire_put_int(&b, (uint64_t)r->start_s, 8);
		jobwire_put_str(&b, r->name);
		jobwire_put_str(&b, r->user);
		jobwire_put_str(&b, r->nodes);
		jobwire_put_int(&b, r->nhost, 4);
		for (uint32_t h = 0; h < r->nhost; h++)
			jobwire_put_str(&b, r->hosts[h]);
	}
	return jobwire_frame_end(len, &b);
}

uint8_t *jobwire_text(size_t *len, enum jobwire_type type, int64_t time_s, const char *text)
{
	bytes b = { 0 };

	jobwire_frame_begin(&b, type);
	jobwire_put_int(&b, (uint64_t)time_s, 8);
	jobwire_put_str(&b, text);
	return jobwire_frame_end(len, &b);
}

struct jobwire_reader {
	bytes in;
	size_t done; /* bytes of in that were consumed */
	bool broken;
};

struct jobwire_reader *jobwire_reader_new(void)
{
	return xcalloc(1, sizeof(struct jobwire_reader));
}

void jobwire_reader_free(struct jobwire_reader *r)
{
	if (!r)
		return;
	vec_free(&r->in);
	free(r);
}

void jobwire_feed(struct jobwire_reader *r, const void *data, size_t len)
{
	if (r->broken || !len)
		return;
	if (r->done) {
		memmove(r->in.v, r->in.v + r->done, r->in.n - r->done);
		r->in.n -= r->done;
		r->done = 0;
	}
	jobwire_put_raw(&r->in, data, len);
}

/* A payload being read; bad is set by the first read past its end and stays. */
struct cursor {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static uint64_t jobwire_take_int(struct cursor *c, int size)
{
	uint64_t v;

	if (c->left < (size_t)size) {
		c->bad = true;
		c->left = 0;
		return 0;
	}
	v = le_get(c->p, (size_t)size);
	c->p += size;
	c->left -= (size_t)size;
	return v;
}

/* A copy in the arena, up to the first zero if there is one. */
static const char *jobwire_take_str(struct cursor *c, struct arena *a)
{
	size_t len = (size_t)jobwire_take_int(c, 4);
	char *s;

	if (len > c->left) {
		c->bad = true;
		c->left = 0;
		len = 0;
	}
	s = arena_alloc(a, len + 1, 1);
	memcpy(s, c->p, len);
	c->p += len;
	c->left -= len;
	return s;
}

static void jobwire_take_job(struct job_list *l, struct cursor *c, struct arena *scratch)
{
	struct job_rec r = { .id = jobwire_take_int(c, 8) };
	const char **hosts;

	r.start_s = (int64_t)jobwire_take_int(c, 8);
	r.name = jobwire_take_str(c, scratch);
	r.user = jobwire_take_str(c, scratch);
	r.nodes = jobwire_take_str(c, scratch);
	r.nhost = (uint32_t)jobwire_take_int(c, 4);
	/* each name takes four bytes at least: a lie about the count must not cost memory */
	if (r.nhost > c->left / 4) {
		c->bad = true;
		return;
	}
	hosts = arena_array(scratch, const char *, r.nhost);
	for (uint32_t h = 0; h < r.nhost; h++)
		hosts[h] = jobwire_take_str(c, scratch);
	r.hosts = hosts;
	if (!c->bad)
		job_list_add(l, &r);
}

static void jobwire_take_list(struct jobwire_msg *m, struct cursor *c)
{
	struct arena *scratch = arena_new();
	uint32_t njob, nfailed;

	m->list = job_list_new("slurm", m->time_s);
	m->list->pending = (uint32_t)jobwire_take_int(c, 4);
	m->list->other = (uint32_t)jobwire_take_int(c, 4);
	nfailed = (uint32_t)jobwire_take_int(c, 4);
	for (uint32_t i = 0; i < nfailed && !c->bad; i++)
		job_list_failed(m->list, jobwire_take_int(c, 8));
	njob = (uint32_t)jobwire_take_int(c, 4);
	for (uint32_t i = 0; i < njob && !c->bad; i++)
		jobwire_take_job(m->list, c, scratch);
	job_list_sort(m->list);
	arena_free(scratch);
}

static void jobwire_take_text(struct jobwire_msg *m, struct cursor *c)
{
	struct arena *scratch = arena_new();

	snprintf(m->text, sizeof(m->text), "%s", jobwire_take_str(c, scratch));
	plain_text(m->text, "");
	arena_free(scratch);
}

static int jobwire_broken(struct jobwire_reader *r, struct err *err, const char *what)
{
	r->broken = true;
	r->in.n = r->done = 0;
	return err_set(err, -EPROTO, "the SLURM poller violated its protocol: %s", what);
}

static int jobwire_take_payload(struct jobwire_msg *m, struct jobwire_reader *r, struct cursor *c,
				struct err *err)
{
	m->time_s = (int64_t)jobwire_take_int(c, 8);
	switch (m->type) {
	case JOBWIRE_LIST:
		jobwire_take_list(m, c);
		break;
	case JOBWIRE_HELLO:
	case JOBWIRE_SAME:
	case JOBWIRE_FAIL:
		jobwire_take_text(m, c);
		break;
	default:
		return jobwire_broken(r, err, "unknown type of message");
	}
	if (!c->bad && !c->left)
		return 1;
	job_list_put(m->list);
	m->list = NULL;
	return jobwire_broken(
		r, err, c->bad ? "message shorter than its length field" : "message too long");
}

int jobwire_next(struct jobwire_msg *out, struct jobwire_reader *r, struct err *err)
{
	const uint8_t *head;
	size_t have = r->in.n - r->done;
	struct cursor c;
	uint32_t len;

	memset(out, 0, sizeof(*out));
	if (r->broken)
		return jobwire_broken(r, err, "closed after an earlier fault");
	if (have < HEAD_BYTES)
		return 0;
	head = r->in.v + r->done;
	if (le_get32(head) != MAGIC)
		return jobwire_broken(r, err, "wrong magic number");
	if (le_get(head + 4, 2) != JOBWIRE_VERSION)
		return jobwire_broken(r, err, "wrong version: two releases are mixed");
	len = le_get32(head + 8);
	if (len > JOBWIRE_MAX_BYTES)
		return jobwire_broken(r, err, "message larger than allowed");
	if (have - HEAD_BYTES < len)
		return 0;
	if (le_get32(head + 12) != jobwire_checksum(head, len))
		return jobwire_broken(r, err, "checksum does not match");
	out->type = (enum jobwire_type)le_get(head + 6, 2);
	c = (struct cursor){ .p = head + HEAD_BYTES, .left = len };
	r->done += HEAD_BYTES + len;
	return jobwire_take_payload(out, r, &c, err);
}
