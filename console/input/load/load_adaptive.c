/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_adaptive.h"

#include "fabric/base/process/apart.h"
#include "fabric/base/text/json_text.h"
#include "fabric/format/opensm/osm_adaptive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPENSM_CONF "/etc/opensm/opensm.conf"
#define OPENSM_LOG  "/var/log/opensm.log"
#define LOG_END	    (4 << 20) /* bytes of a log that are read; sweeps are told within them */

static const char *const words[] = {
	[ADAPTIVE_UNKNOWN] = "unknown", [ADAPTIVE_NO] = "no", [ADAPTIVE_YES] = "yes"
};

bool adaptive_parse(enum adaptive_state *out, const char *word)
{
	*out = !strcmp(word, "yes")  ? ADAPTIVE_YES
	       : !strcmp(word, "no") ? ADAPTIVE_NO
				     : ADAPTIVE_UNKNOWN;
	return *out != ADAPTIVE_UNKNOWN || !strcmp(word, "auto");
}

struct adaptive_files {
	bool is_log;
	FILE *file;
	const char *path;
	struct osm_adaptive_conf conf;
	struct osm_adaptive_log log;
};

/* --- there ----------------------------------------------------------------------------------- */

static int load_adaptive_read(void *ctx, bytes_out *out, struct read_report *report,
			      struct err *err)
{
	struct adaptive_files *x = ctx;
	int rc;

	(void)report;
	rc = x->is_log ? osm_adaptive_read_log(&x->log, x->file, x->path, err)
		       : osm_adaptive_read_conf(&x->conf, x->file, x->path, err);
	if (rc)
		return rc;
	bytes_put_text(out, x->is_log ? x->log.engine : x->conf.engines);
	bytes_put_text(out, x->is_log ? (x->log.armgr ? "armgr" : "") : x->conf.plugins);
	bytes_put_text(out, x->is_log ? "" : x->conf.log);
	return 0;
}

/* --- here ------------------------------------------------------------------------------------ */

static int load_adaptive_take_text(char *to, size_t size, struct bytes_in *in)
{
	char *text = bytes_take_text(in);
	int rc = text && !in->bad && strlen(text) < size ? 0 : -EPROTO;

	if (!rc)
		memcpy(to, text, strlen(text) + 1);
	free(text);
	return rc;
}

static int load_adaptive_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct adaptive_files *x = ctx;
	struct osm_adaptive_conf got = { "", "", "" };
	int rc = load_adaptive_take_text(got.engines, sizeof(got.engines), in);

	(void)err;
	if (!rc)
		rc = load_adaptive_take_text(got.plugins, sizeof(got.plugins), in);
	if (!rc)
		rc = load_adaptive_take_text(got.log, sizeof(got.log), in);
	if (rc)
		return rc;
	if (!x->is_log) {
		x->conf = got;
		return 0;
	}
	snprintf(x->log.engine, sizeof(x->log.engine), "%.31s", got.engines);
	x->log.armgr = got.plugins[0] != '\0';
	return 0;
}

static bool load_adaptive_file(struct adaptive_files *x, const char *path, bool is_log)
{
	struct apart a = {
		.path = path, .read = load_adaptive_read, .take = load_adaptive_take, .ctx = x
	};
	struct stat st;
	struct err err;
	int rc;

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	x->file = a.file = fopen(path, "re");
	if (!x->file)
		return false;
	x->is_log = is_log;
	x->path = path;
	if (is_log && st.st_size > LOG_END)
		fseek(x->file, -(long)LOG_END, SEEK_END);
	rc = apart_read(&a, NULL, &err);
	fclose(x->file);
	return !rc;
}

/* The tables that really are in force, as the one that made them says. */
static void load_adaptive_by_plugin(struct adaptive *out, const struct osm_status *s)
{
	char name[OSM_ADAPTIVE_NAME];

	if (osm_adaptive_engine(name, sizeof(name), s->routes)) {
		out->state = ADAPTIVE_YES;
		snprintf(out->why, sizeof(out->why), "OpenSM routes with %s", name);
	} else if (s->ours || s->routes[0]) {
		out->state = ADAPTIVE_NO;
		snprintf(out->why, sizeof(out->why), "OpenSM routes with %.31s",
			 s->ours ? "our plugin" : s->routes);
	}
}

static void load_adaptive_by_log(struct adaptive *out, const struct osm_adaptive_log *log)
{
	char name[OSM_ADAPTIVE_NAME];

	if (osm_adaptive_engine(name, sizeof(name), log->engine)) {
		out->state = ADAPTIVE_YES;
		snprintf(out->why, sizeof(out->why), "OpenSM's log: %s tables", name);
	} else if (log->armgr) {
		out->state = ADAPTIVE_YES;
		snprintf(out->why, sizeof(out->why), "OpenSM's log: its AR Manager has configured");
	} else if (log->engine[0]) {
		out->state = ADAPTIVE_NO;
		snprintf(out->why, sizeof(out->why), "OpenSM's log: %.31s tables", log->engine);
	}
}

/* What it is to do: less than what it says it does, but an AR Manager beside any engine. */
static void load_adaptive_by_conf(struct adaptive *out, const struct osm_adaptive_conf *conf)
{
	char name[OSM_ADAPTIVE_NAME];

	if (strstr(conf->plugins, "armgr")) {
		out->state = ADAPTIVE_YES;
		snprintf(out->why, sizeof(out->why), "opensm.conf loads the plugin armgr");
	} else if (out->state == ADAPTIVE_UNKNOWN &&
		   osm_adaptive_engine(name, sizeof(name), conf->engines)) {
		out->state = ADAPTIVE_YES;
		snprintf(out->why, sizeof(out->why), "opensm.conf has routing_engine %s", name);
	}
}

void load_adaptive_files(struct adaptive *out, enum adaptive_state declared,
			 const struct osm_status *s, const char *conf, const char *log)
{
	struct adaptive_files x = { 0 };

	*out = (struct adaptive){ .why = "OpenSM does not report it" };
	load_adaptive_file(&x, conf, false);
	if (s)
		load_adaptive_by_plugin(out, s);
	else if (load_adaptive_file(&x, x.conf.log[0] ? x.conf.log : log, true))
		load_adaptive_by_log(out, &x.log);
	if (out->state != ADAPTIVE_YES)
		load_adaptive_by_conf(out, &x.conf);
	if (out->state == ADAPTIVE_YES || declared == ADAPTIVE_UNKNOWN)
		return;
	out->state = declared;
	snprintf(out->why, sizeof(out->why), "declared");
}

void load_adaptive(struct adaptive *out, enum adaptive_state declared, const struct osm_status *s,
		   bool sm_here)
{
	load_adaptive_files(out, declared, s, sm_here ? OPENSM_CONF : NULL,
			    sm_here ? OPENSM_LOG : NULL);
}

void load_adaptive_declared(struct adaptive *out, enum adaptive_state declared)
{
	*out = (struct adaptive){ .state = declared };
	snprintf(out->why, sizeof(out->why), "%s",
		 declared == ADAPTIVE_UNKNOWN ? "a dump does not say" : "declared");
}

const char *adaptive_text(char *buf, size_t len, const struct adaptive *a)
{
	buf[0] = '\0';
	if (a->state == ADAPTIVE_YES)
		snprintf(buf, len,
			 "adaptive routing (%s): metrics and checks of tables describe only part "
			 "of what packets do",
			 a->why);
	return buf;
}

json_t *adaptive_json(const struct adaptive *a)
{
	return json_pack("{s:s, s:o}", "state", words[a->state], "why", json_text(a->why));
}
