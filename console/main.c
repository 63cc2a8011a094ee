/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

int main(void)
{
	fputs("ibroute-top: under construction\n", stderr);
	return 64;
}
