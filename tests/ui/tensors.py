"""What tests of the tensor inspector ask of a page of :mod:`ui.host`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

INDEX = ".tvmdbg-tensor-index"
READOUT = ".tvmdbg-tensor-readout code"


def expect_readout(page: Page, text: str) -> None:
    """Hold that the readout says an index and its value: ``[0, 3] = 1.5``."""
    index, _, value = text.partition("] ")
    expect(page.locator(INDEX)).to_have_value(index[1:])
    expect(page.locator(READOUT)).to_contain_text(value)


def place_read(page: Page) -> tuple[list[int], str]:
    """Index and value of the readout, once it is exact."""
    page.wait_for_function(
        f"/= (?!…)/.test(document.querySelector('{READOUT}').textContent)"
        f" && !document.querySelector('{READOUT}').textContent.includes('≈')"
    )
    index = page.locator(INDEX).input_value()
    return json.loads(f"[{index}]"), page.locator(READOUT).inner_text()
