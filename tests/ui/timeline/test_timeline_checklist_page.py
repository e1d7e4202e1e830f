"""What is looked for in every view, of each chart, table and mark of the flamechart."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle, product
from typing import Any

import pytest
from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import THEMES, WIDTHS, check
from tests.ui.host import serve
from tests.ui.timeline.test_timeline_charts_page import times
from tests.ui.timeline.test_timeline_page import View
from tests.ui.waits import rest
from tvmdbg_widgets.run import DebugRun

RANGE = [12e6, 19e6]
STATES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "charts in time": ("resnet", {}, ()),
    "merged": ("resnet", {"timeline.chart": "merged"}, ()),
    "folded": ("resnet", {"timeline.chart": "folded"}, ()),
    "repeats": ("resnet", {"timeline.chart": "repeats"}, ()),
    "roofline": ("resnet", {"timeline.chart": "roofline"}, ()),
    "by kind": ("resnet", {"timeline.table_by": "kind"}, ()),
    "by part": ("resnet", {"timeline.table_by": "part"}, ()),
    "a range": ("resnet", {"session.time_range": RANGE}, ()),
    "a measure": ("resnet", {}, ("End", "m", "ArrowLeft", "ArrowLeft")),
    "50 repeats folded": ("fifty", {"timeline.chart": "folded"}, ()),
    "50 repeats beside each other": ("fifty", {"timeline.chart": "repeats"}, ()),
    "two runs": ("compared", {"timeline.table_by": "change"}, ("ArrowRight",)),
    "100,000 slices": ("large", {}, ("Home",)),
}


def large() -> DebugRun:
    """Two threads of 50,000 slices, three inside each fourth."""
    events = [
        {"ph": "X", "pid": 1, "tid": thread, "ts": 10 * at + 2 * inner, "dur": dur, "name": name}
        for thread in (1, 2)
        for at in range(12_500)
        for inner, (name, dur) in enumerate(
            [(f"step_{at % 7}", 9), ("conv2d", 1), ("softmax", 1), ("dense", 1)]
        )
    ]
    return tvmdbg.open(json.dumps({"traceEvents": events}).encode())


def flows() -> DebugRun:
    """Launches of a host, each with an arrow to what it starts, and a counter with one peak."""
    events: list[dict[str, Any]] = []
    for at in range(6):
        ts, link = 100 * at, {"pid": 1, "id": at, "name": "launch", "cat": "flow"}
        events += [
            {"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": 40, "name": "launch"},
            {"ph": "X", "pid": 1, "tid": 2, "ts": ts + 55, "dur": 30, "name": "kernel"},
            {"ph": "s", "tid": 1, "ts": ts + 20, **link},
            {"ph": "f", "bp": "e", "tid": 2, "ts": ts + 55, **link},
            {"ph": "C", "pid": 1, "ts": ts, "name": "bytes", "args": {"used": 9 - abs(at - 3)}},
        ]
    return tvmdbg.open(json.dumps({"traceEvents": events}).encode())


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """Address of a page of each run."""
    resnet = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    other = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    runs = {
        "resnet": resnet,
        "fifty": tvmdbg.open(json.dumps(times().tolist()).encode()),
        "compared": tvmdbg.compare_times(resnet, other, ("float32", "float16")).run,
        "large": large(),
        "flows": flows(),
    }
    with ExitStack() as stack:
        yield {name: stack.enter_context(serve(run)) for name, run in runs.items()}


@pytest.mark.parametrize(
    ("state", "width"),
    mostly_slow(product(STATES, WIDTHS), *zip(STATES, cycle(WIDTHS[:2]), strict=False)),
)
def test_view_is_legible_complete_and_reachable(
    page: Page, addresses: dict[str, str], state: str, width: int
) -> None:
    run, traits, keys = STATES[state]
    page.emulate_media(reduced_motion="reduce")
    theme = THEMES[(WIDTHS.index(width) + list(STATES).index(state)) % 2]
    query = "".join(f"&{name}={json.dumps(value)}" for name, value in traits.items())
    view = View(page, addresses[run], f"&theme={theme}&timeline.height=560{query}", width)
    rest(page)
    view.root.focus()
    view.press(*keys)
    rest(page)
    (found,) = check(page)
    assert found["canvases"][0]["marks"] > 0


def inked(view: View, layer: str, box: tuple[float, float, float, float]) -> int:
    """How many pixels of a part of a canvas have more than a shade of color."""
    return view.root.locator(f".tvmdbg-stage canvas{layer}").first.evaluate(
        """(canvas, [x, y, width, height]) => {
          const scale = canvas.width / canvas.clientWidth;
          const part = [x, y, width, height].map((each) => Math.round(each * scale));
          const { data } = canvas.getContext("2d").getImageData(...part);
          return data.filter((value, i) => i % 4 === 3 && value > 128).length;
        }""",
        list(box),
    )


def test_arrow_leads_from_slice_to_the_kernel_it_starts(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["flows"])
    rest(page)
    marks = view.seen()["marks"]
    first = min((each for each in marks), key=lambda each: (each["y"], each["x"]))
    below = min((each for each in marks if each["y"] > first["y"] + 5), key=lambda each: each["x"])
    between = (
        first["x"] + first["width"] + 2,
        first["y"] + first["height"] + 3,
        below["x"] - first["x"] - first["width"] - 3,
        below["y"] - first["y"] - first["height"] - 6,
    )
    assert inked(view, ".tvmdbg-overlay", between) == 0
    view.root.focus()
    view.press("Home")
    view.seen()
    assert inked(view, ".tvmdbg-overlay", between) > 10
    view.press("e")
    assert view.root.locator(".tvmdbg-timeline-details h4").inner_text().startswith("kernel")
