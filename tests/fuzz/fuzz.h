/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz: what every tests/fuzz/fuzz_NAME.c defines, for libFuzzer (make fuzz) as for the smoke
 * test of make check, which changes the seeds by chance (driver.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* One input; always 0.  Whatever it holds: no crash, no leak, no file, no clock, the same each
 * time; what was understood is checked with FUZZ_NEED. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Input i of those that are well formed, from 0 on; false: there are no more.  The caller frees
 * *out. */
bool fuzz_seed(uint8_t **out, size_t *len, unsigned i);

/* Environment FUZZ_SEEDS=FOLDER: writes the seeds there and ends the program. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

void fuzz_wrong(const char *file, int line, const char *what) __attribute__((noreturn));
#define FUZZ_NEED(x) ((x) ? (void)0 : fuzz_wrong(__FILE__, __LINE__, #x))

/* A copy of n bytes that ends where its memory ends: reading behind it is found out.  The caller
 * frees it. */
void *fuzz_copy(const void *data, size_t n);
