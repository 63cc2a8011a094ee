/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: time that never jumps, since some moment in the past; for what takes how long. */
#ifndef FABRIC_BASE_CLOCK_H
#define FABRIC_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);
uint64_t clock_ms(void);
double clock_s(void);
/* Goes on while the machine sleeps: routes that nobody confirmed are not to stay because of that.
 */
uint64_t clock_boot_ms(void);
/* Sleeps so long, or until a signal comes. */
void clock_rest_us(uint64_t us);

#endif
