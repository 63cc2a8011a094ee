/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of services at the SM: what others see of this port. */
#include "fabric/wire/sa.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <string.h>

#define GID_PREFIX 0xfe80000000000000ull /* of a subnet that has no other (4.1.1) */

static int wire_service_failed(int rc, const struct queue_answer *a, struct err *err)
{
	if (rc != -EPROTO)
		return err_set(err, rc, "the subnet manager: %s", wire_rc_text(rc));
	if (a->status == SA_NO_RECORDS)
		return err_set(err, -ENOENT, "the subnet manager has no such record");
	if (a->status == SA_TOO_MANY_RECORDS)
		return err_set(err, -ENOTUNIQ, "the subnet manager has several such records");
	return err_set(err, -EOPNOTSUPP, "the subnet manager keeps no records of services: %s",
		       sa_status_text(a->status));
}

static int wire_service_ask(uint8_t *data, struct wire *w, uint8_t method,
			    const struct service_record *r, uint64_t mask, struct err *err)
{
	struct mad_request q = { .mgmt_class = MAD_SA,
				 .method = method,
				 .attr = SA_SERVICE_RECORD,
				 .comp_mask = mask,
				 .sa = data };
	struct queue_answer a;
	struct wire_sm sm;
	int rc = wire_sm_info(&sm, w, err);

	if (rc)
		return rc;
	service_record_encode(data, r);
	q.lid = sm.lid;
	q.sl = sm.sl;
	rc = queue_ask(&a, w->queue, &q, NULL, "ask", err);
	memcpy(data, a.data, SA_DATA);
	return rc ? wire_service_failed(rc, &a, err) : 0;
}

static struct service_record wire_service_own(struct wire *w, const struct service_record *r)
{
	struct service_record own = *r;
	struct mad_local local;

	wire_local(w, &local);
	if (own.gid_guid)
		return own;
	own.gid_prefix = GID_PREFIX;
	own.gid_guid = local.port_guid;
	return own;
}

int wire_service_set(struct wire *w, const struct service_record *r, struct err *err)
{
	struct service_record own = wire_service_own(w, r);
	uint8_t data[SA_DATA];

	return wire_service_ask(data, w, MAD_SET, &own,
				SERVICE_BY_ID | SERVICE_BY_GID | SERVICE_BY_LEASE |
					SERVICE_BY_NAME | SERVICE_ALL_DATA,
				err);
}

int wire_service_remove(struct wire *w, const struct service_record *r, struct err *err)
{
	struct service_record own = wire_service_own(w, r);
	uint8_t data[SA_DATA];

	return wire_service_ask(data, w, MAD_DELETE, &own, SERVICE_BY_ID | SERVICE_BY_GID, err);
}

int wire_service_find(struct service_record *out, struct wire *w, const struct service_record *r,
		      uint64_t mask, struct err *err)
{
	struct service_record like = mask & SERVICE_BY_GID ? wire_service_own(w, r) : *r;
	uint8_t data[SA_DATA];
	int rc = wire_service_ask(data, w, MAD_GET, &like, mask, err);

	if (!rc)
		service_record_decode(out, data);
	return rc;
}
