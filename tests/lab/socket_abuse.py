#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""socket_abuse.py PATH MODE SECONDS [JOB]: what a user can do to the agent's socket; prints what came of it.

idle      opens connections and says nothing      half     each with half a line
garbage   random bytes                            flood    one that asks without end and reads nothing
hello     says HELLO for a job and holds on to the connection; how many held on to theirs is the last line
"""
import os, random, socket, sys, time

path, mode, end = sys.argv[1], sys.argv[2], time.time() + float(sys.argv[3])
held, answers, refused = [], {}, 0


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(1)
    s.connect(path)
    return s


def say_hello(new):
    for k, s in enumerate(new):
        s.send(b"HELLO 1 %s %d base\n" % (sys.argv[4].encode(), 1000 + len(held) + k))
    for s in new:
        try:
            said = s.recv(300).split(b" ")[0].decode() or "nothing"
        except OSError:
            said = "nothing"
        answers[said] = answers.get(said, 0) + 1
        if said == "WELCOME":
            held.append(s)


while time.time() < end and len(held) < 1200:
    try:
        s = connect()
        if mode == "half":
            s.send(b"HELLO 1 4")
        elif mode == "garbage":
            s.send(os.urandom(random.randrange(1, 4000)))
            s.close()
            continue
        elif mode == "flood":
            while time.time() < end:
                s.send(b"STATUS\n" * 1000)
        elif mode == "hello":
            say_hello([s] + [connect() for _ in range(31)])
            continue
        held.append(s)
    except OSError:
        refused += 1
        time.sleep(0.02)
time.sleep(max(0, end - time.time()))
print("answers", answers, "refused", refused)
print("held", len(held))
