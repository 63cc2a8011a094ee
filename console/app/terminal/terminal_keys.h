/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal_keys: what the terminal's description says that its keys send. */
#pragma once

struct key_reader;

/* Of the description that is in use: after newterm() or setupterm(). */
void terminal_keys_learn(struct key_reader *r);
