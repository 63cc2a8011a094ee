/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/frame/taken.h"

#include "console/session/samples/sample_code.h"
#include "console/session/samples/sample_columns.h"
#include "fabric/model/tables/tables_bytes.h"
#include "fabric/model/topology/bytes/fabric_bytes.h"

#include <errno.h>
#include <string.h>

void taken_fabric_done(struct taken_fabric *f)
{
	fabric_shape_put(f->shape);
	fabric_put(f->fabric);
	*f = (struct taken_fabric){ 0 };
}

void taken_tables_done(struct taken_tables *t)
{
	tables_put(t->tables);
	*t = (struct taken_tables){ 0 };
}

static bool taken_same_fabric(const struct taken_fabric *f, const struct digest *of)
{
	return f && f->fabric && digest_equal(&f->of, of);
}

int taken_fabric(struct taken_fabric *f, const struct taken_fabric *like,
		 const struct taken_racks *racks, struct bytes_in *in, struct err *err)
{
	struct fabric *made;
	struct digest of;
	int rc;

	digest_of(&of, in->at, in->left);
	if (taken_same_fabric(f, &of))
		return 0;
	if (taken_same_fabric(like, &of)) {
		taken_fabric_done(f);
		f->fabric = fabric_get(like->fabric);
		f->shape = fabric_shape_get(like->shape);
		f->of = of;
		return 0;
	}
	rc = fabric_bytes_take(&made, in, err);
	if (rc)
		return rc;
	taken_fabric_done(f);
	f->fabric = made;
	f->shape = fabric_shape_new(made, racks->racks, racks->path);
	f->of = of;
	return 0;
}

static int taken_is_of(const struct fabric *f, struct bytes_in *in)
{
	struct digest of;

	bytes_take(in, &of, sizeof(of));
	if (in->bad)
		return -EPROTO;
	return f && digest_equal(&of, &f->fingerprint) ? 0 : -ESTALE;
}

static bool taken_same_tables(const struct taken_tables *t, const struct digest *of)
{
	return t && t->tables && digest_equal(&t->of, of);
}

int taken_tables(struct taken_tables *t, const struct taken_tables *like, const struct fabric *f,
		 bool weighted, struct bytes_in *in)
{
	struct tables *made = NULL;
	struct digest of;
	int rc;

	digest_of(&of, in->at, in->left);
	rc = taken_is_of(f, in);
	if (rc || taken_same_tables(t, &of))
		return rc;
	if (taken_same_tables(like, &of)) {
		tables_put(t->tables);
		t->tables = tables_get(like->tables);
		t->of = of;
		return 0;
	}
	rc = tables_bytes_take(&made, in, f);
	if (!rc && weighted) {
		tables_weighted_form(made, f);
		bytes_take(in, made->weighted, f->nport * sizeof(*made->weighted));
	}
	if (!rc && in->bad)
		rc = -EPROTO;
	if (rc) {
		tables_put(made);
		return rc;
	}
	/* whose they are goes with them: from switches, with what OpenSM has told */
	tables_put(t->tables);
	t->tables = made;
	t->of = of;
	return 0;
}

int taken_sample(struct sample **out, const struct fabric *f, const struct sample *base,
		 struct bytes_in *in)
{
	int rc = taken_is_of(f, in);

	*out = NULL;
	if (rc)
		return rc;
	if (!sample_columns_are(in->at, in->left))
		*out = sample_code_decode(f, NULL, in->at, in->left);
	else
		*out = sample_columns_decode(
			f, sample_columns_need_base(in->at, in->left) ? base : NULL, in->at,
			in->left);
	return *out ? 0 : -EPROTO;
}
