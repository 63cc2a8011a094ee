/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update_record.h"

#include "fabric/base/log.h"

#include <jansson.h>
#include <stdio.h>

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
	return json_string(digest_hex(hex, &d));
}

static json_t *hex_guid(uint64_t guid)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%016lx", (unsigned long)guid);
	return json_string(buf);
}

static void write_line(struct record *r, const struct apply_event *ev, const struct fabric *f)
{
	const struct change *c = ev->change;
	size_t len = change_bytes(c);
	bool back = ev->phase == PHASE_ROLLBACK;
	const uint8_t *from = back ? change_new(ev->list, c) : change_old(ev->list, c);
	const uint8_t *to = back ? change_old(ev->list, c) : change_new(ev->list, c);
	json_t *data = json_object();

	json_object_set_new(data, "txn", json_string(ev->txn ? ev->txn : ""));
	json_object_set_new(data, "sw", hex_guid(c->guid));
	if (f && c->sw < f->nsw)
		json_object_set_new(data, "name", record_str(f->sw_name[c->sw]));
	if (c->kind == CHANGE_LFT) {
		json_object_set_new(data, "block", json_integer(c->block));
	} else {
		json_object_set_new(data, "in", json_integer(c->in));
		json_object_set_new(data, "out", json_integer(c->out));
	}
	json_object_set_new(data, "rollback", json_boolean(back));
	json_object_set_new(data, "old_sha256", hash_of(from, len));
	json_object_set_new(data, "new_sha256", hash_of(to, len));
	json_object_set_new(data, "status", json_integer(ev->rc));
	json_object_set_new(data, "us", json_integer(ev->us));
	add(r, c->kind == CHANGE_LFT ? "lft.write" : "sl2vl.write", data);
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
		write_line(r, ev, f);
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
