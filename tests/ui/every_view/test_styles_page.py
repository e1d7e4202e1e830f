"""Views of one notebook bring style sheets of their own, in the order of their cells."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import rest

BUNDLES = ("timeline", "graph", "tensor", "memory", "comparison", "debugger", "tuning")
TIES = (Path(__file__).parent / "ties.js").read_text("utf-8").partition("\n([")
#: What a style sheet says, not what the room makes of it: with another sheet and without, at once.
CHANGED = """([own, other]) => {
  const said = ["color", "background-color", "font", "padding", "margin", "border", "min-width",
    "min-height", "max-width", "max-height", "opacity", "z-index", "position", "touch-action",
    "cursor", "white-space", "text-align", "pointer-events"];
  const elements = [...document.querySelectorAll(".tvmdbg, .tvmdbg *")];
  const looks = () => elements.map((each) => {
    const style = getComputedStyle(each);
    return said.map((name) => `${name}: ${style.getPropertyValue(name)}`);
  });
  const added = (css) => {
    const sheet = document.createElement("style");
    sheet.textContent = css;
    document.head.append(sheet);
    return sheet;
  };
  const all = document.querySelector("link[rel=stylesheet]");
  all.disabled = true;
  const first = added(own);
  const before = looks();
  const second = added(other);
  const after = looks();
  for (const sheet of [first, second]) sheet.remove();
  all.disabled = false;
  const changed = elements.flatMap((each, at) => {
    const found = before[at].filter((one, k) => one !== after[at][k]);
    return found.length ? [[`${each.tagName}.${each.className}`, ...found]] : [];
  });
  return [elements.length, changed];
}"""


@pytest.fixture(scope="module")
def overflow(bundles: Path) -> Iterator[str]:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    with serve(run, other=run) as address:
        yield address


@pytest.mark.parametrize("view", ["graph", "tensor", "timeline", "memory", "debugger"])
def test_styles_of_other_views_do_not_change_a_view(
    page: Page, overflow: str, bundles: Path, view: str
) -> None:
    visit(page, f"{overflow}?views={view}&width=1200")
    rest(page)
    own = (bundles / f"{view}.css").read_text("utf-8")
    for name in BUNDLES:
        other = (bundles / f"{name}.css").read_text("utf-8")
        elements, changed = page.evaluate(CHANGED, [own, other])
        assert elements > 40
        assert not changed, f"after {name}.css"


def ties(page: Page, bundles: Path, view: str) -> tuple[int, int, list[str]]:
    own, *shared = ((bundles / f"{name}.css").read_text("utf-8") for name in (view, *BUNDLES))
    return page.evaluate("([" + TIES[2], [own, shared])


@pytest.mark.parametrize("view", ["debugger", "memory", "comparison"])
def test_no_rule_of_a_view_depends_on_the_order_of_style_sheets(
    page: Page, overflow: str, bundles: Path, view: str
) -> None:
    visit(page, f"{overflow}?views={view}&width=1200")
    rest(page)
    for more in page.get_by_role("button", name="More tools").all():
        more.click()
    common, own, found = ties(page, bundles, view)
    assert common > 80
    assert own > 5
    assert found == [], "\n".join(found)


@pytest.mark.usefixtures("own_page")
def test_no_rule_of_a_tuning_log_depends_on_the_order_of_style_sheets(
    page: Page, bundles: Path
) -> None:
    view = TuningPage(page, tvmdbg.open_tuning(tvmdbg.samples.ansor_starved), width=1200)
    for pane in "1234":
        view.press(pane)
        assert ties(page, bundles, "tuning")[2] == [], pane


def test_a_tie_is_found(page: Page, overflow: str, bundles: Path) -> None:
    visit(page, f"{overflow}?views=memory&width=1200")
    rest(page)
    css = (bundles / "memory.css").read_text("utf-8")
    weak = css + ".tvmdbg-bar button { border-color: transparent }"
    shared = [(bundles / f"{name}.css").read_text("utf-8") for name in BUNDLES]
    found = page.evaluate("([" + TIES[2], [weak, shared])[2]
    start = ":where(.tvmdbg) button:hover | .tvmdbg-bar button: "
    assert [each for each in found if each.startswith(start)]
