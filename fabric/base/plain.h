/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain: text that others wrote, fit to be printed on a terminal and put into JSON.
 *
 * A NodeDescription is whatever the root of some node typed, and a message quotes the line of a
 * file that may be anything: neither may move the cursor of who reads it.
 */
#ifndef FABRIC_BASE_PLAIN_H
#define FABRIC_BASE_PLAIN_H

/* In place and of the same length: control characters (C0, DEL, C1) other than those in keep, and
 * bytes that are no UTF-8, become '?'.  Returns text. */
char *plain_text(char *text, const char *keep);

#endif
