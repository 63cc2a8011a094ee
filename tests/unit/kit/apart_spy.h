/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apart_spy: for programs linked with --wrap=isolated_read: what readers of files could do, and
 * what they send, changed on its way. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct tries {
	int here;   /* readers in this process, */
	int denied; /* in another, that could do nothing, */
	int able;   /* and that could */
} * tries;	    /* shared with those processes */
static pid_t self;

static inline bool denied(long result)
{
	if (result >= 0)
		close((int)result);
	return result < 0 && (errno == EPERM || errno == EACCES);
}

static inline void tries_all(void)
{
	if (getpid() == self) {
		tries->here++;
		return;
	}
	if (denied(open("/etc/passwd", O_RDONLY | O_CLOEXEC)) &&
	    denied(open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) &&
	    denied(socket(AF_UNIX, SOCK_STREAM, 0)) && denied(socket(AF_INET, SOCK_DGRAM, 0)) &&
	    denied(execl("/bin/true", "true", (char *)NULL)))
		tries->denied++;
	else
		tries->able++;
}

static inline void tries_begin(void)
{
	self = getpid();
	tries = mmap(NULL, sizeof(*tries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
}

static struct {
	bool keep, replace;
	uint8_t *data;
	size_t len;
} way;

int __real_isolated_read(struct isolated *out, FILE *const in[2],
			 int (*fn)(void *ctx, struct isolated_out *result, struct err *err),
			 void *ctx, struct err *err);
int __wrap_isolated_read(struct isolated *out, FILE *const in[2],
			 int (*fn)(void *ctx, struct isolated_out *result, struct err *err),
			 void *ctx, struct err *err);
int __wrap_isolated_read(struct isolated *out, FILE *const in[2],
			 int (*fn)(void *ctx, struct isolated_out *result, struct err *err),
			 void *ctx, struct err *err)
{
	int rc;

	if (way.replace) {
		out->heap = memcpy(xcalloc(way.len, 1), way.data, way.len);
		out->data = out->heap;
		out->len = way.len;
		out->map = NULL;
		return 0;
	}
	rc = __real_isolated_read(out, in, fn, ctx, err);
	if (!rc && way.keep) {
		free(way.data);
		way.data = memcpy(xcalloc(out->len, 1), out->data, out->len);
		way.len = out->len;
	}
	return rc;
}

/* A few bytes of way.data, or its end. */
static inline void way_spoil(struct rng *rng, unsigned round, const uint8_t *sent, size_t len)
{
	way.data = memcpy(xcalloc(len, 1), sent, len);
	way.len = round % 5 ? len : rng_below(rng, len);
	for (unsigned k = 1 + (unsigned)rng_below(rng, 4); k-- && way.len;) {
		/* where lengths and kinds are, mostly */
		size_t at = rng_below(rng, round % 2 && len > 300 ? 300 : len);

		if (at < way.len)
			way.data[at] = (uint8_t)rng_u64(rng);
	}
}
