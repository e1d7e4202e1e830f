"""A stock Firefox, driven over WebDriver BiDi: what a test of a page needs of it."""

import base64
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

NAMES = ("firefox", "firefox-esr")
START_SECONDS = 300.0
ANSWER_SECONDS = 180.0
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
STOP_SECONDS = 60.0


class FirefoxError(RuntimeError):
    """Firefox did not start, or answered with an error."""


def find() -> str | None:
    """Path of a Firefox on PATH."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One tab: its script, its pointer, what it logs."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._serial = 0
        self.log: list[str] = []
        self.requests: list[str] = []
        self.ask("session.new", capabilities={"alwaysMatch": {}})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        found = self.ask("browsingContext.getTree")
        self._context: str = found["contexts"][0]["context"]
        self._realm = self._context

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Give one command, return its result; events that come in between are kept."""
        self._serial += 1
        self._socket.send(json.dumps({"id": self._serial, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("type") == "event":
                self._keep(message["method"], message["params"])
            elif message.get("id") == self._serial:
                if message["type"] == "error":
                    raise FirefoxError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def _keep(self, event: str, params: dict[str, Any]) -> None:
        if event == "log.entryAdded" and params["level"] in ("error", "warn"):
            self.log.append(f"{params['level']}: {params['text']}")
        elif event == "network.beforeRequestSent":
            self.requests.append(params["request"]["url"])

    def resize(self, width: int, height: int) -> None:
        """Give the page so many CSS pixels."""
        size = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", context=self._context, viewport=size)

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return what a JavaScript expression gives, awaited, by way of JSON."""
        found = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self._realm},
            awaitPromise=True,
        )
        if found["type"] != "success":
            raise FirefoxError(found["exceptionDetails"]["text"])
        value = found["result"].get("value")
        return None if value is None else json.loads(value)

    def wait_for(self, expression: str, seconds: float = 20.0) -> None:
        """Wait until an expression is true."""
        done = self.evaluate(
            f"new Promise(done => {{ const end = performance.now() + {seconds * 1000};"
            f"const look = () => {{ if ({expression}) done(true);"
            "else if (performance.now() > end) done(false);"
            "else setTimeout(look, 50); }; look(); })"
        )
        if not done:
            raise FirefoxError(f"waited {seconds} s in vain for {expression}")

    @contextmanager
    def inside(self, frame: int) -> Iterator[None]:
        """Evaluate in a frame of the page for a while."""
        tree = self.ask("browsingContext.getTree", root=self._context)
        self._realm = tree["contexts"][0]["children"][frame]["context"]
        try:
            yield
        finally:
            self._realm = self._context

    def click(self, x: float, y: float) -> None:
        """Press the first pointer button at a point of the viewport (CSS pixels)."""
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        source = {"type": "pointer", "id": "mouse", "actions": actions}
        self.ask("input.performActions", context=self._context, actions=[source])

    def screenshot(self, path: Path) -> None:
        """Write what the viewport shows as PNG."""
        found = self.ask("browsingContext.captureScreenshot", context=self._context)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def firefox(path: str, profile: Path) -> Iterator[Tab]:
    """Start Firefox without a window on a profile of its own; it ends on leaving."""
    (profile / "user.js").write_text(
        'user_pref("app.update.enabled", false);\n'
        'user_pref("browser.shell.checkDefaultBrowser", false);\n'
        'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
        'user_pref("network.proxy.type", 1);\n'  # whatever asks the outside gets no answer
        'user_pref("network.proxy.http", "127.0.0.1");\n'
        'user_pref("network.proxy.http_port", 9);\n'
        'user_pref("network.proxy.ssl", "127.0.0.1");\n'
        'user_pref("network.proxy.ssl_port", 9);\n',
        encoding="utf-8",
    )
    command = [path, "--headless", "--no-remote", "--profile", str(profile)]
    process = subprocess.Popen(
        [*command, "--remote-debugging-port", "0", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        socket = websocket.create_connection(
            f"{_address(process)}/session", timeout=ANSWER_SECONDS, suppress_origin=True
        )
        yield Tab(socket)
        socket.close()
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    """Where it listens, as it says itself; its further output is read and forgotten."""
    found: list[str] = []
    said: list[str] = []
    ready = threading.Event()

    def listen() -> None:
        for line in process.stderr:
            if match := LISTENS.search(line):
                found.append(match[1])
                ready.set()
            elif not ready.is_set():
                said.append(line)
        ready.set()

    threading.Thread(target=listen, daemon=True).start()
    ready.wait(START_SECONDS)
    if not found:
        raise FirefoxError(f"Firefox did not start:\n{''.join(said)}")
    return found[0]
