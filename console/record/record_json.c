/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_json.h"

#include "fabric/base/mem.h"
#include "fabric/base/plain.h"

#include <stdlib.h>

json_t *record_str(const char *s)
{
	json_t *j = json_string(s);
	char *clean;

	if (j)
		return j;
	clean = plain_text(xstrdup(s), "\n\t");
	j = json_string(clean);
	free(clean);
	return j;
}

const char *record_text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

json_int_t record_int(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}
