/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients send to a node's agent: bytes of two of them in turn.  0x80 to 0x83 set a goal, 0x84
 * switches to the other client, 0x85 lets the agent look, 0x86 hangs up, 0x87 ends the process of
 * whoever has hung up.  Sockets are in memory (pipes.c), and so is who is alive. */
#include "tests/fuzz/fuzz.h"

#include "fabric/agent/agent_socket.h"
#include "fabric/agent/ibroute-agent.h"
#include "fabric/base/message/log.h"

#include <string.h>

#define CLIENTS 2

uint64_t __wrap_agent_pid_start(pid_t pid);
bool __wrap_agent_peer_alive(const struct agent_peer *p);

static bool alive;

uint64_t __wrap_agent_pid_start(pid_t pid)
{
	(void)pid;
	return 1;
}

bool __wrap_agent_peer_alive(const struct agent_peer *p)
{
	(void)p;
	return alive;
}

struct node {
	struct agent_socket *s;
	struct ibroute_agent end[CLIENTS];
	uint64_t now_ms;
	uint32_t jobs;
};

static void changed(void *ctx)
{
	struct agent_save save = { .hold_s = 0 };
	struct node *n = ctx;

	agent_socket_peers(n->s, &save);
	FUZZ_NEED(save.peers.n == agent_socket_count(n->s, NULL));
	for (size_t i = 0; i < save.peers.n; i++)
		FUZZ_NEED(!agent_job_check(save.peers.v[i].job, NULL));
	agent_save_clear(&save);
}

static int add_job(void *ctx, const char *job, uid_t uid, struct err *err)
{
	struct node *n = ctx;

	(void)uid;
	FUZZ_NEED(!agent_job_check(job, NULL));
	return n->jobs++ < 3 ? 0 : err_set(err, -ENOSPC, "too many");
}

static int end_job(void *ctx, const char *job, struct err *err)
{
	struct node *n = ctx;

	(void)err;
	agent_socket_forget(n->s, job);
	FUZZ_NEED(!agent_socket_count(n->s, job));
	return 0;
}

static void status(void *ctx, FILE *out)
{
	agent_socket_print(((struct node *)ctx)->s, out);
}

static int forget(void *ctx, struct err *err)
{
	(void)ctx;
	return err_set(err, -EBUSY, "later");
}

static void open_end(struct node *n, unsigned k)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		abort();
	n->end[k] = (struct ibroute_agent){ .fd = fds[0] };
	agent_socket_adopt(n->s, fds[1]);
}

/* Orders are read by the header as they are; nothing else comes but answers to questions. */
static void look(struct node *n)
{
	struct ibroute_order o;

	agent_socket_turn(n->s, ++n->now_ms);
	for (unsigned k = 0; k < CLIENTS; k++) {
		while (ibroute_agent_next(&n->end[k], &o) == 1)
			FUZZ_NEED(o.what <= IBROUTE_BYE);
	}
}

static void control(struct node *n, uint8_t byte, unsigned *k)
{
	struct agent_order o = { .txn = byte, .escape_offset = 4, .limit_s = 60 };
	struct err err = { "" };
	int rc;

	if (byte <= 0x83)
		agent_socket_want(n->s, (enum agent_goal)(byte - 0x80), &o);
	else if (byte == 0x84)
		*k = (*k + 1) % CLIENTS;
	else if (byte == 0x85)
		look(n);
	else if (byte == 0x86)
		ibroute_agent_drop(&n->end[*k]);
	else
		alive = false;
	rc = agent_socket_there(n->s, &err);
	FUZZ_NEED(!rc || ((rc == -EAGAIN || rc == -EIO) && err.text[0]));
}

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	for (const char *c = line->text; *c; c++)
		FUZZ_NEED(*c >= ' ' && *c <= '~');
}

static uid_t owner(void *ctx, const char *job)
{
	(void)ctx;
	return *job % 2 ? AGENT_NO_USER : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct agent_socket_ops ops = { changed, add_job, end_job,
						     status,  forget,  owner };
	struct node n = { .now_ms = 1 };
	unsigned k = 0;
	size_t from = 0;

	log_set_sink(quiet, NULL);
	alive = true;
	if (agent_socket_open(&n.s, NULL, 0, &ops, &n, NULL))
		abort();
	for (unsigned i = 0; i < CLIENTS; i++)
		open_end(&n, i);
	for (size_t i = 0; i <= size; i++) {
		if (i < size && (data[i] < 0x80 || data[i] > 0x87))
			continue;
		if (i > from && n.end[k].fd >= 0)
			send(n.end[k].fd, data + from, i - from, MSG_NOSIGNAL);
		from = i + 1;
		control(&n, i < size ? data[i] : 0x85, &k);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		ibroute_agent_drop(&n.end[i]);
	look(&n);
	agent_socket_close(n.s);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	/* the end of a string before a D keeps the hexadecimal number from going on */
	static const char *const seeds[] = {
		("HELLO 1 42 0 base\n\x85\x82\x85"
		 "DONE 1\n\x85\x83\x85"
		 "DONE 2\n\x85\x81\x85"
		 "DONE 3\nBYE\n"),
		("HELLO 1 42 0 base\n\x84HELLO 1 7.batch 1 escape\n\x85\x82\x85"
		 "FAILED 2 no way\n\x85\x81\x85"
		 "DONE 1\n\x86"),
		("STATUS\n\x84"
		 "ADD 42\n\x85"
		 "END 42\n"),
		("HELLO 1 42 0 drained\n\x83\x85"
		 "DONE 1\n\x85\x86\x85\x82\x87\x85"),
	};

	if (i >= sizeof(seeds) / sizeof(seeds[0]))
		return false;
	*len = strlen(seeds[i]);
	*out = fuzz_copy(seeds[i], *len);
	return true;
}
