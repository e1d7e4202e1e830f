"""What the pointer alone does to two graphs side by side: move both, click differences, buttons."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.host import visit
from tests.ui.pointer import box_of, drag, sides
from tests.ui.waits import inspected, painted, rest

#: By who made the dumps: what `resnet20_two_devices` has beyond `resnet20_cifar`.
COPIES = [22, 45, 68]


def opened(page: Page, address: str, query: str = "") -> Locator:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1240, "height": 900})
    visit(page, f"{address}?views=comparison&width=1200&{query}")
    painted(page)
    rest(page)
    return page.locator(".tvmdbg-comparison")


def pane(root: Locator, side: str) -> Locator:
    return root.locator(f'[data-side="{side}"] .tvmdbg-graph')


def marks(page: Page, root: Locator, side: str) -> dict[int, dict[str, Any]]:
    rest(page)
    return {int(mark["id"]): mark for mark in inspected(pane(root, side))["marks"]}


def row(root: Locator, text: str) -> Locator:
    return root.locator(".tvmdbg-comparison-row", has_text=text)


def pull_up(page: Page, what: Locator, by: float) -> None:
    left, top, _, bottom = sides(what)
    y = (top + bottom) / 2
    drag(page, (left + 30, y), (left + 30, y - by), steps=5)


@pytest.mark.parametrize(("lead", "other"), [("a", "b"), ("b", "a")])
def test_a_drag_and_the_wheel_move_both_graphs(
    page: Page, devices: str, lead: str, other: str
) -> None:
    root = opened(page, devices, "session.selected=[31]")
    node = {"a": 31, "b": 32}
    canvas = pane(root, lead).locator("canvas").first
    pane(root, lead).focus()
    before = marks(page, root, other)[node[other]]
    box = box_of(canvas)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -300)
    larger, follows = (marks(page, root, side)[node[side]] for side in (lead, other))
    assert follows["width"] > 1.2 * before["width"]
    pull_up(page, canvas, 12)
    moved, followed = (marks(page, root, side)[node[side]] for side in (lead, other))
    assert moved["y"] - larger["y"] == pytest.approx(-12, abs=1)
    assert followed["y"] - follows["y"] == pytest.approx(-12, abs=1)
    for name in ("y", "width", "height"):
        assert followed[name] == pytest.approx(moved[name], abs=1)


def test_button_links_and_unlinks_graphs(page: Page, devices: str) -> None:
    root = opened(page, devices, "session.selected=[31]")
    link = root.get_by_role("button", name="One graph moves with the other (l)")
    expect(link).to_have_attribute("aria-pressed", "true")
    pane(root, "a").focus()
    for _ in range(3):
        page.keyboard.press("+")
    rest(page)
    link.click()
    expect(link).to_have_attribute("aria-pressed", "false")
    here, there = marks(page, root, "a")[31], marks(page, root, "b")[32]
    pull_up(page, pane(root, "a").locator("canvas").first, 40)
    assert marks(page, root, "a")[31]["y"] == pytest.approx(here["y"] - 40, abs=1)
    assert marks(page, root, "b")[32]["y"] == pytest.approx(there["y"], abs=0.1)
    link.click()
    expect(link).to_have_attribute("aria-pressed", "true")
    assert marks(page, root, "b")[32]["y"] == pytest.approx(marks(page, root, "a")[31]["y"], abs=1)


def test_a_click_on_a_difference_shows_it_in_both_graphs(page: Page, devices: str) -> None:
    root = opened(page, devices)
    here = root.locator(".tvmdbg-comparison-here")
    kinds = root.get_by_label("Kind of difference")
    kinds.select_option("only in B")
    row(root, f"#{COPIES[1]}").first.click()
    expect(here).to_contain_text(re.compile(f"#{COPIES[1]} .* has no match in A"))
    expect(root).to_be_focused()
    assert COPIES[1] in marks(page, root, "b")
    expect(pane(root, "b").locator(".tvmdbg-mirror")).to_contain_text(f"Node {COPIES[1]} of 75")
    kinds.select_option("wiring")
    wiring = row(root, "wiring").first
    wiring.click()
    expect(here).to_contain_text(re.compile("#24 .* ~ B #25"))
    assert 24 in marks(page, root, "a")
    assert 25 in marks(page, root, "b")
    expect(pane(root, "a").locator(".tvmdbg-mirror")).to_contain_text("Node 24 of 72")
    expect(pane(root, "b").locator(".tvmdbg-mirror")).to_contain_text("Node 25 of 75")
    expect(pane(root, "b").locator(".tvmdbg-mirror")).to_contain_text("speed: ")


def test_group_of_equal_differences_expands_by_its_toggle(page: Page, devices: str) -> None:
    root = opened(page, devices, "comparison.kind=%22wiring%22")
    group = root.locator('.tvmdbg-comparison-row[aria-expanded="false"]').first
    line = group.get_attribute("data-place")
    members = root.locator('.tvmdbg-comparison-row[aria-level="2"]')
    expect(members).to_have_count(0)
    group.locator("[data-toggle]").click()
    same = root.locator(f'.tvmdbg-comparison-row[data-place="{line}"]')
    expect(same).to_have_attribute("aria-expanded", "true")
    expect(members.first).to_be_visible()
    members.first.click()
    expect(members.first).to_have_attribute("aria-selected", "true")
    same.locator("[data-toggle]").click()
    expect(members).to_have_count(0)


@pytest.mark.parametrize("by", ["pointer", "key"])
def test_both_graphs_change_their_colors(page: Page, devices: str, by: str) -> None:
    root = opened(page, devices)
    legends = root.locator(".tvmdbg-graph-legend")
    expect(legends.nth(1)).to_contain_text("slower")
    for said in ("time change", "likely", "convolution", "time", "slowersame"):
        if by == "pointer":
            root.get_by_role("button", name="Next color mode of both graphs").click()
        else:
            root.focus()
            page.keyboard.press("c")
        for side in (0, 1):
            expect(legends.nth(side)).to_contain_text(said)


def test_keys_page_through_list_and_center_graphs(page: Page, devices: str) -> None:
    root = opened(page, devices)
    root.focus()
    active = root.locator('.tvmdbg-comparison-row[aria-selected="true"]')
    page.keyboard.press("End")
    last = active.get_attribute("aria-posinset")
    assert last == active.get_attribute("aria-setsize")
    page.keyboard.press("Home")
    expect(active).to_have_attribute("aria-posinset", "1")
    page.keyboard.press("PageDown")
    paged = int(active.get_attribute("aria-posinset") or 0)
    assert 1 < paged <= int(last or 0)
    page.keyboard.press("PageUp")
    expect(active).to_have_attribute("aria-posinset", "1")
    root.get_by_label("Kind of difference").select_option("wiring")
    row(root, "wiring").first.click()
    pull_up(page, pane(root, "a").locator("canvas").first, 60)
    moved = marks(page, root, "a")[24]["y"]
    root.focus()
    page.keyboard.press("Enter")
    centered = marks(page, root, "a")[24]
    stage = box_of(pane(root, "a").locator("canvas").first)
    assert abs(centered["y"] - moved) > 20
    assert centered["y"] + centered["height"] / 2 == pytest.approx(stage["height"] / 2, abs=2)
    there = marks(page, root, "b")[25]
    assert there["y"] == pytest.approx(centered["y"], abs=1)
