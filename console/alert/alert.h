/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alert: one thing that happened to a fabric, for whoever is not looking at a screen. */
#pragma once

#include "fabric/base/message/log.h"

#include <jansson.h>
#include <stdint.h>

enum alert_state {
	ALERT_EVENT,  /* it happened */
	ALERT_RAISED, /* it is so from now on, until it is cleared */
	ALERT_CLEARED
};

/* Texts are plain, "" where there is nothing to say. */
struct alert {
	uint64_t time_ns; /* CLOCK_REALTIME */
	enum log_level level;
	enum alert_state state;
	char kind[16];	   /* of a finding ("gone"), or "event", "dropped" */
	char what[24];	   /* "cable"; of an event the part of the program */
	char subject[200]; /* "leaf1/17 - spine4/3" */
	char before[100], after[100];
	char fabric[100];
	char text[300]; /* a sentence */
};

/* An all-zero one with the time of now; the text is cut to what there is room for. */
void alert_make(struct alert *a, enum log_level level, const char *kind, const char *what,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* "event", "raised", "cleared". */
const char *alert_state_name(enum alert_state s);
/* Its texts by name, ended by NULL. */
struct alert_field {
	const char *name, *value;
};
#define ALERT_FIELDS 11
void alert_fields(struct alert_field out[ALERT_FIELDS], char time[40], const struct alert *a);
/* An object of all of them, with the schema. */
json_t *alert_json(const struct alert *a);
