"""A page with static models whose questions are answered by the real Python code.

``python -m tests.ui.host DUMP [--port P]`` serves it for trying a view by hand:
``/?views=graph,tensor,timeline&theme=dark&width=900&graph.color_by=time&session.notes={"4":"a"}``.
"""

import argparse
import itertools
import json
import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.messages import message_id
from tvmdbg_widgets.answers.question_scheduler import QuestionScheduler
from tvmdbg_widgets.engine import STATIC

from .contract import contract_module

HERE = Path(__file__).parent
ORDERED_SECONDS = 2.0
HEIGHTS = {"debugger": 920, "comparison": 720}
FOLDERS = itertools.count(1)
VIEWS = ("debugger", "graph", "tensor", "timeline", "memory", "comparison", "plot")
OWN_BUNDLE = ("memory", "comparison", "plot")  # not among the views of page.js


def defaults(view: str) -> dict[str, Any]:
    """The state a view's model has when Python gives no arguments."""
    from tvmdbg_widgets.widgets.comparison import ComparisonView
    from tvmdbg_widgets.widgets.debugger import Debugger
    from tvmdbg_widgets.widgets.graph import GraphView
    from tvmdbg_widgets.widgets.memory import MemoryView
    from tvmdbg_widgets.widgets.plot import LinkedPlot
    from tvmdbg_widgets.widgets.tensor import TensorInspector
    from tvmdbg_widgets.widgets.timeline import Flamechart

    kind = {
        "debugger": Debugger,
        "graph": GraphView,
        "tensor": TensorInspector,
        "timeline": Flamechart,
        "memory": MemoryView,
        "comparison": ComparisonView,
        "plot": LinkedPlot,
    }[view]
    traits = kind.class_traits(sync=True)
    own = {n: t for n, t in traits.items() if not n.startswith("_") and n not in ("run", "session")}
    plain = {n: t.default() for n, t in own.items() if is_plain(t.default())}
    # The windows of the tests are as high as all that they show.
    return plain | {"height": HEIGHTS[view]} if view in HEIGHTS else plain


def is_plain(value: object) -> bool:
    """Whether a trait's default can be written as JSON (ipywidgets' own layout cannot)."""
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


class Answering:
    """Waits for the answer to each message of a page; the live model's scheduler gives it."""

    def __init__(self, run: Any) -> None:
        self._scheduler = QuestionScheduler(run.facts, self._receive)
        self._asked = itertools.count()
        self._came: dict[str, tuple[dict[str, Any], list[bytes]]] = {}
        self._next: Counter[str] = Counter()
        self._changed = threading.Condition()

    def close(self) -> None:
        self._scheduler.close()

    def reply(self, message: object, page: str, number: int) -> bytes:
        """One answer as bytes: length of the JSON part, the JSON part, the buffer.

        Messages of a page are taken in the order of their numbers, as they come over one socket;
        one that a test keeps back is not waited for.
        """
        name = str(next(self._asked))
        asked = {**message, "id": name} if isinstance(message, dict) else {"id": name}
        with self._changed:
            self._changed.wait_for(lambda: self._next[page] >= number, ORDERED_SECONDS)
        self._scheduler.take(asked)
        with self._changed:
            self._next[page] = max(self._next[page], number + 1)
            self._changed.notify_all()
            self._changed.wait_for(lambda: name in self._came)
            content, buffers = self._came.pop(name)
        head = json.dumps({**content, "id": message_id(message)}, allow_nan=False).encode()
        return struct.pack("<I", len(head)) + head + b"".join(buffers[:1])

    def _receive(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        with self._changed:
            self._came[content["id"]] = (content, buffers)
            self._changed.notify_all()


class Comparing:
    """Answers of the second run of a comparison, and of the comparison itself."""

    def __init__(self, run: Any, other: Any) -> None:
        self._comparison = tvmdbg.compare(run, other)
        self._run_b = Answering(other)

    def close(self) -> None:
        self._run_b.close()

    def reply(self, message: object, model: str, page: str, number: int) -> bytes:
        """As :meth:`Answering.reply`, of a model by its id."""
        from tvmdbg_widgets.answers.comparison import comparison_answer

        if model == "run_b":
            return self._run_b.reply(message, page, number)
        answer = comparison_answer(self._comparison, message)
        content = {"id": message_id(message), "result": answer.result}
        head = json.dumps(content, allow_nan=False).encode()
        return struct.pack("<I", len(head)) + head + b"".join(answer.buffers)


class Plotting:
    """Answers of a linked plot."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot

    def close(self) -> None:
        self._plot.close()

    def reply(self, message: object, _model: str, _page: str, _number: int) -> bytes:
        """As :meth:`Answering.reply`."""
        content, buffers = self._plot.answer(message)
        head = json.dumps(content).encode()
        return struct.pack("<I", len(head)) + head + b"".join(buffers)


class Handler(BaseHTTPRequestHandler):
    """The page, and the answers of each run that is served now, by the folder of its address."""

    runs: ClassVar[dict[str, tuple[Answering, Comparing | Plotting | None]]] = {}
    late: ClassVar[float] = 0.0  # at most so many seconds, by chance
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        page, number = self.headers["X-Page"], int(self.headers["X-Number"])
        model = self.headers["X-Model"]
        served = self.runs.get(self.path.split("/")[1])
        if served is None:  # asked as its test ended
            self._give(b"", "text/plain", 204)
            return
        answering, other = served
        if other is not None and model != "run":
            answer = other.reply(message, model, page, number)
        else:
            answer = answering.reply(message, page, number)
        time.sleep(random.uniform(0, self.late))
        self._give(answer, "application/octet-stream")

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/page.js":
            self._give((STATIC / "page.js").read_bytes(), "text/javascript")
        elif url.path == "/page.css":
            own = [STATIC / f"{name}.css" for name in ("page", *OWN_BUNDLE)]
            self._give(b"".join(each.read_bytes() for each in own), "text/css")
        elif url.path[1:].removesuffix(".js") in OWN_BUNDLE:
            self._give((STATIC / url.path[1:]).read_bytes(), "text/javascript")
        elif url.path == "/contract.js":
            self._give(contract_module().encode(), "text/javascript")
        elif url.path.strip("/") in self.runs:
            self._give(page(parse_qs(url.query)).encode(), "text/html; charset=utf-8")
        else:
            self._give(b"", "text/plain", 204)

    def _give(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


def settings(query: dict[str, list[str]]) -> dict[str, Any]:
    """What ``host.js`` shows; the query names views, theme, width and initial traits."""
    views = query.get("views", ["debugger"])[0].split(",")
    states: dict[str, dict[str, Any]] = {view: defaults(view) for view in views if view in VIEWS}
    states["session"] = {}
    states["session_b"] = {}
    for name, (value, *_) in query.items():
        view, _, trait = name.partition(".")
        if trait and view in states:
            states[view][trait] = json.loads(value)
    theme = query.get("theme", ["light"])[0]
    width = int(query.get("width", ["1200"])[0])
    return {"views": views, "states": states, "theme": theme, "width": width, "own": OWN_BUNDLE}


def page(query: dict[str, list[str]]) -> str:
    """The HTML of one page."""
    script = (HERE / "host.js").read_text(encoding="utf-8")
    written = json.dumps(settings(query)).replace("<", "\\u003c")
    return f"""<!doctype html><html lang="en"><meta charset="utf-8">
<title>views</title><link rel="stylesheet" href="/page.css"><style>{STYLE}</style><body>
<script src="/page.js"></script>
<script type="application/json" id="settings">{written}</script>
<script>{script}</script></body></html>"""


def visit(page: Page, url: str) -> None:
    """Open a page of this host; where one is open already, only the views are other ones."""
    if page.evaluate("window.tvmdbgHost?.isWhole()"):
        page.evaluate(SHOW, [url, settings(parse_qs(urlsplit(url).query))])
    else:
        page.goto(url)


SHOW = """([url, settings]) => {
  history.replaceState(null, "", url);
  return tvmdbgHost.show(settings);
}"""
#: Takes everything away again; false on a page of another kind.
CLEAR = "window.tvmdbgHost?.clear() ?? false"
STYLE = """
body { margin: 8px; font-family: system-ui, sans-serif; box-sizing: border-box }
.cell { margin-bottom: 12px }
[data-theme=light] { --jp-layout-color1: #fff; --jp-layout-color2: #f0f0f0;
  --jp-ui-font-color1: rgba(0, 0, 0, 0.87); --jp-border-color1: #bdbdbd; background: #fff }
[data-theme=dark] { --jp-layout-color1: #111; --jp-layout-color2: #212121;
  --jp-ui-font-color1: rgba(255, 255, 255, 1); --jp-border-color1: #616161; background: #111 }
[data-theme=contrast] { --jp-layout-color1: #111; --jp-layout-color2: #424242;
  --jp-ui-font-color1: #fff; --jp-border-color1: white; background: #111 }
"""


@cache
def server(port: int = 0) -> ThreadingHTTPServer:
    """Serves all runs until the process ends, so that one document can show each of them."""
    found = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return found


@contextmanager
def serve(run: Any, port: int = 0, other: Any = None, plot: Any = None) -> Iterator[str]:
    """Serve the page of one run, perhaps compared with another or plotted; yields its address."""
    folder = str(next(FOLDERS))
    answering = Answering(run)
    beside: Comparing | Plotting | None = None
    if other is not None:
        beside = Comparing(run, other)
    elif plot is not None:
        beside = Plotting(plot)
    Handler.runs[folder] = (answering, beside)
    try:
        yield f"http://127.0.0.1:{server(port).server_port}/{folder}/"
    finally:
        del Handler.runs[folder]
        answering.close()
        if beside is not None:
            beside.close()


def main() -> None:
    """Serve the dump named on the command line until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump")
    parser.add_argument("other", nargs="?", help="run to compare with: ?views=comparison")
    parser.add_argument("--port", type=int, default=8765)
    arguments = parser.parse_args()
    other = None if arguments.other is None else tvmdbg.open(arguments.other)
    with serve(tvmdbg.open(arguments.dump), arguments.port, other) as address:
        print(address)
        threading.Event().wait()


if __name__ == "__main__":
    main()
