#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report.py: lines and JSON from what the runs of bench.sh left.

  report.py head
  report.py line DIR NET SPEC SWITCHES HOSTS ENGINE
  report.py summary DIR
  report.py budgets [all]            what to run for them: "SPEC ENGINE JOBS" a line
  report.py judge-budgets DIR
  report.py month DIR
  report.py end DIR                  writes DIR/bench.json
"""
import json
import os
import sys

FORMAT = "%-15s %-8s %9s %9s %7s %12s %7s %13s %15s %11s  %s"

P8, TREE36, TREE54 = "dragonfly:p=8", "fattree3:k=36", "fattree3:k=54"
DAMAGED = "fattree3:k=54,fail=1%"
PARX = "hyperx:dims=12x8,hosts=7,lmc=2"
# spec, engine, what is measured, budget, its unit, what it is for people
BUDGETS = [
    (P8, "dfsssp", ["paths_s"], 1, "s", "dfsssp paths, 16,512 hosts"),
    (P8, "dfsssp", ["cpu_s", "verify_s"], 3, "s", "dfsssp with layers and verify, 16,512 hosts"),
    (P8, "dfsssp", ["rss_mb"], 400, "MB", "dfsssp, 16,512 hosts"),
    (P8, "dfsssp", ["verify_s"], 1, "s", "verify, 16,512 hosts"),
    (P8, "dfsssp", ["metrics_s"], 0.5, "s", "all metrics, 16,512 hosts"),
    (P8, "dfsssp", ["metrics_jobs_s"], 0.5, "s", "all metrics with 100 jobs, 16,512 hosts"),
    (P8, "sar", ["paths_s"], 1, "s", "sar paths without jobs, 16,512 hosts"),
    (P8, "sar", ["cpu_s", "verify_s"], 3, "s", "sar with layers and verify, 16,512 hosts"),
    (P8, "sar", ["rss_mb"], 400, "MB", "sar, 16,512 hosts"),
    (P8, "dfdn", ["cpu_s", "verify_s"], 2, "s", "dfdn with verify, 16,512 hosts"),
    (P8, "dfdn", ["vls_used"], 3, "VLs", "dfdn, 16,512 hosts"),
    (P8, "dfdn", ["rss_mb"], 400, "MB", "dfdn, 16,512 hosts"),
    (P8, "nue:8", ["cpu_s"], 4, "s", "nue on 8 VLs, 16,512 hosts"),
    (P8, "nue:8", ["rss_mb"], 400, "MB", "nue on 8 VLs, 16,512 hosts"),
    (P8, "minhop", ["rss_mb"], 400, "MB", "minhop, 16,512 hosts"),
    (P8, "updn", ["rss_mb"], 400, "MB", "updn, 16,512 hosts"),
    (PARX, "parx", ["cpu_s"], 0.1, "s", "parx, 672 hosts, LMC 2"),
    (TREE36, "minhop", ["cpu_s"], 4, "s", "minhop, tree of 11,664 hosts"),
    (TREE36, "updn", ["cpu_s"], 4, "s", "updn, tree of 11,664 hosts"),
    (TREE36, "ftree", ["cpu_s"], 4, "s", "ftree, tree of 11,664 hosts"),
    (TREE36, "dfsssp", ["cpu_s"], 4, "s", "dfsssp, tree of 11,664 hosts"),
    (TREE36, "sar", ["cpu_s"], 4, "s", "sar, tree of 11,664 hosts"),
    (TREE36, "dfdn", ["cpu_s"], 4, "s", "dfdn, tree of 11,664 hosts"),
    (TREE36, "nue:8", ["cpu_s"], 4, "s", "nue on 8 VLs, tree of 11,664 hosts"),
    (TREE54, "minhop", ["cpu_s"], 20, "s", "minhop, tree of 39,366 hosts"),
    (TREE54, "updn", ["cpu_s"], 20, "s", "updn, tree of 39,366 hosts"),
    (TREE54, "ftree", ["cpu_s"], 20, "s", "ftree, tree of 39,366 hosts"),
    (DAMAGED, "ftree", ["cpu_s"], 2, "s", "ftree, 39,366 hosts, 1 % of the cables out"),
    (DAMAGED, "ftree", ["rss_mb"], 400, "MB", "ftree, 39,366 hosts, 1 % of the cables out"),
    (TREE54, "dfsssp", ["cpu_s"], 20, "s", "dfsssp, tree of 39,366 hosts"),
    (TREE54, "sar", ["cpu_s"], 20, "s", "sar, tree of 39,366 hosts"),
    (TREE54, "dfdn", ["cpu_s"], 20, "s", "dfdn, tree of 39,366 hosts"),
    (TREE54, "nue:8", ["cpu_s"], 20, "s", "nue on 8 VLs, tree of 39,366 hosts"),
]

# too long for bench beside all else: bench-budgets alone
LONG = {(TREE54, e) for e in ("minhop", "updn", "sar", "dfdn", "nue:8")} | {(DAMAGED, "ftree")}


def load(path):
    """The first JSON object of a file; {} where there is none."""
    try:
        with open(path) as f:
            return json.loads(f.readline())
    except (OSError, ValueError):
        return {}


def num(value, form):
    return "-" if value is None else form % value


def both(ours, theirs, form):
    return num(ours, form) + " / " + num(theirs, form)


def routed(side):
    return side.get("rc") == 0 and side.get("connected") is True and side.get("loop_free") is True


def fault(side):
    """What is wrong with one side, or None."""
    if side.get("rc") != 0:
        return side.get("reason", "no result")
    if not side.get("connected"):
        return "not connected"
    if not side.get("loop_free"):
        return "loops"
    if side.get("deadlock_free") is False:
        return "can deadlock"
    return None


def sides(where, net, engine):
    mine = load(f"{where}/{net}.{engine}.ours.json")
    prefix = f"{where}/{net}.{engine}.opensm"
    other = {**load(prefix + ".json"), **load(prefix + ".judged"), **load(prefix + ".vls")}
    return mine, other


def vls(side):
    return side.get("vls_needed", side.get("vls_used"))


def line(where, net, spec, switches, hosts, engine):
    mine, other = sides(where, net, engine)
    count = routed(mine) and routed(other)
    ratio = other["cpu_s"] / mine["cpu_s"] if count and mine["cpu_s"] > 0 else None
    notes = []
    for who, side in (("OpenSM", other), ("ours", mine)):
        wrong = fault(side) if side or who == "ours" else None
        if wrong and not (engine == "sssp" and wrong == "can deadlock"):
            notes.append(f"{who}: {wrong}")
    a = mine if routed(mine) else {}
    b = other if routed(other) else {}
    print(FORMAT % (
        net, engine, num(a.get("cpu_s"), "%.4f"), num(b.get("cpu_s"), "%.4f"),
        num(ratio, "%.1f" if ratio is not None and ratio < 10 else "%.0f"), both(a.get("rss_mb"), b.get("rss_mb"), "%.0f"),
        both(vls(a), vls(b), "%d"),
        both(a.get("hops_mean"), b.get("hops_mean"), "%.3f"),
        both(a.get("efi_max"), b.get("efi_max"), "%d"), both(a.get("ebb"), b.get("ebb"), "%.3f"),
        "; ".join(notes)[:100]), flush=True)
    row = {"net": net, "spec": spec, "switches": int(switches), "hosts": int(hosts),
           "engine": engine, "ratio": ratio, "ours": mine, "opensm": other}
    with open(f"{where}/rows", "a") as f:
        f.write(json.dumps(row) + "\n")


def rows(where):
    try:
        with open(f"{where}/rows") as f:
            return [json.loads(text) for text in f]
    except OSError:
        return []


def worse(row):
    """Figures in which our tables are worse than OpenSM's of the same engine."""
    a, b = row["ours"], row["opensm"]
    out = []
    if row["ratio"] is None:
        return out
    for key, sign, slack in (("hops_mean", 1, 1e-6), ("efi_max", 1, 0), ("ebb", -1, None)):
        if a.get(key) is None or b.get(key) is None:
            continue
        if slack is None:
            slack = a.get("ebb_ci95", 0) + b.get("ebb_ci95", 0)
        if sign * (a[key] - b[key]) > slack:
            out.append(key)
    return out


def summary(where):
    every = rows(where)
    print()
    for engine in sorted({r["engine"] for r in every}):
        mine = [r for r in every if r["engine"] == engine]
        ratios = sorted((r["ratio"], r["net"]) for r in mine if r["ratio"] is not None)
        big = [r["ratio"] for r in mine if r["ratio"] is not None and r["hosts"] >= 1000]
        bad = [f"{r['net']} ({', '.join(worse(r))})" for r in mine if worse(r)]
        if not ratios and not any(r["opensm"] for r in mine):
            continue
        if not ratios:
            print(f"{engine}: no net that both routed")
            continue
        print(f"{engine}: OpenSM's CPU seconds are {ratios[0][0]:.1f} ({ratios[0][1]}) to "
              f"{ratios[-1][0]:.1f} ({ratios[-1][1]}) times ours on {len(ratios)} nets"
              + (f", at least {min(big):.1f} from 1,000 hosts on" if big else "")
              + ("; ours is worse on " + ", ".join(bad) if bad else ""))


def budget_file(where, spec, engine):
    return f"{where}/budget.{spec.translate(str.maketrans(':,=', '___'))}.{engine}.json"


def budgets(which=""):
    for spec, engine in dict.fromkeys((b[0], b[1]) for b in BUDGETS):
        if which == "all" or (spec, engine) not in LONG:
            jobs = any(b[:2] == (spec, engine) and "metrics_jobs_s" in b[2] for b in BUDGETS)
            print(spec, engine, 100 if jobs else 0)


def judge_budgets(where):
    print("\n%-48s %10s %10s" % ("budget (one thread, CPU seconds)", "measured", "at most"))
    out = []
    for spec, engine, keys, most, unit, what in BUDGETS:
        path = budget_file(where, spec, engine)
        if (spec, engine) in LONG and not os.path.exists(path):
            continue
        got = load(path)
        known = got.get("rc") == 0 and all(got.get(k) is not None for k in keys)
        value = sum(got[k] for k in keys) if known else None
        kept = value is not None and value <= most
        print("%-48s %10s %10s  %s" % (what, num(value, "%.3g"), f"{most:g} {unit}",
                                       "holds" if kept else "MISSED" if known
                                       else fault(got) or "-"))
        out.append({"what": what, "spec": spec, "engine": engine, "keys": keys, "unit": unit,
                    "measured": value, "budget": most, "kept": kept})
    print("Those of the screen, of the wire and of the largest trees, too: make bench-budgets")
    with open(f"{where}/budgets", "w") as f:
        json.dump(out, f)


def month(where):
    try:
        with open(f"{where}/month.json") as f:
            m = json.load(f)
    except (OSError, ValueError):
        print("month: no result")
        return
    print(f"a month of jobs on {m['fabric']}: {m['terminals']} hosts, {m['samples']} samples, "
          f"{m['multi_switch_mean']:.0f} jobs on several switches; bound of the maximum "
          f"effective EFI {m['eff_efi_bound']:.0f}")
    form = "%-9s %9s %9s %9s %8s %9s %9s %9s"
    print(form % ("method", "max EFI", "/ bound", "job EFI", "dark %", "links/job", "blocks %",
                  "CPU ms"))
    for w in m["methods"]:
        print(form % (w["method"], num(w["eff_efi_max"], "%.1f"),
                      num(w["bound_ratio_mean"], "%.3f"), num(w["job_efi_max_mean"], "%.2f"),
                      num(w["dark_fiber_pct"], "%.2f"), num(w["links_per_job_mean"], "%.1f"),
                      num(w.get("blocks_pct_mean"), "%.2f"), num(w["cpu_ms_mean"], "%.1f")))


def whole(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def end(where):
    with open(f"{where}/bench.json", "w") as f:
        json.dump({"nets": [{**r, "worse": worse(r)} for r in rows(where)],
                   "budgets": whole(f"{where}/budgets"),
                   "month": whole(f"{where}/month.json"),
                   "cores": os.cpu_count()}, f, indent=1)
        f.write("\n")


def head():
    print("ours / OpenSM; CPU seconds; ratio = OpenSM's CPU seconds / ours, where both routed\n"
          "Ours make minhop free of deadlocks by virtual lanes, too; OpenSM's minhop, dor and sssp "
          "have none.\n")
    print(FORMAT % ("net", "engine", "ours", "OpenSM", "ratio", "peak MB", "VLs", "mean hops",
                    "max EFI", "eBB", ""))


COMMANDS = {"head": head, "line": line, "summary": summary, "budgets": budgets,
            "judge-budgets": judge_budgets, "month": month, "end": end}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
