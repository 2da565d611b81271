#!/usr/bin/env python3
"""Races, and prints how the racers compare: `measure.py WORK PORT [ROW…]`, of ROUNDS rounds (5).

Whole commands, each on one core, the server on the other. Fails where a racer finds other items than there are; that
a bar is missed is only said.
"""
import os
import socket
import subprocess
import sys
from statistics import median
from time import perf_counter

from racers import (
    CURSOR, EXECUTOR, FLOOR, ONE, PAGINATOR, RACERS, TOOL, TWO, WALKS, built, command, is_there, port, race, ratio, rounds,
    seconds, work,
)  # fmt: skip


def figure(what, value, bar=None, unit="×"):
    verdict = "" if bar is None else f"≤ {bar:<6}{'holds' if value <= bar else 'MISSED'}"
    print(f"{what:<64}{value:8.2f} {unit:<5}{verdict}".rstrip(), flush=True)


def column(mode):
    """A column of the table: the racers' times ÷ the floor's, of small and of big pages."""
    modes = ["typed", "readable"] if mode == "typed" else [mode]
    names = [name for name in RACERS if name != FLOOR and mode in RACERS[name] and is_there(name)]
    cells, paginator = {}, None
    for kind in WALKS:
        floor = (FLOOR, "bytes", kind)
        racing = [(name, one, kind) for one in modes for name in names if one in RACERS[name]]
        times, changed = race([floor, *racing])
        for entry in racing:
            cells[entry] = ratio(times[entry], times[floor])
            cells[entry[0], "is changed"] = cells.get((entry[0], "is changed")) or entry in changed
        if mode == "bytes" and kind == "page":
            paginator = ratio(times[PAGINATOR, mode, kind], times[CURSOR, mode, kind])
    return {
        "text": {
            name: " · ".join(
                " / ".join(f"{cells[name, one, kind]:.1f}" for kind in WALKS) for one in modes if one in RACERS[name]
            )
            + (" (changed)" if cells[name, "is changed"] else "")
            for name in names
        },
        "cells": cells,
        "paginator": paginator,
    }


def table(modes):
    found = {mode: column(mode) for mode in modes}
    print(f"× {FLOOR}. Pages of 22 KB / of 1.1 MB; typed by Quire: Decodable · JSONReadable.\n")
    print(f"| | {' | '.join(modes)} |\n|---|{'---|' * len(modes)}")
    for name in RACERS:
        texts = [found[mode]["text"].get(name, "1.0 / 1.0" if (name, mode) == (FLOOR, "bytes") else "") for mode in modes]
        print(f"| {name} | {' | '.join(texts)} |")
    print()
    for name, mode, kind, bar in [
        (CURSOR, "bytes", "page", 1.8), (EXECUTOR, "bytes", "page", 1.3), (CURSOR, "untyped", "large", 4),
        (CURSOR, "typed", "page", 3.5), (CURSOR, "typed", "large", 7), (CURSOR, "readable", "page", 2.4),
        (CURSOR, "readable", "large", 4.1), (TOOL, "lines", "page", 2.1), (TOOL, "lines", "large", 2.5),
    ]:  # fmt: skip
        part = found.get("typed" if mode == "readable" else mode)
        if part:
            figure(f"{name}, {mode}, {'small' if kind == 'page' else 'big'} pages", part["cells"][name, mode, kind], bar)
    if "bytes" in found:
        figure("Paginator ÷ cursor, bytes, small pages, one core", found["bytes"]["paginator"], 1.05)


def cores():
    entries = [(name, "typed", "page") for name in (PAGINATOR, CURSOR)]
    times, _ = race(entries, TWO)
    figure("Paginator ÷ cursor, typed, small pages, two cores", ratio(*(times[entry] for entry in entries)), 0.75)


def bucket():
    """XML to JSON Lines: fifty listings of a bucket, a thousand objects each."""
    rust, url, outputs = built / "rust/target/release/bucket", f"http://127.0.0.1:{port}/bucket?number=", set()
    tool = [str(built / "quire"), "export", url + "1", "--next", "linkHeader", "--max-pages", "50"]
    contenders = [[*tool, "--items", "/ListBucketResult/Contents"], [str(built / "floor"), "bytes", url, "50"]]
    contenders += [[str(rust), url, "50"]] if rust.exists() else []
    times = [[] for _ in contenders]
    for _ in range(rounds):
        for taken, argv in zip(times, contenders):
            taken.append(seconds(argv))
            if argv[1] != "bytes":
                outputs.add((work / "output").read_bytes())
    if len(outputs) > 1 or any(output.count(b"\n") != 50_000 for output in outputs):
        sys.exit("race: of XML, not all write the same lines.")
    figure("XML to JSON Lines by quire export", ratio(times[0], times[1]))
    if rust.exists():
        figure("  ÷ Rust: reqwest, quick-xml", ratio(times[0], times[2]), 1.1)


def start():
    """From exec to the first request, and the whole command, of one page that is there at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/page?number="
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[{\"id\":1}]"
        contenders = {
            "quire": [str(built / "quire"), "export", url + "1", "--next", "linkHeader"],
            "floor": [str(built / "floor"), "bytes", url, "1"],
        }
        firsts, wholes = {name: [] for name in contenders}, {name: [] for name in contenders}
        for _ in range(4 * rounds):  # it is short
            for name, argv in contenders.items():
                os.sched_setaffinity(0, ONE)
                begin = perf_counter()
                child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                os.sched_setaffinity(0, {0})
                with server.accept()[0] as connection:
                    connection.recv(1 << 16)
                    firsts[name].append(perf_counter() - begin)
                    connection.sendall(answer)
                    if child.wait():
                        sys.exit(f"race: {' '.join(argv)} failed.")
                wholes[name].append(perf_counter() - begin)
    for what, times, bar in [("exec to the first request", firsts, 1.8), ("a whole command of one page", wholes, 2.5)]:
        figure(f"quire export, {what}, ÷ C", ratio(times["quire"], times["floor"]), bar)
        figure("  in C", median(times["floor"]) * 1000, unit="ms")


def memory():
    for name, mode, bar in [(CURSOR, "typed", 20), (TOOL, "lines", 24)] + [
        (name, mode, None)
        for name in RACERS for mode in ("typed", "lines")
        if name not in (CURSOR, TOOL, "curl, jq") and mode in RACERS[name] and is_there(name)
    ]:  # fmt: skip
        sizes = []
        for _ in range(3):
            seconds(["/usr/bin/time", "--format=%M", f"--output={work}/memory", *command(name, mode, "page")])
            sizes.append(int((work / "memory").read_text()) / 1024)
        figure(f"resident memory, small pages, {mode}: {name}", median(sizes), bar, "MiB")


chosen = sys.argv[3:] or ["bytes", "untyped", "typed", "lines", "cores", "bucket", "start", "memory"]
columns = [row for row in ("bytes", "untyped", "typed", "lines") if row in chosen]
if columns:
    table(columns)
for row in (cores, bucket, start, memory):
    if row.__name__ in chosen:
        row()
