/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version: of the program and the plugin, which are built and installed together, and where both look
 * for what a site has written.  CHANGES.md begins with the same number; tests/docs.sh compares them.
 */
#pragma once

#define IBROUTE_VERSION "0.2.0"

/* make SYSCONFDIR= says another one. */
#ifndef IBROUTE_ETC
#define IBROUTE_ETC "/etc/ibroute-top"
#endif
