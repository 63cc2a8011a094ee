/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostlist: node lists as SLURM writes them, "n[0001-0003,7],r[1-2]c[01-04]". */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define HOSTLIST_MAX 1000000 /* names; more are refused, not expanded */
/* Of all lists that somebody expands together: a line of 14 bytes may name a million. */
#define HOSTLISTS_MAX 2000000
#define HOSTLIST_NAME 256 /* bytes of a name with its end; longer ones are refused */

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

/* Lists one after another that are not expanded: memory in proportion to their texts. */
struct hostlist_folded;
struct hostlist_folded *hostlist_folded_new(void);
void hostlist_folded_free(struct hostlist_folded *h); /* NULL is fine */
/* Appends the n names of a list; errors as hostlist_parse(), after which h is only to be freed. */
int hostlist_fold(struct hostlist_folded *h, uint32_t *n, const char *text, struct err *err);
/* Name i of all, in the order of hostlist_names(); i < the sum of n.  O(log of the texts); by one
 * thread at a time. */
void hostlist_folded_name(struct hostlist_folded *h, uint64_t i, char name[HOSTLIST_NAME]);

/* Shortest usual form for people: sorted, without duplicates, ranges over the last number of
 * each name.  The caller frees the text. */
char *hostlist_compress(const char *const *names, uint32_t n);
/* A list in that form; NULL with the errors of hostlist_parse(). */
char *hostlist_again(const char *text, struct err *err);
