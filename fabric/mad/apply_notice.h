/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply_notice: what the five phases say to each other inside notices.
 *
 * UNPATH and REPATH go from the coordinator to all agents, an ack from an agent back; all
 * of them as traps to the SM, which reports them to its subscribers.  14 bytes at the end of the
 * notice's details, from byte 40 on, which subnet managers pass on as they are:
 *
 *	40      version, 1
 *	41      trap number of the phase: 68 or 69, in acks as well
 *	42..43  flags
 *	44..47  transaction
 *	48..51  sequence number of the sender
 *	52..53  acks: low 16 bits of the sequence number that is answered; else 0
 *
 * A subnet manager drops a notice that it has had from the same LID with the same contents 10
 * times within seconds: every resend, of an ack as well, takes a new sequence number.
 */
#ifndef FABRIC_MAD_APPLY_NOTICE_H
#define FABRIC_MAD_APPLY_NOTICE_H

#include "fabric/mad/notice.h"

#define APPLY_NOTICE_VERSION 1

enum apply_flag {
	APPLY_FAILED = 0x0001, /* ack: heard, but could not be done */
	APPLY_CANCEL = 0x0002, /* REPATH: nothing was changed, or it was taken back */
};

struct apply_notice {
	bool ack;
	uint8_t phase;	/* NOTICE_UNPATH or NOTICE_REPATH */
	uint16_t flags; /* enum apply_flag; unknown ones are passed on */
	uint32_t txn;	/* not 0 */
	uint32_t seq;
	uint16_t ref; /* acks */
};

/* Who sends it.  cap_mask: the port's CapabilityMask as it is now; with any other a subnet manager
 * takes an ack for news of the port and sweeps the whole fabric. */
struct apply_sender {
	uint16_t lid;
	uint32_t cap_mask;
};

void apply_notice_make(struct notice *out, const struct apply_notice *in,
		       const struct apply_sender *from);
/* -ENOENT: a notice that is not of this protocol; -EPROTO: of it, but of another version or
 * with values out of range. */
int apply_notice_read(struct apply_notice *out, const struct notice *n);

/* Transaction numbers for names of transactions; never 0. */
uint32_t apply_txn(const char *id);

#endif
