/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mkey: the M_Key from the command line or the terminal, never shown or kept. */
#ifndef CONSOLE_MKEY_H
#define CONSOLE_MKEY_H

#include "fabric/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes a number from arg and wipes arg, which the process list shows; true when it is no number:
 * then it is to be asked for. */
bool mkey_take(uint64_t *key, char *arg);
/* Reads it from stdin without echo.  -EINVAL: no number. */
int mkey_ask(uint64_t *key, struct err *err);

#endif
