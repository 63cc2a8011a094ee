/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/isolate.h"

#include "fabric/base/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* In front of what was put. */
struct head {
	bool done;
	int rc;
	struct err err;
};

struct isolated_out {
	int fd;
	int (*fn)(void *ctx, struct isolated_out *result, struct err *err);
	void *ctx;
};

static int child_fd; /* of the result, in the child */

static _Noreturn void isolate_finish(int rc, const char *sentence)
{
	struct head h = { .done = true, .rc = rc };

	err_set(&h.err, 0, "%s", sentence);
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
	if (out->fd > 3)
		close_range(3, (unsigned)out->fd - 1, 0);
	close_range((unsigned)out->fd + 1, ~0u, 0);
	child_fd = out->fd;
	guard_set_end(isolate_end);
	lseek(out->fd, sizeof(struct head), SEEK_SET);
	rc = guarded_call(isolate_work, out, &err);
	isolate_finish(rc, err.text);
}

void isolated_put(struct isolated_out *result, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(result->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			guard_give_up(-ENOMEM, "out of memory for the result of a computation");
		p += n;
		len -= (size_t)n;
	}
}

static int isolate_died(int status, struct err *err)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (!sig)
		return err_set(err, -ECHILD, "the computation ended without a result");
	return err_set(err, -ECHILD, "the computation was ended by signal %d%s", sig,
		       sig == SIGKILL ? ": the machine may be out of memory" : "");
}

static int isolate_collect(struct isolated *out, int fd, int status, struct err *err)
{
	struct head h = { 0 };
	off_t end = lseek(fd, 0, SEEK_END);

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || !h.done)
		return isolate_died(status, err);
	if (h.rc)
		return err_set(err, h.rc, "%s", h.err.text);
	out->map = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);
	if (out->map == MAP_FAILED) {
		int rc = -errno;

		*out = (struct isolated){ 0 };
		return err_set(err, rc, "the result of a computation cannot be read: %s",
			       strerror(-rc));
	}
	out->mapped = (size_t)end;
	out->data = (const uint8_t *)out->map + sizeof(h);
	out->len = out->mapped - sizeof(h);
	return 0;
}

int isolated_run(struct isolated *out,
		 int (*fn)(void *ctx, struct isolated_out *result, struct err *err), void *ctx,
		 struct err *err)
{
	struct isolated_out o = { .fd = memfd_create("ibroute", MFD_CLOEXEC),
				  .fn = fn,
				  .ctx = ctx };
	pid_t parent = getpid(), pid = o.fd < 0 ? -1 : fork();
	int status = 0, rc;

	*out = (struct isolated){ 0 };
	if (!pid)
		isolate_child(&o, parent);
	if (pid < 0) {
		rc = -errno;
		if (o.fd >= 0)
			close(o.fd);
		return err_set(err, rc, "no process for a computation: %s", strerror(-rc));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	rc = isolate_collect(out, o.fd, status, err);
	close(o.fd);
	return rc;
}

void isolated_free(struct isolated *r)
{
	if (r->map)
		munmap(r->map, r->mapped);
	*r = (struct isolated){ 0 };
}
