"""Where a part of a page is, in CSS pixels, what a pointer does there, and the tools of a bar."""

from collections.abc import Mapping

from playwright.sync_api import FloatRect, Locator, Page

Place = tuple[float, float]


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None, part
    return box


def inside(part: Locator, x: float, y: float) -> Place:
    """A point of a part, in the page."""
    box = box_of(part)
    return box["x"] + x, box["y"] + y


def middle_of(part: Locator, mark: Mapping[str, float] | None = None) -> Place:
    """The middle of a part, or of what is drawn in it."""
    box = mark or {**box_of(part), "x": 0, "y": 0}
    return inside(part, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def sides(part: Locator) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    box = box_of(part)
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def drag(page: Page, start: Place, *places: Place, steps: int = 1) -> None:
    """Press at the first place, release at the last."""
    page.mouse.move(*start)
    page.mouse.down()
    for place in places:
        page.mouse.move(*place, steps=steps)
    page.mouse.up()


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
