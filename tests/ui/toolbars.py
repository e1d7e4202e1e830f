"""Toolbars show the few controls they have room for; the others stand in a menu."""

from playwright.sync_api import Locator


def tool(root: Locator, name: str) -> Locator:
    """A button of the view's toolbar by its name; the menu is opened where it is in there."""
    bar = root.locator("> .tvmdbg-bar")
    found = bar.get_by_role("button", name=name, include_hidden=True)
    if not found.is_visible():
        bar.get_by_role("button", name="More tools").click()
    return found


def controls(root: Locator) -> int:
    """How many buttons, lists and fields the view's toolbar shows."""
    return root.locator("> .tvmdbg-bar").evaluate(
        """bar => [...bar.querySelectorAll("button, select, input")]
          .filter((each) => each.checkVisibility() && !each.closest(".tvmdbg-more-menu")).length"""
    )
