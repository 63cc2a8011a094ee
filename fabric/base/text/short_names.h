/* SPDX-License-Identifier: GPL-2.0-or-later */
/* short_names: names as people say them, still one for each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Of names that differ: what vendors put around the name of a switch is left out ("leaf17" of
 * "MF0;leaf17:MQM9700/U1", "4036-8BBA" of "Voltaire 4036 # 4036-8BBA"), and so is what all names
 * begin or end with up to a sign ("gpu-leaf01", "gpu-spine02"), as long as letters are left; the
 * place in a chassis stays ("L15/U1").  A name that would be another's is kept as it is.  n texts,
 * each and the array to be freed.  O(n log n).
 */
char **short_names_new(char *const *names, uint32_t n);

/* len letters are "HEAD..TAIL" of that name, which is shown so where its middle has no room. */
bool short_name_is_of(const char *shown, size_t len, const char *name);
