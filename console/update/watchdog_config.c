/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/watchdog_config.h"

#include "console/config/cmdline.h"
#include "console/config/mkey.h"
#include "console/record/record_files.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/supervisor.h"
#include "fabric/update/watchdog/watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_WATCH = 600, OPT_NO_WATCH, OPT_LIMITS, OPT_CONFIRM, OPT_NO_LOCK };

static const struct argp_option rows[] = {
	{ "confirm-timeout", OPT_CONFIRM, "S", 0,
	  "roll back unless confirmed within S seconds (default: 300 s)", 20 },
	{ "watch", OPT_WATCH, "LIST", 0,
	  "conditions that roll back: sm (the master SM changes), errors (port errors rise), "
	  "reach (hosts do not respond), jobs (jobs fail) (default: all)",
	  20 },
	{ "no-watch", OPT_NO_WATCH, "LIST", 0, "conditions that do not roll back", 20 },
	{ "error-limits", OPT_LIMITS, "LIST", 0,
	  "by how much error counters of a changed link may rise before it is rolled back "
	  "(default: symbol=50,rcv=50,discard=100,downed=0)",
	  20 },
	{ "without-lock", OPT_NO_LOCK, NULL, 0,
	  "write although the subnet manager has the record of another update, and set none", 20 },
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_CONFIRM, struct watchdog_config, confirm_s, "--confirm-timeout"),
	{ 0 },
};

static error_t watchdog_config_parse(int key, char *arg, struct argp_state *s)
{
	struct watchdog_config *c = s->input;
	struct err err = { "" };
	unsigned mask;

	switch (key) {
	case OPT_WATCH:
	case OPT_NO_WATCH:
		if (watch_parse(&mask, arg, &err))
			argp_error(s, "%s", err.text);
		c->watch = key == OPT_WATCH ? mask : c->watch & ~mask;
		return 0;
	case OPT_LIMITS:
		if (watch_limits_parse(&c->limits, arg, &err))
			argp_error(s, "%s", err.text);
		return 0;
	case OPT_NO_LOCK:
		c->without_lock = true;
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, s);
	}
}

const struct argp watchdog_argp = { .options = rows, .parser = watchdog_config_parse };

void watchdog_config_init(struct watchdog_config *c)
{
	*c = (struct watchdog_config){ .confirm_s = WATCHDOG_CONFIRM_S,
				       .watch = WATCH_ALL,
				       .limits = watch_limits_default };
}

static void watchdog_config_put(json_t *j, const char *key, const char *value)
{
	if (value)
		json_object_set_new(j, key, json_text(value));
}

/* The watchdog may be somewhere else. */
static void watchdog_config_put_path(json_t *j, const char *key, const char *path)
{
	char here[4096], *full;

	if (!path || path[0] == '/' || !getcwd(here, sizeof(here))) {
		watchdog_config_put(j, key, path);
		return;
	}
	full = xasprintf("%s/%s", here, path);
	watchdog_config_put(j, key, full);
	free(full);
}

static void watchdog_config_put_installer(json_t *j, const char *name)
{
	char here[4096], *full;

	if (!name || strncmp(name, "file:", 5) || name[5] == '/' || !getcwd(here, sizeof(here))) {
		watchdog_config_put(j, "installer", name);
		return;
	}
	full = xasprintf("file:%s/%s", here, name + 5);
	watchdog_config_put(j, "installer", full);
	free(full);
}

static json_t *watchdog_config_encode(const struct watchdog_config *c)
{
	const struct live_opts *o = &c->live;
	char hex[DIGEST_HEX];
	json_t *j = json_pack(
		"{s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "port",
		(json_int_t)o->port, "timeout_ms", (json_int_t)o->timeout_ms, "window",
		(json_int_t)o->window, "m_key", (json_int_t)o->m_key, "accept_sl", c->accept_sl,
		"confirm_s", (json_int_t)c->confirm_s, "watch", (json_int_t)c->watch, "symbol",
		(json_int_t)c->limits.symbol, "rcv", (json_int_t)c->limits.rcv, "discard",
		(json_int_t)c->limits.discard, "downed", (json_int_t)c->limits.downed);

	json_object_set_new(j, "plan_sha256", json_string(digest_hex(hex, &c->plan)));
	json_object_set_new(j, "without_lock", json_boolean(c->without_lock));
	json_object_set_new(j, "jobs_tried", json_boolean(o->jobs_tried));
	json_object_set_new(j, "without_agents", json_boolean(c->agents.without));
	json_object_set_new(j, "accept_strangers", json_boolean(c->agents.strangers));
	json_object_set_new(j, "accept_names", json_boolean(c->agents.names));
	json_object_set_new(j, "without_silent", json_boolean(c->agents.silent_go_on));
	json_object_set_new(j, "answer_s", json_integer(c->agents.answer_s));
	json_object_set_new(j, "m_keys", mkey_json(o->m_keys));
	watchdog_config_put_path(j, "simulator", o->simulator);
	watchdog_config_put(j, "ca", o->ca);
	watchdog_config_put(j, "name", o->name);
	watchdog_config_put_path(j, "node_names", o->node_names);
	if (o->jobs && strcmp(o->jobs, "slurm"))
		watchdog_config_put_path(j, "jobs", o->jobs);
	else
		watchdog_config_put(j, "jobs", o->jobs);
	watchdog_config_put_path(j, "record_dir", record_dir(o->record_dir));
	watchdog_config_put_path(j, "state_dir", journal_base(o->state_dir));
	watchdog_config_put_path(j, "socket", osm_link_path(o->socket));
	if (o->agents_key && strcmp(o->agents_key, "none"))
		watchdog_config_put_path(j, "agents_key", o->agents_key);
	else
		watchdog_config_put(j, "agents_key", o->agents_key);
	watchdog_config_put_installer(j, o->installer);
	return j;
}

int watchdog_config_file(const struct watchdog_config *c, struct err *err)
{
	json_t *j = watchdog_config_encode(c);
	char *text = json_dumps(j, JSON_COMPACT);
	int fd = text ? supervisor_memory("ibroute-watchdog", text, strlen(text)) : -EINVAL;

	json_decref(j);
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	return fd >= 0 ? fd : err_set(err, fd, "the watchdog's options: %s", strerror(-fd));
}

static uint64_t watchdog_config_num(const struct watchdog_config *c, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(c->text, key));
}

static const char *watchdog_config_str(const struct watchdog_config *c, const char *key)
{
	return json_string_value(json_object_get(c->text, key));
}

int watchdog_config_read(struct watchdog_config *c, int fd, struct err *err)
{
	char path[40], *data;
	const char *sum;
	size_t len;
	int rc;

	watchdog_config_init(c);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = store_read(&data, &len, path, err);
	if (rc)
		return rc;
	c->text = json_loadb(data, len, 0, NULL);
	explicit_bzero(data, len);
	free(data);
	if (!c->text)
		return err_set(err, -EBADMSG, "the watchdog's options are not JSON");
	c->live = (struct live_opts){
		.ca = watchdog_config_str(c, "ca"),
		.port = (unsigned)watchdog_config_num(c, "port"),
		.timeout_ms = (unsigned)watchdog_config_num(c, "timeout_ms"),
		.window = (unsigned)watchdog_config_num(c, "window"),
		.m_key = watchdog_config_num(c, "m_key"),
		.m_keys = mkey_from_json(json_object_get(c->text, "m_keys")),
		.name = watchdog_config_str(c, "name"),
		.node_names = watchdog_config_str(c, "node_names"),
		.jobs = watchdog_config_str(c, "jobs"),
		.jobs_tried = json_is_true(json_object_get(c->text, "jobs_tried")),
		.record_dir = watchdog_config_str(c, "record_dir"),
		.state_dir = watchdog_config_str(c, "state_dir"),
		.socket = watchdog_config_str(c, "socket"),
		.installer = watchdog_config_str(c, "installer"),
		.agents_key = watchdog_config_str(c, "agents_key"),
		.simulator = watchdog_config_str(c, "simulator"),
	};
	sum = watchdog_config_str(c, "plan_sha256");
	if (!sum || digest_parse(&c->plan, sum))
		return err_set(err, -EBADMSG, "the watchdog's options do not say which plan");
	c->without_lock = json_is_true(json_object_get(c->text, "without_lock"));
	c->accept_sl = json_is_true(json_object_get(c->text, "accept_sl"));
	c->agents = (struct agents_opts){
		.without = json_is_true(json_object_get(c->text, "without_agents")),
		.strangers = json_is_true(json_object_get(c->text, "accept_strangers")),
		.names = json_is_true(json_object_get(c->text, "accept_names")),
		.silent_go_on = json_is_true(json_object_get(c->text, "without_silent")),
		.answer_s = (unsigned)watchdog_config_num(c, "answer_s"),
	};
	c->confirm_s = (unsigned)watchdog_config_num(c, "confirm_s");
	c->watch = (unsigned)watchdog_config_num(c, "watch");
	c->limits = (struct watch_limits){ watchdog_config_num(c, "symbol"),
					   watchdog_config_num(c, "rcv"),
					   watchdog_config_num(c, "discard"),
					   watchdog_config_num(c, "downed") };
	return 0;
}

void watchdog_config_clear(struct watchdog_config *c)
{
	json_decref(c->text);
	*c = (struct watchdog_config){ 0 };
}
