/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue: many requests over one port, a bounded number of them outstanding.
 *
 * A request that has timed out once is considered lost and no longer counts: many silent nodes
 * do not fill the window.
 *
 * A source gives requests one by one and gets the result of each exactly once.  The queue keeps
 * the transaction ids (only the low 32 bits are ours), which nobody can guess, its own timeouts
 * with exponential back-off, and drops late and duplicate answers and those that come from
 * elsewhere.  A node that does not answer holds at most one
 * place of the window; when a request to it has run out of tries, all other requests to it fail
 * at once, so that a dead node does not stall the rest.  An answer "busy" counts as none.
 */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/ib/codec.h"
#include "fabric/ib/mad.h"

#define QUEUE_NO_NODE UINT32_MAX

struct queue_opts {
	uint32_t window;     /* requests on the wire; 0: 32, at most 1024 */
	uint32_t timeout_ms; /* of the first try, doubled with each further one; 0: 200 */
	uint32_t retries;    /* further tries; 0: 3, UINT32_MAX: none */
};

struct queue_request {
	uint64_t tag;	     /* the source's own */
	uint32_t node;	     /* dense number of the node it goes to, or QUEUE_NO_NODE */
	uint8_t tries;	     /* at most this many tries; 0: as the queue's options say */
	uint32_t timeout_ms; /* of the first try; 0: as the queue's options say */
	struct mad_request mad;
};

struct queue_source {
	/* False: nothing at the moment.  It is asked again after every done(). */
	bool (*next)(void *ctx, struct queue_request *out);
	/* rc 0 with the answer; -ETIMEDOUT no answer; -EHOSTDOWN not sent because the node is
	 * silent; -EPROTO the answer's status is not 0 (answer given); -ECANCELED, also when
	 * the port failed.  answer is only valid during the call. */
	void (*done)(void *ctx, const struct queue_request *req, int rc,
		     const struct mad_answer *answer);
	void *ctx;
	const uint64_t *total; /* requests expected, may grow; NULL: not known.  For progress */
};

struct queue_stats {
	uint64_t sent, answered, retried, timed_out, late, skipped;
	uint64_t foreign; /* answers to what somebody else was asked */
	uint32_t most_on_wire;
};

struct queue;

/* Port and queue share one life; the queue does not close the port. */
struct queue *queue_new(const struct mad_port *port, const struct queue_opts *opts);
void queue_free(struct queue *q); /* NULL is fine */

/* Runs until the source has no more requests and none is outstanding. 0 whatever the single
 * requests' results are; -ECANCELED; -errno when the port failed. */
int queue_run(struct queue *q, const struct queue_source *src, struct progress *progress,
	      const char *step, struct err *err);

/* A single request, to no node in particular. */
struct queue_answer {
	int rc;
	uint16_t status;       /* of -EPROTO */
	uint8_t data[SA_DATA]; /* MAD_SA: all of it, else SMP_DATA bytes */
};

/* 0, out->rc, or what the port failed with; then out->rc is -ECANCELED. */
int queue_ask(struct queue_answer *out, struct queue *q, const struct mad_request *r,
	      struct progress *progress, const char *step, struct err *err);

/* Silent nodes are remembered from run to run: each is asked again, with a single try, after
 * a pause that doubles up to 30 s.  forget: of new node numbers, or to try in earnest. */
void queue_forget(struct queue *q);
const struct queue_stats *queue_stats(const struct queue *q);
