/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal_text.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_SUM 16 /* hex digits in front of a line of the state log */

static const char *const state_names[TXN_STATES + 1] = {
	[TXN_UNPATH] = "unpath",
	[TXN_REPATH] = "repath",
	[TXN_PREPARED] = "prepared",
	[TXN_WRITING] = "writing",
	[TXN_CONFIRMING] = "confirming",
	[TXN_ROLLBACK] = "rollback",
	[TXN_INCOMPLETE] = "incomplete",
	[TXN_ABANDONED] = "abandoned",
	[TXN_CONFIRMED] = "confirmed",
	[TXN_ROLLED_BACK] = "rolled-back",
	[TXN_GIVEN_UP] = "given-up",
	[TXN_SUPERSEDED] = "superseded",
	[TXN_FABRIC_CHANGED] = "fabric-changed",
	[TXN_TAKEN] = "taken",
};

const char *txn_state_name(enum txn_state s)
{
	return state_names[s];
}

/* ---- head ---- */

/* Of all but itself; heads of earlier versions have none. */
static void journal_text_head_sum(char hex[DIGEST_HEX], json_t *j)
{
	struct digest d;
	char *text;

	json_object_del(j, "head_sha256");
	text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	digest_of(&d, text, strlen(text));
	digest_hex(hex, &d);
	free(text);
}

static bool journal_text_head_whole(json_t *j)
{
	const char *sum = json_string_value(json_object_get(j, "head_sha256"));
	char want[DIGEST_HEX], is[DIGEST_HEX];

	if (!sum)
		return true;
	snprintf(want, sizeof(want), "%s", sum);
	journal_text_head_sum(is, j);
	return !strcmp(want, is);
}

static void journal_text_put_gain(json_t *j, const struct txn_gain *g)
{
	if (g->before > 0)
		json_object_set_new(j, "time",
				    json_pack("{s:s, s:f, s:f}", "pattern", g->pattern, "before",
					      g->before, "after", g->after));
}

/* Heads of earlier versions have none; a time is more than 0. */
static void journal_text_take_gain(struct txn_gain *g, const json_t *j)
{
	const json_t *time = json_object_get(j, "time");
	double before = json_number_value(json_object_get(time, "before"));
	double after = json_number_value(json_object_get(time, "after"));

	*g = (struct txn_gain){ 0 };
	if (!(before > 0 && after > 0 && isfinite(before) && isfinite(after)))
		return;
	g->before = before;
	g->after = after;
	snprintf(g->pattern, sizeof(g->pattern), "%s", json_string_at(time, "pattern"));
}

char *txn_head_encode(const struct txn_head *h, const struct digest *sum)
{
	char fp[DIGEST_HEX], from[DIGEST_HEX], to[DIGEST_HEX], chg[DIGEST_HEX];
	json_t *j = json_pack("{s:i, s:s, s:o, s:s, s:s, s:o, s:o, s:I, s:I}", "version", 1, "id",
			      h->id, "fabric", json_text(h->fabric), "plan", h->plan, "engine",
			      h->engine, "user", json_text(h->user), "host", json_text(h->host),
			      "pid", (json_int_t)h->pid, "time_s", (json_int_t)h->time_s);
	char *out;

	json_object_set_new(j, "fingerprint", json_string(digest_hex(fp, &h->fingerprint)));
	json_object_set_new(j, "from_hash", json_string(digest_hex(from, &h->from_hash)));
	json_object_set_new(j, "to_hash", json_string(digest_hex(to, &h->to_hash)));
	json_object_set_new(j, "lft_blocks", json_integer(h->nlft));
	json_object_set_new(j, "sl2vl_tables", json_integer(h->nsl2vl));
	json_object_set_new(j, "number", json_integer((json_int_t)h->number));
	json_object_set_new(j, "waves", json_integer(h->nwaves));
	json_object_set_new(j, "changes_sha256", json_string(digest_hex(chg, sum)));
	journal_text_put_gain(j, &h->gain);
	journal_text_head_sum(fp, j);
	json_object_set_new(j, "head_sha256", json_string(fp));
	out = json_dumps(j, JSON_INDENT(1));
	json_decref(j);
	return out;
}

static void journal_text_copy(char *dst, size_t size, const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	snprintf(dst, size, "%s", s ? s : "");
}

static int journal_text_copy_digest(struct digest *d, const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? digest_parse(d, s) : -EINVAL;
}

int txn_head_decode(struct txn_head *h, struct digest *sum, const char *data, size_t len,
		    const char *name, struct err *err)
{
	json_error_t je;
	json_t *j = json_loadb(data, len, 0, &je);
	bool whole = j && journal_text_head_whole(j);
	int rc = 0;

	if (!j)
		return err_set(err, -EBADMSG, "%s:%d: %s", name, je.line, je.text);
	json_text_clean(j);
	journal_text_copy(h->id, sizeof(h->id), j, "id");
	journal_text_copy(h->fabric, sizeof(h->fabric), j, "fabric");
	journal_text_copy(h->plan, sizeof(h->plan), j, "plan");
	journal_text_copy(h->engine, sizeof(h->engine), j, "engine");
	journal_text_copy(h->user, sizeof(h->user), j, "user");
	journal_text_copy(h->host, sizeof(h->host), j, "host");
	h->pid = (pid_t)json_integer_value(json_object_get(j, "pid"));
	h->time_s = json_integer_value(json_object_get(j, "time_s"));
	h->nlft = (uint32_t)json_integer_value(json_object_get(j, "lft_blocks"));
	h->nsl2vl = (uint32_t)json_integer_value(json_object_get(j, "sl2vl_tables"));
	h->number = (uint64_t)json_integer_value(json_object_get(j, "number"));
	h->nwaves = (uint32_t)json_integer_value(json_object_get(j, "waves"));
	journal_text_take_gain(&h->gain, j);
	if (!whole)
		rc = err_set(err, -EBADMSG, "%s: damaged (its checksum does not match)", name);
	else if (json_integer_value(json_object_get(j, "version")) != 1)
		rc = err_set(err, -EBADMSG, "%s: written by another version of this program", name);
	else if (journal_text_copy_digest(&h->fingerprint, j, "fingerprint") ||
		 journal_text_copy_digest(&h->from_hash, j, "from_hash") ||
		 journal_text_copy_digest(&h->to_hash, j, "to_hash") ||
		 journal_text_copy_digest(sum, j, "changes_sha256"))
		rc = err_set(err, -EBADMSG, "%s: a checksum is missing", name);
	json_decref(j);
	return rc;
}

/* ---- state log ---- */

static void journal_text_mark_sum(char sum[MARK_SUM + 1], const char *line, size_t len)
{
	char hex[DIGEST_HEX];
	struct digest d;

	digest_of(&d, line, len);
	memcpy(sum, digest_hex(hex, &d), MARK_SUM);
	sum[MARK_SUM] = '\0';
}

static bool journal_text_has_cause(enum txn_state s)
{
	return s == TXN_ROLLBACK || s == TXN_INCOMPLETE || s == TXN_ABANDONED ||
	       s == TXN_ROLLED_BACK || s == TXN_SUPERSEDED || s == TXN_FABRIC_CHANGED;
}

/* "[cause] text", or a text alone, as all were before there were causes. */
static void journal_text_take_said(struct txn_info *info, const char *said)
{
	char name[16];
	int len = 0;

	info->why = WHY_NONE;
	if (journal_text_has_cause(info->state) && sscanf(said, "[%15[a-z]]%n", name, &len) == 1 &&
	    len)
		info->why = coord_why_by_name(name);
	if (info->why)
		said += len + (said[len] == ' ');
	snprintf(info->said, sizeof(info->said), "%s", said);
	plain_text(info->said, "");
}

/* "<sum> <seq> <time> <state> <wave> <text>"; true when it is the line that must come next. */
static bool journal_text_mark_parse(struct txn_info *info, const char *line, size_t len,
				    uint64_t seq)
{
	char sum[MARK_SUM + 1], state[16], buf[160 + JOURNAL_SAID];
	int said = 0;
	uint64_t got;
	int64_t when;
	uint32_t wave;

	if (len < MARK_SUM + 2 || line[MARK_SUM] != ' ')
		return false;
	journal_text_mark_sum(sum, line + MARK_SUM + 1, len - MARK_SUM - 1);
	if (memcmp(sum, line, MARK_SUM))
		return false;
	snprintf(buf, sizeof(buf), "%.*s", (int)(len - MARK_SUM - 1), line + MARK_SUM + 1);
	if (sscanf(buf, "%" SCNu64 " %" SCNd64 " %15s %" SCNu32 "%n", &got, &when, state, &wave,
		   &said) != 4 ||
	    got != seq)
		return false;
	if (!strcmp(state, state_names[TXN_TAKEN])) {
		info->taken++;
		return true;
	}
	for (int s = 0; s < TXN_STATES; s++) {
		if (strcmp(state, state_names[s]))
			continue;
		info->asked = info->asked || s == TXN_UNPATH || s == TXN_REPATH;
		info->state = (enum txn_state)s;
		info->state_s = when;
		info->wave = wave;
		journal_text_take_said(info, buf + said + (buf[said] == ' '));
		return true;
	}
	return false;
}

size_t txn_log_decode(struct txn_info *info, uint64_t *seq, const char *data, size_t len)
{
	size_t valid = 0;
	const char *nl;

	*seq = 0;
	/* without a single whole line a write may have happened all the same */
	info->state = TXN_WRITING;
	info->state_s = info->head.time_s;
	info->wave = info->taken = 0;
	info->said[0] = '\0';
	info->why = WHY_NONE;
	info->asked = false;
	while (valid < len && (nl = memchr(data + valid, '\n', len - valid))) {
		if (!journal_text_mark_parse(info, data + valid, (size_t)(nl - data) - valid, *seq))
			break;
		valid = (size_t)(nl - data) + 1;
		(*seq)++;
	}
	return valid;
}

char *txn_mark_line(uint64_t seq, enum txn_state s, uint32_t wave, enum coord_why why,
		    const char *said, int64_t time_s)
{
	char sum[MARK_SUM + 1], cause[20] = "";
	char *body, *line;

	if (why && journal_text_has_cause(s))
		snprintf(cause, sizeof(cause), "[%s] ", coord_why_name(why));
	body = xasprintf("%" PRIu64 " %" PRId64 " %s %u %s%.*s", seq, time_s, state_names[s], wave,
			 cause, JOURNAL_SAID, said ? said : "");
	for (char *p = body; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	journal_text_mark_sum(sum, body, strlen(body));
	line = xasprintf("%s %s\n", sum, body);
	free(body);
	return line;
}

/* ---- agents ---- */

char *txn_agents_encode(const struct txn_agent *v, uint32_t n)
{
	json_t *list = json_array();
	char *body, *all, hex[DIGEST_HEX];
	struct digest d;

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("[I, i, i, I, o]", (json_int_t)v[i].guid,
						      v[i].lid, v[i].nlids, (json_int_t)v[i].job,
						      json_text(v[i].name)));
	body = json_dumps(list, JSON_COMPACT);
	digest_of(&d, body, strlen(body));
	all = xasprintf("%s\n%s", digest_hex(hex, &d), body);
	free(body);
	json_decref(list);
	return all;
}

static void journal_text_agent_decode(struct txn_agent *g, const json_t *x)
{
	const char *name = json_string_value(json_array_get(x, 4));

	g->guid = (uint64_t)json_integer_value(json_array_get(x, 0));
	g->lid = (uint16_t)json_integer_value(json_array_get(x, 1));
	g->nlids = (uint16_t)json_integer_value(json_array_get(x, 2));
	g->job = (uint64_t)json_integer_value(json_array_get(x, 3));
	snprintf(g->name, sizeof(g->name), "%.63s", name ? name : "");
}

int txn_agents_decode(struct txn_agent **out, uint32_t *n, const char *data, size_t len)
{
	const char *nl = memchr(data, '\n', len);
	struct digest want, is;
	char hex[DIGEST_HEX];
	json_t *list, *x;
	size_t i;

	if (!nl || nl - data != DIGEST_HEX - 1)
		return -EBADMSG;
	snprintf(hex, sizeof(hex), "%.*s", DIGEST_HEX - 1, data);
	nl++;
	digest_of(&is, nl, len - (size_t)(nl - data));
	if (digest_parse(&want, hex) || !digest_equal(&want, &is))
		return -EBADMSG;
	list = json_text_clean(json_loadb(nl, len - (size_t)(nl - data), 0, NULL));
	*n = (uint32_t)json_array_size(list);
	*out = xcalloc(*n, sizeof(**out));
	json_array_foreach(list, i, x) journal_text_agent_decode(&(*out)[i], x);
	json_decref(list);
	return 0;
}
