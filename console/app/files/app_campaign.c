/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * View K: the folder of a campaign is read by a thread of its own.  A cell is computed again by
 * "campaign dump" in a process of its own, and shown by a console of its own that has the terminal
 * meanwhile.
 */
#include "console/app/app_priv.h"

#include "console/campaign/folder/campaign_folder.h"
#include "console/io/snapshot_files.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/jobs/child.h"
#include "views/data/state/key_hint.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF	  "/proc/self/exe"
#define SELF_NAME "ibroute-top"

extern char **environ;

/* --- the folder --------------------------------------------------------------------------------
 */

struct reading_campaign {
	char dir[256];
	struct campaign_list *list;
};

static int app_campaign_run(void *ctx, struct err *err)
{
	struct reading_campaign *x = ctx;

	return campaign_folder_read(&x->list, x->dir, err);
}

static void app_campaign_done(void *owner, void *ctx)
{
	struct reading_campaign *x = ctx;
	struct app *a = owner;
	struct state_campaign *s = &a->state.campaign;

	s->busy = false;
	s->why[0] = '\0';
	campaign_list_free((struct campaign_list *)(uintptr_t)s->list);
	x->list->serial = ++a->campaigns_read;
	s->step = s->step < x->list->nstep ? s->step : 0;
	s->list = x->list;
	x->list = NULL;
}

static void app_campaign_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	(void)rc;
	a->state.campaign.busy = false;
	snprintf(a->state.campaign.why, sizeof(a->state.campaign.why), "%.290s", why->text);
	if (a->opts.no_screen || a->state.campaign.list)
		app_fail(a, "campaign", why->text);
}

static void app_campaign_free(void *ctx)
{
	struct reading_campaign *x = ctx;

	campaign_list_free(x->list);
	free(x);
}

static const struct file_work_ops app_campaign_ops = {
	.what = "campaign",
	.waited = true,
	.run = app_campaign_run,
	.done = app_campaign_done,
	.failed = app_campaign_failed,
	.free = app_campaign_free,
};

void app_campaign_read(struct app *a, const char *dir)
{
	const struct campaign_list *was = a->state.campaign.list;
	struct reading_campaign *x;
	struct err err;

	if (!dir[0] && !was)
		return;
	x = xcalloc(1, sizeof(*x));
	snprintf(x->dir, sizeof(x->dir), "%s", dir[0] ? dir : was->dir);
	a->state.campaign.busy = true;
	snprintf(a->state.campaign.words, sizeof(a->state.campaign.words), "reading %.60s", x->dir);
	shell_goto(a->shell, VIEW_CAMPAIGN);
	if (app_files_begin(a, &app_campaign_ops, x, &err)) {
		a->state.campaign.busy = false;
		snprintf(a->state.campaign.why, sizeof(a->state.campaign.why), "%.290s", err.text);
	}
}

void app_campaign_moment(struct app *a, const char *text)
{
	const struct campaign_list *l = a->state.campaign.list;
	unsigned long step = strtoul(text, NULL, 10);

	if (l && step < l->nstep)
		a->state.campaign.step = (uint32_t)step;
}

/* --- a cell, computed again ---------------------------------------------------------------------
 */

struct opening_cell {
	char dir[256], cell[128];
	char to[300];	/* a folder of this cell alone, "": none */
	char said[300]; /* the last line of "campaign dump" */
};

static int app_campaign_folder_new(struct opening_cell *x, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(x->to, sizeof(x->to), "%.200s/ibroute-cell-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(x->to))
		return 0;
	x->to[0] = '\0';
	return err_set(err, -errno, "no folder for the cell below %s: %s",
		       tmp && *tmp ? tmp : "/tmp", strerror(errno));
}

static void app_campaign_folder_remove(struct opening_cell *x)
{
	static const char *const files[] = { SNAPSHOT_FABRIC, SNAPSHOT_TABLES };

	for (size_t i = 0; x->to[0] && i < sizeof(files) / sizeof(*files); i++) {
		char *path = xasprintf("%s/%s", x->to, files[i]);

		unlink(path);
		free(path);
	}
	if (x->to[0])
		rmdir(x->to);
}

static void app_campaign_hear(struct opening_cell *x, int fd)
{
	char text[sizeof(x->said)];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text[0])
		snprintf(x->said, sizeof(x->said), "%s", text);
}

/* Until it ends, or until nobody waits for it any more. */
static int app_campaign_wait(struct opening_cell *x, struct child *c, struct err *err)
{
	struct progress *p = file_progress();
	int status = 0;

	while (!child_reap(c, &status)) {
		struct pollfd fd = { .fd = c->log, .events = POLLIN };

		poll(&fd, 1, 50);
		if (fd.revents)
			app_campaign_hear(x, c->log);
		if (progress_cancelled(p)) {
			child_end(c);
			return err_set(err, -ECANCELED, "it was ended");
		}
	}
	app_campaign_hear(x, c->log);
	child_end(c);
	return 0;
}

/* An engine that refuses the fabric leaves it there without tables, and says why. */
static int app_campaign_dump_run(void *ctx, struct err *err)
{
	struct opening_cell *x = ctx;
	char *fabric;
	struct child c;
	const char *argv[] = { SELF_NAME, "campaign", "dump", x->dir, "--cell",
			       x->cell,	  "--output", x->to,  NULL };
	int rc = app_campaign_folder_new(x, err);

	if (rc)
		return rc;
	child_init(&c);
	rc = child_start(&c, SELF, (char *const *)(uintptr_t)argv);
	if (rc)
		return err_set(err, rc, "the program cannot be started again: %s", strerror(-rc));
	rc = app_campaign_wait(x, &c, err);
	fabric = xasprintf("%s/%s", x->to, SNAPSHOT_FABRIC);
	if (!rc && access(fabric, R_OK))
		rc = err_set(err, -EIO, "%s", x->said[0] ? x->said : "the cell was not written");
	free(fabric);
	return rc;
}

static void app_campaign_cell_free(void *ctx)
{
	struct opening_cell *x = ctx;

	app_campaign_folder_remove(x);
	free(x);
}

/* The console that shows it. */
static int app_campaign_show_run(void *ctx, struct err *err)
{
	struct opening_cell *x = ctx;
	const char *argv[] = { SELF_NAME, "--load", x->to, NULL };
	pid_t pid;
	int status,
		rc = posix_spawn(&pid, SELF, NULL, NULL, (char *const *)(uintptr_t)argv, environ);

	if (rc)
		return err_set(err, -rc, "the program cannot be started again: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return 0;
}

static void app_campaign_show_done(void *owner, void *ctx)
{
	struct app *a = owner;

	(void)ctx;
	a->lent = false;
	terminal_return(a->term);
}

static void app_campaign_show_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)rc;
	app_campaign_show_done(owner, ctx);
	app_fail(owner, "cell", why->text);
}

static const struct file_work_ops app_campaign_show = {
	.what = "cell",
	.finishes = true, /* it has the terminal */
	.run = app_campaign_show_run,
	.done = app_campaign_show_done,
	.failed = app_campaign_show_failed,
	.free = app_campaign_cell_free,
};

static void app_campaign_dump_done(void *owner, void *ctx)
{
	struct opening_cell *x = ctx, *shown;
	struct app *a = owner;

	a->state.campaign.busy = false;
	if (!a->term) {
		app_fail(a, "cell", "no terminal to show it on");
		return;
	}
	if (x->said[0])
		shell_say(a->shell, "%s", x->said);
	shown = xcalloc(1, sizeof(*shown));
	*shown = *x;
	x->to[0] = '\0';
	terminal_lend(a->term);
	a->lent = true;
	if (app_files_start(a, &app_campaign_show, shown))
		app_campaign_show_done(a, NULL);
}

static void app_campaign_dump_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	(void)rc;
	a->state.campaign.busy = false;
	app_fail(a, "cell", why->text);
}

static const struct file_work_ops app_campaign_dump = {
	.what = "cell",
	.waited = true,
	.run = app_campaign_dump_run,
	.done = app_campaign_dump_done,
	.failed = app_campaign_dump_failed,
	.free = app_campaign_cell_free,
};

void app_campaign_open(struct app *a, const char *cell)
{
	enum apply_state st = a->state.apply.state;
	struct opening_cell *x;

	if (!a->state.campaign.list || a->state.campaign.busy)
		return;
	if (st == APPLY_RUNNING || st == APPLY_ROLLING_BACK) {
		shell_say(a->shell, "tables are being written: another console would hide that");
		return;
	}
	x = xcalloc(1, sizeof(*x));
	snprintf(x->dir, sizeof(x->dir), "%s", a->state.campaign.list->dir);
	snprintf(x->cell, sizeof(x->cell), "%s", cell);
	a->state.campaign.busy = true;
	snprintf(a->state.campaign.words, sizeof(a->state.campaign.words),
		 "computing %.50s; %s stops it", cell, key_hint("stop"));
	if (app_files_start(a, &app_campaign_dump, x))
		a->state.campaign.busy = false;
}

/* --- a part of the console -----------------------------------------------------------------------
 */

static void app_campaign_end(struct app *a)
{
	campaign_list_free((struct campaign_list *)(uintptr_t)a->state.campaign.list);
}

const struct app_part app_campaign_part = { .end = app_campaign_end };
