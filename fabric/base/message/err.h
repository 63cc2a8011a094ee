/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err: the sentence that the operator reads.
 *
 * Every fallible function returns 0 or -errno and takes a struct err * last.
 * The lowest layer that knows the cause writes the sentence; the layers above
 * pass it on unchanged.  A NULL err is allowed everywhere.
 */
#pragma once

struct err {
	char text[512];
};

/* Writes the sentence (truncated to fit) and returns rc, so that callers can
 * write "return err_set(err, -EINVAL, ...)". */
int err_set(struct err *err, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
