/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update_record.h"

#include "fabric/base/log.h"

#include <jansson.h>
#include <stdio.h>

#define LINE_ITEMS 512 /* writes that share a line, at most */

static void add(struct record *r, const char *type, json_t *data)
{
	struct err err;

	if (record_add(r, type, data, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
}

static json_t *hash_of(const uint8_t *data, size_t len)
{
	char hex[DIGEST_HEX];
	struct digest d;

	digest_of(&d, data, len);
	return json_stringn_nocheck(digest_hex(hex, &d), DIGEST_HEX - 1);
}

static json_t *hex_guid(uint64_t guid)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016lx", (unsigned long)guid);
	return json_string(buf);
}

/* [block, old hash, new hash, status, us]; of SL2VL tables input and output port first. */
static json_t *write_entry(const struct apply_event *ev, const struct apply_item *it)
{
	const struct change *c = &ev->list->v[it->change];
	size_t len = change_bytes(c);
	bool back = ev->phase == PHASE_ROLLBACK;
	const uint8_t *from = back ? change_new(ev->list, c) : change_old(ev->list, c);
	const uint8_t *to = back ? change_old(ev->list, c) : change_new(ev->list, c);
	json_t *j = json_array();

	if (c->kind == CHANGE_LFT) {
		json_array_append_new(j, json_integer(c->block));
	} else {
		json_array_append_new(j, json_integer(c->in));
		json_array_append_new(j, json_integer(c->out));
	}
	json_array_append_new(j, hash_of(from, len));
	json_array_append_new(j, hash_of(to, len));
	json_array_append_new(j, json_integer(it->rc));
	json_array_append_new(j, json_integer(it->us));
	return j;
}

static json_t *write_switch(const struct change *c, const struct fabric *f, json_t **list)
{
	json_t *j = json_object();

	*list = json_array();
	json_object_set_new(j, "sw", hex_guid(c->guid));
	if (f && c->sw < f->nsw)
		json_object_set_new(j, "name", record_str(f->sw_name[c->sw]));
	json_object_set_new(j, c->kind == CHANGE_LFT ? "blocks" : "tables", *list);
	return j;
}

/* From item first on as many as are of the same kind and fit a line; returns how many. */
static uint32_t write_line(struct record *r, const struct apply_event *ev, const struct fabric *f,
			   uint32_t first)
{
	const struct change *v = ev->list->v, *c = &v[ev->item[first].change], *last = NULL;
	json_t *data = json_object(), *switches = json_array(), *list = NULL;
	uint8_t kind = c->kind;
	uint32_t n = 0;

	for (; n < LINE_ITEMS && first + n < ev->items; n++) {
		c = &v[ev->item[first + n].change];
		if (c->kind != kind)
			break;
		if (!last || c->guid != last->guid)
			json_array_append_new(switches, write_switch(c, f, &list));
		json_array_append_new(list, write_entry(ev, &ev->item[first + n]));
		last = c;
	}
	json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "wave", json_integer(ev->wave));
	json_object_set_new(data, "rollback", json_boolean(ev->phase == PHASE_ROLLBACK));
	json_object_set_new(data, "switches", switches);
	add(r, kind == CHANGE_LFT ? "lft.write" : "sl2vl.write", data);
	return n;
}

static void phase_line(struct record *r, const struct apply_event *ev)
{
	bool begin = ev->kind == APPLY_PHASE_BEGIN;
	json_t *data = json_object();
	const char *type = begin ? "phase.begin" : "phase.end";

	if (ev->phase == PHASE_ROLLBACK)
		type = begin ? "rollback.begin" : "rollback.end";
	json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
	json_object_set_new(data, "wave", json_integer(ev->wave));
	json_object_set_new(data, "status", json_integer(ev->rc));
	json_object_set_new(data, "text", record_str(ev->text));
	add(r, type, data);
}

static void agents_line(struct record *r, const struct apply_event *ev)
{
	json_t *data = json_object();

	json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
	json_object_set_new(data, "asked", json_string(phase_name(ev->asked)));
	json_object_set_new(data, "agents", json_integer(ev->items));
	json_object_set_new(data, "status", json_integer(ev->rc));
	json_object_set_new(data, "text", record_str(ev->text));
	add(r,
	    ev->kind == APPLY_ASK      ? "agents.ask"
	    : ev->kind == APPLY_ANSWER ? "agents.answer"
				       : "agents.settled",
	    data);
}

void update_record_event(struct record *r, const struct apply_event *ev, const struct fabric *f)
{
	json_t *data;

	switch (ev->kind) {
	case APPLY_PHASE_BEGIN:
	case APPLY_PHASE_END:
		phase_line(r, ev);
		break;
	case APPLY_ITEM:
		for (uint32_t i = 0; i < ev->items;)
			i += write_line(r, ev, f, i);
		break;
	case APPLY_ASK:
	case APPLY_ANSWER:
	case APPLY_SETTLED:
		agents_line(r, ev);
		break;
	case APPLY_VERIFY:
		data = json_object();
		json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
		json_object_set_new(data, "phase", json_string(phase_name(ev->phase)));
		json_object_set_new(data, "items", json_integer(ev->items));
		json_object_set_new(data, "status", json_integer(ev->rc));
		add(r, "verify", data);
		break;
	case APPLY_OUTCOME:
		data = json_object();
		json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
		json_object_set_new(data, "outcome", json_string(outcome_name(ev->outcome)));
		json_object_set_new(data, "text", record_str(ev->text));
		add(r, ev->outcome == OUTCOME_CONFIRMED ? "confirm" : "apply.end", data);
		break;
	}
}

int update_record_gate(struct record *r, const struct apply_event *ev, struct err *err)
{
	bool between = ev->phase == PHASE_WRITE && ev->wave;

	return between ? record_whole(r, err) : record_sync(r, err);
}

void update_record_plan(struct record *r, const struct plan *p)
{
	char hex[DIGEST_HEX];
	json_t *data = json_object();

	json_object_set_new(data, "plan", json_string(p->id));
	json_object_set_new(data, "hash", json_string(digest_hex(hex, &p->hash)));
	json_object_set_new(data, "fabric", record_str(p->fabric->name));
	json_object_set_new(data, "fingerprint",
			    json_string(digest_hex(hex, &p->fabric->fingerprint)));
	json_object_set_new(data, "from", json_string(digest_hex(hex, &p->from_hash)));
	json_object_set_new(data, "to", json_string(digest_hex(hex, &p->to_hash)));
	json_object_set_new(data, "engine", json_string(p->to->engine));
	json_object_set_new(data, "params", record_str(p->to->params));
	json_object_set_new(data, "seed", json_integer((json_int_t)p->to->seed));
	if (p->jobs)
		json_object_set_new(data, "jobs", json_string(digest_hex(hex, &p->jobs->key)));
	json_object_set_new(data, "sm", hex_guid(p->sm.guid));
	json_object_set_new(data, "lft_blocks", json_integer(p->diff->nblocks));
	json_object_set_new(data, "lft_entries", json_integer((json_int_t)p->diff->entries));
	json_object_set_new(data, "sl2vl_tables", json_integer(p->diff->nsl2vl));
	add(r, "plan.create", data);
}
