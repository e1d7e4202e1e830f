"""A graph in a small pane: what it opens on is whole and legible, and tooltips cover nothing."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.graphs import inspect, marks
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import frames, painted, rest

ORIGIN = 38  # where the first infinity appears
#: A pane of a Debugger at 1280x720 beside a file browser, and a view alone there.
PANE, ALONE = (428, 312), (848, 420)
TITLE_PX = 11


@pytest.fixture(scope="module")
def overflow() -> Iterator[str]:
    """Where a run with a fault inside a block is served."""
    with serve(tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)) as address:
        yield address


def opened(page: Page, address: str, size: tuple[int, int], **traits: Any) -> Locator:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": 720})
    own = "".join(f"&graph.{name}={quote(json.dumps(value))}" for name, value in traits.items())
    visit(page, f"{address}?views=graph&width={size[0]}&graph.height={size[1]}{own}")
    painted(page)
    rest(page)
    return page.locator(".tvmdbg-graph")


def resized(page: Page, width: int) -> None:
    page.evaluate(
        "width => { document.querySelector('.tvmdbg-graph').parentElement.style.width = width; }",
        f"{width}px",
    )
    rest(page)


def is_whole(shape: dict[str, Any], root: Locator) -> bool:
    stage = box_of(root.locator("canvas").first)
    across = shape["x"] >= 0 and shape["x"] + shape["width"] <= stage["width"]
    return across and shape["y"] >= 0 and shape["y"] + shape["height"] <= stage["height"]


def frame_around(root: Locator, node: int) -> dict[str, Any]:
    """The innermost frame around a node's box."""
    found = inspect(root)
    box = next(mark for mark in found["marks"] if mark["id"] == node)

    def holds(frame: dict[str, Any]) -> bool:
        return bool(
            frame["x"] <= box["x"]
            and frame["y"] <= box["y"]
            and frame["x"] + frame["width"] >= box["x"] + box["width"]
            and frame["y"] + frame["height"] >= box["y"] + box["height"]
        )

    return min(filter(holds, found["frames"]), key=lambda frame: frame["width"] * frame["height"])


@pytest.mark.parametrize("size", [PANE, ALONE])
def test_opens_on_the_fault_with_its_whole_frame(
    page: Page, overflow: str, size: tuple[int, int]
) -> None:
    root = opened(page, overflow, size)
    drawn = marks(page, root)
    assert is_whole(drawn[ORIGIN], root)
    assert is_whole(frame_around(root, ORIGIN), root)
    titles = [label for label in inspect(root)["labels"] if label["node"] == ORIGIN]
    assert titles[0]["text"].startswith(f"#{ORIGIN} conv2d")
    assert titles[0]["height"] >= TITLE_PX


def test_resized_pane_is_fitted_again_until_the_camera_is_moved(page: Page, overflow: str) -> None:
    root = opened(page, overflow, ALONE)
    resized(page, PANE[0])
    assert is_whole(frame_around(root, ORIGIN), root)
    resized(page, ALONE[0])
    before = marks(page, root)[ORIGIN]["width"]
    root.focus()
    page.keyboard.press("+")
    rest(page)
    moved = marks(page, root)[ORIGIN]["width"]
    assert moved > before
    resized(page, ALONE[0] + 40)
    assert marks(page, root)[ORIGIN]["width"] == pytest.approx(moved)


def test_selected_group_stays_whole_in_a_smaller_pane(page: Page, overflow: str) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    around = [group for group in run.groups if ORIGIN in group.nodes]
    inner = min(around, key=lambda group: len(group.nodes))
    root = opened(page, overflow, ALONE, group=inner.id)
    resized(page, PANE[0])
    (frame,) = (each for each in inspect(root)["frames"] if each["group"] == inner.id)
    assert is_whole(frame, root)


def test_tooltips_have_three_lines_and_cover_no_target(page: Page, overflow: str) -> None:
    root = opened(page, overflow, PANE)
    canvas = box_of(root.locator("canvas").first)
    tip = root.get_by_role("tooltip")
    seen = 0
    for mark in inspect(root)["marks"]:
        if not is_whole(mark, root):
            continue
        page.mouse.move(
            canvas["x"] + mark["x"] + mark["width"] / 3,
            canvas["y"] + mark["y"] + mark["height"] / 2,
        )
        frames(page)
        expect(tip).to_be_visible()
        shape = box_of(tip)
        assert tip.locator("> *").count() <= 3
        top, left = canvas["y"] + mark["y"], canvas["x"] + mark["x"]
        below = shape["y"] >= top + mark["height"]
        beside = shape["x"] >= left + mark["width"] or shape["x"] + shape["width"] <= left
        assert below or beside or shape["y"] + shape["height"] <= top
        assert shape["y"] >= 0
        assert shape["y"] + shape["height"] <= 720
        seen += 1
    assert seen >= 4


def test_a_fault_is_the_one_fact_of_a_tooltip(page: Page, overflow: str) -> None:
    root = opened(page, overflow, PANE)
    mark = marks(page, root)[ORIGIN]
    root.locator("canvas").first.hover(position={"x": mark["x"] + 40, "y": mark["y"] + 10})
    lines = root.get_by_role("tooltip").locator("> *")
    expect(lines).to_have_count(3)
    expect(lines.nth(0)).to_have_text(f"#{ORIGIN} conv2d + add + add + relu")
    expect(lines.nth(1)).to_contain_text("ms ·")
    expect(lines.nth(2)).to_contain_text("59 Inf of 8,192 values")


def test_wrapped_columns_are_not_cut(page: Page, overflow: str) -> None:
    root = opened(page, overflow, PANE)
    stage = box_of(root.locator("canvas").first)
    across = [
        mark
        for mark in inspect(root)["marks"]
        if mark["x"] < stage["width"] and mark["x"] + mark["width"] > 0
    ]
    assert across
    assert all(mark["x"] >= 0 for mark in across)
    assert all(mark["x"] + mark["width"] <= stage["width"] for mark in across)


def test_calls_of_a_delegate_hold_their_outputs_and_say_which_they_are(page: Page) -> None:
    run = tvmdbg.open(tvmdbg.samples.executorch_xnnpack)
    with serve(run) as address:
        root = opened(page, address, PANE, open_groups=[])
        found = inspect(root)
        outside = [mark["id"] for mark in found["marks"] if mark["group"] < 0]
        delegated = {node for node, attrs in enumerate(run.graph.attrs) if "delegate" in attrs}
        assert outside
        assert delegated.isdisjoint(outside)
        texts = {label["text"] for label in found["labels"]}
        assert {f"XNNPACK call {at} of 2 · {n} operators" for at, n in ((1, 19), (2, 6))} <= texts


def test_columns_are_arranged_again_in_a_narrower_pane(page: Page, overflow: str) -> None:
    root = opened(page, overflow, (900, 460), details=False)
    wide = {round(mark["x"]) for mark in inspect(root)["marks"]}
    assert max(wide) - min(wide) > 300  # in columns
    resized(page, 560)
    page.wait_for_function("!document.querySelector('.tvmdbg-graph [aria-busy=true]')")
    rest(page)
    assert all(is_whole(mark, root) for mark in inspect(root)["marks"] if mark["y"] >= 0)


@pytest.mark.parametrize("width", [860, 1300])
def test_numbers_and_words_of_the_inspector_are_not_broken(
    page: Page, overflow: str, width: int
) -> None:
    root = opened(page, overflow, (width, 600))
    page.evaluate("node => tvmdbg.models.session.set('selected', [node])", ORIGIN)
    details = root.locator(".tvmdbg-graph-details")
    for name in ("mean", "in nanoseconds", "num_outputs", "flatten_data"):
        row = details.get_by_role("row").filter(has=page.get_by_text(name, exact=True))
        for part, most in (("th", len(name.split())), ("td", 1)):
            lines = row.locator(part).evaluate(
                """(cell) => {
                  const range = document.createRange();
                  range.selectNodeContents(cell);
                  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
                }"""
            )
            assert lines <= most, (name, part)
