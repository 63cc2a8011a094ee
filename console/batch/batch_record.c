/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/batch/batch_record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void batch_record_form(FILE *out, const struct batch_record *r)
{
	json_t *j;

	switch (r->o->form) {
	case BATCH_TEXT:
		batch_print_text(out, r);
		break;
	case BATCH_PROM:
		prom_print(out, r);
		break;
	case BATCH_SCREEN:
		batch_screen(out, r->a, r->o);
		break;
	case BATCH_JSON:
	case BATCH_JSONL:
		j = batch_json(r);
		json_dumpf(j, out,
			   JSON_REAL_PRECISION(15) |
				   (r->o->form == BATCH_JSON ? JSON_INDENT(2) : JSON_COMPACT));
		json_decref(j);
		fputc('\n', out);
		break;
	}
}

char *batch_record_text(const struct batch_record *r, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	batch_record_form(out, r);
	fclose(out);
	return text;
}

int batch_record_write(const char *text, size_t len, struct err *err)
{
	size_t at = 0;
	int rc = 0;

	while (!rc && at < len) {
		ssize_t n = write(STDOUT_FILENO, text + at, len - at);

		if (n > 0)
			at += (size_t)n;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT }, 1, -1);
		else if (errno != EINTR)
			rc = err_set(err, -errno, "writing to stdout failed: %s", strerror(errno));
	}
	return rc;
}
