/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_msg.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[4] = { 'I', 'B', 'R', 'M' };

void osm_agent_put(uint8_t d[OSM_AGENT], const struct osm_agent *a)
{
	le_put64(d, a->guid);
	le_put64(d + 8, a->txn);
	le_put64(d + 16, a->age_ms);
	le_put64(d + 24, a->lid | (uint64_t)a->phase << 16 | (uint64_t)a->flags << 24);
}

void osm_agent_get(struct osm_agent *out, const uint8_t d[OSM_AGENT])
{
	uint64_t rest = le_get64(d + 24);

	*out = (struct osm_agent){
		.guid = le_get64(d),
		.txn = le_get64(d + 8),
		.age_ms = le_get64(d + 16),
		.lid = (uint16_t)rest,
		.phase = (uint8_t)(rest >> 16),
		.flags = (uint8_t)(rest >> 24),
	};
}

uint32_t osm_msg_limit(uint8_t type)
{
	if (type == OSM_MSG_LOAD || type == OSM_MSG_JUDGE || type == OSM_MSG_AHEAD ||
	    type == (OSM_MSG_TABLES | OSM_MSG_ANSWER) ||
	    type == (OSM_MSG_LISTENERS | OSM_MSG_ANSWER) ||
	    type == (OSM_MSG_AGENTS | OSM_MSG_ANSWER))
		return OSM_MSG_LARGE;
	return OSM_MSG_SMALL;
}

void osm_msg_put(uint8_t head[OSM_MSG_HEAD], const struct osm_msg *m)
{
	memcpy(head, magic, sizeof(magic));
	head[4] = OSM_MSG_VERSION;
	head[5] = m->type;
	head[6] = (uint8_t)m->flags;
	head[7] = (uint8_t)(m->flags >> 8);
	le_put32(head + 8, m->id);
	le_put32(head + 12, m->len);
}

int osm_msg_get(struct osm_msg *out, const uint8_t head[OSM_MSG_HEAD], struct err *err)
{
	*out = (struct osm_msg){
		.type = head[5],
		.flags = (uint16_t)(head[6] | head[7] << 8),
		.id = le_get32(head + 8),
		.len = le_get32(head + 12),
	};
	if (memcmp(head, magic, sizeof(magic)))
		return err_set(err, -EPROTO, "the other side uses another protocol");
	if (head[4] != OSM_MSG_VERSION)
		return err_set(err, -ENOTSUP,
			       "the other side uses version %u, this side %u: install the same "
			       "version of ibroute-top and libibroute.so",
			       head[4], OSM_MSG_VERSION);
	if (out->len > osm_msg_limit(out->type))
		return err_set(err, -EMSGSIZE, "a message of %u bytes; the limit is %u", out->len,
			       osm_msg_limit(out->type));
	return 0;
}

enum form { F_TEXT, F_U32, F_U64, F_BOOL, F_INT };

struct field {
	const char *name;
	enum form form;
	size_t at, size;
};

#define FIELD(type, name, form)                                                                    \
	{                                                                                          \
#name, form, offsetof(struct type, name), sizeof(((struct type *)0)->name)         \
	}
#define S(name, form) FIELD(osm_status, name, form)
#define U(name, form) FIELD(osm_update, name, form)
#define A(name, form) FIELD(osm_answer, name, form)

static const struct field status_fields[] = {
	S(plugin, F_TEXT),
	S(opensm, F_TEXT),
	S(state, F_TEXT),
	S(sm_guid, F_U64),
	S(priority, F_U32),
	S(lid, F_U32),
	S(lmc, F_U32),
	S(busy, F_BOOL),
	S(configured, F_TEXT),
	S(routes, F_TEXT),
	S(ours, F_BOOL),
	S(qos, F_BOOL),
	S(replaces, F_TEXT),
	S(no_fallback, F_BOOL),
	S(source, F_TEXT),
	S(step, F_BOOL),
	S(why, F_TEXT),
	S(away, F_TEXT),
	S(policy, F_TEXT),
	S(policy_engine, F_TEXT),
	S(policy_unsaved, F_BOOL),
	S(exclude, F_TEXT),
	S(confirmed, F_TEXT),
	S(confirmed_there, F_BOOL),
	S(ahead, F_BOOL),
	S(engine, F_TEXT),
	S(params, F_TEXT),
	S(seed, F_U64),
	S(fabric, F_TEXT),
	S(tables, F_TEXT),
	S(base, F_TEXT),
	S(switches, F_U32),
	S(hosts, F_U32),
	S(links, F_U32),
	S(vls, F_U32),
	S(sls, F_U32),
	S(hops_max, F_U32),
	S(update, F_TEXT),
	S(owner, F_TEXT),
	S(ended, F_TEXT),
	S(routings, F_U64),
	S(refused, F_U64),
	S(reroutes, F_U64),
	S(heavy_sweeps, F_U64),
	S(link_events, F_U64),
	S(link_lids, F_TEXT),
	S(traps, F_U64),
	S(acks, F_U64),
	S(state_changes, F_U64),
	S(loads, F_U64),
	S(notices, F_U64),
	S(clients, F_U64),
	S(key, F_TEXT),
	S(unsealed, F_U64),
	S(forged, F_U64),
};

static const struct field answer_fields[] = {
	A(rc, F_INT),	   A(ours, F_BOOL),   A(change, F_BOOL),
	A(source, F_TEXT), A(tables, F_TEXT), A(text, F_TEXT),
};

static const struct field update_fields[] = {
	U(id, F_TEXT),	      U(owner, F_TEXT), U(fabric, F_TEXT), U(lease_ms, F_U32),
	U(confirm_ms, F_U32), U(txn, F_U64),	U(seq, F_U32),
};

/* GUIDs and seeds are of 64 bits: integers of JSON are signed, so as their bits. */
static json_t *osm_msg_field_json(const struct field *f, const char *at)
{
	switch (f->form) {
	case F_TEXT:
		return json_text(at);
	case F_U32:
		return json_integer(*(const uint32_t *)(const void *)at);
	case F_U64:
		return json_integer((json_int_t) * (const uint64_t *)(const void *)at);
	case F_INT:
		return json_integer(*(const int *)(const void *)at);
	case F_BOOL:
		return json_boolean(*(const bool *)at);
	}
	return json_null();
}

static char *osm_msg_encode(const struct field *f, size_t n, const void *from)
{
	json_t *j = json_object();
	char *text;

	for (size_t i = 0; i < n; i++)
		json_object_set_new(j, f[i].name,
				    osm_msg_field_json(&f[i], (const char *)from + f[i].at));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	if (!text)
		guard_give_up(-ENOMEM, "out of memory for a message");
	return text;
}

static bool osm_msg_take_field(const struct field *f, char *at, const json_t *v)
{
	switch (f->form) {
	case F_TEXT:
		if (!json_is_string(v))
			return false;
		snprintf(at, f->size, "%s", json_string_value(v));
		return true;
	case F_U32:
	case F_U64:
	case F_INT:
		if (!json_is_integer(v))
			return false;
		if (f->form == F_U32)
			*(uint32_t *)(void *)at = (uint32_t)json_integer_value(v);
		else if (f->form == F_INT)
			*(int *)(void *)at = (int)json_integer_value(v);
		else
			*(uint64_t *)(void *)at = (uint64_t)json_integer_value(v);
		return true;
	case F_BOOL:
		if (!json_is_boolean(v))
			return false;
		*(bool *)at = json_is_true(v);
		return true;
	}
	return false;
}

static int osm_msg_decode(const struct field *f, size_t n, void *to, const char *body, size_t len,
			  struct err *err)
{
	json_error_t why;
	json_t *j = json_text_clean(json_loadb(body, len, JSON_REJECT_DUPLICATES, &why));
	int rc = 0;

	if (!json_is_object(j))
		rc = err_set(err, -EPROTO, "the answer is not a JSON object");
	for (size_t i = 0; i < n && !rc; i++) {
		const json_t *v = json_object_get(j, f[i].name);

		if (v && !osm_msg_take_field(&f[i], (char *)to + f[i].at, v))
			rc = err_set(err, -EPROTO, "'%s' in the answer has the wrong type",
				     f[i].name);
	}
	json_decref(j);
	return rc;
}

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

void osm_status_counts(struct osm_counts *out, const struct osm_status *s)
{
	*out = (struct osm_counts){ .sweeps = s->heavy_sweeps,
				    .reroutes = s->reroutes,
				    .routings = s->routings,
				    .refused = s->refused,
				    .link_events = s->link_events };
}

char *osm_status_encode(const struct osm_status *s)
{
	return osm_msg_encode(status_fields, COUNT(status_fields), s);
}

int osm_status_decode(struct osm_status *out, const char *body, size_t len, struct err *err)
{
	memset(out, 0, sizeof(*out));
	return osm_msg_decode(status_fields, COUNT(status_fields), out, body, len, err);
}

char *osm_answer_encode(const struct osm_answer *a)
{
	return osm_msg_encode(answer_fields, COUNT(answer_fields), a);
}

int osm_answer_decode(struct osm_answer *out, const char *body, size_t len, struct err *err)
{
	memset(out, 0, sizeof(*out));
	return osm_msg_decode(answer_fields, COUNT(answer_fields), out, body, len, err);
}

char *osm_update_encode(const struct osm_update *u)
{
	return osm_msg_encode(update_fields, COUNT(update_fields), u);
}

int osm_update_decode(struct osm_update *out, const char *body, size_t len, struct err *err)
{
	memset(out, 0, sizeof(*out));
	return osm_msg_decode(update_fields, COUNT(update_fields), out, body, len, err);
}
