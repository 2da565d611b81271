#!/usr/bin/env python3
"""Four workers of a sync on one PostgreSQL, of which one is killed every second, while the server restarts twice.

Tests/Exporting/machines.py QUIRE [SECONDS [SEED]]

Kills for SECONDS (120), then lets the workers finish, and compares what the database holds with what was served.
"""
import http.server
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import postgres

QUIRE = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 120
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.getrandbits(32)
WORKERS, LEASE, PAGES, SIZE = 4, 3, 3, 5
failures = 0


class Listing(http.server.BaseHTTPRequestHandler):
    """/parents?page=N, a hundred to a page; /parents/N/children?page=M."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        path, _, query = self.path.partition("?")
        page = int(query.partition("page=")[2].split("&")[0] or 1)
        words = path.strip("/").split("/")
        if len(words) == 1:
            items = [{"id": n} for n in range((page - 1) * 100, min(self.server.parents, page * 100))]
            more = page * 100 < self.server.parents
        else:
            items = [{"id": f"{words[1]}-{page}-{n}", "page": page} for n in range(SIZE)]
            more = page < PAGES
            self.server.requests += 1
            # Slow enough that kills come in the middle of units.
            time.sleep(0.02)
        body = json.dumps({"items": items, "more": more}).encode()
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
    requests = 0

    def handle_error(self, *_):
        """A client that was killed is what this is about."""


def rows(cluster, statement):
    """The rows of an answer, columns parted by bars; nil while the server is away."""
    try:
        return ["|".join(row) for row in postgres.rows(cluster.url, statement)]
    except RuntimeError:
        return None


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print(f"  LOST OR REPEATED: {what}: {found}, not {wanted} (seed {SEED})")


def write_file(base, folder, url):
    path = os.path.join(folder, "forge.json")
    pagination = {"next": {"pageNumber": {"first": 1}}, "send": {"query": "page"}, "items": "/items",
                  "end": [{"flag": "/more"}]}
    # Without a key, what came twice would be there twice.
    json.dump({
        "to": url, "state": url,
        "listings": {
            "parents": {"url": f"{base}/parents", "key": "id", "mode": "once", "pagination": pagination},
            "children": {"url": f"{base}/parents/{{id}}/children", "for": "parents", "mode": "once",
                         "pagination": pagination},
        }}, open(path, "w"))
    return [QUIRE, "sync", path, "--lease", f"{LEASE}s"]


class Watch(threading.Thread):
    """How long leases whose time has run out wait for another worker."""
    longest = 0.0

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.is_over = cluster, False

    def run(self):
        while not self.is_over:
            found = rows(
                self.cluster,
                "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - until)), 0) FROM _quire_leases "
                "WHERE state = 'open' AND until < clock_timestamp()")
            if found:
                self.longest = max(self.longest, float(found[0]))
            time.sleep(0.2)


def kill_workers(command, cluster, numbers):
    workers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(WORKERS)]
    began, kills, restarts = time.time(), 0, 0
    while time.time() - began < SECONDS:
        time.sleep(1)
        index = numbers.randrange(WORKERS)
        if workers[index].poll() is None:
            kills += 1
        workers[index].kill()
        workers[index].wait()
        workers[index] = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        if restarts < 2 and time.time() - began > SECONDS * (restarts + 1) / 3:
            # Once as a crash would, once as an administrator does.
            cluster.control("restart", "-m", ["immediate", "fast"][restarts])
            restarts += 1
    return workers, kills, restarts


def main():
    print(f"seed {SEED}")
    numbers = random.Random(SEED)
    server = Server(("127.0.0.1", 0), Listing)
    # More than are read while workers are killed.
    server.parents = int(SECONDS * 40)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder, cluster = tempfile.mkdtemp(), postgres.Cluster()
    try:
        command = write_file(f"http://127.0.0.1:{server.server_port}", folder, cluster.url)
        watch = Watch(cluster)
        watch.start()
        workers, kills, restarts = kill_workers(command, cluster, numbers)
        done = rows(cluster, "SELECT count(*) FROM _quire_leases WHERE work LIKE '%children' AND state = 'done'")
        statuses = [worker.wait() for worker in workers]
        watch.is_over = True
        check("statuses", statuses, [0] * WORKERS)
        count = server.parents * PAGES * SIZE
        check("children", rows(cluster, "SELECT count(*), count(DISTINCT id) FROM children"), [f"{count}|{count}"])
        check("parents", rows(cluster, "SELECT count(*), count(DISTINCT id) FROM parents"),
              [f"{server.parents}|{server.parents}"])
        check("leases that waited for longer than their time", watch.longest > LEASE, False)
        again = server.requests - server.parents * PAGES
        print(f"{WORKERS} workers on one PostgreSQL: {kills} kills in {SECONDS:.0f} s, {restarts} restarts of the "
              f"server; {server.parents} units, {(done or ['?'])[0]} of them done while workers were killed; "
              f"{count} records, {again} pages asked for again")
        print(f"leases of {LEASE} s: one that ran out was taken after {watch.longest:.1f} s at most")
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)
    print("nothing lost, nothing repeated" if failures == 0 else f"{failures} FAILURES")
    sys.exit(failures > 0)


main()
