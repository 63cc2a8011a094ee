/* SPDX-License-Identifier: GPL-2.0-or-later */
/* umad_sends: counts the MADs that a program sends, whoever wrote it: preloaded, with
 * UMAD_SENDS=FILE, which then begins with their number, 8 bytes. */
#include "tests/lab/umad_preload.h"

#include <umad.h>

static uint64_t *sends;

__attribute__((constructor)) static void umad_sends_open(void)
{
	sends = counts_in("UMAD_SENDS", sizeof(*sends));
}

__attribute__((visibility("default"))) int umad_send(int portid, int agentid, void *umad,
						     int length, int timeout_ms, int retries)
{
	int (*next)(int, int, void *, int, int, int) = (typeof(next))dlsym(RTLD_NEXT, "umad_send");

	if (sends)
		__atomic_add_fetch(sends, 1, __ATOMIC_RELAXED);
	return next(portid, agentid, umad, length, timeout_ms, retries);
}
