"""Two graphs side by side on a page without a notebook, answered by the real Python code."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import WIDTHS
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import frames, inspected, painted, rest
from tests.unit.figures.figure_checks import lines_of
from tvmdbg_widgets.figures.raster import Figure

#: By who made the dumps: what `resnet20_two_devices` has beyond `resnet20_cifar`.
COPIES = [22, 45, 68]


@pytest.fixture(scope="module")
def unfused(corpus: Path) -> Iterator[str]:
    """Address of a page that compares fused functions with their parts."""
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_cifar{more}") for more in ("", "_unfused"))
    with serve(a, other=b) as address:
        yield address


@pytest.fixture
def comparison(page: Page) -> Callable[..., Locator]:
    """Open the view; gives its root once both graphs are there."""

    def open_view(address: str, query: str = "", width: int = 1200) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size({"width": width + 40, "height": 900})
        visit(page, f"{address}?views=comparison&width={width}&{query}")
        painted(page)
        rest(page)
        return page.locator(".tvmdbg-comparison")

    return open_view


def selected(page: Page) -> tuple[list[int], list[int]]:
    found = page.evaluate(
        "['session', 'session_b'].map(name => tvmdbg.models[name].get('selected'))"
    )
    return found[0], found[1]


def marks(root: Locator, side: str) -> dict[int, dict[str, float]]:
    graph = root.locator(f'[data-side="{side}"] .tvmdbg-graph')
    found: dict[str, Any] = inspected(graph)
    return {int(mark["id"]): mark for mark in found["marks"]}


def labels(root: Locator, side: str) -> list[str]:
    graph = root.locator(f'[data-side="{side}"] .tvmdbg-graph')
    return [each["text"] for each in inspected(graph)["labels"]]


def told(figure: Figure, side: str) -> list[str]:
    """The words in the boxes of one graph of a figure, from above, without the ids of nodes."""
    lines = [each for each in lines_of(figure) if (each.x > 360) == (side == "b")]
    said = {id(each): re.sub(r"^#\d+ ", "", each.text) for each in lines}
    # Above the rows of differences, which name some of them again.
    first = min(each.y for each in lines if said[id(each)] == "data")
    last = min(each.y for each in lines if said[id(each)] == "softmax")
    seen = [each for each in lines if first - 1 <= each.y <= last + 3 and len(each.text) > 1]
    return [said[id(each)] for each in sorted(seen, key=lambda each: (round(each.y / 9), each.x))]


@pytest.mark.parametrize("name", ["resnet20_cifar_fp16_overflow", "resnet20_cifar_unfused"])
def test_figure_matches_the_view(
    corpus: Path, comparison: Callable[..., Locator], name: str
) -> None:
    a, b = (tvmdbg.open(corpus / "tvm" / each) for each in ("resnet20_cifar", name))
    with serve(a, other=b) as address:
        root = comparison(address, 'comparison.height=1200&comparison.color_by="speed"')
        figure = tvmdbg.ComparisonView(a, b).figure()
        expect(root.locator(".tvmdbg-comparison-sentence")).to_have_text(
            figure.description["sentence"]
        )
        for side in "ab":
            graph = root.locator(f'[data-side="{side}"] .tvmdbg-graph')
            shown = sorted(inspected(graph)["labels"], key=lambda each: each["y"])
            texts = [re.sub(r"^#\d+ ", "", each["text"]) for each in shown]
            words = [text for text in texts if not text.startswith("float")]
            assert Counter(told(figure, side)) == Counter(words)
            titles = [each for each in words if not re.search(r"(er|unknown)$", each)]
            boxes = figure.description["graphs"]["ab".index(side)]["boxes"]
            named = [re.sub(r"^#\d+ ", "", each["title"]) for each in boxes]
            assert sorted(named) == sorted(titles)
            assert [each for each in told(figure, side) if each in titles] == titles


def row(root: Locator) -> Locator:
    return root.locator('.tvmdbg-comparison-row[aria-selected="true"]')


def walk_from(root: Locator, kind: str) -> None:
    """Go to the line above the first one of a kind, as the first differences are those of time."""
    root.focus()
    while not row(root).count() or kind not in (row(root).text_content() or ""):
        root.page.keyboard.press("ArrowDown")
    root.page.keyboard.press("ArrowUp")


def test_matched_nodes_are_counted_and_unmatched_ones_are_marked(
    comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices, "comparison.color_by=%22match%22")
    expect(root.locator(".tvmdbg-comparison-sentence")).to_contain_text(
        re.compile(r"^B is .* (slower|faster) .*; 3 nodes of B unmatched$")
    )
    expect(root.locator(".tvmdbg-comparison-here")).to_have_text(
        "72 of 72 nodes matched: 26 exact, 46 likely; 3 of 75 only in B"
    )
    legends = root.locator(".tvmdbg-graph-legend")
    expect(legends.nth(0)).not_to_contain_text("unmatched")
    expect(legends.nth(1)).to_contain_text("unmatched 3")
    page = root.page
    page.evaluate(
        "() => { const m = tvmdbg.models.session_b; m.set('selected', [22]); m.save_changes(); }"
    )
    expect(root.locator('[data-side="b"] .tvmdbg-mirror')).to_contain_text("match: unmatched")


def test_comparison_opens_with_times_of_matched_nodes_and_ratio(
    comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices)
    first = root.locator(".tvmdbg-comparison-row").first
    assert (first.locator(".tvmdbg-comparison-kind").text_content()) == "time"
    sides = first.locator(".tvmdbg-comparison-place")
    for at, side in enumerate("AB"):
        expect(sides.nth(at)).to_have_attribute("data-of", side)
        expect(sides.nth(at)).to_contain_text(re.compile(r"^(~ )?#\d+([a-z_2d+ ]+(\d+×)*\d+)?$"))
    expect(first).to_contain_text(re.compile(r"(slower|faster): .* → "))
    for side in "ab":
        legend = root.locator(f'[data-side="{side}"] .tvmdbg-graph-legend')
        expect(legend).to_contain_text(re.compile("^speed.*faster.*slower"))


def test_a_node_selected_on_one_side_is_selected_on_the_other(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices, "session.selected=[9]")
    spot = marks(root, "a")[6]
    canvas = root.locator('[data-side="a"] canvas').first
    at = {"x": spot["x"] + spot["width"] / 2, "y": spot["y"] + spot["height"] / 2}
    canvas.click(position=at)
    rest(page)
    assert selected(page) == ([6], [6])
    expect(root.locator(".tvmdbg-comparison-here")).to_have_text(
        "A #6 conv2d + add + relu ~ B #6: exact, everything upstream is the same"
    )
    expect(row(root)).to_contain_text("time")
    page.evaluate(
        "() => { const m = tvmdbg.models.session_b; m.set('selected', [22]); m.save_changes(); }"
    )
    rest(page)
    assert selected(page) == ([], [22])
    expect(root.locator(".tvmdbg-comparison-here")).to_contain_text(
        re.compile("#22 .* has no match in A")
    )


def test_matched_nodes_are_aligned(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices, "session.selected=[31]")
    side = root.locator('[data-side="a"] .tvmdbg-graph')
    side.focus()
    for _ in range(3):
        page.keyboard.press("+")
    rest(page)
    here, there = marks(root, "a")[31], marks(root, "b")[32]
    for name in ("x", "y", "width", "height"):
        assert there[name] == pytest.approx(here[name], abs=1)
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("-")
    rest(page)
    moved = marks(root, "a")[31]
    assert abs(moved["x"] - here["x"]) > 20
    there = marks(root, "b")[32]
    assert (there["x"], there["y"]) == pytest.approx((moved["x"], moved["y"]), abs=1)
    root.focus()
    page.keyboard.press("l")
    side.focus()
    page.keyboard.press("Shift+ArrowRight")
    rest(page)
    assert abs(marks(root, "a")[31]["x"] - moved["x"]) > 20
    assert marks(root, "b")[32] == there


def test_side_a_follows_moves_of_side_b(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices, "session_b.selected=[32]")
    root.locator('[data-side="b"] .tvmdbg-graph').focus()
    before = marks(root, "b")[32]
    for key in ("+", "+", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    rest(page)
    assert selected(page) == ([31], [32])
    here, there = marks(root, "a")[31], marks(root, "b")[32]
    assert there["width"] > before["width"]
    assert (here["x"], here["y"]) == pytest.approx((there["x"], there["y"]), abs=1)


def test_stepping_through_differences_selects_nodes_in_graphs(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices)
    walk_from(root, "only in B")
    for node in COPIES:
        page.keyboard.press("ArrowDown")
        assert selected(page) == ([], [node])
        expect(row(root)).to_contain_text(f"#{node}")
    page.keyboard.press("ArrowDown")
    assert selected(page) == ([24], [25])
    count = root.locator(".tvmdbg-comparison-row").count()
    page.keyboard.press("ArrowRight")
    expect(row(root)).to_have_attribute("aria-expanded", "true")
    expect(root.locator(".tvmdbg-comparison-row")).not_to_have_count(count - 1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert selected(page) == ([30], [31])
    expect(root.locator(":scope > .tvmdbg-mirror")).to_contain_text(re.compile("#30 .* ~ B #31"))
    page.keyboard.press("ArrowLeft")
    expect(row(root)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Home")
    expect(row(root)).to_contain_text("time")
    page.keyboard.press("Escape")
    assert selected(page) == ([], [])


def test_list_can_be_limited_to_one_kind(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices)
    kinds = root.get_by_label("Kind of difference")
    kinds.select_option("device")
    rows = root.locator(".tvmdbg-comparison-row")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("cpu → cuda")
    assert page.evaluate("tvmdbg.models.comparison0.get('kind')") == "device"
    root.focus()
    page.keyboard.press("k")
    assert page.evaluate("tvmdbg.models.comparison0.get('kind')") == "storage"


def test_a_fused_function_selects_all_its_parts(
    page: Page, comparison: Callable[..., Locator], unfused: str
) -> None:
    root = comparison(unfused)
    walk_from(root, "fusion")
    page.keyboard.press("ArrowDown")
    frames(page)
    assert selected(page)[0] == [3]
    assert sorted(selected(page)[1]) == [2, 4, 5]
    expect(root.locator(".tvmdbg-comparison-here")).to_have_text(
        "A #3 conv2d + add + relu ~ B #2, #4, #5: likely, parts of a fused function"
    )


def test_tab_and_keys_reach_everything(
    page: Page, comparison: Callable[..., Locator], devices: str
) -> None:
    root = comparison(devices)
    root.focus()
    for key in ("a", "b"):
        root.focus()
        page.keyboard.press(key)
        side = root.locator(f'[data-side="{key}"] .tvmdbg-graph')
        expect(side).to_be_focused()
        page.keyboard.press("Escape")
        expect(root).to_be_focused()
    page.keyboard.press("?")
    expect(root.locator(":scope > .tvmdbg-help")).to_be_visible()


@pytest.mark.parametrize("width", mostly_slow(WIDTHS, 480))
def test_comparison_fits_view_width(
    page: Page, comparison: Callable[..., Locator], devices: str, width: int
) -> None:
    root = comparison(devices, width=width)
    assert root.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
    bars = root.locator(":scope > .tvmdbg-bar, .tvmdbg-comparison-head")
    for bar in bars.all():
        assert bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth + 1")
    for side in ("a", "b"):
        pane = box_of(root.locator(f'[data-side="{side}"]'))
        assert pane["width"] > 200
        assert pane["height"] > 120


def test_small_panel_tells_runs_apart_and_shows_whole_differences(page: Page) -> None:
    a, b = (
        tvmdbg.open(each)
        for each in (tvmdbg.samples.resnet20_cifar, tvmdbg.samples.resnet20_cifar_fp16_overflow)
    )
    with serve(a, other=b) as address:
        page.set_viewport_size({"width": 900, "height": 640})
        visit(page, f"{address}?views=comparison&width=848&comparison.height=580")
        painted(page)
        rest(page)
        root = page.locator(".tvmdbg-comparison")
        titles = root.locator(".tvmdbg-comparison-title")
        assert [each.inner_text() for each in titles.all()] == [
            "A resnet20_cifar",
            "B …_fp16_overflow",
        ]
        for part in (*titles.all(), *root.locator(".tvmdbg-graph-legend").all()):
            assert part.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
        sentence = root.locator(".tvmdbg-comparison-sentence")
        assert box_of(sentence)["height"] <= 45
        list_ = root.locator(".tvmdbg-comparison-list")
        bottom = box_of(list_)["y"] + box_of(list_)["height"]
        rows = [
            row
            for row in root.locator(".tvmdbg-comparison-row").all()
            if box_of(row)["y"] + box_of(row)["height"] <= bottom
        ]
        assert len(rows) >= 4
        for row in rows:
            for text in row.locator("span").all():
                assert text.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
        change = rows[0].locator(".tvmdbg-comparison-change")
        expect(change).to_have_text(re.compile(r"^\d\.\d+× (slower|faster): .* → "))
