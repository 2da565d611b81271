"""What a checkpoint costs: a hundred pages of 1 MB exported into a file of JSON Lines, beside the same export to
standard output that leads to a file. Both write the same bytes to the same file system, and have the file confirmed by
the disk at its end. What the first does besides is to sum the bytes, to commit them on the way, and to keep beside
the file how far it reaches.

Instructions are those of the whole process outside the kernel, as valgrind counts them: they are the same whatever
else the machine does. Time is that from the start of the process to its end, which says how much is exported in a
second, and CPU time that of the whole process, outside the kernel and in it; both on a core that the server does not
use. Runs are made in pairs, one after the other, each kind first in turn, and each pair has a ratio. What is printed
is the median of the ratios, and the interval in which the median of ever more pairs lies with 95 %, which assumes
nothing of how they are spread (by the order of the values, as the sign test).
"""
import filecmp
import math
import multiprocessing
import os
import re
import statistics
import subprocess
import time

BAR = 0.03
PAIRS = int(os.environ.get("PAIRS", 60))
COUNTS = int(os.environ.get("COUNTS", 3))


def interval(values):
    """Between which of the values their median lies with 95 %, if there are six of them."""
    # As many may lie on one side as heads come in fewer than 2.5 % of so many throws.
    values, count, left = sorted(values), len(values), 0
    while sum(math.comb(count, n) for n in range(left + 1)) < 0.025 * 2 ** count:
        left += 1
    return values[max(left - 1, 0)], values[count - max(left, 1)]


def timed(command, output):
    """Seconds from start to end, and of the processor."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"status {process.returncode}: {command}")
    return elapsed, usage.ru_utime + usage.ru_stime


class Exports:
    """The two exports, into files of a folder; `tools` is where the proof's own programs are."""

    def __init__(self, quire, base, folder, tools):
        self.quire, self.folder, self.tools = quire, folder, tools
        self.arguments = ["export", f"{base}/large?page=0", "--preset", "linkHeader"]

    def cost(self, has_checkpoint, measure, *options):
        if has_checkpoint:
            return measure([self.quire] + self.arguments + ["-o", f"{self.folder}/whole"], subprocess.DEVNULL, *options)
        with open(f"{self.folder}/plain", "wb") as file:
            return measure([self.quire] + self.arguments, file, *options)

    def pair(self, measure, number=0):
        """What both cost, with a checkpoint and without."""
        order = (True, False) if number % 2 else (False, True)
        costs = {kind: self.cost(kind, measure) for kind in order}
        if not filecmp.cmp(f"{self.folder}/whole", f"{self.folder}/plain", shallow=False):
            raise RuntimeError("the two files differ")
        self.clear()
        return costs[True], costs[False]

    def clear(self):
        for name in os.listdir(self.folder):
            os.unlink(f"{self.folder}/{name}")

    def instructions(self, command, output, *options):
        # Valgrind would read all that is there for a debugger, and not understand all of it.
        stripped = f"{self.tools}/stripped"
        if not os.path.exists(stripped):
            subprocess.run(["strip", "--strip-debug", "-o", stripped, self.quire], check=True)
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options, stripped]
        # As many commits as without valgrind, which takes so long that some would be due.
        done = subprocess.run(
            valgrind + command[1:] + ["--commit-every", "1h"], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"LD_PRELOAD": f"{self.tools}/counted.so", "SWIFT_DETERMINISTIC_HASHING": "1"})
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            raise RuntimeError(f"status {done.returncode}: {done.stderr[-400:]}")
        return int(found[1])


def print_row(what, pairs, spread, unit):
    ratios = [whole / plain - 1 for whole, plain in pairs]
    cost, (least, most) = statistics.median(ratios), spread(ratios)
    whole, plain = (statistics.median(column) for column in zip(*pairs))
    print(f"  {what:20}{cost:7.2%}  {least:.2%} to {most:.2%} in {len(pairs)} pairs; "
          f"{unit.format(whole)}, and {unit.format(plain)} without", flush=True)
    return what, cost


def rows(quire, base, tools, disk, memory):
    """Prints the table, and yields what each row with a bar is and costs."""
    Exports(quire, base, memory, tools).pair(timed)  # makes the pages
    exports = Exports(quire, base, memory, tools)
    counted = [exports.pair(exports.instructions, number) for number in range(COUNTS)]
    yield print_row("instructions", counted, lambda ratios: (min(ratios), max(ratios)), "{:,.0f}")
    # Valgrind knows no wide multiplication, by which a step of the sum is of 256 bytes.
    summed = exports.cost(True, exports.instructions, "--toggle-collect=quire_crc32_by_64")
    exports.clear()
    print(f"    of them the sum   {summed / counted[0][1]:7.2%}  in steps of 64 bytes", flush=True)
    cores = sorted(os.sched_getaffinity(0))
    for server in multiprocessing.active_children():
        os.sched_setaffinity(server.pid, cores[:1])
    os.sched_setaffinity(0, cores[-1:])
    for where, folder in ("in memory", memory), ("on the disk", disk):
        exports = Exports(quire, base, folder, tools)
        pairs = [exports.pair(timed, number) for number in range(PAIRS)]
        columns = [[(whole[index], plain[index]) for whole, plain in pairs] for index in range(2)]
        yield print_row(f"time, {where}", columns[0], interval, "{:.3f} s")
        # Printed only: the bar is for what is exported in a second.
        print_row(f"CPU time, {where}", columns[1], interval, "{:.3f} s")
    for process in multiprocessing.active_children() + [multiprocessing.current_process()]:
        os.sched_setaffinity(process.pid, cores)
