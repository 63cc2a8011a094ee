/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "# ibroute-top errors 1 TIME", then a line a port: its kind (s, h), GUID, number, and what is not
 * 0 as NUMBER=VALUE.
 */
#include "fabric/baseline/kept_errors.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool kept_errors_take_line(struct error_set *s, char *line)
{
	struct port_errors *p = &s->port[s->n];
	unsigned port, c;
	uint64_t v;
	char kind;
	int at, n;

	if (sscanf(line, "%c 0x%" SCNx64 " %u%n", &kind, &p->guid, &port, &at) != 3 ||
	    (kind != 's' && kind != 'h') || port > 255)
		return false;
	p->host = kind == 'h';
	p->port = (uint8_t)port;
	for (line += at; sscanf(line, " %u=%" SCNu64 "%n", &c, &v, &n) == 2; line += n) {
		if (c >= ERROR_COUNT)
			return false;
		p->v[c] = v;
	}
	s->n++;
	return !*line;
}

static int kept_errors_parse(struct error_set *s, char *text)
{
	char *save = NULL, *line = strtok_r(text, "\n", &save);
	unsigned version;

	if (!line || sscanf(line, "# ibroute-top errors %u %" SCNd64, &version, &s->time_s) != 2 ||
	    version != 1)
		return -EPROTO;
	while ((line = strtok_r(NULL, "\n", &save)))
		if (!kept_errors_take_line(s, line))
			return -EPROTO;
	error_set_sort(s);
	return 0;
}

static uint32_t kept_errors_lines(const char *text)
{
	uint32_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int kept_errors_read(struct error_set **out, const char *path, struct err *err)
{
	struct error_set *s;
	char *text;
	size_t len;
	int rc;

	if (access(path, F_OK))
		return -ENOENT;
	rc = store_read(&text, &len, path, err);
	if (rc)
		return rc;
	s = error_set_new(kept_errors_lines(text));
	rc = kept_errors_parse(s, text);
	free(text);
	if (!rc) {
		*out = s;
		return 0;
	}
	error_set_put(s);
	return err_set(err, rc, "%s does not hold error counters of this version", path);
}

static void kept_errors_print(FILE *out, const struct error_set *s)
{
	fprintf(out, "# ibroute-top errors 1 %" PRId64 "\n", s->time_s);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct port_errors *p = &s->port[i];

		fprintf(out, "%c 0x%016" PRIx64 " %u", p->host ? 'h' : 's', p->guid, p->port);
		for (unsigned c = 0; c < ERROR_COUNT; c++)
			if (p->v[c])
				fprintf(out, " %u=%" PRIu64, c, p->v[c]);
		fputc('\n', out);
	}
}

int kept_errors_write(const char *path, const struct error_set *s, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return err_set(err, -ENOMEM, "out of memory for %s", path);
	kept_errors_print(out, s);
	fclose(out);
	rc = store_replace(path, text, len, 0600, err);
	free(text);
	return rc;
}
