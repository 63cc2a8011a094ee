/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent_status: what an agent answers to STATUS, line by line (fabric/agent/ibroute-agent.h), as
 * JSON for scripts. */
#pragma once

#include <jansson.h>

/* All keys are there, what no line has said is null; the lists are empty.  The caller owns it. */
json_t *agent_status_new(void);

/* One line of the answer, without its newline.  One that is not understood, of a later agent, is
 * left out. */
void agent_status_add(json_t *status, const char *line);
