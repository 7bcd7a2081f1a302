"""A model behind a local socket, with a fixed service time, a limit of concurrent requests and a count of rows.

Requests and answers are raw float64, so that a benchmark measures the query step and no encoding.
"""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


class Server:
    """Serve `model` on a free port of 127.0.0.1 inside a `with` block.

    answered: the number of answers for every row (its bytes). requests: the number of calls.
    """

    def __init__(self, model: Callable[[np.ndarray], np.ndarray], seconds: float, at_a_time: int) -> None:
        self.model, self.seconds = model, seconds
        self.turns = threading.BoundedSemaphore(at_a_time)
        self.lock = threading.Lock()
        self.answered: Counter[bytes] = Counter()
        self.requests = 0
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.daemon_threads = True

    @property
    def port(self) -> int:
        return int(self.http.server_address[1])

    def __enter__(self) -> "Server":
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    def answer(self, body: bytes, columns: int) -> bytes:
        """Wait for a free slot and the service time, and return the model's answers."""
        rows = np.frombuffer(body).reshape(-1, columns)
        with self.turns:
            time.sleep(self.seconds)
            answers = np.ascontiguousarray(self.model(rows), np.float64)
        with self.lock:
            self.requests += 1
            self.answered.update(row.tobytes() for row in rows)
        return answers.tobytes()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = server.answer(body, int(self.path.strip("/")))
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    self.close_connection = True  # the client has disconnected

            def log_message(self, *_: Any) -> None: ...

        return Handler


@dataclass(frozen=True)
class Client:
    """Call the server on `port`, with one connection for each thread, opened at its first use."""

    port: int
    connections: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        if not hasattr(self.connections, "open"):
            self.connections.open = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = np.ascontiguousarray(rows, np.float64).reshape(len(rows), -1)
        self.connections.open.request("POST", f"/{body.shape[1]}", body.tobytes())
        return np.frombuffer(self.connections.open.getresponse().read()).reshape(len(rows), -1)
