/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_kind: what a file is that was given for something else, for the sentence that refuses it. */
#pragma once

enum file_kind {
	FILE_UNKNOWN, /* a fabric among them, whose forms its reader tells apart */
	FILE_LFTS,
	FILE_SL2VL,
	FILE_PATH_SLS,
	FILE_MFTS,
	FILE_PLAN,
	FILE_JOBS,
};

/* head: its first bytes, as of struct input_file. */
enum file_kind file_kind_of(const char *head);

/* "forwarding tables, which --lfts reads"; NULL for FILE_UNKNOWN. */
const char *file_kind_text(enum file_kind kind);
