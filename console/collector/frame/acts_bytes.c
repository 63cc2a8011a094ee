/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/acts_bytes.h"

#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct act_numbers {
	uint64_t kind, blocks, bytes;
	int64_t begin_ms, end_ms;
};

void acts_bytes_put(bytes_out *out, const struct acts *l)
{
	uint64_t n = l->n;

	bytes_put(out, &n, sizeof(n));
	for (size_t i = 0; i < l->n; i++) {
		const struct act *a = &l->v[i];
		struct act_numbers h = { .kind = a->kind,
					 .blocks = a->blocks,
					 .bytes = a->bytes,
					 .begin_ms = a->begin_ms,
					 .end_ms = a->end_ms };

		bytes_put(out, &h, sizeof(h));
		bytes_put_text(out, a->id);
		bytes_put_text(out, a->fabric);
		bytes_put_text(out, a->user);
		bytes_put_text(out, a->host);
		bytes_put_text(out, a->plan);
		bytes_put_text(out, a->engine);
		bytes_put_text(out, a->state);
		bytes_put_text(out, a->text);
	}
}

static void acts_bytes_take_text(char *to, size_t size, struct bytes_in *in)
{
	char *text = bytes_take_text(in);

	snprintf(to, size, "%s", text ? text : "");
	free(text);
}

static void acts_bytes_take_one(struct act *a, struct bytes_in *in)
{
	struct act_numbers h;

	bytes_take(in, &h, sizeof(h));
	in->bad |= h.kind >= ACT_KINDS;
	*a = (struct act){ .kind = (enum act_kind)(h.kind % ACT_KINDS),
			   .blocks = h.blocks,
			   .bytes = h.bytes,
			   .begin_ms = h.begin_ms,
			   .end_ms = h.end_ms };
	acts_bytes_take_text(a->id, sizeof(a->id), in);
	acts_bytes_take_text(a->fabric, sizeof(a->fabric), in);
	acts_bytes_take_text(a->user, sizeof(a->user), in);
	acts_bytes_take_text(a->host, sizeof(a->host), in);
	acts_bytes_take_text(a->plan, sizeof(a->plan), in);
	acts_bytes_take_text(a->engine, sizeof(a->engine), in);
	acts_bytes_take_text(a->state, sizeof(a->state), in);
	acts_bytes_take_text(a->text, sizeof(a->text), in);
}

int acts_bytes_take(const struct acts **out, struct bytes_in *in)
{
	struct acts *l = acts_new();
	uint64_t n;

	bytes_take(in, &n, sizeof(n));
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		struct act a;

		acts_bytes_take_one(&a, in);
		if (!in->bad)
			vec_push(l, a);
	}
	if (!bytes_at_end(in)) {
		acts_put(l);
		return -EPROTO;
	}
	*out = l;
	return 0;
}
