/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/protocol/phase_seal.h"

#include "fabric/ib/bytes.h"

#include <errno.h>
#include <string.h>

#define AT_ID  14
#define AT_MAC 16

#define SEALED (16 + 2 + 2 + 8 + NOTICE_DETAILS)

static void phase_seal_gather(uint8_t out[SEALED], const struct notice *n, uint64_t guid,
			      uint16_t id)
{
	uint8_t *d = out + SEALED - NOTICE_DETAILS;

	memcpy(out, "ibroute-notice-1", 16);
	be16_put(out + 16, n->trap);
	be16_put(out + 18, n->issuer_lid);
	be64_put(out + 20, guid);
	memcpy(d, n->details, NOTICE_DETAILS);
	be16_put(d + AT_ID, id);
	memset(d + AT_MAC, 0, SITE_KEY_MAC);
}

static struct site_key_subject phase_seal_subject(const struct notice *n, uint64_t guid,
						  const uint8_t data[SEALED])
{
	return (struct site_key_subject){
		.guid = n->trap == NOTICE_LOCAL_CHANGES ? guid : 0,
		.data = data,
		.len = SEALED,
	};
}

int phase_seal_put(struct notice *n, uint64_t guid, const struct site_keys *k)
{
	struct site_key_subject s;
	uint8_t data[SEALED];
	uint16_t id = site_keys_id(k);
	int rc;

	phase_seal_gather(data, n, guid, id);
	s = phase_seal_subject(n, guid, data);
	rc = site_keys_sign(&id, n->details + AT_MAC, k, &s);
	if (!rc)
		be16_put(n->details + AT_ID, id);
	return rc;
}

int phase_seal_check(const struct notice *n, const struct site_keys *k)
{
	uint16_t id = be16_get(n->details + AT_ID);
	struct site_key_subject s;
	uint8_t data[SEALED];

	bool answer = n->trap == NOTICE_LOCAL_CHANGES;

	if (!id || (answer && !n->issuer_guid))
		return -ENOKEY;
	if (!answer && !site_keys_may_ask(k, n->issuer_guid))
		return -EKEYREJECTED;
	phase_seal_gather(data, n, n->issuer_guid, id);
	s = phase_seal_subject(n, n->issuer_guid, data);
	return site_keys_check(k, id, n->details + AT_MAC, &s);
}

bool phase_seal_there(const struct notice *n)
{
	return be16_get(n->details + AT_ID) != 0;
}
