/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app.h"

#include "console/exits.h"

#include <stdio.h>

int app_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("ibroute-top: this build has no live console\n", stderr);
	return EXIT_BAD_USAGE;
}
