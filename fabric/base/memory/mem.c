/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"

#include "fabric/base/memory/guard.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_BYTES (4u * 1024)	  /* of an arena's first chunk; each next one is twice as large */
#define CHUNK_BYTES (256u * 1024) /* up to this */
#define LINE_BYTES  64u
#define HUGE_BYTES  (2ul << 20) /* a large page */

struct chunk {
	struct chunk *next;
	size_t used, size;
	void *block; /* to free */
	bool zero;   /* what is not used yet is */
	_Alignas(LINE_BYTES) unsigned char data[];
};

struct arena {
	struct chunk *head;
	size_t next; /* bytes of the next chunk */
};

static _Noreturn void mem_out_of_memory(size_t n, size_t size)
{
	guard_give_up(-ENOMEM, "out of memory (%zu x %zu bytes)", n, size);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		mem_out_of_memory(n, size);
	return p;
}

void *xcalloc_large(size_t n, size_t size)
{
	char *p = xcalloc(n, size), *first, *end;

	if (n * size < 2 * HUGE_BYTES)
		return p;
	first = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	end = (char *)((uintptr_t)(p + n * size) & ~(HUGE_BYTES - 1));
	madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
	return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
	void *q;

	if (size && n > SIZE_MAX / size)
		mem_out_of_memory(n, size);
	n *= size;
	q = realloc(p, n ? n : 1);
	if (!q)
		mem_out_of_memory(n, size);
	return q;
}

char *xstrdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(xcalloc(len, 1), s, len);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		mem_out_of_memory(1, strlen(fmt));
	va_end(ap);
	return s;
}

struct arena *arena_new(void)
{
	struct arena *a = xcalloc(1, sizeof(*a));

	a->next = FIRST_BYTES;
	return a;
}

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->head; c; c = next) {
		next = c->next;
		free(c->block);
	}
	free(a);
}

/* Large ones come zero from the kernel, page by page as they are used. */
static struct chunk *mem_chunk_new(size_t size)
{
	bool large = size >= 2 * HUGE_BYTES;
	size_t line = large ? HUGE_BYTES : LINE_BYTES;
	size_t total = (sizeof(struct chunk) + size + line - 1) & ~(line - 1);
	void *block = large ? calloc(1, total + line) : aligned_alloc(line, total);
	struct chunk *c = (struct chunk *)(((uintptr_t)block + line - 1) & ~(line - 1));

	if (!block)
		mem_out_of_memory(1, total);
	/* tables are read row by row: with small pages each row would miss the TLB */
	if (large)
		madvise(c, total, MADV_HUGEPAGE);
	c->block = block;
	c->zero = large;
	c->used = 0;
	c->size = size;
	c->next = NULL;
	return c;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t want, align;
	struct chunk *c = a->head;
	void *p;

	if (size && n > (SIZE_MAX / 2) / size)
		mem_out_of_memory(n, size);
	want = n * size;
	if (!want)
		want = 1;
	align = want >= LINE_BYTES ? LINE_BYTES : 16;
	if (c)
		c->used = (c->used + align - 1) & ~(align - 1);
	if (!c || c->used > c->size || c->size - c->used < want) {
		bool own = want > a->next / 4;

		c = mem_chunk_new(own ? want : a->next);
		if (a->next < CHUNK_BYTES)
			a->next *= 2;
		/* a large block must not hide the free space of the current chunk */
		if (a->head && own) {
			c->next = a->head->next;
			a->head->next = c;
		} else {
			c->next = a->head;
			a->head = c;
		}
	}
	p = c->data + c->used;
	c->used += want;
	return c->zero ? p : memset(p, 0, want);
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(arena_alloc(a, len, 1), s, len);
}
