/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/tables_origin.h"

#include <string.h>

void tables_copy_origin(struct tables *to, const struct tables *from)
{
	to->vls = from->vls;
	to->sls = from->sls;
	to->escape = from->escape;
	to->seed = from->seed;
	memcpy(to->params, from->params, sizeof(to->params));
}
