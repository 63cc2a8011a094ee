#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""traced.py FILE READERS FIRST...: what strace -f -o FILE has seen of a console and its processes.

Processes that took a filter of system calls and no landlock are readers of files: READERS of them, or more, and
none has opened, made, sent, started or signalled anything since.  Those with landlock ask SLURM: nothing written or
started.  Capabilities were dropped, before any file was opened whose path has one of FIRST in it, and none came
back.
"""
import re
import sys

CALL = re.compile(r"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$")
READER_MAY_NOT = {"open", "openat", "openat2", "creat", "socket", "connect", "bind", "sendto", "sendmsg", "execve", "execveat",
                  "fork", "vfork", "clone", "clone3", "kill", "ptrace", "memfd_create", "pipe2", "unlink", "rename", "mkdir"}
ASKER_MAY_NOT = {"execve", "execveat", "listen", "ptrace", "unlink", "rename", "mkdir", "creat"}


def sets(text):
    """names of the permitted and effective ones of a capset()"""
    found = re.findall(r"(?:effective|permitted)=([^,}]*)", text)
    return set() if all(f == "0" for f in found) else {c for f in found for c in re.findall(r"CAP_\w+", f)}


def main(path, readers, *first):
    filtered, landlocked, dropped, begun, bad = {}, set(), {}, {}, []
    for n, line in enumerate(open(path, errors="replace"), 1):
        m = CALL.match(line.rstrip("\n"))
        if not m or "<unfinished" in line:
            if m and m.group(3):
                begun[m.group(1)] = m.group(4)
            continue
        pid, name, rest = m.group(1), m.group(2) or m.group(3), m.group(4)
        rest = begun.pop(pid, "") + rest if m.group(2) else rest
        done = re.search(r"= (-?\d+|0x[0-9a-f]+)[^=]*$", rest)
        if not done or done.group(1).startswith("-"):
            continue
        if name == "landlock_restrict_self":
            landlocked.add(pid)
        elif name == "seccomp" and "SECCOMP_SET_MODE_FILTER, 0" in rest:
            filtered[pid] = pid in landlocked
        elif name == "capset":
            if pid in dropped and sets(rest) - dropped[pid]:
                bad.append("line %d: capabilities again: %s" % (n, line.strip()))
            dropped.setdefault(pid, sets(rest))
        elif name.startswith("open") and not dropped and any(f in rest for f in first):
            bad.append("line %d: before capabilities were dropped: %s" % (n, line.strip()))
        if pid in filtered:
            if name in (ASKER_MAY_NOT if filtered[pid] else READER_MAY_NOT):
                bad.append("line %d: in spite of its filter: %s" % (n, line.strip()))
            if filtered[pid] and name.startswith("open") and re.search(r"O_WRONLY|O_RDWR|O_CREAT", rest) and "/dev/null" not in rest:
                bad.append("line %d: written: %s" % (n, line.strip()))
    print("%d readers, %d who ask, capabilities kept: %s" % (sum(not a for a in filtered.values()), sum(filtered.values()),
                                                            ", ".join(sorted(set().union(*dropped.values()))) or "none"))
    if sum(not a for a in filtered.values()) < int(readers):
        bad.append("%s readers of files were expected" % readers)
    if not dropped:
        bad.append("no capability was dropped")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main(*sys.argv[1:]))
