/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/update/agent_status.h"

#include "fabric/agent/agent_line.h"
#include "fabric/base/text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum value_kind { VALUE_COUNT, VALUE_TEXT, VALUE_YES };

static const struct {
	const char *word, *key;
	enum value_kind kind;
} values[] = {
	{ "lid", "lid", VALUE_COUNT },
	{ "sm", "sm_lid", VALUE_COUNT },
	{ "subscribed", "subscribed", VALUE_YES },
	{ "mode", "mode", VALUE_TEXT },
	{ "transaction", "transaction", VALUE_COUNT },
	{ "question", "question", VALUE_COUNT },
	{ "escape_offset", "escape_offset", VALUE_COUNT },
	{ "refused", "refused", VALUE_COUNT },
	{ "strangers", "strangers", VALUE_COUNT },
	{ "key", "key", VALUE_TEXT },
	{ "unsealed", "unsealed", VALUE_COUNT },
	{ "forged", "forged", VALUE_COUNT },
};

#define NVALUES (sizeof(values) / sizeof(*values))

json_t *agent_status_new(void)
{
	json_t *j = json_pack("{s:s}", "schema", "ibroute-top/1");

	for (size_t i = 0; i < NVALUES; i++)
		json_object_set_new(j, values[i].key, json_null());
	json_object_set_new(j, "jobs", json_array());
	json_object_set_new(j, "clients", json_array());
	json_object_set_new(j, "awaited", json_array());
	return j;
}

static json_t *agent_status_value_json(enum value_kind kind, const char *text)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (kind == VALUE_TEXT)
		return json_text(text);
	if (kind == VALUE_YES)
		return json_boolean(!strcmp(text, "yes"));
	return end == text || *end ? json_null() : json_integer((json_int_t)v);
}

static json_t *agent_status_peer_json(const char *job, unsigned rank, int pid)
{
	return json_pack("{s:o, s:I, s:i}", "job", json_text(job), "rank", (json_int_t)rank, "pid",
			 pid);
}

/* "client JOB rank R pid P at WHERE[?] told ORDER[ failed: WHY]" */
static void agent_status_add_client(json_t *list, const char *line)
{
	char job[AGENT_JOB_MAX], where[16], told[16];
	unsigned rank;
	int pid, at = 0;
	const char *why;
	size_t n;
	json_t *j;

	if (sscanf(line, "client %63s rank %u pid %d at %15s told %15s%n", job, &rank, &pid, where,
		   told, &at) != 5 ||
	    !at)
		return;
	n = strlen(where);
	why = strstr(line + at, "failed: ");
	j = agent_status_peer_json(job, rank, pid);
	json_object_set_new(j, "sure", json_boolean(where[n - 1] != '?'));
	where[n - (where[n - 1] == '?')] = '\0';
	json_object_set_new(j, "at", json_text(where));
	json_object_set_new(j, "told", strcmp(told, "-") ? json_text(told) : json_null());
	json_object_set_new(j, "failed", why ? json_text(why + 8) : json_null());
	json_array_append_new(list, j);
}

static void agent_status_add_awaited(json_t *list, const char *line)
{
	char job[AGENT_JOB_MAX];
	unsigned rank;
	int pid;

	if (sscanf(line, "awaited %63s rank %u pid %d", job, &rank, &pid) == 3)
		json_array_append_new(list, agent_status_peer_json(job, rank, pid));
}

void agent_status_add(json_t *status, const char *line)
{
	const char *text = strchr(line, ' ');
	size_t n = strcspn(line, " ");

	if (!text)
		return;
	text++;
	if (!strncmp(line, "job ", 4))
		json_array_append_new(json_object_get(status, "jobs"), json_text(text));
	else if (!strncmp(line, "client ", 7))
		agent_status_add_client(json_object_get(status, "clients"), line);
	else if (!strncmp(line, "awaited ", 8))
		agent_status_add_awaited(json_object_get(status, "awaited"), line);
	for (size_t i = 0; i < NVALUES; i++)
		if (strlen(values[i].word) == n && !strncmp(values[i].word, line, n))
			json_object_set_new(status, values[i].key,
					    agent_status_value_json(values[i].kind, text));
}
