"""Where a part of a page is, in CSS pixels, and what a pointer does there."""

from playwright.sync_api import FloatRect, Locator, Page

Place = tuple[float, float]


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None, part
    return box


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
