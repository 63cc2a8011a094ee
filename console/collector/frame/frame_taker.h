/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_taker: messages for the thread that draws, made from a collector's frames.
 *
 * Whatever comes twice is the same object: a fabric, tables.  No byte is believed.  Of one thread.
 */
#pragma once

#include "console/collector/frame/frame.h"
#include "console/session/message.h"

struct frame_taker;
struct slurm_topology;

/* racks, racks_path: as of fabric_shape_new(); must outlive it. */
struct frame_taker *frame_taker_new(const struct slurm_topology *racks, const char *racks_path);
void frame_taker_free(struct frame_taker *t); /* NULL is fine */

/* What is in the head's data.  0 with a message, or NULL where it is for nobody; -EPROTO: it is not
 * what a collector sends; -ESTALE: of another fabric than the last. */
int frame_take(struct msg **out, struct frame_taker *t, const struct frame_head *head,
	       const uint8_t *data, struct err *err);
