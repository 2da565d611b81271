"""An OAI-PMH repository over pyoai's server: `repository.py PORT` serves it, `read` is the truth.

Records come in batches of 100, some deleted, with titles that XML and tokens must escape.
"""

import sys
import urllib.parse
from datetime import datetime
from wsgiref.simple_server import WSGIRequestHandler, make_server

# pyoai takes one function from a module that Python no longer has; it lives on in this one.
sys.modules["cgi"] = urllib.parse

from oaipmh import common, metadata, server  # noqa: E402

COUNT = 1050
TITLES = [
    "plain",
    "a & b < c > d",
    "quote \" and '",
    "é, e\u0301, 中, 𝄞",
    "]]> tail",
    "  blanks  ",
]
STAMP = datetime(2025, 1, 1)


def title(number):
    return f"{TITLES[number % len(TITLES)]} {number}"


def is_deleted(number):
    return number % 7 == 3


def read():
    """Every record as a harvester should see it."""
    return [
        {
            "identifier": f"oai:quire.test:A/{number}+{number}",
            "title": None if is_deleted(number) else title(number),
        }
        for number in range(COUNT)
    ]


class Repository(common.OAIPMH):
    """The records, whatever is asked for."""

    def identify(self):
        return common.Identify(
            repositoryName="Awkward records",
            baseURL="http://127.0.0.1/",
            protocolVersion="2.0",
            adminEmails=["nobody@quire.test"],
            earliestDatestamp=STAMP,
            deletedRecord="persistent",
            granularity="YYYY-MM-DDThh:mm:ssZ",
            compression=["identity"],
        )

    def header(self, number):
        identifier = f"oai:quire.test:A/{number}+{number}"
        return common.Header(None, identifier, STAMP, ["all & some"], is_deleted(number))

    def numbers(self, from_):
        return range(COUNT) if from_ is None or from_ <= STAMP else range(0)

    def listIdentifiers(self, metadataPrefix, set=None, from_=None, until=None):
        return [self.header(number) for number in self.numbers(from_)]

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None):
        return [
            (self.header(number), common.Metadata(None, {"title": [title(number)]}), None)
            for number in self.numbers(from_)
        ]


def main(port):
    registry = metadata.MetadataRegistry()
    registry.registerWriter("oai_dc", server.oai_dc_writer)
    answers = server.Server(Repository(), registry, resumption_batch_size=100)

    def application(environment, start):
        query = urllib.parse.parse_qs(environment["QUERY_STRING"], keep_blank_values=True)
        start("200 OK", [("Content-Type", "text/xml; charset=utf-8")])
        return [answers.handleRequest({name: values[0] for name, values in query.items()})]

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            pass

    make_server("127.0.0.1", port, application, handler_class=Quiet).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
