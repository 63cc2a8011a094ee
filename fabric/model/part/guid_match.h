/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid_match: where the GUIDs of one list stand in another one. */
#pragma once

#include <stdint.h>

/* For each of n GUIDs its index among those of was, or FAB_NONE; returns how many are there. */
uint32_t guid_match(uint32_t *out, const uint64_t *guid, uint32_t n, const uint64_t *was,
		    uint32_t nwas);
