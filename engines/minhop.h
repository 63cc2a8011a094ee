/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minhop: for every LID, each switch takes the least used of its ports on a shortest path.
 *
 * OpenSM's default rule, with ties to the first such port.  OpenSM's own tables can deadlock on
 * anything but a tree; here the paths are spread over virtual lanes like those of dfsssp.
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_minhop;
