"""The panel of findings: ranked, clickable, by keys alone, calm while the scan goes on."""

import json
import re
import struct
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.every_view.test_hostile_page import ATTACK
from tests.ui.host import visit
from tests.ui.notebooks import View
from tests.ui.pointer import box_of, tool
from tests.ui.waits import frames, rest

OVERFLOW = 38  # the first operator whose output holds an inf, by numpy over the dump's tensors
SLOWEST = 60  # the largest mean of the table that TVM's run() printed
STATE = """() => {
  const { session } = tvmdbg.models;
  return ["selected", "entry", "source"].map((name) => session.get(name));
}"""
#: Lines of a list that something else is painted over.
COVERED = """(list) => [...list.querySelectorAll("kbd")].filter((key) => {
  const { x, y, width, height } = key.getBoundingClientRect();
  return !list.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((key) => key.parentElement.textContent)"""


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def show(page: Page, address: str, width: int = 1200) -> Locator:
    """The panel, once all views are painted."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": 1000 if width > 760 else 2600})
    visit(page, f"{address}?views=debugger&width={width}")
    for name in ("graph", "tensor", "timeline"):
        View(page, name).wait()
    panel = page.locator(".tvmdbg-findings")
    expect(panel).to_have_attribute("data-ready", "true")
    return panel


def finished(panel: Locator) -> Locator:
    expect(panel).to_have_attribute("data-state", "done")
    return panel


def said(panel: Locator) -> Locator:
    return panel.locator(".tvmdbg-mirror")


def row(panel: Locator, text: str | re.Pattern[str]) -> Locator:
    return panel.get_by_role("treeitem").filter(has_text=text)


def finding(title: str, **fields: Any) -> dict[str, Any]:
    plain = {
        "rule": title.partition(" ")[0],
        "severity": "hotspot",
        "title": title,
        "evidence": [f"evidence of {title}"],
        "confidence": "high",
        "why": "by its nature",
        "nodes": [4],
        "entries": [[4, 0]],
        "next": "look at it",
    }
    return plain | fields


class Kernel:
    """Answers the questions for findings as a test says; all others go to the real run."""

    def __init__(self, page: Page) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = self._nothing
        page.route("**/ask", self._handle)

    def _nothing(self, _question: dict[str, Any]) -> dict[str, Any]:
        return self.at("none", 0)

    @staticmethod
    def at(state: str, done: int, *findings: dict[str, Any], total: int = 9) -> dict[str, Any]:
        told = {"state": state, "done": done, "total": total, "findings": list(findings)}
        return {"result": told}

    def say(self, state: str, done: int, *findings: dict[str, Any], total: int = 9) -> None:
        self.answer = lambda _question: self.at(state, done, *findings, total=total)

    def stops_at(self, done: int) -> None:
        """Go on scanning until the page asks to stop, as a real one does."""
        scanning = self.answer

        def answer(question: dict[str, Any]) -> dict[str, Any]:
            if question["kind"] != "cancelFindings":
                return scanning(question)
            self.say("cancelled", done)
            return self.at("cancelled", done)

        self.answer = answer

    def _handle(self, route: Route) -> None:
        question = route.request.post_data_json
        if question["kind"] not in ("findings", "cancelFindings"):
            route.continue_()
            return
        self.asked.append(question)
        head = json.dumps({"id": question["id"], **self.answer(question)}).encode()
        route.fulfill(body=struct.pack("<I", len(head)) + head)


@pytest.fixture
def kernel(page: Page) -> Kernel:
    return Kernel(page)


def test_error_is_listed_first_and_leads_to_its_nodes(page: Page, address: str) -> None:
    panel = finished(show(page, address))
    first = panel.get_by_role("treeitem").first
    assert first.inner_text().split()[1] == "Error"
    for part in (str(OVERFLOW), "weights reach 8,376", "high"):
        expect(first).to_contain_text(part)
    assert page.evaluate(STATE) == [[], None, ""]
    first.locator(".tvmdbg-finding-title").click()
    selected, entry, source = page.evaluate(STATE)
    assert (selected[-1], entry, source) == (OVERFLOW, [OVERFLOW, 0], "findings")
    assert len(selected) > 3
    View(page, "graph").expect_node(OVERFLOW)
    View(page, "tensor").expect_node(OVERFLOW)
    expect(View(page, "tensor").said).to_contain_text("59 +Inf")
    expect(View(page, "timeline").said).to_contain_text(f"{len(selected)} nodes selected")
    expect(first).to_have_attribute("aria-selected", "true")
    expect(first).to_have_attribute("aria-expanded", "true")
    expect(first.locator(".tvmdbg-finding-evidence")).to_contain_text("full name: nn_conv2d")
    first.locator(".tvmdbg-finding-nodes .tvmdbg-chip").nth(1).click()
    second = page.evaluate(STATE)[0]
    assert len(second) == 1
    assert second[0] in selected[:-1]
    for name in ("graph", "tensor", "timeline"):
        View(page, name).expect_node(second[0])
    expect(first).to_have_attribute("aria-selected", "false")


def test_findings_are_navigated_by_keys_and_announced(
    page: Page, address: str, run: tvmdbg.DebugRun
) -> None:
    panel = finished(show(page, address))
    findings = run.findings()
    rows = panel.get_by_role("treeitem")
    expect(rows).to_have_count(len(findings))
    panel.focus()
    press = page.keyboard.press
    press("End")
    expect(said(panel)).to_contain_text(f"Finding {len(findings)} of {len(findings)}; ")
    press("Home")
    expect(said(panel)).to_contain_text(f"Finding 1 of {len(findings)}; error, high confidence: ")
    active = panel.get_attribute("aria-activedescendant")
    assert active == rows.first.get_attribute("id")
    press("ArrowRight")
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    press("ArrowLeft")
    expect(rows.first).to_have_attribute("aria-expanded", "false")
    press("Enter")
    assert page.evaluate(STATE)[0][-1] == OVERFLOW
    expect(said(panel)).to_contain_text("Selected. ")
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    for text in (*findings[0].evidence, findings[0].why, findings[0].next_step):
        expect(rows.first).to_contain_text(text)
        expect(said(panel)).to_contain_text(text)
    press("]")
    following = findings[0].nodes[1]
    assert page.evaluate(STATE)[0] == [following]
    press("[")
    assert page.evaluate(STATE)[0] == [OVERFLOW]
    press("ArrowLeft")
    expect(rows.first).to_have_attribute("aria-expanded", "false")
    press("Space")
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    press("Escape")
    assert page.evaluate(STATE)[0] == []
    for i, each in enumerate(findings):
        expect(rows.nth(i)).to_contain_text(each.title)
        expect(rows.nth(i)).to_contain_text(each.severity.capitalize())
        why = rows.nth(i).locator(".tvmdbg-finding-confidence")
        expect(why).to_have_attribute("title", f"confidence: {each.why}")
    slow = row(panel, re.compile(rf"#{SLOWEST} .* takes"))
    slow.locator(".tvmdbg-finding-title").click()
    assert page.evaluate(STATE)[1] == [SLOWEST, 0]


def test_rows_are_not_cut_off_and_all_nodes_are_listed(
    page: Page, address: str, kernel: Kernel
) -> None:
    many = [finding(f"r{i} cost {i}", nodes=[i, 20, 21, 22, 23, 24]) for i in range(9)]
    kernel.say("done", 9, *many)
    panel = finished(show(page, address))
    shown = panel.get_by_role("tree")
    cut = shown.evaluate(
        """list => {
          const end = list.getBoundingClientRect().bottom;
          return [...list.children].map((each) => each.getBoundingClientRect())
            .filter((box) => box.top < end - 2 && box.bottom > end).length;
        }"""
    )
    assert cut == 0
    first = panel.get_by_role("treeitem").first
    expect(first.locator(".tvmdbg-chip")).to_have_count(3)
    first.get_by_text("+3").click()
    expect(first.locator(".tvmdbg-finding-all .tvmdbg-chip")).to_have_count(6)
    assert page.evaluate(STATE)[0] == []


def test_toggle_click_unfolds_finding_without_selecting(page: Page, address: str) -> None:
    panel = finished(show(page, address))
    first = panel.get_by_role("treeitem").first
    first.locator(".tvmdbg-finding-twist").click()
    expect(first).to_have_attribute("aria-expanded", "true")
    first.locator(".tvmdbg-finding-evidence li").first.click()
    assert page.evaluate(STATE)[0] == []
    first.locator(".tvmdbg-finding-evidence .tvmdbg-chip").last.click()
    assert len(page.evaluate(STATE)[0]) == 1
    first.locator(".tvmdbg-finding-twist").click()
    expect(first).to_have_attribute("aria-expanded", "false")


def test_scan_shows_progress_stops_and_resumes(page: Page, address: str, kernel: Kernel) -> None:
    kernel.say("scanning", 3, finding("slow operators", nodes=[60]))
    panel = show(page, address)
    progress = page.locator(".tvmdbg-findings-progress")
    expect(progress).to_have_text("scanning 3 of 9 tensors …")
    expect(row(panel, "slow operators")).to_be_visible()
    kernel.say("scanning", 5, finding("slow operators", nodes=[60]))
    expect(progress).to_have_text("scanning 5 of 9 tensors …")
    kernel.stops_at(6)
    page.get_by_role("button", name="Stop scanning tensors (s)").click()
    expect(progress).to_have_text("stopped after 6 of 9 tensors")
    assert [each["kind"] for each in kernel.asked].count("cancelFindings") == 1
    rest(page)
    count = len(kernel.asked)
    rest(page)
    assert len(kernel.asked) == count
    kernel.say("done", 9, finding("slow operators"), finding("none else", severity="info"))
    page.keyboard.press("s")
    expect(progress).to_have_text("9 tensors scanned")
    assert kernel.asked[count]["goOn"] is True
    expect(said(panel)).to_contain_text("1 hotspot, 1 info; 9 tensors scanned.")
    expect(page.get_by_role("button", name="Stop scanning")).to_be_hidden()


def top(found: Locator) -> float:
    box = box_of(found)
    return box["y"]


def test_row_under_pointer_does_not_move(page: Page, address: str, kernel: Kernel) -> None:
    many = [finding(f"r{i} cost {i}", nodes=[i]) for i in range(12)]
    kernel.say("scanning", 1, *many)
    panel = show(page, address)
    pointed = row(panel, "r2 cost 2").locator(".tvmdbg-finding-title")
    row(panel, "r3 cost 3").locator(".tvmdbg-finding-twist").click()
    pointed.hover()
    before = top(pointed)
    for round_ in range(1, 4):
        new = [
            finding(f"n{i} fault {i}", severity="error", nodes=[20 + i]) for i in range(round_ * 4)
        ]
        kernel.say("scanning", 1 + round_, *new, *many)
        expect(row(panel, f"n{round_ * 4 - 1} fault")).to_have_count(1)
        assert top(pointed) == pytest.approx(before, abs=1)
    assert row(panel, "r3 cost 3").get_attribute("aria-expanded") == "true"
    active = panel.get_attribute("aria-activedescendant")
    assert active == row(panel, "r3 cost 3").get_attribute("id")
    texts = panel.locator(".tvmdbg-finding-title").all_inner_texts()
    assert texts == [each["title"] for each in (*new, *many)]
    page.mouse.move(5, 5)
    panel.focus()
    page.keyboard.press("Home")
    expect(panel.get_by_role("treeitem").first).to_be_in_viewport()


def test_row_under_pointer_keeps_its_position(page: Page, address: str, kernel: Kernel) -> None:
    kernel.say("scanning", 1, finding("slow operators"))
    panel = show(page, address)
    pointed = row(panel, "slow operators").locator(".tvmdbg-finding-title")
    pointed.hover()
    before = top(pointed)
    kernel.say("scanning", 2, finding("first Inf", severity="error"), finding("slow operators"))
    expect(row(panel, "first Inf")).to_have_count(1)
    assert top(pointed) == pytest.approx(before, abs=1)
    pointed.click()
    expect(row(panel, "slow operators")).to_have_attribute("aria-selected", "true")


def test_the_first_row_is_the_active_one_until_another_was_chosen(
    page: Page, address: str, kernel: Kernel
) -> None:
    cost = finding("slow operators", nodes=[60])
    kernel.say("scanning", 1, cost)
    panel = show(page, address)
    expect(row(panel, "slow operators")).to_be_visible()
    fault = finding("first Inf", severity="error", nodes=[38], entries=[[38, 0]])
    kernel.say("scanning", 2, fault, cost)
    expect(row(panel, "first Inf")).to_have_count(1)
    panel.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(STATE)[0] == [38]
    earlier = finding("a NaN before", severity="error", nodes=[20], entries=[[20, 0]])
    kernel.say("scanning", 3, earlier, fault, cost)
    expect(row(panel, "a NaN before")).to_have_count(1)
    active = panel.get_attribute("aria-activedescendant")
    assert active == row(panel, "first Inf").get_attribute("id")


@pytest.mark.parametrize(
    ("total", "told"), [(9, "9 tensors scanned"), (0, "The run has no tensors")]
)
def test_run_without_findings_is_reported(
    page: Page, address: str, kernel: Kernel, total: int, told: str
) -> None:
    kernel.say("done", total, total=total)
    panel = show(page, address)
    expect(panel).to_contain_text("No findings")
    expect(panel).to_contain_text(told)
    expect(said(panel)).to_contain_text("No findings")
    expect(panel.get_by_role("tree")).to_be_hidden()


def test_kernel_error_is_shown_and_can_be_retried(page: Page, address: str, kernel: Kernel) -> None:
    kernel.answer = lambda _question: {"error": "the kernel is gone"}
    panel = show(page, address)
    expect(panel.get_by_role("alert")).to_contain_text("the kernel is gone")
    View(page, "graph").wait()
    kernel.say("done", 9, finding("slow operators"))
    panel.get_by_role("button", name="Retry").click()
    expect(row(panel, "slow operators")).to_be_visible()
    expect(panel.get_by_role("alert")).to_be_hidden()


def test_hostile_findings_are_text(page: Page, address: str, kernel: Kernel) -> None:
    bad = dict.fromkeys(("rule", "title", "why", "next"), ATTACK)
    kernel.say("done", 9, finding("x", severity="error", evidence=[ATTACK] * 3) | bad)
    panel = show(page, address)
    first = panel.get_by_role("treeitem").first
    first.locator(".tvmdbg-finding-twist").click()
    expect(first.locator(".tvmdbg-finding-title")).to_have_text(ATTACK)
    expect(first.locator("li")).to_have_text([ATTACK] * 3)
    assert page.evaluate("window.ran") is None
    assert page.locator("img, script[src=x]").count() == 0


def test_one_finding_is_open_at_a_time_and_folds_again(page: Page, address: str) -> None:
    panel = finished(show(page, address))
    rows = panel.get_by_role("treeitem")
    rows.nth(0).locator(".tvmdbg-finding-title").click()
    rows.nth(1).locator(".tvmdbg-finding-title").click()
    expect(rows.nth(0)).to_have_attribute("aria-expanded", "false")
    expect(rows.nth(1)).to_have_attribute("aria-expanded", "true")
    rows.nth(1).locator(".tvmdbg-finding-title").click()
    expect(rows.nth(1)).to_have_attribute("aria-expanded", "false")
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")


HEIGHT = "each => Math.round(each.getBoundingClientRect().height)"


@pytest.mark.parametrize("width", [480, 700, 1200])
def test_findings_take_one_line_and_fold_into_a_single_one(
    page: Page, address: str, kernel: Kernel, width: int
) -> None:
    long = "conv2d + add + relu #38 " + "takes a long time " * 20
    kernel.say("done", 9, *(finding(f"r{i} {long}", nodes=[i]) for i in range(9)))
    panel = finished(show(page, address, width))
    page.evaluate("tvmdbg.models.debugger0.set('height', 600)")
    frames(page)
    heights = panel.get_by_role("treeitem").evaluate_all(f"all => all.map({HEIGHT})")
    assert max(heights) <= 25
    outer = page.locator("[data-view=findings]")
    assert outer.evaluate(HEIGHT) <= 101
    panel.focus()
    page.keyboard.press("f")
    frames(page)
    assert outer.evaluate(HEIGHT) <= 29
    visible = panel.get_by_role("treeitem").filter(visible=True)
    expect(visible).to_have_count(1)
    expect(visible).to_contain_text("r0 conv2d")
    expect(said(panel)).to_contain_text("Findings folded: 9 hotspots · first: r0 conv2d")
    assert page.evaluate("tvmdbg.models.debugger0.get('findings_folded')") is True
    page.keyboard.press("ArrowDown")
    expect(visible).to_have_count(9)
    page.get_by_role("button", name="Fold all findings to one line (f)").click()
    expect(visible).to_have_count(1)
    page.get_by_role("button", name="Show all findings (f)").click()
    expect(visible).to_have_count(9)


@pytest.mark.parametrize("width", [480, 1200])
def test_the_panel_leaves_room_and_is_folded_away(page: Page, address: str, width: int) -> None:
    panel = finished(show(page, address, width))

    def height(name: str) -> float:
        box = page.locator(f"[data-view={name}]").bounding_box()
        return box["height"] if box else 0.0

    with_panel = {name: height(name) for name in ("findings", "graph", "tensor", "timeline")}
    assert with_panel["findings"] < 290
    assert min(with_panel[name] for name in ("graph", "tensor")) > 400
    assert with_panel["timeline"] > 240
    panel.get_by_role("treeitem").first.locator(".tvmdbg-finding-twist").click()
    frames(page)
    assert height("findings") < 420
    assert min(height(name) for name in ("graph", "tensor")) > 300
    assert height("timeline") == with_panel["timeline"]
    toggle = tool(page.locator(".tvmdbg-debugger"), "Show or hide the Findings view")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    toggle.click()
    expect(panel).to_be_hidden()
    assert page.evaluate("tvmdbg.models.debugger0.get('collapsed')") == ["findings"]
    frames(page)
    if width > 760:
        assert height("graph") > with_panel["graph"]
    toggle.click()
    expect(panel).to_be_visible()


def test_list_of_keys_covers_toolbars_and_an_opened_finding(page: Page, address: str) -> None:
    panel = finished(show(page, address, 480))
    panel.focus()
    keys = page.locator(".tvmdbg-debugger > .tvmdbg-help")
    for key in ("?", "ArrowRight"):  # the list, then evidence beside it
        page.keyboard.press(key)
        frames(page)
        assert keys.locator("kbd").count() > 10
        assert keys.evaluate(COVERED) == []
    expect(panel.locator(".tvmdbg-finding-evidence")).to_be_visible()
