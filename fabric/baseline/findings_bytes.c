/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/baseline/findings_bytes.h"

#include "fabric/model/topology/bytes/fabric_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct findings_head {
	int64_t since_s;
	uint64_t n;
	uint8_t there, accepted, expected, errors;
};

struct finding_bytes {
	uint64_t guid, guid_b, rise;
	uint8_t kind, port;
};

static void findings_bytes_put_errors(bytes_out *out, const struct error_set *s)
{
	bytes_put(out, &s->n, sizeof(s->n));
	bytes_put(out, &s->asked, sizeof(s->asked));
	bytes_put(out, &s->time_s, sizeof(s->time_s));
	bytes_put(out, &s->began_ms, sizeof(s->began_ms));
	bytes_put(out, s->port, s->n * sizeof(*s->port));
}

void findings_bytes_put(bytes_out *out, const struct findings *l)
{
	struct findings_head h = { 0 };

	h.there = l != NULL;
	if (l) {
		h.since_s = l->since_s;
		h.n = l->n;
		h.accepted = l->accepted;
		h.expected = l->expected != NULL;
		h.errors = l->errors != NULL;
	}
	bytes_put(out, &h, sizeof(h));
	if (!l)
		return;
	bytes_put_text(out, l->path);
	for (size_t i = 0; i < l->n; i++) {
		const struct finding *f = &l->v[i];
		struct finding_bytes b = { 0 };

		b.guid = f->guid;
		b.guid_b = f->guid_b;
		b.rise = f->rise;
		b.kind = (uint8_t)f->kind;
		b.port = f->port;
		bytes_put(out, &b, sizeof(b));
		bytes_put_text(out, f->what);
		bytes_put_text(out, f->subject);
		bytes_put_text(out, f->before);
		bytes_put_text(out, f->after);
	}
	if (l->expected)
		fabric_bytes_put(out, l->expected);
	if (l->errors)
		findings_bytes_put_errors(out, l->errors);
}

/* The text that lives as long as the program; NULL: nobody writes that. */
static const char *findings_bytes_what(const char *what)
{
	static const char *const known[] = { "switch", "host", "cable", "link", "name" };

	for (size_t i = 0; what && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i], what))
			return known[i];
	for (int c = 0; what && c < ERROR_COUNT; c++)
		if (!strcmp(error_counter_name((enum error_counter)c), what))
			return error_counter_name((enum error_counter)c);
	return NULL;
}

static void findings_bytes_take_one(struct findings *l, struct bytes_in *in)
{
	struct finding_bytes b;
	struct finding f = { 0 };
	char *what;

	bytes_take(in, &b, sizeof(b));
	what = bytes_take_text(in);
	f.kind = (enum finding_kind)b.kind;
	f.guid = b.guid;
	f.guid_b = b.guid_b;
	f.rise = b.rise;
	f.port = b.port;
	f.what = findings_bytes_what(what);
	f.subject = bytes_take_text(in);
	f.before = bytes_take_text(in);
	f.after = bytes_take_text(in);
	free(what);
	in->bad |= b.kind >= FINDING_KINDS || !f.what || !f.subject;
	if (!in->bad) {
		vec_push(l, f);
		return;
	}
	free(f.subject);
	free(f.before);
	free(f.after);
}

static const struct error_set *findings_bytes_take_errors(struct bytes_in *in)
{
	struct error_set *s;
	uint32_t n;

	bytes_take(in, &n, sizeof(n));
	in->bad |= n > in->left / sizeof(*s->port);
	if (in->bad)
		return NULL;
	s = error_set_new(n);
	s->n = n;
	bytes_take(in, &s->asked, sizeof(s->asked));
	bytes_take(in, &s->time_s, sizeof(s->time_s));
	bytes_take(in, &s->began_ms, sizeof(s->began_ms));
	bytes_take(in, s->port, n * sizeof(*s->port));
	error_set_sort(s);
	return s;
}

int findings_bytes_take(const struct findings **out, struct bytes_in *in, struct err *err)
{
	struct fabric *expected = NULL;
	struct findings_head h;
	struct findings *l;
	int rc = 0;

	*out = NULL;
	bytes_take(in, &h, sizeof(h));
	if (!h.there)
		return in->bad ? err_set(err, -EPROTO, "these are not the bytes of findings") : 0;
	l = findings_new();
	l->path = bytes_take_text(in);
	for (uint64_t i = 0; i < h.n && !in->bad; i++)
		findings_bytes_take_one(l, in);
	if (h.expected && !in->bad)
		rc = fabric_bytes_take(&expected, in, err);
	l->expected = expected;
	if (h.errors && !rc)
		l->errors = findings_bytes_take_errors(in);
	l->accepted = h.accepted;
	l->since_s = h.since_s;
	if (!rc && in->bad)
		rc = err_set(err, -EPROTO, "these are not the bytes of findings");
	if (rc)
		findings_put(l);
	else
		*out = l;
	return rc;
}
