"""Twelve first questions, answered at once or after one action, in a cell of 848 by 580 px.

That is a cell in a window of 1280 by 720 px beside JupyterLab's file browser. Answers are compared
with the models in Python.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import inspect
from tests.ui.host import serve, visit
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import painted, rest
from tvmdbg_widgets.model.base.numbers import bytes_text, duration_text, percent

pytestmark = pytest.mark.parametrize("theme", mostly_slow(["light", "dark"], "dark"))

WIDTH, HEIGHT = 848, 580


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
def delegated() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.executorch_xnnpack)


@pytest.fixture(scope="module")
def delegated_address(delegated: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(delegated) as address:
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
    """Asserts that an element shows these texts, uncut by any edge and not covered."""
    for text in texts:
        expect(place).to_contain_text(text)
    page.wait_for_function(
        """([node, texts]) => {
          const seen = (box) => {
            let { left, top, right, bottom } = node.getBoundingClientRect();
            for (let each = node; each; each = each.parentElement) {
              const style = getComputedStyle(each);
              if (style.overflowX === "visible" && style.overflowY === "visible") continue;
              const outer = each.getBoundingClientRect();
              [left, top] = [Math.max(left, outer.left), Math.max(top, outer.top)];
              [right, bottom] = [Math.min(right, outer.right), Math.min(bottom, outer.bottom)];
            }
            const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
            const there = document.elementFromPoint(x, y);
            const isOnTop = node.contains(there) || there?.contains(node);
            const isWhole = box.left >= left - 1 && box.right <= right + 1;
            return isOnTop && isWhole && y > top && y < bottom;
          };
          const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
          const parts = [];
          while (walker.nextNode()) parts.push(walker.currentNode);
          const plain = (text) => text.replaceAll("\u00a0", " ");
          const whole = plain(parts.map(({ data }) => data).join(""));
          return texts.map(plain).every((text) => {
            const at = whole.indexOf(text);
            if (at < 0) return false;
            const range = document.createRange();
            let before = 0;
            for (const part of parts) {
              const [start, end] = [at - before, at + text.length - before];
              if (start >= 0 && start < part.length) range.setStart(part, start);
              if (end > 0 && end <= part.length) range.setEnd(part, end);
              before += part.length;
            }
            return [...range.getClientRects()].filter(({ width }) => width > 1).every(seen);
          });
        }""",
        arg=[place.element_handle(), list(texts)],
        timeout=5_000,
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
    on_screen(page, findings(root).first, f"#{slowest.node} ", "takes", percent(slowest.share))
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
    on_screen(page, findings(root).first, "First Inf", f"#{first} ")
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
    expect(typed(page, root, "[0, 3, 2, 1]")).to_contain_text(f"value at [0, 3, 2, 1] of #{node}")
    page.keyboard.press("Enter")
    value = clean.tensors[node, 0].numpy()[0, 3, 2, 1]
    on_screen(page, root.locator(".tvmdbg-tensor-readout"), str(value))


def test_slowest_event_of_delegate_and_its_operators_are_on_screen(
    page: Page, delegated: tvmdbg.DebugRun, delegated_address: str, theme: str
) -> None:
    root = shown(page, delegated_address, theme)
    finding = next(each for each in delegated.findings() if "slowest operator of" in each.title)
    row = typed(page, root, "slowest operator of XNNPACK")
    on_screen(page, row, finding.title, *(f"#{node}" for node in finding.nodes[:2]))
    assert duration_text(slowest_in_calls(delegated)) in finding.title


def test_operators_that_no_delegate_took_and_the_reason_are_on_screen(
    page: Page, delegated: tvmdbg.DebugRun, delegated_address: str, theme: str
) -> None:
    root = shown(page, delegated_address, theme)
    row = typed(page, root, "not delegated")
    on_screen(page, row, "#33 mean was not delegated to XNNPACK", "keepdim")


@pytest.mark.usefixtures("own_page")
def test_reason_and_remedy_of_failed_trials_are_on_screen(page: Page, theme: str) -> None:
    log = tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)
    view = tuning(page, log, theme)
    failed = np.count_nonzero(log.trials.error)
    on_screen(page, view.root, f"{failed} of 1,024 trials failed", "Build starvation")
    view.root.get_by_role("tab", name=re.compile("^Findings")).click()
    remedy = log.findings()[0].next_step.splitlines()[0]
    on_screen(page, view.root.locator(".tvmdbg-tuning-findings"), remedy)


@pytest.mark.usefixtures("own_page")
def test_best_schedule_of_a_task_shows_its_loops(page: Page, theme: str) -> None:
    log = tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)
    view = tuning(page, log, theme)
    view.root.get_by_role("row").filter(has_text="conv2d_layer 1 28").click()
    best = log.best(4)
    assert best is not None
    on_screen(page, view.root, f"trial {best.row}", duration_text(1e9 * best.cost))
    nest = view.root.locator(".tvmdbg-tuning-nest")
    on_screen(page, nest, "parallel", "for ")


def tuning(page: Page, log: tvmdbg.TuningLog, theme: str) -> TuningPage:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": WIDTH + 16, "height": HEIGHT + 16})
    return TuningPage(page, log, width=WIDTH, height=HEIGHT)


def slowest_in_calls(run: tvmdbg.DebugRun) -> float:
    """The longest time of an operator that XNNPACK's own profile names."""
    timeline = run.timeline
    assert timeline is not None
    own = [timeline.slice(at) for at in range(timeline.num_slices)]
    return max(each.duration_ns for each in own if re.search(r"\(.*\).* #\d+$", each.name))
