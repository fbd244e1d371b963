"""A server that misbehaves on purpose, to fetch from."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Behaviour:
    """What the server serves and how; tests change it between and during requests."""

    body: bytes
    drop_after: int | None = None  # bytes of each answer before the connection is cut
    ranges: bool = True
    validators: bool = True
    busy: int = 0  # answers of 503 before the first good one
    corrupt: int = 0  # answers with a wrong byte before the first good one
    gone: bool = False
    requests: list[str | None] = field(default_factory=list)  # the Range of each request for the file

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.body).hexdigest()}"'

    @property
    def md5(self) -> str:
        return hashlib.md5(self.body).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour: Behaviour

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        behaviour = self.behaviour
        if self.path.endswith("md5sum.txt"):
            self._send(200, f"{'0' * 32}  other.fa.gz\n{behaviour.md5}  ./genome.fa.gz\n".encode(), {})
            return
        behaviour.requests.append(self.headers.get("Range"))
        if behaviour.gone:
            self._send(404, b"", {})
            return
        if behaviour.busy:
            behaviour.busy -= 1
            self._send(503, b"busy", {"Retry-After": "0"})
            return
        body = behaviour.body
        if behaviour.corrupt:
            behaviour.corrupt -= 1
            body = body[:-1] + bytes([body[-1] ^ 1])
        headers = {"ETag": behaviour.etag} if behaviour.validators else {}
        asked = self.headers.get("Range")
        if asked and behaviour.ranges and self.headers.get("If-Range") == behaviour.etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self._send(206, body[start:], headers)
        else:
            self._send(200, body, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        drop = self.behaviour.drop_after
        with suppress(OSError):  # the other side was killed
            self.wfile.write(body if drop is None else body[:drop])
        if drop is not None and drop < len(body):
            self.close_connection = True


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """The address of genome.fa.gz on a server that behaves so."""
    handler = type("Handler", (Handler,), {"behaviour": behaviour})
    server = Quiet(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/here/genome.fa.gz"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
