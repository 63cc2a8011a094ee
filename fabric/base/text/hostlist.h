/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostlist: node lists as SLURM writes them, "n[0001-0003,7],r[1-2]c[01-04]". */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define HOSTLIST_MAX 1000000 /* names; more are refused, not expanded */
/* Of all lists that somebody expands together: a line of 14 bytes may name a million. */
#define HOSTLISTS_MAX 2000000

struct hostlist;

/* Names in the order written, duplicates kept; the last bracket runs fastest.  As SLURM does it
 * (scontrol show hostnames), nothing between two commas is no name.  An empty text,
 * "(null)" and "None assigned" are an empty list.  -EINVAL with the position of the mistake,
 * -E2BIG above HOSTLIST_MAX. */
int hostlist_parse(struct hostlist **out, const char *text, struct err *err);
void hostlist_free(struct hostlist *h); /* NULL is fine */
uint32_t hostlist_count(const struct hostlist *h);
const char *const *hostlist_names(const struct hostlist *h);

/* How many names that would be, and the same errors, without expanding it: time in proportion to
 * the text. */
int hostlist_measure(uint32_t *n, const char *text, struct err *err);

/* Shortest usual form for people: sorted, without duplicates, ranges over the last number of
 * each name.  The caller frees the text. */
char *hostlist_compress(const char *const *names, uint32_t n);
/* A list in that form; NULL with the errors of hostlist_parse(). */
char *hostlist_again(const char *text, struct err *err);
