/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric_link: what the console of one fabric and the process that switches between them tell each
 * other.  Both are of one program, and one has forked the other: messages are structs.
 */
#pragma once

#include "views/data/state/state.h"

#include <stdbool.h>
#include <stdint.h>

enum fabric_word {
	/* of a console */
	LINK_STATUS, /* tab */
	LINK_GO,     /* the operator wants the fabric to */
	LINK_LENT,   /* it has left the terminal */
	LINK_QUIT,   /* the operator wants all of it to end */
	LINK_RING,   /* the bell, for what it warns of */

	/* to a console */
	LINK_TABS,  /* all */
	LINK_FRONT, /* the terminal is its own; text */
	LINK_AWAY,  /* it has to leave the terminal */
	LINK_SAY,   /* text */
	LINK_RUNG,  /* the bell of its terminal, for another */
	LINK_LEAVE, /* it has to end, if no update is open */
};

struct fabric_msg {
	enum fabric_word word;
	uint32_t to;
	struct fabric_tab tab;
	struct state_fabrics all;
	char text[200];
};

/* 0 or -errno; neither waits.  -EAGAIN: nothing is there, or no room; -EPIPE: the other is gone. */
int fabric_link_send(int fd, const struct fabric_msg *m);
int fabric_link_take(int fd, struct fabric_msg *m);
