/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/packets_installer.h"
#include "tests/unit/kit/packets_drive.h"

#include <errno.h>

static void packets_installer_write_one(struct packets *p, const struct install_item *item)
{
	uint8_t vl[FAB_SLS];

	if (item->kind == CHANGE_LFT) {
		packets_set_lft_block(p, item->sw, item->block, item->data);
		return;
	}
	for (uint32_t sl = 0; sl < FAB_SLS; sl++)
		vl[sl] = sl % 2 ? item->data[sl / 2] & 15 : item->data[sl / 2] >> 4;
	packets_set_sl2vl(p, item->sw, item->in, item->out, vl);
}

static void packets_installer_read_one(const struct packets *p, struct install_item *item)
{
	uint8_t vl[FAB_SLS];

	if (item->kind == CHANGE_LFT) {
		packets_get_lft_block(p, item->sw, item->block, item->data);
		return;
	}
	packets_get_sl2vl(p, item->sw, item->in, item->out, vl);
	for (uint32_t i = 0; i < CHANGE_SL2VL_BYTES; i++)
		item->data[i] = (uint8_t)(vl[2 * i] << 4 | vl[2 * i + 1]);
}

static int packets_installer_all(struct packets_installer *in, struct install_item *items,
				 uint32_t n, bool write, struct progress *progress, struct err *err)
{
	bool cancelled = false;

	for (uint32_t i = 0; i < n; i++) {
		cancelled = cancelled || progress_step(progress, write ? "write" : "read", i, n);
		items[i].rc = cancelled ? -ECANCELED : 0;
		items[i].us = (uint32_t)(in->item_ns / 1000);
		if (cancelled)
			continue;
		packets_run(in->p, packets_now_ns(in->p) + in->item_ns);
		if (write)
			packets_installer_write_one(in->p, &items[i]);
		else
			packets_installer_read_one(in->p, &items[i]);
	}
	return cancelled ? err_set(err, -ECANCELED, "cancelled") : 0;
}

static int packets_installer_write_items(void *ctx, const struct fabric *f,
					 struct install_item *items, uint32_t n,
					 struct progress *progress, struct err *err)
{
	(void)f;
	return packets_installer_all(ctx, items, n, true, progress, err);
}

static int packets_installer_read_items(void *ctx, const struct fabric *f,
					struct install_item *items, uint32_t n,
					struct progress *progress, struct err *err)
{
	(void)f;
	return packets_installer_all(ctx, items, n, false, progress, err);
}

static const struct installer_ops ops = {
	.name = "packets",
	.write = packets_installer_write_items,
	.read = packets_installer_read_items,
};

struct installer packets_installer(struct packets_installer *ctx)
{
	return (struct installer){ &ops, ctx };
}
