/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_highlight: the job whose links all views show, chosen by the operator. */
#pragma once

#include "views/data/state/state.h"

#include <stdint.h>

struct job_highlight {
	uint64_t id; /* of the job; 0: none is chosen */
	bool known;  /* its links are: the rest is filled */
	uint32_t nchan;
	uint32_t *routes; /* per channel, of the job */
	uint32_t links;	  /* channels with routes */
	uint32_t most;	  /* routes over the fullest of them */
	uint64_t serial;  /* of the usage that it was made from */
};

/* Follows the state; cheap when nothing changed.  O(channels) else. */
void job_highlight_update(struct job_highlight *f, const struct state *s);
/* id 0: no job. */
void job_highlight_set(struct job_highlight *f,
		       uint64_t id); /* its links are known after the next update */
void job_highlight_done(struct job_highlight *f);
