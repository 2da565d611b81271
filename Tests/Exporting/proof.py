"""Proves that exports survive: prints a line for each row of the table, and fails where one misses its bar.

proof.py QUIRE INJECT [ROW…]; the rows are twice, faults, server, calls, moments, cost and memory. PAGES (200), KILLS
(10,000), FAULT_PAGES (12), PAIRS (60), PARENTS (100,000), SINKS (all), JOBS (cores), STRIDE (1: every call) and SEED
say how much, of what; DISK is a folder on one.
"""
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cost
import listing
import postgres
import sinks

QUIRE, INJECT = sys.argv[1:3]
ROWS = sys.argv[3:] or ["twice", "faults", "server", "calls", "moments", "cost", "memory"]
PAGES = int(os.environ.get("PAGES", 200))
KILLS = int(os.environ.get("KILLS", 10_000))
FAULT_PAGES = int(os.environ.get("FAULT_PAGES", 12))
PARENTS = int(os.environ.get("PARENTS", 100_000))
STRIDE = int(os.environ.get("STRIDE", 1))
SINKS = [name.strip() for name in os.environ.get("SINKS", ",".join(sinks.NAMES)).split(",")]
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
SEED = int(os.environ.get("SEED", random.getrandbits(32)))
PATIENCE = 600  # seconds that no run takes, on the slowest machine
FAULTS = ["ENOSPC", "EIO", "EDQUOT", "EROFS", "short"]
CONNECTION_FAULTS = ["ECONNRESET", "short", "cut", "deaf"]
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
flaws = []


class Trials:
    """Runs trials side by side, each with a folder of its own, and keeps what was wrong."""

    def __init__(self, work, cluster):
        self.work, self.cluster, self.number, self.lock = work, cluster, 0, threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(JOBS)

    def destination(self, name):
        with self.lock:
            self.number += 1
            folder = os.path.join(self.work, f"t{self.number}")
        return (Sync if name.startswith("sync") else sinks.Destination)(name, folder, self.cluster)

    def wrong(self, text):
        with self.lock:
            flaws.append(text)
            if len(flaws) <= 20:
                print(f"  WRONG: {text}", flush=True)

    def each(self, trial, values):
        return list(self.pool.map(trial, values))


def run_again(destination, command, pages, what, trials):
    """Runs the export as often as anyone would, once, and compares."""
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, timeout=PATIENCE, **QUIET)
    except subprocess.TimeoutExpired:
        return trials.wrong(f"{what}: runs for ever")
    if done.returncode:
        trials.wrong(f"{what}: status {done.returncode}: {done.stderr.decode()[-400:]}")
    elif flaw := destination.flaw(pages):
        trials.wrong(f"{what}: {flaw}")
    else:
        destination.remove()


def injected(fault, when, destination, command):
    """Exit status of a run with a fault, how many calls were counted, and performed on the destination, and errors."""
    counts = destination.folder + ".count"
    done = subprocess.run(
        [INJECT, fault, str(when), destination.where, counts] + command, stderr=subprocess.PIPE, timeout=PATIENCE,
        **QUIET)
    counted, performed = map(int, open(counts).read().split())
    os.unlink(counts)
    return done.returncode, counted, performed, done.stderr.decode()


def count_calls(fault, name, base, pages, trials):
    destination = trials.destination(name)
    status, *counts, errors = injected(fault, 0, destination, destination.command(QUIRE, base, pages))
    if status or (flaw := destination.flaw(pages)):
        trials.wrong(f"{name}, without any fault: status {status}: {errors or flaw}")
    destination.remove()
    return counts


def kill_at_calls(base, trials):
    """SIGKILL at each call that can change anything outside the process."""
    for name in SINKS:
        began, before = time.time(), len(flaws)
        count, here = count_calls("kill", name, base, PAGES, trials)
        states, reached = set(), set()

        def trial(when, fault="kill"):
            destination = trials.destination(name)
            command = destination.command(QUIRE, base, PAGES)
            status, _, performed, errors = injected(fault, when, destination, command)
            if status == 137:
                reached.add(performed)
            elif status:
                trials.wrong(f"{name}, to be killed at call {when}: status {status}: {errors[-400:]}")
            # What is as after another kill needs no second proof.
            state = destination.state()
            if state in states:
                destination.remove()
            else:
                states.add(state)
                run_again(destination, command, PAGES, f"{name}, killed at call {when}", trials)
            return status == 137

        # Threads make some calls more in one run than in another, and in another order.
        killed = sum(trials.each(trial, range(1, count + 10, STRIDE)))
        if STRIDE == 1:
            left = set(range(here)) - reached
            killed += sum(trials.each(lambda performed: trial(performed + 1, "killhere"), left))
            if left := set(range(here)) - reached:
                trials.wrong(f"{name}: no run was killed behind calls {sorted(left)} of {here} on the destination")
        print(f"  {name:16} {killed:6} kills at {count} calls, behind {len(reached - {here})} of {here} on the destination, "
              f"leave {len(states)} states: {len(flaws) - before} not whole, {time.time() - began:.0f} s", flush=True)


def fail_at_writes(base, trials):
    """Each call that writes fails, or writes half; then all is as it was. Of a database, which takes care of its disk
    itself, it is the connection that fails."""
    for name in SINKS:
        began, before, runs, ended = time.time(), len(flaws), 0, 0
        for fault in CONNECTION_FAULTS if name.startswith("postgres") else FAULTS:

            def trial(when):
                destination = trials.destination(name)
                command = destination.command(QUIRE, base, FAULT_PAGES)
                status, _, _, errors = injected(fault, when, destination, command)
                what = f"{name}, {fault} at write {when}"
                if status not in (0, 1) or status and "quire: " not in errors:
                    trials.wrong(f"{what}: status {status}: {errors[-400:]}")
                if status == 0 and (flaw := destination.flaw(FAULT_PAGES)):
                    trials.wrong(f"{what} and success: {flaw}")
                run_again(destination, command, FAULT_PAGES, what, trials)
                return status == 1

            count, _ = count_calls(fault, name, base, FAULT_PAGES, trials)
            results = trials.each(trial, range(1, count + 1, STRIDE))
            runs, ended = runs + len(results), ended + sum(results)
        print(f"  {name:16} {runs:6} runs, {ended} ended by it: {len(flaws) - before} not whole, "
              f"{time.time() - began:.0f} s", flush=True)


def fail_server(base, trials):
    """PostgreSQL itself is full, is read-only, and crashes, in the middle of exports."""
    numbers, cluster, pad = random.Random(SEED), trials.cluster, 8000
    messages = {}

    def refused(what, destination, command):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, **QUIET)
        if done.returncode != 1 or "quire: " not in done.stderr:
            trials.wrong(f"{what}: status {done.returncode}: {done.stderr[-400:]}")
        messages[what] = next((line for line in done.stderr.splitlines() if "PostgreSQL" in line), "?")

    for size in range(1_200_000, 4_400_000, 400_000):
        destination = trials.destination("postgres")
        command = destination.command(QUIRE, base, PAGES, pad)
        # In the middle of a block, as a disk would be full.
        cluster.limit_files(size // 8192 * 8192 + 4096)
        refused("a full disk", destination, command)
        cluster.limit_files(None)
        run_again(destination, command, PAGES, f"postgres, files of {size} bytes at most", trials)
    destination = trials.destination("postgres by key")
    command = destination.command(QUIRE, base, PAGES)
    injected("killhere", 500, destination, command)
    trials.cluster.alter("default_transaction_read_only", "on")
    refused("a server that is read-only", destination, command)
    trials.cluster.alter("default_transaction_read_only", "off")
    run_again(destination, command, PAGES, "postgres, read-only", trials)
    for what, message in messages.items():
        print(f"  {what}: {message[:150]}", flush=True)
    crashes = 0
    for _ in range(20):
        destination = trials.destination("postgres")
        command = destination.command(QUIRE, base, PAGES)
        listing.ask(base, "/count")
        process = subprocess.Popen(command, stderr=subprocess.PIPE, **QUIET)
        # A destination that is not there at the beginning is an error.
        while not listing.ask(base, "/count") and process.poll() is None:
            time.sleep(0.005)
        time.sleep(numbers.uniform(0, 0.5))
        crashes += process.poll() is None
        cluster.control("restart", "-m", "immediate")
        _, errors = process.communicate()
        if process.returncode:
            trials.wrong(f"postgres, a crash (seed {SEED}): status {process.returncode}: {errors.decode()[-400:]}")
        run_again(destination, command, PAGES, f"postgres, a crash (seed {SEED})", trials)
    print(f"  {crashes} crashes of the server in the middle of exports, which went on by themselves", flush=True)


def kill_at_moments(base, trials):
    """SIGKILL at random moments, until the export is complete; a sync with children counts as a sink."""
    names = SINKS + ["sync"] + ["sync postgres"] * any(name.startswith("postgres") for name in SINKS)
    share = -(-KILLS // len(names))
    total = 0
    for name in names:
        began, before = time.time(), len(flaws)
        taken = [0]

        def trial(seed):
            numbers, kills = random.Random(seed), 0
            while taken[0] < share:
                destination = trials.destination(name)
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
    """A sync of parents and their children into a database."""
    PARENTS = 1200

    def __init__(self, name, folder, cluster):
        self.folder, self.parents = folder, self.PARENTS
        self.path, self.to = os.path.join(folder, "sync.json"), folder + "/sync.db"
        os.makedirs(folder)
        self.cluster = cluster if name.endswith("postgres") else None
        if self.cluster:
            self.schema = os.path.basename(folder)
            self.to = f"{cluster.url}?options=-csearch_path%3D{self.schema}"
            postgres.rows(cluster.url, f"CREATE SCHEMA {self.schema}")

    def command(self, quire, base, _):
        pagination = {"next": {"pageNumber": {"first": 1}}, "send": {"query": "page"}, "items": "/items",
                      "end": [{"flag": "/more"}]}
        content = {"to": self.to, "listings": {
            "parents": {"url": f"{base}/parents?count={self.parents}", "key": "id", "pagination": pagination},
            "children": {"url": f"{base}/parents/{{id}}/children", "for": "parents", "key": "id",
                         "with": {"parent": "id"}, "pagination": pagination}}}
        with open(self.path, "w") as file:
            json.dump(content, file)
        return [quire, "sync", self.path]

    def rows(self, table, column):
        if self.cluster:
            statement = f"SELECT {column} FROM {self.schema}.{table} ORDER BY {column}"
            return [int(row[0]) for row in postgres.rows(self.cluster.url, statement)]
        with sinks.sqlite3.connect(self.to) as database:
            return [row[0] for row in database.execute(f"SELECT {column} FROM {table} ORDER BY {column}")]

    def flaw(self, _):
        found, parents = self.rows("children", "parent"), self.rows("parents", "id")
        wanted = list(range(self.parents))
        return None if found == wanted and parents == wanted else f"{len(found)} children, {len(parents)} parents"

    def remove(self):
        if self.cluster:
            postgres.rows(self.cluster.url, f"DROP SCHEMA {self.schema} CASCADE")
        shutil.rmtree(self.folder)


def run_twice(base, trials):
    """A second run into a destination that one writes to ends before it requests anything."""
    for name in SINKS:
        destination = trials.destination(name)
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
    sync = trials.destination("sync")
    sync.parents = PARENTS
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


def cost_of_checkpoint(base, trials):
    """See cost.py."""
    # Not where the trials are: to confirm what is in memory costs nothing.
    with tempfile.TemporaryDirectory(prefix="quire-cost-", dir=os.environ.get("DISK")) as disk:
        memory = os.path.join(trials.work, "cost")
        os.makedirs(memory)
        for what, share in cost.rows(QUIRE, base, os.path.dirname(INJECT), disk, memory):
            if share > cost.BAR:
                trials.wrong(f"the checkpoint costs {share:.1%}: {what}")


TITLES = {
    "twice": (run_twice, "two runs into one destination; bar: the second ends before it requests anything"),
    "faults": (fail_at_writes, f"{', '.join(FAULTS)} at each write of {FAULT_PAGES} pages, of a database's connection "
               f"{', '.join(CONNECTION_FAULTS)}, then run again; bar: 0"),
    "server": (fail_server, "PostgreSQL is full, read-only, and crashes, then run again; bar: 0"),
    "calls": (kill_at_calls, f"killed at each call of {PAGES} pages that can change anything, then run again; bar: 0"),
    "moments": (kill_at_moments, f"{KILLS} kills at random moments of {PAGES} pages; bar: 0"),
    "cost": (cost_of_checkpoint, "what the checkpoint costs, JSON Lines from 1 MB pages; bar: 3 %"),
    "memory": (measure_memory, f"memory of a sync with {PARENTS} parents; bar: 100 MiB"),
}


def main():
    # Ends the server and the cluster, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    base = listing.started(PAGES, PARENTS)
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a kill needs no disk
    cluster = postgres.Cluster() if any(name.startswith("postgres") for name in SINKS) else None
    try:
        with tempfile.TemporaryDirectory(prefix="quire-proof-", dir=room) as work:
            trials = Trials(work, cluster)
            try:
                for row in ROWS:
                    run, title = TITLES[row]
                    print(f"{title}:", flush=True)
                    run(base, trials)
            finally:
                trials.pool.shutdown(cancel_futures=True)
    finally:
        if cluster:
            cluster.end()
    print(f"{len(flaws)} wrong")
    sys.exit(1 if flaws else 0)


main()
