/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/event_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD REF_WORD

/* The next word of the text; NULL: none.  Signs that belong to sentences are not part of it. */
static const char *event_ref_next_word(char word[WORD], const char *text)
{
	size_t n;

	text += strspn(text, " ,;:()'\"<>=");
	n = strcspn(text, " ,;()'\"<>=");
	if (!n)
		return NULL;
	snprintf(word, WORD, "%.*s", (int)(n < WORD ? n : WORD - 1), text);
	for (size_t k = strlen(word); k && strchr(".:!?", word[k - 1]);)
		word[--k] = '\0';
	return text + n;
}

static uint32_t event_ref_switch_named(const struct fabric *f, const char *word)
{
	char label[NAME_LEN];

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (!strcmp(f->sw_name[sw], word) ||
		    !strcmp(switch_label(label, sizeof(label), f, sw), word))
			return sw;
	return FAB_NONE;
}

static uint32_t event_ref_term_named(const struct fabric *f, const char *word)
{
	for (uint32_t t = 0; t < f->nterm; t++)
		if (!strcmp(f->term_name[t], word))
			return t;
	return FAB_NONE;
}

/* "leaf17/33": what is at that port. */
static bool event_ref_port_named(struct event_ref *out, const struct fabric *f, const char *word)
{
	char name[WORD], *slash, *end;
	unsigned long port;
	uint32_t sw;

	snprintf(name, sizeof(name), "%s", word);
	slash = strrchr(name, '/');
	if (!slash || slash == name)
		return false;
	*slash = '\0';
	port = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || port > 254)
		return false;
	sw = event_ref_switch_named(f, name);
	if (sw == FAB_NONE)
		return false;
	out->at = fabric_chan(f, sw, (uint8_t)port);
	out->kind = REF_CHAN;
	if (out->at != FAB_NONE)
		return true;
	out->at = sw;
	out->kind = REF_SWITCH;
	return true;
}

static bool event_ref_job_named(struct event_ref *out, const struct state *s, const char *word)
{
	uint64_t id;

	if (!jobset_id_find(&id, s->jobs, word))
		return false;
	for (uint32_t j = 0; j < s->jobs->njob; j++) {
		if (s->jobs->jobs[j].id != id)
			continue;
		*out = (struct event_ref){ .kind = REF_JOB, .at = j, .job = id };
		return true;
	}
	return false;
}

static bool event_ref_named(struct event_ref *out, const struct state *s, const char *word)
{
	const struct fabric *f = s->fabric;

	if (event_ref_port_named(out, f, word))
		return true;
	out->at = event_ref_switch_named(f, word);
	out->kind = REF_SWITCH;
	if (out->at == FAB_NONE) {
		out->at = event_ref_term_named(f, word);
		out->kind = REF_TERM;
	}
	return out->at != FAB_NONE;
}

void event_ref_find(struct event_ref *out, const struct state *s, const char *text)
{
	char word[WORD], before[WORD] = "";

	while (s->fabric && (text = event_ref_next_word(word, text))) {
		*out = (struct event_ref){ .kind = REF_NONE };
		if ((!strcmp(before, "job") || !strcmp(before, "Job")) &&
		    event_ref_job_named(out, s, word))
			break;
		if (event_ref_named(out, s, word))
			break;
		memcpy(before, word, sizeof(before));
	}
	if (s->fabric && text)
		memcpy(out->word, word, sizeof(out->word));
	else
		*out = (struct event_ref){ .kind = REF_NONE };
}

bool event_ref_in(const struct event_ref *ref, const char *text)
{
	char word[WORD];

	while (ref->kind != REF_NONE && (text = event_ref_next_word(word, text)))
		if (!strcmp(word, ref->word))
			return true;
	return false;
}

const char *event_ref_text(char *buf, size_t len, const struct state *s,
			   const struct event_ref *ref)
{
	char label[256], id[JOB_ID_LEN];

	buf[0] = '\0';
	switch (ref->kind) {
	case REF_NONE:
		break;
	case REF_CHAN:
		snprintf(buf, len, "link %s", chan_label(label, sizeof(label), s->fabric, ref->at));
		break;
	case REF_SWITCH:
		snprintf(buf, len, "switch %s",
			 switch_label(label, sizeof(label), s->fabric, ref->at));
		break;
	case REF_TERM:
		snprintf(buf, len, "the switch of %s", s->fabric->term_name[ref->at]);
		break;
	case REF_JOB:
		snprintf(buf, len, "job %s", jobset_id_text(id, s->jobs, ref->job));
		break;
	}
	return buf;
}
