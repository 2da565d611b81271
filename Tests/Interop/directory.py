"""Users of a SCIM server: `directory.py URL COUNT` adds them, `read` is the truth.

`directory.py configuration` prints how the server is to page.
"""

import json
import sys
import urllib.request

NAMES = ["plain", "a & b", 'quote "', "é, e\u0301, 中, 𝄞", "a+b=c%20d"]

# Pages of at most 100, by index or by cursor (RFC 9865).
PAGINATION = {
    "cursor": True,
    "index": True,
    "defaultPaginationMethod": "index",
    "defaultPageSize": 100,
    "maxPageSize": 100,
}


def read(count):
    return [
        {"userName": f"user{number:05}", "displayName": f"{NAMES[number % len(NAMES)]} {number}"}
        for number in range(count)
    ]


def configuration(default):
    """The server's own configuration, with both ways to page switched on."""
    return json.dumps(json.loads(default) | {"pagination": PAGINATION})


def fill(url, count):
    schema = "urn:ietf:params:scim:schemas:core:2.0:User"
    # Backwards, so that the order of the listing is the server's work.
    for user in reversed(read(count)):
        request = urllib.request.Request(
            f"{url}/v2/Users",
            json.dumps({"schemas": [schema]} | user).encode(),
            {"Content-Type": "application/scim+json"},
        )
        urllib.request.urlopen(request).close()


if __name__ == "__main__":
    if sys.argv[1] == "configuration":
        from importlib.resources import files

        resources = files("scim2_server") / "resources"
        print(configuration((resources / "default-service-provider-config.json").read_text()))
    else:
        fill(sys.argv[1], int(sys.argv[2]))
