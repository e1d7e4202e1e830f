"""Checklists that hold at every width and theme: a few always, every one in `make test-all`."""

from collections.abc import Collection
from itertools import product
from pathlib import Path
from typing import Any

from _pytest.mark import ParameterSet
from playwright.sync_api import Locator, Page

from tests.mostly_slow import mostly_slow

WIDTHS = (480, 900, 1600)
THEMES = ("light", "dark")
AUDIT = (
    (Path(__file__).parent / "audit.js").read_text(encoding="utf-8").split("\n", 1)[1].rstrip(";\n")
)


def looks(widths: Collection[int] = WIDTHS) -> list[ParameterSet]:
    """Widths and themes: always the least width in the dark, and another one in the light."""
    least, second, *_ = sorted(widths)
    return mostly_slow(product(widths, THEMES), (least, "dark"), (second, "light"))


def audit(root: Locator) -> dict[str, Any]:
    return root.evaluate(AUDIT)


def check(page: Page) -> list[dict[str, Any]]:
    """Audit every view of the page; gives what was found, in the order of the views."""
    found = [audit(cell) for cell in page.locator(".cell > .tvmdbg").all()]
    for each in found:
        texts = each["texts"]
        assert len(texts) > 1
        assert [text for text in texts if text["size"] < 11] == []
        assert [text for text in texts if not text.get("enough", True)] == []
        assert [(text["text"], text["cut"]) for text in texts if text["cut"]] == []
        assert each["overlaps"] == []
        assert each["nameless"] == []
        assert each["unsaid"] == []
        assert each["untabbable"] == []
        assert each["silent"] == 0
        assert each["wide"] == []
        for canvas in each["canvases"]:
            assert canvas["clashes"] == [], canvas["view"]
            assert canvas["smallest"] >= 11, canvas["view"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return found


def seen(found: dict[str, Any]) -> str:
    return " ".join(text["text"] for text in found["texts"] if text["seen"])
