/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mkey: the M_Key from the command line, a file or the terminal, never shown or kept. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/wire/mkeys.h"

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Takes a number from arg and wipes arg, which the process list shows; true when it is no number:
 * then it is to be asked for. */
bool mkey_take(uint64_t *key, char *arg);
/* Reads it from stdin, at a terminal without echo.  -EINVAL: no number. */
int mkey_ask(uint64_t *key, struct err *err);
/* From a file: the number alone into *key, *keys is NULL; or OpenSM's guid2mkey, lines of "0xguid
 * 0xkey", into *keys, which lives until the program ends, with the cables of the file neighbors
 * beside it where there is one; *key is left.  -EPERM: others than the owner may read it; -EINVAL:
 * neither (file and line). */
int mkey_file(uint64_t *key, const struct mkeys **keys, const char *path, struct err *err);
/* The same for an option: ends the program with 255 and the sentence where it cannot. */
void mkey_need_file(uint64_t *key, const struct mkeys **keys, const char *path,
		    const struct argp_state *s);
/* For the watchdog, and there; NULL: no keys of ports. */
json_t *mkey_json(const struct mkeys *keys);
const struct mkeys *mkey_from_json(const json_t *j);
