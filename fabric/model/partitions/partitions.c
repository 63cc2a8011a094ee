/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/partitions/partitions.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void partitions_begin(struct partitions *p, const struct fabric *f)
{
	memset(p, 0, sizeof(*p));
	p->nterm = f->nterm;
}

void partitions_add(struct partitions *p)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 4;
		p->member = xrealloc(p->member, p->cap, p->nterm + 1u);
	}
	p->n++;
	memset(partitions_row(p, p->n - 1), MEMBER_NONE, p->nterm);
}

uint8_t *partitions_row(const struct partitions *p, uint32_t i)
{
	return p->member + (size_t)i * p->nterm;
}

void partitions_end(struct partitions *p)
{
	free(p->member);
	memset(p, 0, sizeof(*p));
}

void partitions_put(bytes_out *out, const struct partitions *p)
{
	bytes_put(out, &p->n, sizeof(p->n));
	bytes_put(out, p->member, (size_t)p->n * p->nterm);
}

int partitions_take(struct partitions *p, struct bytes_in *in)
{
	uint32_t n;

	bytes_take(in, &n, sizeof(n));
	if (in->bad || n > PARTITIONS_MAX || (uint64_t)n * p->nterm > in->left)
		return -EPROTO;
	while (p->n < n)
		partitions_add(p);
	bytes_take(in, p->member, (size_t)n * p->nterm);
	for (size_t i = 0; i < (size_t)n * p->nterm; i++)
		if (p->member[i] > MEMBER_FULL)
			return -EPROTO;
	return 0;
}

/* Hosts of a job whose ports are members of the same, as the same. */
struct host_class {
	uint8_t *level;	      /* by partition: the most that a port of the host is */
	uint32_t term, other; /* a port of the first host, and of another one; FAB_NONE: none */
	uint64_t host;
};

struct split {
	const struct partitions *p;
	const struct fabric *f;
	struct host_class *v;
	uint32_t n;
};

static uint64_t partitions_host(const struct fabric *f, uint32_t term)
{
	return f->term_sys_guid[term] ? f->term_sys_guid[term] : f->term_node_guid[term];
}

static bool partitions_meet(const struct split *x, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < x->p->n; i++)
		if (a[i] && b[i] && (a[i] == MEMBER_FULL || b[i] == MEMBER_FULL))
			return true;
	return false;
}

static void partitions_classify(struct split *x, const uint8_t *level, uint32_t term)
{
	uint64_t host = partitions_host(x->f, term);
	struct host_class *c = x->v, *end = x->v + x->n;

	while (c < end && memcmp(c->level, level, x->p->n))
		c++;
	if (c == end) {
		c->level = xcalloc(x->p->n + 1u, 1);
		memcpy(c->level, level, x->p->n);
		c->term = term;
		c->other = FAB_NONE;
		c->host = host;
		x->n++;
	} else if (c->other == FAB_NONE && c->host != host) {
		c->other = term;
	}
}

struct by_host {
	uint64_t host;
	uint32_t term;
};

static int partitions_by_host(const void *x, const void *y)
{
	const struct by_host *a = x, *b = y;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return (a->term > b->term) - (a->term < b->term);
}

static void partitions_classify_job(struct split *x, const struct job *job)
{
	struct by_host *port = xcalloc(job->nterm + 1u, sizeof(*port));
	uint8_t *level = xcalloc(x->p->n + 1u, 1);

	for (uint32_t i = 0; i < job->nterm; i++)
		port[i] = (struct by_host){ partitions_host(x->f, job->terms[i]), job->terms[i] };
	qsort(port, job->nterm, sizeof(*port), partitions_by_host);
	for (uint32_t i = 0, j; i < job->nterm; i = j) {
		memset(level, 0, x->p->n);
		for (j = i; j < job->nterm && port[j].host == port[i].host; j++)
			for (uint32_t k = 0; k < x->p->n; k++)
				if (level[k] < partitions_row(x->p, k)[port[j].term])
					level[k] = partitions_row(x->p, k)[port[j].term];
		partitions_classify(x, level, port[i].term);
	}
	free(level);
	free(port);
}

bool partitions_split(uint32_t pair[2], const struct partitions *p, const struct fabric *f,
		      const struct job *job)
{
	struct split x = { .p = p, .f = f };
	bool found = false;

	x.v = xcalloc(job->nterm + 1u, sizeof(*x.v));
	partitions_classify_job(&x, job);
	for (uint32_t i = 0; i < x.n && !found; i++)
		for (uint32_t j = i; j < x.n && !found; j++) {
			uint32_t to = i == j ? x.v[i].other : x.v[j].term;

			found = to != FAB_NONE && !partitions_meet(&x, x.v[i].level, x.v[j].level);
			pair[0] = x.v[i].term;
			pair[1] = to;
		}
	for (uint32_t i = 0; i < x.n; i++)
		free(x.v[i].level);
	free(x.v);
	return found;
}
