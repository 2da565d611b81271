#!/usr/bin/env python3
"""Writes the pages of the race: `pages.py FOLDER`, for the server of `../Benchmarks/nginx.conf.in`.

A hundred bodies by turns of each kind: N.json of 22 KB and large-N.json of 1.1 MB hold issues of 1 KB as a code
host writes them, without white space; N.xml of 370 KB hold a thousand objects of a bucket. expected.json says what
a walk has to find.
"""
import hashlib
import json
import sys
from pathlib import Path

TOPICS = ["Scrolling", "Export", "Großschreibung", "検索", "Retry", "Paging"]


def issue(number):
    topic = TOPICS[number % 6]
    login = f"user-{number * 7919 % 10_007}"
    path = f"https://api.example.com/repos/example/project/issues/{number}"
    user = {
        "login": login, "id": number * 7919, "avatar_url": f"https://avatars.example.com/{login}?v=4",
        "url": f"https://api.example.com/users/{login}", "type": "User", "site_admin": False,
    }
    labels = [{"id": 208_045_946 + n, "name": TOPICS[n], "color": "d73a4a"} for n in range(number % 4)]
    return {
        "id": 1_300_000_000 + number * 104_729, "number": number, "title": f"{topic} fails on the {number}th attempt",
        "url": path, "comments_url": f"{path}/comments", "state": "closed" if number % 3 == 0 else "open",
        "locked": False, "user": user, "labels": labels, "milestone": None, "comments": number % 17,
        "score": number / 8, "created_at": f"2024-03-{10 + number % 20}T12:{10 + number % 50}:00Z",
        "body": f'Steps:\r\n1. Open "{topic}"\r\n2. Wait\r\n\r\nExpected: a page. Got: nothing — «{topic}» 🧩\r\n\r\n'
        + "The same happens with the previous release, on two machines and over another network. " * 3,
    }


def bucket(first):
    objects = "".join(
        f"<Contents><Key>photos/2024/{number % 12 + 1:02}/one &amp; two {number}.jpg</Key>"
        f"<LastModified>2024-03-10T12:{10 + number % 50}:00.000Z</LastModified>"
        f"<ETag>&quot;{number * 2_654_435_761 % 2**64:032x}&quot;</ETag><Size>{number * 7919}</Size>"
        f"<Owner><ID>{number % 7:064x}</ID><DisplayName>owner-{number % 7}</DisplayName></Owner>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for number in range(first, first + 1000)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>bucket</Name><MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated>{objects}</ListBucketResult>"
    )


def write(folder, prefix, count, walk):
    """Writes a hundred pages of so many issues; what a walk of `walk` pages from the first finds in them."""
    texts, sums = [], []
    for page in range(100):
        issues = [issue(1000 + page * count + n) for n in range(count)]
        items = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in issues]
        (folder / f"{prefix}{page}.json").write_text(f"[{','.join(items)}]")
        texts.append("".join(f"{item}\n" for item in items).encode())
        sums.append(sum(i["number"] + len(i["title"].encode()) + len(i["user"]["login"]) for i in issues))
    digest = hashlib.sha256()
    numbers = [number % 100 for number in range(1, walk + 1)]
    for number in numbers:
        digest.update(texts[number])
    size = sum((folder / f"{prefix}{number}.json").stat().st_size for number in numbers)
    return {"bytes": size, "sum": sum(sums[n] for n in numbers), "lines": count * walk, "digest": digest.hexdigest()}


folder = Path(sys.argv[1])
expected = {"page": write(folder, "", 22, 2000), "large": write(folder, "large-", 1075, 100)}
for page in range(100):
    (folder / f"{page}.xml").write_text(bucket(page * 1000))
(folder / "expected.json").write_text(json.dumps(expected))
