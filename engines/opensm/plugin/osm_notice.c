/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_notice.h"

#include "fabric/base/memory/mem.h"
#include "fabric/update/protocol/phase_seal.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_inform.h>
#include <opensm/osm_opensm.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static int osm_notice_seal(ib_mad_notice_attr_t *n, const struct site_keys *keys, struct err *err)
{
	uint8_t d[NOTICE_SA_DATA];
	struct notice ours;
	int rc;

	memcpy(d, n, sizeof(d));
	rc = notice_decode(&ours, d, sizeof(d));
	if (!rc)
		rc = phase_seal_put(&ours, ours.issuer_guid, keys);
	if (rc)
		return err_set(err, rc, "the plugin's key cannot sign notices");
	notice_encode(d, sizeof(d), &ours);
	memcpy(n, d, sizeof(*n));
	return 0;
}

int osm_notice_report(struct osm_opensm *osm, const uint8_t d[NOTICE_SA_DATA],
		      const struct site_keys *keys, struct err *err)
{
	osm_subn_t *subn = &osm->subn;
	ib_mad_notice_attr_t n;

	_Static_assert(sizeof(n) == NOTICE_SA_DATA, "a Notice with the GID of its issuer");
	if (!subn->sm_base_lid)
		return err_set(err, -ENODEV, "OpenSM has no LID yet; it cannot send notices");
	memcpy(&n, d, sizeof(n));
	n.issuer_lid = subn->sm_base_lid;
	n.issuer_gid.unicast.prefix = subn->opt.subnet_prefix;
	n.issuer_gid.unicast.interface_id = subn->sm_port_guid;
	if (keys && osm_notice_seal(&n, keys, err))
		return -EIO;
	if (osm_report_notice(&osm->log, subn, &n) != IB_SUCCESS)
		return err_set(err, -EIO, "OpenSM could not send the notice to its subscribers");
	return 0;
}

static bool osm_notice_listens(const osm_infr_t *r, uint16_t trap)
{
	const ib_inform_info_t *i = &r->inform_record.inform_info;

	return i->is_generic && (i->g_or_v.generic.trap_num == 0xffff ||
				 cl_ntoh16(i->g_or_v.generic.trap_num) == trap);
}

void osm_notice_listeners(struct osm_opensm *osm, uint16_t trap, uint64_t **guid, uint32_t *n)
{
	cl_qlist_t *list = &osm->subn.sa_infr_list;

	*n = 0;
	*guid = xcalloc(cl_qlist_count(list), sizeof(**guid));
	for (cl_list_item_t *i = cl_qlist_head(list); i != cl_qlist_end(list);
	     i = cl_qlist_next(i)) {
		const osm_infr_t *r = (const osm_infr_t *)i;

		if (osm_notice_listens(r, trap))
			(*guid)[(*n)++] =
				cl_ntoh64(r->inform_record.subscriber_gid.unicast.interface_id);
	}
}
