/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sl2vl_text: what the readers and writers of textual SL2VL tables have in common. */
#pragma once

#include "fabric/base/file/lines.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct sl2vl_text {
	const struct fabric *f;
	struct tables *t;
	struct read_report *report;
	uint32_t sw; /* the switch that rows are for, or FAB_NONE */
	uint64_t guid;
	uint64_t rows, strangers;
	bool *seen;
};

void sl2vl_text_begin(struct sl2vl_text *x, struct tables *t, const struct fabric *f,
		      struct read_report *report);
/* Rows are for that switch from now on; the same as before costs nothing. */
void sl2vl_text_switch(struct sl2vl_text *x, uint64_t guid, uint64_t line);
void sl2vl_text_row(struct sl2vl_text *x, uint64_t in, uint64_t out, const uint8_t vl[FAB_SLS],
		    uint64_t line);
/* Brings the SL2VL into its cheapest form, or refuses and leaves the identity. */
int sl2vl_text_end(struct sl2vl_text *x, const struct lines *l, const char *what, struct err *err);

/* Port 0, and ports with a switch or a terminal behind them. */
bool sl2vl_text_port_used(const struct fabric *f, uint32_t sw, uint32_t port);
