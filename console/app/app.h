/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app: the live console. */
#pragma once

#include <signal.h>

struct app;
struct app_opts;

/* In place of the screen: works with what the console knows until it is done, or until *stop is
 * the number of a signal.  Returns the exit code. */
typedef int app_batch_fn(struct app *a, void *arg, const volatile sig_atomic_t *stop);

/* Runs it until the operator quits, or (batch: not NULL) that function is done; returns the exit
 * code. */
int app_run(const struct app_opts *o, app_batch_fn *batch, void *arg);
