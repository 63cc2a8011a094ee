/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.log of a transaction.  First byte odd: the checksum of every line is put right. */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/memory/mem.h"
#include "fabric/update/journal/journal_text.h"

#include <string.h>

#define SUM 16

static void right_sums(char *text, size_t len)
{
	char *at = text, *end = text + len, *nl;

	while ((nl = memchr(at, '\n', (size_t)(end - at)))) {
		if (nl - at > SUM + 1) {
			char hex[DIGEST_HEX];
			struct digest d;

			digest_of(&d, at + SUM + 1, (size_t)(nl - at) - SUM - 1);
			memcpy(at, digest_hex(hex, &d), SUM);
			at[SUM] = ' ';
		}
		at = nl + 1;
		if (at == end)
			break;
	}
}

/* What was taken alone says the same, and goes on. */
static void check(const struct txn_info *t, uint64_t seq, const char *text, size_t valid)
{
	struct txn_info again = { .state = TXN_PREPARED }, more = { .state = TXN_PREPARED };
	char *line = txn_mark_line(seq, TXN_ROLLBACK, 3, WHY_FOREIGN, "by\nchance", 17), *longer;
	uint64_t n;

	FUZZ_NEED(t->state < TXN_STATES && txn_state_name(t->state));
	FUZZ_NEED(!valid == !seq && (!valid || text[valid - 1] == '\n'));
	FUZZ_NEED(txn_log_decode(&again, &n, text, valid) == valid && n == seq);
	FUZZ_NEED(again.state == t->state && again.wave == t->wave && again.state_s == t->state_s);
	longer = xasprintf("%.*s%s", (int)valid, text, line);
	if (strlen(longer) == valid + strlen(line)) { /* without a zero byte */
		FUZZ_NEED(txn_log_decode(&more, &n, longer, strlen(longer)) == strlen(longer));
		FUZZ_NEED(n == seq + 1 && more.state == TXN_ROLLBACK && more.wave == 3 &&
			  more.why == WHY_FOREIGN);
	}
	free(longer);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct txn_info t = { .state = TXN_PREPARED };
	uint64_t seq;
	size_t valid;
	char *text;

	if (!size)
		return 0;
	text = fuzz_copy(data + 1, size - 1);
	if (data[0] & 1)
		right_sums(text, size - 1);
	valid = txn_log_decode(&t, &seq, text, size - 1);
	FUZZ_NEED(valid <= size - 1);
	check(&t, seq, text, valid);
	free(text);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	char *all;

	if (i >= 2 * TXN_STATES)
		return false;
	all = xstrdup(i & 1 ? "1" : "0");
	for (unsigned k = 0; k <= i % 3; k++) {
		char *line = txn_mark_line(k, (enum txn_state)(i / 2), k * 7,
					   (enum coord_why)(i % COORD_WHYS), "written", 1795305600);
		char *longer = xasprintf("%s%s", all, line);

		free(line);
		free(all);
		all = longer;
	}
	*len = strlen(all);
	*out = (uint8_t *)all;
	return true;
}
