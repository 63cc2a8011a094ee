/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * endports_ibr: end ports behind tables in a file of tables (tables_ibr.h).
 *
 *   header    "IBREND\n\0", version, sizes, fingerprint and switch graph of the fabric
 *   body      LIDs of the switches; GUID, switch, port and LID of each end; deflated
 *   trailer   SHA-256 over all of the above
 *
 * Numbers are little-endian.  Programs that do not know it leave it alone.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/endports.h"

#include <stddef.h>
#include <stdint.h>

#define ENDPORTS_IBR_HEADER 96 /* bytes that tell how many follow */

/* Bytes behind a header, 0 where it is none. */
uint32_t endports_ibr_rest(const uint8_t header[ENDPORTS_IBR_HEADER]);
/* The caller frees *buf. */
void endports_ibr_encode(uint8_t **buf, size_t *len, const struct endports *e);
/* -ENOENT: there are none; -EINVAL: damaged; -ENOTSUP: of a newer version.  Whatever it says is
 * within bounds: LIDs, switches below nsw, ports.  what: of the file, for messages. */
int endports_ibr_decode(struct endports **out, const uint8_t *buf, size_t len, const char *what,
			struct err *err);
