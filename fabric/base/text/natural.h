/* SPDX-License-Identifier: GPL-2.0-or-later */
/* natural: the order in which a person expects names that have numbers in them. */
#pragma once

/* As strcmp, but numbers inside names count as numbers: n9 before n10. */
int natural_cmp(const char *a, const char *b);
