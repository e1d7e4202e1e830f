"""What one asks first is answered at once or after one action, in a window of 1280 by 720 px.

A cell of JupyterLab has 1112 by 587 px there. What is said is held against the models in Python.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import inspect
from tests.ui.host import serve, visit
from tests.ui.waits import painted, rest
from tvmdbg_widgets.model.base.numbers import bytes_text, duration_text

pytestmark = pytest.mark.parametrize("theme", mostly_slow(["light", "dark"], "dark"))

WIDTH, HEIGHT = 1112, 587


@pytest.fixture(scope="module")
def clean() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


@pytest.fixture(scope="module")
def faulty() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


@pytest.fixture(scope="module")
def clean_address(clean: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(clean) as address:
        yield address


@pytest.fixture(scope="module")
def faulty_address(faulty: tvmdbg.DebugRun, clean: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(faulty, other=clean) as address:
        yield address


def shown(page: Page, address: str, theme: str, view: str = "debugger") -> Locator:
    visit(page, f"{address}?views={view}&width={WIDTH}&{view}.height={HEIGHT}&theme={theme}")
    page.set_viewport_size({"width": 1280, "height": 720})
    painted(page)
    return page.locator(f".cell > .tvmdbg-{view}")


def on_screen(page: Page, place: Locator, *texts: str) -> None:
    """Holds that an element says it, that one sees all of it, and that nothing lies above it."""
    for text in texts:
        expect(place).to_contain_text(text)
    page.wait_for_function(
        """node => {
          const { left, top, right, bottom } = node.getBoundingClientRect();
          const corners = [[left + 2, top + 2], [right - 2, bottom - 2]];
          return corners.every(([x, y]) => {
            const there = document.elementFromPoint(x, y);
            return node.contains(there) || there?.contains(node);
          });
        }""",
        arg=place.element_handle(),
    )


def typed(page: Page, root: Locator, words: str) -> Locator:
    """The first that the palette finds, as the one action."""
    root.locator(".tvmdbg-graph").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    return root.page.get_by_role("dialog", name="Command palette").get_by_role("option").first


def has_badge(graph: Locator, mark: dict[str, Any]) -> bool:
    """Whether there is red beside the upper left corner of a box."""
    red, green, blue = graph.locator("canvas").first.evaluate(
        """(canvas, { x, y }) => {
          const at = [x - 5, y + 1].map((each) => Math.round(each * devicePixelRatio));
          return [...canvas.getContext("2d").getImageData(...at, 1, 1).data.slice(0, 3)];
        }""",
        mark,
    )
    return bool(red > 1.4 * max(green, blue))


def findings(root: Locator) -> Locator:
    return root.locator(".tvmdbg-finding-title")


def titles(page: Page, root: Locator) -> list[str]:
    """The texts that the graph has painted."""
    return [label["text"] for label in inspect(root.locator(".tvmdbg-graph"))["labels"]]


def test_slowest_operator_is_on_screen(
    page: Page, clean: tvmdbg.DebugRun, clean_address: str, theme: str
) -> None:
    root = shown(page, clean_address, theme)
    slowest = clean.top(1)[0]
    on_screen(page, findings(root).first, f"#{slowest.node} takes")
    row = root.locator(".tvmdbg-timeline-row:not(.tvmdbg-timeline-head)").first
    on_screen(page, row, f"#{slowest.node}", duration_text(slowest.time_ns))


def test_node_of_first_inf_is_on_screen(
    page: Page, faulty: tvmdbg.DebugRun, faulty_address: str, theme: str
) -> None:
    root = shown(page, faulty_address, theme)
    first = next(
        node
        for node in range(faulty.graph.num_nodes)
        if np.isinf(faulty.tensors[node, 0].numpy()).any()
    )
    on_screen(page, findings(root).first, "First Inf appears in", f"#{first}:")
    rest(page)
    graph = root.locator(".tvmdbg-graph")
    marks = inspect(graph)["marks"]
    assert [int(mark["id"]) for mark in marks if has_badge(graph, mark)] == [first]


def test_nodes_reached_by_inf_are_on_screen(
    page: Page, faulty: tvmdbg.DebugRun, faulty_address: str, theme: str
) -> None:
    root = shown(page, faulty_address, theme)
    bad = [
        node
        for node in range(faulty.graph.num_nodes)
        if not np.isfinite(faulty.tensors[node, 0].numpy()).all()
    ]
    row = root.locator(".tvmdbg-finding").first
    on_screen(page, row, *(f"#{node}" for node in bad[:3]), f"+{len(bad) - 3}")
    row.locator(".tvmdbg-finding-twist").click()
    told = root.get_by_role("tree").get_by_text(f"spread to {len(bad) - 1} downstream outputs")
    told.scroll_into_view_if_needed()
    on_screen(page, told, *(f"#{node}" for node in bad[1:4]))


def test_repeated_blocks_are_titled(
    page: Page, clean: tvmdbg.DebugRun, clean_address: str, theme: str
) -> None:
    root = shown(page, clean_address, theme)
    repeated = [group.title for group in clean.groups if group.parent is None]
    assert repeated
    assert {title for title in titles(page, root) if "block" in title} == set(repeated)


def test_largest_tensor_is_on_screen(
    page: Page, clean: tvmdbg.DebugRun, clean_address: str, theme: str
) -> None:
    root = shown(page, clean_address, theme)
    operators = [node.id for node in clean.graph.nodes if node.kind.name == "OPERATOR"]
    sizes = {node: clean.tensors[node, 0].numpy().nbytes for node in operators}
    node = max(sizes, key=lambda each: sizes[each])
    on_screen(page, typed(page, root, "largest"), f"#{node}", bytes_text(sizes[node]))


def test_node_at_memory_peak_is_found(
    page: Page, clean: tvmdbg.DebugRun, clean_address: str, theme: str
) -> None:
    root = shown(page, clean_address, theme)
    plan = clean.memory_plan()
    node = int(plan.order[np.argmax(plan.live)])
    on_screen(page, typed(page, root, "peak"), f"#{node}", bytes_text(int(plan.live.max())))


def test_speedup_of_another_build_is_on_screen(
    page: Page, faulty: tvmdbg.DebugRun, clean: tvmdbg.DebugRun, faulty_address: str, theme: str
) -> None:
    root = shown(page, faulty_address, theme, "comparison")
    assert faulty.timeline is not None
    assert clean.timeline is not None
    a, b = (float(np.nansum(run.timeline.node_ns)) for run in (faulty, clean))
    answer = root.locator(".tvmdbg-comparison-sentence")
    faster = f"B is {a / b:.2f}× faster"
    on_screen(page, answer, faster, f"total {duration_text(a)} → {duration_text(b)}")
    on_screen(page, root.locator(".tvmdbg-comparison-row").first, "1.21× faster")


def test_value_at_typed_index_is_on_screen(
    page: Page, clean: tvmdbg.DebugRun, clean_address: str, theme: str
) -> None:
    root = shown(page, clean_address, theme)
    node = clean.top(1)[0].node
    page.keyboard.press("Tab")
    field = root.get_by_role("textbox", name="Index, to go to another (j)")
    field.fill("0,3,2,1")
    field.press("Enter")
    value = clean.tensors[node, 0].numpy()[0, 3, 2, 1]
    on_screen(page, root.locator(".tvmdbg-tensor-readout"), str(value))
