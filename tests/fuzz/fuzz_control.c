/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes over the socket of an update.  First byte even: a request to the watchdog; odd: an
 * event to those who follow it. */
#include "tests/fuzz/fuzz.h"

#include "fabric/base/memory/mem.h"
#include "fabric/update/update_event.h"
#include "fabric/update/watchdog/control_socket.h"

#include <stdio.h>
#include <string.h>

static void request(const char *line, size_t len)
{
	struct control_request r;
	struct err err = { "" };

	if (control_parse(&r, line, len, &err)) {
		FUZZ_NEED(err.text[0]);
		return;
	}
	FUZZ_NEED(len < CONTROL_LINE_MAX);
	FUZZ_NEED(r.op < CONTROL_OPS && control_op_name(r.op));
	FUZZ_NEED(r.seconds <= CONTROL_EXTEND_S && (!r.seconds || r.op == CONTROL_EXTEND));
}

/* What was understood says the same when it is told on. */
static void event(const char *line, size_t len)
{
	json_t *j = json_loadb(line, len, 0, NULL), *again;
	struct executor_event ev, ev2;
	struct executor_status st, st2;

	if (j && update_event_parse(&ev, &st, j)) {
		FUZZ_NEED(ev.kind <= APPLY_OUTCOME && ev.phase <= PHASE_ROLLBACK);
		FUZZ_NEED(st.phase <= PHASE_ROLLBACK && st.outcome < OUTCOMES);
		FUZZ_NEED(memchr(st.txn, 0, sizeof(st.txn)) && memchr(st.text, 0, sizeof(st.text)));
		ev.txn = "";
		again = update_event_json(&ev, &st, NULL);
		FUZZ_NEED(again && update_event_parse(&ev2, &st2, again));
		FUZZ_NEED(ev2.kind == ev.kind && ev2.phase == ev.phase && ev2.items == ev.items);
		FUZZ_NEED(st2.why == st.why && st2.written == st.written && st2.wave == st.wave);
		json_decref(again);
	}
	json_decref(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line;

	if (!size)
		return 0;
	line = fuzz_copy(data + 1, size - 1);
	if (data[0] & 1)
		event(line, size - 1);
	else
		request(line, size - 1);
	free(line);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	struct executor_event ev = {
		.kind = i % 5, .phase = (enum phase)(i % 7), .wave = i, .items = 7
	};
	struct executor_status st = { .phase = PHASE_WRITE,
				      .txn = "20261122T010000Z-1",
				      .total = 9 };
	char *text = NULL, *line;

	if (i >= 16)
		return false;
	if (i < CONTROL_OPS) {
		text = xasprintf("0{\"op\":\"%s\"%s}", control_op_name((enum control_op)i),
				 i == CONTROL_EXTEND ? ",\"seconds\":300" : "");
	} else {
		json_t *j = update_event_json(&ev, &st, NULL);

		line = json_dumps(j, JSON_COMPACT);
		text = xasprintf("1%s", line);
		free(line);
		json_decref(j);
	}
	*len = strlen(text);
	*out = (uint8_t *)text;
	return true;
}
