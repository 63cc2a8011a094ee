/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/slurm/filetxt.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NO_VALUE 0xfffffff0u /* and above: what SLURM writes for none */

enum filetxt_key { KEY_ID, KEY_USER, KEY_NAME, KEY_START, KEY_END, KEY_NODES, KEY_HET, KEY_OFFSET };

/* In the order of the line: what others are between them says where values end, since names may
 * have blanks in them. */
static const struct {
	const char *word;
	int key; /* -1: not taken */
} keys[] = {
	{ "JobId=", KEY_ID },	   { "UserId=", KEY_USER },
	{ "GroupId=", -1 },	   { "Name=", KEY_NAME },
	{ "JobState=", -1 },	   { "Partition=", -1 },
	{ "TimeLimit=", -1 },	   { "StartTime=", KEY_START },
	{ "EndTime=", KEY_END },   { "NodeList=", KEY_NODES },
	{ "NodeCnt=", -1 },	   { "ProcCnt=", -1 },
	{ "WorkDir=", -1 },	   { "ReservationName=", -1 },
	{ "HetJobId=", KEY_HET },  { "HetJobOffset=", KEY_OFFSET },
	{ "PackJobId=", KEY_HET }, { "PackJobOffset=", KEY_OFFSET },
};

#define NKEY (sizeof(keys) / sizeof(*keys))

bool filetxt_is(const char *line)
{
	return !strncasecmp(line, "JobId=", 6);
}

/* Index of the key that a word begins with; NKEY: none. */
static size_t filetxt_key_at(const char *s)
{
	size_t k = 0;

	while (k < NKEY && strncasecmp(s, keys[k].word, strlen(keys[k].word)))
		k++;
	return k;
}

/* Cuts the line into values; a key that comes twice counts once, as it came first. */
static void filetxt_split(char *value[], char *line)
{
	for (char *s = line; s; s = strchr(s, ' ')) {
		size_t k;

		if (s != line)
			*s++ = '\0';
		k = filetxt_key_at(s);
		if (k < NKEY && keys[k].key >= 0 && !value[keys[k].key])
			value[keys[k].key] = s + strlen(keys[k].word);
		else if (k == NKEY && s != line)
			s[-1] = ' '; /* goes on */
	}
}

static uint32_t filetxt_number(const char *text)
{
	unsigned long v = text ? strtoul(text, NULL, 10) : NO_VALUE;

	return v < NO_VALUE ? (uint32_t)v : NO_VALUE;
}

static void filetxt_component(struct job_record *r, const char *leader, const char *offset)
{
	uint32_t id = filetxt_number(leader), at = filetxt_number(offset);

	if (id && id < NO_VALUE && at < NO_VALUE) {
		r->id = id;
		r->part = 1 + at;
	}
}

int filetxt_line(struct job_lines *x, char *line)
{
	static char none[] = "";
	char *value[KEY_OFFSET + 1] = { NULL };
	struct job_record r = { 0 };
	const char *id;
	int rc;

	filetxt_split(value, line);
	id = value[KEY_ID] ? value[KEY_ID] : none;
	if (!job_line_scan_id(&r, &id) || *id)
		return job_line_mistake(x, "not a job id", value[KEY_ID] ? value[KEY_ID] : none);
	if (!value[KEY_NODES] || !value[KEY_START] || !value[KEY_END])
		return job_line_mistake(x, "StartTime=, EndTime= and NodeList= are expected", line);
	filetxt_component(&r, value[KEY_HET], value[KEY_OFFSET]);
	rc = job_line_time(&r.start_s, x, value[KEY_START]);
	if (!rc)
		rc = job_line_time(&r.end_s, x, value[KEY_END]);
	if (rc)
		return rc;
	r.name = value[KEY_NAME] ? value[KEY_NAME] : none;
	r.user = value[KEY_USER] ? value[KEY_USER] : none;
	r.user[strcspn(r.user, "(")] = '\0'; /* anna(1000) */
	r.nodes = value[KEY_NODES];
	return job_line_add(x, &r);
}
