/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_codec: what the five phases say to each other (see phase_notice.h), as notices.
 *
 * UNPATH and REPATH go from the coordinator to all agents, an answer from an agent back; all of
 * them as traps to the SM, which reports them to its subscribers.  20 bytes at the end of the
 * notice's details, from byte 34 on, which subnet managers pass on as they are:
 *
 *	34      version
 *	35      trap number of the phase: 68 or 69, in answers as well
 *	36..37  flags
 *	38..39  repeat
 *	40..41  hold_s
 *	42..45  sequence number
 *	46..53  transaction
 *
 * A subnet manager drops a notice that it has had from the same LID with the same contents 10
 * times within seconds: every resend has to differ, in seq or in repeat.
 */
#pragma once

#include "fabric/ib/notice.h"
#include "fabric/ib/phase_notice.h"

/* Who sends it.  cap_mask: the port's CapabilityMask as it is now; with any other a subnet manager
 * takes an answer for news of the port and sweeps the whole fabric. */
struct notice_sender {
	uint16_t lid;
	uint32_t cap_mask;
};

/* answer: trap 144 from an agent; else 68 or 69, as in->phase says. */
void phase_codec_encode(struct notice *out, const struct phase_notice *in, bool answer,
			const struct notice_sender *from);
/* -ENOENT: a notice that is not of this protocol; -EPROTO: of it, but of another version or
 * with values out of range. */
int phase_codec_decode(struct phase_notice *out, bool *answer, const struct notice *n);
