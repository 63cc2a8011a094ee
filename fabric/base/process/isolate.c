/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/process/isolate.h"

#include "fabric/base/file/store.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/confine.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE	 (1u << 20)
#define LOOK_MS	 50	/* between looks at how far a reader is */
#define STUCK_MS 120000 /* a reader that reads nothing for so long is ended */

/* A net: what a reader takes in proportion to its file is its own business. */
#define MOST_BYTES (4ull << 30)
#define MOST_TIMES 64ull

/* In front of what was put. */
struct head {
	bool done;
	bool open; /* a reader that could not be confined */
	int rc;
	struct err err;
};

struct isolated_out {
	int fd;
	bool reads;
	FILE *in[2]; /* of a reader, and what it reads beside it; NULL: nothing */
	int (*fn)(void *ctx, struct isolated_out *result, struct err *err);
	void *ctx;
};

static int child_fd;	  /* of the result, in the child */
static bool child_reads;  /* its result goes through a pipe, as a whole */
static bool child_open;	  /* it could not be confined */
static bytes_out to_send; /* of a reader */

static _Noreturn void isolate_finish(int rc, const char *sentence)
{
	struct head h = { .done = true, .open = child_open, .rc = rc };

	err_set(&h.err, 0, "%s", sentence);
	if (child_reads)
		_exit(store_put(child_fd, &h, sizeof(h)) ||
		      store_put(child_fd, to_send.v, to_send.n));
	_exit(pwrite(child_fd, &h, sizeof(h), 0) != sizeof(h));
}

static void isolate_end(int rc, const char *sentence)
{
	isolate_finish(rc, sentence);
}

static int isolate_work(void *ctx, struct err *err)
{
	struct isolated_out *out = ctx;

	return out->fn(out->ctx, out, err);
}

static void isolate_close_others(const struct isolated_out *out)
{
	int in = out->in[0] ? fileno(out->in[0]) : -1,
	    beside = out->in[1] ? fileno(out->in[1]) : -1;
	int most = out->fd > in ? out->fd : in;

	most = most > beside ? most : beside;
	for (int fd = STDERR_FILENO + 1; fd < most; fd++)
		if (fd != out->fd && fd != in && fd != beside)
			close(fd);
	close_range((unsigned)most + 1, ~0u, 0);
}

/* Beyond what the parent has, which is shared with it. */
static void isolate_limit_memory(const struct isolated_out *out)
{
	unsigned long long data = 0, most = MOST_BYTES;
	FILE *f = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	struct stat st;

	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %llu", &data) != 1)
		data = RLIM_INFINITY / 4096 / 2;
	if (f)
		fclose(f);
	for (int i = 0; i < 2; i++)
		if (out->in[i] && !fstat(fileno(out->in[i]), &st))
			most += MOST_TIMES * (unsigned long long)st.st_size;
	if (getrlimit(RLIMIT_DATA, &limit) ||
	    data * (unsigned long long)sysconf(_SC_PAGESIZE) + most >= limit.rlim_cur)
		return;
	limit.rlim_cur = data * (unsigned long long)sysconf(_SC_PAGESIZE) + most;
	setrlimit(RLIMIT_DATA, &limit);
}

/* The host's threads are not here, its signal handlers do not know that. */
static _Noreturn void isolate_child(struct isolated_out *out, pid_t parent)
{
	struct err err = { "" };
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	isolate_close_others(out);
	child_fd = out->fd;
	guard_set_end(isolate_end);
	child_reads = out->reads;
	if (!child_reads)
		lseek(out->fd, sizeof(struct head), SEEK_SET);
	if (child_reads) {
		file_progress_set(NULL); /* the parent sees how far its file is read */
		isolate_limit_memory(out);
		child_open = confine_to_computing(&err) != 0;
	}
	rc = guarded_call(isolate_work, out, &err);
	isolate_finish(rc, err.text);
}

void isolated_put(struct isolated_out *result, const void *data, size_t len)
{
	if (child_reads)
		bytes_put(&to_send, data, len);
	else if (store_put(result->fd, data, len))
		guard_give_up(-ENOMEM, "out of memory for the result of a computation");
}

void isolated_give(struct isolated_out *result, bytes_out *data)
{
	if (child_reads && !to_send.n) {
		vec_free(&to_send);
		to_send = *data;
		*data = (bytes_out){ 0 };
		return;
	}
	isolated_put(result, data->v, data->n);
	vec_free(data);
}

static int isolate_died(int status, struct err *err)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (!sig)
		return err_set(err, -ECHILD, "the computation ended without a result");
	return err_set(err, -ECHILD, "the computation was ended by signal %d%s", sig,
		       sig == SIGKILL ? ": the machine may be out of memory" : "");
}

static void isolate_tell_open(void)
{
	static atomic_bool told;

	if (!atomic_exchange(&told, true))
		log_add(LOG_WARN, "load",
			"files are read by processes that are not confined: the kernel has no seccomp");
}

static int isolate_judge(struct head *h, int status, struct err *err)
{
	if (!h->done)
		return isolate_died(status, err);
	if (h->open)
		isolate_tell_open();
	h->err.text[sizeof(h->err.text) - 1] = '\0';
	return h->rc ? err_set(err, h->rc < 0 ? h->rc : -EPROTO, "%s",
			       plain_text(h->err.text, "\n\t"))
		     : 0;
}

static int isolate_collect(struct isolated *out, int fd, int status, struct err *err)
{
	struct head h = { 0 };
	off_t end = lseek(fd, 0, SEEK_END);
	int rc;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
		h.done = false;
	rc = isolate_judge(&h, status, err);
	if (rc)
		return rc;
	out->map = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);
	if (out->map == MAP_FAILED) {
		rc = -errno;
		*out = (struct isolated){ 0 };
		return err_set(err, rc, "the result of a computation cannot be read: %s",
			       strerror(-rc));
	}
	out->mapped = (size_t)end;
	out->data = (const uint8_t *)out->map + sizeof(h);
	out->len = out->mapped - sizeof(h);
	return 0;
}

/* Its file's position is one with ours; in NULL: it has none.  -ECANCELED, -ETIMEDOUT: it is to be
 * ended. */
static int isolate_look(FILE *in, off_t *at, uint64_t *since_ms, struct err *err)
{
	off_t now = in ? lseek(fileno(in), 0, SEEK_CUR) : 0;
	struct stat st = { .st_size = 1 };

	if (now != *at)
		*since_ms = clock_ms();
	*at = now;
	if (clock_ms() - *since_ms > STUCK_MS)
		return err_set(err, -ETIMEDOUT, "the reader of the file does not continue");
	if ((in && fstat(fileno(in), &st)) || now > st.st_size)
		return 0;
	if (!progress_step(file_progress(), "reading", now > 0 ? (uint64_t)now : 0,
			   (uint64_t)st.st_size))
		return 0;
	return err_set(err, -ECANCELED, "cancelled");
}

static int isolate_fork(pid_t *pid, struct isolated_out *o, struct err *err)
{
	pid_t parent = getpid();
	int rc = 0;

	*pid = o->fd < 0 ? -1 : fork();
	if (!*pid)
		isolate_child(o, parent);
	if (*pid < 0)
		rc = -errno;
	if (rc && o->fd >= 0)
		close(o->fd);
	return rc ? err_set(err, rc, "no process for a computation: %s", strerror(-rc)) : 0;
}

static int isolate_reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int isolated_run(struct isolated *out,
		 int (*fn)(void *ctx, struct isolated_out *result, struct err *err), void *ctx,
		 struct err *err)
{
	struct isolated_out o = { .fd = memfd_create("ibroute", MFD_CLOEXEC),
				  .fn = fn,
				  .ctx = ctx };
	pid_t pid;
	int rc;

	*out = (struct isolated){ 0 };
	rc = isolate_fork(&pid, &o, err);
	if (rc)
		return rc;
	rc = isolate_collect(out, o.fd, isolate_reap(pid), err);
	close(o.fd);
	return rc;
}

/* All that comes until its end; 0, or why it was ended. */
static int isolate_receive(bytes_out *got, int fd, pid_t pid, FILE *in, struct err *err)
{
	struct pollfd more = { .fd = fd, .events = POLLIN };
	uint64_t since_ms = clock_ms();
	off_t at = -1;
	ssize_t n = 1;
	int rc = isolate_look(in, &at, &since_ms, err);

	while (n && !rc) {
		if (poll(&more, 1, LOOK_MS) > 0) {
			vec_reserve(got, got->n + PIECE);
			n = read(fd, got->v + got->n, PIECE);
			got->n += n > 0 ? (size_t)n : 0;
			n = n < 0 && errno != EINTR ? 0 : n < 0 ? 1 : n;
		} else {
			rc = isolate_look(in, &at, &since_ms, err);
		}
	}
	if (rc)
		kill(pid, SIGKILL);
	return rc;
}

static int isolate_take_received(struct isolated *out, bytes_out *got, int status, struct err *err)
{
	struct head h = { 0 };
	int rc;

	if (got->n >= sizeof(h))
		memcpy(&h, got->v, sizeof(h));
	rc = isolate_judge(&h, status, err);
	if (rc)
		return rc;
	out->heap = got->v;
	out->data = got->v + sizeof(h);
	out->len = got->n - sizeof(h);
	*got = (bytes_out){ 0 };
	return 0;
}

/* What a child reads from files at the first time, it cannot read any more. */
static void isolate_make_ready(void)
{
	struct digest d;

	tzset();
	digest_of(&d, "", 0);
}

/* Through a pipe: a limit on the size of files would be one on what is in memory. */
int isolated_read(struct isolated *out, FILE *const in[2],
		  int (*fn)(void *ctx, struct isolated_out *result, struct err *err), void *ctx,
		  struct err *err)
{
	struct isolated_out o = { .fn = fn, .ctx = ctx, .reads = true, .in = { in[0], in[1] } };
	bytes_out got = { 0 };
	int fds[2], status, rc;
	pid_t pid;

	*out = (struct isolated){ 0 };
	if (pipe2(fds, O_CLOEXEC))
		return err_set(err, -errno, "no pipe for a reader: %s", strerror(errno));
	fcntl(fds[1], F_SETPIPE_SZ, (int)PIECE); /* tables are large */
	o.fd = fds[1];
	isolate_make_ready();
	rc = isolate_fork(&pid, &o, err);
	if (!rc) {
		close(fds[1]);
		rc = isolate_receive(&got, fds[0], pid, in[0], err);
		status = isolate_reap(pid);
		if (!rc)
			rc = isolate_take_received(out, &got, status, err);
	}
	close(fds[0]);
	vec_free(&got);
	return rc;
}

void isolated_free(struct isolated *r)
{
	if (r->map)
		munmap(r->map, r->mapped);
	free(r->heap);
	*r = (struct isolated){ 0 };
}
