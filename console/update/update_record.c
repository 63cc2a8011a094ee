/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/update_record.h"

#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ITEMS 512 /* writes that share a line, at most */

static json_t *update_record_hex_guid(uint64_t guid)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016lx", (unsigned long)guid);
	return json_string(buf);
}

static void update_record_hash_of(struct digest *old, struct digest *new, const struct changes *l,
				  uint32_t i)
{
	const struct change *c = &l->v[i];

	if (l->hash) {
		*old = l->hash[2 * i];
		*new = l->hash[2 * i + 1];
		return;
	}
	digest_of(old, change_old(l, c), change_bytes(c));
	digest_of(new, change_new(l, c), change_bytes(c));
}

/* ---- lines of thousands of writes: as text, for which jansson takes longer than half of the
 * datagrams take that they are about ---- */

typedef VEC(char) text;

static void update_record_put_n(text *out, const char *s, size_t len)
{
	vec_reserve(out, out->n + len);
	memcpy(out->v + out->n, s, len);
	out->n += len;
}

static void update_record_put(text *out, const char *s)
{
	update_record_put_n(out, s, strlen(s));
}

/* At least that many digits; returns their end, without a zero there. */
static char *update_record_number(char *at, uint32_t n, unsigned digits)
{
	char buf[16];
	size_t first = sizeof(buf);

	for (; n || digits; n /= 10, digits -= digits > 0)
		buf[--first] = (char)('0' + n % 10);
	return mempcpy(at, buf + first, sizeof(buf) - first);
}

static char *update_record_quoted_hash(char *at, const struct digest *d)
{
	*at++ = '"';
	digest_hex(at, d);
	at += DIGEST_HEX - 1;
	*at++ = '"';
	return at;
}

#define ENTRY_MAX 260 /* bytes of one, at most */

static void update_record_put_entry(text *out, const struct executor_event *ev,
				    const struct executor_item *it)
{
	const struct change *c = &ev->list->v[it->change];
	bool back = ev->phase == PHASE_ROLLBACK;
	struct digest old, new;
	char *at;

	update_record_hash_of(&old, &new, ev->list, it->change);
	vec_reserve(out, out->n + ENTRY_MAX);
	at = out->v + out->n;
	if (c->kind == CHANGE_LFT) {
		at = update_record_number(stpcpy(at, "{\"block\":"), c->block, 1);
	} else {
		at = update_record_number(stpcpy(at, "{\"in\":"), c->in, 1);
		at = update_record_number(stpcpy(at, ",\"out\":"), c->out, 1);
	}
	at = update_record_quoted_hash(stpcpy(at, ",\"old\":"), back ? &new : &old);
	at = update_record_quoted_hash(stpcpy(at, ",\"new\":"), back ? &old : &new);
	at = stpcpy(at, it->rc < 0 ? ",\"status\":-" : ",\"status\":");
	at = update_record_number(at, (uint32_t)abs(it->rc), 1);
	at = stpcpy(at, ",\"ms\":");
	if (it->us) {
		at = update_record_number(at, it->us / 1000, 1);
		*at++ = '.';
		at = update_record_number(at, it->us % 1000, 3);
	} else { /* OpenSM does not tell */
		at = stpcpy(at, "null");
	}
	*at++ = '}';
	out->n = (size_t)(at - out->v);
}

static void update_record_put_switch(text *out, const struct change *c, const struct fabric *f)
{
	char guid[40];

	snprintf(guid, sizeof(guid), "{\"sw\":\"0x%016lx\"", (unsigned long)c->guid);
	update_record_put(out, guid);
	if (f && c->sw < f->nsw) {
		json_t *name = json_text(f->sw_name[c->sw]);
		char *quoted = json_dumps(name, JSON_ENCODE_ANY);

		update_record_put(out, ",\"name\":");
		update_record_put(out, quoted);
		free(quoted);
		json_decref(name);
	}
	update_record_put(out, c->kind == CHANGE_LFT ? ",\"blocks\":[" : ",\"tables\":[");
}

/* From item first on as many as are of the same kind and fit a line; returns how many. */
static uint32_t update_record_put_list(text *out, const struct executor_event *ev,
				       const struct fabric *f, uint32_t first)
{
	const struct change *v = ev->list->v, *c, *last = NULL;
	uint8_t kind = v[ev->item[first].change].kind;
	uint32_t n = 0;

	for (; n < LINE_ITEMS && first + n < ev->items; n++, last = c) {
		c = &v[ev->item[first + n].change];
		if (c->kind != kind)
			break;
		if (last)
			update_record_put(out, c->guid == last->guid ? "," : "]},");
		if (!last || c->guid != last->guid)
			update_record_put_switch(out, c, f);
		update_record_put_entry(out, ev, &ev->item[first + n]);
	}
	update_record_put(out, "]}");
	return n;
}

/* Of the writes from item first on; returns how many. */
static uint32_t update_record_write_line(struct record *r, const struct executor_event *ev,
					 const struct fabric *f, uint32_t first, text *out)
{
	bool lft = ev->list->v[ev->item[first].change].kind == CHANGE_LFT;
	struct err err = { "" };
	uint32_t n;

	out->n = 0;
	update_record_put(out, "{\"txn\":\"");
	update_record_put(out, ev->txn ? ev->txn : "");
	update_record_put(out, "\",\"wave\":");
	vec_reserve(out, out->n + 16);
	out->n = (size_t)(update_record_number(out->v + out->n, ev->wave, 1) - out->v);
	update_record_put(out, ",\"rollback\":");
	update_record_put(out, ev->phase == PHASE_ROLLBACK ? "true" : "false");
	update_record_put(out, ",\"switches\":[");
	n = update_record_put_list(out, ev, f, first);
	update_record_put_n(out, "]}", sizeof("]}"));
	if (record_add_text(r, lft ? "lft.write" : "sl2vl.write", out->v, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
	return n;
}

static void update_record_write_lines(struct record *r, const struct executor_event *ev,
				      const struct fabric *f)
{
	uint32_t most = ev->items < LINE_ITEMS ? ev->items : LINE_ITEMS;
	text out = { 0 };

	vec_reserve(&out, 200 + ENTRY_MAX * (size_t)most);
	for (uint32_t i = 0; i < ev->items;)
		i += update_record_write_line(r, ev, f, i, &out);
	vec_free(&out);
}

static void update_record_phase_line(struct record *r, const struct executor_event *ev)
{
	bool begin = ev->kind == APPLY_PHASE_BEGIN;
	json_t *data = json_object();
	const char *type = begin ? "phase.begin" : "phase.end";

	if (ev->phase == PHASE_ROLLBACK)
		type = begin ? "rollback.begin" : "rollback.end";
	json_object_set_new(data, "txn", json_text(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
	json_object_set_new(data, "wave", json_integer(ev->wave));
	json_object_set_new(data, "status", json_integer(ev->rc));
	json_object_set_new(data, "text", json_text(ev->text));
	if (begin && ev->phase == PHASE_ROLLBACK)
		json_object_set_new(data, "why", json_string(coord_why_name(ev->why)));
	record_note(r, type, data);
}

static void update_record_agents_line(struct record *r, const struct executor_event *ev)
{
	json_t *data = json_object();

	json_object_set_new(data, "txn", json_text(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
	json_object_set_new(data, "asked", json_string(phase_name(ev->asked)));
	json_object_set_new(data, "agents", json_integer(ev->items));
	json_object_set_new(data, "status", json_integer(ev->rc));
	json_object_set_new(data, "text", json_text(ev->text));
	record_note(r,
		    ev->kind == APPLY_ASK      ? "agents.ask"
		    : ev->kind == APPLY_ANSWER ? "agents.answer"
					       : "agents.settled",
		    data);
}

void update_record_event(struct record *r, const struct executor_event *ev, const struct fabric *f)
{
	json_t *data;

	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
	case APPLY_PHASE_END:
		update_record_phase_line(r, ev);
		break;
	case APPLY_ITEM:
		update_record_write_lines(r, ev, f);
		break;
	case APPLY_ASK:
	case APPLY_ANSWER:
	case APPLY_SETTLED:
		update_record_agents_line(r, ev);
		break;
	case APPLY_VERIFY:
		data = json_object();
		json_object_set_new(data, "txn", json_text(ev->txn ? ev->txn : ""));
		json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
		json_object_set_new(data, "items", json_integer(ev->items));
		json_object_set_new(data, "status", json_integer(ev->rc));
		if (ev->text[0])
			json_object_set_new(data, "text", json_text(ev->text));
		record_note(r, "verify", data);
		break;
	case APPLY_OUTCOME:
		data = json_object();
		json_object_set_new(data, "txn", json_text(ev->txn ? ev->txn : ""));
		json_object_set_new(data, "outcome", json_string(outcome_name(ev->outcome)));
		json_object_set_new(data, "text", json_text(ev->text));
		if (ev->outcome != OUTCOME_CONFIRMED)
			json_object_set_new(data, "why", json_string(coord_why_name(ev->why)));
		record_note(r, ev->outcome == OUTCOME_CONFIRMED ? "confirm" : "apply.end", data);
		break;
	}
}

/* The plan and what PREPARE found are on disk before the first write; which waves have begun tells
 * the journal. */
int update_record_gate(struct record *r, const struct executor_event *ev, struct err *err)
{
	bool known = ev->phase == PHASE_WRITE && (ev->wave || !ev->asked);

	return known ? record_whole(r, err) : record_sync(r, err);
}

void update_record_begin(struct record *r, const struct plan *p, const char *installer,
			 unsigned confirm_s)
{
	record_note(r, "apply.begin",
		    json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:o}", "txn", "", "plan", p->id,
			      "fabric", json_text(p->fabric->name), "installer",
			      installer ? json_text(installer) : json_null(), "lft_blocks",
			      (json_int_t)p->diff->nblocks, "sl2vl_tables",
			      (json_int_t)p->diff->nsl2vl, "confirm_s",
			      confirm_s ? json_integer(confirm_s) : json_null()));
}

void update_record_plan(struct record *r, const struct plan *p)
{
	char hex[DIGEST_HEX], drain[600];
	json_t *data = json_object();

	drain_text(drain, sizeof(drain), &p->drain, p->fabric, p->jobs);
	json_object_set_new(data, "plan", json_string(p->id));
	json_object_set_new(data, "hash", json_string(digest_hex(hex, &p->hash)));
	json_object_set_new(data, "fabric", json_text(p->fabric->name));
	json_object_set_new(data, "fingerprint",
			    json_string(digest_hex(hex, &p->fabric->fingerprint)));
	json_object_set_new(data, "from", json_string(digest_hex(hex, &p->from_hash)));
	json_object_set_new(data, "to", json_string(digest_hex(hex, &p->to_hash)));
	json_object_set_new(data, "engine", json_text(p->to->engine));
	json_object_set_new(data, "params", json_text(p->to->params));
	json_object_set_new(data, "seed", json_integer((json_int_t)p->to->seed));
	if (p->files.n)
		json_object_set_new(data, "files", plan_files_encode(&p->files));
	if (p->jobs)
		json_object_set_new(data, "jobs", json_string(digest_hex(hex, &p->jobs->key)));
	json_object_set_new(data, "sm", update_record_hex_guid(p->sm.guid));
	json_object_set_new(data, "lft_blocks", json_integer(p->diff->nblocks));
	json_object_set_new(data, "lft_entries", json_integer((json_int_t)p->diff->entries));
	json_object_set_new(data, "sl2vl_tables", json_integer(p->diff->nsl2vl));
	json_object_set_new(data, "drain", json_text(drain));
	record_note(r, "plan.create", data);
}
