/* SPDX-License-Identifier: GPL-2.0-or-later */
/* head.json of a transaction. */
#include "tests/fuzz/fuzz.h"

#include "fabric/update/journal/journal_text.h"

#include <string.h>

static void check(const struct txn_head *h, const struct digest *sum)
{
	struct txn_head again = { .nwaves = 0 };
	char *text = txn_head_encode(h, sum);
	struct digest other;
	struct err err;

	if (!text) /* a name was cut in the middle of a character */
		return;
	FUZZ_NEED(!txn_head_decode(&again, &other, text, strlen(text), "again", &err));
	FUZZ_NEED(digest_equal(sum, &other) && digest_equal(&h->to_hash, &again.to_hash));
	FUZZ_NEED(again.nlft == h->nlft && again.nwaves == h->nwaves && again.pid == h->pid);
	FUZZ_NEED(!strcmp(again.id, h->id) && !strcmp(again.plan, h->plan));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct txn_head h;
	struct digest sum;
	struct err err = { "" };

	memset(&h, 0, sizeof(h));
	if (txn_head_decode(&h, &sum, (const char *)data, size, "head.json", &err))
		FUZZ_NEED(err.text[0]);
	else
		check(&h, &sum);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	struct txn_head h = { .id = "20261120T231951Z-4711",
			      .fabric = "testnet",
			      .plan = "1a2b3c4",
			      .engine = "sar",
			      .user = "operator",
			      .host = "login1",
			      .pid = 4711,
			      .time_s = 1795305600,
			      .nlft = 12,
			      .nsl2vl = 3,
			      .nwaves = 4 };
	struct digest sum;

	if (i)
		return false;
	digest_of(&sum, "changes", 7);
	h.fingerprint = h.from_hash = h.to_hash = sum;
	*out = (uint8_t *)txn_head_encode(&h, &sum);
	*len = strlen((char *)*out);
	return true;
}
