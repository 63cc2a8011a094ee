/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes over the socket of OpenSM's plugin: messages for the plugin, one behind the other;
 * and for the console, statuses and answers. */
#include "tests/fuzz/fuzz.h"

#include "engines/opensm/sm_session.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "tests/fuzz/tiny.h"

#include <string.h>

static void say_nothing(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

/* A plugin that has routed once; its files are not there. */
static struct sm_session *session(void)
{
	static const char policy[] = "engine nue:2\nthreads 1\n";
	struct table_selection_log log = { say_nothing, NULL };
	static struct sm_session *d;
	struct osm_answer a = { 0 };
	struct table_selection c;

	if (d)
		return d;
	d = sm_session_new("/proc/none/policy", "/proc/none/confirmed");
	FUZZ_NEED(!sm_session_policy(d, policy, strlen(policy), 0, &a, NULL));
	FUZZ_NEED(!sm_session_choose(d, &c, tiny_fabric(), &log, NULL));
	sm_session_routed(d, tiny_fabric(), &c);
	tables_put(c.tables);
	return d;
}

static void hear(const struct osm_msg *m, const uint8_t *body)
{
	struct osm_update mine = { .id = "fuzz" }, u;
	struct err err = { "" };
	struct osm_answer a = { 0 };
	struct osm_status s;
	uint8_t *buf;
	size_t len;
	int rc = 0;

	if (m->type == OSM_MSG_LOAD) {
		rc = sm_session_begin(session(), &mine, &err);
		if (!rc)
			rc = sm_session_load(session(), mine.id, body, m->len,
					     m->flags & OSM_LOAD_STEP, &a, &err);
		FUZZ_NEED(rc || strlen(a.tables) == 64);
	} else if (m->type == OSM_MSG_POLICY) {
		rc = sm_session_policy(session(), (const char *)body, m->len, 0, &a, &err);
	} else if (m->type == OSM_MSG_TABLES) {
		rc = sm_session_tables(session(), m->flags & OSM_TABLES_BASE, &buf, &len, &err);
		if (!rc)
			free(buf);
	} else if (m->type == OSM_MSG_BEGIN || m->type == OSM_MSG_ALIVE) {
		rc = osm_update_decode(&u, (const char *)body, m->len, &err);
		if (!rc)
			rc = sm_session_alive(session(), &u, &err);
	} else if (m->type == OSM_MSG_BACK) {
		sm_session_back(session(), NULL);
	} else if (m->type == OSM_MSG_RETURN) {
		sm_session_return(session(), "", &a);
	} else if (m->type == OSM_MSG_KEEP) {
		rc = sm_session_keep(session(), mine.id, &a, &err);
		FUZZ_NEED(rc); /* nowhere to keep it */
	}
	FUZZ_NEED(!rc == !err.text[0]);
	sm_session_status(session(), &s);
	FUZZ_NEED(s.ours && !strcmp(s.source, OSM_SOURCE_ENGINE));
}

static void for_the_plugin(const uint8_t *data, size_t size)
{
	struct osm_answer a;

	while (size >= OSM_MSG_HEAD) {
		struct err err = { "" };
		struct osm_msg m;
		uint8_t head[OSM_MSG_HEAD], *body;
		int rc = osm_msg_get(&m, data, &err);

		FUZZ_NEED(!rc == !err.text[0]);
		if (rc)
			break;
		FUZZ_NEED(m.len <= osm_msg_limit(m.type));
		osm_msg_put(head, &m);
		FUZZ_NEED(!memcmp(head, data, sizeof(head)));
		data += OSM_MSG_HEAD;
		size -= OSM_MSG_HEAD;
		if (m.len > size)
			break;
		body = fuzz_copy(data, m.len);
		hear(&m, body);
		free(body);
		data += m.len;
		size -= m.len;
	}
	sm_session_return(session(), "", &a);
}

/* What was understood says the same when it is told again. */
static void for_the_console(const uint8_t *data, size_t size)
{
	struct osm_status s, s2;
	struct osm_answer a, a2;
	struct err err = { "" };
	char *text;

	if (!osm_status_decode(&s, (const char *)data, size, &err)) {
		text = osm_status_encode(&s);
		FUZZ_NEED(text && !osm_status_decode(&s2, text, strlen(text), NULL));
		free(text);
	} else {
		FUZZ_NEED(err.text[0]);
	}
	if (!osm_answer_decode(&a, (const char *)data, size, NULL)) {
		text = osm_answer_encode(&a);
		FUZZ_NEED(text && !osm_answer_decode(&a2, text, strlen(text), NULL));
		FUZZ_NEED(a.rc == a2.rc && a.ours == a2.ours);
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size);

	for_the_plugin(copy, size);
	for_the_console(copy, size);
	free(copy);
	return 0;
}

static void message(uint8_t **out, size_t *len, uint8_t type, uint16_t flags, const void *body,
		    size_t n)
{
	struct osm_msg m = { .type = type, .flags = flags, .id = 7, .len = (uint32_t)n };

	*out = xcalloc(OSM_MSG_HEAD + n, 1);
	*len = OSM_MSG_HEAD + n;
	osm_msg_put(*out, &m);
	if (n)
		memcpy(*out + OSM_MSG_HEAD, body, n);
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	static const char policy[] = "engine dfsssp:3\nseed 4\nranks r.txt\n";
	struct osm_status s = { .plugin = "0.1", .state = "master", .sm_guid = 1, .ours = true };
	struct osm_answer a = { .rc = -5, .text = "no" };
	uint8_t *buf;
	size_t n;

	if (i < TINY_TABLES) {
		tables_ibr_encode(&buf, &n, tiny_tables(i));
		message(out, len, OSM_MSG_LOAD, i & 1, buf, n);
		free(buf);
	} else if (i == TINY_TABLES) {
		message(out, len, OSM_MSG_POLICY, 0, policy, strlen(policy));
	} else if (i == TINY_TABLES + 1) {
		message(out, len, OSM_MSG_TABLES, OSM_TABLES_BASE, NULL, 0);
	} else if (i == TINY_TABLES + 2) {
		message(out, len, OSM_MSG_KEEP, 0, NULL, 0);
	} else if (i == TINY_TABLES + 3) {
		*out = (uint8_t *)osm_status_encode(&s);
		*len = strlen((char *)*out);
	} else if (i == TINY_TABLES + 4) {
		*out = (uint8_t *)osm_answer_encode(&a);
		*len = strlen((char *)*out);
	} else {
		return false;
	}
	return true;
}
