"""Histogram, profile, values, statistics and files of the tensor inspector, against numpy."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect
from unit.findings.findings_dump import Op, plant

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag, inside
from tests.ui.tensors import (
    INDEX,
    expect_channels,
    expect_readout,
    inspect,
    off_screen,
    on_screen,
    press,
    run_of,
)
from tests.ui.tensors import show as show_page
from tests.ui.waits import frames, rest
from tvmdbg_widgets.model.base.number_text import computed_text, number_text
from tvmdbg_widgets.run import DebugRun

Array = np.ndarray[Any, Any]

ROOT = ".tvmdbg-tensor"
BARS = ".tvmdbg-tensor-histogram"
SAID = ".tvmdbg-tensor-bar-text"
ALONG = ".tvmdbg-tensor-along"
NUMBERS = ".tvmdbg-tensor-statistics"
READOUT = ".tvmdbg-tensor-readout"
BITS = ".tvmdbg-tensor-readout-more"
VALUES = ".tvmdbg-values-grid"
SAVED = ".tvmdbg-tensor-save-status"


@pytest.fixture(scope="module")
def arrays() -> dict[str, Array]:
    """One array of each kind that the parts treat apart."""
    random = np.random.default_rng(11)
    faulty = (random.normal(size=(2, 8, 6, 10)) * 1000).astype(np.float32)
    faulty[1, 3, 4, 5] = np.nan
    faulty[0, 6, 1, 2] = np.inf
    codes = np.clip(random.normal(size=(24, 40)) * 60, -128, 127).astype(np.int8)
    tall = random.normal(size=(50_000, 3)).astype(np.float32).cumsum(axis=0)
    return {
        "faulty": faulty,
        "codes": codes,
        "relu": np.maximum(random.normal(size=(40, 50)), 0).astype(np.float32),
        "brain": random.normal(size=(12, 7)).astype(ml_dtypes.bfloat16),
        "half": random.normal(size=(3, 5, 9)).astype(np.float16),
        "tall": tall.astype(np.float32),
        "turning": (random.normal(size=(6, 4)) + 1j * random.normal(size=(6, 4))).astype(
            np.complex64
        ),
        "packed": random.normal(size=(1, 2, 9, 12, 8)).astype(np.float32),
        "whole": random.integers(-(2**62), 2**62, size=(5, 4)),
        "wide": np.arange(3 * 400_000, dtype=np.float32).reshape(3, 400_000),
        "huge": np.zeros((6000, 6000), np.int8),
        "outlier": np.append(random.normal(size=9_999), 1e8).astype(np.float32).reshape(100, 100),
        "beyond": far(2.0**1023),
        "below": far(2.0**-1030),
    }


def far(size: float) -> Array:
    """float64 of both signs that float32 has no numbers for, in planes of more cells than fit."""
    waves = np.sin(np.arange(2 * 900 * 700) / 1009).reshape(2, 900, 700)
    return waves * size


#: What float64 of that size are about.
FAR = [("beyond", "8.988e307"), ("below", "8.692e−311")]


@pytest.fixture(scope="module")
def run(arrays: dict[str, Array], tmp_path_factory: pytest.TempPathFactory) -> DebugRun:
    return run_of(tmp_path_factory.mktemp("parts"), arrays)


@pytest.fixture
def show(page: Page, address: str, arrays: dict[str, Array]) -> Callable[..., None]:
    """Open a page that shows one of the arrays."""

    def opened(name: str, *, width: int = 900, **traits: Any) -> None:
        entry = [list(arrays).index(name), 0]
        show_page(page, address, width=width, high=1000, **traits, entry=entry)
        expect(page.locator(f"{ROOT} h3")).to_contain_text("of all finite values")

    return opened


def histogram(page: Page) -> dict[str, Any]:
    """What is drawn of the histogram."""
    return inspected(page)["histogram"]


def inspected(page: Page) -> dict[str, Any]:
    frames(page)
    return inspect(page)


def trait(page: Page, name: str) -> Any:
    return page.evaluate(f"window.tvmdbg.models.tensor0.get('{name}')")


def wait_trait(page: Page, name: str, condition: str) -> Any:
    page.wait_for_function(f"(it => {condition})(window.tvmdbg.models.tensor0.get('{name}'))")
    return trait(page, name)


def counted(array: Array, bar: dict[str, Any], *, last: bool) -> int:
    low, high = bar["span"]
    below = array <= high if last or low == high else array < high
    return int(((array >= low) & below).sum())


@pytest.mark.parametrize("kind", ["linear", "log", "symlog"])
def test_histogram_bars_bound_numpy_counts_on_every_scale(
    page: Page, show: Callable[..., None], arrays: dict[str, Array], kind: str
) -> None:
    show("faulty")
    page.get_by_label("Histogram scale (h)").select_option(kind)
    bars = histogram(page)["bars"]
    finite = arrays["faulty"][np.isfinite(arrays["faulty"])].astype(np.float64)
    own = [bar for bar in bars if bar["span"]]
    assert len(own) == 64
    for bar in own:
        truth = counted(finite, bar, last=bar is own[-1])
        assert bar["least"] <= truth <= bar["most"]
    exact = [bar for bar in own if bar["least"] == bar["most"]]
    assert kind != "linear" or len(exact) == 64
    loose = [bar for bar in own if bar["least"] != bar["most"]]
    assert all("≈" in bar["text"] and "between" in bar["text"] for bar in loose)
    slots = {bar["slot"]: bar["likely"] for bar in bars if bar["slot"]}
    expected = {"nan": 1, "posInf": 1}
    if kind == "log":
        expected["negative"] = int((finite < 0).sum())
    assert slots == expected


def test_integer_codes_have_own_bars_and_end_codes_are_marked(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("codes")
    found = histogram(page)
    values, counts = np.unique(arrays["codes"], return_counts=True)
    # Zeros have a bar of their own.
    drawn = sorted(
        (sum(bar["span"]) / 2 if bar["span"] else 0, bar["likely"]) for bar in found["bars"]
    )
    assert drawn == list(zip(values.tolist(), counts.tolist(), strict=True))
    labels = " ".join(label["text"] for label in found["labels"])
    low, high = int((arrays["codes"] == -128).sum()), int((arrays["codes"] == 127).sum())
    assert f"{low} saturated (−128)" in labels
    assert f"{high} saturated (127)" in labels
    pill = page.locator(".tvmdbg-tensor-health")
    expect(pill.locator("strong")).to_have_text("✓ OK, all finite")
    expect(pill).not_to_contain_text("NaN")
    expect(pill).to_contain_text(f"{low + high} at −128 or 127")


def test_single_outlier_does_not_set_range(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("outlier")
    bulk = np.sort(arrays["outlier"].ravel())[:-1].astype(float)
    told = page.get_by_role("region", name="Histogram").locator(".tvmdbg-tensor-beyond")
    expect(told).to_have_text("1 of 10,000 values beyond → show all", use_inner_text=True)
    axis = histogram(page)["axis"]
    assert axis["low"] <= bulk[0] < bulk[-1] <= axis["high"] < 2 * bulk[-1]
    heights = [bar["height"] for bar in histogram(page)["bars"] if not bar["slot"]]
    assert sum(height > 0.1 * max(heights) for height in heights) > 20
    told.get_by_role("button", name="Show all values in colors and histogram").click()
    wait_trait(page, "color_range", "it === 'tensor'")
    assert histogram(page)["axis"]["high"] == arrays["outlier"].max()
    expect(told).to_contain_text("A few outliers set the range")
    press(page, "o")
    wait_trait(page, "color_range", "it === 'auto'")
    assert histogram(page)["axis"]["high"] == axis["high"]
    zoom_in = page.get_by_role("button", name="Zoom to the color range")
    zoom_out = page.get_by_role("button", name="Zoom out to all values")
    expect(zoom_in).to_be_hidden()
    zoom_out.click()
    assert histogram(page)["axis"]["high"] == arrays["outlier"].max()
    expect(zoom_out).to_be_hidden()
    zoom_in.click()
    assert histogram(page)["axis"]["high"] == axis["high"]
    expect(page.locator(".tvmdbg-tensor-legend")).to_contain_text("above")


def test_zeros_of_floats_have_a_separate_bar(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("relu")
    bars = histogram(page)["bars"]
    zeros = int((arrays["relu"] == 0).sum())
    (slot,) = [bar for bar in bars if bar["slot"]]
    assert (slot["slot"], slot["likely"], slot["over"]) == ("zero", zeros, True)
    assert sum(bar["likely"] for bar in bars) == arrays["relu"].size


def test_brush_sets_the_range_of_the_colors(page: Page, show: Callable[..., None]) -> None:
    show("relu")
    stage = page.locator(BARS)
    reset = page.get_by_role("button", name="Reset the color range")
    expect(reset).to_be_hidden()
    drag(page, inside(stage, 60, 70), inside(stage, 160, 70), steps=2)
    rest(page)
    low, high = wait_trait(page, "color_range", "Array.isArray(it)")
    plot, axis = (histogram(page)[name] for name in ("plot", "axis"))
    at = [
        axis["low"] + (x - plot["x"]) / plot["width"] * (axis["high"] - axis["low"])
        for x in (60, 160)
    ]
    assert [low, high] == pytest.approx(at, abs=2 * (axis["high"] - axis["low"]) / plot["width"])
    handles = page.locator(".tvmdbg-handle")
    handles.first.focus()
    page.keyboard.press("ArrowRight")
    moved = wait_trait(page, "color_range", f"it[0] > {low}")
    assert moved[1] == high
    handles.last.drag_to(stage, target_position={"x": 200, "y": 70}, force=True)
    rest(page)
    assert wait_trait(page, "color_range", f"it[1] > {high}")[0] == moved[0]
    page.get_by_role("button", name="Zoom to the color range").click()
    assert histogram(page)["axis"]["low"] == pytest.approx(moved[0])
    page.get_by_role("button", name="Zoom out to all values").click()
    assert histogram(page)["axis"]["low"] == axis["low"]
    ways: tuple[Callable[[], None], ...] = (
        reset.click,
        lambda: stage.dblclick(position={"x": 100, "y": 40}),
        lambda: stage.press("Escape"),
        lambda: handles.first.press("Escape"),
    )
    for take_back in ways:
        drag(page, inside(stage, 60, 70), inside(stage, 160, 70), steps=2)
        wait_trait(page, "color_range", "Array.isArray(it)")
        take_back()
        wait_trait(page, "color_range", "it === 'auto'")


def test_keys_read_and_mark_histogram_bars(page: Page, show: Callable[..., None]) -> None:
    show("relu")
    bars = histogram(page)["bars"]
    stage, said = page.locator(BARS), page.locator(SAID)
    stage.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text(bars[0]["text"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(said).to_have_text(bars[3]["text"])
    found = wait_trait(page, "color_range", f"Array.isArray(it) && it[1] === {bars[3]['span'][1]}")
    assert found == [bars[1]["span"][0], bars[3]["span"][1]]
    page.keyboard.press("End")
    expect(said).to_have_text(bars[-1]["text"])
    for kind in ("linear", "log"):
        page.keyboard.press("h")
        expect(page.get_by_label("Histogram scale (h)")).to_have_value(kind)
    page.keyboard.press("g")
    logs = page.get_by_role("button", name="Logarithmic count axis")
    expect(logs).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator(ROOT)).to_be_focused()


def test_statistics_match_numpy_and_lead_to_their_indices(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("faulty")
    finite = arrays["faulty"][np.isfinite(arrays["faulty"])].astype(np.float64)
    line = page.locator(NUMBERS)
    expect(line).to_contain_text("finite values only")
    for name, percent in (("p1", 1), ("median", 50), ("p99", 99)):
        cell = line.locator("tr", has=page.get_by_role("rowheader", name=name, exact=True))
        number = cell.locator(".tvmdbg-tensor-number")
        found = np.percentile(finite, percent)
        assert float(off_screen(number.inner_text())) == pytest.approx(found, rel=1e-5)
        full = number.get_attribute("title")
        assert full is None or np.float32(off_screen(full)) == np.float32(found)
    expect(line.get_by_role("button", name="exact percentiles")).to_have_count(0)
    page.get_by_role("button", name="Go to the first NaN").click()
    expect_readout(page, "[1, 3, 4, 5] = NaN")
    page.get_by_role("button", name="Go to the first +Inf").click()
    expect_readout(page, "[0, 6, 1, 2] = +Inf")
    page.get_by_role("button", name="Go to the maximum (x)").click()
    index = np.unravel_index(
        np.nanargmax(np.where(np.isfinite(arrays["faulty"]), arrays["faulty"], -np.inf)),
        arrays["faulty"].shape,
    )
    largest = number_text(arrays["faulty"][index])
    expect_readout(page, f"{[int(each) for each in index]} = {largest}")


def test_readout_shows_bits_and_ulp(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("relu")
    press(page, "x")
    value = arrays["relu"].max()
    readout = page.locator(BITS)
    expect(readout).to_contain_text(f"0x{value.view(np.uint32):08X}")
    bits = f"{value.view(np.uint32):032b}"
    for name, text in (("sign", bits[0]), ("exponent", bits[1:9]), ("mantissa", bits[9:])):
        expect(readout.locator(f".tvmdbg-bits-{name}")).to_have_text(text)
    expect(readout).to_contain_text(f"ulp {on_screen(computed_text(float(np.spacing(value))))}")
    expect(page.locator(f"{ROOT} > .tvmdbg-mirror")).to_contain_text("bits 0x")


def first_row(page: Page, cols: int) -> list[float]:
    """Values of row 0 in the table, which is scrolled to each and back."""
    box = page.locator(".tvmdbg-values")
    to = "(box, share) => { box.scrollLeft = share * (box.scrollWidth - box.clientWidth) }"
    found = []
    for col in range(cols):
        box.evaluate(to, col / (cols - 1))
        cell = page.locator(f"{VALUES} [data-row='0'][data-col='{col}']")
        found.append(float(off_screen(cell.inner_text())))
    box.evaluate(to, 0)
    return found


def test_table_writes_values_in_every_format(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("brain")
    press(page, "v")
    array = arrays["brain"]
    head = page.locator(f"{VALUES} .tvmdbg-values-head").first
    expect(head).to_have_text("0\\1")
    first = page.locator(f"{VALUES} [role=gridcell]").first
    expect(first).not_to_have_text("…")
    shown = first_row(page, 7)
    assert shown == pytest.approx(array[0].astype(float).tolist(), rel=1e-2)
    expect(first).to_have_attribute("data-col", "0")
    picker = page.get_by_label("Values as (f)")
    picker.select_option("hex")
    expect(first).to_have_text(f"0x{array[0, 0].view(np.uint16):04X}")
    picker.select_option("bits")
    bits = f"{array[0, 0].view(np.uint16):016b}"
    expect(first.locator(".tvmdbg-bits-sign")).to_have_text(bits[0])
    expect(first.locator(".tvmdbg-bits-exponent")).to_have_text(bits[1:9])
    expect(first.locator(".tvmdbg-bits-mantissa")).to_have_text(bits[9:])
    picker.press("Escape")
    expect(page.locator(ROOT)).to_be_focused()


def test_table_dequantizes_by_typed_numbers(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("codes")
    press(page, "v")
    page.get_by_label("Values as (f)").select_option("dequantized")
    page.get_by_label("Zero point").fill("3")
    page.get_by_label("Scale", exact=True).fill("0.25")
    page.get_by_label("Scale", exact=True).press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    expect(page.get_by_role("grid")).to_have_attribute(
        "aria-label", "Values, dequantized, (value − 3) × 0.25"
    )
    first = page.locator(f"{VALUES} [role=gridcell]").first
    real = computed_text((float(arrays["codes"][0, 0]) - 3) * 0.25)
    expect(first).to_have_text(on_screen(real))
    assert wait_trait(page, "scale", "it === 0.25") == 0.25
    assert trait(page, "zero_point") == 3
    assert trait(page, "value_format") == "dequantized"
    page.locator(f"{VALUES} [data-row='2'][data-col='1']").click()
    real = computed_text((float(arrays["codes"][2, 1]) - 3) * 0.25)
    expect(page.locator(BITS)).to_contain_text(f"(value − 3) × 0.25 = {on_screen(real)}")


def test_padding_is_marked_in_readout_and_table(page: Page, bundles: Path) -> None:
    """Six channels in blocks of four: the last two of the second block hold nothing."""
    packed = np.arange(1, 73, dtype=np.float32).reshape(1, 2, 3, 3, 4)
    attrs = {"src_layout": "NCHW", "dst_layout": "NCHW4c"}
    run = plant(
        Op("x", np.zeros((1, 6, 3, 3), np.float32)),
        Op("t", packed, "fused_layout_transform", [(0, 0)], attrs),
    )
    traits = "tensor.entry=[1,0]&tensor.axes=[1,3]&tensor.index=[0,0,2,0]"
    with serve(run) as address:
        layout = "tensor.data_layout=%22NCHW4c%22&tensor.data_sizes=%7B%7D"
        visit(page, f"{address}?views=tensor&{traits}&{layout}")
        expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
        padding = page.get_by_role("checkbox", name="padding")
        expect(padding).to_be_checked()
        press(page, "v", "PageDown", "End")
        readout = page.locator(READOUT)
        expect_readout(page, f"[0, 7, 2, 2] = {number_text(packed[0, 1, 2, 2, 3])}")
        expect(readout).to_contain_text("stored at [0, 1, 2, 2, 3]")
        expect(readout.locator(".tvmdbg-tensor-padding")).to_be_visible()
        empty = page.locator(f"{VALUES} .tvmdbg-values-padding")
        expect(empty).to_have_count(2 * 3)
        assert {cell.get_attribute("data-row") for cell in empty.all()} == {"6", "7"}
        press(page, "ArrowUp", "ArrowUp")
        expect_readout(page, f"[0, 5, 2, 2] = {number_text(packed[0, 1, 2, 2, 1])}")
        expect(readout.locator(".tvmdbg-tensor-padding")).to_be_hidden()
        padding.click()
        expect(empty).to_have_count(0)
        expect(page.locator(f"{VALUES} [role=gridcell]")).to_have_count(6 * 3)
        page.goto("about:blank")


def test_profile_matches_numpy_and_click_selects_index(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("faulty")
    page.get_by_role("button", name="Line plot of min, mean and max along an axis").click()
    expect(page.locator(".tvmdbg-tensor-profile")).to_have_attribute("data-ready", "true")
    found = inspected(page)["profile"]
    finite = np.where(np.isfinite(arrays["faulty"]), arrays["faulty"], np.nan).astype(np.float64)
    assert [bar["least"] for bar in found["bars"]] == pytest.approx(
        np.nanmin(finite, axis=(0, 2, 3))
    )
    assert [bar["largest"] for bar in found["bars"]] == pytest.approx(
        np.nanmax(finite, axis=(0, 2, 3))
    )
    assert [bar["means"][0] for bar in found["bars"]] == pytest.approx(
        np.nanmean(finite, axis=(0, 2, 3)), rel=1e-5
    )
    assert {k: bar["specials"] for k, bar in enumerate(found["bars"]) if bar["specials"]} == {
        3: ["nan"],
        6: ["posInf"],
    }
    stage = page.locator(ALONG)
    bar = found["bars"][5]
    stage.click(position={"x": bar["x"] + bar["width"] / 2, "y": 60})
    wait_trait(page, "index", "it && it[1] === 5")
    expect(page.locator(INDEX)).to_have_value(re.compile("^0, 5, "))
    expect(stage).to_be_focused()
    page.keyboard.press("ArrowRight")
    wait_trait(page, "index", "it && it[1] === 6")
    page.keyboard.press("Home")
    wait_trait(page, "index", "it && it[1] === 0")
    page.mouse.move(0, 0)
    expect(page.locator(".tvmdbg-tensor-along-text")).to_contain_text("index 0: min ≈")
    page.get_by_label("Axis of the line plot (t)").select_option("3")
    expect(page.locator(".tvmdbg-tensor-profile")).to_contain_text("over 96 values at each index")
    page.wait_for_function(
        "document.querySelector('.tvmdbg-tensor-profile').dataset.ready === 'true'"
    )
    assert len(inspected(page)["profile"]["bars"]) == 10
    stage.press("Escape")
    expect(page.locator(ROOT)).to_be_focused()


def test_long_profiles_are_drawn_for_the_visible_range(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("tall", show="line plot")
    page.wait_for_function(
        "document.querySelector('.tvmdbg-tensor-profile').dataset.ready === 'true'"
    )
    bars = inspected(page)["profile"]["bars"]
    assert len(bars) < 900
    assert (bars[0]["from"], bars[-1]["to"]) == (0, 49_999)
    for bar in bars[::50]:
        part = arrays["tall"][bar["from"] : bar["to"] + 1]
        assert (bar["least"], bar["largest"]) == (part.min(), part.max())
    stage = page.locator(ALONG)
    stage.focus()
    for _ in range(5):
        page.keyboard.press("+")
    near = inspected(page)["profile"]["bars"]
    assert near[-1]["to"] - near[0]["from"] < 2000
    page.keyboard.press("0")
    assert inspected(page)["profile"]["bars"][-1]["to"] == 49_999


def test_readings_of_complex_numbers(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("turning")
    picker = page.get_by_label("How to read the stored bytes")
    expect(picker).to_have_value("magnitude")
    press(page, "v")
    first = page.locator(f"{VALUES} [role=gridcell]").first
    for reading, part in (("real", arrays["turning"].real), ("imag", arrays["turning"].imag)):
        picker.select_option(reading)
        expect(first).to_have_text(on_screen(str(part[0, 0])))
        least = page.locator(f"{NUMBERS} .tvmdbg-tensor-number").first.inner_text()
        assert float(off_screen(least)) == part.min()
    assert wait_trait(page, "reading", "it === 'imag'") == "imag"


def saved(page: Page, kind: str) -> Path:
    page.get_by_role("button", name="Save this view (w)").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"(.{kind})").click()
    return download.value.path()


@pytest.mark.parametrize(
    ("name", "traits", "selection"),
    [
        ("faulty", {"axes": [2, 3], "index": [1, 3, 0, 0]}, np.s_[1, 3]),
        ("half", {"axes": [2, 0], "index": [0, 4, 0]}, np.s_[:, 4, :]),
        ("whole", {}, np.s_[:]),
        ("codes", {"region": [3, 5, 12, 30]}, np.s_[3:15, 5:35]),
        ("wide", {}, np.s_[:]),
    ],
)
def test_npy_file_equals_the_shown_values(  # noqa: PLR0917
    page: Page,
    show: Callable[..., None],
    arrays: dict[str, Array],
    name: str,
    traits: dict[str, Any],
    selection: Any,
) -> None:
    show(name, **traits)
    found = np.load(saved(page, "npy"))
    expected = arrays[name][selection]
    if traits.get("axes") == [2, 0]:
        expected = expected.T
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    expect(page.locator(SAVED)).to_contain_text(f"0_{name}")


def test_channels_and_profile_are_saved_as_npy(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("faulty", show="channels", index=[0, 3, 0, 0], axes=[2, 3], region=[1, 1, 2, 2])
    np.testing.assert_array_equal(np.load(saved(page, "npy")), arrays["faulty"][0])
    page.get_by_role("button", name="(.png)").focus()
    page.keyboard.press("Escape")
    show("half", show="line plot")
    page.wait_for_function(
        "document.querySelector('.tvmdbg-tensor-profile').dataset.ready === 'true'"
    )
    least, mean, largest = np.load(saved(page, "npy"))
    half = arrays["half"].astype(float)
    np.testing.assert_array_equal(least, half.min(axis=(0, 2)))
    np.testing.assert_allclose(mean, half.mean(axis=(0, 2)), rtol=1e-6)
    np.testing.assert_array_equal(largest, half.max(axis=(0, 2)))


def test_npy_saves_bfloat16_and_dequantized_values(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    show("brain")
    found = np.load(saved(page, "npy"))
    np.testing.assert_array_equal(found, arrays["brain"].astype(np.float32))
    expect(page.locator(SAVED)).to_contain_text("bfloat16 saved as float32, which is exact")
    show("codes", value_format="dequantized", scale=0.1, zero_point=-7)
    found = np.load(saved(page, "npy"))
    np.testing.assert_array_equal(found, (arrays["codes"].astype(np.float64) + 7) * 0.1)
    expect(page.locator(SAVED)).to_contain_text("(value + 7) × 0.1 as float64")


def test_csv_is_exact(page: Page, show: Callable[..., None], arrays: dict[str, Array]) -> None:
    show("relu")
    with saved(page, "csv").open(newline="") as file:
        rows = list(csv.reader(file))
    np.testing.assert_array_equal(np.array(rows, np.float32), arrays["relu"])


def test_png_is_a_picture_with_its_legend(page: Page, show: Callable[..., None]) -> None:
    show("relu")
    data = saved(page, "png").read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    stage = box_of(page.locator(".tvmdbg-tensor-stage"))
    assert width >= stage["width"]
    assert height > stage["height"] + 60


def test_saving_can_be_stopped_and_refers_large_arrays_to_python(
    page: Page, show: Callable[..., None]
) -> None:
    show("huge")
    press(page, "w")
    page.get_by_role("button", name="(.csv)").click()
    expect(page.locator(SAVED)).to_contain_text('np.savetxt("values.csv", run.tensors[10, 0][:, :]')
    page.get_by_role("button", name="(.npy)").click()
    expect(page.locator(SAVED)).to_contain_text('np.save("values.npy", run.tensors[10, 0][:, :])')
    page.keyboard.press("Escape")
    show("wide")

    def hold(route: Route) -> None:
        if '"kind":"data"' not in (route.request.post_data or ""):
            route.continue_()

    page.route("**/*", hold)
    press(page, "w")
    page.get_by_role("button", name="(.npy)").click()
    page.get_by_role("button", name="Stop saving").click()
    expect(page.locator(SAVED)).to_have_text("Not saved: stopped.")
    page.unroute_all(behavior="ignoreErrors")


def unfolded(array: Array) -> Array:
    """(N, C/8, H, W, 8c) as (N, C, H, W)."""
    n, outer, h, w, inner = array.shape
    return array.transpose(0, 1, 4, 2, 3).reshape(n, outer * inner, h, w)


@pytest.mark.parametrize(
    ("name", "traits", "expected"),
    [
        ("faulty", {"axes": [3, 1], "index": [1, 0, 2, 0]}, lambda x: x[1, :, 2, :].T),
        ("codes", {"region": [3, 5, 12, 30]}, lambda x: x[3:15, 5:35]),
        ("turning", {"reading": "phase"}, np.angle),
        (
            "faulty",
            {"show": "channels", "axes": [3, 2], "index": [0, 3, 0, 0]},
            lambda x: x[0].transpose(0, 2, 1),
        ),
        (
            "half",
            {"show": "line plot"},
            lambda x: [f(x.astype(float), axis=(0, 2)) for f in (np.min, np.max, np.mean)],
        ),
        ("packed", {"data_layout": "NCHW8c"}, lambda x: unfolded(x)[0, 0]),
        (
            "codes",
            {"value_format": "dequantized", "scale": 0.5, "zero_point": -3},
            lambda x: (x.astype(float) + 3) * 0.5,
        ),
        (
            "relu",
            {"value_format": "hex"},
            lambda x: [f"0x{each:08X}" for each in x.view(np.uint32).ravel()],
        ),
    ],
)
def test_copied_code_evaluates_to_the_shown_values(  # noqa: PLR0917
    page: Page,
    show: Callable[..., None],
    run: DebugRun,
    arrays: dict[str, Array],
    name: str,
    traits: dict[str, Any],
    expected: Callable[[Array], Any],
) -> None:
    page.context.grant_permissions(["clipboard-read"])
    show(name, **traits)
    press(page, "y")
    code = page.evaluate("navigator.clipboard.readText()")
    before, _, last = code.rpartition("; ")
    names: dict[str, Any] = {"run": run}
    exec(before, names)  # noqa: S102 (the code under test)
    np.testing.assert_array_equal(eval(last, names), expected(arrays[name]))  # noqa: S307


LABELS = {
    "axes": "Axis for rows",
    "index": "Index along axis 1 (number)",
    "color_scale": "Color scale (l)",
    "color_map": "Color map (c)",
    "color_range": "Color range (r)",
    "cells": "Downsample cells of several values by (e)",
    "data_layout": "Layout (a)",
    "data_sizes": "Sizes without padding, such as C=12",
    "reading": "How to read the stored bytes",
    "along": "Axis of the line plot (t)",
    "value_format": "Values as (f)",
    "scale": "Scale",
    "zero_point": "Zero point",
}
PACKED = {"data_layout": "NCHW8c"}
DEQUANTIZED = {"value_format": "dequantized"}


@pytest.mark.parametrize(
    ("trait_name", "array", "beside", "value", "text", "other", "other_text", "own", "own_text"),
    [
        ("axes", "faulty", {}, [1, 3], "1", [3, 2], "3", "0", [0, 2]),
        ("index", "faulty", {}, [0, 3, 0, 0], "3", [1, 2, 0, 0], "2", "5", [1, 5, 0, 0]),
        ("color_scale", "relu", {}, "log", "log", "symlog", "symlog", "linear", "linear"),
        ("color_map", "relu", {}, "diverging", "diverging", "auto", "auto", "sequential", None),
        ("color_range", "relu", {}, "robust", "robust", [0.5, 1], "typed", "plane", "plane"),
        ("cells", "huge", {}, "least", "least", "extreme", "extreme", "largest", "largest"),
        ("data_layout", "packed", {}, "NCHW8c", "custom", "", "", None, None),
        ("data_sizes", "packed", PACKED, {"C": 3}, "C=3", {"C": 9}, "C=9", "C=5, W=7", None),
        ("reading", "turning", {}, "phase", "phase", "real", "real", "imag", "imag"),
        ("along", "half", {"show": "line plot"}, 2, "2", None, "1", "0", 0),
        ("value_format", "codes", {}, "hex", "hex", "bits", "bits", "number", "number"),
        ("scale", "codes", DEQUANTIZED, 0.5, "0.5", 2, "2", "0.125", 0.125),
        ("zero_point", "codes", DEQUANTIZED, -3, "-3", 7, "7", "11", 11),
    ],
)
def test_trait_syncs_between_python_and_its_control(  # noqa: PLR0917
    page: Page,
    show: Callable[..., None],
    trait_name: str,
    array: str,
    beside: dict[str, Any],
    value: Any,
    text: str,
    other: Any,
    other_text: str,
    own: str | None,
    own_text: Any,
) -> None:
    show(array, **beside, **{trait_name: value})
    if trait_name in {"value_format", "scale", "zero_point"}:
        press(page, "v")
    control = page.get_by_label(LABELS[trait_name], exact=True)
    expect(control).to_have_value(text)
    resting(page)
    tell(page, **{trait_name: other})
    expect(control).to_have_value(other_text)
    resting(page)
    assert trait(page, trait_name) == other
    if own is None:
        return
    if control.evaluate("it => it.tagName") == "SELECT":
        control.select_option(own)
    else:
        control.fill(own)
        control.press("Enter")
    told = {"data_sizes": {"C": 5, "W": 7}}.get(trait_name, own if own_text is None else own_text)
    wait_trait(page, trait_name, f"JSON.stringify(it) === {compact(told)!r}")
    control = page.get_by_label(LABELS[trait_name], exact=True)
    expect(control).to_have_value(own)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def tell(page: Page, **traits: Any) -> None:
    """Set traits of the view's model as Python does, all at once."""
    page.evaluate(
        "traits => Object.entries(traits).forEach(it => window.tvmdbg.models.tensor0.set(...it))",
        traits,
    )


def resting(page: Page) -> None:
    """Wait until the view has told what it shows."""
    page.wait_for_function(
        """() => new Promise(done => {
            const model = window.tvmdbg.models.tensor0;
            const state = () => JSON.stringify(["entry", "axes", "index", "data_layout",
                "data_sizes", "reading", "along", "region"].map(name => model.get(name)));
            const before = state();
            setTimeout(() => done(state() === before
                && document.documentElement.dataset.asking !== "1"), 400);
        })"""
    )


def test_traits_set_together_before_their_entry_are_applied(
    page: Page, show: Callable[..., None], arrays: dict[str, Array]
) -> None:
    """As ``with view.hold_sync()`` tells it, the axes before the entry that they are of."""
    show("faulty")
    resting(page)
    told = {
        "along": 3,
        "index": [0, 1, 4, 0],
        "axes": [3, 2],
        "data_sizes": {"C": 5},
        "data_layout": "NCHW8c",
        "entry": [list(arrays).index("packed"), 0],
    }
    tell(page, **told)
    expect(page.locator(ROOT)).to_have_attribute("data-entry", f"{told['entry'][0]}:0")
    expect(page.get_by_label("Index along C (number)", exact=True)).to_have_value("1")
    expect(page.get_by_label("Index along C (number)", exact=True).locator("..")).to_contain_text(
        "of 5"
    )
    expect(page.get_by_label("Axis for rows", exact=True)).to_have_value("3")
    resting(page)
    assert {name: trait(page, name) for name in told} == told
    press(page, "3")
    expect(page.get_by_label(LABELS["along"], exact=True)).to_have_value("3")


def test_two_views_of_one_state_stay_in_sync(
    page: Page, address: str, arrays: dict[str, Array]
) -> None:
    """As one model shown in two cells: what is done in one is done in the other, and rests."""
    entry = [list(arrays).index("packed"), 0]
    visit(page, f"{address}?views=tensor,tensor&theme=light&session.entry={json.dumps(entry)}")
    for root in page.locator(ROOT).all():
        expect(root).to_have_attribute("data-entry", f"{entry[0]}:0")
    page.evaluate(
        """() => {
            const { tensor0: a, tensor1: b } = window.tvmdbg.models;
            const names = ["entry", "axes", "index", "data_layout", "data_sizes", "reading", "show",
                "along", "cells", "region", "color_scale", "value_format"];
            window.changes = 0;
            for (const [one, other] of [[a, b], [b, a]]) for (const name of names) {
                one.on(`change:${name}`, () => {
                    window.changes += 1;
                    other.set(name, one.get(name));
                });
            }
        }"""
    )
    resting(page)
    tell(page, data_layout="NCHW8c", data_sizes={"C": 3}, show="line plot", along=2, cells="least")
    first, second = page.locator(ROOT).nth(0), page.locator(ROOT).nth(1)
    for root in (first, second):
        expect(root.get_by_label(LABELS["data_sizes"])).to_have_value("C=3")
        expect(root.get_by_label(LABELS["along"], exact=True)).to_have_value("2")
    second.get_by_label(LABELS["along"], exact=True).select_option("0")
    expect(first.get_by_label(LABELS["along"], exact=True)).to_have_value("0")
    first.get_by_label(LABELS["data_sizes"]).fill("C=11")
    first.get_by_label(LABELS["data_sizes"]).press("Enter")
    expect(second.get_by_label(LABELS["data_sizes"])).to_have_value("C=11")
    resting(page)
    before = page.evaluate("window.changes")
    resting(page)
    assert page.evaluate("window.changes") == before
    state = "[0, 1].map(it => window.tvmdbg.models[`tensor${it}`].get('data_sizes'))"
    assert page.evaluate(state) == [{"C": 11}, {"C": 11}]


def test_typed_data_sizes_reach_trait_code_figure_and_saved_page(  # noqa: PLR0917
    page: Page,
    show: Callable[..., None],
    run: DebugRun,
    arrays: dict[str, Array],
    tmp_path: Path,
    bundles: Path,
) -> None:
    """Typed sizes reach the trait, the code, the figure and a saved page."""
    page.context.grant_permissions(["clipboard-read"])
    show("packed")
    page.get_by_label("Layout (a)").select_option("custom")
    page.get_by_label("Layout, such as NCHW8c").fill("NCHW8c")
    page.get_by_label("Layout, such as NCHW8c").press("Enter")
    page.get_by_label(LABELS["data_sizes"]).fill("C=3")
    page.get_by_label(LABELS["data_sizes"]).press("Enter")
    expect(page.get_by_label("Index along C (number)").locator("..")).to_contain_text("of 3")
    wait_trait(page, "data_sizes", "it?.C === 3")
    state = {name: trait(page, name) for name in ("entry", "data_layout", "data_sizes")}
    press(page, "2", "y")
    expect_channels(page, 3)
    code = page.evaluate("navigator.clipboard.readText()")
    logical = unfolded(arrays["packed"])[:, :3]
    np.testing.assert_array_equal(eval(code, {"run": run}), logical[0])  # noqa: S307
    view = tvmdbg.TensorInspector(
        run, entry=tuple(state["entry"]), **PACKED, data_sizes=state["data_sizes"], show="channels"
    )
    assert view.figure().description["view_shape"] == [1, 3, 9, 12]
    path = view.save_html(tmp_path / "packed.html", parameters=True, share="tensors")
    page.goto(path.as_uri())
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    expect_channels(page, 3)
    press(page, "1")
    expect(page.get_by_label("Index along C (number)").locator("..")).to_contain_text("of 3")


@pytest.mark.parametrize("shown", mostly_slow(["channels", "line plot"], "channels"))
def test_along_axis_matches_the_figure(
    page: Page, show: Callable[..., None], run: DebugRun, arrays: dict[str, Array], shown: str
) -> None:
    for name in ("faulty", "half", "relu", "packed"):
        for along in (None, 0, 2):
            entry = (list(arrays).index(name), 0)
            figure = run.figure("tensor", entry=entry, show=shown, along=along)
            show(name, show=shown, along=along)
            found = inspected(page)["profile"]["axis"]
            if shown == "channels":
                picker = page.get_by_label("Axis of the channels (t)")
                found = int(picker.input_value()) if picker.count() else None
            assert found == figure.description["along"], (name, along)


@pytest.mark.parametrize(("name", "size"), FAR)
def test_values_beyond_float32_are_drawn_and_read(  # noqa: PLR0917
    page: Page,
    show: Callable[..., None],
    run: DebugRun,
    arrays: dict[str, Array],
    tmp_path: Path,
    name: str,
    size: str,
) -> None:
    array = arrays[name]
    said = f"Legend: colors from ≈ −{size} to ≈ {size}, linear"
    show(name, color_range="plane", index=[1, 0, 0], axes=[1, 2])
    legend, readout = page.locator(".tvmdbg-tensor-legend"), page.locator(READOUT)
    expect(legend).to_have_attribute("aria-label", said)
    page.locator(".tvmdbg-tensor-stage").first.hover(position={"x": 200, "y": 150})
    far_number = r"−?[\d.]+e−?3\d\d"
    expect(readout).to_contain_text(
        re.compile(f"cell: mean ({far_number}|unknown), ≈ {far_number} … ≈ {far_number}")
    )
    assert not re.search(r"Inf|NaN|≈ 0\b", readout.inner_text())
    live = pictured(page)
    assert len(live) > 20
    press(page, "2")
    expect_channels(page, 2)
    signs = [mark["signs"] for mark in inspected(page)["channels"]["marks"] if mark["known"]]
    assert signs == [[], []]
    press(page, "3")
    page.wait_for_function(
        "document.querySelector('.tvmdbg-tensor-profile').dataset.ready === 'true'"
    )
    least, mean, largest = np.load(saved(page, "npy"))
    along = (0, 2)
    np.testing.assert_array_equal(least, array.min(axis=along))
    np.testing.assert_array_equal(largest, array.max(axis=along))
    most = np.abs(array).max()
    truth = (array / most).mean(axis=along)
    known = np.isfinite(mean)  # a sum beyond float64 has no mean
    assert known.any() or name == "beyond"
    np.testing.assert_allclose(mean[known] / most, truth[known], rtol=1e-9, atol=1e-13)
    entry = (list(arrays).index(name), 0)
    view = tvmdbg.TensorInspector(run, entry=entry, color_range="plane", index=[1, 0, 0])
    page.goto(view.save_html(tmp_path / "far.html", parameters=True, share="pictures").as_uri())
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    expect(legend).to_have_attribute("aria-label", said)
    assert len(pictured(page)) > (3 if name == "beyond" else 20)


def pictured(page: Page) -> set[str]:
    """The colors of the picture."""
    found: list[str] = page.locator(".tvmdbg-tensor-stage canvas").first.evaluate(
        """canvas => {
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            return [...new Set(new Uint32Array(data.buffer))].map(String);
        }"""
    )
    return set(found)
