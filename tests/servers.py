"""Servers on loopback for tests: one that answers what a function says, and one that fails by plan and counts.

The fault server speaks plain JSON, {"rows": [[…], …]} -> {"scores": [[…], …]}, and computes every row by itself.
Whether a request fails is a function of (seed, body, how often that body came), in whichever order requests arrive; the
faults take turns. All rows are counted: those that were asked, and those that were given a good answer.
"""

import hashlib
import json
import math
import socket
import struct
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = ("429", "429 date", "500", "503", "delay", "reset", "truncated", "nan")


@dataclass(frozen=True)
class Reply:
    """What a server says. `cut`: only that many bytes of the body are sent, and the connection is reset."""

    body: bytes
    status: int = 200
    headers: dict = field(default_factory=dict)
    cut: int | None = None


@dataclass(frozen=True)
class Request:
    """What a server hears. `connection` is the client's socket."""

    path: str
    headers: dict
    body: bytes
    connection: socket.socket

    def wait_for_the_end(self, seconds):
        """Until the client hangs up."""
        self.connection.settimeout(seconds)
        with suppress(OSError):
            self.connection.recv(1, socket.MSG_PEEK)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that wait to be taken, and are not turned away


class Loopback:
    """A server on a port of 127.0.0.1 (0: a free one), for as long as it is entered; `respond` maps a Request to a
    Reply."""

    def __init__(self, respond, certificate=None, port=0):
        self.requests = []
        self.connections = set()
        self.server = _Server(("127.0.0.1", port), self._handler(respond))
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.url = f"{'https' if certificate else 'http'}://{self.address}"
        if certificate:
            self.server.socket = certificate.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def _handler(server, respond):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = Request(self.path, dict(self.headers), body, self.connection)
                server.requests.append(request)
                server.connections.add(self.client_address)
                try:
                    self.send(respond(request))
                except OSError:  # the client has hung up
                    self.close_connection = True

            def send(self, reply):
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body[: reply.cut])
                self.wfile.flush()
                if reply.cut is not None:
                    self.close_connection = True
                    # to linger for no time at all is to reset
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()

            def log_message(self, *_):
                pass

        return Handler


def planted(row):
    """Two scores of a row of numbers: a smooth function of the first four, and its negative."""
    first = math.fsum(row[:4])
    return [math.tanh(first), -math.tanh(first)]


class FaultServer(Loopback):
    """Answers rows by `score`, except for a `share` of the requests, into which it injects faults by its seed."""

    def __init__(self, seed=0, share=0.3, score=planted, service_seconds=0.0, concurrency=None):
        super().__init__(self._respond)
        self.seed, self.share, self.score = seed, share, score
        self.service_seconds = service_seconds
        self.room = threading.Semaphore(concurrency or 10**6)
        self.allowed = math.inf  # how many more requests are answered; the others wait in vain
        self.lock = threading.Lock()
        self.bodies = Counter()
        self.asked = Counter()
        self.answered = Counter()
        self.faults = Counter()

    def _respond(self, request):
        rows = json.loads(request.body)["rows"]
        keys = [json.dumps(row) for row in rows]
        with self.lock:
            attempt = self.bodies[request.body]
            self.bodies[request.body] += 1
            self.asked.update(keys)
            fault = FAULTS[self.faults.total() % len(FAULTS)] if self._fails(request.body, attempt) else None
            self.faults.update([fault] if fault else [])
        if fault is not None:
            return self._failed(fault, request, rows)
        with self.lock:
            allowed, self.allowed = self.allowed > 0, self.allowed - 1
        if not allowed:
            request.wait_for_the_end(30)
            return self._scores(rows)
        with self.room:
            time.sleep(self.service_seconds)
            reply = self._scores(rows)
        # counted before it is written: a client that is killed in between has been answered, for all the server knows
        with self.lock:
            self.answered.update(keys)
        return reply

    def _fails(self, body, attempt):
        digest = hashlib.sha256(f"{self.seed} {attempt} ".encode() + body).digest()
        return int.from_bytes(digest[:8], "big") / 2**64 < self.share

    def _scores(self, rows):
        return Reply(json.dumps({"scores": [self.score(row) for row in rows]}).encode())

    def _failed(self, fault, request, rows):
        whole = self._scores(rows).body
        if fault == "429":
            return Reply(b"slow down", 429, {"Retry-After": "0"})
        if fault == "429 date":
            return Reply(b"slow down", 429, {"Retry-After": formatdate(time.time(), usegmt=True)})
        if fault in ("500", "503"):
            return Reply(b'{"error": "down"}', int(fault))
        if fault == "delay":
            request.wait_for_the_end(30)
            return Reply(whole)
        if fault == "reset":
            return Reply(whole, cut=len(whole) // 2)
        if fault == "truncated":
            return Reply(whole[:-5])
        scores = [[math.nan, *self.score(row)[1:]] for row in rows]
        return Reply(json.dumps({"scores": scores}).encode())
