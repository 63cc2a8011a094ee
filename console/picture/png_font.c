/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/png_font.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#define FONTS "/usr/share/fonts/"

/* Of Debian and Ubuntu, Fedora and RHEL, SUSE, Arch; those first that have the most signs. */
static const struct {
	const char *regular, *bold;
} places[] = {
	{ FONTS "truetype/dejavu/DejaVuSansMono.ttf",
	  FONTS "truetype/dejavu/DejaVuSansMono-Bold.ttf" },
	{ FONTS "dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
	  FONTS "dejavu-sans-mono-fonts/DejaVuSansMono-Bold.ttf" },
	{ FONTS "dejavu/DejaVuSansMono.ttf", FONTS "dejavu/DejaVuSansMono-Bold.ttf" },
	{ FONTS "truetype/DejaVuSansMono.ttf", FONTS "truetype/DejaVuSansMono-Bold.ttf" },
	{ FONTS "TTF/DejaVuSansMono.ttf", FONTS "TTF/DejaVuSansMono-Bold.ttf" },
	{ FONTS "truetype/liberation/LiberationMono-Regular.ttf",
	  FONTS "truetype/liberation/LiberationMono-Bold.ttf" },
	{ FONTS "truetype/liberation2/LiberationMono-Regular.ttf",
	  FONTS "truetype/liberation2/LiberationMono-Bold.ttf" },
	{ FONTS "liberation-mono-fonts/LiberationMono-Regular.ttf",
	  FONTS "liberation-mono-fonts/LiberationMono-Bold.ttf" },
	{ FONTS "liberation-mono/LiberationMono-Regular.ttf",
	  FONTS "liberation-mono/LiberationMono-Bold.ttf" },
	{ FONTS "liberation/LiberationMono-Regular.ttf",
	  FONTS "liberation/LiberationMono-Bold.ttf" },
	{ FONTS "truetype/noto/NotoSansMono-Regular.ttf",
	  FONTS "truetype/noto/NotoSansMono-Bold.ttf" },
	{ FONTS "truetype/freefont/FreeMono.ttf", FONTS "truetype/freefont/FreeMonoBold.ttf" },
	{ FONTS "X11/misc/ter-u16n_unicode.pcf.gz", FONTS "X11/misc/ter-u16b_unicode.pcf.gz" },
};

/* A pipe or a device would be waited for. */
static FILE *png_font_file(const char *path)
{
	struct stat st;
	FILE *f;

	if (stat(path, &st))
		return NULL;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return NULL;
	}
	f = fopen(path, "re");
	return f;
}

static int png_font_open_named(struct png_font *out, const char *path, struct err *err)
{
	snprintf(out->path, sizeof(out->path), "%s", path);
	out->regular = png_font_file(path);
	if (out->regular)
		return 0;
	return err_set(err, -errno, "font %s cannot be read: %s", path, strerror(errno));
}

int png_font_open(struct png_font *out, const char *path, struct err *err)
{
	*out = (struct png_font){ .path = "" };
	if (path && *path)
		return png_font_open_named(out, path, err);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		out->regular = png_font_file(places[i].regular);
		if (!out->regular)
			continue;
		out->bold = png_font_file(places[i].bold);
		snprintf(out->path, sizeof(out->path), "%s", places[i].regular);
		return 0;
	}
	return err_set(err, -ENOENT,
		       "no monospaced font was found: install fonts-dejavu-core "
		       "(dejavu-sans-mono-fonts), or name one by --png-font FILE");
}

void png_font_close(struct png_font *f)
{
	if (f->regular)
		fclose(f->regular);
	if (f->bold)
		fclose(f->bold);
	f->regular = f->bold = NULL;
}
