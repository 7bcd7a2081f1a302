"""A server on loopback that does what no server should.

    with HostileServer("gzip bomb") as server:
        model = server.model(timeout=1.0)          # an http model of it; all arguments of geex.models.http
        ...
    server.requests, server.asked, server.answered, server.connections

`HostileServer(plan)`: which fault each request gets. The plan is one of

- None                        every request is answered well
- a name of FAULTS            every request gets this fault
- a list of names and None    request i gets the i-th of them; later ones are answered well
- function(number, request)   returns a name, None, or a fault: a function(server, request) -> Reply

A fault returns a Reply (see tests/servers.py); or writes to `request.connection` itself and ends with `hang_up()`. A
fault that goes on for ever ends when the client hangs up, when the server is closed, or after LONGEST seconds.

Requests and good answers, with s = `score(row)`, by default `planted`:

    {"rows": [[…], …]}   {"scores": [s, …]}          `server.model()`
    {"row": […]}         {"scores": s}               `server.model(request={"row": "{row}"})`
    tensors              tensors, with the same id   `server.model(protocol="v2")`

asked, answered: how often each row (a tuple) was received, and was given a good answer.
"""

import gzip
import json
import math
import threading
import time
import zlib
from collections import Counter

import numpy as np

import geex
from tests.servers import Loopback, Reply, planted

# Seconds after which a fault without end ends all the same.
LONGEST = 30.0
# Seconds between the bytes of a server that drips: far below any timeout of a read.
DRIP = 0.02
# Bytes of what a bomb decodes to.
BOMB = 4 * 2**30
# Limits of the models: faults are passed soon, and no row is sent twice without one.
LIMITS = geex.Limits(concurrency=1, attempts=4, backoff=0.001, longest=0.01, twice=False)


class HostileServer(Loopback):
    """A server that follows a plan of faults; see above."""

    def __init__(self, plan=None, score=planted, certificate=None):
        super().__init__(self._respond, certificate)
        self.plan, self.score = plan, score
        self.lock = threading.Lock()
        self.number = 0
        self.asked, self.answered = Counter(), Counter()
        self.faults = Counter()
        self.closed = threading.Event()

    def __exit__(self, *exc):
        self.closed.set()
        super().__exit__(*exc)

    def model(self, limits=LIMITS, **settings):
        """Return the http model of this server."""
        if settings.get("protocol") == "v2":
            return geex.models.http(f"{self.url}/v2/models/m", limits=limits, **settings)
        settings = {"request": {"rows": "{rows}"}, "response": "scores", **settings}
        return geex.models.http(self.url, limits=limits, **settings)

    def rows(self, request):
        """Return the rows of a request, as tuples."""
        body = json.loads(request.body)
        if "inputs" in body:
            tensor = body["inputs"][0]
            return [tuple(row) for row in np.reshape(tensor["data"], (tensor["shape"][0], -1)).tolist()]
        return [tuple(row) for row in body.get("rows", [body.get("row")])]

    def scores(self, request):
        """Return the right scores of a request."""
        return [self.score(row) for row in self.rows(request)]

    def good(self, request, scores=None):
        """Return an answer of the right form, with these scores or the right ones."""
        body = json.loads(request.body)
        scores = self.scores(request) if scores is None else scores
        if "inputs" not in body:
            return Reply(json.dumps({"scores": scores if "rows" in body else scores[0]}).encode())
        flat = [one for row in scores for one in (row if isinstance(row, list) else [row])]
        tensor = {"name": "scores", "datatype": "FP64", "shape": [len(scores), len(flat) // len(scores)], "data": flat}
        return Reply(json.dumps({"model_name": "m", "id": body.get("id"), "outputs": [tensor]}).encode())

    def drip(self, request, chunk, seconds=DRIP):
        """Send a chunk again and again, for as long as the client listens."""
        end = time.monotonic() + LONGEST
        while not self.closed.wait(seconds) and time.monotonic() < end:
            request.connection.sendall(chunk)
        hang_up()

    def _respond(self, request):
        rows = self.rows(request)
        with self.lock:
            number, self.number = self.number, self.number + 1
            self.asked.update(rows)
        fault = self._fault(number, request)
        if fault is None:
            with self.lock:
                self.answered.update(rows)
            return self.good(request)
        with self.lock:
            self.faults[fault] += 1
        return (FAULTS[fault] if isinstance(fault, str) else fault)(self, request)

    def _fault(self, number, request):
        if self.plan is None or isinstance(self.plan, str):
            return self.plan
        if callable(self.plan):
            return self.plan(number, request)
        return self.plan[number] if number < len(self.plan) else None


def hang_up():
    """End a reply that the fault has written itself: the connection is closed."""
    raise ConnectionResetError


def drip_headers(server, request):
    request.connection.sendall(b"HTTP/1.1 200 OK\r\n")
    server.drip(request, b"X-Slow: yes\r\n")


def endless_1xx(server, request):
    server.drip(request, b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.001)


def drip_body(server, request):
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    server.drip(request, b" ")


def silence(server, request):
    """Nothing is sent, not even a header."""
    server.closed.wait(LONGEST)
    hang_up()


def gzip_of_nothing(server, request):
    """Gzip members that decode to no byte, one after the other, without end."""
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
    empty = gzip.compress(b"")
    server.drip(request, b"%x\r\n%s\r\n" % (len(empty), empty), 0.001)


def gzip_of_empty_blocks(server, request):
    """One gzip stream of empty blocks without end."""
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
    packer = zlib.compressobj(wbits=31)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    request.connection.sendall(b"%x\r\n%s\r\n" % (len(head), head))
    empty = b"\x00\x00\x00\xff\xff" * 16
    server.drip(request, b"%x\r\n%s\r\n" % (len(empty), empty), 0.001)


def gzip_bomb(server, request):
    """4 MB that decode to 4 GB: one flushed block of zeros, again and again."""
    packer, zeros = zlib.compressobj(9, wbits=31), bytes(2**24)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    body = head + block * (BOMB // len(zeros))
    return Reply(body, headers={"Content-Encoding": "gzip"})


def endless_body(server, request):
    """As fast as the client reads."""
    request.connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    server.drip(request, b"100000\r\n" + b" " * 2**20 + b"\r\n", 0)


def come_back_tomorrow(server, request):
    return Reply(b"busy", 429, {"Retry-After": "86400"})


def unavailable(server, request):
    return Reply(b"down", 503)


def stray_reply(server, request):
    """The right answer, and right behind it another one that nobody asked for, on a connection that stays open."""
    right, wrong = server.good(request).body, server.good(request, _wrong(server, request)).body
    second = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(wrong), wrong)
    return Reply(right + second, headers={"Content-Length": str(len(right))})


def reply_of_another_request(server, request):
    """An answer of the right form that belongs to another request."""
    reply = server.good(request, _wrong(server, request))
    return Reply(reply.body.replace(b'"id": "', b'"id": "another '))


def wrong_width(server, request):
    return server.good(request, [[*row, 0.0] for row in server.scores(request)])


def strings(server, request):
    """Numbers as texts."""
    return server.good(request, [[str(one) for one in row] for row in server.scores(request)])


def booleans(server, request):
    return server.good(request, [[one > 0 for one in row] for row in server.scores(request)])


def some_nan(server, request):
    """Every third row, but none if there are fewer."""
    scores = server.scores(request)
    with server.lock:
        server.answered.update(row for place, row in enumerate(server.rows(request)) if place % 3 != 2)
    return server.good(request, [[math.nan for _ in s] if i % 3 == 2 else s for i, s in enumerate(scores)])


def _wrong(server, request):
    return [[one + 7.0 for one in row] for row in server.scores(request)]


FAULTS = {
    "drip headers": drip_headers,
    "endless 1xx": endless_1xx,
    "drip body": drip_body,
    "silence": silence,
    "gzip of nothing": gzip_of_nothing,
    "gzip of empty blocks": gzip_of_empty_blocks,
    "gzip bomb": gzip_bomb,
    "endless body": endless_body,
    "come back tomorrow": come_back_tomorrow,
    "503": unavailable,
    "stray reply": stray_reply,
    "reply of another request": reply_of_another_request,
    "wrong width": wrong_width,
    "strings": strings,
    "booleans": booleans,
    "some nan": some_nan,
}
