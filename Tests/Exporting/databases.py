#!/usr/bin/env python3
"""Kills exports into SQLite and syncs with children, and measures the memory of 100,000 parents.

Tests/Exporting/databases.py QUIRE [KILLS [PARENTS [SEED]]]

KILLS (200) runs are killed at random moments, and as many at random system calls that write, which strace
chooses where it is installed. What a database holds in the end is compared with what was served.
"""
import http.server
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

QUIRE = sys.argv[1]
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
PARENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.getrandbits(32)
PAGES, SIZE = 60, 10
CALLS = "pwrite64,fdatasync,fsync,unlink,ftruncate"
failures = 0


class Handler(http.server.BaseHTTPRequestHandler):
    """/items?page=N; /parents?page=N, a thousand to a page; /parents/N/children?page=M."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    padding = "x" * 100_000

    def do_GET(self):
        path, _, query = self.path.partition("?")
        page = int(query.partition("page=")[2].split("&")[0] or 1)
        words = path.strip("/").split("/")
        if words[0] == "items":
            items = [] if page > PAGES else [
                {"id": n, "name": f"item {n}", "text": self.padding}
                for n in range((page - 1) * SIZE, page * SIZE)]
        elif len(words) == 1:
            count = self.server.parents
            items = [{"id": n} for n in range((page - 1) * 1000, min(count, page * 1000))]
        else:
            items = [{"id": f"{words[1]}-{page}"}] if page < 2 else []
        # Pages of children say themselves that they are the last.
        body = json.dumps({"items": items, "more": len(words) == 1 and bool(items)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    parents = 0

    def handle_error(self, *_):
        """A client that was killed is what this is about."""


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print(f"  LOST OR REPEATED: {what}: {found}, not {wanted} (seed {SEED})")


def end_in(process, seconds):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        return process.wait()


def rows(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchone()


def export(base, path, key):
    return [QUIRE, "export", f"{base}/items", "--next", "page", "--send", "query:page", "--end", "empty",
            "--items", "/items", "-o", path, "--table", "t"] + (["--key", "/id"] if key else [])


def finish(command, path, what):
    done = subprocess.run(command, capture_output=True, text=True)
    check(f"{what}: status", done.returncode, 0)
    check(what, rows(path, "SELECT count(*), count(DISTINCT id), max(id), max(rowid) FROM t"),
          (PAGES * SIZE, PAGES * SIZE, PAGES * SIZE - 1, PAGES * SIZE))
    check(what, rows(path, "PRAGMA integrity_check"), ("ok",))


def kill_at_moments(base, folder, numbers):
    kills = 0
    while kills < KILLS:
        path = os.path.join(folder, f"moment-{kills}.db")
        command = export(base, path, kills % 2)
        while kills < KILLS:
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            if end_in(process, numbers.uniform(0.02, 1.2)) == 0:
                break
            kills += 1
        finish(command, path, f"killed at a moment, run {kills}")
        os.unlink(path)
    print(f"export into SQLite, {kills} kills at random moments")


def kill_at_calls(base, folder, numbers):
    if not shutil.which("strace"):
        print("export into SQLite, kills at system calls: skipped, strace is not installed")
        return
    kills = 0
    for run in range(KILLS):
        path = os.path.join(folder, f"call-{run}.db")
        command = export(base, path, run % 2)
        # The first calls of a commit and the last ones are few among many: small numbers come more often.
        when = int(10 ** numbers.uniform(0, 4.1))
        name = numbers.choice(CALLS.split(",")) if when < 30 else "pwrite64"
        traced = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}",
             "-e", f"inject={name}:signal=SIGKILL:when={when}"] + command,
            stderr=subprocess.DEVNULL)
        kills += traced.returncode != 0
        finish(command, path, f"killed at {name} {when}")
        os.unlink(path)
    print(f"export into SQLite, {kills} kills at random calls of {CALLS}")


def sync_file(base, folder, name):
    path = os.path.join(folder, name)
    pagination = {"next": {"pageNumber": {"first": 1}}, "send": {"query": "page"}, "items": "/items",
                  "end": [{"flag": "/more"}]}
    json.dump({
        "to": path + ".db",
        "listings": {
            "parents": {"url": f"{base}/parents", "key": "id", "pagination": pagination},
            "children": {"url": f"{base}/parents/{{id}}/children", "for": "parents", "key": "id",
                         "with": {"parent": "id"}, "pagination": pagination},
        }}, open(path, "w"))
    return path


def finish_sync(path, parents, what):
    done = subprocess.run([QUIRE, "sync", path], capture_output=True, text=True)
    check(f"{what}: status", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    check(what, rows(path + ".db", "SELECT count(*), count(DISTINCT parent) FROM children"), (parents, parents))
    check(what, rows(path + ".db", "SELECT count(*) FROM parents"), (parents,))


def kill_syncs(server, base, folder, numbers):
    server.parents = 1500
    kills = 0
    while kills < KILLS:
        path = sync_file(base, folder, f"sync-{kills}.json")
        while kills < KILLS:
            process = subprocess.Popen([QUIRE, "sync", path], stderr=subprocess.DEVNULL)
            if end_in(process, numbers.uniform(0.05, 1.5)) == 0:
                break
            kills += 1
        finish_sync(path, server.parents, f"sync, kill {kills}")
    print(f"sync of parents and children, {kills} kills at random moments")


def measure_parents(server, base, folder):
    server.parents = PARENTS
    path = sync_file(base, folder, "many.json")
    began = time.time()
    process = subprocess.Popen([QUIRE, "sync", path], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check("sync of many parents: status", process.returncode, 0)
    check("children", rows(path + ".db", "SELECT count(*) FROM children"), (PARENTS,))
    print(f"sync of {PARENTS} parents: {usage.ru_maxrss / 1024:.0f} MiB at most (bar 100), "
          f"{time.time() - began:.0f} s")
    check("memory within 100 MiB", usage.ru_maxrss / 1024 <= 100, True)


def main():
    print(f"seed {SEED}")
    numbers = random.Random(SEED)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        if KILLS:
            kill_at_moments(base, folder, numbers)
            kill_at_calls(base, folder, numbers)
            kill_syncs(server, base, folder, numbers)
        if PARENTS:
            measure_parents(server, base, folder)
    print("nothing lost, nothing repeated" if failures == 0 else f"{failures} FAILURES")
    sys.exit(failures > 0)


main()
