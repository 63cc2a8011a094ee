/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app_kit: the whole console without a terminal: threads, demo, keys in, text of the canvas out. */
#pragma once

#include "console/app/app_priv.h"

/* A demo (spec), or a dump or snapshot (load); the other is NULL. */
struct app *app_kit_open(const char *spec, const char *load, int w, int h);
/* The same of any options; recorded where they have a folder for that. */
struct app *app_kit_open_opts(const struct app_opts *o, int w, int h);
/* The same, while what it begins with is still being read. */
struct app *app_kit_begin(const struct app_opts *o, int w, int h);
void app_kit_size(struct app *a, int w, int h);
/* Takes what the threads report for so long. */
void app_kit_run(struct app *a, double seconds);
/* Until samples are there, with rates and figures; false after 240 s. */
bool app_kit_ready(struct app *a, uint32_t samples);
void app_kit_keys(struct app *a, const char *keys);
/* Draws; the caller frees. */
char *app_kit_screen(struct app *a);
