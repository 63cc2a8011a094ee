/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_parts: the fixed beginnings of frames; frame.c writes them, frame_taker.c and past_taker.c
 * read them. */
#pragma once

#include <stdint.h>

struct fabric_part {
	double seconds;
	uint64_t partial;
};

struct tables_part {
	double seconds, since_s;
	uint64_t mads;
	uint32_t partial, weighted;
};

struct sm_part {
	uint64_t act_count;
};

struct note_part {
	uint32_t type;
	int32_t rc;
	uint64_t done, total;
	double seconds;
};

struct log_part {
	uint64_t time_ns;
	uint64_t level;
};

struct past_part {
	uint64_t serial;
	int64_t time_ms;
	int64_t rc;
};
