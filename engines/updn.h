/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * updn: up*, then down*, balanced; one VL on every connected fabric.
 *
 * Roots are those given, else the top level of a tree, else (and where a damaged tree leaves
 * a pair without a legal path) the single root of updown_single_root().
 */
#ifndef ENGINES_UPDN_H
#define ENGINES_UPDN_H

#include "engines/engine.h"

extern const struct engine engine_updn;

#endif
