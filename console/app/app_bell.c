/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/app_priv.h"

#include "fabric/base/time/clock.h"

#define BELL_S 2 /* between two */

void app_bell(struct app *a)
{
	if (!a->term || a->lent || a->fabrics.away || clock_s() - a->rung_s < BELL_S)
		return;
	a->rung_s = clock_s();
	terminal_ring(a->term);
}
