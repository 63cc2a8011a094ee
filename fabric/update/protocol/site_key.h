/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_key: the keys of a site, by which coordinators and agents know each other's notices.
 *
 * A file that only its owner can read, root's or this user's, with a key a line; several during a
 * rotation: the first one signs, all of them are believed.  Lines:
 *
 *	HEX			64 digits: the key of the site
 *	node GUID HEX HEX	what site_key_node() made of it for the node with that port:
 *				signs its answers only, and believes questions
 *	issuer GUID		questions are believed of this port, and of others named so;
 *				where none is, of whoever has a key
 *
 * Empty ones and those that begin with # are comments.  Two keys come of that of the site by
 * HMAC-SHA256: one of all questions, and one of the answers of each port.
 *
 * One thread.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITE_KEY_PRESET IBROUTE_ETC "/agents.key"
#define SITE_KEY_NONE	"agents have no key: root of any node can forge what they are told"
#define SITE_KEYS_MAX	 16
#define SITE_ISSUERS_MAX 32
#define SITE_KEY_MAC	16 /* bytes: a truncated HMAC-SHA256 */

struct site_keys;

/* *out NULL and 0: there is none, which is fine where path is NULL (SITE_KEY_PRESET, if it is there
 * and this user may read it) and when it is "none".  -ENOENT, -EACCES: not there, or others may
 * read it as well; -EINVAL: no keys, with the line. */
int site_keys_load(struct site_keys **out, const char *path, struct err *err);
void site_keys_free(struct site_keys *k); /* NULL is fine */
/* Reads the file again if it is another one by now: 1.  A damaged one is an error, and the keys of
 * before stay. */
int site_keys_refresh(struct site_keys *k, struct err *err);

/* Of the key that signs: 4 hexadecimal digits as people are shown it; never 0. */
uint16_t site_keys_id(const struct site_keys *k);
/* What it is about.  guid: of the port that answers; 0: a question. */
struct site_key_subject {
	uint64_t guid;
	const void *data;
	size_t len;
};

/* Signs with the first key; -ENOKEY: it cannot sign for that port. */
int site_keys_sign(uint16_t *id, uint8_t mac[SITE_KEY_MAC], const struct site_keys *k,
		   const struct site_key_subject *s);
/* 0; -ENOKEY: no key of that number, or none for that; -EKEYREJECTED: not by this key. */
int site_keys_check(const struct site_keys *k, uint16_t id, const uint8_t mac[SITE_KEY_MAC],
		    const struct site_key_subject *s);

/* May that port ask, as far as the file says?  0: one that it does not name. */
bool site_keys_may_ask(const struct site_keys *k, uint64_t guid);

/* A new file with a new key, mode 0600.  -EEXIST. */
int site_key_new(const char *path, struct err *err);
/* The line of a node for the first key; the caller frees.  -ENOKEY: the file has none of a site. */
int site_key_node(char **out, const struct site_keys *k, uint64_t guid, struct err *err);
