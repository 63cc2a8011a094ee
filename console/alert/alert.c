/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert.h"

#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void alert_make(struct alert *a, enum log_level level, const char *kind, const char *what,
		const char *fmt, ...)
{
	struct timespec now;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &now);
	*a = (struct alert){ .level = level };
	a->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(a->kind, sizeof(a->kind), "%s", kind);
	snprintf(a->what, sizeof(a->what), "%s", what);
	va_start(ap, fmt);
	plain_vformat(a->text, sizeof(a->text), fmt, ap);
	va_end(ap);
	plain_text(a->text, "");
}

const char *alert_state_name(enum alert_state s)
{
	static const char *const names[] = { "event", "raised", "cleared" };

	return names[s];
}

void alert_fields(struct alert_field out[ALERT_FIELDS], char time[40], const struct alert *a)
{
	size_t n;

	stamp_utc(time, 40, "%Y-%m-%dT%H:%M:%S", (int64_t)(a->time_ns / 1000000000u));
	n = strlen(time);
	snprintf(time + n, 40 - n, ".%03uZ", (unsigned)(a->time_ns / 1000000u % 1000u));
	memcpy(out,
	       (const struct alert_field[ALERT_FIELDS]){
		       { "time", time },
		       { "level", log_level_name(a->level) },
		       { "state", alert_state_name(a->state) },
		       { "kind", a->kind },
		       { "what", a->what },
		       { "subject", a->subject },
		       { "before", a->before },
		       { "after", a->after },
		       { "fabric", a->fabric },
		       { "text", a->text },
		       { NULL, NULL },
	       },
	       ALERT_FIELDS * sizeof(*out));
}

json_t *alert_json(const struct alert *a)
{
	struct alert_field field[ALERT_FIELDS];
	json_t *j = json_pack("{s:s}", "schema", "ibroute-top-alert/1");
	char time[40];

	alert_fields(field, time, a);
	for (size_t i = 0; field[i].name; i++)
		json_object_set_new(j, field[i].name, json_text(field[i].value));
	return j;
}
