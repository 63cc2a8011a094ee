/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/update_event.h"

#include "fabric/base/text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
	[APPLY_PHASE_BEGIN] = "begin", [APPLY_PHASE_END] = "end",   [APPLY_ITEM] = "item",
	[APPLY_VERIFY] = "verify",     [APPLY_OUTCOME] = "ended",   [APPLY_ASK] = "ask",
	[APPLY_ANSWER] = "answer",     [APPLY_SETTLED] = "settled",
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static json_t *update_event_agents_json(const struct executor_status *st)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "asked",
			 phase_name(st->agents.asked), "resent", (json_int_t)st->agents.resent,
			 "expected", (json_int_t)st->agents.expected, "waiting",
			 (json_int_t)st->agents.waiting, "done", (json_int_t)st->agents.done,
			 "failed", (json_int_t)st->agents.failed, "silent",
			 (json_int_t)st->agents.silent, "gone", (json_int_t)st->agents.gone, "who",
			 json_text(st->agents.who));
}

/* [[GUID, microseconds], ...] */
static json_t *update_event_slow_json(const struct executor_status *st)
{
	json_t *list = json_array();
	char guid[20];

	for (int i = 0; i < APPLY_SLOW; i++) {
		if (!st->slow[i].us)
			continue;
		snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)st->slow[i].guid);
		json_array_append_new(list, json_pack("[s, I]", guid, (json_int_t)st->slow[i].us));
	}
	return list;
}

json_t *update_status_json(const struct executor_status *st)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, "
		"s:o, s:o}",
		"phase", phase_name(st->phase), "outcome", outcome_name(st->outcome), "why",
		coord_why_name(st->why), "txn", st->txn, "step", st->step, "wave",
		(json_int_t)st->wave, "waves", (json_int_t)st->nwaves, "total",
		(json_int_t)st->total, "written", (json_int_t)st->written, "verified",
		(json_int_t)st->verified, "retries", (json_int_t)st->retries, "failed",
		(json_int_t)st->failed, "foreign", (json_int_t)st->foreign, "waiting", st->waiting,
		"text", json_text(st->text), "agents", update_event_agents_json(st), "slow",
		update_event_slow_json(st));
}

json_t *update_event_json(const struct executor_event *ev, const struct executor_status *st,
			  const struct fabric *f)
{
	json_t *j = json_pack("{s:s, s:s, s:I, s:I, s:i, s:o, s:o}", "event", kinds[ev->kind],
			      "phase", phase_name(ev->phase), "wave", (json_int_t)ev->wave, "items",
			      (json_int_t)ev->items, "rc", ev->rc, "text", json_text(ev->text),
			      "status", update_status_json(st));
	char name[160];

	if (ev->asked)
		json_object_set_new(j, "asked", json_string(phase_name(ev->asked)));
	if (ev->kind == APPLY_OUTCOME)
		json_object_set_new(j, "outcome", json_string(outcome_name(ev->outcome)));
	if (ev->kind != APPLY_ITEM || !ev->change)
		return j;
	change_name(name, sizeof(name), ev->change, f);
	json_object_set_new(j, "block", json_text(name));
	json_object_set_new(j, "us", json_integer(ev->us));
	return j;
}

static enum phase update_event_phase_of(const char *s)
{
	for (int p = PHASE_NONE; p <= PHASE_ROLLBACK; p++)
		if (!strcmp(s, phase_name((enum phase)p)))
			return (enum phase)p;
	return PHASE_NONE;
}

static void update_event_agents_parse(struct executor_status *st, const json_t *j)
{
	st->agents.asked = update_event_phase_of(json_string_at(j, "asked"));
	st->agents.expected = json_u32_at(j, "expected");
	st->agents.waiting = json_u32_at(j, "waiting");
	st->agents.done = json_u32_at(j, "done");
	st->agents.failed = json_u32_at(j, "failed");
	st->agents.silent = json_u32_at(j, "silent");
	st->agents.gone = json_u32_at(j, "gone");
	st->agents.resent = json_u32_at(j, "resent");
	snprintf(st->agents.who, sizeof(st->agents.who), "%s", json_string_at(j, "who"));
}

static void update_event_slow_parse(struct executor_status *st, const json_t *list)
{
	for (size_t i = 0; i < APPLY_SLOW && i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *guid = json_string_value(json_array_get(one, 0));
		json_int_t us = json_integer_value(json_array_get(one, 1));

		st->slow[i].sw = FAB_NONE;
		st->slow[i].guid = guid ? strtoull(guid, NULL, 0) : 0;
		st->slow[i].us = us < 0 || us > UINT32_MAX ? 0 : (uint32_t)us;
	}
}

static void update_event_parse_status(struct executor_status *st, const json_t *j)
{
	*st = (struct executor_status){
		.phase = update_event_phase_of(json_string_at(j, "phase")),
		.outcome = outcome_by_name(json_string_at(j, "outcome")),
		.wave = json_u32_at(j, "wave"),
		.nwaves = json_u32_at(j, "waves"),
		.total = json_u32_at(j, "total"),
		.written = json_u32_at(j, "written"),
		.verified = json_u32_at(j, "verified"),
		.retries = json_u32_at(j, "retries"),
		.failed = json_u32_at(j, "failed"),
		.foreign = json_u32_at(j, "foreign"),
		.waiting = json_is_true(json_object_get(j, "waiting")),
	};
	update_event_agents_parse(st, json_object_get(j, "agents"));
	update_event_slow_parse(st, json_object_get(j, "slow"));
	st->why = coord_why_by_name(json_string_at(j, "why"));
	snprintf(st->txn, sizeof(st->txn), "%s", json_string_at(j, "txn"));
	snprintf(st->step, sizeof(st->step), "%s", json_string_at(j, "step"));
	snprintf(st->text, sizeof(st->text), "%s", json_string_at(j, "text"));
}

bool update_event_parse(struct executor_event *ev, struct executor_status *st, const json_t *j)
{
	const char *kind = json_string_at(j, "event");
	size_t k = 0;

	while (k < COUNT(kinds) && strcmp(kind, kinds[k]))
		k++;
	if (k == COUNT(kinds))
		return false;
	*ev = (struct executor_event){
		.kind = (enum executor_event_kind)k,
		.phase = update_event_phase_of(json_string_at(j, "phase")),
		.asked = update_event_phase_of(json_string_at(j, "asked")),
		.wave = json_u32_at(j, "wave"),
		.items = json_u32_at(j, "items"),
		.us = json_u32_at(j, "us"),
		.outcome = outcome_by_name(json_string_at(j, "outcome")),
	};
	ev->rc = (int)json_integer_at(j, "rc");
	snprintf(ev->text, sizeof(ev->text), "%s", json_string_at(j, "text"));
	update_event_parse_status(st, json_object_get(j, "status"));
	ev->why = st->why;
	return true;
}

uint32_t update_event_wave(uint32_t wave, uint32_t nwaves)
{
	return nwaves && wave >= nwaves ? nwaves : wave + 1;
}
