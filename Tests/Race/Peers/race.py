"""The race in Python: `race.py bytes|untyped|lines URL PAGES`, by requests and orjson, along Link headers."""
import sys

import orjson
import requests

mode, url, pages = sys.argv[1], sys.argv[2] + "1", int(sys.argv[3])
output = sys.stdout.buffer
total = 0
with requests.Session() as session:
    while url and pages:
        response = session.get(url)
        response.raise_for_status()
        page = response.content
        url = response.links.get("next", {}).get("url")
        pages -= 1
        if mode == "bytes":
            total += len(page)
        elif mode == "untyped":
            for issue in orjson.loads(page):
                total += issue["number"] + len(issue["title"].encode()) + len(issue["user"]["login"])
        else:
            for issue in orjson.loads(page):
                output.write(orjson.dumps(issue))
                output.write(b"\n")
if mode != "lines":
    print(total)
