/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_json.h"

#include "fabric/base/json_text.h"

json_t *record_str(const char *s)
{
	return json_text(s);
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
