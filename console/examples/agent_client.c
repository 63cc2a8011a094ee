/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_client: how a process with queue pairs works with "ibroute-top agent".
 *
 * The queue pairs are simulated: each posts requests, which complete in order after a while.  An
 * event thread of an MPI library does with real ones what is done here between the orders.
 *
 *	cc -std=c99 -o agent_client agent_client.c
 *	./agent_client -j 42 -r 0 -q 16
 *
 * -s PATH  the agent's socket           -j JOB  -r RANK
 * -q N     queue pairs (8)              -n N    exits after N requests of each (0: never)
 * -x       requests never complete, as when the peer is dead
 */
#define _POSIX_C_SOURCE 200809L

#include "ibroute-agent.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define TICK_MS	 2
#define RETRY_MS 500
#define WINDOW	 16
#define LONGEST	 20 /* ticks that a request is in flight at most */
#define QPS_MAX	 4096

struct request {
	uint32_t lid_offset; /* it travels to the peer's base LID and this */
	unsigned done_tick;
};

/* Requests completed..posted-1 are in flight, oldest first. */
struct qp {
	struct request ring[WINDOW];
	uint64_t posted, completed;
	uint32_t lid_offset;
};

struct client {
	struct ibroute_agent agent;
	struct ibroute_order order; /* valid when busy */
	int busy;
	const char *path, *job;
	unsigned rank, nqps, tick, retry_tick, resume_tick, limit_s;
	uint64_t limit;
	int stuck, running;
	uint32_t lid_offset; /* of new requests */
	struct qp *qps;
};

static volatile sig_atomic_t ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/* ---- the queue pairs ---- */

static uint64_t outstanding(const struct client *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < c->nqps; i++)
		n += c->qps[i].posted - c->qps[i].completed;
	return n;
}

static void post(struct client *c, struct qp *q)
{
	struct request *r = &q->ring[q->posted % WINDOW];

	r->lid_offset = q->lid_offset;
	r->done_tick = c->tick + 1 + (unsigned)rand() % LONGEST;
	q->posted++;
}

static void complete(struct client *c, struct qp *q)
{
	while (q->completed < q->posted && !c->stuck) {
		const struct request *r = &q->ring[q->completed % WINDOW];

		if ((int)(c->tick - r->done_tick) < 0)
			return;
		/* requests in flight when a queue pair changes its path may be overtaken */
		if (r->lid_offset != q->lid_offset) {
			printf("rank %u: the path of a request changed while it was in flight\n",
			       c->rank);
			exit(3);
		}
		q->completed++;
	}
}

static int all_done(const struct client *c)
{
	for (unsigned i = 0; i < c->nqps; i++) {
		if (!c->limit || c->qps[i].completed < c->limit)
			return 0;
	}
	return 1;
}

static void work(struct client *c)
{
	c->tick++;
	for (unsigned i = 0; i < c->nqps; i++) {
		struct qp *q = &c->qps[i];

		complete(c, q);
		while (c->running && q->posted - q->completed < WINDOW &&
		       (!c->limit || q->posted < c->limit) && rand() % 2)
			post(c, q);
	}
}

static void move_all(struct client *c, uint32_t lid_offset)
{
	c->lid_offset = lid_offset;
	for (unsigned i = 0; i < c->nqps; i++)
		c->qps[i].lid_offset = lid_offset;
	c->running = 1;
	printf("rank %u: %u queue pairs at LID offset %u\n", c->rank, c->nqps, lid_offset);
}

/* ---- the agent ---- */

static const char *where(const struct client *c)
{
	if (!c->running)
		return "drained";
	return c->lid_offset ? "escape" : "base";
}

/* No new request from here on, whatever is asked for. */
static void begin(struct client *c)
{
	switch (c->order.what) {
	case IBROUTE_WELCOME:
		/* without a queue pair yet; one that has some is told to move them */
		if (!c->qps[0].posted)
			move_all(c, c->order.escape ? c->order.escape_offset : 0);
		return;
	case IBROUTE_DRAIN:
	case IBROUTE_MIGRATE:
	case IBROUTE_RETURN:
		c->busy = 1;
		c->running = 0;
		c->limit_s = c->order.limit_s;
		return;
	case IBROUTE_ERROR:
		printf("rank %u: the agent says: %s\n", c->rank, c->order.why);
		return;
	case IBROUTE_BYE:
		printf("rank %u: the agent says BYE\n", c->rank);
		return;
	}
}

/* An order can be answered when nothing is in flight. */
static void go_on(struct client *c)
{
	if (!c->busy || outstanding(c))
		return;
	c->busy = 0;
	if (c->order.what == IBROUTE_MIGRATE)
		move_all(c, c->order.escape_offset);
	else if (c->order.what == IBROUTE_RETURN)
		move_all(c, 0);
	else
		printf("rank %u: drained\n", c->rank);
	ibroute_agent_done(&c->agent, &c->order);
}

/* What it wanted is not wanted any more.  Who stands still waits for the next agent, for a while.
 */
static void lost_agent(struct client *c)
{
	printf("rank %u: the agent is gone\n", c->rank);
	if (c->busy && outstanding(c))
		c->running = 1;
	c->busy = 0;
	c->resume_tick = c->tick + c->limit_s * (1000 / TICK_MS);
}

static void listen_to_agent(struct client *c)
{
	int rc;

	if (ibroute_agent_fd(&c->agent) < 0) {
		if (!c->running && (int)(c->tick - c->resume_tick) >= 0)
			move_all(c, c->lid_offset);
		if ((int)(c->tick - c->retry_tick) < 0)
			return;
		c->retry_tick = c->tick + RETRY_MS / TICK_MS;
		rc = ibroute_agent_open(&c->agent, c->path, c->job, c->rank, where(c));
		if (rc)
			return;
	}
	while ((rc = ibroute_agent_next(&c->agent, &c->order)) == 1)
		begin(c);
	if (rc < 0)
		lost_agent(c);
}

static void run(struct client *c)
{
	struct timespec tick = { 0, TICK_MS * 1000000 };
	struct pollfd fd;

	while (!ended && !all_done(c)) {
		listen_to_agent(c);
		work(c);
		go_on(c);
		fd.fd = ibroute_agent_fd(&c->agent);
		fd.events = POLLIN;
		if (fd.fd < 0 || poll(&fd, 1, 0) <= 0)
			nanosleep(&tick, NULL);
	}
	ibroute_agent_close(&c->agent);
	printf("rank %u: exits\n", c->rank);
}

int main(int argc, char **argv)
{
	struct client c;
	struct sigaction sa;
	int opt;

	memset(&c, 0, sizeof(c));
	memset(&sa, 0, sizeof(sa));
	c.agent.fd = -1;
	c.job = getenv("SLURM_JOB_ID");
	c.nqps = 8;
	c.running = 1;
	while ((opt = getopt(argc, argv, "s:j:r:q:n:x")) != -1) {
		if (opt == 's')
			c.path = optarg;
		else if (opt == 'j')
			c.job = optarg;
		else if (opt == 'r')
			c.rank = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'q')
			c.nqps = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'n')
			c.limit = strtoull(optarg, NULL, 10);
		else if (opt == 'x')
			c.stuck = 1;
		else
			return 64;
	}
	if (!c.job || !c.nqps || c.nqps > QPS_MAX) {
		fprintf(stderr, "agent_client: -j JOB is needed, and 1 to %d queue pairs\n",
			QPS_MAX);
		return 64;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	srand(c.rank + 1);
	sa.sa_handler = on_signal;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	c.qps = (struct qp *)calloc(c.nqps, sizeof(*c.qps));
	if (!c.qps)
		return 1;
	run(&c);
	free(c.qps);
	return 0;
}
