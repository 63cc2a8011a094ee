/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/message.h"

#include "console/session/samples/sample_reading.h"
#include "console/collect/acts.h"
#include "console/collect/update_watch.h"
#include "fabric/baseline/findings.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "views/data/summary/fabric_shape.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mailbox {
	pthread_mutex_t lock;
	struct msg *head, **tail;
	int fd;
};

struct mailbox *mailbox_new(void)
{
	struct mailbox *m = xcalloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	m->tail = &m->head;
	m->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return m;
}

void mailbox_free(struct mailbox *m)
{
	struct msg *msg;

	if (!m)
		return;
	while ((msg = mailbox_take(m)))
		msg_drop(msg);
	close(m->fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

int mailbox_fd(const struct mailbox *m)
{
	return m->fd;
}

struct msg *msg_new(enum msg_type type)
{
	struct msg *msg = xcalloc(1, sizeof(*msg));

	msg->type = type;
	msg->made_s = clock_s();
	return msg;
}

void msg_drop(struct msg *msg)
{
	if (!msg)
		return;
	fabric_put(msg->fabric);
	tables_put(msg->tables);
	tables_put(msg->from);
	jobset_put(msg->jobs);
	jobset_put(msg->running);
	demand_put(msg->demand);
	job_list_put(msg->list);
	sample_reading_free(msg->reading);
	findings_put(msg->findings);
	acts_put(msg->acts);
	update_counts_put(msg->updates);
	metrics_free(msg->before);
	metrics_free(msg->after);
	link_usage_free(msg->usage);
	verdict_free(msg->verdict);
	tables_diff_free(msg->diff);
	plan_free(msg->ordered);
	notes_done(&msg->notes);
	job_time_changes_done(&msg->jobs_time);
	free(msg->rates_now);
	free(msg->rates_plan);
	free(msg->engines);
	fabric_shape_put(msg->shape);
	free(msg->silent);
	free(msg->lines);
	free(msg->seen);
	changes_free(msg->changes);
	free(msg);
}

void mailbox_send(struct mailbox *m, struct msg *msg)
{
	uint64_t one = 1;

	pthread_mutex_lock(&m->lock);
	msg->next = NULL;
	*m->tail = msg;
	m->tail = &msg->next;
	pthread_mutex_unlock(&m->lock);
	/* the only failure is a full counter, and then the reader is awake anyway */
	if (write(m->fd, &one, sizeof(one)) < 0)
		return;
}

struct msg *mailbox_take(struct mailbox *m)
{
	uint64_t count;
	struct msg *msg;

	pthread_mutex_lock(&m->lock);
	msg = m->head;
	if (msg) {
		m->head = msg->next;
		if (!m->head)
			m->tail = &m->head;
	} else if (read(m->fd, &count, sizeof(count)) < 0) {
		count = 0; /* nothing was signalled since */
	}
	pthread_mutex_unlock(&m->lock);
	return msg;
}
