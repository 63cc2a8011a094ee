/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/config/param_check.h"

#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"

#include <errno.h>

int param_check(const struct param *p, const char *text, struct err *err)
{
	struct engine_params any;
	struct err why;

	if (!*text)
		return err_set(err, -EINVAL, "%s: a value is missing", p->option);
	if (p->id == PARAM_PIN)
		return pin_text_check(text, err);
	if (p->id == PARAM_EXCLUDE)
		return limits_text_check(text, err);
	if (p->id >= PARAM_TEXTS && param_set_or_unset(&any, p, text, &why))
		return err_set(err, -EINVAL, "%s: %s", p->option, why.text);
	return 0;
}
