/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan on disk; where its first line is still JSON, the checksums are put right, too. */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/digest.h"
#include "fabric/base/mem.h"
#include "fabric/update/planfile.h"
#include "fabric/update/store.h"
#include "tests/fuzz/tiny.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void check(const uint8_t *data, size_t size)
{
	struct err err = { "" };
	struct plan *p;

	if (plan_decode(&p, data, size, "test.plan", &err)) {
		FUZZ_NEED(err.text[0]);
		return;
	}
	FUZZ_NEED(p->fabric && p->from && p->to);
	plan_stale(p, tiny_fabric(), tiny_tables(0), NULL, NULL, &err);
	plan_free(p);
}

static void right_sums(json_t *head, const uint8_t *at, size_t left)
{
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(head, "parts"), i, part)
	{
		json_int_t len = json_integer_value(json_object_get(part, "bytes"));
		char hex[DIGEST_HEX];
		struct digest d;

		if (len < 0 || (uint64_t)len > left || !json_is_object(part))
			return;
		digest_of(&d, at, (size_t)len);
		json_object_set_new(part, "sha256", json_string(digest_hex(hex, &d)));
		at += len;
		left -= (size_t)len;
	}
}

static void check_right(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	json_t *head = nl ? json_loadb((const char *)data, (size_t)(nl - data), 0, NULL) : NULL;
	size_t rest = nl ? size - (size_t)(nl + 1 - data) : 0, len;
	uint8_t *all;
	char *text;

	if (!head)
		return;
	right_sums(head, nl + 1, rest);
	text = json_dumps(head, JSON_COMPACT);
	len = strlen(text) + 1;
	all = xcalloc(len + rest, 1);
	memcpy(all, text, len - 1);
	all[len - 1] = '\n';
	if (rest)
		memcpy(all + len, nl + 1, rest);
	check(all, len + rest);
	free(all);
	free(text);
	json_decref(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	check(data, size);
	check_right(data, size);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	char path[] = "/tmp/fuzz-plan-XXXXXX", *data;
	struct err err = { "" };
	struct plan *p;
	int fd;

	if (i >= TINY_PLANS)
		return false;
	fd = mkstemp(path);
	p = tiny_plan(i);
	FUZZ_NEED(fd >= 0 && !plan_save(path, p, &err) && !store_read(&data, len, path, &err));
	close(fd);
	unlink(path);
	plan_free(p);
	*out = (uint8_t *)data;
	return true;
}
