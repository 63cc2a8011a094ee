/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app: the live console. */
#ifndef CONSOLE_APP_APP_H
#define CONSOLE_APP_APP_H

/* Runs it until the operator quits; returns the exit code. */
int app_main(int argc, char **argv);

#endif
