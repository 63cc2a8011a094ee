/* SPDX-License-Identifier: GPL-2.0-or-later */
/* approval: what is about to be written has to be judged by whoever writes it. */
#pragma once

#include "fabric/update/transaction.h"

/* Asks t->o.approve about the plan, tells how far it is.  false: refused or cancelled. */
bool approval_ask(struct transaction *t);
