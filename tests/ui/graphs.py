"""What tests of the graph view ask of a page of :mod:`ui.host`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.ui.waits import inspected

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def inspect(root: Locator) -> dict[str, list[dict[str, Any]]]:
    """What the canvas shows now."""
    found: dict[str, list[dict[str, Any]]] = inspected(root)
    return found


def state(page: Page, name: str) -> Any:
    """A trait of the first graph view."""
    return page.evaluate("name => tvmdbg.models.graph0.get(name)", name)


def selected(page: Page) -> list[int]:
    """The selected nodes, the last one last."""
    found: list[int] = page.evaluate("tvmdbg.models.session.get('selected')")
    return found
