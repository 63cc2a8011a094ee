#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""examples.py: every example of the pages is run as it stands there, or is on the list below.

    examples.py list               all of them, with what is done with each; 1: one is neither
    examples.py run files|fabric   those that need files alone, or a fabric, in the folder at hand

An example is what stands in a fenced or indented block of README.md and the manual's pages, or between .nf and .fi
in the manual page: a command a line, or a script where the block is one.  RULES say what is done with the lines that
are not simply run; a line that begins with no program and has no rule is an error, and so is a rule without a line.
Each is run by bash in one folder, in the order of the pages, and has to end with the exit code of its rule (0).
"""
import os, pty, re, select, signal, subprocess, sys, time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["README.md", "console/manual/campaigns.md", "console/manual/theory.md", "console/manual/integration.md",
    "console/manual/glossary.md", "console/manual/ibroute-top.1.in"]
FILES = ("campaigns.md", "theory.md") # pages whose examples need no fabric
PROGRAMS = r"(ibroute-top|make|sh|seq|echo|awk|cp|groupadd|usermod|systemctl)\b"
LIMIT = 60 # s for each

# kinds: run (exit code), tty (what is typed, once nothing more is drawn), until (a file that is there, "": two seconds;
# then SIGTERM), script (words behind it), data (a check of the program, or "" where a program of others reads it), made
# (a target of the Makefile that is there), text (what a program printed), not (why it is not run)
UPDATE = "ibroute-top plan -e %s -o new.plan && ibroute-top apply new.plan --accept-slower --yes-fabric hpc1 --detach"
AGENT = "ibroute-top agent --daemon --job $SLURM_JOB_ID --socket /run/ibroute-top/agent.sock"
RULES = [
    # page, beginning of the line (regex), kind, what, what is done before
    ("README", r"ibroute-top (replay|failures)", "run", 0, "rm -rf DIR"),
    ("README", r"ibroute-top audit verify", "run", 0, "cp $(ls $RECORDS/*.jsonl | head -n 1) RECORD"),
    ("README", r"ibroute-top status$", "run", 1, UPDATE % "nue"), # 1: one is under way
    ("README", r"make demo", "made", ""),
    ("README", r"make (check|lab|soak|sanitize|fuzz|bench|help)", "made", ""),
    ("README", r"make( |$)", "made", "builds and installs what is built"),
    ("README", r"ibroute-top( --rw| --auto=5)?$", "tty", "q"),
    ("README", r"ibroute-top --load (FILE|DIR)$", "tty", "q"),
    ("README", r"ibroute-top deadlock ", "run", 1),
    ("README", r"ibroute-top plan --tables", "run", 0, "cp p.plan TABLES"),
    ("README", r"ibroute-top collect$", "until", "/run/ibroute-collector/hpc1/look"),
    ("README", r"ibroute-top (agent$|--prom-listen|--jsonl)", "until", ""),
    ("README", r"#!/bin/sh\n.*\n# reroute.sh", "not", "tests/lab/script.sh runs it, with the jobs and agents that it needs"),
    ("README", r"ibroute-top attach last", "tty", "\x03"),
    ("README", r"ibroute-top confirm last", "tty", "hpc1\r"),
    ("README", r"sum\(\) \{", "script", "RECORD"),
    ("campaigns", r"ibroute-top (replay|failures|campaign plan).*DIR", "run", 0, "rm -rf DIR"),
    ("campaigns", r"ibroute-top campaign status", "run", 0, "ibroute-top campaign run DIR"),
    ("campaigns", r"ibroute-top --load (damaged|cell|DIR)", "tty", "q"),
    ("campaigns", r"(routing|engine|updn|ftree|sar|nue:4) ", "text", ""),
    ("theory", r"ibroute-top deadlock ", "run", 1),
    ("integration", r"# /etc/udev", "data", ""),
    ("integration", r"0x0002c903000e0a10", "data", "ibroute-top --node-name-map @ -b -n 1 --view switches"),
    ("integration", r"ibroute-top --prom-listen", "until", ""),
    ("integration", r"ibroute-top collect", "until", "/run/ibroute-collector/hpc1/ask"),
    ("integration", r"usermod", "run", 0, "useradd alice"),
    ("integration", r"ibroute-top status last", "run", 1, UPDATE % "updn"),
    ("integration", r"ibroute-top attach last", "tty", "\x03"),
    ("integration", r"ibroute-top rollback last", "tty", "hpc1\r"),
    ("integration", r"#!/bin/sh\nS=/run", "script", " "),
    ("integration", r"cp /usr/local/share/ibroute-top/examples", "run", 0),
    ("integration", r"export IBROUTE_AGENT_DIR", "not", "srun starts processes on nodes of which the lab has only names"),
    ("integration", r"for port in mlx5_0", "not", "nodes of the lab have one HCA; the line for one port is run"),
    ("integration", r"ibroute-top agent --forget-transaction", "run", 0, AGENT),
    ("integration", r"systemctl", "not", "no systemd here"),
    ("integration", r"ibroute: ", "text", ""),
    ("integration", r"auto: ", "text", ""),
    ("integration", r"\[Service\]", "data", ""),
    ("integration", r"issuer ", "data", ""),
    ("integration", r"n0001 UCX", "text", ""),
    ("1.in", r"(interval = 5|key.sort)", "data", "ibroute-top config check -f @"),
    ("1.in", r"base = light", "data", "ibroute-top --theme @ --screen overview"),
    ("1.in", r"S=/run", "script", " "),
    ("1.in", r"ibroute-top (--prom-listen|--jsonl)", "until", ""),
]

class Example:
    def __init__(self, page, line, text):
        self.page, self.line, self.text, self.kind, self.what = page, line, text, None, None
    def where(self):
        return "files" if self.page.endswith(FILES) else "fabric"
    def __str__(self):
        return "%s:%d: %s" % (self.page, self.line, self.text.split("\n")[0])

def blocks(page):
    """(line, text) of each block of a page."""
    lines = open(os.path.join(TOP, page)).read().split("\n")
    if page.endswith(".in"):
        i = 0
        while i < len(lines):
            if lines[i] == ".nf":
                end = lines.index(".fi", i)
                text = [l.replace("\\-", "-").replace("\\e", "\\") for l in lines[i + 1:end] if not l.startswith(".R")]
                yield i + 2, "\n".join(text)
                i = end
            i += 1
        return
    i = 0
    while i < len(lines):
        if lines[i].startswith("```"):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            yield i + 2, "\n".join(lines[i + 1:end])
            i = end
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield i + 1, "\n".join(l[4:] for l in lines[i:end]).rstrip()
            i = end - 1
        i += 1

def is_script(text):
    return re.match(r"#!/bin/sh|sum\(\)|S=|for |export ", text) is not None

def examples(page):
    for line, text in blocks(page):
        if is_script(text):
            yield Example(page, line, text)
            continue
        rows = text.split("\n")
        i = 0
        while i < len(rows):
            row, at = rows[i], i
            while row.endswith("\\"): # goes on in the next line
                i += 1
                row += "\n" + rows[i]
            i += 1
            if not row.strip() or re.match(r"\s{8}", row): # what stands beside the line before goes on
                continue
            if not re.match(PROGRAMS, row): # no command: all until the next one, or an empty line
                while i < len(rows) and rows[i].strip() and not re.match(PROGRAMS, rows[i]):
                    row += "\n" + rows[i]
                    i += 1
            elif re.match(PROGRAMS, row): # what it does stands beside it
                row = re.split(r"\s{2,}(?=\S)", row)[0] if "\n" not in row else row
            yield Example(page, line + at, row)

def everything():
    """All examples with their rules; what is wrong with them."""
    found, wrong, used = [], [], set()
    for page in PAGES:
        for e in examples(page):
            for k, rule in enumerate(RULES):
                if rule[0] in page and re.match(rule[1], e.text):
                    e.kind, e.what, e.before = rule[2], rule[3], rule[4] if len(rule) > 4 else ""
                    used.add(k)
                    break
            else:
                e.kind, e.what, e.before = "run", 0, ""
                if not is_script(e.text) and not re.match(PROGRAMS, e.text):
                    wrong.append("%s is neither run nor listed" % e)
            if re.search(r"^[^#'\"]*\s\[[-A-Z]|\.\.\.(\s|$)", e.text) and e.kind in ("run", "tty", "until"):
                wrong.append("%s cannot be typed as it is" % e)
            found.append(e)
    wrong += ["no example is %s: %s" % RULES[k][:2] for k in range(len(RULES)) if k not in used]
    return found, wrong

# --- running ---

def ended(p, codes):
    try:
        rc = p.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        return "it did not end within %d s" % LIMIT
    return None if rc in codes else "exit code %d" % rc

def start(text, **how):
    return subprocess.Popen(["bash", "-c", text], start_new_session=True, **how)

def run(e, log):
    return ended(start(e.text, stdin=subprocess.DEVNULL, stdout=log, stderr=log), (e.what,))

def script(e, log):
    name = "check.sh" if e.what.strip() else "script.sh"
    open(name, "w").write(e.text + "\n")
    return ended(start("sh %s %s" % (name, e.what), stdin=subprocess.DEVNULL, stdout=log, stderr=log), (0,))

def tty(e, log):
    """On a terminal of 100x30, where what is typed comes once nothing more has been drawn for half a second."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LINES="30", COLUMNS="100")
        os.execvp("bash", ["bash", "-c", e.text])
    end, quiet, typed, seen, rc = time.time() + LIMIT, time.time(), 0, 0, None
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                break
            if not data:
                break
            log.write(data)
            seen += len(data)
            quiet = time.time()
        elif seen and time.time() - quiet > 0.5 and time.time() - typed > 2:
            os.write(fd, e.what.encode())
            typed = time.time()
    os.close(fd)
    for _ in range(50):
        got, status = os.waitpid(pid, os.WNOHANG)
        if got:
            rc = os.waitstatus_to_exitcode(status)
            return None if rc in (0, 130) and seen > 100 else "exit code %d after %d bytes" % (rc, seen)
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "it did not end when %r was typed" % e.what

def until(e, log):
    p = start("exec " + e.text, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    end = time.time() + 15
    ready = time.time() + (0 if e.what else 2)
    while time.time() < end and p.poll() is None and (time.time() < ready or e.what and not os.path.exists(e.what)):
        time.sleep(0.05)
    if p.poll() is not None:
        return "it ended with %d" % p.returncode
    if e.what and not os.path.exists(e.what):
        os.killpg(p.pid, signal.SIGKILL)
        return "there is no %s after 15 s" % e.what
    os.killpg(p.pid, signal.SIGTERM)
    return ended(p, (0, 128 + signal.SIGTERM))

def data(e, log):
    if not e.what:
        return None
    open("data", "w").write(e.text + "\n")
    return ended(start(e.what.replace("@", "data"), stdin=subprocess.DEVNULL, stdout=log, stderr=log), (0,))

def made(e, log):
    make = open(os.path.join(TOP, "Makefile")).read()
    words = [w for w in e.text.split()[1:] if "=" not in w] or ["all"]
    gone = [w for w in words if not re.search(r"^%s:" % re.escape(w), make, re.M)]
    return "there is no target %s" % gone[0] if gone else None

def nothing(e, log):
    return None

DO = {"run": run, "script": script, "tty": tty, "until": until, "data": data, "made": made, "text": nothing, "not": nothing}

def main():
    found, wrong = everything()
    if sys.argv[1:] == ["list"]:
        for e in found:
            print("%-6s %s%s" % (e.kind, e, " (%s)" % e.what if e.kind == "not" else ""))
        print("\n".join(wrong))
        return bool(wrong)
    failed = 0
    for e in found:
        if e.where() != sys.argv[2]:
            continue
        begin = time.time()
        with open("log", "wb+", buffering=0) as log:
            if e.before:
                subprocess.run(["bash", "-c", e.before], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            why = DO[e.kind](e, log)
            took = " (%.1f s)" % (time.time() - begin) if time.time() - begin > 1 else ""
            how = {"not": "not run: " + str(e.what), "text": "not run: output", "made": "target"}.get(e.kind, e.kind)
            print("%sok - %s [%s]%s" % ("not " if why else "", e, how, took))
            if why:
                failed += 1
                log.seek(0)
                tail = log.read().decode(errors="replace").split("\n")[-8:]
                print("\n".join("  # " + l for l in [why] + tail if l.strip()))
            sys.stdout.flush()
    return failed > 0

sys.exit(main())
