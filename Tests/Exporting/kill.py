"""Kills `quire export` by SIGKILL at random moments, runs it again until it is complete, and compares.

kill.py QUIRE KILLS prints, for each format, how many kills there were and how many exports were not whole.
"""
import csv
import gzip
import http.server
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import parse_qs, urlparse

PAGES, SIZE = 200, 20


def item(number):
    return {"id": number, "name": f"item {number}", "tags": ["a", number], "late": number if number > 1999 else None}


class Listing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = int(parse_qs(urlparse(self.path).query).get("page", ["0"])[0])
        body = json.dumps([item(page * SIZE + i) for i in range(SIZE)]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if page + 1 < PAGES:
            self.send_header("Link", f'</list?page={page + 1}>; rel="next"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def read(path):
    content = open(path, "rb").read()
    text = (gzip.decompress(content) if path.endswith(".gz") else content).decode()
    if ".csv" in path or ".tsv" in path:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="," if ".csv" in path else "\t")
        return [int(row["id"]) for row in rows]
    values = json.loads(text) if path.split(".")[1] == "json" else map(json.loads, text.splitlines())
    return [value["id"] for value in values]


def main():
    quire, kills = sys.argv[1], int(sys.argv[2])
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    random.seed(seed)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/list?page=0"
    names = ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz", "a.json.gz", "a.csv.gz", "a.tsv.gz"]
    broken = 0
    for name in names:
        done = exports = wrong = 0
        while done < kills / len(names):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                command = [quire, "export", url, "--preset", "linkHeader", "-o", path, "--commit-every", "0"]
                while True:
                    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    try:
                        errors = process.communicate(timeout=random.uniform(0.01, 0.4))[1]
                        break
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGKILL)
                        process.communicate()
                        done += 1
                exports += 1
                if process.returncode != 0 or read(path) != list(range(PAGES * SIZE)):
                    wrong += 1
                    print(f"{name}: not whole (status {process.returncode}): {errors.decode()[-300:]}")
        broken += wrong
        print(f"  {name:12} {done:6} kills, {exports:4} exports, {wrong} not whole", flush=True)
    print(f"  seed {seed}")
    sys.exit(1 if broken else 0)


main()
