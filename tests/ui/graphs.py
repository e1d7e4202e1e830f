"""What tests of the graph view ask of a page of :mod:`ui.host`."""

import base64
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


def wires(view: tvmdbg.GraphView) -> dict[str, Any]:
    """The columns of a view as Python sends them to a page."""
    return {
        name: wire | {"data": {"base64": base64.b64encode(wire["data"]).decode()}}
        for name, wire in view._color_columns.items()
        if wire is not None
    }
