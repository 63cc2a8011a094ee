/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/newest.h"

#include "console/collector/frame/frame_parts.h"

#include <string.h>

static void newest_set(const struct frame **at, const struct frame *f)
{
	frame_put(*at);
	*at = f ? frame_get(f) : NULL;
}

void newest_free(struct newest *n)
{
	for (int k = 0; k < FRAME_KINDS; k++)
		newest_set(&n->of[k], NULL);
	newest_set(&n->before, NULL);
	newest_set(&n->sm, NULL);
	newest_set(&n->lost, NULL);
	newest_set(&n->keeping, NULL);
}

static bool newest_same(struct digest *last, const struct newest *n, const struct frame *f)
{
	struct digest d;
	bool same;

	frame_digest(&d, f);
	same = n->of[f->head.kind] && digest_equal(&d, last);
	*last = d;
	return same;
}

/* Of another fabric, what was known of the one before says nothing. */
static bool newest_take_fabric(struct newest *n, const struct frame *f)
{
	bool same = newest_same(&n->fabric, n, f);

	newest_set(&n->of[FRAME_FABRIC], f);
	if (same)
		return true;
	newest_set(&n->of[FRAME_TABLES], NULL);
	newest_set(&n->of[FRAME_SAMPLE], NULL);
	newest_set(&n->before, NULL);
	return false;
}

static void newest_take_note(struct newest *n, const struct frame *f)
{
	struct bytes_in in = { .at = f->data, .left = f->head.len };
	struct note_part h;

	bytes_take(&in, &h, sizeof(h));
	if (h.type == MSG_LOST)
		newest_set(&n->lost, f);
	if (h.type == MSG_FOUND)
		newest_set(&n->lost, NULL);
	if (h.type == MSG_KEEPING)
		newest_set(&n->keeping, f);
}

/* Who comes while it does not answer is to know who it was. */
static void newest_take_sm(struct newest *n, const struct frame *f)
{
	struct bytes_in in = { .at = f->data, .left = f->head.len };
	struct sm_part h;
	int rc;

	bytes_take(&in, &h, sizeof(h));
	bytes_take(&in, &rc, sizeof(rc));
	if (!rc)
		newest_set(&n->sm, f);
}

bool newest_take(struct newest *n, const struct frame *f)
{
	bool same;

	switch (f->head.kind) {
	case FRAME_FABRIC:
		return newest_take_fabric(n, f);
	case FRAME_TABLES:
		same = newest_same(&n->tables, n, f);
		newest_set(&n->of[FRAME_TABLES], f);
		return same;
	case FRAME_SAMPLE:
		newest_set(&n->before, n->of[FRAME_SAMPLE]);
		break;
	case FRAME_SM:
		newest_take_sm(n, f);
		break;
	case FRAME_NOTE:
		newest_take_note(n, f);
		return false;
	case FRAME_LOG:
	case FRAME_PAST:
		return false;
	default:
		break;
	}
	newest_set(&n->of[f->head.kind], f);
	return false;
}

uint32_t newest_list(const struct frame *out[NEWEST_MAX], const struct newest *n,
		     const struct frame *hello)
{
	const struct frame *list[] = {
		hello,
		n->keeping,
		n->of[FRAME_ACTS],
		n->of[FRAME_UPDATES],
		n->of[FRAME_FINDINGS],
		n->of[FRAME_FABRIC],
		n->of[FRAME_TABLES],
		n->of[FRAME_JOBS],
		n->of[FRAME_SOURCE],
		n->sm,
		n->of[FRAME_SM],
		n->before,
		n->of[FRAME_SAMPLE],
		n->lost,
	};

	memcpy(out, list, sizeof(list));
	return sizeof(list) / sizeof(*list);
}
