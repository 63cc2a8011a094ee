/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/json_text.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *s)
{
	char *clean;
	json_t *j;

	if (!s)
		return json_null();
	clean = plain_text(xstrdup(s), "\n\t");
	j = json_string(clean);
	free(clean);
	return j;
}

/* NULL: it is plain as it is.  The caller frees it. */
static char *json_text_other(const char *s)
{
	const char *c = s;
	char *clean;

	while (*c >= ' ' && *c <= '~')
		c++;
	if (!*c)
		return NULL;
	clean = plain_text(xstrdup(s), "");
	if (strcmp(clean, s))
		return clean;
	free(clean);
	return NULL;
}

static void json_text_clean_string(json_t *j)
{
	char *clean = json_text_other(json_string_value(j));

	if (clean)
		json_string_set(j, clean);
	free(clean);
}

/* What a key that is not plain belongs to moves to the end of the object. */
static void json_text_clean_object(json_t *object)
{
	json_t *renamed = json_object(), *v;
	const char *key;
	void *next;

	json_object_foreach_safe(object, next, key, v)
	{
		char *clean = json_text_other(key);

		json_text_clean(v);
		if (!clean)
			continue;
		json_object_set(renamed, clean, v);
		json_object_del(object, key);
		free(clean);
	}
	json_object_update(object, renamed);
	json_decref(renamed);
}

json_t *json_text_clean(json_t *j)
{
	json_t *v;
	size_t i;

	if (json_is_string(j))
		json_text_clean_string(j);
	else if (json_is_object(j))
		json_text_clean_object(j);
	else if (json_is_array(j))
		json_array_foreach(j, i, v) json_text_clean(v);
	return j;
}

const char *json_string_at(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

json_int_t json_integer_at(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

uint32_t json_u32_at(const json_t *object, const char *key)
{
	json_int_t v = json_integer_at(object, key);

	return v < 0 || v > UINT32_MAX ? 0 : (uint32_t)v;
}
