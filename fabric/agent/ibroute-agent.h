/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copyright (c) 2026 the ibroute-top maintainers
 *
 * Redistribution and use in source and binary forms, with or without modification, are permitted
 * provided that the following conditions are met:
 *
 * 1. Redistributions of source code must retain the above copyright notice, this list of conditions
 *    and the following disclaimer.
 * 2. Redistributions in binary form must reproduce the above copyright notice, this list of
 *    conditions and the following disclaimer in the documentation and/or other materials provided
 *    with the distribution.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
 * IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
 * FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
 * CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
 * DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
 * DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
 * IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT
 * OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */
/*
 * ibroute-agent.h: an MPI library's side of "ibroute-top agent", in one file: C99, POSIX, no
 * library.  Define _POSIX_C_SOURCE 200809L or more before the first include.
 *
 * An update of the fabric's routes must not disturb connections.  Before the tables are written
 * the node's agent asks every process to drain and to continue over the escape LIDs, whose paths
 * do not change; afterwards to return.  One connection for each process (rank), opened before
 * its first queue pair:
 *
 *	struct ibroute_agent a;
 *	struct ibroute_order o;
 *
 *	ibroute_agent_open(&a, NULL, getenv("SLURM_JOB_ID"), rank, "base");
 *	poll() ibroute_agent_fd(&a) for POLLIN among the other things; when it is readable:
 *	while ((rc = ibroute_agent_next(&a, &o)) == 1)
 *		do what o.what says, then ibroute_agent_done(&a, &o) or ibroute_agent_failed()
 *	rc < 0: the agent has gone.  Stay where you are, open again every half second or so, and
 *	say where your queue pairs are.  A pending order is void: a process that has not drained
 *	yet continues; one that has waits, for o.limit_s at most.
 *	ibroute_agent_close(&a);
 *
 * The orders:
 *
 *	WELCOME  after opening.  New connections are to be made over the base LIDs, or with
 *		 o.escape set over the escape LIDs.  No answer.
 *	DRAIN    post nothing new; when the send queues are empty and all is acknowledged
 *		 (ibv_modify_qp to SQD, or by counting completions), done.
 *	MIGRATE  the peers' LIDs are now base LID + o.escape_offset, modulo 2^LMC the upper half
 *		 of each port's LIDs, with the SL that the SM has for them (path record, or as the
 *		 site says); move the queue pairs (SQD or ibv_modify_qp to RTS with a new address
 *		 vector, or an alternate path), let them run, done.  New ones likewise.
 *	RETURN   drain, go back to the base LIDs, run, done; from whatever state each queue pair
 *		 is in.  Unless o.same is set the base LIDs have other paths now: ask for their SLs
 *		 again.  An order that was not yet answered is void.
 *	BYE      the agent ends, or the job is over for it; as if it had gone.
 *
 * Each order has to be answered within o.limit_s seconds.  A process that ends says BYE
 * (ibroute_agent_close()); one that disconnects without it and is still running is waited for
 * in every update, since the state of its queue pairs is unknown.
 *
 * The agent believes HELLO of root, of its own user, of the job's user (agent --user) and of
 *processes in the job's cgroup of SLURM; for others it answers ERROR.  The other way round an agent
 *is believed that runs as root or as this process's user, -EPERM otherwise; where root is seen as
 *another user (a container with users of its own) IBROUTE_AGENT_UID says as which.
 *
 * The protocol: lines of ASCII, 255 bytes and a newline at most, words separated by a space.
 *
 *	to the agent:   HELLO 1 JOB RANK base|drained|escape
 *			DONE SEQ
 *			FAILED SEQ WHY...
 *			BYE
 *	from the agent: WELCOME 1 base|escape ESCAPE_OFFSET
 *			DRAIN SEQ TXN ESCAPE_OFFSET LIMIT_S
 *			MIGRATE SEQ TXN ESCAPE_OFFSET LIMIT_S
 *			RETURN SEQ TXN same|changed LIMIT_S
 *			ERROR WHY...	then it hangs up
 *			BYE
 *
 * SEQ numbers the orders of one connection, TXN is the update; words that are added at the end of
 * lines in later versions are to be ignored.  For root and the agent's own user also: ADD JOB
 *[UID], END JOB, STATUS, answered by OK (after the status, line by line) or ERROR.
 */
#ifndef IBROUTE_AGENT_H
#define IBROUTE_AGENT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>
#ifndef SO_PEERCRED
#include <asm/socket.h> /* strict POSIX hides it */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define IBROUTE_AGENT_SOCKET "/run/ibroute-top/agent.sock"
#define IBROUTE_AGENT_LINE   256

enum ibroute_what {
	IBROUTE_WELCOME,
	IBROUTE_DRAIN,
	IBROUTE_MIGRATE,
	IBROUTE_RETURN,
	IBROUTE_ERROR, /* why[] says what the agent did not like */
	IBROUTE_BYE
};

struct ibroute_order {
	enum ibroute_what what;
	uint32_t seq;
	uint64_t txn;
	uint32_t escape_offset; /* of WELCOME, DRAIN, MIGRATE */
	uint32_t limit_s;
	int escape; /* WELCOME: new connections over the escape LIDs */
	int same;   /* RETURN: the paths of the base LIDs are unchanged */
	char why[IBROUTE_AGENT_LINE];
};

struct ibroute_agent {
	int fd;
	size_t n;
	char in[IBROUTE_AGENT_LINE];
};

/* All return 0 or -errno.  A line is so short that the socket takes it at once. */
static inline int ibroute_agent_say(struct ibroute_agent *a, const char *line)
{
	size_t n = strlen(line);

	if (a->fd < 0)
		return -ENOTCONN;
	if (send(a->fd, line, n, MSG_NOSIGNAL) != (ssize_t)n)
		return errno ? -errno : -EIO;
	return 0;
}

static inline int ibroute_agent_fd(const struct ibroute_agent *a)
{
	return a->fd;
}

static inline void ibroute_agent_drop(struct ibroute_agent *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	a->n = 0;
}

static inline const char *ibroute_agent_path(const char *path)
{
	if (!path)
		path = getenv("IBROUTE_AGENT_SOCKET");
	return path ? path : IBROUTE_AGENT_SOCKET;
}

/* struct ucred is only there with _GNU_SOURCE. */
struct ibroute_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* 0: an agent of root's or of this user's own; somebody else could hold the job up, or lead its
 * traffic to LIDs that do not work. */
static inline int ibroute_agent_check_peer(const struct ibroute_agent *a)
{
	const char *other = getenv("IBROUTE_AGENT_UID");
	struct ibroute_peer who;
	socklen_t len = sizeof(who);

	if (getsockopt(a->fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return -errno;
	if (!who.uid || who.uid == geteuid() ||
	    (other && *other && who.uid == (uid_t)strtoul(other, NULL, 10)))
		return 0;
	return -EPERM;
}

/* path NULL: $IBROUTE_AGENT_SOCKET, or the default.  Says nothing yet. */
static inline int ibroute_agent_connect(struct ibroute_agent *a, const char *path)
{
	struct sockaddr_un at;
	int rc;

	a->fd = -1;
	a->n = 0;
	path = ibroute_agent_path(path);
	memset(&at, 0, sizeof(at));
	at.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path));
	a->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (a->fd < 0)
		return -errno;
	rc = fcntl(a->fd, F_SETFD, FD_CLOEXEC) ||
			     connect(a->fd, (const struct sockaddr *)&at, sizeof(at)) ||
			     fcntl(a->fd, F_SETFL, O_NONBLOCK)
		     ? -errno
		     : ibroute_agent_check_peer(a);
	if (rc)
		ibroute_agent_drop(a);
	return rc;
}

/* where the queue pairs are: "base" (also without any), "drained" or "escape". */
static inline int ibroute_agent_open(struct ibroute_agent *a, const char *path, const char *job,
				     unsigned rank, const char *where)
{
	char line[IBROUTE_AGENT_LINE];
	int n = snprintf(line, sizeof(line), "HELLO 1 %s %u %s\n", job, rank, where), rc;

	a->fd = -1;
	if (n < 0 || (size_t)n >= sizeof(line))
		return -EINVAL;
	rc = ibroute_agent_connect(a, path);
	if (!rc)
		rc = ibroute_agent_say(a, line);
	if (rc)
		ibroute_agent_drop(a);
	return rc;
}

/* 1: an order of this version; 0: a line to be passed over. */
static inline int ibroute_agent_read(struct ibroute_order *o, const char *line)
{
	unsigned long long txn = 0;
	unsigned seq = 0, offset = 0, limit = 0, version = 0;
	char word[16] = "", arg[16] = "";
	int at = 0;

	memset(o, 0, sizeof(*o));
	if (sscanf(line, "%15s %n", word, &at) != 1)
		return 0;
	line += at;
	if (!strcmp(word, "WELCOME")) {
		o->what = IBROUTE_WELCOME;
		if (sscanf(line, "%u %15s %u", &version, arg, &offset) != 3 || version != 1)
			return 0;
		o->escape = !strcmp(arg, "escape");
	} else if (!strcmp(word, "DRAIN") || !strcmp(word, "MIGRATE")) {
		o->what = word[0] == 'D' ? IBROUTE_DRAIN : IBROUTE_MIGRATE;
		if (sscanf(line, "%u %llu %u %u", &seq, &txn, &offset, &limit) != 4)
			return 0;
	} else if (!strcmp(word, "RETURN")) {
		o->what = IBROUTE_RETURN;
		if (sscanf(line, "%u %llu %15s %u", &seq, &txn, arg, &limit) != 4)
			return 0;
		o->same = !strcmp(arg, "same");
	} else if (!strcmp(word, "ERROR")) {
		o->what = IBROUTE_ERROR;
		strncpy(o->why, line, sizeof(o->why) - 1);
	} else if (!strcmp(word, "BYE")) {
		o->what = IBROUTE_BYE;
	} else {
		return 0;
	}
	o->seq = seq;
	o->txn = txn;
	o->escape_offset = offset;
	o->limit_s = limit;
	return 1;
}

/* 1: the next order; 0: none yet; -errno: the agent has gone, and the connection is closed. */
static inline int ibroute_agent_next(struct ibroute_agent *a, struct ibroute_order *o)
{
	char line[IBROUTE_AGENT_LINE], *end;
	ssize_t got;
	size_t n;

	for (;;) {
		end = (char *)memchr(a->in, '\n', a->n);
		if (end) {
			n = (size_t)(end - a->in);
			memcpy(line, a->in, n);
			line[n] = 0;
			a->n -= n + 1;
			memmove(a->in, end + 1, a->n);
			if (ibroute_agent_read(o, line))
				return 1;
			continue;
		}
		if (a->fd < 0)
			return -ENOTCONN;
		if (a->n == sizeof(a->in)) {
			ibroute_agent_drop(a);
			return -EPROTO;
		}
		got = recv(a->fd, a->in + a->n, sizeof(a->in) - a->n, 0);
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return 0;
		if (got <= 0) {
			int rc = got ? -errno : -ECONNRESET;

			ibroute_agent_drop(a);
			return rc;
		}
		a->n += (size_t)got;
	}
}

static inline int ibroute_agent_done(struct ibroute_agent *a, const struct ibroute_order *o)
{
	char line[IBROUTE_AGENT_LINE];

	snprintf(line, sizeof(line), "DONE %u\n", (unsigned)o->seq);
	return ibroute_agent_say(a, line);
}

static inline int ibroute_agent_failed(struct ibroute_agent *a, const struct ibroute_order *o,
				       const char *why)
{
	char line[IBROUTE_AGENT_LINE];

	snprintf(line, sizeof(line), "FAILED %u %.100s\n", (unsigned)o->seq, why);
	return ibroute_agent_say(a, line);
}

/* There is nothing left to be drained. */
static inline void ibroute_agent_close(struct ibroute_agent *a)
{
	ibroute_agent_say(a, "BYE\n");
	ibroute_agent_drop(a);
}

#ifdef __cplusplus
}
#endif

#endif
