/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem: allocation that cannot fail, and the arena that most nouns live in.
 *
 * Running out of memory ends the program with a message, or the guarded call (guard.h): an update
 * in flight is safe all the same, because its journal is on disk before the first write.
 */
#pragma once

#include <stddef.h>

void *xcalloc(size_t n, size_t size); /* zeroed; n == 0 gives a valid pointer */
/* The same for tables of megabytes that are looked up all over: on large pages, where the kernel
 * has some, so that not every look misses the TLB. */
void *xcalloc_large(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size); /* new part not zeroed */
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* An arena owns what is allocated from it; all of it dies at once. */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is fine */

/* Zeroed, aligned to 64 bytes for blocks of a cache line and more. */
void *arena_alloc(struct arena *a, size_t n, size_t size);
char *arena_strdup(struct arena *a, const char *s);

#define arena_array(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type)))
