/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim_faults: what tests do to a simulated fabric from outside, and look up in it.  Thread-safe as
 * the simulator itself.
 */
#pragma once

#include "fabric/sim/device/sim.h"

/* Faults.  A dead node neither answers nor forwards, but its links stay up. */
void sim_kill_switch(struct sim *s, uint32_t sw, bool dead);
void sim_kill_term(struct sim *s, uint32_t term, bool dead);
void sim_loss(struct sim *s, double loss);
/* After so many more Sets, every Set is answered with an error status; UINT64_MAX: never. */
void sim_fail_writes(struct sim *s, uint64_t after);
/* After so many more Sets, every Set is lost without an answer; UINT64_MAX: never. */
void sim_lose_writes(struct sim *s, uint64_t after);
void sim_poke_lft(struct sim *s, uint32_t sw, uint16_t lid,
		  uint8_t port); /* somebody else's write */
/* Stopped, it answers nothing; started again, it knows no subscriptions. */
void sim_stop_sm(struct sim *s, bool stopped);
/* The master SM is on another terminal from now on, without subscriptions. */
void sim_move_sm(struct sim *s, uint32_t term);
/* The SM's path records have the SLs of t; sim_install_tables() does that, too. */
void sim_set_path_sls(struct sim *s, const struct tables *t);

/* Wrong keys that the port of that GUID has counted (IBA 14.2.4.1). */
uint32_t sim_key_violations(struct sim *s, uint64_t guid);

/* What is installed now, SL2VL in FULL form when any was ever set; the caller puts it. */
struct tables *sim_tables(struct sim *s);

/* Virtual clock only: lets time pass.  Counters need sim_traffic_step(). */
void sim_advance(struct sim *s, double seconds);

/* Adds to one counter of a switch's port (enum counter), for tests. */
void sim_add_counter(struct sim *s, uint32_t sw, uint8_t port, unsigned counter, uint64_t v);
/* One counter of a terminal's own port. */
uint64_t sim_term_counter(struct sim *s, uint32_t term, unsigned counter);
