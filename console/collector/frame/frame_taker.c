/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/frame_taker.h"

#include "console/collector/frame/acts_bytes.h"
#include "console/collector/frame/frame_parts.h"
#include "console/collector/frame/job_list_bytes.h"
#include "console/collector/frame/past_taker.h"
#include "console/collector/frame/updates_bytes.h"
#include "console/session/engine_list.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings_bytes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame_taker {
	struct taken_racks racks;
	struct taken_fabric fabric;
	struct taken_tables tables;
	struct engine_list *engines; /* of that fabric */
	struct readings *readings;
	const struct findings *findings; /* told last */
	struct past_taker past;
};

struct frame_taker *frame_taker_new(const struct slurm_topology *racks, const char *racks_path)
{
	struct frame_taker *t = xcalloc(1, sizeof(*t));

	t->racks = (struct taken_racks){ racks, racks_path };
	t->readings = sample_readings_new();
	return t;
}

void frame_taker_free(struct frame_taker *t)
{
	if (!t)
		return;
	past_taker_done(&t->past);
	findings_put(t->findings);
	sample_readings_free(t->readings);
	free(t->engines);
	taken_tables_done(&t->tables);
	taken_fabric_done(&t->fabric);
	free(t);
}

/* A text of the sender's into a field. */
static void frame_take_text(char *to, size_t size, struct bytes_in *in)
{
	char *text = bytes_take_text(in);

	snprintf(to, size, "%s", text ? text : "");
	free(text);
}

static int frame_take_hello(struct msg **out, struct bytes_in *in)
{
	struct hello h;
	struct msg *m;

	bytes_take(in, &h, sizeof(h));
	if (in->bad || !(h.interval_s > 0) || h.interval_s > 1e6)
		return -EPROTO;
	h.source[sizeof(h.source) - 1] = h.jobs[sizeof(h.jobs) - 1] = '\0';
	m = msg_new(MSG_COLLECTOR);
	m->seconds = h.interval_s;
	m->since_s = (double)h.oldest_ms / 1e3;
	m->rc = h.may_write != 0;
	snprintf(m->text, sizeof(m->text), "%s", h.source);
	snprintf(m->engine, sizeof(m->engine), "%s", h.jobs);
	*out = m;
	return 0;
}

static char *frame_take_lines(struct bytes_in *in)
{
	char *text = bytes_take_text(in);

	for (char *c = text; c && (c = strchr(c, '\t'));)
		*c = '\n';
	return text;
}

static int frame_take_fabric(struct msg **out, struct frame_taker *t, struct bytes_in *in,
			     int64_t time_ms, struct err *err)
{
	const struct fabric *before = t->fabric.fabric;
	struct fabric_part head;
	struct msg *m;
	char *silent;
	int rc;

	bytes_take(in, &head, sizeof(head));
	silent = frame_take_lines(in);
	rc = in->bad ? -EPROTO : taken_fabric(&t->fabric, NULL, &t->racks, in, err);
	if (rc) {
		free(silent);
		return rc;
	}
	if (t->fabric.fabric != before) {
		free(t->engines);
		t->engines = engine_list_new(t->fabric.fabric);
		taken_tables_done(&t->tables);
	}
	m = msg_new(MSG_FABRIC);
	m->fabric = fabric_get(t->fabric.fabric);
	m->shape = fabric_shape_get(t->fabric.shape);
	m->engines = engine_list_copy(t->engines);
	m->findings = findings_get(t->findings);
	m->seconds = isfinite(head.seconds) ? head.seconds : 0;
	m->partial = head.partial;
	m->silent = silent;
	m->time_ms = time_ms;
	*out = m;
	return 0;
}

static int frame_take_tables(struct msg **out, struct frame_taker *t, struct bytes_in *in,
			     int64_t time_ms)
{
	struct tables_part head;
	struct msg *m;
	int rc;

	bytes_take(in, &head, sizeof(head));
	rc = in->bad ? -EPROTO
		     : taken_tables(&t->tables, NULL, t->fabric.fabric, head.weighted, in);
	if (rc)
		return rc;
	m = msg_new(MSG_TABLES);
	m->fabric = fabric_get(t->fabric.fabric);
	m->tables = tables_get(t->tables.tables);
	m->seconds = isfinite(head.seconds) ? head.seconds : 0;
	m->since_s = isfinite(head.since_s) ? head.since_s : 0;
	m->total = head.mads;
	m->partial = head.partial;
	m->time_ms = time_ms;
	*out = m;
	return 0;
}

static int frame_take_sample(struct msg **out, struct frame_taker *t, struct bytes_in *in,
			     int64_t time_ms)
{
	struct sample *s;
	struct msg *m;
	int rc = taken_sample(&s, t->fabric.fabric, NULL, in);

	if (rc)
		return rc;
	m = msg_new(MSG_SAMPLE);
	m->fabric = fabric_get(t->fabric.fabric);
	m->reading = sample_reading_new(t->readings, t->fabric.shape, s);
	m->time_ms = time_ms;
	*out = m;
	return 0;
}

static int frame_take_jobs(struct msg **out, struct bytes_in *in)
{
	struct msg *m = msg_new(MSG_JOBS);
	int64_t time_s;
	int rc;

	bytes_take(in, &time_s, sizeof(time_s));
	rc = job_list_bytes_take(&m->list, in, time_s);
	if (rc)
		msg_drop(m);
	else
		*out = m;
	return rc;
}

static int frame_take_source(struct msg **out, struct bytes_in *in)
{
	struct msg *m = msg_new(MSG_JOBS_SOURCE);

	bytes_take(in, &m->rc, sizeof(m->rc));
	frame_take_text(m->text, sizeof(m->text), in);
	if (in->bad) {
		msg_drop(m);
		return -EPROTO;
	}
	*out = m;
	return 0;
}

static int frame_take_sm(struct msg **out, struct bytes_in *in)
{
	struct msg *m = msg_new(MSG_SM);
	struct sm_part head;
	uint32_t adapts;
	uint8_t counted;

	bytes_take(in, &head, sizeof(head));
	bytes_take(in, &m->rc, sizeof(m->rc));
	bytes_take(in, &m->sm, sizeof(m->sm));
	m->sm.act_count = (uint32_t)head.act_count;
	frame_take_text(m->text, sizeof(m->text), in);
	frame_take_text(m->engine, sizeof(m->engine), in);
	frame_take_text(m->requested, sizeof(m->requested), in);
	frame_take_text(m->replaces, sizeof(m->replaces), in);
	frame_take_text(m->adaptive, sizeof(m->adaptive), in);
	frame_take_text(m->update, sizeof(m->update), in);
	frame_take_text(m->owner, sizeof(m->owner), in);
	frame_take_text(m->away, sizeof(m->away), in);
	bytes_take(in, &adapts, sizeof(adapts));
	in->bad |= adapts > ADAPTIVE_YES;
	m->adapts.state = (enum adaptive_state)adapts;
	frame_take_text(m->adapts.why, sizeof(m->adapts.why), in);
	bytes_take(in, &m->counts, sizeof(m->counts));
	bytes_take(in, &counted, sizeof(counted));
	m->counted = counted != 0;
	if (in->bad) {
		msg_drop(m);
		return -EPROTO;
	}
	*out = m;
	return 0;
}

static int frame_take_findings(struct msg **out, struct frame_taker *t, struct bytes_in *in,
			       struct err *err)
{
	const struct findings *l;
	int rc = findings_bytes_take(&l, in, err);

	if (rc)
		return rc;
	findings_put(t->findings);
	t->findings = l;
	*out = msg_new(MSG_FINDINGS);
	(*out)->findings = findings_get(l);
	return 0;
}

static int frame_take_acts(struct msg **out, struct bytes_in *in)
{
	const struct acts *l;
	int rc = acts_bytes_take(&l, in);

	if (rc)
		return rc;
	*out = msg_new(MSG_ACTS);
	(*out)->acts = l;
	return 0;
}

static int frame_take_updates(struct msg **out, struct bytes_in *in)
{
	const struct update_counts *c;
	int rc = updates_bytes_take(&c, in);

	if (rc)
		return rc;
	*out = msg_new(MSG_UPDATES);
	(*out)->updates = c;
	return 0;
}

/* Only the messages that are words and numbers. */
static int frame_take_note(struct msg **out, struct bytes_in *in)
{
	struct note_part h;
	struct msg *m;

	bytes_take(in, &h, sizeof(h));
	switch (in->bad ? MSG_LOG : (enum msg_type)h.type) {
	case MSG_DISCOVERING:
	case MSG_READING:
	case MSG_TABLES_READING:
	case MSG_POLLING:
	case MSG_LOST:
	case MSG_FOUND:
	case MSG_KEEPING:
		break;
	default:
		return -EPROTO;
	}
	m = msg_new((enum msg_type)h.type);
	m->rc = h.type == MSG_LOST ? 0 : h.rc; /* else it is the collector that is gone */
	m->done = h.done;
	m->total = h.total;
	m->seconds = isfinite(h.seconds) ? h.seconds : 0;
	frame_take_text(m->text, sizeof(m->text), in);
	*out = m;
	return 0;
}

/* Into the log of this process, as if it had happened here. */
static int frame_take_log(struct bytes_in *in)
{
	struct log_part h;
	char area[12], text[300];

	bytes_take(in, &h, sizeof(h));
	frame_take_text(area, sizeof(area), in);
	frame_take_text(text, sizeof(text), in);
	if (in->bad || h.level > LOG_ERROR)
		return -EPROTO;
	log_add((enum log_level)h.level, area, "%s", text);
	return 0;
}

static int frame_take_kind(struct msg **out, struct frame_taker *t, const struct frame_head *head,
			   struct bytes_in *in, struct err *err)
{
	switch (head->kind) {
	case FRAME_HELLO:
		return frame_take_hello(out, in);
	case FRAME_FABRIC:
		return frame_take_fabric(out, t, in, head->time_ms, err);
	case FRAME_TABLES:
		return frame_take_tables(out, t, in, head->time_ms);
	case FRAME_SAMPLE:
		return frame_take_sample(out, t, in, head->time_ms);
	case FRAME_JOBS:
		return frame_take_jobs(out, in);
	case FRAME_SOURCE:
		return frame_take_source(out, in);
	case FRAME_SM:
		return frame_take_sm(out, in);
	case FRAME_FINDINGS:
		return frame_take_findings(out, t, in, err);
	case FRAME_ACTS:
		return frame_take_acts(out, in);
	case FRAME_UPDATES:
		return frame_take_updates(out, in);
	case FRAME_NOTE:
		return frame_take_note(out, in);
	case FRAME_LOG:
		return frame_take_log(in);
	case FRAME_PAST:
		return past_take(out, &t->past, &t->fabric, &t->tables, &t->racks, in, err);
	default:
		return -EPROTO;
	}
}

int frame_take(struct msg **out, struct frame_taker *t, const struct frame_head *head,
	       const uint8_t *data, struct err *err)
{
	struct bytes_in in = { .at = data, .left = head->len };
	struct err why = { "" };
	int rc;

	*out = NULL;
	rc = frame_take_kind(out, t, head, &in, &why);
	if (!rc)
		return 0;
	if (rc == -ESTALE)
		return err_set(err, rc, "a sample or tables of another fabric have come");
	return err_set(err, rc, "a message of the collector (kind %u, %u bytes) cannot be read%s%s",
		       head->kind, head->len, why.text[0] ? ": " : "", why.text);
}
