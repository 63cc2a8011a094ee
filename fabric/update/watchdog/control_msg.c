/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/control_socket.h"

#include "fabric/update/watchdog/watch_conditions.h"

#include <errno.h>
#include <string.h>

static const char *const names[CONTROL_OPS] = {
	[CONTROL_STATUS] = "status",   [CONTROL_FOLLOW] = "follow",
	[CONTROL_CONFIRM] = "confirm", [CONTROL_ROLLBACK] = "rollback",
	[CONTROL_EXTEND] = "extend",   [CONTROL_OVERRIDE] = "override",
};

const char *control_op_name(enum control_op op)
{
	return names[op];
}

static int control_socket_take_watches(struct control_request *out, const json_t *what,
				       struct err *err)
{
	if (out->op != CONTROL_OVERRIDE)
		return what ? err_set(err, -EINVAL, "what: for override") : 0;
	if (!json_is_string(what) || watch_parse(&out->watches, json_string_value(what), err) ||
	    !out->watches)
		return err_set(err, -EINVAL,
			       "what: some of sm, errors, reach and jobs, for override");
	return 0;
}

static int control_socket_take_op(struct control_request *out, const json_t *j, struct err *err)
{
	const char *op = json_string_value(json_object_get(j, "op"));
	const json_t *s = json_object_get(j, "seconds");
	json_int_t v = json_integer_value(s);

	if (!op)
		return err_set(err, -EINVAL, "not a request: \"op\" is missing");
	*out = (struct control_request){ .op = CONTROL_OPS };
	for (int i = 0; i < CONTROL_OPS; i++)
		if (!strcmp(op, names[i]))
			out->op = (enum control_op)i;
	if (out->op == CONTROL_OPS)
		return err_set(err, -EINVAL, "unknown op \"%.40s\"", op);
	if (s &&
	    (out->op != CONTROL_EXTEND || !json_is_integer(s) || v < 1 || v > CONTROL_EXTEND_S))
		return err_set(err, -EINVAL, "seconds: 1 to %d, for extend", CONTROL_EXTEND_S);
	out->seconds = (uint32_t)v;
	return control_socket_take_watches(out, json_object_get(j, "what"), err);
}

int control_parse(struct control_request *out, const char *line, size_t len, struct err *err)
{
	json_t *j;
	int rc;

	if (len >= CONTROL_LINE_MAX)
		return err_set(err, -EINVAL, "longer than %d bytes", CONTROL_LINE_MAX - 1);
	j = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(j))
		rc = err_set(err, -EINVAL, "not a JSON object");
	else
		rc = control_socket_take_op(out, j, err);
	json_decref(j);
	return rc;
}
