"""Reading values where they are: digits in cells, regions, the tooltip, a typed index."""

import itertools
import json
import math
import re
from functools import partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.mostly_slow import mostly_slow
from tests.ui.pointer import drag, inside, sides
from tests.ui.tensors import inspect, run_of
from tests.ui.tensors import show as show_page
from tests.ui.waits import rest
from tvmdbg_widgets.run import DebugRun

ROOT = ".tvmdbg-tensor"
READOUT = ".tvmdbg-tensor-readout"
TOOLTIP = ".tvmdbg-tensor-tooltip"
REGION = ".tvmdbg-tensor-region"
STAGE = ".tvmdbg-tensor-stage"
HALF, CODES, BRAIN, WIDE, LARGE, LONG, SQUARE, FLAGS = range(8)
OVERVIEW = ".tvmdbg-tensor-overview"


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
        -random.integers(10**12, 10**15, (6, 8)),
        random.normal(size=(64, 64)).astype(np.float32),
        random.random((12, 12)) < 0.4,
    ]


@pytest.fixture(scope="module")
def run(arrays: list[np.ndarray[Any, Any]], tmp_path_factory: pytest.TempPathFactory) -> DebugRun:
    return run_of(tmp_path_factory.mktemp("regions"), {f"t{i}": a for i, a in enumerate(arrays)})


show = partial(show_page, width=1264, high=720)


def place(page: Page, row: int, col: int) -> tuple[float, float]:
    """The middle of a value on the page."""
    found = inspect(page)
    viewport, plot = found["viewport"], found["plot"]
    x = plot["x"] + (col + 0.5 - viewport["col"]) * viewport["across"]
    y = plot["y"] + (row + 0.5 - viewport["row"]) * viewport["down"]
    return inside(page.locator(STAGE), x, y)


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


@pytest.mark.parametrize(("node", "theme"), [(CODES, "light"), (BRAIN, "dark"), (WIDE, "light")])
def test_cell_digits_match_values_and_are_readable(
    page: Page, address: str, arrays: list[Any], node: int, theme: str
) -> None:
    show(page, address, entry=[node, 0], theme=theme)
    page.wait_for_function("document.querySelector('.tvmdbg-tensor-stage canvas').width > 0")
    found = inspect(page)
    assert found["viewport"]["across"] >= 36
    digits = {(each["row"], each["col"]): each for each in found["digits"]}
    values = arrays[node].astype(np.float64)
    assert set(digits) == set(np.ndindex(values.shape))
    for (row, col), each in digits.items():
        text, value = each["text"].replace("−", "-"), values[row, col]
        assert each["width"] <= found["viewport"]["across"]
        if text.startswith("≈"):
            assert float(text[1:]) == pytest.approx(value, rel=0.5)
        else:
            assert np.array(float(text)).astype(arrays[node].dtype) == arrays[node][row, col]
        dark, bright = sorted((luminance(each["ink"]), luminance(each["fill"])))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5
    rounded = [each["text"] for each in digits.values() if each["text"].startswith("≈")]
    assert len(rounded) < len(digits) or node == WIDE


@pytest.mark.parametrize("high", mostly_slow([400, 480, 608, 720], 400, 608))
@pytest.mark.parametrize("node", [CODES, LONG, WIDE, BRAIN])
def test_cells_of_36_pixels_show_complete_digits(
    page: Page, address: str, node: int, high: int
) -> None:
    show(page, address, entry=[node, 0], height=high - 16, high=high, width=900)
    rest(page)
    found = inspect(page)
    cells = 48 if found["viewport"]["across"] >= 36 else 0
    assert cells or high < 608
    assert len(found["digits"]) == cells
    plot = found["plot"]
    for each in found["digits"]:
        assert plot["x"] <= each["x"] <= each["x"] + each["width"] <= plot["x"] + plot["width"]
        assert plot["y"] <= each["y"] <= each["y"] + each["height"] <= plot["y"] + plot["height"]
        assert each["width"] <= found["viewport"]["across"]
        assert each["height"] <= found["viewport"]["down"]


def test_only_visible_cells_have_digits_and_specials_are_words(page: Page, address: str) -> None:
    show(page, address, entry=[HALF, 0], index=[1, 3, 0, 0], region=[3, 5, 4, 4])
    page.wait_for_function(
        """() => { const detail = {};
        document.querySelector(".tvmdbg-tensor").dispatchEvent(
            new CustomEvent("tvmdbg:inspect", { detail }));
        return detail.digits.length > 0; }"""
    )
    found = inspect(page)
    viewport, plot = found["viewport"], found["plot"]
    digits = {(each["row"], each["col"]): each["text"] for each in found["digits"]}
    whole_rows = range(
        math.ceil(viewport["row"] - 1e-6),
        math.floor(viewport["row"] + plot["height"] / viewport["down"] + 1e-6),
    )
    whole_cols = range(
        math.ceil(viewport["col"] - 1e-6),
        math.floor(viewport["col"] + plot["width"] / viewport["across"] + 1e-6),
    )
    stage, small = sides(page.locator(STAGE)), sides(page.locator(OVERVIEW))
    covered = [each - stage[k % 2] for k, each in enumerate(small)]

    def touches(row: float, col: float) -> bool:
        x = plot["x"] + (col - viewport["col"]) * viewport["across"]
        y = plot["y"] + (row - viewport["row"]) * viewport["down"]
        right, below = x + viewport["across"], y + viewport["down"]
        return bool(
            x < covered[2] + 4
            and right > covered[0] - 4
            and y < covered[3] + 4
            and below > covered[1] - 4
        )

    free = {each for each in itertools.product(whole_rows, whole_cols) if not touches(*each)}
    assert 16 <= len(free) < 24 * 32
    assert free <= set(digits)
    for each in found["digits"]:
        assert plot["x"] <= each["x"] <= each["x"] + each["width"] <= plot["x"] + plot["width"]
        assert plot["y"] <= each["y"] <= each["y"] + each["height"] <= plot["y"] + plot["height"]
        beside = each["x"] + each["width"] <= covered[0] or each["x"] >= covered[2]
        assert beside or each["y"] + each["height"] <= covered[1] or each["y"] >= covered[3]
    assert (digits[4, 6], digits[5, 7]) == ("NaN", "+Inf")


#: Of the view and of the window, CSS px.
SIZES = list(product((400, 480, 700, 725, 900, 1050, 1264), (360, 608, 900)))


@pytest.mark.parametrize(("width", "high"), mostly_slow(SIZES, *SIZES[::8]))
def test_a_drag_marks_the_cells_under_the_pointer_and_moves_nothing(
    page: Page, address: str, width: int, high: int
) -> None:
    show(page, address, entry=[SQUARE, 0], width=width, high=max(600, high), height=high - 16)
    rest(page)
    page.locator(STAGE).scroll_into_view_if_needed()
    places = {each: place(page, each, each) for each in (10, 30, 50)}
    before = sides(page.locator(STAGE))
    page.mouse.move(*places[10])
    page.mouse.down()
    page.mouse.move(*places[30], steps=3)
    rest(page)
    expect(page.locator(REGION)).to_be_visible()
    assert sides(page.locator(STAGE)) == before
    page.mouse.move(*places[50], steps=3)
    page.mouse.up()
    trait(page, "marked_region", [10, 10, 41, 41])
    rest(page)
    assert sides(page.locator(STAGE)) == before
    assert {each: place(page, each, each) for each in places} == places


def test_a_region_has_the_histogram_of_its_values(page: Page, address: str, arrays: Any) -> None:
    show(page, address, entry=[CODES, 0], marked_region=[0, 0, 6, 8])
    panel = page.locator(REGION)
    expect(panel).to_have_attribute("data-ready", "true")
    rest(page)
    bars = inspect(page)["region"]
    told = {each["text"].split(":")[0]: each["likely"] for each in bars if not each["slot"]}
    values, counts = np.unique(arrays[CODES][arrays[CODES] != 0], return_counts=True)
    assert told == {
        str(value).replace("-", "−"): count for value, count in zip(values, counts, strict=True)
    }
    page.evaluate(
        f"window.tvmdbg.models.tensor0.set('entry', [{FLAGS}, 0]);"
        "window.tvmdbg.models.tensor0.set('marked_region', [0, 0, 12, 12])"
    )
    expect(panel).to_contain_text("12 × 12 = 144 values")
    expect(panel).to_have_attribute("data-ready", "true")
    rest(page)
    bars = inspect(page)["region"]
    true = int(arrays[FLAGS].sum())
    assert [(each["text"].split(":")[0], each["likely"]) for each in bars] == [
        ("False", 144 - true),
        ("True", true),
    ]


def test_dragging_marks_a_region_that_is_counted_copied_and_cleared(
    page: Page, address: str, run: DebugRun, arrays: list[Any]
) -> None:
    page.context.grant_permissions(["clipboard-read"])
    show(page, address, entry=[HALF, 0], index=[1, 3, 0, 0])
    drag(page, place(page, 2, 4), place(page, 8, 11), steps=4)
    trait(page, "marked_region", [2, 4, 7, 8])
    panel = page.locator(REGION)
    expect(panel).to_have_attribute("data-ready", "true")
    part = arrays[HALF][1, 3, 2:9, 4:12]
    finite = part[np.isfinite(part)]
    for text in ("[1, 3, 2:9, 4:12]", "7 × 8 = 56 values", "1 NaN, 1 +Inf"):
        expect(panel).to_contain_text(text)
    for name, value in (("min", finite.min()), ("max", finite.max())):
        fact = panel.locator(".tvmdbg-tensor-region-numbers > span", has_text=name)
        number = fact.locator(".tvmdbg-tensor-number")
        expect(number).to_have_attribute("data-copy", str(value))
        expect(number).to_have_text(str(value).replace("-", "−"))
    mean = panel.locator(".tvmdbg-tensor-number").nth(2)
    exact = float(mean.get_attribute("data-copy") or "")
    assert exact == pytest.approx(finite.astype(np.float64).mean(), rel=1e-14)
    expect(mean).to_have_attribute("title", str(exact).replace("-", "−"))
    expect(panel.get_by_role("img")).to_have_attribute("aria-label", re.compile("Histogram of the"))
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
    low = str(arrays[CODES][:, 2:5].min())
    expect(page.locator(REGION).locator(f"[data-copy='{low}']").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(REGION)).to_be_hidden()


def test_value_is_shown_at_the_cell_and_in_the_header(
    page: Page, address: str, arrays: list[Any]
) -> None:
    show(page, address, entry=[WIDE, 0])
    page.mouse.move(*place(page, 3, 5))
    value = arrays[WIDE][3, 5]
    shown = str(value).replace("-", "−")
    tooltip = page.locator(TOOLTIP)
    expect(tooltip).to_contain_text(shown)
    expect(tooltip).to_contain_text("at [3, 5]")
    expect(tooltip).to_contain_text(f"0x{value.view(np.uint32):08X}")
    assert tooltip.inner_text().count("\n") < 3
    left, top, right, bottom = sides(tooltip)
    x, y = place(page, 3, 5)
    assert not (left <= x <= right and top <= y <= bottom)  # never over its value
    said, index = page.locator(f"{READOUT} code"), page.get_by_label("Index, to go to another (j)")
    expect(said).to_have_text(f"= {shown}")
    expect(index).to_have_value("3, 5")
    page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()
    page.locator(ROOT).focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    shown = str(arrays[WIDE][0, 1]).replace("-", "−")
    expect(tooltip).to_contain_text(shown)
    expect(said).to_have_text(f"= {shown}")
    expect(index).to_have_value("0, 1")


@pytest.mark.parametrize(
    ("typed", "theme"), [("0,3,2,1", "light"), ("[0, 3, 2, 1]", "dark"), ("(-2 3 2 -31)", "light")]
)
def test_typed_index_shows_its_value_in_debugger(
    page: Page, address: str, arrays: list[Any], typed: str, theme: str
) -> None:
    show(page, address, view="debugger", theme=theme, entry=[HALF, 0], height=600)
    index = page.get_by_label("Index, to go to another (j)")
    index.fill(typed)
    page.keyboard.press("Enter")
    said = page.locator(f"{READOUT} code")
    value = str(arrays[HALF][0, 3, 2, 1]).replace("-", "−")
    expect(said).to_have_text(f"= {value}")
    expect(index).to_have_value("0, 3, 2, 1")
    expect(said).to_be_in_viewport()
    expect(index).to_be_in_viewport()


def test_index_always_matches_displayed_value(page: Page, address: str, arrays: list[Any]) -> None:
    show(page, address, entry=[SQUARE, 0])
    index = page.get_by_label("Index, to go to another (j)")
    said = page.locator(f"{READOUT} code")

    def told(row: int, col: int) -> None:
        expect(index).to_have_value(f"{row}, {col}")
        expect(said).to_have_text("= " + str(arrays[SQUARE][row, col]).replace("-", "−"))

    index.fill("7,9")
    page.keyboard.press("Enter")
    told(7, 9)
    page.mouse.move(*place(page, 20, 30))
    told(20, 30)
    drag(page, place(page, 3, 4), place(page, 11, 12), steps=4)
    told(11, 12)
    page.mouse.move(0, 0)
    told(11, 12)
    index.click()
    page.keyboard.type("1")
    page.mouse.move(*place(page, 5, 6))
    expect(said).to_contain_text("[5, 6] = ")
    page.keyboard.press("Escape")
    told(5, 6)
    page.mouse.move(0, 0)
    page.evaluate(f"window.tvmdbg.models.tensor0.set('entry', [{CODES}, 0])")
    expect(page.locator(".tvmdbg-tensor-facts")).to_contain_text("int8")
    expect(index).to_have_value("")
    expect(said).to_be_hidden()


def test_invalid_index_is_explained(page: Page, address: str) -> None:
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
