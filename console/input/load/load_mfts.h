/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_mfts: multicast tables (fabric/format/opensm/mft_text.h); "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/multicast/mcast.h"

/* The caller ends *m with mcast_end(), also after an error. */
int load_mfts(struct mcast *m, const char *path, const struct fabric *f, struct err *err);
