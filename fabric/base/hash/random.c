/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/hash/random.h"

#include "fabric/base/memory/guard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void random_fill(void *out, size_t n)
{
	if (getentropy(out, n))
		guard_give_up(-errno, "the kernel gives no random numbers: %s", strerror(errno));
}
