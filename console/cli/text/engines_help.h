/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engines_help: for argp: adds the list of engines to the end of --help. */
#pragma once

char *engines_help(int key, const char *text, void *input);
