/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that an agent which was killed starts again from; and the orders that a client reads. */
#include "tests/fuzz/fuzz.h"

#include "fabric/agent/agent_save.h"
#include "fabric/agent/ibroute-agent.h"

#include <string.h>

static void read_order(const uint8_t *data, size_t size)
{
	char line[IBROUTE_AGENT_LINE] = "";
	struct ibroute_order o;

	memcpy(line, data, size < sizeof(line) ? size : sizeof(line) - 1);
	if (ibroute_agent_read(&o, line))
		FUZZ_NEED(o.what <= IBROUTE_BYE && memchr(o.why, 0, sizeof(o.why)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);
	struct err err = { "" };
	struct agent_state a;
	struct agent_save s;
	int rc;

	read_order(data, size);
	rc = agent_save_parse(&s, text, size, "boot-1", &err);
	free(text);
	if (rc) {
		FUZZ_NEED(err.text[0]);
		return 0;
	}
	for (size_t i = 0; i < s.jobs.n; i++)
		FUZZ_NEED(!agent_job_check(s.jobs.v[i].name, NULL));
	for (size_t i = 0; i < s.peers.n; i++)
		FUZZ_NEED(!agent_job_check(s.peers.v[i].job, NULL) && s.peers.v[i].pid >= 0);
	agent_state_init(&a, &s.state);
	FUZZ_NEED(!agent_state_busy(&a) && agent_mode_name(a.mode));
	agent_state_step(&a, AGENT_EV_START);
	agent_save_clear(&s);
	return 0;
}

bool fuzz_seed(uint8_t **out, size_t *len, unsigned i)
{
	static const char *const seeds[] = {
		("ibroute-agent 1\nboot boot-1\nport 0x0001000000000011\nstate 7 3 1 2 3 300 12345\n"
		 "job 42\njob 7.batch\nclient 42 3 4711 99887766\nend\n"),
		"WELCOME 1 escape 4",
		"MIGRATE 3 77 4 60",
		"RETURN 4 77 same 60",
		"ERROR a line without an end",
	};

	if (i >= sizeof(seeds) / sizeof(seeds[0]))
		return false;
	*len = strlen(seeds[i]);
	*out = fuzz_copy(seeds[i], *len);
	return true;
}
