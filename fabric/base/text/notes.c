/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/notes.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notes_set_all(struct notes *notes, const struct notes *others)
{
	for (size_t i = 0; others && i < others->n; i++)
		notes_set(notes, others->list[i].key, others->list[i].value, "%s",
			  others->list[i].text);
}

const struct note *notes_find(const struct notes *notes, const char *key)
{
	for (size_t i = 0; notes && i < notes->n; i++)
		if (!strcmp(notes->list[i].key, key))
			return &notes->list[i];
	return NULL;
}

void notes_set(struct notes *notes, const char *key, uint64_t value, const char *fmt, ...)
{
	struct note *note = (struct note *)notes_find(notes, key);
	va_list ap;

	if (!notes)
		return;
	if (!note) {
		notes->list = xrealloc(notes->list, notes->n + 1, sizeof(*notes->list));
		note = &notes->list[notes->n++];
		snprintf(note->key, sizeof(note->key), "%s", key);
	}
	note->value = value;
	va_start(ap, fmt);
	plain_vformat(note->text, sizeof(note->text), fmt, ap);
	va_end(ap);
}

void notes_done(struct notes *notes)
{
	free(notes->list);
	*notes = (struct notes){ 0 };
}
