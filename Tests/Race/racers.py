"""Who races, and a run of one: how long it took, and whether it found what there is."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

work, port = Path(sys.argv[1]), sys.argv[2]
built = Path(__file__).parent / ".build"
rounds = int(os.environ.get("ROUNDS", 5))
expected = json.loads((work / "expected.json").read_text())
WALKS = {"page": 2000, "large": 100}
# The server has core 0.
ONE, TWO = {1}, {0, 1}

FLOOR, TOOL = "C: libcurl, fetches only", "quire export"
CURSOR, PAGINATOR, EXECUTOR = "Quire: cursor", "Quire: Paginator", "Quire: on the transport's thread"


def program(path, *more, modes="bytes untyped typed lines"):
    return {mode: [*str(path).split(), mode, "{url}", "{pages}", *more] for mode in modes.split()}


def quire(reader):
    return program(built / "racer", reader, modes="bytes untyped typed readable lines")


RACERS = {
    FLOOR: program(built / "floor", modes="bytes"),
    "Rust: reqwest, serde_json": program(built / "rust/target/release/race"),
    "Go: net/http, encoding/json": program(built / "go"),
    "Swift: AsyncHTTPClient, Foundation": program(built / "release/ClientRacer"),
    "Python: requests, orjson": program(
        f"{built}/venv/bin/python {built.parent}/Peers/race.py", modes="bytes untyped lines"
    ),
    "curl, jq": {"lines": ["sh", "-c", "curl --silent --fail '{url}[1-{pages}]' | jq --compact-output '.[]'"]},
    CURSOR: quire("cursor"),
    PAGINATOR: quire("paginator"),
    EXECUTOR: quire("executor"),
    TOOL: {"lines": [str(built / "quire"), "export", "{url}1", "--next", "linkHeader", "--max-pages", "{pages}"]},
}


def is_there(name):
    """Whether a racer could be built."""
    return all(shutil.which(argv[0]) for argv in RACERS[name].values()) and (name != "curl, jq" or shutil.which("jq"))


def command(name, mode, kind):
    url = f"http://127.0.0.1:{port}/{kind}?number="
    return [part.replace("{url}", url).replace("{pages}", str(WALKS[kind])) for part in RACERS[name][mode]]


def seconds(argv, cores=ONE):
    """How long a command takes. What it prints is in the file `output`."""
    with open(work / "output", "wb") as output, open(work / "log", "wb") as log:
        os.sched_setaffinity(0, cores)
        start = perf_counter()
        status = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=log).wait()
        taken = perf_counter() - start
    if status:
        sys.exit(f"race: {' '.join(argv)} failed:\n{(work / 'log').read_text()[-2000:]}")
    return taken


def check(name, mode, kind):
    """Fails if a racer did not find what there is; whether it wrote lines other than the server's."""
    found = (work / "output").read_bytes()
    if mode == "lines":
        what, count = "lines", found.count(b"\n")
    else:
        what, count = "bytes" if mode == "bytes" else "sum", int(found)
    if count != expected[kind][what]:
        sys.exit(f"race: {name}, {mode}, {kind}: {what} {count} instead of {expected[kind][what]}")
    return mode == "lines" and hashlib.sha256(found).hexdigest() != expected[kind]["digest"]


def race(entries, cores=ONE):
    """The times of racers, by turns, so that what disturbs the machine disturbs all alike; and who changed lines."""
    times, changed = {entry: [] for entry in entries}, set()
    for number in range(rounds):
        for entry in entries:
            times[entry].append(seconds(command(*entry), cores))
            if number == 0 and check(*entry):
                changed.add(entry)
    return times, changed


def ratio(some, others):
    """The median of how many times longer one took than the other in the same round."""
    return median(one / other for one, other in zip(some, others))
