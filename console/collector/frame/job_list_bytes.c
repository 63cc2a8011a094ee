/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/job_list_bytes.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct job_list_head {
	uint32_t njob, nfailed, pending, other;
	char source[sizeof(((struct job_list *)0)->source)];
};

struct job_head {
	uint64_t id;
	int64_t start_s;
	uint32_t nhost, zero;
};

void job_list_bytes_put(bytes_out *out, const struct job_list *l)
{
	struct job_list_head h = { 0 };

	h.njob = l->njob;
	h.nfailed = l->nfailed;
	h.pending = l->pending;
	h.other = l->other;
	memcpy(h.source, l->source, sizeof(h.source));
	bytes_put(out, &h, sizeof(h));
	bytes_put(out, l->failed, l->nfailed * sizeof(*l->failed));
	for (uint32_t i = 0; i < l->njob; i++) {
		const struct job_rec *r = &l->jobs[i];
		struct job_head j = { .id = r->id, .start_s = r->start_s, .nhost = r->nhost };

		bytes_put(out, &j, sizeof(j));
		bytes_put_text(out, r->name);
		bytes_put_text(out, r->user);
		bytes_put_text(out, r->nodes);
		for (int a = 0; a < JOB_ATTRS; a++)
			bytes_put_text(out, r->attr[a]);
		for (uint32_t k = 0; k < r->nhost; k++)
			bytes_put_text(out, r->hosts[k]);
	}
}

static void job_list_bytes_take_job(struct job_list *l, struct bytes_in *in)
{
	struct job_head h;
	struct job_rec r = { 0 };
	char **hosts;
	uint32_t n = 0;

	bytes_take(in, &h, sizeof(h));
	r.id = h.id;
	r.start_s = h.start_s;
	r.name = bytes_take_text(in);
	r.user = bytes_take_text(in);
	r.nodes = bytes_take_text(in);
	for (int a = 0; a < JOB_ATTRS; a++)
		r.attr[a] = bytes_take_text(in);
	in->bad |= h.nhost > in->left / sizeof(uint32_t); /* each has its length */
	hosts = xcalloc(in->bad ? 0 : h.nhost, sizeof(*hosts));
	while (!in->bad && n < h.nhost) {
		hosts[n] = bytes_take_text(in);
		in->bad |= !hosts[n++];
	}
	r.hosts = (const char *const *)hosts;
	r.nhost = n;
	if (!in->bad)
		job_list_add(l, &r);
	for (uint32_t i = 0; i < n; i++)
		free(hosts[i]);
	free(hosts);
	for (int a = 0; a < JOB_ATTRS; a++)
		free((char *)r.attr[a]);
	free((char *)r.name);
	free((char *)r.user);
	free((char *)r.nodes);
}

int job_list_bytes_take(const struct job_list **out, struct bytes_in *in, int64_t time_s)
{
	struct job_list_head h;
	struct job_list *l;

	*out = NULL;
	bytes_take(in, &h, sizeof(h));
	h.source[sizeof(h.source) - 1] = '\0';
	in->bad |= h.nfailed > in->left / sizeof(uint64_t);
	if (in->bad)
		return -EPROTO;
	l = job_list_new(h.source, time_s);
	l->pending = h.pending;
	l->other = h.other;
	for (uint32_t i = 0; i < h.nfailed; i++) {
		uint64_t id;

		bytes_take(in, &id, sizeof(id));
		job_list_failed(l, id);
	}
	for (uint32_t i = 0; i < h.njob && !in->bad; i++)
		job_list_bytes_take_job(l, in);
	job_list_sort(l);
	if (!in->bad) {
		*out = l;
		return 0;
	}
	job_list_put(l);
	return -EPROTO;
}
