#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""keys_sent.py PROGRAM DIR: what terminals send, on every terminal of ncurses-base at once.

Each has a console of its own, frozen over the simulated fabric.  The sequences for which the help
has no key must leave the screen as it is: its record (.cast) says so, in the same form for every
terminal, though time goes on in it.  Those which the terminal's description has must do
what the help says of their keys.  DIR takes the records; prints what was wrong, or the counts."""
import fcntl
import glob
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PROGRAM, DIR = os.path.abspath(sys.argv[1]), sys.argv[2]
DEMO = ["--demo=fattree2:leaves=6,spines=3,hosts=6", "-d", "60"]
PATIENCE = 10 * float(os.environ.get("PATIENCE", 4))
FAULTS = []

# --- sequences without a key in the help: (who sends it, the bytes) ---------------------------


def modified():
    """Shift, Alt, Ctrl and all three with the keys of a PC, as xterm, tmux, kitty and PuTTY say them."""
    for m in (2, 3, 5, 8):
        for c in "ABCDFHPQRS":
            yield "xterm, tmux, kitty", "\033[1;%d%s" % (m, c)
        for n in (2, 3, 5, 6, 15, 17, 18, 19, 20, 21, 23, 24):
            yield "xterm, tmux, kitty", "\033[%d;%d~" % (n, m)
        yield "xterm of old", "\033O%dD" % m
        yield "xterm, modifyOtherKeys", "\033[27;%d;113~" % m
        yield "kitty", "\033[113;%du" % m
        yield "kitty, repeated", "\033[113:81;%d:2;113u" % m
        yield "kitty, released", "\033[1;%d:3D" % m


def others():
    for c in "ABCD":
        yield "PuTTY, Alt and an arrow", "\033\033[" + c
        yield "PuTTY, the same in the keypad's mode", "\033\033O" + c
    for c in "abcd":
        yield "rxvt, Shift and an arrow", "\033[" + c
        yield "rxvt, Ctrl and an arrow", "\033O" + c
    for n in (3, 5, 6, 7, 8, 11):
        for c in "$^@":
            yield "rxvt, with Shift, Ctrl, both", "\033[%d%s" % (n, c)
    for c in "jklmnopqrstuvwxyXE":
        yield "xterm, PuTTY: the keypad", "\033O" + c
    for n in (23, 24, 25, 26, 28, 29, 31, 32, 33, 34):
        yield "Linux console, tmux, PuTTY: F11 to F20", "\033[%d~" % n
    yield "Linux console, Insert", "\033[2~"
    yield "Linux console, the keypad's 5", "\033[G"
    for c in "FGHI":
        yield "Linux console, no key", "\033[[" + c
    for n in (57358, 57363, 57399, 57414, 57441, 57452):
        yield "kitty, locks, keypad and modifiers", "\033[%du" % n
    for c in "qDARYKZLwxXMNPO[]t013<>:/? \r\t\x7f\x08\x03\x18\xe9":
        yield "Alt and a letter", "\033" + c


def reports():
    yield "focus gained", "\033[I"
    yield "focus lost", "\033[O"
    for text in ("?1;2c", "?62;1;6c", ">0;276;0c", ">84;0;0c", "=00000000c", "0n", "24;80R", "8;24;80t",
                 "4;480;640t", "?2004;1$y", "?12;2$y", "?997;1n", "?1u", "200~\033[201~"):
        yield "an answer", "\033[" + text
    for text in ("\033]11;rgb:0000/0000/0000\033\\", "\033]10;rgb:ffff/ffff/ffff\a", "\033]52;c;cQ==\a",
                 "\033P>|tmux 3.3a\033\\", "\033P1$r0m\033\\", "\033P1+r544e=787465726d\033\\", "\033_Gi=31;OK\033\\"):
        yield "an answer", text
    for text in ("<0;10;5m", "<35;10;5M", "<4;10;5M", "<2;10;5M", "<1;10;5M", "<66;10;5M"):
        yield "the mouse, no press of its first button", "\033[" + text
    yield "the mouse as of old, its second button", "\033[M!*%"


SEQUENCES = [(who, seq.encode()) for part in (modified, others, reports) for who, seq in part()]

# --- keys of the help, by the names of their capabilities; what has to come on the screen -------

# from the last row of the links on; what a terminal's description has not is left out
LAST, FIRST = "\u2500 spine3/6 ->", "\u2500 leaf1/7 ->"
KEYS = (
    ("kcuu1", "\u2500 spine3/5 ->"),
    ("kcud1", LAST),
    ("kpp", r"\u2500 (?!spine3)\w+/\d+ ->"),
    ("knp", LAST),
    ("khome", FIRST),
    ("kend", LAST),
    ("kf1", r"\[\? ?Help"),
    ("kf1", r"\[3 ?Links"),
    ("kf6", "Sort by"),
)


def plain(text):
    """A string of infocmp as the bytes that it stands for."""

    def one(m):
        if m[1]:
            return chr(ord(m[1]) & 0x1F if m[1] != "?" else 0x7F)
        return {"E": "\033", "e": "\033", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "s": " "}.get(
            m[2], chr(int(m[2], 8) & 0xFF) if m[2].isdigit() else m[2])

    return re.sub(r"\^(.)|\\([0-7]{1,3}|.)", one, text).encode("latin-1")


def described():
    """{TERM: {capability: bytes}} of ncurses-base."""
    listed = subprocess.run(["dpkg", "-L", "ncurses-base"], stdout=subprocess.PIPE, check=True, text=True).stdout
    known = {"kcub1", "kcuf1", "kdch1", "kcbt", "kent", "kbs"} | {c for c, _ in KEYS}
    known |= {"kf%d" % n for n in range(1, 11)} | {"kmous"}
    terms = {}
    for path in listed.split():
        term = os.path.basename(path)
        if re.search(r"/terminfo/.?.?/[^/]+$", path) and term != "dumb":  # refused: terminal.sh
            said = subprocess.run(["infocmp", "-1", term], stdout=subprocess.PIPE, check=True, text=True).stdout
            terms[term] = {c: plain(s) for c, s in re.findall(r"^\t(\w+)=(.*),$", said, re.M) if c in known}
    return terms


class Console:
    def __init__(self, term, keys):
        self.term, self.keys, self.sent, self.seen = term, keys, [], []
        self.cast, self.rest, self.begin, self.x, self.y = None, "", 0, 0, 0
        self.screen = [[" "] * 80 for _ in range(24)]
        self.dir = os.path.join(DIR, term)
        os.mkdir(self.dir)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "COLORTERM", "NO_COLOR")}
            env.update(TERM=term, LC_ALL="C.UTF-8")
            args = DEMO + ["--record-dir", self.dir, "--state-dir", os.path.join(self.dir, "state")]
            os.execve(PROGRAM, [PROGRAM] + args, env)

    def send(self, what, data):
        self.sent.append((what, data, time.time()))
        try:
            os.write(self.fd, data)
        except OSError:
            pass  # it has ended: end() says so

    def read(self):
        """Takes what its record has anew: self.screen, and the moments in self.seen where it has changed."""
        if not self.cast:
            found = glob.glob(os.path.join(self.dir, "*.cast"))
            if not found:
                return
            self.cast = open(found[0])
        self.rest += self.cast.read()
        *lines, self.rest = self.rest.split("\n")
        for line in lines:
            event = json.loads(line)
            if isinstance(event, dict):
                self.begin = event["timestamp"]
            elif event[1] == "o":
                self.draw(event[2])
                self.seen.append((self.begin + event[0], "\n".join("".join(row) for row in self.screen)))

    def draw(self, text):
        for part in re.finditer("\033\\[([0-9;?]*)([A-Za-z])|.", text):
            if part[2] == "H":
                self.y, self.x = (int(n) - 1 for n in (part[1] or "1;1").split(";"))
            elif part[2] == "J":
                self.screen = [[" "] * 80 for _ in range(24)]
            elif not part[2]:
                self.screen[self.y][min(self.x, 79)] = part[0]
                self.x += 1

    def changes(self):
        """What has come on the screen since the first that was sent under a name."""
        first = next(i for i, s in enumerate(self.sent) if s[0])
        begin = self.sent[first][2]
        was = still([screen for t, screen in self.seen if t < begin][-1])
        for t, screen in self.seen:
            if t >= begin and still(screen) != was:
                who, seq, _ = [s for s in self.sent if s[2] <= t][-1]
                yield "%s: after %r (%s):\n%s" % (self.term, seq, who, screen)
                was = still(screen)

    def shows(self, pattern):
        self.read()
        return self.seen and re.search(pattern, self.seen[-1][1])

    def end(self):
        limit = time.time() + PATIENCE
        while time.time() < limit:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return "" if status == 0 else "ended with status %#x" % status
            drain([self], 0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return "q does not end it"


def drain(all_of_them, seconds):
    end = time.time() + seconds
    while True:
        left = end - time.time()
        for fd in select.select([c.fd for c in all_of_them], [], [], max(left, 0))[0]:
            try:
                if not os.read(fd, 65536):
                    raise OSError
            except OSError:
                time.sleep(0.001)  # gone: end() says so
        if left <= 0:
            return


def until(consoles, pattern):
    waiting, limit = list(consoles), time.time() + PATIENCE
    while waiting:
        drain(consoles, 0.1)
        waiting = [c for c in waiting if not c.shows(pattern)]
        if time.time() > limit:
            sys.exit("\n".join(FAULTS[:20]) + "\n%s never shows %s" % (", ".join(c.term for c in waiting), pattern))


def still(screen):
    """Without what changes by itself: times and ages."""
    return re.sub("[ \u2500-]+", " ", re.sub("[0-9:.]+", "N", screen))


def is_key(c, seq):
    """The terminal's description has another use for it, or no mouse that it could be of."""
    begins = [s for name, s in c.keys.items() if name != "kmous" and len(s) > 1 and seq.startswith(s)]
    return bool(begins) or (seq.startswith(b"\033[M") and "kmous" not in c.keys)


def nothing_happens(consoles):
    tried = 0
    for who, seq in SEQUENCES:
        for c in consoles:
            if not is_key(c, seq):
                c.send(who, seq)
                tried += 1
        # Alt and one of these is how longer sequences begin: curses waits for the rest
        drain(consoles, 0.35 if seq in (b"\033[", b"\033O", b"\033P") else 0.012)
    drain(consoles, 0.4)
    for c in consoles:
        c.read()
        yield from c.changes()
    print("%d terminals, %d sequences: %d times nothing" % (len(consoles), len(SEQUENCES), tried))


def keys_work(consoles):
    tried = 0
    for c in consoles:
        c.send("", b"G")
    until(consoles, LAST)
    for capability, pattern in KEYS:
        pressed = [c for c in consoles if c.keys.get(capability)]
        for c in pressed:
            c.send(capability, c.keys[capability])
        limit = time.time() + PATIENCE
        tried += len(pressed)
        while pressed and time.time() < limit:
            drain(consoles, 0.05)
            pressed = [c for c in pressed if not c.shows(pattern)]
        for c in pressed:
            yield "%s: %s does not lead to %s:\n%s" % (c.term, capability, pattern, c.seen[-1][1])
    print("%d keys that the help has" % tried)


def main():
    consoles = [Console(term, keys) for term, keys in sorted(described().items())]
    until(consoles, "hosts 36")
    for c in consoles:
        c.send("", b"3Z")
    until(consoles, "FROZEN")
    drain(consoles, 0.5)
    for part in (nothing_happens, keys_work):
        FAULTS.extend(part(consoles))
    for c in consoles:
        c.send("", b"qq")  # the menu, and the program
    for c in consoles:
        ended = c.end()
        if ended:
            FAULTS.append("%s: %s" % (c.term, ended))
    for f in FAULTS[:20]:
        print(f)
    sys.exit(bool(FAULTS))


main()
