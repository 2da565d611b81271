"""The data of a TAXII 2.1 server: `intelligence.py COUNT` prints it, `read` is the truth.

`intelligence.py configuration FILE` prints how the server is to serve that data.
"""

import json
import sys
import uuid

COLLECTION = "9ee8a9b3-da1b-45d1-9cf6-8141f7039f82"
MEDIA_TYPE = "application/stix+json;version=2.1"


def stamp(number):
    return f"2025-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def indicator(number):
    return {
        "type": "indicator",
        "spec_version": "2.1",
        "id": f"indicator--{uuid.uuid5(uuid.NAMESPACE_URL, str(number))}",
        "created": stamp(number),
        "modified": stamp(number),
        "name": f"é & <{number}> \"{number}\"",
        "pattern": f"[file:name = 'a+b {number}']",
        "pattern_type": "stix",
        "valid_from": stamp(number),
    }


def read(count):
    return [indicator(number) for number in range(count)]


def data(count):
    collection = {
        "id": COLLECTION,
        "title": "Awkward",
        "can_read": True,
        "can_write": False,
        "media_types": [MEDIA_TYPE],
        "objects": read(count),
        "manifest": [
            {
                "id": item["id"],
                "date_added": item["created"],
                "version": item["modified"],
                "media_type": MEDIA_TYPE,
            }
            for item in read(count)
        ],
    }
    root = {
        "information": {
            "title": "Root",
            "versions": ["application/taxii+json;version=2.1"],
            "max_content_length": 1 << 24,
        },
        "status": [],
        "collections": [collection],
    }
    return {"/discovery": {"title": "T", "default": "root", "api_roots": ["root"]}, "root": root}


def configuration(file):
    module = "medallion.backends.memory_backend"
    return {
        "backend": {"module": module, "module_class": "MemoryBackend", "filename": file},
        "users": {"quire": "test"},
        "taxii": {"max_page_size": 100},
    }


if __name__ == "__main__":
    if sys.argv[1] == "configuration":
        print(json.dumps(configuration(sys.argv[2])))
    else:
        print(json.dumps(data(int(sys.argv[1]))))
