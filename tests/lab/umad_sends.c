/* SPDX-License-Identifier: GPL-2.0-or-later */
/* umad_sends: counts the MADs that a program sends, whoever wrote it: preloaded, with UMAD_SENDS=FILE,
 * which then begins with their number, 8 bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <umad.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t *sends;

__attribute__((constructor)) static void umad_sends_open(void)
{
	const char *path = getenv("UMAD_SENDS");
	int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
	void *at;

	if (fd < 0)
		return;
	at = ftruncate(fd, sizeof(*sends)) ? MAP_FAILED
					   : mmap(NULL, sizeof(*sends), PROT_READ | PROT_WRITE,
						  MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		sends = at;
}

__attribute__((visibility("default"))) int umad_send(int portid, int agentid, void *umad, int length,
						     int timeout_ms, int retries)
{
	int (*next)(int, int, void *, int, int, int) = (typeof(next))dlsym(RTLD_NEXT, "umad_send");

	if (sends)
		__atomic_add_fetch(sends, 1, __ATOMIC_RELAXED);
	return next(portid, agentid, umad, length, timeout_ms, retries);
}
