/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim_wire: a wire and a port for notices over a simulated fabric. */
#pragma once

#include "fabric/wire/notice_port.h"
#include "fabric/wire/wire.h"

struct sim;

/* As wire_open_umad(), on the terminal opts->term.  The simulator must outlive the wire.
 * -EINVAL: there is no such terminal. */
int wire_open_sim(struct wire **out, struct sim *sim, const struct wire_opts *opts,
		  struct err *err);
/* As notice_port_open_umad(), on the terminal opts->term. */
int notice_port_open_sim(struct notice_port **out, struct sim *sim, const struct notice_opts *opts,
			 struct err *err);
