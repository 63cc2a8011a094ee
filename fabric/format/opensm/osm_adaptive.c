/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_adaptive.h"

#include "fabric/base/file/lines.h"

#include <string.h>

#define WORD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

bool osm_adaptive_engine(char *out, size_t len, const char *engines)
{
	while (*engines) {
		size_t n = strspn(engines, WORD_CHARS);

		if (n > 3 && !strncmp(engines, "ar_", 3)) {
			snprintf(out, len, "%.*s", (int)n, engines);
			return true;
		}
		engines += n ? n : 1;
	}
	return false;
}

/* The value of a line of opensm.conf, the last one counts. */
static void osm_adaptive_take(char *out, size_t len, const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *value;

	if (strncmp(line, name, n) != 0 || !line[n] || !strchr(" \t", line[n]))
		return;
	value = line + n + strspn(line + n, " \t");
	snprintf(out, len, "%s", strcmp(value, "(null)") ? value : "");
	out[strcspn(out, "\r#")] = '\0';
}

int osm_adaptive_read_conf(struct osm_adaptive_conf *out, FILE *file, const char *path,
			   struct err *err)
{
	struct lines *l = lines_new(file, path, NULL);
	char *s;
	int rc;

	*out = (struct osm_adaptive_conf){ 0 };
	while ((s = lines_next_data(l))) {
		s += strspn(s, " \t");
		osm_adaptive_take(out->engines, sizeof(out->engines), s, "routing_engine");
		osm_adaptive_take(out->plugins, sizeof(out->plugins), s, "event_plugin_name");
		osm_adaptive_take(out->log, sizeof(out->log), s, "log_file");
	}
	out->log[strcspn(out->log, " \t")] = '\0';
	rc = lines_end(l, 0, NULL, err);
	lines_free(l);
	return rc;
}

/* "... 0x02 -> osm_ucast_mgr_process: ar_updn tables configured on all switches" */
static void osm_adaptive_take_tables(struct osm_adaptive_log *out, const char *said)
{
	static const char by[] = "osm_ucast_mgr_process: ", done[] = " tables configured on all";
	size_t n;

	if (strncmp(said, by, strlen(by)) != 0)
		return;
	said += strlen(by);
	n = strspn(said, WORD_CHARS);
	if (n && !strncmp(said + n, done, strlen(done)))
		snprintf(out->engine, sizeof(out->engine), "%.*s", (int)n, said);
}

int osm_adaptive_read_log(struct osm_adaptive_log *out, FILE *file, const char *path,
			  struct err *err)
{
	struct lines *l = lines_new(file, path, NULL);
	size_t len;
	char *s;
	int rc;

	*out = (struct osm_adaptive_log){ 0 };
	while ((s = lines_next(l, &len))) {
		const char *said = strstr(s, " -> "); /* names of nodes come behind it */

		said = said ? said + strlen(" -> ") : s;
		if (!strncmp(said, "OpenSM ", strlen("OpenSM "))) /* it starts */
			*out = (struct osm_adaptive_log){ 0 };
		else if (!strncmp(said, "AR Manager - Configuration cycle", 32))
			out->armgr = true;
		else
			osm_adaptive_take_tables(out, said);
	}
	rc = lines_error(l) ? lines_end(l, 0, NULL, err) : 0;
	lines_free(l);
	return rc;
}
