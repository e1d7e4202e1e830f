"""Waiting for what a page of :mod:`ui.host` says of itself, never for time to pass."""

import json
from typing import Any

from playwright.sync_api import Locator, Page

MOST_MS = 60_000

_PAINTED = """() => document.documentElement.dataset.started === "true"
  && [...document.querySelectorAll(".tvmdbg:not(.tvmdbg-debugger)")]
    .every((root) => root.dataset.ready === "true" || root.closest("[hidden]"))"""
#: What a view tells of its stage.
INSPECT = """(root) => {
  const out = {};
  root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail: out }));
  return out;
}"""
_INSPECT_TEXT = f"""(root) => JSON.stringify(({INSPECT})(root), (key, value) =>
  ArrayBuffer.isView(value) ? Array.from(value) : value)"""
_FRAMES = "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"
_REST = f"""async (most) => {{
  const {{ dataset }} = document.documentElement;
  const begun = performance.now();
  const isBusy = () => dataset.asking !== "0" || tvmdbgHost.pending()
    || document.querySelector("[aria-busy=true]");
  for (let asked = null; asked !== dataset.asked || isBusy(); ) {{
    if (performance.now() - begun > most) throw new Error("this page does not come to rest");
    asked = dataset.asked;
    await ({_FRAMES})();
  }}
}}"""


def inspected(view: Locator) -> dict[str, Any]:
    """What a view tells of its stage, as text: Playwright takes long to hand over many objects."""
    return json.loads(view.evaluate(_INSPECT_TEXT))


def painted(page: Page) -> None:
    """Until every view is there and was painted once."""
    page.wait_for_function(_PAINTED)


def frames(page: Page) -> None:
    """Until what was asked for is drawn."""
    page.evaluate(_FRAMES)


def asking(page: Page, count: int) -> None:
    """Until so many questions are under way, those that a test holds back, and all is drawn."""
    page.wait_for_function(f"document.documentElement.dataset.asking === '{count}'")
    frames(page)


def rest(page: Page) -> None:
    """Until nothing is asked, nothing will be of itself, and all is drawn."""
    page.evaluate(_REST, MOST_MS)


def until(page: Page, condition: str, view: str = ".tvmdbg-graph") -> None:
    """Until what a view tells of its stage, as `found`, is so, and that is drawn."""
    page.wait_for_function(
        f"(view) => {{ const found = ({INSPECT})(document.querySelector(view));"
        f" return {condition}; }}",
        arg=view,
    )
    frames(page)
