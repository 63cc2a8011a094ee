/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan on disk.  First byte odd: the checksums of its parts are put right. */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/file/store.h"
#include "fabric/base/hash/digest.h"
#include "fabric/base/memory/mem.h"
#include "fabric/plan/file/planfile.h"
#include "tests/fuzz/tiny.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUM ",\"sha256\":\""

static void check(const uint8_t *data, size_t size)
{
	struct err err = { "" };
	struct plan *p;

	if (plan_decode(&p, data, size, "test.plan", &err)) {
		FUZZ_NEED(err.text[0]);
		return;
	}
	FUZZ_NEED(p->fabric && p->from && p->to);
	plan_staleness(p, tiny_fabric(), tiny_tables(0), NULL, NULL, &err);
	plan_free(p);
}

/* The number behind a word, at which *at stands afterwards. */
static bool number_behind(size_t *out, char **at, char *end, const char *word)
{
	size_t n = strlen(word), v = 0;
	char *p = memmem(*at, (size_t)(end - *at), word, n);

	if (!p)
		return false;
	for (p += n; p < end && *p >= '0' && *p <= '9' && v < SIZE_MAX / 16; p++)
		v = v * 10 + (size_t)(*p - '0');
	*out = v;
	*at = p;
	return true;
}

/* In place, as its own writer orders the first line: "bytes":17,"sha256":"..." of each part. */
static void right_sums(char *data, size_t size)
{
	char *end = memchr(data, '\n', size), *at = data;
	const char *part = end ? end + 1 : NULL;
	size_t len;

	while (end && number_behind(&len, &at, end, "\"bytes\":")) {
		char hex[DIGEST_HEX];
		struct digest d;

		if (len > size - (size_t)(part - data) ||
		    (size_t)(end - at) < sizeof(SUM) + DIGEST_HEX || memcmp(at, SUM, strlen(SUM)))
			return;
		digest_of(&d, part, len);
		digest_hex(hex, &d);
		memcpy(at + strlen(SUM), hex, strlen(hex));
		part += len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (!size)
		return 0;
	if (!(data[0] & 1)) {
		check(data + 1, size - 1);
		return 0;
	}
	copy = fuzz_copy(data + 1, size - 1);
	right_sums((char *)copy, size - 1);
	check(copy, size - 1);
	free(copy);
	return 0;
}

/* 2 to the power of which was once asked for. */
static void no_such_lmc(uint8_t *data, size_t len)
{
	static const char is[] = "\"lmc\":1,\"sm_guid\":\"0x0";
	static const char other[] = "\"lmc\":94,\"sm_guid\":\"0x";
	char *at = memmem(data, len, is, strlen(is));

	FUZZ_NEED(at);
	memcpy(at, other, strlen(other));
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	char path[] = "/tmp/fuzz-plan-XXXXXX", *data;
	struct err err = { "" };
	struct plan *p;
	int fd;

	if (i > 2 * TINY_PLANS)
		return false;
	fd = mkstemp(path);
	p = tiny_plan(i / 2);
	FUZZ_NEED(fd >= 0 && !plan_save(path, p, &err) && !store_read(&data, len, path, &err));
	close(fd);
	unlink(path);
	plan_free(p);
	*out = xcalloc(*len + 1, 1);
	**out = i % 2 ? '1' : '0';
	memcpy(*out + 1, data, *len);
	++*len;
	if (i == 2 * TINY_PLANS)
		no_such_lmc(*out, *len);
	free(data);
	return true;
}
