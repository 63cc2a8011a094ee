/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_cmd: what the verbs of 'ibroute-top audit' share.  Each returns an exit code. */
#pragma once

#include "console/record/audit/audit.h"
#include "console/record/audit/record_prune.h"

#include <stdbool.h>
#include <stdint.h>

enum audit_format { AUDIT_MARKDOWN, AUDIT_HTML };

struct audit_options {
	char *verb;
	char **names; /* behind it */
	int n;
	const char *record_dir; /* where no directory is named; NULL: see record_dir() */
	bool json;
	bool shell; /* verify: print the check instead */
	const char *heads, *key;
	double speed;	       /* replay */
	const char *at, *dump; /* replay: places */
	const char *report;    /* export: id of an update */
	bool script, v3, tlog; /* export: other formats of a cast */
	const char *out;       /* export: NULL is stdout */
	enum audit_format format;
	struct record_keep keep; /* prune */
	const char *state_dir;	 /* prune: of the journals; NULL: the default */
	bool dry_run;
};

/* The check that needs no program of ours: sh, sed, sha256sum, cut. */
extern const char audit_shell_check[];

int audit_cmd_verify(const struct audit_options *o);
int audit_cmd_list(const struct audit_options *o);
int audit_cmd_prune(const struct audit_options *o);
int audit_cmd_seal(const struct audit_options *o);
int audit_cmd_replay(const struct audit_options *o);
int audit_cmd_export(const struct audit_options *o);
