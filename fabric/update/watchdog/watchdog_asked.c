/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others ask of an update that runs, and what they are told. */
#include "fabric/base/clock.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/supervisor.h"
#include "fabric/update/watchdog/watchdog_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static json_t *watchdog_said_no(const char *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

static json_t *watchdog_watch_json(const struct watchdog *d)
{
	json_t *j = json_object();

	for (int i = 0; i < WATCHES; i++)
		json_object_set_new(j, watch_name((enum watch_what)i),
				    json_pack("{s:b, s:s, s:I}", "on", d->on[i], "last", d->seen[i],
					      "looks", (json_int_t)d->looks[i]));
	return j;
}

static json_t *watchdog_status(struct watchdog *d)
{
	struct executor_status st = { 0 };
	uint64_t now = clock_boot_ms();
	json_t *j;

	if (d->a)
		executor_status(d->a, &st);
	if (!st.step[0])
		snprintf(st.step, sizeof(st.step), "%.31s", d->step);
	j = json_pack("{s:b, s:I, s:I, s:o, s:o, s:I}", "ok", 1, "pid", (json_int_t)getpid(),
		      "guard", (json_int_t)supervisor_pid(d->o.guard), "watch",
		      watchdog_watch_json(d), "status", update_status_json(&st), "confirm_s",
		      (json_int_t)d->o.confirm_s);
	json_object_set_new(j, "deadline_s",
			    d->waiting ? json_real(d->deadline_ms > now
							   ? (double)(d->deadline_ms - now) / 1000
							   : 0)
				       : json_null());
	json_object_set_new(j, "switches",
			    d->scanned ? json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "old",
						   (json_int_t)d->scan.old, "new",
						   (json_int_t)d->scan.new, "between",
						   (json_int_t)d->scan.between, "foreign",
						   (json_int_t)d->scan.foreign, "silent",
						   (json_int_t)d->scan.silent, "missing",
						   (json_int_t)d->scan.missing)
				       : json_null());
	return j;
}

static json_t *watchdog_decided(struct watchdog *d, const struct control_request *r)
{
	if (d->over)
		return watchdog_said_no("it is over");
	if (r->op == CONTROL_ROLLBACK) {
		d->decision = DECIDE_ROLLBACK;
		if (d->a)
			executor_cancel(d->a);
		return json_pack("{s:b}", "ok", 1);
	}
	if (r->op == CONTROL_OVERRIDE) {
		d->overridden |= r->watches;
		for (int w = 0; w < WATCHES; w++)
			d->on[w] = d->on[w] && !(r->watches & 1u << w);
		return json_pack("{s:b}", "ok", 1);
	}
	if (!d->waiting)
		return watchdog_said_no(
			"it does not wait for a decision: only a rollback can be asked for");
	if (d->decision)
		return watchdog_said_no("it is being decided already");
	if (r->op == CONTROL_CONFIRM) {
		d->decision = DECIDE_CONFIRM;
		return json_pack("{s:b}", "ok", 1);
	}
	d->deadline_ms = clock_boot_ms() + 1000ull * (r->seconds ? r->seconds : d->o.confirm_s);
	return json_pack("{s:b, s:I}", "ok", 1, "deadline_s",
			 (json_int_t)(r->seconds ? r->seconds : d->o.confirm_s));
}

static const char *watchdog_what_asked(char buf[96], const struct control_request *r)
{
	size_t n = 0;

	buf[0] = '\0';
	if (r->op == CONTROL_EXTEND)
		return " of the deadline";
	for (int w = 0; r->op == CONTROL_OVERRIDE && w < WATCHES; w++)
		if (r->watches & 1u << w)
			n += (size_t)snprintf(buf + n, 96 - n, "%s%s",
					      n ? ", " : " of the watch over ",
					      watch_name((enum watch_what)w));
	return buf;
}

/* More time and what is not watched any more are kinds of lines of their own. */
static void watchdog_note_request(struct watchdog *d, const struct control_request *r,
				  const struct control_peer *who, const char *text, bool ok)
{
	json_t *data = json_pack("{s:I, s:I, s:b, s:s}", "uid", (json_int_t)who->uid, "pid",
				 (json_int_t)who->pid, "ok", ok, "text", text);
	json_t *what = json_array();

	for (int w = 0; w < WATCHES; w++)
		if (r->watches & 1u << w)
			json_array_append_new(what, json_string(watch_name((enum watch_what)w)));
	if (r->op == CONTROL_EXTEND)
		json_object_set_new(data, "seconds",
				    json_integer(r->seconds ? r->seconds : d->o.confirm_s));
	else if (r->op == CONTROL_OVERRIDE)
		json_object_set(data, "what", what);
	else
		json_object_set_new(data, "op", json_string(control_op_name(r->op)));
	json_decref(what);
	watchdog_record(d,
			r->op == CONTROL_EXTEND	    ? "extend"
			: r->op == CONTROL_OVERRIDE ? "override"
						    : "request",
			data);
}

json_t *watchdog_asked(void *ctx, const struct control_request *r, const struct control_peer *who)
{
	struct watchdog *d = ctx;
	char text[260], what[96];
	json_t *j;
	bool ok;

	pthread_mutex_lock(&d->lock);
	j = r->op == CONTROL_STATUS ? watchdog_status(d) : watchdog_decided(d, r);
	pthread_mutex_unlock(&d->lock);
	if (r->op == CONTROL_STATUS)
		return j;
	ok = json_is_true(json_object_get(j, "ok"));
	snprintf(text, sizeof(text), "%s%s asked for by uid %u, process %ld%s",
		 control_op_name(r->op), watchdog_what_asked(what, r), (unsigned)who->uid,
		 (long)who->pid, ok ? "" : ": refused");
	watchdog_note(d, "note", text);
	watchdog_note_request(d, r, who, text, ok);
	return j;
}
