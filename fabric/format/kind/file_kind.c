/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/kind/file_kind.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool file_kind_begins(const char *head, const char *with)
{
	return !strncmp(head, with, strlen(with));
}

/* "0x0001000000000000 2 0": source, LID, SL */
static bool file_kind_is_path_sls(const char *head)
{
	unsigned lid, sl;
	uint64_t guid;
	int n = 0;

	return sscanf(head, "0x%16" SCNx64 " %5u %2u%n", &guid, &lid, &sl, &n) == 3 && n > 0 &&
	       strchr("\r\n", head[n]);
}

enum file_kind file_kind_of(const char *head)
{
	if (file_kind_begins(head, "{\"schema\":\"ibroute-top plan/"))
		return FILE_PLAN;
	/* OpenSM's SL2VL tables begin as its forwarding tables do */
	if (strstr(head, "#in out"))
		return FILE_SL2VL;
	if (file_kind_begins(head, "IBROUTE\n") || strstr(head, "Unicast lids [") ||
	    strstr(head, "dump_ucast_routes:") || strstr(head, ": Port : Hops"))
		return FILE_LFTS;
	if (strstr(head, "Multicast mlids [") || strstr(head, "Out Port(s)"))
		return FILE_MFTS;
	if (file_kind_is_path_sls(head))
		return FILE_PATH_SLS;
	if (file_kind_begins(head, "JobID|"))
		return FILE_JOBS;
	return FILE_UNKNOWN;
}

const char *file_kind_text(enum file_kind kind)
{
	static const char *const text[] = {
		[FILE_LFTS] = "forwarding tables, which --lfts reads",
		[FILE_SL2VL] = "SL2VL tables, which --sl2vl reads",
		[FILE_PATH_SLS] = "service levels of paths, which --path-sl reads",
		[FILE_MFTS] = "multicast tables, which --mfts reads",
		[FILE_PLAN] = "a plan, which show and apply read",
		[FILE_JOBS] = "jobs, which --jobs reads",
	};

	return text[kind];
}
