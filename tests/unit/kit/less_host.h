/* SPDX-License-Identifier: GPL-2.0-or-later */
/* less_host: a fabric from which a host was taken away. */
#pragma once

#include "fabric/model/topology/fabric.h"

/* The same without its last host; NULL when that is none. */
struct fabric *less_host(const struct fabric *f);
