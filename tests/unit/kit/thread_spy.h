/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_spy: stands in front of pthread_create(), which fails at a chosen call.  To be included by
 * one file of a program. */
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static unsigned thread_spy_fail_at; /* 1: the next call fails; 0: none does */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (thread_spy_fail_at && !--thread_spy_fail_at)
		return EAGAIN;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attr, run, arg);
}
