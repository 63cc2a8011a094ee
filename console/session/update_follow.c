/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/update_follow.h"

#include "console/lib/confirm_prompt.h"
#include "console/lib/exits.h"
#include "console/session/show_event.h"
#include "console/session/update_reconnect.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/update/journal.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SHOWN 10 /* blocks that failed */

static volatile sig_atomic_t signalled;

static void update_follow_on_signal(int sig)
{
	signalled = sig;
}

static bool update_follow_interactive(const struct update_follow *f)
{
	return f->mode < FOLLOW_WAIT && !f->no_input && confirm_prompt_possible();
}

/* ---- what comes ---- */

static const char *update_follow_str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void update_follow_begin_to_wait(struct update_follow *f, const json_t *j)
{
	f->waiting = true;
	f->confirm_s = (unsigned)json_integer_value(json_object_get(j, "confirm_s"));
	if (f->mode == FOLLOW_APPLY && f->no_input && !f->detach && !f->asked) {
		f->asked = true;
		control_ask(&f->link, CONTROL_CONFIRM, 0);
	} else if (f->mode == FOLLOW_AUTO) {
		f->quiet_ms = clock_ms();
		printf("CONFIRM  is confirmed once nothing was found for %u s, within %u s; else it "
		       "rolls back\n",
		       f->quiet_s, f->confirm_s);
		fflush(stdout);
	} else if (update_follow_interactive(f)) {
		tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before was not meant for this */
		fprintf(stderr,
			"All is written and read back. Type the name of the fabric, %s, within %u s "
			"to keep it,\n'extend [S]' for more time%s: ",
			f->fabric, f->confirm_s,
			f->mode == FOLLOW_APPLY ? "; anything else rolls back"
						: ", 'rollback' for the old routes");
	} else {
		printf("CONFIRM  waits %u s for 'ibroute-top confirm %s'; then it rolls back\n",
		       f->confirm_s, f->id);
		fflush(stdout);
	}
}

static void update_follow_take_update(struct update_follow *f, const struct executor_event *ev,
				      const struct executor_status *st, const json_t *j)
{
	if (st->txn[0])
		snprintf(f->id, sizeof(f->id), "%s", st->txn);
	if (ev->phase == PHASE_ROLLBACK)
		f->waiting = false;
	if (ev->kind == APPLY_ITEM && (!ev->rc || f->failed++ >= SHOWN))
		return;
	show_event(ev, update_follow_str(j, "block"), f->id);
}

static void update_follow_take_over(struct update_follow *f, const json_t *j)
{
	f->over = true;
	f->result = (int)json_integer_value(json_object_get(j, "exit"));
	snprintf(f->text, sizeof(f->text), "%s", update_follow_str(j, "text"));
}

/* Who came only to ask that has nothing more to wait for. */
static void update_follow_refused(struct update_follow *f, const json_t *j)
{
	if (f->mode != FOLLOW_WAIT) {
		fprintf(stderr, "%s: %s\n", update_follow_str(j, "re"),
			update_follow_str(j, "error"));
		return;
	}
	f->over = true;
	f->result = EXIT_REFUSED;
	snprintf(f->text, sizeof(f->text), "%s", update_follow_str(j, "error"));
}

static void update_follow_found(struct update_follow *f, const json_t *j)
{
	f->quiet_ms = clock_ms();
	printf("         %s: %s\n", update_follow_str(j, "what"), update_follow_str(j, "text"));
}

static void update_follow_take(struct update_follow *f, const json_t *j)
{
	const char *event = update_follow_str(j, "event");
	struct executor_event ev;
	struct executor_status st;

	if (update_event_parse(&ev, &st, j))
		update_follow_take_update(f, &ev, &st, j);
	else if (!strcmp(event, "hello"))
		f->worker = (pid_t)json_integer_value(json_object_get(j, "pid"));
	else if (!strcmp(event, "waiting"))
		update_follow_begin_to_wait(f, j);
	else if (!strcmp(event, "over"))
		update_follow_take_over(f, j);
	else if (!strcmp(event, "watch"))
		update_follow_found(f, j);
	else if (*event)
		printf("         %s\n", update_follow_str(j, "text"));
	else if (json_is_false(json_object_get(j, "ok")))
		update_follow_refused(f, j);
	fflush(stdout);
}

/* ---- what is typed ---- */

static void update_follow_typed(struct update_follow *f, char *line)
{
	bool extend = !strncmp(line, "extend", 6) && (!line[6] || line[6] == ' ');

	if (extend) {
		control_ask(&f->link, CONTROL_EXTEND, (uint32_t)strtoul(line + 6, NULL, 10));
		fprintf(stderr, "%s to keep it, 'extend [S]': ", f->fabric);
		return;
	}
	if (!strcmp(line, f->fabric))
		control_ask(&f->link, CONTROL_CONFIRM, 0);
	else if (f->mode == FOLLOW_APPLY || !strcmp(line, "rollback"))
		control_ask(&f->link, CONTROL_ROLLBACK, 0);
	else
		fprintf(stderr, "'%s' is not the name of the fabric: nothing was done\n", line);
}

/* The end of the input is no decision: the deadline goes on. */
static bool update_follow_read_input(struct update_follow *f)
{
	char line[256];
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (n <= 0)
		return n < 0 && errno == EINTR;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	if (f->waiting)
		update_follow_typed(f, line);
	return true;
}

/* ---- the connection ---- */

/* How it stands, from the journal alone. */
static int update_follow_as_journalled(const struct update_follow *f, const struct txn_info *t,
				       struct err *err)
{
	switch (t->state) {
	case TXN_CONFIRMED:
		return EXIT_OK;
	case TXN_SUPERSEDED:
		err_set(err, 0, "%s: %s: %s", f->id, txn_state_name(t->state), t->said);
		return EXIT_SUPERSEDED;
	case TXN_ROLLED_BACK:
	case TXN_ABANDONED:
		err_set(err, 0, "%s: %s%s%s", f->id, txn_state_name(t->state), t->why ? ": " : "",
			coord_why_text(t->why));
		return outcome_exit_code(
			t->state == TXN_ABANDONED ? OUTCOME_REFUSED : OUTCOME_ROLLED_BACK, t->why);
	default:
		err_set(err, 0,
			"%s was left %s and nobody works on it: roll it back (ibroute-top rollback "
			"%s)",
			f->id, txn_state_name(t->state), f->id);
		return EXIT_INCOMPLETE;
	}
}

static bool update_follow_interrupted(void *ctx)
{
	(void)ctx;
	return signalled != 0;
}

/* true: connected again.  Else f->over and result are set. */
static bool update_follow_look_for_another(struct update_follow *f, struct err *err)
{
	struct txn_info t = { 0 };
	int rc;

	control_close(&f->link);
	f->waiting = f->asked = false;
	rc = update_reconnect(&f->link, &t, f->base, f->id, f->worker, update_follow_interrupted,
			      NULL);
	if (rc == 1) {
		printf("         the process that carried it out has died; another one has taken "
		       "over\n");
		return true;
	}
	f->over = true;
	if (!rc)
		f->result = update_follow_as_journalled(f, &t, err);
	else
		f->result = err_set(err, EXIT_REFUSED,
				    "the watchdog has died before anything was written");
	return false;
}

/* true: go on. */
static bool update_follow_on_interrupt(struct update_follow *f, struct err *err)
{
	signalled = 0;
	if (f->mode == FOLLOW_APPLY) {
		control_ask(&f->link, CONTROL_ROLLBACK, 0);
		return true;
	}
	err_set(err, 0,
		"%s goes on without this terminal; attach again with 'ibroute-top attach %s'",
		f->id, f->id);
	f->over = true;
	f->left = true;
	f->result = EXIT_OK;
	return false;
}

static bool update_follow_detached(struct update_follow *f)
{
	if (!f->detach || !f->id[0])
		return false;
	printf("%s\n", f->id);
	return true;
}

/* Milliseconds until it has been quiet for long enough, -1: nothing to wait for. */
static int update_follow_quiet_left(const struct update_follow *f)
{
	uint64_t passed = clock_ms() - f->quiet_ms, all = 1000ull * f->quiet_s;

	if (f->mode != FOLLOW_AUTO || !f->waiting || f->asked)
		return -1;
	return passed < all ? (int)(all - passed) : 0;
}

static void update_follow_keep_when_quiet(struct update_follow *f)
{
	if (update_follow_quiet_left(f) != 0)
		return;
	f->asked = true;
	printf("         nothing was found for %u s\n", f->quiet_s);
	control_ask(&f->link, CONTROL_CONFIRM, 0);
}

/* Waits for either side; true: the server's. */
static bool update_follow_wait_for(struct update_follow *f, bool *input)
{
	struct pollfd p[] = { { .fd = f->link.fd, .events = POLLIN },
			      { .fd = *input ? STDIN_FILENO : -1, .events = POLLIN } };

	if (poll(p, 2, update_follow_quiet_left(f)) < 0)
		return false;
	if (p[1].revents)
		*input = update_follow_read_input(f);
	return p[0].revents != 0;
}

static void update_follow_loop(struct update_follow *f, struct err *err)
{
	bool input = update_follow_interactive(f);

	while (!f->over && !update_follow_detached(f)) {
		json_t *j = NULL;
		int rc = control_next(&j, &f->link, 0);

		if (rc == 1)
			update_follow_take(f, j);
		json_decref(j);
		if (rc < 0 && rc != -EINTR && !update_follow_look_for_another(f, err))
			return;
		if (signalled && !update_follow_on_interrupt(f, err))
			return;
		if (!rc && !update_follow_wait_for(f, &input))
			update_follow_keep_when_quiet(f);
	}
}

int update_follow_run(struct update_follow *f, struct err *err)
{
	struct sigaction sa = { .sa_handler = update_follow_on_signal }, old[2];

	sigaction(SIGINT, &sa, &old[0]);
	sigaction(SIGTERM, &sa, &old[1]);
	signal(SIGPIPE, SIG_IGN);
	update_follow_loop(f, err);
	sigaction(SIGINT, &old[0], NULL);
	sigaction(SIGTERM, &old[1], NULL);
	if (f->text[0])
		err_set(err, 0, "%s", f->text);
	control_close(&f->link);
	return f->result;
}

int update_follow_open(struct update_follow *f, const char *base, const char *id, struct err *err)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	int rc = control_connect(&f->link, dir, err);

	f->base = base;
	snprintf(f->id, sizeof(f->id), "%s", id);
	free(dir);
	return rc ? rc : control_ask(&f->link, CONTROL_FOLLOW, 0);
}
