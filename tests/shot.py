#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""shot.py OUT.png < screen: draws what 'tmux capture-pane -e -p' printed, with its colours."""
import re
import sys

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf"
SIZE = 15
FG, BG = (212, 212, 212), (18, 18, 18)
BASE = [(0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16), (36, 114, 200), (188, 63, 188),
        (17, 168, 205), (229, 229, 229), (102, 102, 102), (241, 76, 76), (35, 209, 139),
        (245, 245, 67), (59, 142, 234), (214, 112, 214), (41, 184, 219), (255, 255, 255)]


def xterm(n):
    if n < 16:
        return BASE[n]
    if n >= 232:
        return (8 + (n - 232) * 10,) * 3
    n -= 16
    return tuple(0 if v == 0 else 55 + 40 * v for v in (n // 36, n // 6 % 6, n % 6))


class Pen:
    def __init__(self):
        self.reset()

    def reset(self):
        self.fg, self.bg, self.bold, self.reverse = None, None, False, False

    def sgr(self, codes):
        codes = [int(c or 0) for c in codes.split(";")]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.reset()
            elif c == 1:
                self.bold = True
            elif c == 22:
                self.bold = False
            elif c == 7:
                self.reverse = True
            elif c == 27:
                self.reverse = False
            elif c in (38, 48):
                kind = codes.pop(0)
                colour = xterm(codes.pop(0)) if kind == 5 else tuple(codes.pop(0) for _ in range(3))
                if c == 38:
                    self.fg = colour
                else:
                    self.bg = colour
            elif c == 39:
                self.fg = None
            elif c == 49:
                self.bg = None
            elif 30 <= c <= 37:
                self.fg = BASE[c - 30]
            elif 40 <= c <= 47:
                self.bg = BASE[c - 40]
            elif 90 <= c <= 97:
                self.fg = BASE[c - 82]
            elif 100 <= c <= 107:
                self.bg = BASE[c - 92]

    def colours(self):
        fg, bg = self.fg or FG, self.bg or BG
        return (bg, fg) if self.reverse else (fg, bg)


def cells(line, pen):
    for part in re.split(r"(\x1b\[[0-9;]*m|\x1b[()][A-Z0-9]|\x0e|\x0f)", line):
        m = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if m:
            pen.sgr(m.group(1))
        elif not part.startswith("\x1b") and part not in ("\x0e", "\x0f"):
            for ch in part:
                yield ch, pen.colours(), pen.bold


def braille(draw, at, cw, ch, dots, colour):
    """The font has no Braille: dots 1 2 3 7 on the left, 4 5 6 8 on the right."""
    for bit, (col, row) in enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))):
        if dots >> bit & 1:
            x, y = at[0] + (col + 0.5) * cw / 2, at[1] + (row + 0.5) * ch / 4
            draw.ellipse((x - 1.2, y - 1.2, x + 1.2, y + 1.2), fill=colour)


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    fonts = [ImageFont.truetype(FONT % s, SIZE) for s in ("", "-Bold")]
    cw, ch = round(fonts[0].getlength("M")), SIZE + 4
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", l) for l in lines]
    width = max(int(sys.argv[2]) if len(sys.argv) > 2 else 0, max(map(len, plain)))
    img = Image.new("RGB", (width * cw + 8, len(lines) * ch + 8), BG)
    draw, pen = ImageDraw.Draw(img), Pen()
    for y, line in enumerate(lines):
        for x, (c, (fg, bg), bold) in enumerate(cells(line, pen)):
            at = (4 + x * cw, 4 + y * ch)
            if bg != BG:
                draw.rectangle((*at, at[0] + cw - 1, at[1] + ch - 1), fill=bg)
            if 0x2800 <= ord(c) <= 0x28ff:
                braille(draw, at, cw, ch, ord(c) - 0x2800, fg)
            elif c != " ":
                draw.text(at, c, font=fonts[bold], fill=fg)
    img.quantize(64).save(sys.argv[1], optimize=True)


main()
