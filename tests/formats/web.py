"""A web server on this machine that counts what it is asked, and may be slow or odd."""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar


@dataclass
class Site:
    """What is served, how, and what was asked for."""

    files: dict[str, bytes]
    latency: float = 0.0
    ranges: bool = True
    lengths: bool = True
    status: int = 200
    url: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    sent: int = 0
    busiest: int = 0
    busy: int = 0
    etags: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def etag(self, data: bytes) -> str:
        """Digest of the content, made once for each object."""
        if id(data) not in self.etags:
            self.etags[id(data)] = (data, f'"{hashlib.sha256(data).hexdigest()[:16]}"')
        return self.etags[id(data)][1]

    def count(self, path: str, method: str = "GET") -> int:
        return sum(asked[:2] == (method, path) for asked in self.asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    site: ClassVar[Site]

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        site = self.site
        path = self.path.partition("?")[0]
        wanted = self.headers.get("Range", "")
        with site.lock:
            site.asked.append((self.command, path, wanted))
            site.busy += 1
            site.busiest = max(site.busiest, site.busy)
        time.sleep(site.latency)
        try:
            self._send(path, wanted, with_body=with_body)
        finally:
            with site.lock:
                site.busy -= 1

    def _send(self, path: str, wanted: str, *, with_body: bool) -> None:
        site = self.site
        if site.status != 200:
            self._reply(site.status, b"", {}, with_body=with_body)
            return
        data = site.files.get(path)
        if data is None:
            self._send_folder(path, with_body=with_body)
            return
        etag = site.etag(data)
        if site.ranges and self.headers.get("If-Match", etag) != etag:
            self._reply(412, b"", {}, with_body=with_body)
            return
        headers = {"ETag": etag, "Content-Type": "application/octet-stream"}
        if not (site.ranges and wanted):
            self._reply(200, data, headers, with_body=with_body)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1]
        headers["Content-Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
        self._reply(206, part, headers, with_body=with_body)

    def _send_folder(self, path: str, *, with_body: bool) -> None:
        folder = path.rstrip("/") + "/"
        inside = sorted(
            {name[len(folder) :] for name in self.site.files if name.startswith(folder)}
        )
        if not inside:
            self._reply(404, b"", {}, with_body=with_body)
            return
        if path != folder:
            self._reply(301, b"", {"Location": folder}, with_body=with_body)
            return
        names = sorted({n.partition("/")[0] + "/" * ("/" in n) for n in inside})
        page = "".join(f'<a href="{name}">{name}</a>' for name in ["../", "?C=M;O=D", *names])
        self._reply(200, page.encode(), {"Content-Type": "text/html"}, with_body=with_body)

    def _reply(self, status: int, data: bytes, headers: dict[str, str], *, with_body: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.site.lengths or status != 200:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if with_body:
            with self.site.lock:
                self.site.sent += len(data)
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the parent's name)
        """Keep quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients may hang up."""


@contextmanager
def serving(files: dict[str, bytes], **options: object) -> Iterator[Site]:
    """Serve files by path on a free port of the loopback interface."""
    site = Site(files, **options)
    handler = type("Handler", (_Handler,), {"site": site})
    server = _Server(("127.0.0.1", 0), handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
