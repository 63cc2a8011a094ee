/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_order: the order in which OpenSM lists nodes and ports.
 *
 * Its maps are keyed by GUIDs in network byte order read as numbers of the machine, all of
 * which are little-endian: the last byte of the GUID weighs most.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

/* Indices 0..n-1 in that order of their GUIDs (equal GUIDs by index); the caller frees them. */
uint32_t *osm_order_new(const uint64_t *guid, uint32_t n);
