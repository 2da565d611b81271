"""The destinations of an export: what leads to one, what it must hold, and what it holds."""
import csv
import functools
import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import time

import listing
import postgres

NAMES = ["jsonl", "json", "csv", "tsv", "jsonl.gz", "json.gz", "csv.gz", "tsv.gz", "db", "db by key",
         "postgres", "postgres by key"]
COLUMNS = ["id", "name", "tags", "value", "late"]


def row(item):
    """An item as a row of texts; what is not there is None."""
    tags = json.dumps(item["tags"], separators=(",", ":"))
    late = item.get("late")
    return (str(item["id"]), item["name"], tags, str(item["value"]), None if late is None else repr(late))


@functools.cache
def wanted(pages, are_rows):
    """The items of a listing, as a destination must hold them."""
    items = [listing.item(n, pages) for n in range(pages * listing.SIZE)]
    return [row(item) for item in items] if are_rows else items


class Destination:
    """One place to export to, for one trial."""

    def __init__(self, name, folder, cluster):
        self.name, self.folder, self.where = name, folder, folder
        self.kind, _, key = name.partition(" by ")
        self.path = os.path.join(folder, "out." + self.kind)
        os.makedirs(folder, exist_ok=True)
        self.options = []
        if self.kind == "postgres":
            self.cluster, self.schema, self.where = cluster, os.path.basename(folder), f":{cluster.port}"
            self.path = f"{cluster.url}?application_name={self.schema}&options=-csearch_path%3D{self.schema}"
            self.rows(f"CREATE SCHEMA {self.schema}")
        if self.kind in ("db", "postgres"):
            self.options = ["--table", "t"] + (["--key", "/id"] if key else [])

    def rows(self, statement):
        return postgres.rows(self.cluster.url, statement)

    def command(self, quire, base, pages, pad=0):
        return [quire, "export", f"{base}/list?page=0&of={pages}&pad={pad}", "--preset", "linkHeader", "-o", self.path,
                "--commit-every", "0"] + self.options

    def found(self):
        if self.kind == "postgres":
            found = self.rows(
                f"SELECT json_build_array(id::text, name, tags::text, value::text, late::double precision) "
                f"FROM {self.schema}.t ORDER BY id")
            rows = [json.loads(line) for line, in found]
            return [(*row[:4], None if row[4] is None else repr(float(row[4]))) for row in rows]
        if self.kind == "db":
            with sqlite3.connect(self.path) as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                rows = database.execute("SELECT id, name, tags, value, late FROM t ORDER BY rowid").fetchall()
            return [(str(a), b, c, str(d), None if e is None else repr(float(e))) for a, b, c, d, e in rows]
        content = open(self.path, "rb").read()
        text = (gzip.decompress(content) if self.kind.endswith("gz") else content).decode()
        if "json" in self.kind:
            return [json.loads(line) for line in text.splitlines()] if "jsonl" in self.kind else json.loads(text)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter="," if "csv" in self.kind else "\t"))
        assert rows[0] == COLUMNS, rows[0]
        return [(*row[:4], repr(float(row[4])) if row[4] else None) for row in rows[1:]]

    def state(self):
        """A hash of all that is there."""
        if self.kind == "postgres":
            return self.tables()
        state = hashlib.sha256()
        for name in sorted(os.listdir(self.folder)):
            content = open(os.path.join(self.folder, name), "rb").read()
            # Where the trial has its folder says nothing about its state.
            state.update(f"{name} {len(content)} ".encode() + content.replace(self.folder.encode(), b""))
        return state.hexdigest()

    def tables(self):
        """A hash of the schema and what its tables hold, once no connection of the trial is left."""
        while self.rows(f"SELECT 1 FROM pg_stat_activity WHERE application_name = '{self.schema}'"):
            time.sleep(0.002)
        xml = f"schema_to_xml_and_xmlschema('{self.schema}', true, false, '')::text"
        return self.rows(f"SELECT md5(replace({xml}, '{self.schema}', ''))")[0][0]

    def flaw(self, pages):
        """What is not as it must be; nil where all is."""
        try:
            found = self.found()
        except Exception as error:
            return f"not readable: {error!r}"
        must = wanted(pages, "json" not in self.kind)
        if found == must:
            left = [name for name in os.listdir(self.folder) if ".quire-" in name or name.endswith(".new")]
            return f"left behind: {left}" if left else None
        first = next((n for n, pair in enumerate(zip(found, must)) if pair[0] != pair[1]), min(len(found), len(must)))
        return f"{len(found)} items, not {len(must)}; at {first}: {found[first:first + 1]}, not {must[first:first + 1]}"

    def remove(self):
        if self.kind == "postgres":
            self.rows(f"DROP SCHEMA {self.schema} CASCADE")
        shutil.rmtree(self.folder)
