/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_seal: whether a notice of the five phases is of somebody with the site's key.
 *
 * In the details of the notice, before those of phase_codec.h, in bytes that both of the
 * specification's notices leave free and that subnet managers pass on as they are:
 *
 *	14..15  number of the key; 0: no seal
 *	16..31  message authentication code
 *	32..33  0
 *
 * The code is over the trap's number, the issuer's LID and port GUID, and all details but itself:
 * transaction, phase, sequence number, hold, flags and repeat among them.  An answer is by the
 * key of that port, which others' files need not have (site_key.h).
 *
 * OpenSM fills in the issuer's GUID from where a trap came from, and passes on the issuer's LID as
 *the trap tells it.  So what somebody has recorded and sends again has another GUID, and no seal.
 */
#pragma once

#include "fabric/ib/notice.h"
#include "fabric/update/protocol/site_key.h"

/* guid: of the port that issues it; its LID is n's.  -ENOKEY: these keys cannot sign for it. */
int phase_seal_put(struct notice *n, uint64_t guid, const struct site_keys *k);
/* As it was reported, with the issuer's GUID.  0; -ENOKEY: no seal, or of no key that is known;
 * -EKEYREJECTED: a seal of something else, or a question of a port that may not ask. */
int phase_seal_check(const struct notice *n, const struct site_keys *k);
bool phase_seal_there(const struct notice *n);
