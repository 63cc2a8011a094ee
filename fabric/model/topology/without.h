/* SPDX-License-Identifier: GPL-2.0-or-later */
/* without: a fabric as it would be without some of its cables. */
#pragma once

#include "fabric/model/topology/fabric.h"

/*
 * The same switches, ends, ports, LIDs and fingerprint, so that tables for one are tables for the
 * other; only channels are numbered again, those of cables in drop (nchan of f; one direction of a
 * cable is enough) left out and their ports down.  Shares the rest with f, which it holds on to.  The caller owns
 * one reference.
 */
struct fabric *fabric_without(const struct fabric *f, const bool *drop);
