/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/thread.h"

#include <string.h>

int thread_start(pthread_t *out, const char *name, void *(*run)(void *arg), void *arg,
		 struct err *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, run, arg);

	if (rc)
		return err_set(err, -rc, "the thread %s cannot be started: %s", name, strerror(rc));
	pthread_setname_np(thread, name);
	*out = thread;
	return 0;
}
