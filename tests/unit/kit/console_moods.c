/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/console_moods.h"

#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct session_row rows[4];
static struct session_action actions[6];
static struct sessions records;

static void fill_row(struct session_row *r, int n, bool ok)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->sid, sizeof(r->sid), "20261120T23%02d00Z-47%02d", n, n);
	snprintf(r->file, sizeof(r->file), "%s.jsonl", r->sid);
	snprintf(r->start, sizeof(r->start), "2026-11-20T23:%02d:00.123Z", n);
	snprintf(r->end, sizeof(r->end), "2026-11-20T23:%02d:41.000Z", n + 5);
	snprintf(r->fabric, sizeof(r->fabric), "hpc1");
	snprintf(r->mode, sizeof(r->mode), "rw");
	snprintf(r->head, sizeof(r->head),
		 "4736c0ffee001122334455667788990011223344556677889900aabbccdd44d0");
	r->part = 1;
	r->uid = 1000 + (uint32_t)n;
	r->lines = 118;
	r->updates = 1;
	r->bytes = 1 << 20;
	r->ok = ok;
	r->screen = true;
}

struct sessions *console_records(void)
{
	static const char *const lines[][2] = {
		{ "session.start", "fabric hpc1 on admin1" },
		{ "key.action", "preview sar" },
		{ "plan.create", "p-7f3a sar vls=8" },
		{ "phase.begin", "WRITE wave 1" },
		{ "rollback.begin", "ROLLBACK errors on 2 links that were changed" },
		{ "note", "ticket 4711: cable of leaf17/33 is to be replaced" },
	};

	for (int i = 0; i < 4; i++)
		fill_row(&rows[i], 40 - i * 10, i != 1);
	snprintf(rows[1].what, sizeof(rows[1].what),
		 "changed after it was written: not the line that the next one is chained to");
	rows[2].open_end = true;
	rows[2].part = 2;
	rows[3].gaps = 2;
	rows[3].screen = false;
	rows[3].epoch = 7;
	for (unsigned i = 0; i < 6; i++) {
		memset(&actions[i], 0, sizeof(actions[i]));
		actions[i].seq = i;
		snprintf(actions[i].time, sizeof(actions[i].time), "23:19:%02u", 40 + i);
		snprintf(actions[i].what, sizeof(actions[i].what), "%s", lines[i][0]);
		snprintf(actions[i].text, sizeof(actions[i].text), "%s", lines[i][1]);
		actions[i].loud = i == 4;
	}
	records = (struct sessions){ .row = rows, .nrow = 4 };
	snprintf(records.dir, sizeof(records.dir), "/var/log/ibroute-top");
	return &records;
}

void console_record_opened(struct sessions *s, const char *file)
{
	snprintf(s->opened, sizeof(s->opened), "%s", file);
	s->action = actions;
	s->naction = 6;
}

static void log_line(struct state_apply *a, const char *text)
{
	struct log_line *l = &a->log[a->log_total++ % APPLY_LOG];

	l->time_ns = 1763680742000000000ull;
	l->level = LOG_INFO;
	snprintf(l->area, sizeof(l->area), "apply");
	snprintf(l->text, sizeof(l->text), "%s", text);
}

void console_step(struct state_apply *a, int i, enum step_state st, double took, const char *text)
{
	a->steps[i].state = st;
	a->steps[i].took_s = took;
	snprintf(a->steps[i].text, sizeof(a->steps[i].text), "%s", text);
}

void console_running(struct console_kit *k)
{
	struct state_apply *a = &k->s.apply;

	a->state = APPLY_RUNNING;
	a->watched = true;
	a->watching = WATCH_ALL;
	snprintf(a->txn, sizeof(a->txn), "20251120T231951Z-4711");
	console_step(a, 0, STEP_DONE, 2.1, "the plan is still valid; 66 blocks saved");
	console_step(a, 1, STEP_DONE, 6.4, "6 of 7 drained, asked 3 times, 1 silent: n0031");
	console_step(a, 2, STEP_RUNNING, 1.2, "wave 2 of 3");
	a->nwaves = 3;
	a->wave[0] = (struct apply_wave){ 9, 27, "spines" };
	a->wave[1] = (struct apply_wave){ 10, 24, "leaves A" };
	a->wave[2] = (struct apply_wave){ 8, 15, "leaves B" };
	a->switches = 27;
	snprintf(a->user, sizeof(a->user), "ana");
	snprintf(a->installer, sizeof(a->installer), "SMPs");
	a->process = 4714;
	a->back_s = 9.3;
	k->s.recording = true;
	k->s.rec_s = 761;
	snprintf(k->s.rec_head, sizeof(k->s.rec_head), "4736..44d0");
	k->s.rec_seq = 118;
	k->s.rec_cast = 1200000;
	a->at_wave = 1;
	a->wave_done = 12;
	a->done = 39;
	a->total = 66;
	a->retries = 1;
	a->agents = (struct apply_agents){ .asked = PHASE_UNPATH,
					   .expected = 7,
					   .done = 6,
					   .silent = 1,
					   .resent = 2,
					   .who = "n0031 (job 81200)" };
	snprintf(a->slow[0].name, sizeof(a->slow[0].name), "leaf17");
	a->slow[0].us = 410400;
	snprintf(a->slow[1].name, sizeof(a->slow[1].name), "leaf09");
	a->slow[1].us = 38800;
	live_metrics(&a->before, &k->s);
	a->pred_util = 66;
	a->pred_dark = 0;
	log_line(a, "asking 7 agents to drain");
	log_line(a, "wave 1: writing 27 blocks");
	log_line(a, "wave 2: writing 24 blocks");
}

void console_waiting(struct console_kit *k)
{
	static const char *const last[] = {
		[WATCH_SM] = "0x0002c90300000001 is master",
		[WATCH_ERRORS] = "no error counter rose on 132 ports of changed links",
		[WATCH_REACH] = "16 hosts asked, 0 did not answer",
		[WATCH_JOBS] = "41 jobs run, none has lost a node",
	};
	struct state_apply *a = &k->s.apply;

	a->state = APPLY_CONFIRM;
	a->at_wave = 3;
	a->done = 66;
	console_step(a, 2, STEP_DONE, 2.9, "66 blocks on 27 switches");
	console_step(a, 3, STEP_DONE, NAN, "66 of 66 read back as written, 1 retry");
	console_step(a, 4, STEP_DONE, 4.0, "7 of 7 returned");
	console_step(a, 5, STEP_RUNNING, 48, "waiting for the fabric's name, or a rollback");
	a->confirm_left_s = 252;
	a->confirm_all_s = 300;
	a->reread = REREAD_SAME;
	for (int w = 0; w < APPLY_WATCHES; w++) {
		a->seen.of[w].on = true;
		a->seen.of[w].samples = w == WATCH_ERRORS ? 24 : 60;
		snprintf(a->seen.of[w].last, sizeof(a->seen.of[w].last), "%s", last[w]);
	}
	a->seen.scanned = true;
	a->seen.as_written = 66;
	log_line(a, "the switches hold the new routing; waiting for confirmation");
}

void console_plans(struct console_kit *k)
{
	struct state_preview *p = &k->s.preview;
	struct plan_preview *x = &p->list[0];

	*x = (struct plan_preview){ .options.params.seed = 1,
				    .id = "p-7f3a",
				    .from = k->tables,
				    .tables = k->tables,
				    .jobs = k->jobs,
				    .before = k->metrics,
				    .after = k->metrics,
				    .verdict = k->verdict,
				    .order = ORDER_WAITS,
				    .forecasting = true };
	p->list[1] = *x;
	snprintf(p->list[1].id, sizeof(x->id), "p-91c2");
	p->n = 2;
	p->state = PREVIEW_DONE;
	p->at = 0;
}
