/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/past_taker.h"

#include "console/collector/frame/frame_parts.h"
#include "console/collector/frame/job_list_bytes.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void past_taker_done(struct past_taker *p)
{
	taken_fabric_done(&p->fabric);
	taken_tables_done(&p->tables);
}

struct past_samples {
	struct bytes_in before, sample, base_before, base; /* bases: of differences */
};

/* A frame in the answer; empty: there is none. */
static struct bytes_in past_part(struct bytes_in *in)
{
	struct bytes_in part = { 0 };
	uint64_t len;

	bytes_take(in, &len, sizeof(len));
	in->bad |= len > in->left;
	if (in->bad)
		return part;
	part = (struct bytes_in){ .at = in->at, .left = len };
	in->at += len;
	in->left -= len;
	return part;
}

static int past_take_fabric(struct past_taker *p, const struct taken_fabric *live,
			    const struct taken_racks *racks, struct bytes_in *part, struct err *err)
{
	struct fabric_part head;

	bytes_take(part, &head, sizeof(head));
	free(bytes_take_text(part)); /* who was silent then */
	if (part->bad)
		return err_set(err, -EPROTO, "the fabric of that time cannot be read");
	return taken_fabric(&p->fabric, live, racks, part, err);
}

/* Those of another fabric were not read again before the sample was. */
static int past_take_tables(struct past_taker *p, const struct taken_tables *live,
			    struct bytes_in *part)
{
	struct tables_part head;
	int rc;

	if (!part->left) {
		taken_tables_done(&p->tables);
		return 0;
	}
	bytes_take(part, &head, sizeof(head));
	rc = taken_tables(&p->tables, live, p->fabric.fabric, head.weighted, part);
	if (rc)
		taken_tables_done(&p->tables);
	return rc == -ESTALE ? 0 : rc;
}

static int past_take_jobs(struct msg *m, struct bytes_in *part)
{
	int64_t time_s;

	if (!part->left)
		return 0;
	bytes_take(part, &time_s, sizeof(time_s));
	return job_list_bytes_take(&m->list, part, time_s);
}

/* base: of the last one, where this has none of its own. */
static int past_take_sample(struct sample **out, struct sample **base, const struct fabric *f,
			    struct bytes_in *part, struct bytes_in *of)
{
	int rc;

	if (of->left) {
		sample_put(*base);
		rc = taken_sample(base, f, NULL, of);
		if (rc)
			return rc;
	}
	return taken_sample(out, f, *base, part);
}

/* Rates are made from the one before, where that was of the same fabric. */
static int past_take_samples(struct msg *m, const struct past_taker *p, struct past_samples *in)
{
	struct sample *s = NULL, *first = NULL, *base = NULL;
	struct readings *r;
	int rc = 0;

	if (in->before.left)
		rc = past_take_sample(&first, &base, p->fabric.fabric, &in->before,
				      &in->base_before);
	if (!rc || rc == -ESTALE)
		rc = past_take_sample(&s, &base, p->fabric.fabric, &in->sample, &in->base);
	sample_put(base);
	if (rc) {
		sample_put(s);
		sample_put(first);
		return -EPROTO;
	}
	r = sample_readings_new();
	if (first)
		sample_reading_free(sample_reading_new(r, p->fabric.shape, first));
	m->reading = sample_reading_new(r, p->fabric.shape, s);
	sample_readings_free(r);
	return 0;
}

static void past_take_line(struct log_line *to, struct bytes_in *in)
{
	struct log_part h;
	char *area, *text;

	bytes_take(in, &h, sizeof(h));
	area = bytes_take_text(in);
	text = bytes_take_text(in);
	to->time_ns = h.time_ns;
	to->level = h.level <= LOG_ERROR ? (enum log_level)h.level : LOG_INFO;
	snprintf(to->area, sizeof(to->area), "%s", area ? area : "");
	snprintf(to->text, sizeof(to->text), "%s", text ? text : "");
	free(area);
	free(text);
}

static int past_take_lines(struct msg *m, struct bytes_in *part)
{
	uint32_t n = 0;

	if (part->left)
		bytes_take(part, &n, sizeof(n));
	if (part->bad || n > part->left / sizeof(struct log_part))
		return -EPROTO;
	m->lines = xcalloc(n, sizeof(*m->lines));
	for (uint32_t i = 0; i < n && !part->bad; i++)
		past_take_line(&m->lines[m->nlines++], part);
	return part->bad ? -EPROTO : 0;
}

static int past_take_parts(struct msg *m, struct past_taker *p, const struct taken_fabric *live,
			   const struct taken_tables *live_tables, const struct taken_racks *racks,
			   struct bytes_in *in, struct err *err)
{
	struct bytes_in fabric = past_part(in), tables = past_part(in), jobs = past_part(in);
	struct bytes_in before = past_part(in), sample = past_part(in), base_before = past_part(in),
			base = past_part(in), lines = past_part(in);
	struct past_samples samples = { before, sample, base_before, base };
	int rc = bytes_at_end(in) ? past_take_fabric(p, live, racks, &fabric, err) : -EPROTO;

	if (!rc)
		rc = past_take_tables(p, live_tables, &tables);
	if (!rc)
		rc = past_take_jobs(m, &jobs);
	if (!rc)
		rc = past_take_samples(m, p, &samples);
	if (!rc)
		rc = past_take_lines(m, &lines);
	if (rc)
		return err_set(err, -EPROTO, "what is kept of that time cannot be read");
	m->fabric = fabric_get(p->fabric.fabric);
	m->shape = fabric_shape_get(p->fabric.shape);
	m->tables = p->tables.tables ? tables_get(p->tables.tables) : NULL;
	return 0;
}

int past_take(struct msg **out, struct past_taker *p, const struct taken_fabric *live,
	      const struct taken_tables *live_tables, const struct taken_racks *racks,
	      struct bytes_in *in, struct err *err)
{
	struct err why = { "" };
	struct past_part head;
	struct msg *m;
	char *text;

	*out = NULL;
	bytes_take(in, &head, sizeof(head));
	text = bytes_take_text(in);
	if (in->bad) {
		free(text);
		return err_set(err, -EPROTO, "an answer about the past cannot be read");
	}
	m = msg_new(MSG_PAST);
	m->total = head.serial;
	m->rc = (int)head.rc;
	m->time_ms = head.time_ms;
	snprintf(m->text, sizeof(m->text), "%s", text ? text : "");
	free(text);
	if (!m->rc)
		m->rc = past_take_parts(m, p, live, live_tables, racks, in, &why);
	if (why.text[0])
		snprintf(m->text, sizeof(m->text), "%s", why.text);
	*out = m;
	return 0;
}
