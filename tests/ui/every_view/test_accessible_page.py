"""What axe-core finds in every view: nothing, in light, dark and JupyterLab's high contrast."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import THEMES, audit
from tests.ui.host import STYLE, serve, visit
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import frames, painted, rest

AXE = Path(__file__).parents[3] / "node_modules/axe-core/axe.min.js"
VIEWS = ("debugger", "graph", "tensor", "timeline", "memory", "comparison")
#: What the panes of a tuning log show, by the key that opens each.
PANES = {
    "1": ".tvmdbg-tuning-nest",
    "2": ".tvmdbg-tuning-tiles canvas",
    "3": ".tvmdbg-tuning-errors table",
    "4": ".tvmdbg-tuning-findings details",
}
SAMPLES = {
    "resnet20": tvmdbg.samples.resnet20_cifar,
    "overflow": tvmdbg.samples.resnet20_cifar_fp16_overflow,
}
#: Each violation as one line; what a cell of a notebook cannot say, its page does.
RUN = """async (where) => {
  const { violations } = await axe.run(where, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    rules: { region: { enabled: false }, "page-has-heading-one": { enabled: false } },
    resultTypes: ["violations"],
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) =>
      `${id}: ${html.slice(0, 200)} | ${[...any, ...all, ...none].map((each) => each.message)}`));
}"""

#: What has the focus, null for nothing, and how much of its ring is cut, CSS px.
RING = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(at);
  const width = outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
  const out = Math.max(0, width + parseFloat(outlineOffset));
  let { left, top, right, bottom } = at.getBoundingClientRect();
  let cut = 0;
  for (let each = at.parentElement; each; each = each.parentElement) {
    if (getComputedStyle(each).overflow === "visible") continue;
    const box = each.getBoundingClientRect();
    const over = [box.left - left, box.top - top, right - box.right, bottom - box.bottom];
    cut = Math.max(cut, ...over.map((one) => Math.round(one + out)));
  }
  return [at.outerHTML.slice(0, 160), width, cut];
}"""


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    runs = {name: tvmdbg.open(path) for name, path in SAMPLES.items()}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(serve(run, other=runs["resnet20"]))
            for name, run in runs.items()
        }


def small_cell(page: Page, address: str, view: str, theme: str = "light") -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 864, "height": 620})
    height = "" if view == "memory" else f"&{view}.height=580"
    visit(page, f"{address}?views={view}&theme={theme}&width=848{height}")
    painted(page)
    rest(page)


def violations(page: Page, where: str = ".cell") -> list[str]:
    if not page.evaluate("typeof axe === 'object'"):
        page.add_script_tag(path=AXE)
    return page.evaluate(RUN, where)


@pytest.mark.parametrize(
    ("run", "view", "theme"),
    mostly_slow(
        [(run, view, theme) for run in SAMPLES for view in VIEWS for theme in THEMES],
        *[("overflow", view, "dark") for view in VIEWS],
        ("resnet20", "debugger", "light"),
    ),
)
def test_axe_finds_nothing(
    page: Page, addresses: dict[str, str], run: str, view: str, theme: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1216, "height": 1200})
    visit(page, f"{addresses[run]}?views={view}&theme={theme}&width=1200")
    painted(page)
    rest(page)
    assert violations(page) == []
    for more in page.get_by_role("button", name="More tools").all():
        more.click()
        assert violations(page, ".tvmdbg-more") == []


@pytest.mark.parametrize(
    ("view", "theme"),
    mostly_slow(product(VIEWS, (*THEMES, "contrast")), *[(view, "contrast") for view in VIEWS]),
)
def test_axe_finds_nothing_in_a_small_cell(
    page: Page, addresses: dict[str, str], view: str, theme: str
) -> None:
    small_cell(page, addresses["overflow"], view, theme)
    assert violations(page) == []
    assert [
        each for each in audit(page.locator(".cell"))["texts"] if not each.get("enough", True)
    ] == []
    if view == "debugger":
        panel = page.locator(".tvmdbg-findings")
        assert panel.evaluate("each => each.scrollHeight > each.clientHeight")
        first = panel.get_by_role("treeitem").first
        first.click()
        rest(page)
        assert violations(page) == []
        first.locator(".tvmdbg-finding-twist").click()
    for choices in page.get_by_role("button", name="controls").all():
        choices.click()
        assert violations(page) == []


@pytest.mark.parametrize("view", VIEWS)
def test_ring_of_the_focus_is_whole_at_every_stop_of_a_small_cell(
    page: Page, addresses: dict[str, str], view: str
) -> None:
    small_cell(page, addresses["overflow"], view)
    stops: list[tuple[str, float, int]] = []
    for _ in range(90):
        page.keyboard.press("Tab")
        found = page.evaluate(RING)
        if found is None:
            break
        stops.append(found)
    assert 7 < len(stops) < 90
    assert [each for each in stops if each[1] < 2 or each[2] > 0] == []


@pytest.mark.parametrize("theme", mostly_slow((*THEMES, "contrast"), "contrast"))
@pytest.mark.usefixtures("own_page")
def test_axe_finds_nothing_in_a_tuning_log(page: Page, theme: str) -> None:
    scheme, width, height = ("dark", 848, 580) if theme == "contrast" else (theme, 1200, 1200)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    log = tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)
    view = TuningPage(page, log, width=width, height=min(680, height))
    if theme == "contrast":
        page.add_style_tag(content=STYLE)
        page.evaluate("document.documentElement.dataset.theme = 'contrast'")
        frames(page)
    for pane, shows in PANES.items():
        view.press(pane)
        view.root.locator(shows).first.wait_for()
        assert violations(page, ".tvmdbg-tuning") == []
        found = audit(view.root)
        assert [text for text in found["texts"] if not text.get("enough", True)] == []
        assert [text for text in found["texts"] if text["cut"] or text["size"] < 11] == []
        assert found["overlaps"] + found["nameless"] + found["unsaid"] + found["untabbable"] == []
        assert found["silent"] == 0
    view.press("1", "p", "ArrowLeft")
    view.root.locator(".tvmdbg-tuning-change").first.wait_for()
    assert violations(page, ".tvmdbg-tuning") == []
    view.press("?")
    assert violations(page, ".tvmdbg-tuning") == []


def test_axe_reports_missing_button_name(page: Page, addresses: dict[str, str]) -> None:
    visit(page, f"{addresses['overflow']}?views=graph&width=1200")
    painted(page)
    page.evaluate("document.querySelector('.tvmdbg-bar button').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.tvmdbg-bar button').removeAttribute('title')")
    assert any(each.startswith("button-name") for each in violations(page))
