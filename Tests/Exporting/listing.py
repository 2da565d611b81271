"""A server of listings on loopback, in a process of its own.

/list?page=N            pages of SIZE items; later ones have a member and a type that earlier ones lack; with
                        pad=N each has N digits more, which cannot be compressed
/large?page=N           a hundred pages of a megabyte each, of records like those of an API for issues
/parents?page=N         PARENTS parents, a thousand to a page
/parents/N/children     a page of one child for each
/hold                   pages of /list from the third on wait, until /release
/count                  how many pages were asked for since the last /count
"""
import asyncio
import json
import multiprocessing
import random
import urllib.request

SIZE = 3


def item(number, pages, pad=0):
    """What a sink must hold of the item with this number, in the order of its columns."""
    page = number // SIZE
    value = {"id": number, "name": f"item \"{number}\", é\n", "tags": ["a", number],
             "value": number if page < pages * 3 // 4 else f"text {number}"}
    if page >= pages // 2:
        value["late"] = number / 4
    if pad:
        value["pad"] = random.Random(number).randbytes(pad // 2).hex()
    return value


def record(number):
    """A record like one of an API for issues."""
    user = f"user-{number * 7919 % 10_007}"
    return {"id": 1_300_000_000 + number * 104_729, "number": number, "title": f"Export fails on the {number}th attempt",
            "state": "closed" if number % 3 else "open", "url": f"https://api.example.com/project/issues/{number}",
            "author": {"login": user, "id": number * 7919, "avatar": f"https://avatars.example.com/{user}?v=4"},
            "labels": [{"id": 208_045_946 + n, "name": "größer", "color": "d73a4a"} for n in range(number % 4)],
            "comments": number % 17, "score": number / 7, "created": f"2024-03-{10 + number % 20}T12:00:00Z",
            "body": "Steps:\n1. Open \"Export\"\n2. Wait\n\nExpected: a page. Got: nothing.\n" + "It comes again. " * 9}


class Connection(asyncio.Protocol):
    def __init__(self, server):
        self.server = server
        self.rest = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.rest += data
        while b"\r\n\r\n" in self.rest:
            head, _, self.rest = self.rest.partition(b"\r\n\r\n")
            self.server.answer(head.split(b" ", 2)[1].decode(), self.transport)


class Server:
    def __init__(self, pages, parents):
        self.pages, self.parents, self.count, self.held, self.waiting = pages, parents, 0, False, []
        self.known = {}

    def answer(self, path, transport):
        if path == "/count":
            count, self.count = self.count, 0
            return transport.write(self.whole(json.dumps(count).encode()))
        if path in ("/hold", "/release"):
            self.held, self.count = path == "/hold", 0
            waiting, self.waiting = self.waiting, []
            for one in waiting:
                self.answer(*one)
            return transport.write(self.whole(b"{}"))
        if self.held and path.startswith("/list?page=2&"):
            return self.waiting.append((path, transport))
        self.count += 1
        if path.startswith(("/list", "/large")):
            if path not in self.known:
                self.known[path] = (self.page if path.startswith("/list") else self.large)(path)
            return transport.write(self.known[path])
        transport.write(self.nested(path))

    def whole(self, body, link=b""):
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s" % (
            len(body), link, body)

    def page(self, path):
        words = dict(word.split("=") for word in path.partition("?")[2].split("&"))
        page, pages, pad = int(words["page"]), int(words["of"]), int(words.get("pad", 0))
        body = json.dumps([item(n, pages, pad) for n in range(page * SIZE, (page + 1) * SIZE)]).encode()
        link = f'Link: </list?page={page + 1}&of={pages}&pad={pad}>; rel="next"\r\n' if page + 1 < pages else ""
        return self.whole(body, link.encode())

    def large(self, path):
        page = int(path.partition("page=")[2])
        body = json.dumps([record(n) for n in range(page * 1_700, (page + 1) * 1_700)]).encode()
        return self.whole(body, b'Link: </large?page=%d>; rel="next"\r\n' % (page + 1) if page < 99 else b"")

    def nested(self, path):
        path, _, query = path.partition("?")
        words = dict(word.split("=") for word in query.split("&") if word)
        page, parts = int(words.get("page", 1)), path.strip("/").split("/")
        if len(parts) == 1:
            count = int(words.get("count", self.parents))
            items = [{"id": n} for n in range((page - 1) * 1000, min(count, page * 1000))]
            more = page * 1000 < count
        else:
            items, more = [{"id": f"{parts[1]}-{page}"}], False
        return self.whole(json.dumps({"items": items, "more": more}).encode())


def serve(pages, parents, pipe):
    async def run():
        server = Server(pages, parents)
        listener = await asyncio.get_running_loop().create_server(lambda: Connection(server), "127.0.0.1", 0)
        pipe.send(listener.sockets[0].getsockname()[1])
        await listener.serve_forever()

    asyncio.run(run())


def started(pages, parents):
    """The address of a server that ends with this process."""
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(pages, parents, theirs), daemon=True).start()
    return f"http://127.0.0.1:{ours.recv()}"


def ask(base, path):
    with urllib.request.urlopen(base + path) as answer:
        return json.load(answer)
