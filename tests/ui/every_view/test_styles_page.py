"""Views of one notebook bring style sheets of their own, in the order of their cells."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.waits import rest

BUNDLES = ("timeline", "graph", "tensor", "memory", "comparison", "debugger")
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
def overflow(corpus: Path, bundles: Path) -> Iterator[str]:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar_fp16_overflow")) as address:
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
