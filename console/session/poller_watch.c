/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is not as the baseline has it, and error counters that rise. */
#include "console/session/poller_priv.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <string.h>

#define UPDATES_S      1.0
#define UPDATES_SHARE  100 /* of the time goes into looking at them: one part, at most */
#define ERRORS_S       60.0
#define ERRORS_APART_S 5.0 /* at least, from the begin of one to that of the next */
#define ERRORS_SHARE   4   /* and so many times what one takes */

void poller_watch_begin(struct poller *p)
{
	const struct fabric_watch_opts o = {
		.state_dir = p->opts.state_dir,
		.name = p->opts.fabric_name,
		.names = p->opts.names,
		.key = p->opts.watch_key,
		.limit = p->opts.error_limits,
	};

	if (p->opts.watch)
		p->watch = fabric_watch_new(&o);
	if (p->opts.count_updates)
		p->updates = update_watch_new(p->opts.state_dir, p->opts.fabric_name);
	if (!p->opts.watch || !p->opts.want_errors)
		p->errors_at = INFINITY;
	if (p->opts.fabric_name)
		p->name = xstrdup(p->opts.fabric_name);
}

/* It keeps the name that it had first, in the baseline or in this run. */
void poller_watch_found(struct poller *p, struct fabric *f, bool partial)
{
	const char *name = NULL;

	if (p->watch) {
		fabric_watch_fabric(p->watch, f, partial);
		name = fabric_watch_name(p->watch);
	}
	if (p->name)
		return;
	if (name && strcmp(name, f->name) != 0)
		f->name = arena_strdup(f->arena, name);
	p->name = xstrdup(f->name);
}

const struct findings *poller_watch_findings(const struct poller *p)
{
	return p->watch ? fabric_watch_findings(p->watch) : NULL;
}

void poller_watch_want(struct poller *p)
{
	if (p->watch && p->opts.want_errors)
		p->errors_at = fmin(p->errors_at, fmax(clock_s(), p->errors_next));
}

void poller_watch_errors(struct poller *p)
{
	double start = clock_s();
	struct error_set *s;
	struct err err;
	struct msg *msg;
	bool between;

	wire_pace(p->wire, true);
	if (wire_read_errors(&s, p->wire, p->fabric, &p->progress, &err))
		s = NULL; /* the next sample tells of it */
	wire_pace(p->wire, false);
	between = start < p->errors_due;
	if (!between)
		p->errors_due = poller_due(ERRORS_S, clock_s() - start);
	p->errors_at = p->errors_due;
	p->errors_next = start + fmax(ERRORS_APART_S, ERRORS_SHARE * (clock_s() - start));
	if (!s)
		return;
	fabric_watch_errors(p->watch, s, between);
	msg = msg_new(MSG_FINDINGS);
	msg->findings = poller_watch_findings(p);
	mailbox_send(p->box, msg);
}

void poller_watch_updates(struct poller *p)
{
	const struct update_counts *c;
	double start = clock_s();
	struct msg *msg;

	if (!p->updates || start < p->updates_at)
		return;
	c = update_watch_look(p->updates);
	p->updates_at = clock_s() + fmax(UPDATES_S, UPDATES_SHARE * (clock_s() - start));
	if (!c)
		return;
	msg = msg_new(MSG_UPDATES);
	msg->updates = c;
	mailbox_send(p->box, msg);
}
