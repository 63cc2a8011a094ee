/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others have asked of the poller and it has not begun: a queue, under its lock. */
#include "console/session/poller_priv.h"

#include <string.h>

void poller_want(struct poller *p, enum want_type t)
{
	pthread_mutex_lock(&p->lock);
	vec_push(&p->wants, t);
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

bool poller_wants_take(enum want_type *out, struct poller *p)
{
	bool any;

	pthread_mutex_lock(&p->lock);
	any = p->wants.n > 0;
	if (any) {
		*out = p->wants.v[0];
		memmove(p->wants.v, p->wants.v + 1, --p->wants.n * sizeof(*p->wants.v));
	}
	pthread_mutex_unlock(&p->lock);
	return any;
}

bool poller_wants_any(struct poller *p)
{
	bool any;

	pthread_mutex_lock(&p->lock);
	any = p->wants.n > 0;
	pthread_mutex_unlock(&p->lock);
	return any;
}
