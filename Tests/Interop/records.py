"""Writes a SQLite database of awkward records: `records.py FILE ROWS`."""

import sqlite3
import sys

# What breaks clients that guess: text that JSON must escape, text beyond the basic plane, and
# integers that a double cannot hold.
TEXTS = [
    "plain",
    "",
    'quote " and backslash \\ and slash /',
    "line\nbreak\ttab\u0001control\u007f",
    "next=1&page=2;cursor=%2F?#~,$null",
    "é as one, e\u0301 as two",
    "\U0001f469\u200d\U0001f680 astronaut \U0001d11e",
    "\u2028 line separator, \ufeff byte order mark, \u202e right to left",
    "漢字 العربية עברית हिन्दी",
]
INTEGERS = [0, -1, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
REALS = [0.0, -0.0, 0.1, 1 / 3, 1e-300, 1.7976931348623157e308, 123456789.125]


def record(number):
    """The record with this id: every column cycles with a length of its own."""
    text = TEXTS[number % len(TEXTS)]
    return (
        number,
        f"{text} {number}",
        INTEGERS[number % len(INTEGERS)],
        REALS[number % len(REALS)],
        None if number % 5 == 0 else text,
    )


def main(path, count):
    with sqlite3.connect(path) as database:
        database.execute(
            "create table records"
            " (id integer primary key, name text, big integer, ratio real, note text)"
        )
        database.executemany(
            "insert into records values (?, ?, ?, ?, ?)", map(record, range(1, count + 1))
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
