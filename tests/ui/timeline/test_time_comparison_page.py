"""Two runs in one flamechart: the table of differences, by mouse and by key, live and saved."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.waits import frames, inspected
from tvmdbg_widgets.analysis.compare_times import TimeComparison

WHOLE = "B is 1.32× slower (+12.58 ms): total 39.88 ms → 52.46 ms"


def runs(corpus: Path, other: str) -> TimeComparison:
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_cifar{more}") for more in ("", other))
    return tvmdbg.compare_times(a, b, ("plain", "other"))


@pytest.fixture(scope="module")
def unfused(corpus: Path) -> Iterator[str]:
    """Address of a page with fused functions against their parts."""
    with serve(runs(corpus, "_unfused").run) as address:
        yield address


@pytest.fixture(scope="module")
def int8(corpus: Path) -> Iterator[str]:
    """Address of a page whose second run has operators of its own, and doubtful matches."""
    with serve(runs(corpus, "_int8").run) as address:
        yield address


@pytest.fixture
def view(page: Page) -> Callable[..., Locator]:
    """Open the flamechart; gives its root once it is painted."""

    def open_view(address: str, width: int = 1200, query: str = "", views: str = "timeline") -> Any:
        page.set_viewport_size({"width": width + 40, "height": 900})
        visit(
            page,
            f"{address}?views={views}&width={width}&timeline.table_by=%22change%22"
            f"&timeline.height=520{query}",
        )
        root = page.locator(".tvmdbg-timeline").first
        expect(root).to_have_attribute("data-ready", "true")
        frames(page)
        return root

    return open_view


def seen(root: Locator) -> Any:
    frames(root.page)
    return inspected(root)


def until(page: Page, condition: str) -> None:
    page.wait_for_function(condition)
    frames(page)


def selected(page: Page) -> Any:
    return page.evaluate("() => tvmdbg.models.session.get('selected')")


def row(root: Locator, text: str) -> Locator:
    return root.locator(".tvmdbg-change [data-place]").filter(has_text=text).first


def test_table_matches_python_comparison(view: Any, unfused: str, corpus: Path) -> None:
    root = view(unfused, 1600)
    found = runs(corpus, "_unfused")
    listed = seen(root)["change"]
    assert [(each["label"], each["a"], each["b"], each["verdict"]) for each in listed] == [
        (each.label, each.ns_a, each.ns_b, each.verdict.label) for each in found
    ]
    expect(root.locator(".tvmdbg-change-sentence")).to_contain_text(WHOLE)
    first = root.locator(".tvmdbg-change [data-place='0']")
    for text in ("+1.426 ms", "1.70× slower", "2.049 ms", "3.474 ms", "slower", "0.0086"):
        expect(first).to_contain_text(text)
    assert "p = 0.0079 (5 against 5 repeats)" in (first.get_attribute("title") or "")
    noise = root.locator('.tvmdbg-change [data-verdict="noise"]')
    expect(root.get_by_label("which differences are listed")).to_contain_text("noise (2)")
    root.get_by_label("which differences are listed").select_option(label="noise (2)")
    expect(noise).to_have_count(2)
    expect(noise.first).to_have_attribute("data-told", "false")


def test_row_selects_its_node_and_slices_of_both_runs(page: Page, view: Any, unfused: str) -> None:
    root = view(unfused)
    row(root, "+1.426 ms").click()
    until(page, "() => tvmdbg.models.session.get('selected').join() === '15'")
    details = root.locator(".tvmdbg-change-details")
    expect(details).to_contain_text("3.474 ms (#23 conv2d, #25 add, #26 add, #27 relu)")
    expect(details).to_contain_text("likely: parts of a fused function")
    expect(details.locator("svg")).to_have_count(2)
    expect(details.locator("svg circle")).to_have_count(10)
    marks = [each for each in seen(root)["marks"] if each.get("node") == 15]
    assert len({each["slice"] for each in marks}) == 5  # one of A, four of B
    said = root.locator('[role="status"]')
    expect(said).to_contain_text("2.049 ms in A, 3.474 ms in B, +1.426 ms (1.70× slower), slower")


def test_clicked_slice_of_b_selects_its_matched_node(page: Page, view: Any, unfused: str) -> None:
    root = view(unfused, 1600)
    marks = seen(root)["marks"]
    low = max(each["y"] for each in marks if each["kind"] == "slice")
    other = next(each for each in marks if each["y"] == low and each["node"] == 6)
    stage = root.locator("canvas").first
    stage.click(
        position={"x": other["x"] + other["width"] / 2, "y": other["y"] + other["height"] / 2}
    )
    until(page, "() => tvmdbg.models.session.get('selected').join() === '6'")
    details = root.locator(".tvmdbg-timeline-details")
    expect(details.locator("h4")).to_contain_text("B: ")
    expect(details).to_contain_text("#6 conv2d + add + relu")
    expect(root.locator('.tvmdbg-change [aria-selected="true"]')).to_contain_text("+1.131 ms")


def test_keys_navigate_sort_group_and_filter_table(page: Page, view: Any, unfused: str) -> None:
    root = view(unfused)
    root.focus()
    page.keyboard.press("t")
    page.keyboard.press("ArrowDown")
    until(page, "() => tvmdbg.models.session.get('selected').join() === '15'")
    page.keyboard.press("End")
    until(page, "() => tvmdbg.models.session.get('selected').join() === '71'")
    active = root.get_attribute("aria-activedescendant")
    expect(root.locator(f"#{active}")).to_contain_text("softmax")
    page.keyboard.press("Home")
    page.keyboard.press("o")  # as A runs
    assert seen(root)["change"][0]["a"] == pytest.approx(523_354.8, rel=1e-3)
    page.keyboard.press("o")
    page.keyboard.press("i")
    kinds = [each["label"] for each in seen(root)["change"]]
    assert kinds == [
        *("convolution", "activation", "matmul", "reshape", "pooling/reduction", "normalization")
    ]
    page.keyboard.press("i")
    for verdict, count in (("slower", 24), ("faster", 1), ("noise", 2)):
        page.keyboard.press("j")
        listed = seen(root)["change"]
        assert len(listed) == count
        assert {each["verdict"] for each in listed} == {verdict}
    page.keyboard.press("j")
    assert len(seen(root)["change"]) == 27
    key = root.locator(".tvmdbg-timeline-kinds")
    expect(key).to_contain_text("noise or unknown")
    page.keyboard.press("l")
    until(page, "() => tvmdbg.models.timeline0.get('slice_color') === 'kind'")
    expect(key).not_to_contain_text("noise or unknown")
    page.keyboard.press("b")
    until(page, "() => tvmdbg.models.timeline0.get('table_by') !== 'change'")


def test_buttons_group_color_and_sort_the_differences(page: Page, view: Any, unfused: str) -> None:
    root = view(unfused)
    root.get_by_role("button", name="by kind").click()
    assert len(seen(root)["change"]) == 6
    row(root, "activation").click()
    until(page, "() => tvmdbg.models.session.get('selected').length === 2")
    assert sorted(selected(page)) == [31, 53]
    root.get_by_role("button", name="by kind").click()
    before = root.locator("canvas").first.screenshot()
    expect(root.locator(".tvmdbg-timeline-kinds")).to_contain_text("+1.426 ms")
    root.focus()
    page.keyboard.press("l")
    expect(root.locator(".tvmdbg-timeline-kinds")).to_have_text("color: kind of operator")
    frames(page)
    assert root.locator("canvas").first.screenshot() != before
    root.get_by_role("button", name="sort by size").click()
    assert seen(root)["change"][0]["a"] == pytest.approx(523_354.8, rel=1e-3)
    page.keyboard.press("Escape")
    root.get_by_text("how to read this").click()
    details = root.locator(".tvmdbg-timeline-details")
    expect(details.get_by_text("the least possible p is 0.0079")).to_be_visible()
    expect(details.get_by_text("measured in one session")).to_be_visible()


def test_nodes_only_in_b_and_uncertain_matches_are_listed(page: Page, view: Any, int8: str) -> None:
    root = view(int8, 1600)
    root.get_by_label("which differences are listed").select_option(label="only in B (2)")
    rows = root.locator(".tvmdbg-change [data-place]")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("cast + multiply")
    rows.first.click()
    assert selected(page) == []
    expect(root.locator(".tvmdbg-timeline-details")).to_contain_text("no match in A")
    expect(root.locator(".tvmdbg-change-details")).to_contain_text("only in B")
    root.get_by_label("which differences are listed").select_option(label="unknown (7)")
    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("match?")
    assert "only possible" in (rows.first.get_attribute("title") or "")


def test_graph_follows_selected_row(page: Page, view: Any, unfused: str) -> None:
    root = view(unfused, 1000, views="graph,timeline")
    row(root, "+1.131 ms").click()
    until(page, "() => tvmdbg.models.session.get('selected').join() === '6'")
    expect(page.locator(".tvmdbg-graph-details").first).to_contain_text("conv2d")


def test_single_run_does_not_request_comparison(page: Page, view: Any, corpus: Path) -> None:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar")) as address:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.post_data or ""))
        root = view(address)
        expect(root.locator(".tvmdbg-change")).to_have_count(0)
        assert not [each for each in asked if '"change"' in each]


def test_saved_page_shows_comparison(page: Page, corpus: Path, tmp_path: Path) -> None:
    compared = runs(corpus, "_unfused")
    saved = tvmdbg.Flamechart(compared, height=520).save_html(tmp_path / "times.html")
    page.set_viewport_size({"width": 1300, "height": 900})
    page.goto(saved.as_uri())
    root = page.locator(".tvmdbg-timeline").first
    expect(root).to_have_attribute("data-ready", "true")
    expect(root.locator(".tvmdbg-change-sentence")).to_contain_text(WHOLE)
    row(root, "+1.426 ms").click()
    expect(root.locator(".tvmdbg-change-details svg circle")).to_have_count(10)
    assert [each["label"] for each in seen(root)["change"]] == [each.label for each in compared]
