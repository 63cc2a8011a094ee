/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_choice: keys that users choose for actions: key.NAME = KEY in the configuration file and
 * with --set.  An action is what a row of the keymap does; it is called as its command is.
 *
 * What is chosen replaces all keys of the action in all views where it has some.  Esc, Enter,
 * Backspace, Ctrl-C and the digits stay with what they do, whatever is chosen, and Y with the
 * answer to questions.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/data/state/request.h"

#include <stddef.h>

#define KEY_SETTING "key." /* settings of keys begin so */

struct key_action {
	const char *name; /* "sort" */
	char setting[24]; /* "key.sort" */
	char keys[48];	  /* by default, as they would be chosen; "" none but those that stay */
	const char *help;
};

/* In the order of the keymap, each once. */
#define KEY_ACTIONS_MAX 128
const struct key_action *key_action_all(size_t *n);

struct key_choice {
	const char *name;  /* of the action */
	const char *keys;  /* "x F7", at most BINDING_KEYS; "none" */
	const char *where; /* "file:3"; NULL: the command line */
};

/* Alone, can these be the keys of that action?  -EINVAL: the sentence names the setting. */
int key_choice_fits(const char *name, const char *keys, struct err *err);

/* Together: of several for an action the last counts.  -EINVAL: as above, or two actions of one
 * view have the same key; the sentence begins with where. */
int key_choices_check(const struct key_choice *c, size_t n, struct err *err);
/* The same, and from now on the keymap has them, and else its default keys. */
int key_choices_use(const struct key_choice *c, size_t n, struct err *err);
