/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unfinished: what every command says on stderr of updates that have not ended. */
#pragma once

#include "fabric/update/installer/osm_msg.h"

/* Updates in base (NULL: the default) that were left unfinished and that nobody works on.  Silent
 * when there are none or they may not be read. */
void unfinished_warn(const char *base);
/* The same of a folder that is not the default, of which it was said at the start. */
void unfinished_warn_of(const char *base);
/* An update that is open at OpenSM's plugin, and whose it is. */
void unfinished_warn_open(const struct osm_status *s);
