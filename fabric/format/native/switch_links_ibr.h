/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_links_ibr: switches and cables behind the end ports in a file of tables (tables_ibr.h).
 *
 *   header    "IBRLINK\n", version, sizes
 *   body      GUID and ports of each switch; both ends of each cable; deflated
 *   trailer   SHA-256 over all of the above
 *
 * Numbers are little-endian.  Programs that do not know it leave it alone.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/switch_links.h"

#include <stddef.h>
#include <stdint.h>

#define SWITCH_LINKS_IBR_HEADER 24 /* bytes that tell how many follow */

/* Bytes behind a header, 0 where it is none. */
uint32_t switch_links_ibr_rest(const uint8_t header[SWITCH_LINKS_IBR_HEADER]);
/* The caller frees *buf. */
void switch_links_ibr_encode(uint8_t **buf, size_t *len, const struct switch_links *s);
/* -ENOENT: there are none; -EINVAL: damaged; -ENOTSUP: of a newer version.  Whatever it says is
 * within bounds.  what: of the file, for messages. */
int switch_links_ibr_decode(struct switch_links **out, const uint8_t *buf, size_t len,
			    const char *what, struct err *err);
