/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/update/update_terminal.h"

#include "console/config/exits.h"
#include "console/io/confirm_prompt.h"
#include "console/update/show_event.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SHOWN 10 /* blocks that failed */

static volatile sig_atomic_t signalled;

static void update_terminal_on_signal(int sig)
{
	signalled = sig;
}

static bool update_terminal_interactive(const struct update_terminal *t)
{
	return t->mode < UPDATE_WAIT && !t->no_input && confirm_prompt_possible();
}

/* ---- what is reported ---- */

static void update_terminal_event(void *ctx, const struct executor_event *ev,
				  const struct executor_status *st, const char *block)
{
	struct update_terminal *t = ctx;

	(void)st;
	if (ev->kind != APPLY_ITEM || (ev->rc && t->failed++ < SHOWN))
		show_event(ev, block, t->client.id);
	fflush(stdout);
}

static void update_terminal_prompt(const struct update_terminal *t, unsigned confirm_s)
{
	tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before was not meant for this */
	fprintf(stderr,
		"All tables are written and verified. Type the name of the fabric, %s, within %u "
		"s to confirm,\n'extend [SECONDS]' for more time%s: ",
		t->fabric, confirm_s,
		t->mode == UPDATE_APPLY ? "; anything else rolls back"
					: ", 'rollback' for the previous routing");
}

static void update_terminal_waits(void *ctx, unsigned confirm_s)
{
	struct update_terminal *t = ctx;

	if (t->mode == UPDATE_APPLY && t->no_input && !t->detach && !t->asked) {
		t->asked = true;
		update_client_ask(&t->client, CONTROL_CONFIRM, 0);
	} else if (t->mode == UPDATE_AUTO) {
		printf("CONFIRM  confirms after %u s without a failed watch condition, within %u "
		       "s; otherwise rolls back\n",
		       t->quiet_s, confirm_s);
	} else if (update_terminal_interactive(t)) {
		update_terminal_prompt(t, confirm_s);
	} else {
		printf("CONFIRM  waiting %u s for 'ibroute-top confirm %s'; then it is rolled "
		       "back\n",
		       confirm_s, t->client.id);
	}
	fflush(stdout);
}

static void update_terminal_found(void *ctx, const char *what, const char *text, bool tripped)
{
	(void)ctx;
	(void)tripped;
	printf("         %s: %s\n", what, text);
	fflush(stdout);
}

static void update_terminal_says(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	printf("         %s\n", text);
	fflush(stdout);
}

/* Who came only to ask that has nothing more to wait for. */
static void update_terminal_answer(void *ctx, const json_t *j)
{
	struct update_terminal *t = ctx;
	const char *error = json_string_value(json_object_get(j, "error"));

	if (!json_is_false(json_object_get(j, "ok")))
		return;
	if (t->mode != UPDATE_WAIT) {
		fprintf(stderr, "%s: %s\n", json_string_value(json_object_get(j, "re")), error);
		return;
	}
	t->client.over = true;
	t->end.exit = EXIT_REFUSED;
	snprintf(t->end.text, sizeof(t->end.text), "%s", error ? error : "");
}

static void update_terminal_over(void *ctx, const struct update_end *end)
{
	struct update_terminal *t = ctx;

	t->end = *end;
}

static bool update_terminal_interrupted(void *ctx)
{
	(void)ctx;
	return signalled != 0;
}

void update_terminal_init(struct update_terminal *t, const char *base)
{
	static const struct update_client_ops ops = {
		.event = update_terminal_event,
		.waits = update_terminal_waits,
		.found = update_terminal_found,
		.says = update_terminal_says,
		.answer = update_terminal_answer,
		.over = update_terminal_over,
		.stop = update_terminal_interrupted,
	};

	update_client_init(&t->client, &ops, t, base);
}

void update_terminal_close(struct update_terminal *t)
{
	update_client_close(&t->client);
}

/* ---- what is typed ---- */

static void update_terminal_typed(struct update_terminal *t, const char *line)
{
	bool extend = !strncmp(line, "extend", 6) && (!line[6] || line[6] == ' ');

	if (extend) {
		update_client_ask(&t->client, CONTROL_EXTEND,
				  (uint32_t)strtoul(line + 6, NULL, 10));
		fprintf(stderr,
			"type %s to confirm, 'extend [SECONDS]' for more time: ", t->fabric);
		return;
	}
	if (!strcmp(line, t->fabric))
		update_client_ask(&t->client, CONTROL_CONFIRM, 0);
	else if (t->mode == UPDATE_APPLY || !strcmp(line, "rollback"))
		update_client_ask(&t->client, CONTROL_ROLLBACK, 0);
	else
		fprintf(stderr, "'%s' is not the name of the fabric: nothing done\n", line);
}

/* The end of the input is no decision: the deadline goes on. */
static bool update_terminal_read_input(struct update_terminal *t)
{
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (n <= 0)
		return n < 0 && errno == EINTR;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	if (t->client.waiting)
		update_terminal_typed(t, line);
	return true;
}

/* true: go on. */
static bool update_terminal_on_interrupt(struct update_terminal *t, struct err *err)
{
	signalled = 0;
	if (t->mode == UPDATE_APPLY) {
		update_client_ask(&t->client, CONTROL_ROLLBACK, 0);
		return true;
	}
	err_set(err, 0, "%s continues without this terminal; reattach with 'ibroute-top attach %s'",
		t->client.id, t->client.id);
	t->left = true;
	return false;
}

/* ---- until it is over ---- */

static bool update_terminal_detached(struct update_terminal *t)
{
	if (!t->detach || !t->client.id[0])
		return false;
	printf("%s\n", t->client.id);
	return true;
}

/* Milliseconds until it has been quiet for long enough, -1: nothing to wait for. */
static int update_terminal_quiet_left(const struct update_terminal *t)
{
	double left = t->quiet_s - update_client_quiet_s(&t->client);

	if (t->mode != UPDATE_AUTO || !t->client.waiting || t->asked)
		return -1;
	return (int)ceil(fmax(0, left) * 1e3);
}

static void update_terminal_keep_when_quiet(struct update_terminal *t)
{
	if (update_terminal_quiet_left(t) != 0)
		return;
	t->asked = true;
	printf("         no watch condition failed for %u s\n", t->quiet_s);
	update_client_ask(&t->client, CONTROL_CONFIRM, 0);
}

/* Waits for either side; true: the process's. */
static bool update_terminal_wait_for(struct update_terminal *t, bool *input)
{
	struct pollfd p[] = { { .fd = t->client.link.fd, .events = POLLIN },
			      { .fd = *input ? STDIN_FILENO : -1, .events = POLLIN } };

	if (poll(p, 2, update_terminal_quiet_left(t)) < 0)
		return false;
	if (p[1].revents)
		*input = update_terminal_read_input(t);
	return p[0].revents != 0;
}

static void update_terminal_loop(struct update_terminal *t, struct err *err)
{
	bool input = update_terminal_interactive(t);

	while (!t->client.over && !update_terminal_detached(t)) {
		int rc = update_client_take(&t->client, 0);

		if (signalled && !t->client.over && !update_terminal_on_interrupt(t, err))
			return;
		if (!rc && !update_terminal_wait_for(t, &input))
			update_terminal_keep_when_quiet(t);
	}
}

int update_terminal_run(struct update_terminal *t, struct err *err)
{
	struct sigaction sa = { .sa_handler = update_terminal_on_signal }, old[2];

	sigaction(SIGINT, &sa, &old[0]);
	sigaction(SIGTERM, &sa, &old[1]);
	signal(SIGPIPE, SIG_IGN);
	update_terminal_loop(t, err);
	sigaction(SIGINT, &old[0], NULL);
	sigaction(SIGTERM, &old[1], NULL);
	if (t->end.text[0])
		err_set(err, 0, "%s", t->end.text);
	return t->end.exit;
}

int update_terminal_apply(struct update_terminal *t, const struct watchdog_config *config,
			  const struct plan_bytes *plan, struct err *err)
{
	if (update_client_start(&t->client, config, plan, NULL, err))
		return EXIT_REFUSED;
	return update_terminal_run(t, err);
}
