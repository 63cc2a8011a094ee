/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confirm_prompt: the one question that lets something be written: type the name of the fabric. */
#pragma once

enum answer {
	ANSWER_YES, /* exactly that name */
	ANSWER_NO,  /* something else, or the end of the input */
	ANSWER_TIMEOUT,
	ANSWER_SIGNAL /* a signal handler has run */
};

/* Can anybody be asked (terminal on stdin and stderr)? */
int confirm_prompt_possible(void);
/* Prompts on stderr and waits at most timeout_s (0: for ever). */
enum answer confirm_prompt_name(const char *prompt, const char *name, unsigned timeout_s);
