"""Compares what `quire feed` reads with what feedparser reads, over a corpus made up here.

feeds.py QUIRE: makes some hundred feeds of every XML format with the habits of the wild, serves them on
loopback, and fails where the two disagree about an entry's id, link, title, dates, authors, tags, files or text.
"""

import calendar
import datetime
import html
import http.server
import json
import random
import re
import subprocess
import sys
import threading

import feedparser

SEED = 17
COUNT = 400
ZONES = ["GMT", "UT", "EST", "+0000", "-0500", "+0530", "Z"]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa été naïve 日本 Привет".split()


def words(chance, least=1, most=8):
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(least, most)))


def when(chance):
    return datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(
        seconds=chance.randint(0, 800_000_000)
    )


def rfc822(chance, time):
    zone = chance.choice(ZONES)
    form = chance.choice(["%a, %d %b %Y %H:%M:%S ", "%d %b %Y %H:%M:%S ", "%a, %d %b %Y %H:%M "])
    return time.strftime(form) + zone


def rfc3339(chance, time):
    return time.strftime("%Y-%m-%dT%H:%M:%S") + chance.choice(["Z", "+00:00", "-08:00", "+05:30", ".25Z"])


def escaped(text):
    return html.escape(text, quote=False)


def markup(chance):
    return f"<p>{words(chance)} <b>{words(chance)}</b> &amp; <a href=\"http://l.test/{chance.randint(1, 99)}\">x</a></p>"


def cdata(chance, text):
    return f"<![CDATA[{text}]]>" if chance.random() < 0.5 else escaped(text)


def rss_item(chance, number):
    parts = [f"<title>{escaped(words(chance))}</title>", f"<link>http://feed.test/{number}</link>"]
    if chance.random() < 0.8:
        parts.append(f'<guid isPermaLink="false">urn:{number}</guid>')
    if chance.random() < 0.8:
        parts.append(f"<pubDate>{rfc822(chance, when(chance))}</pubDate>")
    else:
        parts.append(f"<dc:date>{rfc3339(chance, when(chance))}</dc:date>")
    parts.append(f"<description>{cdata(chance, markup(chance))}</description>")
    if chance.random() < 0.5:
        parts.append(f"<content:encoded>{cdata(chance, markup(chance))}</content:encoded>")
    if chance.random() < 0.5:
        parts.append(f"<dc:creator>{words(chance, 1, 2)}</dc:creator>")
    for _ in range(chance.randint(0, 3)):
        parts.append(f"<category>{words(chance, 1, 1)}</category>")
    if chance.random() < 0.4:
        parts.append(f'<enclosure url="http://feed.test/{number}.mp3" length="{chance.randint(1, 9999)}" type="audio/mpeg"/>')
    chance.shuffle(parts)
    return "<item>" + "".join(parts) + "</item>"


SPACES = (
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
)


def rss(chance):
    items = "\n".join(rss_item(chance, number) for number in range(chance.randint(1, 5)))
    return f'<rss version="2.0" {SPACES}><channel><title>{words(chance)}</title><link>http://feed.test/</link>{items}</channel></rss>'


def rdf(chance):
    items = "\n".join(
        f'<item rdf:about="http://feed.test/{number}"><title>{words(chance)}</title><link>http://feed.test/{number}</link>'
        f"<dc:date>{rfc3339(chance, when(chance))}</dc:date><dc:creator>{words(chance, 1, 2)}</dc:creator>"
        f"<description>{cdata(chance, markup(chance))}</description></item>"
        for number in range(chance.randint(1, 5))
    )
    return (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" {SPACES}>'
        f"<channel><title>{words(chance)}</title><link>http://feed.test/</link></channel>{items}</rdf:RDF>"
    )


def atom_entry(chance, number):
    parts = [
        f"<id>urn:{number}</id>",
        f'<link href="http://feed.test/{number}"/>',
        f"<title>{escaped(words(chance))}</title>",
        f"<updated>{rfc3339(chance, when(chance))}</updated>",
    ]
    if chance.random() < 0.6:
        parts.append(f"<published>{rfc3339(chance, when(chance))}</published>")
    if chance.random() < 0.6:
        parts.append(f"<author><name>{words(chance, 1, 2)}</name></author>")
    if chance.random() < 0.5:
        parts.append(f"<summary>{escaped(words(chance))}</summary>")
    kind = chance.choice(["html", "text", "none"])
    if kind == "html":
        parts.append(f'<content type="html">{cdata(chance, markup(chance))}</content>')
    elif kind == "text":
        parts.append(f"<content>{escaped(words(chance))}</content>")
    for _ in range(chance.randint(0, 3)):
        parts.append(f'<category term="{words(chance, 1, 1)}"/>')
    if chance.random() < 0.4:
        parts.append(f'<link rel="enclosure" href="http://feed.test/{number}.mp3" length="{chance.randint(1, 9999)}" type="audio/mpeg"/>')
    chance.shuffle(parts)
    return "<entry>" + "".join(parts) + "</entry>"


def atom(chance):
    entries = "\n".join(atom_entry(chance, number) for number in range(chance.randint(1, 5)))
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:feed</id><title>T</title>'
        f"<updated>2020-01-01T00:00:00Z</updated>{entries}</feed>"
    )


def document(chance):
    text = chance.choice([rss, rdf, atom])(chance)
    encoding = chance.choice(["utf-8", "utf-8", "utf-8", "utf-16", ""])
    if chance.random() < 0.3:
        text = text.replace("alpha", "al&nbsp;pha" if chance.random() < 0.5 else "al & pha")
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>\n' if encoding else ""
    return (declaration + text).encode(encoding or "utf-8")


def stamp(parsed):
    return calendar.timegm(parsed) if parsed else None


def seconds(text):
    if not text:
        return None
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def plain(text):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text or ""))).strip()


def theirs(entry):
    content = entry.get("content", [{}])[0].get("value") or entry.get("summary")
    return {
        "id": entry.get("id") or entry.get("link"),
        "link": entry.get("link"),
        "title": plain(entry.get("title")),
        "date": stamp(entry.get("published_parsed") or entry.get("updated_parsed")),
        "author": entry.get("author"),
        "tags": [html.unescape(tag["term"]) for tag in entry.get("tags", [])],
        "files": [(file.get("href"), file.get("type"), int(file.get("length", 0))) for file in entry.get("enclosures", [])],
        "text": plain(content),
    }


def ours(item):
    return {
        "id": item["id"],
        "link": item.get("url"),
        "title": plain(item.get("title")),
        "date": seconds(item.get("date_published") or item.get("date_modified")),
        "author": next((person["name"] for person in item.get("authors", [])), None),
        # feedparser leaves repeated tags out.
        "tags": list(dict.fromkeys(item.get("tags", []))),
        "files": [(file["url"], file["mime_type"], file.get("size_in_bytes", 0)) for file in item.get("attachments", [])],
        "text": plain(item.get("content_html") or html.escape(item.get("content_text", ""))),
    }


def main():
    quire = sys.argv[1]
    chance = random.Random(SEED)
    documents = [document(chance) for _ in range(COUNT)]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = documents[int(self.path.strip("/"))]
            self.send_response(200)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    entries = failures = 0
    for number, body in enumerate(documents):
        run = subprocess.run(
            [quire, "feed", f"http://127.0.0.1:{server.server_port}/{number}"], capture_output=True, text=True
        )
        mine = [ours(json.loads(line)) for line in run.stdout.splitlines()]
        others = [theirs(entry) for entry in feedparser.parse(body).entries]
        entries += len(mine)
        if mine != others:
            failures += 1
            wide = body[:2] in (b"\xff\xfe", b"\xfe\xff")
            text = body.decode("utf-16" if wide else "utf-8")
            print(f"feed {number} (seed {SEED}): {run.stderr}\n{text}")
            for one, other in zip(mine, others):
                for name in one:
                    if one[name] != other[name]:
                        print(f"  {name}: quire {one[name]!r}, feedparser {other[name]!r}")
    server.shutdown()
    print(f"feeds: {COUNT} feeds, {entries} entries, {failures} differ from feedparser")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
