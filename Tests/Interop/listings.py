"""What is drained: every listing of every server, and the rows each must yield."""

import sqlite3
from pathlib import Path
from typing import Callable, NamedTuple


class Listing(NamedTuple):
    """A listing of a server, how to walk it, and what it must yield."""

    name: str
    url: str
    how: list
    page_size: int | None
    rows: list
    # What a row is made of, where an item is not the row itself.
    row: Callable = dict
    # Whether a page can be asked for again, by another process.
    resumable: bool = True

    @property
    def pages(self):
        """How many pages hold the rows; nothing where the server's pages are of no even size."""
        return self.page_size and -(-len(self.rows) // self.page_size)


def rows(database, order="id"):
    """All rows of the server's own table, in the order in which the listing shows them."""
    with sqlite3.connect(database) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"select * from records order by {order}")]


def datasette(server, database):
    """Datasette's three ways to say what follows: a URL, a token, a Link header."""
    table = f"{server}/{Path(database).stem}/records.json"
    objects, array = f"{table}?_shape=objects", f"{table}?_shape=array"
    by_url = ["--preset", "datasette", "--page-size", "1000"]
    by_token = ["--next", "body:/next", "--send", "query:_next", "--items", "/rows"]
    by_header = ["--preset", "linkHeader"]
    by_id, by_note = rows(database), rows(database, "note, id")
    sized, sorted_by_note = "&_size=1000", "&_size=1000&_sort=note"
    return [
        Listing("Datasette, next_url", objects, by_url, 1000, by_id),
        Listing("Datasette, token", objects + sized, by_token, 1000, by_id),
        # Tokens in two parts: first null, later text of every script.
        Listing("Datasette, token of two parts", objects + sorted_by_note, by_token, 1000, by_note),
        Listing("Datasette, Link header", array + sized, by_header, 1000, by_id),
    ]


def django(server, database):
    """Django REST framework's three styles: by its own links, and by counting where one can."""
    pages, offsets, cursors = f"{server}/pages/", f"{server}/offsets/", f"{server}/cursors/"
    drf, sized = ["--preset", "drf"], ["--preset", "drf", "--page-size", "137"]
    results = ["--items", "/results"]
    by_page = ["--next", "page", "--send", "query:page", "--end", "status:404", *results]
    by_offset = ["--next", "offset", "--send", "query:offset", "--end", "total:/count", *results]
    by_id, by_big = rows(database), rows(database, "big, id")
    return [
        Listing("DRF, page number, its link", pages, sized, 137, by_id),
        Listing("DRF, page number, until 404", pages, by_page, 100, by_id),
        Listing("DRF, limit/offset, its link", offsets, drf, 100, by_id),
        Listing("DRF, limit/offset, until total", offsets, by_offset, 100, by_id),
        Listing("DRF, cursor", cursors, sized, 137, by_big),
    ]
