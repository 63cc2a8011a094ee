/* SPDX-License-Identifier: GPL-2.0-or-later */
/* natural: the order in which a person expects names that have numbers in them. */
#ifndef FABRIC_BASE_NATURAL_H
#define FABRIC_BASE_NATURAL_H

/* As strcmp, but numbers inside names count as numbers: n9 before n10. */
int natural_cmp(const char *a, const char *b);

#endif
