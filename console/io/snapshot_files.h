/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot_files: what a folder for --load holds beside the screen, all of it but the fabric
 * optional: texts for all kinds of tools, and what these cannot hold.
 */
#pragma once

#define SNAPSHOT_FABRIC	 "fabric.ibnetdiscover"
#define SNAPSHOT_LFTS	 "opensm-lfts.dump" /* of earlier versions */
#define SNAPSHOT_TABLES	 "tables.ibr"
#define SNAPSHOT_JOBS	 "jobs"
#define SNAPSHOT_LIST	 "jobs.json"
#define SNAPSHOT_STATE	 "state.json"
#define SNAPSHOT_EVENTS	 "events.jsonl"
#define SNAPSHOT_HISTORY "history.ibr"
#define SNAPSHOT_RACKS	 "racks"
#define SNAPSHOT_NAMES	 "node-name-map"
