/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_install: the installer that writes files instead of switches, to be handed over.
 *
 * Into a folder: tables.ibr (for our plugin), opensm-lfts.dump (for "opensm -R file -U"),
 * opensm-sl2vl.dump and path-sl.dump.  Each is whole or as it was.  What is read back comes from
 * the files, tables.ibr and opensm-lfts.dump, which have to agree.
 */
#pragma once

#include "fabric/update/installer/installer.h"

struct file_install;

/* Makes the folder and writes the present tables into it. */
int file_install_new(struct file_install **out, const char *dir, const struct fabric *f,
		     const struct tables *from, const struct tables *to, struct err *err);
void file_install_free(struct file_install *i); /* NULL is fine */
struct installer file_installer(struct file_install *i);
