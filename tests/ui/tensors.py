"""What tests of the tensor inspector ask of a page of :mod:`ui.host`."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tests.ui.host import visit
from tests.ui.waits import inspected
from tvmdbg_widgets.run import DebugRun

ROOT = ".tvmdbg-tensor"
INDEX = ".tvmdbg-tensor-index"
READOUT = ".tvmdbg-tensor-readout code"


def on_screen(text: str) -> str:
    """Write a finite number with the minus sign that views have."""
    return text.replace("-", "−")


def off_screen(text: str) -> str:
    """Write a number of a view so that Python reads it."""
    return text.replace("−", "-")


def expect_readout(page: Page, text: str) -> None:
    """Hold that the readout says an index and its value: ``[0, 3] = 1.5``, or any: ``[0, 3] =``."""
    index, _, value = text.partition("] ")
    expect(page.locator(INDEX)).to_have_value(index[1:])
    if value.rstrip() == "=":
        expect(page.locator(READOUT)).to_contain_text(value)
    else:
        expect(page.locator(READOUT)).to_have_text(on_screen(value))


def expect_channels(view: Page | Locator, count: int) -> None:
    """Hold that there are so many channels, all of them read: not ``1 of 3 channels read``."""
    words = re.compile(rf"(?<!of )\b{count} channels")
    expect(view.locator(".tvmdbg-tensor-channels")).to_contain_text(words)


def place_read(page: Page) -> tuple[list[int], str]:
    """Index and value of the readout, once it is exact."""
    page.wait_for_function(
        f"/= (?!…)/.test(document.querySelector('{READOUT}').textContent)"
        f" && !document.querySelector('{READOUT}').textContent.includes('≈')"
    )
    index = page.locator(INDEX).input_value()
    return json.loads(f"[{index}]"), page.locator(READOUT).inner_text()


def press(page: Page, *keys: str) -> None:
    page.locator(ROOT).focus()
    for key in keys:
        page.keyboard.press(key)


def inspect(page: Page) -> dict[str, Any]:
    """What is on screen: labels and marks in CSS pixels of the stage."""
    return inspected(page.locator(ROOT))


def run_of(folder: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> DebugRun:
    """Save arrays as outputs of nodes 0, 1, …, and open them as a run."""
    path = folder / "output_tensors.params"
    named = enumerate(arrays.items())
    write_params(path, {f"{n}____topo-index:{k}____output-num:0": each for k, (n, each) in named})
    return tvmdbg.open(path)


def show(
    page: Page,
    address: str,
    *,
    view: str = "tensor",
    width: int = 900,
    high: int = 900,
    theme: str = "light",
    **traits: Any,
) -> None:
    """Open the page and wait for the first complete paint."""
    query = "".join(f"&{view}.{name}={json.dumps(value)}" for name, value in traits.items())
    page.set_viewport_size({"width": width + 16, "height": high})
    visit(page, f"{address}?views={view}&width={width}&theme={theme}{query}")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
