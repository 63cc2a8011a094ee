/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * update_client: a connection to the process that carries out an update.
 *
 * It starts that process, or connects to it, and passes on what it tells.  When the connection
 * breaks, the supervisor has started another process, which is looked for; when nobody is left, the
 * journal says how the update stands.  Console, commands and automatic mode use this one.
 */
#pragma once

#include "console/update/watchdog_config.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/log.h"
#include "fabric/plan/file/plan_bytes.h"
#include "fabric/update/executor.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/control_socket.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* How an update ended. */
struct update_end {
	int exit;	      /* code as of apply: exits.h */
	enum outcome outcome; /* OUTCOME_NONE: nothing was begun */
	char text[512];	      /* why it was not kept; "" when it was */
};

/* What is reported, in the thread that takes it; any but event and over may be NULL.  Strings live
 * as long as the call. */
struct update_client_ops {
	/* block: which one an APPLY_ITEM is about. */
	void (*event)(void *ctx, const struct executor_event *ev, const struct executor_status *st,
		      const char *block);
	/* It waits for so many seconds to be confirmed. */
	void (*waits)(void *ctx, unsigned confirm_s);
	/* A watch condition, by its name; tripped: it rolls back because of it. */
	void (*found)(void *ctx, const char *what, const char *text, bool tripped);
	/* Who works on it; installer: how it writes, "" not known yet. */
	void (*process)(void *ctx, pid_t worker, const char *installer);
	/* What it does or was asked for besides. */
	void (*says)(void *ctx, enum log_level level, const char *text);
	/* The answer to a question (control_socket.h). */
	void (*answer)(void *ctx, const json_t *answer);
	void (*over)(void *ctx, const struct update_end *end);
	/* Does nobody want to wait any more for another process to take over? */
	bool (*stop)(void *ctx);
};

struct update_client {
	const struct update_client_ops *ops;
	void *ctx;
	char *base;   /* of the journals */
	char id[48];  /* "" until it is known */
	pid_t worker; /* 0: not known yet */
	bool waiting; /* to be confirmed */
	bool over;
	_Atomic uint64_t quiet_ms; /* clock_ms() when it began to wait, or last found something */
	struct control_link link;  /* fd -1: there is no process */
	pthread_mutex_t lock;	   /* of link: others ask while one takes */
};

/* base may be NULL: the default. */
void update_client_init(struct update_client *c, const struct update_client_ops *ops, void *ctx,
			const char *base);
void update_client_close(struct update_client *c);

/* Starts the watchdog for that plan, or (recover) to roll back the update of that id.  It gets
 * these very bytes, and refuses any others. */
int update_client_start(struct update_client *c, const struct watchdog_config *config,
			const struct plan_bytes *plan, const char *recover, struct err *err);
/* Connects to the update's process and follows it.  -errno: there is none that answers. */
int update_client_open(struct update_client *c, const char *id, struct err *err);

/* Takes one report.  1: there was one; 0: none within that time; -EINTR: a signal.
 * c->over is set after over() was called. */
int update_client_take(struct update_client *c, int timeout_ms);

double update_client_quiet_s(const struct update_client *c); /* since then; any thread */
/* Any thread; never blocks.  -EPIPE: nobody is there to be asked. */
int update_client_ask(struct update_client *c, enum control_op op, uint32_t seconds);
int update_client_override(struct update_client *c, unsigned watches); /* bits of enum watch_what */

/* How it stands by its journal alone, when nobody works on it. */
void update_client_journalled(struct update_end *out, const struct txn_info *t);
/* One question without following, and its answer, which is the caller's; NULL: no answer. */
json_t *update_client_request(const char *base, const char *id, const struct control_request *r,
			      struct err *err);
