"""What may be chosen of a figure, and the words for what may not."""

from __future__ import annotations

LEAST_WIDTH, MOST_WIDTH = 300, 2000
SHOWN = ("both", "chart", "table")
SORTS = ("time", "order")
CHARTS = ("time", "merged", "folded", "repeats", "roofline")
TABLES_BY = ("node", "kind", "part", "group", "module", "device", "name", "callers", "change")
SLICE_COLORS = ("auto", "kind", "block", "share", "change")
DIRECTIONS = ("down", "right")


def usable_width(width: object) -> float:
    """Return the width as a float."""
    if not isinstance(width, (int, float)) or not LEAST_WIDTH <= width <= MOST_WIDTH:
        raise ValueError(
            f"a figure is {LEAST_WIDTH} to {MOST_WIDTH} px wide, found {width!r}; "
            "an SVG may be drawn at any size, and a PNG has a scale"
        )
    return float(width)
