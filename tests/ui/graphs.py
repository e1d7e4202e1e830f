"""What tests of the graph view ask of a page of :mod:`ui.host`."""

from typing import Any

from playwright.sync_api import Locator, Page

import tvmdbg_widgets as tvmdbg
from tests.ui.waits import inspected, rest


def inspect(root: Locator) -> dict[str, list[dict[str, Any]]]:
    """What the canvas shows now."""
    return inspected(root)


def state(page: Page, name: str) -> Any:
    """A trait of the first graph view."""
    return page.evaluate("name => tvmdbg.models.graph0.get(name)", name)


def selected(page: Page) -> list[int]:
    """The selected nodes, the last one last."""
    return page.evaluate("tvmdbg.models.session.get('selected')")


def marks(page: Page, root: Locator) -> dict[int, dict[str, Any]]:
    """What is drawn once nothing is under way."""
    rest(page)
    return {int(mark["id"]): mark for mark in inspected(root)["marks"]}


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def said(root: Locator) -> Locator:
    """What a screen reader is told."""
    return root.locator(".tvmdbg-mirror")


def offered(view: tvmdbg.GraphView) -> dict[str, Any]:
    """The numbers of a view's columns, which a page asks for as long as the view exists."""
    return {name: known for name, known in view._color_columns.items() if known is not None}
