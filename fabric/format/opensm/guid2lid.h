/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid2lid: OpenSM's cache of the LIDs it gave, "0xguid 0xlid_min 0xlid_max" a line. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"

#include <stdint.h>
#include <stdio.h>

struct guid_lid {
	uint64_t port_guid;
	uint16_t min_lid, max_lid;
};

/* Ascending GUID, without duplicates (the last line of a GUID holds).  The caller frees *out. */
int guid2lid_read(struct guid_lid **out, uint32_t *n, FILE *file, const char *path,
		  struct read_report *report, struct err *err);
