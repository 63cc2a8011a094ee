/* SPDX-License-Identifier: GPL-2.0-or-later */
/* temp_folder: a folder of files for one test program. */
#pragma once

#include <stdio.h>

/* Makes it; path ends in XXXXXX and must live until temp_folder_end(), which removes it. */
void temp_folder_begin(char *path);
void temp_folder_end(void);

char *temp_folder_file(const char *name); /* its path; the caller frees it */
FILE *temp_folder_open(const char *name, const char *mode);
void temp_folder_put(const char *name, const char *text);
