"""Reading values where they are: digits in cells, regions, the tooltip, a typed index."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from playwright.sync_api import expect
from ui.host import serve, visit

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.params_writer import write_params

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from tvmdbg_widgets.run import DebugRun

ROOT = ".tvmdbg-tensor"
READOUT = ".tvmdbg-tensor-readout"
TOOLTIP = ".tvmdbg-tensor-tooltip"
REGION = ".tvmdbg-tensor-region"
STAGE = ".tvmdbg-tensor-stage"
HALF, CODES, BRAIN, WIDE, LARGE = range(5)


@pytest.fixture(scope="module")
def arrays() -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(3)
    half = random.normal(scale=30, size=(2, 5, 24, 32)).astype(np.float16)
    half[1, 3, 4, 6], half[1, 3, 5, 7] = np.nan, np.inf
    return [
        half,
        random.integers(-128, 128, (6, 8)).astype(np.int8),
        random.normal(size=(6, 8)).astype(ml_dtypes.bfloat16),
        random.normal(size=(6, 8)).astype(np.float32),
        random.normal(size=(512, 512)).astype(np.float32),
    ]


@pytest.fixture(scope="module")
def run(arrays: list[np.ndarray[Any, Any]], tmp_path_factory: pytest.TempPathFactory) -> DebugRun:
    path = tmp_path_factory.mktemp("regions") / "output_tensors.params"
    keyed = {f"t____topo-index:{i}____output-num:0": each for i, each in enumerate(arrays)}
    write_params(path, keyed)
    return tvmdbg.open(path)


@pytest.fixture(scope="module")
def address(run: DebugRun, bundles: Path) -> Iterator[str]:
    with serve(run) as found:
        yield found


def show(
    page: Page, address: str, *, view: str = "tensor", theme: str = "light", **traits: Any
) -> None:
    query = "".join(f"&{view}.{name}={json.dumps(value)}" for name, value in traits.items())
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, f"{address}?views={view}&width=1264&theme={theme}{query}")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")


def inspect(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.locator(ROOT).evaluate(
        """root => {
            const detail = {};
            root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
            return JSON.parse(JSON.stringify(detail));
        }"""
    )
    return found


def place(page: Page, row: int, col: int) -> tuple[float, float]:
    """The middle of a value on the page."""
    found, box = inspect(page), page.locator(STAGE).bounding_box()
    sight, plot = found["sight"], found["plot"]
    x = plot["x"] + (col + 0.5 - sight["col"]) * sight["across"]
    y = plot["y"] + (row + 0.5 - sight["row"]) * sight["down"]
    return box["x"] + x, box["y"] + y


def drag(page: Page, start: tuple[int, int], end: tuple[int, int]) -> None:
    page.mouse.move(*place(page, *start))
    page.mouse.down()
    page.mouse.move(*place(page, *end), steps=4)
    page.mouse.up()


def trait(page: Page, name: str, expected: object, model: str = "tensor0") -> None:
    text = json.dumps(expected, separators=(",", ":"))
    found = f"JSON.stringify(window.tvmdbg.models.{model}.get('{name}'))"
    page.wait_for_function(f"{found} === '{text}'")


def luminance(color: str) -> float:
    hexed = re.fullmatch("#(..)(..)(..)", color)
    parts = [int(each, 16) for each in hexed.groups()] if hexed else re.findall(r"\d+", color)
    shares = [int(each) / 255 for each in parts]
    bent = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in shares]
    return 0.2126 * bent[0] + 0.7152 * bent[1] + 0.0722 * bent[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("node", [CODES, BRAIN, WIDE])
def test_digits_are_the_values_and_can_be_read(
    page: Page, address: str, arrays: list[Any], node: int, theme: str
) -> None:
    show(page, address, entry=[node, 0], theme=theme)
    page.wait_for_function("document.querySelector('.tvmdbg-tensor-stage canvas').width > 0")
    found = inspect(page)
    assert found["sight"]["across"] >= 36
    digits = {(each["row"], each["col"]): each for each in found["digits"]}
    values = arrays[node].astype(np.float64)
    assert set(digits) == set(np.ndindex(values.shape))
    for (row, col), each in digits.items():
        text, value = each["text"].replace("−", "-"), values[row, col]
        assert each["width"] <= found["sight"]["across"]
        if text.startswith("≈"):
            assert float(text[1:]) == pytest.approx(value, rel=0.5)
        else:
            assert np.array(float(text)).astype(arrays[node].dtype) == arrays[node][row, col]
        dark, bright = sorted((luminance(each["ink"]), luminance(each["fill"])))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5
    assert any(not each["text"].startswith("≈") for each in digits.values())


def test_digits_of_what_is_in_sight_alone_and_specials_as_words(page: Page, address: str) -> None:
    show(page, address, entry=[HALF, 0], index=[1, 3, 0, 0], region=[3, 5, 4, 4])
    page.wait_for_function(
        """() => { const detail = {};
        document.querySelector(".tvmdbg-tensor").dispatchEvent(
            new CustomEvent("tvmdbg:inspect", { detail }));
        return detail.digits.length > 0; }"""
    )
    found = inspect(page)
    sight, plot = found["sight"], found["plot"]
    last_row = math.ceil(sight["row"] + plot["height"] / sight["down"] - 1e-6)
    last_col = math.ceil(sight["col"] + plot["width"] / sight["across"] - 1e-6)
    digits = {(each["row"], each["col"]): each["text"] for each in found["digits"]}
    rows, cols = range(int(sight["row"]), last_row), range(int(sight["col"]), last_col)
    inside = set(itertools.product(rows, cols))
    assert len(inside) < 24 * 32
    assert set(digits) == inside
    assert (digits[4, 6], digits[5, 7]) == ("NaN", "+Inf")


def test_dragging_marks_a_region_that_is_counted_copied_and_cleared(
    page: Page, address: str, run: DebugRun, arrays: list[Any]
) -> None:
    page.context.grant_permissions(["clipboard-read"])
    show(page, address, entry=[HALF, 0], index=[1, 3, 0, 0])
    drag(page, (2, 4), (8, 11))
    trait(page, "marked_region", [2, 4, 7, 8])
    panel = page.locator(REGION)
    expect(panel).to_have_attribute("data-ready", "true")
    part = arrays[HALF][1, 3, 2:9, 4:12]
    finite = part[np.isfinite(part)]
    for text in ("[1, 3, 2:9, 4:12]", "7 × 8 = 56 values", "1 NaN, 1 +Inf"):
        expect(panel).to_contain_text(text)
    for name, value in (("min", finite.min()), ("max", finite.max())):
        expect(panel.get_by_title(str(value), exact=True).first).to_contain_text(name)
    expect(panel.get_by_role("img")).to_have_attribute("aria-label", re.compile("Histogram of the"))
    assert panel.locator(".tvmdbg-tensor-region-bars > span").count() == 24
    expect(page.locator(f"{ROOT} > .tvmdbg-mirror")).to_contain_text("region [1, 3, 2:9, 4:12]")
    page.locator(ROOT).focus()
    page.keyboard.press("y")
    code = page.evaluate("navigator.clipboard.readText()")
    np.testing.assert_array_equal(eval(code, {"run": run}), part)  # noqa: S307
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    trait(page, "marked_region", None)


def test_a_region_is_marked_by_keys_and_from_python(
    page: Page, address: str, arrays: list[Any]
) -> None:
    show(page, address, entry=[CODES, 0])
    page.locator(ROOT).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Shift+ArrowDown", "Shift+ArrowRight"):
        page.keyboard.press(key)
    trait(page, "marked_region", [1, 1, 2, 2])
    expect(page.locator(REGION)).to_contain_text("[1:3, 1:3]")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    trait(page, "marked_region", [0, 1, 2, 2])
    page.evaluate("window.tvmdbg.models.tensor0.set('marked_region', [0, 2, 6, 3])")
    expect(page.locator(REGION)).to_contain_text("[:, 2:5]")
    low = arrays[CODES][:, 2:5].min()
    expect(page.locator(REGION).get_by_title(str(low), exact=True).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(REGION)).to_be_hidden()


def test_the_value_is_said_at_the_cell_and_in_the_header(
    page: Page, address: str, arrays: list[Any]
) -> None:
    show(page, address, entry=[WIDE, 0])
    page.mouse.move(*place(page, 3, 5))
    value = arrays[WIDE][3, 5]
    tooltip = page.locator(TOOLTIP)
    expect(tooltip).to_contain_text(str(value))
    expect(tooltip).to_contain_text("at [3, 5]")
    expect(tooltip).to_contain_text(f"0x{value.view(np.uint32):08X}")
    expect(page.locator(f"{READOUT} code")).to_have_text(f"[3, 5] = {value!s}")
    page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()
    page.locator(ROOT).focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(tooltip).to_contain_text(str(arrays[WIDE][0, 1]))
    expect(page.locator(f"{READOUT} code")).to_have_text(f"[0, 1] = {arrays[WIDE][0, 1]!s}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("typed", ["0,3,2,1", "[0, 3, 2, 1]", "(-2 3 2 -31)"])
def test_an_index_is_answered_by_one_typed_entry_in_the_debugger(
    page: Page, address: str, arrays: list[Any], typed: str, theme: str
) -> None:
    show(page, address, view="debugger", theme=theme, entry=[HALF, 0], height=600)
    page.get_by_label("Go to an index (j)").fill(typed)
    page.keyboard.press("Enter")
    said = page.locator(f"{READOUT} code")
    expect(said).to_have_text(f"[0, 3, 2, 1] = {arrays[HALF][0, 3, 2, 1]!s}")
    expect(said).to_be_in_viewport()


def test_an_index_that_is_none_is_explained(page: Page, address: str) -> None:
    show(page, address, entry=[HALF, 0])
    page.locator(ROOT).focus()
    page.keyboard.press("j")
    for typed, why in (
        ("0,9,2,1", "axis 1 has indices 0 to 4"),
        ("0,1", "the tensor has 4 axes: [2, 5, 24, 32]"),
        ("a,b", "expected integers, such as 0,3,2,1"),
    ):
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.locator(READOUT)).to_contain_text(why)


def test_ctrl_and_wheel_keeps_the_value_under_the_pointer_though_the_stage_moves(
    page: Page, address: str
) -> None:
    show(page, address, entry=[LARGE, 0])
    page.locator(ROOT).focus()
    x, y = (round(each) for each in place(page, 120, 349))
    page.mouse.move(x, y)

    def below() -> tuple[float, float]:
        found, box = inspect(page), page.locator(STAGE).bounding_box()
        sight, plot = found["sight"], found["plot"]
        row = sight["row"] + (y - box["y"] - plot["y"]) / sight["down"]
        return row, sight["col"] + (x - box["x"] - plot["x"]) / sight["across"]

    expect(page.locator(".tvmdbg-tensor-readout-more")).to_contain_text("ulp")
    start = below()
    page.keyboard.down("Control")
    across = inspect(page)["sight"]["across"]
    for step in range(4):
        if step == 1:
            page.locator(".tvmdbg-tensor-choices").evaluate("it => it.style.marginBottom = '40px'")
        page.mouse.wheel(0, -200)
        page.wait_for_function(
            f"""() => {{ const detail = {{}};
            document.querySelector("{ROOT}").dispatchEvent(
                new CustomEvent("tvmdbg:inspect", {{ detail }}));
            return detail.sight.across > {across}; }}"""
        )
        across = inspect(page)["sight"]["across"]
    page.keyboard.up("Control")
    assert below() == pytest.approx(start, abs=2 / across + 5)
