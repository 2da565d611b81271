"""Drains listings through `quire export` and compares each item with what the server really has.

`drain.py QUIRE NAME=VALUE…` prints a line for each drain and, at the end, `N passed, N failed`.
The values are the servers' URLs, the files of their databases, and how much they hold.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from listings import datasette, django
from service_listings import amazon_services, graphql, scim, taxii
from xml_listings import oai_pmh, s3


class Difference(Exception):
    """A sentence that says what is not as it should be."""


def expect(what, actual, expected):
    if actual != expected:
        raise Difference(f"{what}: {actual!r}, expected {expected!r}")


def export(quire, listing, folder, *options):
    """Runs `quire export` to its end; returns all lines of its output file, and its report."""
    output, report = folder / "items.jsonl", folder / "report.json"
    arguments = [quire, "export", listing.url, *listing.how, *options]
    run = subprocess.run(
        [*arguments, "-o", output, "--report", report], capture_output=True, text=True
    )
    if run.returncode != 0:
        raise Difference(f"exit status {run.returncode}: {run.stderr.strip()}")
    # Not splitlines(): that would split at U+2028 too, which JSON leaves alone.
    lines = output.read_text(encoding="utf-8").split("\n")
    expect("what follows the last line break", lines.pop(), "")
    return lines, json.loads(report.read_text())


def expect_rows(lines, listing):
    """Every line is the row of its place: same members in the same order, same numbers."""
    for place, (line, row) in enumerate(zip(lines, listing.rows)):
        expect(f"item {place}", json.dumps(listing.row(json.loads(line))), json.dumps(row))
    expect("number of items", len(lines), len(listing.rows))


def whole(quire, listing, folder, ahead="0"):
    """The whole listing in one run, one page after the other."""
    lines, report = export(quire, listing, folder, "--look-ahead", ahead)
    expect_rows(lines, listing)
    expect("end", report["end"], "exhausted")
    expect("items reported", report["items"], len(listing.rows))
    if listing.pages:
        expect("pages reported", report["pages"], listing.pages)


def look_ahead(quire, listing, folder):
    """The same, with pages loaded while earlier ones are written."""
    whole(quire, listing, folder, ahead="2")


def resumed(quire, listing, folder):
    """Stopped in the middle of a page, and taken up by a new process."""
    part = len(listing.rows) // 3 + 1
    lines, report = export(quire, listing, folder, "--max-items", str(part))
    expect("items before the stop", len(lines), part)
    expect("end", report["end"], "limit (items)")
    lines, report = export(quire, listing, folder, "--from", f"@{folder / 'report.json'}")
    expect_rows(lines, listing)
    expect("end", report["end"], "exhausted")


def verdict(way, quire, listing):
    """What is wrong with a drain; empty when nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            way(quire, listing, Path(folder))
            return ""
        except Difference as difference:
            return str(difference)


def listings(at):
    large, small, count = at["large"], at["small"], int(at["count"])
    return (
        datasette(at["datasette"], large)
        + django(at["django"], small)
        + graphql(at["django"], small)
        + s3(at["moto"])
        + amazon_services(at["moto"])
        + oai_pmh(at["oai"])
        + scim(at["scim"], count)
        + taxii(at["taxii"], count)
    )


def main(quire, *servers):
    passed = failed = 0
    for listing in listings(dict(server.split("=", 1) for server in servers)):
        for way in [whole, look_ahead, resumed] if listing.resumable else [whole, look_ahead]:
            start = time.monotonic()
            problem = verdict(way, quire, listing)
            seconds = time.monotonic() - start
            failed += bool(problem)
            passed += not problem
            name, count = way.__name__.replace("_", " "), len(listing.rows)
            result = f"FAILED: {problem}" if problem else "ok"
            print(f"{listing.name:32}{name:12}{count:8} items {seconds:6.1f} s  {result}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
