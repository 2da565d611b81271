"""Proves that exports survive: prints a line for each row of the table, and fails where one misses its bar.

proof.py QUIRE INJECT POSTGRES [ROW…]; the rows are twice, faults, calls, moments and memory. PAGES (200), KILLS
(10,000), FAULT_PAGES (12), PARENTS (100,000), SINKS (all), JOBS (cores) and SEED say how much, of what.
"""
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import listing
import sinks

QUIRE, INJECT, POSTGRES = sys.argv[1:4]
ROWS = sys.argv[4:] or ["twice", "faults", "calls", "moments", "memory"]
PAGES = int(os.environ.get("PAGES", 200))
KILLS = int(os.environ.get("KILLS", 10_000))
FAULT_PAGES = int(os.environ.get("FAULT_PAGES", 12))
PARENTS = int(os.environ.get("PARENTS", 100_000))
SINKS = [name.strip() for name in os.environ.get("SINKS", ",".join(sinks.NAMES)).split(",")]
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
SEED = int(os.environ.get("SEED", random.getrandbits(32)))
FAULTS = ["ENOSPC", "EIO", "EDQUOT", "EROFS", "short"]
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
flaws = []


class Trials:
    """Runs trials side by side, each with a folder of its own, and keeps what was wrong."""

    def __init__(self, work):
        self.work, self.number, self.lock = work, 0, threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(JOBS)

    def folder(self):
        with self.lock:
            self.number += 1
            return os.path.join(self.work, f"t{self.number}")

    def wrong(self, text):
        with self.lock:
            flaws.append(text)
            if len(flaws) <= 20:
                print(f"  WRONG: {text}", flush=True)

    def each(self, trial, values):
        return list(self.pool.map(trial, values))


def run_again(destination, command, pages, what, trials):
    """Runs the export as often as anyone would, once, and compares."""
    done = subprocess.run(command, stderr=subprocess.PIPE, **QUIET)
    if done.returncode:
        trials.wrong(f"{what}: status {done.returncode}: {done.stderr.decode()[-400:]}")
    elif flaw := destination.flaw(pages):
        trials.wrong(f"{what}: {flaw}")
    else:
        destination.remove()


def injected(fault, when, destination, command):
    """Exit status and number of counted calls of a run with a fault."""
    counts = destination.folder + ".count"
    done = subprocess.run(
        [INJECT, fault, str(when), destination.folder, counts] + command, stderr=subprocess.PIPE, **QUIET)
    count = int(open(counts).read())
    os.unlink(counts)
    return done.returncode, count, done.stderr.decode()


def count_calls(fault, name, base, pages, trials):
    destination = sinks.Destination(name, trials.folder(), POSTGRES)
    status, count, errors = injected(fault, 0, destination, destination.command(QUIRE, base, pages))
    if status or (flaw := destination.flaw(pages)):
        trials.wrong(f"{name}, without any fault: status {status}: {errors or flaw}")
    destination.remove()
    return count


def kill_at_calls(base, trials):
    """SIGKILL at each call that can change anything outside the process."""
    for name in SINKS:
        began, before = time.time(), len(flaws)
        count = count_calls("kill", name, base, PAGES, trials)
        states = set()

        def trial(when):
            destination = sinks.Destination(name, trials.folder(), POSTGRES)
            command = destination.command(QUIRE, base, PAGES)
            status, _, errors = injected("kill", when, destination, command)
            if status not in (0, 137):
                trials.wrong(f"{name}, to be killed at call {when}: status {status}: {errors[-400:]}")
            # What is byte for byte as after another kill needs no second proof.
            state = destination.state() or when
            if state in states:
                destination.remove()
            else:
                states.add(state)
                run_again(destination, command, PAGES, f"{name}, killed at call {when}", trials)
            return status == 137

        # Threads make some calls more in one run than in another.
        killed = sum(trials.each(trial, range(1, count + count // 20 + 10)))
        print(f"  {name:16} {killed:6} calls, each the last of a run, which leave {len(states)} states: "
              f"{len(flaws) - before} not whole, {time.time() - began:.0f} s", flush=True)


def fail_at_writes(base, trials):
    """Each call that writes fails, or writes half; then the disk is as it was."""
    for name in SINKS:
        if name.startswith("postgres"):
            continue  # its disk is the server's own care
        began, before, runs, ended = time.time(), len(flaws), 0, 0
        count = count_calls("EIO", name, base, FAULT_PAGES, trials)
        for fault in FAULTS:

            def trial(when):
                destination = sinks.Destination(name, trials.folder(), POSTGRES)
                command = destination.command(QUIRE, base, FAULT_PAGES)
                status, _, errors = injected(fault, when, destination, command)
                what = f"{name}, {fault} at write {when}"
                if status not in (0, 1) or status and "quire: " not in errors:
                    trials.wrong(f"{what}: status {status}: {errors[-400:]}")
                if status == 0 and (flaw := destination.flaw(FAULT_PAGES)):
                    trials.wrong(f"{what} and success: {flaw}")
                run_again(destination, command, FAULT_PAGES, what, trials)
                return status == 1

            results = trials.each(trial, range(1, count + 1))
            runs, ended = runs + len(results), ended + sum(results)
        print(f"  {name:16} {runs:6} runs, {ended} ended by it: {len(flaws) - before} not whole, "
              f"{time.time() - began:.0f} s", flush=True)


def kill_at_moments(base, trials):
    """SIGKILL at random moments, until the export is complete; a sync with children counts as a sink."""
    names = SINKS + ["sync"]
    share = -(-KILLS // len(names))
    total = 0
    for name in names:
        began, before = time.time(), len(flaws)
        taken = [0]

        def trial(seed):
            numbers, kills = random.Random(seed), 0
            while taken[0] < share:
                destination = (Sync if name == "sync" else sinks.Destination)(name, trials.folder(), POSTGRES)
                command = destination.command(QUIRE, base, PAGES)
                while taken[0] < share:
                    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **QUIET)
                    try:
                        process.wait(numbers.uniform(0.005, 0.25))
                        break
                    except subprocess.TimeoutExpired:
                        process.kill()
                        kills += process.wait() == -9
                        taken[0] += 1
                run_again(destination, command, PAGES, f"{name}, killed at moments (seed {SEED})", trials)
            return kills

        kills = sum(trials.each(trial, [f"{SEED} {name} {n}" for n in range(JOBS)]))
        total += kills
        print(f"  {name:16} {kills:6} kills at random moments: {len(flaws) - before} not whole, "
              f"{time.time() - began:.0f} s", flush=True)
    print(f"  {'all':16} {total:6} kills, seed {SEED}", flush=True)


class Sync:
    """A sync of parents and their children into SQLite."""
    PARENTS = 1200

    def __init__(self, _, folder, __, parents=PARENTS):
        self.folder, self.parents = folder, parents
        self.path = os.path.join(folder, "sync.json")
        os.makedirs(folder)

    def command(self, quire, base, _):
        pagination = {"next": {"pageNumber": {"first": 1}}, "send": {"query": "page"}, "items": "/items",
                      "end": [{"flag": "/more"}]}
        content = {"to": self.folder + "/sync.db", "listings": {
            "parents": {"url": f"{base}/parents?count={self.parents}", "key": "id", "pagination": pagination},
            "children": {"url": f"{base}/parents/{{id}}/children", "for": "parents", "key": "id",
                         "with": {"parent": "id"}, "pagination": pagination}}}
        with open(self.path, "w") as file:
            json.dump(content, file)
        return [quire, "sync", self.path]

    def flaw(self, _):
        with sinks.sqlite3.connect(self.folder + "/sync.db") as database:
            found = [row[0] for row in database.execute("SELECT parent FROM children ORDER BY parent")]
            parents = [row[0] for row in database.execute("SELECT id FROM parents ORDER BY id")]
        wanted = list(range(self.parents))
        return None if found == wanted and parents == wanted else f"{len(found)} children, {len(parents)} parents"

    def remove(self):
        shutil.rmtree(self.folder)


def run_twice(base, trials):
    """A second run into a destination that one writes to ends before it requests anything."""
    for name in SINKS:
        destination = sinks.Destination(name, trials.folder(), POSTGRES)
        command = destination.command(QUIRE, base, PAGES)
        listing.ask(base, "/hold")
        first = subprocess.Popen(command, stderr=subprocess.DEVNULL, **QUIET)
        asked = 0
        while asked < 2 and first.poll() is None:
            asked += listing.ask(base, "/count")
        second = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, **QUIET)
        requests = listing.ask(base, "/count")
        listing.ask(base, "/release")
        status = first.wait()
        flaw = destination.flaw(PAGES)
        if second.returncode != 1 or requests or status or flaw:
            trials.wrong(f"{name}: second {second.returncode} after {requests} requests: {second.stderr[-300:]}, "
                         f"first {status}: {flaw}")
        else:
            destination.remove()
        print(f"  {name:16} the second ends with {second.returncode} after {requests} requests: "
              f"{second.stderr.strip().splitlines()[-1][:90]}", flush=True)


def measure_memory(base, trials):
    """The most memory that a sync of many parents takes."""
    sync = Sync("", trials.folder(), "", PARENTS)
    began = time.time()
    process = subprocess.Popen(sync.command(QUIRE, base, 0), stderr=subprocess.DEVNULL, **QUIET)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or (flaw := sync.flaw(0)):
        trials.wrong(f"sync of {PARENTS} parents: status {process.returncode}, {flaw}")
    most = usage.ru_maxrss / 1024
    if most > 100:
        trials.wrong(f"sync of {PARENTS} parents: {most:.0f} MiB")
    sync.remove()
    print(f"  {most:.1f} MiB at most, {time.time() - began:.0f} s", flush=True)


TITLES = {
    "twice": (run_twice, "two runs into one destination; bar: the second ends before it requests anything"),
    "faults": (fail_at_writes, f"{', '.join(FAULTS)} at each write of {FAULT_PAGES} pages, then run again; bar: 0"),
    "calls": (kill_at_calls, f"killed at each call of {PAGES} pages that can change anything, then run again; bar: 0"),
    "moments": (kill_at_moments, f"{KILLS} kills at random moments of {PAGES} pages; bar: 0"),
    "memory": (measure_memory, f"memory of a sync with {PARENTS} parents; bar: 100 MiB"),
}


def main():
    base = listing.started(PAGES, PARENTS)
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a kill needs no disk
    with tempfile.TemporaryDirectory(prefix="quire-proof-", dir=room) as work:
        trials = Trials(work)
        for row in ROWS:
            run, title = TITLES[row]
            print(f"{title}:", flush=True)
            run(base, trials)
    print(f"{len(flaws)} wrong")
    sys.exit(1 if flaws else 0)


main()
