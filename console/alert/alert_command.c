/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/alert/alert_command.h"

#include "fabric/agent/agent_hook.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX	"IBROUTE_ALERT"
#define TURN_MS 200

/* What is posted, and where to, goes through stdin: others may read a command line. */
#define CURL                                                                                       \
	"printf %s \"$" PREFIX "_CURL\" | exec curl -q -sS -f -o /dev/null --proto =http,https "   \
	"--retry 2 --retry-delay 1 --retry-connrefused -K -"

static uint64_t alert_command_now_ms(void)
{
	return (uint64_t)(clock_s() * 1e3);
}

/* Until it is over; killed where nobody waits any more. */
static int alert_command_wait(struct agent_hook *h, const struct alert_queue *q, struct err *err)
{
	bool over = false;
	int rc = 0;

	while (!over && !alert_queue_ended(q)) {
		struct pollfd fds[2] = { { .fd = h->out, .events = POLLIN },
					 { .fd = h->life, .events = POLLIN } };

		poll(fds, 2, TURN_MS);
		over = agent_hook_turn(h, alert_command_now_ms(), &rc, err);
	}
	if (over)
		return rc;
	agent_hook_kill(h);
	return err_set(err, -ECANCELED, "the %s was stopped: the program ends", h->what);
}

static int alert_command_run(const char *command, const char *const *env, const char *what,
			     uint32_t limit_ms, const struct alert_queue *q, struct err *err)
{
	struct agent_hook h;
	int rc = agent_hook_start(&h, command, env, what, alert_command_now_ms(), limit_ms, err);

	if (rc)
		return rc;
	h.area = "alert";
	return alert_command_wait(&h, q, err);
}

static char *alert_command_json(const struct alert *a)
{
	json_t *j = alert_json(a);
	char *text = json_dumps(j, JSON_COMPACT);

	json_decref(j);
	return text ? text : xstrdup("{}");
}

/* "IBROUTE_ALERT_TEXT=..." */
static char *alert_command_variable(const struct alert_field *f)
{
	char *entry = xasprintf(PREFIX "_%s=%s", f->name, f->value);

	for (char *c = entry; *c != '='; c++)
		*c = (char)toupper((unsigned char)*c);
	return entry;
}

int alert_command_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			  struct err *err)
{
	const struct alert_command *c = ctx;
	struct alert_field field[ALERT_FIELDS];
	char *env[ALERT_FIELDS + 1] = { NULL }, *json = alert_command_json(a), time[40];
	size_t n = 0;
	int rc;

	alert_fields(field, time, a);
	for (; field[n].name; n++)
		env[n] = alert_command_variable(&field[n]);
	env[n++] = xasprintf(PREFIX "=%s", json);
	rc = alert_command_run(c->command, (const char *const *)env, "event command", c->limit_ms,
			       q, err);
	while (n)
		free(env[--n]);
	free(json);
	return rc;
}

/* In the words of a configuration file of curl. */
static void alert_webhook_quote(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s = \"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputs("\"\n", out);
}

int alert_webhook_deliver(void *ctx, const struct alert_queue *q, const struct alert *a,
			  struct err *err)
{
	const struct alert_command *c = ctx;
	const char *env[2] = { NULL };
	char *json = alert_command_json(a), *config = NULL;
	size_t len;
	FILE *out = open_memstream(&config, &len);
	int rc;

	fputs(PREFIX "_CURL=", out);
	alert_webhook_quote(out, "url", c->url);
	alert_webhook_quote(out, "header", "Content-Type: application/json");
	alert_webhook_quote(out, "data-binary", json);
	fprintf(out, "max-time = %u\n", (c->limit_ms + 999) / 1000);
	fclose(out);
	env[0] = config;
	rc = alert_command_run(CURL, env, "webhook", c->limit_ms, q, err);
	free(config);
	free(json);
	return rc;
}

static bool alert_webhook_has_curl(void)
{
	const char *path = getenv("PATH");
	bool found = false;
	char *copy = xstrdup(path ? path : "/usr/bin:/bin"), *save = NULL;

	for (char *dir = strtok_r(copy, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		char *file = xasprintf("%s/curl", dir);

		found = !access(file, X_OK);
		free(file);
	}
	free(copy);
	return found;
}

int alert_webhook_check(const char *url, struct err *err)
{
	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return err_set(err, -EINVAL,
			       "a URL that begins with http:// or https:// is needed");
	for (const char *c = url; *c; c++)
		if (!isgraph((unsigned char)*c))
			return err_set(err, -EINVAL,
				       "the URL has blanks or signs that are not ASCII");
	if (!alert_webhook_has_curl())
		return err_set(err, -ENOENT, "it is curl that posts, and it is not installed");
	return 0;
}
