/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits_text: route_limits from what an operator types. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/route_limits.h"

/*
 * Adds what a text names to *l, which is made where it is NULL; the caller owns it, also after an
 * error.  Items are separated by commas or blanks: a switch ("spine11", "spine[1-4,7]", its GUID
 * "0x..."), or a cable by either of its ends ("spine11/3", "0x.../3").  What has commas or blanks
 * in its name stands in double quotes.  An empty text names nothing.  -EINVAL with what was meant:
 * nobody or several are called so, a host, a port without a cable to a switch.
 */
int route_limits_exclude(struct route_limits **l, const struct fabric *f, const char *text,
			 struct err *err);

/* The same for a fabric that changes: items that do not exist now are reported and left out;
 * -EINVAL only for syntax errors. */
struct limits_missing {
	void (*tell)(void *ctx, const char *sentence);
	void *ctx;
};
int route_limits_exclude_there(struct route_limits **l, const struct fabric *f, const char *text,
			       const struct limits_missing *missing, struct err *err);

/* What can be found in such a text without a fabric: quotes and brackets that are not closed. */
int limits_text_check(const char *text, struct err *err);

/* What is excluded in the shortest form that route_limits_exclude() takes, "" for nothing: of a
 * cable its end of lower index.  The caller frees it. */
char *route_limits_exclude_text(const struct route_limits *l, const struct fabric *f);
