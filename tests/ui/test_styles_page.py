"""Views of one notebook bring style sheets of their own, in the order of their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ui.host import serve
from ui.waits import rest

import tvmdbg_widgets as tvmdbg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

BUNDLES = ("timeline", "graph", "tensor", "memory", "comparison", "debugger")
#: What a style sheet says, not what the room makes of it.
LOOKS = """() => [...document.querySelectorAll(".tvmdbg, .tvmdbg *")].map((each) => {
  const style = getComputedStyle(each);
  const said = ["color", "background-color", "font", "padding", "margin", "border", "min-width",
    "min-height", "max-width", "max-height", "opacity", "z-index", "position", "touch-action",
    "cursor", "white-space", "text-align", "pointer-events"];
  return [`${each.tagName}.${each.className}`, ...said.map((name) =>
    `${name}: ${style.getPropertyValue(name)}`)];
})"""


@pytest.fixture(scope="module")
def overflow(corpus: Path, bundles: Path) -> Iterator[str]:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar_fp16_overflow")) as address:
        yield address


@pytest.mark.parametrize(
    "views", ["graph", "tensor", "timeline", "memory", "graph,tensor,timeline"]
)
def test_no_view_changes_when_the_styles_of_another_come(
    page: Page, overflow: str, bundles: Path, views: str
) -> None:
    page.goto(f"{overflow}?views={views}&width=1200")
    rest(page)
    before = page.evaluate(LOOKS)
    assert len(before) > 40
    for name in BUNDLES:
        page.add_style_tag(path=bundles / f"{name}.css")
        rest(page)
        after = page.evaluate(LOOKS)
        changed = [
            (old[0], *sorted({*old} ^ {*new}))
            for old, new in zip(before, after, strict=True)
            if old != new
        ]
        assert not changed, f"after {name}.css"
