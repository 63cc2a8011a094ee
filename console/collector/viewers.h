/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * viewers: who looks on: consoles and commands behind a socket, to each of which all that is new is
 * sent, and what is true already when they come.
 *
 * A slow one gets the newest of each kind, never a backlog; one that takes nothing for long is
 * closed.  Whatever they send is either a small question or the end of them.
 */
#pragma once

#include "console/collector/frame/frame.h"
#include "console/session/feed.h"
#include "fabric/base/message/err.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEWERS_MAX 256

struct viewers;

struct viewers_ops {
	void (*past)(void *ctx, uint64_t viewer, const struct past_ask *ask);
	/* of one that may; of any where it is WANT_ERRORS, which costs no more for many */
	void (*want)(void *ctx, enum want_type want);
	void *ctx;
};

struct viewers *viewers_new(const struct viewers_ops *ops);
void viewers_free(struct viewers *v); /* NULL is fine */
uint32_t viewers_count(const struct viewers *v);

/* Takes fd.  first: n frames that it begins with. */
void viewers_add(struct viewers *v, int fd, bool may_write, const struct frame *const *first,
		 uint32_t n);
/* To all.  again: it says what they have heard already. */
void viewers_send(struct viewers *v, const struct frame *f, bool again);
/* To one, if it is still there; it had asked. */
void viewers_answer(struct viewers *v, uint64_t viewer, const struct frame *f);

/* For poll(): at most VIEWERS_MAX entries; returns how many. */
uint32_t viewers_poll(struct viewers *v, struct pollfd *fds);
/* With what poll() has said, before anything else is done with v. */
void viewers_serve(struct viewers *v, const struct pollfd *fds, uint32_t n);
