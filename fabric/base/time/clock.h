/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: time that never jumps, since some moment in the past; for what takes how long. */
#pragma once

#include <stdint.h>

uint64_t clock_ns(void);
uint64_t clock_ms(void);
double clock_s(void);
double clock_cpu_s(void); /* CPU time of this process, all of its threads */
/* Also counts while the machine is suspended: a deadline must not be extended by that. */
uint64_t clock_boot_ms(void);
/* Sleeps for that time, or until a signal arrives. */
void clock_rest_us(uint64_t us);
