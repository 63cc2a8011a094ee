/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/switch_links_ibr.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/section_ibr.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	AT_NSW = SECTION_IBR_OWN,
	AT_NLINK = 20,
	SWITCH_BYTES = 8 + 1,
	LINK_BYTES = 2 * (4 + 1),
	LINKS_MAX = FAB_MAX_LID * 128,
};

static const struct section_ibr section = {
	.magic = "IBRLINK\n",
	.version = 1,
	.header_bytes = SWITCH_LINKS_IBR_HEADER,
	.noun = "switches",
	.absent = "does not say which switches there were",
	.behind = "the end ports",
};

static size_t switch_links_ibr_bytes(uint32_t nsw, uint32_t nlink)
{
	return (size_t)nsw * SWITCH_BYTES + (size_t)nlink * LINK_BYTES;
}

static uint8_t *switch_links_ibr_body(const struct switch_links *s)
{
	uint8_t *body = xcalloc(switch_links_ibr_bytes(s->nsw, s->nlink) + 1, 1), *p = body;

	for (uint32_t sw = 0; sw < s->nsw; sw++) {
		p = section_ibr_put(p, s->guid[sw], 8);
		p = section_ibr_put(p, s->nports[sw], 1);
	}
	for (const struct switch_link *l = s->link; l < s->link + s->nlink; l++) {
		p = section_ibr_put(p, l->sw, 4);
		p = section_ibr_put(p, l->port, 1);
		p = section_ibr_put(p, l->to, 4);
		p = section_ibr_put(p, l->to_port, 1);
	}
	return body;
}

void switch_links_ibr_encode(uint8_t **buf, size_t *len, const struct switch_links *s)
{
	uint8_t h[SWITCH_LINKS_IBR_HEADER] = { 0 };

	le_put32(h + AT_NSW, s->nsw);
	le_put32(h + AT_NLINK, s->nlink);
	section_ibr_seal(buf, len, &section, h, switch_links_ibr_body(s),
			 switch_links_ibr_bytes(s->nsw, s->nlink));
}

uint32_t switch_links_ibr_rest(const uint8_t header[SWITCH_LINKS_IBR_HEADER])
{
	return section_ibr_rest(&section, header);
}

static bool switch_links_ibr_port_is(const struct switch_links *s, uint32_t sw, uint8_t port)
{
	return sw < s->nsw && port && port <= s->nports[sw];
}

static bool switch_links_ibr_sound(const struct switch_links *s)
{
	for (uint32_t sw = 0; sw < s->nsw; sw++)
		if (s->nports[sw] > FAB_MAX_PORT || (sw && s->guid[sw] <= s->guid[sw - 1]))
			return false;
	for (const struct switch_link *l = s->link; l < s->link + s->nlink; l++)
		if (!switch_links_ibr_port_is(s, l->sw, l->port) ||
		    !switch_links_ibr_port_is(s, l->to, l->to_port))
			return false;
	return true;
}

static bool switch_links_ibr_unpack(struct switch_links *s, const uint8_t *buf)
{
	uint8_t *body = section_ibr_unpack(&section, buf, switch_links_ibr_bytes(s->nsw, s->nlink));
	const uint8_t *p = body;

	if (!body)
		return false;
	for (uint32_t sw = 0; sw < s->nsw; sw++) {
		s->guid[sw] = section_ibr_get(&p, 8);
		s->nports[sw] = (uint8_t)section_ibr_get(&p, 1);
	}
	for (uint32_t i = 0; i < s->nlink; i++) {
		s->link[i].sw = (uint32_t)section_ibr_get(&p, 4);
		s->link[i].port = (uint8_t)section_ibr_get(&p, 1);
		s->link[i].to = (uint32_t)section_ibr_get(&p, 4);
		s->link[i].to_port = (uint8_t)section_ibr_get(&p, 1);
	}
	free(body);
	return switch_links_ibr_sound(s);
}

int switch_links_ibr_decode(struct switch_links **out, const uint8_t *buf, size_t len,
			    const char *what, struct err *err)
{
	struct switch_links *s;
	int rc = section_ibr_check(&section, buf, len, what, err);

	*out = NULL;
	if (rc)
		return rc;
	if (le_get32(buf + AT_NSW) > FAB_MAX_LID || le_get32(buf + AT_NLINK) > LINKS_MAX)
		return section_ibr_refuse(&section, what, err);
	s = switch_links_new(le_get32(buf + AT_NSW), le_get32(buf + AT_NLINK));
	if (!switch_links_ibr_unpack(s, buf)) {
		switch_links_free(s);
		return section_ibr_refuse(&section, what, err);
	}
	*out = s;
	return 0;
}
