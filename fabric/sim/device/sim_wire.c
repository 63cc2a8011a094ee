/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_wire.h"

#include "fabric/sim/device/sim.h"

/* Every port of the simulator gets reports. */
static int sim_wire_port(struct mad_port *out, void *ctx, const struct wire_opts *opts,
			 bool notices, struct err *err)
{
	(void)notices;
	return sim_port_open(out, ctx, opts->term, err);
}

int wire_open_sim(struct wire **out, struct sim *sim, const struct wire_opts *opts, struct err *err)
{
	struct wire_opener by = { .open = sim_wire_port, .ctx = sim };

	return wire_open(out, &by, opts, err);
}

int notice_port_open_sim(struct notice_port **out, struct sim *sim, const struct notice_opts *opts,
			 struct err *err)
{
	static const struct notice_opts none;
	struct mad_port port;
	int rc;

	opts = opts ? opts : &none;
	rc = sim_port_open(&port, sim, opts->term, err);
	if (!rc)
		*out = notice_port_new(&port, opts);
	return rc;
}
