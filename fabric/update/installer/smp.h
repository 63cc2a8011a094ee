/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smp: the installer that writes blocks and SL2VL tables straight into the switches.
 *
 * For fabrics whose SM lets us: a running OpenSM does not notice foreign writes, and keeps its
 * own idea of the tables until it writes that block again.  Hosts do not learn changed service
 * levels, since path records come from the SM.
 */
#pragma once

#include "fabric/update/installer/installer.h"

struct wire;

/* The wire must outlive it and is used in the thread that applies. */
struct installer smp_installer(struct wire *w);
