/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/frame.h"

#include "console/collector/frame/acts_bytes.h"
#include "console/collector/frame/frame_parts.h"
#include "console/collector/frame/job_list_bytes.h"
#include "console/collector/frame/updates_bytes.h"
#include "console/session/samples/sample_code.h"
#include "console/session/samples/sample_columns.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings_bytes.h"
#include "fabric/model/tables/tables_bytes.h"
#include "fabric/model/topology/bytes/fabric_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t frame_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct frame *frame_kept(enum frame_kind kind, int64_t time_ms, uint8_t *data, uint32_t len)
{
	struct frame *f = xcalloc(1, sizeof(*f));

	f->head = (struct frame_head){
		.magic = FRAME_MAGIC, .len = len, .kind = kind, .time_ms = time_ms
	};
	f->data = data;
	f->body_len = len;
	f->refs = 1;
	return f;
}

/* Takes out.  What is too long for a head is told to nobody. */
static struct frame *frame_made(enum frame_kind kind, bytes_out *out, size_t body, size_t body_end)
{
	struct frame *f;

	if (out->n > FRAME_MAX) {
		log_add(LOG_ERROR, "collector", "%zu bytes are too many for one message", out->n);
		vec_free(out);
		return NULL;
	}
	f = frame_kept(kind, frame_now_ms(), out->v, (uint32_t)out->n);
	f->body = (uint32_t)body;
	f->body_len = (uint32_t)(body_end - body);
	return f;
}

const struct frame *frame_get(const struct frame *f)
{
	__atomic_add_fetch(&((struct frame *)f)->refs, 1, __ATOMIC_RELAXED);
	return f;
}

void frame_put(const struct frame *f)
{
	if (!f || __atomic_sub_fetch(&((struct frame *)f)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	frame_put(f->base);
	free((void *)f->data);
	free((void *)f);
}

void frame_digest(struct digest *out, const struct frame *f)
{
	digest_of(out, f->data + f->body, f->body_len);
}

/* --- of messages ----------------------------------------------------------------------------- */

struct frame *frame_of_hello(const struct hello *h)
{
	bytes_out out = { 0 };

	bytes_put(&out, h, sizeof(*h));
	return frame_made(FRAME_HELLO, &out, 0, out.n);
}

/* Lines, which a text between processes has none of. */
static void frame_put_lines(bytes_out *out, const char *lines)
{
	char *text = lines ? xstrdup(lines) : NULL;

	for (char *c = text; c && (c = strchr(c, '\n'));)
		*c = '\t';
	bytes_put_text(out, text);
	free(text);
}

static struct frame *frame_of_fabric(const struct msg *m)
{
	struct fabric_part h = { .seconds = m->seconds, .partial = m->partial };
	bytes_out out = { 0 };
	size_t body;

	bytes_put(&out, &h, sizeof(h));
	frame_put_lines(&out, m->silent);
	body = out.n;
	fabric_bytes_put(&out, m->fabric);
	return frame_made(FRAME_FABRIC, &out, body, out.n);
}

static struct frame *frame_of_tables(const struct msg *m)
{
	struct tables_part h = { .seconds = m->seconds,
				 .since_s = m->since_s,
				 .mads = m->total,
				 .partial = m->partial,
				 .weighted = m->tables->weighted != NULL };
	bytes_out out = { 0 };
	size_t body;

	bytes_put(&out, &h, sizeof(h));
	body = out.n;
	bytes_put(&out, &m->fabric->fingerprint, sizeof(struct digest));
	tables_bytes_put(&out, m->tables);
	if (h.weighted)
		bytes_put(&out, m->tables->weighted,
			  m->fabric->nport * sizeof(*m->tables->weighted));
	return frame_made(FRAME_TABLES, &out, body, out.n);
}

/* Takes code. */
static struct frame *frame_of_code(const struct digest *fabric, uint8_t *code, size_t len)
{
	bytes_out out = { 0 };

	bytes_put(&out, fabric, sizeof(*fabric));
	bytes_put(&out, code, len);
	free(code);
	return frame_made(FRAME_SAMPLE, &out, 0, out.n);
}

static struct frame *frame_of_sample(const struct sample *s)
{
	size_t len;
	uint8_t *code = sample_code_encode(&len, NULL, s);

	return frame_of_code(&s->fingerprint, code, len);
}

struct frame *frame_of_columns(const struct msg *m, int64_t time_ms)
{
	const struct sample *s = m->reading->sample;
	size_t len;
	uint8_t *code = sample_columns_encode(&len, s);
	struct frame *f = frame_of_code(&s->fingerprint, code, len);

	if (f)
		f->head.time_ms = time_ms;
	return f;
}

static struct columns_code frame_columns(const struct frame *f)
{
	const size_t at = sizeof(struct digest);

	return f ? (struct columns_code){ f->data + at, f->head.len - at }
		 : (struct columns_code){ 0 };
}

static bool frame_same_fabric(const struct frame *a, const struct frame *b)
{
	const size_t n = sizeof(struct digest);

	return a->head.len > n && b->head.len > n && !memcmp(a->data, b->data, n);
}

struct frame *frame_sample_kept(const struct frame *f, const struct frame *before,
				const struct frame *base)
{
	struct frame *kept;
	struct digest of;
	uint8_t *code;
	size_t len;

	if (!frame_same_fabric(f, f) || (base && !frame_same_fabric(f, base)))
		return NULL;
	if (before && !frame_same_fabric(f, before))
		before = NULL;
	code = sample_columns_rounded(&len, frame_columns(f), frame_columns(before),
				      frame_columns(base));
	if (!code)
		return NULL;
	memcpy(&of, f->data, sizeof(of));
	kept = frame_of_code(&of, code, len);
	if (kept) {
		kept->head.time_ms = f->head.time_ms;
		kept->base = base ? frame_get(base) : NULL;
	}
	return kept;
}

static struct frame *frame_of_jobs(const struct msg *m)
{
	bytes_out out = { 0 };
	int64_t time_s = m->list->time_s;

	/* its own time is the only thing that differs while nothing changes */
	bytes_put(&out, &time_s, sizeof(time_s));
	job_list_bytes_put(&out, m->list);
	return frame_made(FRAME_JOBS, &out, sizeof(time_s), out.n);
}

static struct frame *frame_of_source(const struct msg *m)
{
	bytes_out out = { 0 };

	bytes_put(&out, &m->rc, sizeof(m->rc));
	bytes_put_text(&out, m->text);
	return frame_made(FRAME_SOURCE, &out, 0, out.n);
}

static struct frame *frame_of_sm(const struct msg *m)
{
	struct sm_part h = { .act_count = m->sm.act_count };
	uint32_t adapts = m->adapts.state;
	bytes_out out = { 0 };
	struct wire_sm sm;

	memset(&sm, 0, sizeof(sm));
	sm.lid = m->sm.lid;
	sm.sl = m->sm.sl;
	sm.guid = m->sm.guid;
	sm.priority = m->sm.priority;
	sm.state = m->sm.state;
	bytes_put(&out, &h, sizeof(h));
	bytes_put(&out, &m->rc, sizeof(m->rc));
	bytes_put(&out, &sm, sizeof(sm));
	bytes_put_text(&out, m->text);
	bytes_put_text(&out, m->engine);
	bytes_put_text(&out, m->requested);
	bytes_put_text(&out, m->replaces);
	bytes_put_text(&out, m->adaptive);
	bytes_put_text(&out, m->update);
	bytes_put_text(&out, m->owner);
	bytes_put_text(&out, m->away);
	bytes_put(&out, &adapts, sizeof(adapts));
	bytes_put_text(&out, m->adapts.why);
	bytes_put(&out, &m->counts, sizeof(m->counts));
	bytes_put(&out, &m->counted, sizeof(m->counted));
	return frame_made(FRAME_SM, &out, sizeof(h), out.n);
}

struct frame *frame_of_findings(const struct findings *l)
{
	bytes_out out = { 0 };

	findings_bytes_put(&out, l);
	return frame_made(FRAME_FINDINGS, &out, 0, out.n);
}

static struct frame *frame_of_acts(const struct acts *l)
{
	bytes_out out = { 0 };

	acts_bytes_put(&out, l);
	return frame_made(FRAME_ACTS, &out, 0, out.n);
}

static struct frame *frame_of_updates(const struct update_counts *c)
{
	bytes_out out = { 0 };

	updates_bytes_put(&out, c);
	return frame_made(FRAME_UPDATES, &out, 0, out.n);
}

static struct frame *frame_of_note(const struct msg *m)
{
	struct note_part h = { .type = (uint32_t)m->type,
			       .rc = m->rc,
			       .done = m->done,
			       .total = m->total,
			       .seconds = m->seconds };
	bytes_out out = { 0 };

	bytes_put(&out, &h, sizeof(h));
	bytes_put_text(&out, m->text);
	return frame_made(FRAME_NOTE, &out, 0, out.n);
}

static void frame_put_line(bytes_out *out, const struct log_line *line)
{
	struct log_part h = { .time_ns = line->time_ns, .level = (uint32_t)line->level };

	bytes_put(out, &h, sizeof(h));
	bytes_put_text(out, line->area);
	bytes_put_text(out, line->text);
}

static struct frame *frame_of_log(const struct msg *m)
{
	bytes_out out = { 0 };

	frame_put_line(&out, &m->line);
	return frame_made(FRAME_LOG, &out, 0, out.n);
}

struct frame *frame_of_lines(const struct log_line *lines, uint32_t n)
{
	bytes_out out = { 0 };

	bytes_put(&out, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++)
		frame_put_line(&out, &lines[i]);
	return frame_made(FRAME_LINES, &out, 0, out.n);
}

struct frame *frame_of_msg(const struct msg *m)
{
	switch (m->type) {
	case MSG_FABRIC:
		return frame_of_fabric(m);
	case MSG_TABLES:
		return frame_of_tables(m);
	case MSG_SAMPLE:
		return frame_of_sample(m->reading->sample);
	case MSG_JOBS:
		return frame_of_jobs(m);
	case MSG_JOBS_SOURCE:
		return frame_of_source(m);
	case MSG_SM:
		return frame_of_sm(m);
	case MSG_FINDINGS:
		return frame_of_findings(m->findings);
	case MSG_ACTS:
		return frame_of_acts(m->acts);
	case MSG_UPDATES:
		return frame_of_updates(m->updates);
	case MSG_LOG:
		return m->line.level > LOG_DEBUG ? frame_of_log(m) : NULL;
	case MSG_DISCOVERING:
	case MSG_READING:
	case MSG_TABLES_READING:
	case MSG_POLLING:
	case MSG_LOST:
	case MSG_FOUND:
	case MSG_KEEPING:
		return frame_of_note(m);
	default:
		return NULL;
	}
}

static void frame_put_part(bytes_out *out, const struct frame *f)
{
	uint64_t len = f ? f->head.len : 0;

	bytes_put(out, &len, sizeof(len));
	if (f)
		bytes_put(out, f->data, f->head.len);
}

static const struct frame *frame_base_of(const struct frame *f)
{
	return f ? f->base : NULL;
}

struct frame *frame_of_past(const struct past_answer *a)
{
	struct past_part h = { .serial = a->serial, .rc = a->rc, .time_ms = a->time_ms };
	bytes_out out = { 0 };

	bytes_put(&out, &h, sizeof(h));
	bytes_put_text(&out, a->text ? a->text : "");
	frame_put_part(&out, a->fabric);
	frame_put_part(&out, a->tables);
	frame_put_part(&out, a->jobs);
	frame_put_part(&out, a->before);
	frame_put_part(&out, a->sample);
	frame_put_part(&out, frame_base_of(a->before));
	/* mostly it is that one */
	frame_put_part(&out, frame_base_of(a->sample) != frame_base_of(a->before)
				     ? frame_base_of(a->sample)
				     : NULL);
	frame_put_part(&out, a->events);
	return frame_made(FRAME_PAST, &out, 0, out.n);
}
