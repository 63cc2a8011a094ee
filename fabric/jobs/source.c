/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/source.h"

const char *source_state_name(enum source_state s)
{
	static const char *const names[] = { "starting", "ok", "unreachable", "dead" };

	return names[s];
}

int source_open(struct job_source **out, const struct job_source_type *type,
		const struct source_opts *opts, struct err *err)
{
	static const struct source_opts none;

	*out = NULL;
	return type->open(out, opts ? opts : &none, err);
}

void source_close(struct job_source *s)
{
	if (!s)
		return;
	job_list_put(s->newest);
	s->newest = NULL;
	s->type->close(s);
}

int source_fd(const struct job_source *s)
{
	return s->fd;
}

bool source_poll(struct job_source *s)
{
	enum source_state before = s->status.state;
	int64_t good = s->status.last_good_s;

	s->type->poll(s);
	return s->newest || s->status.state != before || s->status.last_good_s != good;
}

const struct job_list *source_take(struct job_source *s)
{
	const struct job_list *l = s->newest;

	s->newest = NULL;
	return l;
}

const struct source_status *source_status(const struct job_source *s)
{
	return &s->status;
}
