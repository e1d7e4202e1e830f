"""The tensor inspector on a page whose questions the real Python code answers."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect
from ui.host import serve

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.params_writer import write_params

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Page

ROOT = ".tvmdbg-tensor"
STAGE = ".tvmdbg-tensor-stage"
MIRROR = f"{ROOT} > .tvmdbg-mirror"
EMPTY = f"{ROOT} .tvmdbg-message-empty"
READOUT = ".tvmdbg-tensor-readout code"
WIDTHS = (480, 900, 1600)


def made_arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Arrays of every form the view has; the tests compare with them."""
    random = np.random.default_rng(7)
    wave = (np.sin(np.arange(1200) / 90)[:, None] * np.cos(np.arange(2000) / 70)).astype(np.float32)
    wave[600, 1001] = np.nan
    mixed = random.normal(size=(3, 4, 8, 6)).astype(np.float32)
    mixed[2, 1, 3, 5] = np.nan
    mixed[2, 1, 4, 0] = np.inf
    mixed[2, 1, 7, 2] = -np.inf
    return {
        "wave": wave,
        "mixed": mixed,
        "vector": random.normal(size=300).astype(np.float32),
        "scalar": np.array(-2.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
        "kernel": random.normal(size=(16, 8, 3, 3)).astype(np.float16),
        "whole": np.array([[2**62, -(2**62), 2**53 + 1], [1, 2, 3]], np.int64),
        "allnan": np.full((5, 5), np.nan, np.float32),
        "walk": random.normal(size=50_000).astype(np.float32),
        "long": np.arange(100_000 * 40, dtype=np.int32).reshape(100_000, 40),
    }


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray[Any, Any]]:
    return made_arrays()


@pytest.fixture(scope="module")
def made(
    arrays: dict[str, np.ndarray[Any, Any]], tmp_path_factory: pytest.TempPathFactory, bundles: Path
) -> Iterator[str]:
    """Address of a run that holds the arrays as outputs of nodes 0, 1, …"""
    path = tmp_path_factory.mktemp("made") / "output_tensors.params"
    keyed = {
        f"{name}____topo-index:{node}____output-num:0": array
        for node, (name, array) in enumerate(arrays.items())
    }
    write_params(path, keyed)
    with serve(tvmdbg.open(path)) as address:
        yield address


@pytest.fixture(scope="module")
def recorded(corpus: Path, bundles: Path) -> Iterator[Callable[[str], str]]:
    """Addresses of recorded runs, by folder below ``tvm``."""
    with ExitStack() as stack:
        known: dict[str, str] = {}

        def address(name: str) -> str:
            if name not in known:
                known[name] = stack.enter_context(serve(tvmdbg.open(corpus / "tvm" / name)))
            return known[name]

        yield address


def show(
    page: Page, address: str, *, width: int = 900, theme: str = "light", **traits: Any
) -> None:
    """Open the page and wait for the first complete paint."""
    query = "".join(f"&tensor.{name}={json.dumps(value)}" for name, value in traits.items())
    page.set_viewport_size({"width": width + 16, "height": 900})
    page.goto(f"{address}?views=tensor&width={width}&theme={theme}{query}")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true", timeout=20_000)


def press(page: Page, *keys: str) -> None:
    page.locator(ROOT).focus()
    for key in keys:
        page.keyboard.press(key)


def inspect(page: Page) -> dict[str, Any]:
    """What is on screen: labels and marks in CSS pixels of the stage."""
    return page.locator(ROOT).evaluate(
        """root => {
            const detail = {};
            root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
            return JSON.parse(JSON.stringify(detail));
        }"""
    )


def state(page: Page, model: str, name: str) -> Any:
    return page.evaluate(f"window.tvmdbg.models.{model}.get('{name}')")


def wait_entry(page: Page, entry: str) -> None:
    expect(page.locator(ROOT)).to_have_attribute("data-entry", entry)


def number(text: str) -> float:
    return float(text.rsplit("=", maxsplit=1)[-1].strip())


def test_header_health_and_statistics_are_those_of_the_array(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[1, 0])
    header = page.locator(".tvmdbg-tensor-header")
    for text in ("1:0", "mixed", "float32", "(3, 4, 8, 6)", "2.3 KiB (2,304)", "⚠ not finite"):
        expect(header).to_contain_text(text)
    negative = int((arrays["mixed"] < 0).sum())
    for text in ("1 NaN", "1 +Inf", "1 −Inf", f"{negative} negative", "573 finite of 576"):
        expect(page.locator(".tvmdbg-tensor-health")).to_contain_text(text)
    finite = arrays["mixed"][np.isfinite(arrays["mixed"])]
    numbers = page.locator(".tvmdbg-tensor-number").all_inner_texts()
    assert np.float32(numbers[0]) == finite.min()
    assert np.float32(numbers[1]) == finite.max()
    assert float(numbers[2]) == pytest.approx(float(finite.astype(np.float64).mean()))
    assert float(numbers[3]) == pytest.approx(float(finite.astype(np.float64).std()))
    expect(page.locator(".tvmdbg-tensor-legend")).to_contain_text("NaN (1)")
    place = page.locator(".tvmdbg-tensor-place")
    expect(place).to_be_hidden()
    page.get_by_role("button", name="Show or hide the file").click()
    expect(place).to_contain_text("output_tensors.params, values at byte")


def test_pointer_reads_the_exact_value(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[1, 0], index=[2, 1, 0, 0])
    box = page.locator(STAGE).bounding_box()
    assert box is not None
    for row, col in ((0, 0), (3, 4), (7, 5), (3, 5), (4, 0), (7, 2)):
        cell = next(m for m in inspect(page)["marks"] if (m["row"], m["col"]) == (row, col))
        page.mouse.move(
            box["x"] + cell["x"] + cell["width"] / 2, box["y"] + cell["y"] + cell["height"] / 2
        )
        readout = page.locator(READOUT)
        expect(readout).to_contain_text(f"[2, 1, {row}, {col}] = ")
        value = arrays["mixed"][2, 1, row, col]
        page.wait_for_function(
            f"!document.querySelector('{READOUT}').textContent.includes('…')"
            f" && !/Inf|NaN/.test(document.querySelector('{READOUT}').textContent)"
        )
        assert np.array_equal(np.float32(number(readout.inner_text())), value, equal_nan=True)


def test_every_value_is_read_by_keys_alone(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[1, 0])
    mirror = page.locator(MIRROR)
    press(page, ".", ".", "ArrowDown", "ArrowDown", "ArrowRight")
    expect(mirror).to_contain_text(f"at [2, 0, 1, 1] value {arrays['mixed'][2, 0, 1, 1]!s}")
    press(page, ",", "End", "PageDown")
    expect(mirror).to_contain_text(f"at [1, 0, 7, 5] value {arrays['mixed'][1, 0, 7, 5]!s}")
    press(page, "Home", "PageUp", "Shift+ArrowRight")
    expect(mirror).to_contain_text(f"at [1, 0, 0, 5] value {arrays['mixed'][1, 0, 0, 5]!s}")
    press(page, "s")
    expect(mirror).to_contain_text(f"at [1, 0, 0, 5] value {arrays['mixed'][1, 0, 0, 5]!s}")
    expect(page.get_by_label("Axis shown down")).to_have_value("3")
    press(page, "ArrowRight")
    expect(mirror).to_contain_text(f"at [1, 0, 1, 5] value {arrays['mixed'][1, 0, 1, 5]!s}")
    finite = np.where(np.isfinite(arrays["mixed"]), arrays["mixed"], np.nan)
    lowest = np.unravel_index(np.nanargmin(finite), finite.shape)
    press(page, "m")
    expect(mirror).to_contain_text(f"at [{', '.join(map(str, lowest))}] value")
    press(page, "Escape")
    expect(page.locator(READOUT)).to_be_hidden()
    page.wait_for_function("window.tvmdbg.models.tensor0.get('axes')?.[0] === 3")
    assert state(page, "tensor0", "index")[:2] == [int(each) for each in lowest[:2]]


def test_next_nan_or_inf(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0], index=[2, 1, 0, 0])
    mirror = page.locator(MIRROR)
    for index, value in (("2, 1, 3, 5", "nan"), ("2, 1, 4, 0", "inf"), ("2, 1, 7, 2", "-inf")):
        press(page, "i")
        expect(mirror).to_contain_text(f"at [{index}] value {value}")
    flags = {(m["row"], m["col"]): m["flags"] for m in inspect(page)["marks"] if m["flags"]}
    assert flags == {(3, 5): 1, (4, 0): 2, (7, 2): 4}


def test_sliders_and_numbers_choose_the_other_axes(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[1, 0])
    press(page, "ArrowRight")
    page.get_by_label("Index along axis 0", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("Index along axis 1, typed").fill("3")
    page.keyboard.press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    expect(page.locator(MIRROR)).to_contain_text(
        f"at [1, 3, 0, 0] value {arrays['mixed'][1, 3, 0, 0]!s}"
    )
    page.get_by_label("Axis shown across").select_option("0")
    expect(page.get_by_label("Index along axis 3", exact=True)).to_be_visible()
    expect(page.locator(MIRROR)).to_contain_text("at [1, 3, 0, 0] value")
    page.get_by_label("Axis shown down").select_option("")
    expect(page.get_by_label("Index along axis 2", exact=True)).to_be_visible()
    assert len(inspect(page)["marks"]) == 3


def test_wheel_is_the_pages_until_the_view_has_focus(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0])
    page.evaluate("document.body.style.height = '4000px'")
    page.locator(STAGE).hover()
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 0")
    expect(page.get_by_label("Index along axis 0, typed")).to_have_value("0")
    page.evaluate("scrollTo(0, 0)")
    page.locator(ROOT).focus()
    page.locator(STAGE).hover()
    page.mouse.wheel(0, 100)
    expect(page.get_by_label("Index along axis 0, typed")).to_have_value("1")
    assert page.evaluate("scrollY") == 0


def test_search_and_stepping_select_for_all_views(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0])
    press(page, "/")
    search = page.get_by_role("combobox", name="Tensor: type")
    expect(search).to_be_focused()
    page.keyboard.type("float16")
    expect(page.locator(".tvmdbg-tensor-option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    wait_entry(page, "5:0")
    assert state(page, "session", "selected") == [5]
    assert state(page, "session", "source") == "tensor"
    press(page, "]")
    wait_entry(page, "6:0")
    press(page, "[", "[")
    wait_entry(page, "4:0")
    assert state(page, "session", "entry") == [4, 0]
    press(page, "/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.locator(ROOT)).to_be_focused()
    wait_entry(page, "4:0")
    page.get_by_role("button", name="Next tensor").click()
    wait_entry(page, "5:0")
    page.wait_for_function("window.tvmdbg.models.tensor0.get('entry')?.[0] === 5")


def test_follows_the_session_and_python(page: Page, made: str) -> None:
    show(page, made)
    page.evaluate("window.tvmdbg.models.session.set('selected', [2])")
    wait_entry(page, "2:0")
    page.evaluate("window.tvmdbg.models.session.set('selected', [2, 40])")
    expect(page.locator(EMPTY)).to_contain_text("No tensor for 40:0")
    expect(page.locator(STAGE)).to_be_hidden()
    page.evaluate("window.tvmdbg.models.tensor0.set('entry', [1, 0])")
    wait_entry(page, "1:0")
    page.evaluate("window.tvmdbg.models.tensor0.set('index', [1, 2, 0, 0])")
    expect(page.get_by_label("Index along axis 1, typed")).to_have_value("2")
    page.evaluate("window.tvmdbg.models.tensor0.set('color_map', 'sequential')")
    expect(page.get_by_label("Colours (c)")).to_have_value("sequential")


def test_values_table(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[9, 0])
    press(page, "v", "End")
    table = page.get_by_role("grid", name="Values")
    expect(table).to_have_attribute("aria-rowcount", "100000")
    expect(table.locator("[data-row='0'][data-col='39']")).to_have_text("39")
    expect(table.locator("[aria-selected=true]")).to_have_text("39")
    assert table.get_by_role("gridcell").count() <= 64 * 32
    page.locator(".tvmdbg-values").evaluate("box => { box.scrollTop = box.scrollHeight }")
    expect(table.locator("[data-row='99999'][data-col='39']")).to_have_text("3999999")
    table.locator("[data-row='99998'][data-col='38']").click()
    expect(page.locator(READOUT)).to_have_text("[99998, 38] = 3999958")
    expect(page.locator(ROOT)).to_be_focused()
    press(page, "ArrowUp", "PageUp")
    expect(table.locator("[aria-selected=true]")).to_have_text(str(99981 * 40 + 38))
    press(page, "v")
    expect(table).to_be_hidden()


def test_values_table_says_nan_and_inf(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0], index=[2, 1, 0, 0])
    press(page, "v")
    special = page.locator(".tvmdbg-values-special")
    expect(special).to_have_count(3)
    assert special.all_inner_texts() == ["nan", "inf", "-inf"]


def test_whole_numbers_beyond_float_stay_exact(page: Page, made: str) -> None:
    show(page, made, entry=[6, 0])
    press(page, "v", "ArrowRight", "End")
    expect(page.locator(READOUT)).to_have_text("[0, 2] = 9007199254740993")
    expect(page.locator("[data-row='0'][data-col='0']")).to_have_text("4611686018427387904")


def test_copied_code_gives_the_value(page: Page, made: str) -> None:
    page.context.grant_permissions(["clipboard-read"])
    show(page, made, entry=[1, 0])
    press(page, "ArrowDown", "ArrowDown", "Control+c")
    told = "  # run: output_tensors.params"
    clipboard = "navigator.clipboard.readText()"
    assert page.evaluate(clipboard) == f"run.tensors[1, 0][0, 0, 1, 0]{told}"
    press(page, "ArrowRight", "y")
    code = f"run.tensors[1, 0][0, 0, 1, 1]{told}"
    assert page.evaluate(clipboard) == code
    expect(page.locator(".tvmdbg-copied")).to_have_text(f"copied {code}")


def test_large_planes_are_said_to_be_summed_up(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[0, 0])
    plot = inspect(page)["plot"]
    box = page.locator(STAGE).bounding_box()
    assert box is not None
    caption = page.get_by_text("each cell: mean of")
    expect(caption).to_be_visible()
    page.mouse.move(
        box["x"] + plot["x"] + plot["width"] / 3, box["y"] + plot["y"] + plot["height"] / 3
    )
    expect(page.locator(READOUT)).to_contain_text("=")
    page.wait_for_function(f"!document.querySelector('{READOUT}').textContent.includes('…')")
    row, col = json.loads(page.locator(READOUT).inner_text().split("=")[0])
    assert 300 < row < 500
    assert 550 < col < 800
    assert np.float32(number(page.locator(READOUT).inner_text())) == arrays["wave"][row, col]
    expect(page.locator(".tvmdbg-tensor-readout")).to_contain_text("cell: mean ≈")
    press(page, "i")
    expect(page.locator(".tvmdbg-tensor-readout")).to_contain_text("some NaN")


def test_histogram_by_pointer_and_keys(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[1, 0])
    said = page.locator(".tvmdbg-tensor-bar-text")
    bars = inspect(page)["histogram"]["bars"]
    finite = arrays["mixed"][np.isfinite(arrays["mixed"])]
    counts = [bar["count"] for bar in bars if not bar["special"]]
    assert counts == np.histogram(finite.astype(np.float64), len(counts))[0].tolist()
    assert {bar["special"]: bar["count"] for bar in bars if bar["special"]} == {
        "nan": 1,
        "posInf": 1,
        "negInf": 1,
    }
    stage = page.locator(".tvmdbg-tensor-histogram")
    tallest = max((bar for bar in bars if not bar["special"]), key=lambda bar: bar["count"])
    stage.hover(position={"x": tallest["x"] + tallest["width"] / 2, "y": 60})
    expect(said).to_have_text(tallest["text"])
    stage.focus()
    page.keyboard.press("ArrowLeft")
    page.mouse.move(0, 0)
    page.keyboard.press("ArrowLeft")
    expect(said).to_have_text(bars[-1]["text"])
    expect(stage).to_have_attribute("aria-valuetext", bars[-1]["text"])
    page.keyboard.press("Escape")
    expect(page.locator(ROOT)).to_be_focused()
    page.keyboard.press("g")
    expect(page.get_by_role("button", name="Count on a logarithmic")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_colours_by_keys(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0])
    legend = page.locator(".tvmdbg-tensor-legend")
    before = legend.inner_text()
    press(page, "l")
    expect(legend).to_contain_text("linear within ±")
    expect(page.get_by_label("Scale of the colours")).to_have_value("symlog")
    press(page, "l", "c", "r")
    expect(page.get_by_label("Colours (c)")).to_have_value("sequential")
    assert legend.inner_text() != before
    page.wait_for_function("window.tvmdbg.models.tensor0.get('color_map') === 'sequential'")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (3, "-2.5"),
        (4, "This tensor has no values"),
        (7, "25 NaN"),
        (2, "axis"),
    ],
)
def test_odd_shapes(page: Page, made: str, node: int, text: str) -> None:
    show(page, made, entry=[node, 0])
    page.wait_for_timeout(200)
    shown = page.locator(ROOT).inner_text() + "".join(
        label["text"] for label in inspect(page)["labels"]
    )
    assert text in shown


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("node", [0, 1, 2, 3, 5, 6, 8, 9])
def test_labels_are_apart_and_inside(
    page: Page, made: str, node: int, width: int, theme: str
) -> None:
    show(page, made, entry=[node, 0], width=width, theme=theme)
    press(page, "ArrowDown", "ArrowDown", "ArrowRight")
    page.wait_for_timeout(150)
    found = inspect(page)
    for labels, selector in (
        (found["labels"], STAGE),
        (found["histogram"]["labels"], ".tvmdbg-tensor-histogram"),
    ):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert labels
        for i, one in enumerate(labels):
            assert one["x"] >= 0
            assert one["y"] >= 0
            assert one["x"] + one["width"] <= box["width"]
            assert one["y"] + one["height"] <= box["height"]
            for two in labels[i + 1 :]:
                apart = (
                    one["x"] + one["width"] <= two["x"]
                    or two["x"] + two["width"] <= one["x"]
                    or one["y"] + one["height"] <= two["y"]
                    or two["y"] + two["height"] <= one["y"]
                )
                assert apart, (one, two)
    sideways = page.locator(ROOT).evaluate("root => root.scrollWidth - root.clientWidth")
    assert sideways == 0


def test_help_lists_the_keys(page: Page, made: str) -> None:
    show(page, made)
    press(page, "?")
    expect(page.locator(f"{ROOT} .tvmdbg-help")).to_contain_text("table of values")


def test_an_answer_that_is_an_error_is_said_and_can_be_retried(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0])
    page.route(
        "**/ask",
        lambda route: (
            route.fulfill(body=refusal(route.request.post_data_json["id"]))
            if route.request.post_data_json["kind"] == "tensor"
            else route.continue_()
        ),
    )
    press(page, "]")
    alert = page.get_by_role("alert").filter(has_text="could not be read")
    expect(alert).to_contain_text("the file changed")
    page.unroute("**/ask")
    page.get_by_role("button", name="Ask for the tensor again").click()
    wait_entry(page, "1:0")
    expect(alert).to_be_hidden()


def refusal(question: str) -> bytes:
    head = json.dumps({"id": question, "error": "the file changed while reading"}).encode()
    return len(head).to_bytes(4, "little") + head


def test_newest_index_wins_while_answers_are_slow(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[1, 0])
    asked: list[list[int]] = []

    def slow(route: Any) -> None:
        message = route.request.post_data_json
        if message["kind"] == "tensor":
            asked.append(message["index"])
            page.wait_for_timeout(150)
        route.continue_()

    press(page, "ArrowDown")
    expect(page.locator(MIRROR)).to_contain_text("at [0, 0, 0, 0] value")
    page.route("**/ask", slow)
    slider = page.get_by_label("Index along axis 1", exact=True)
    slider.evaluate(
        "async slider => { for (const value of [1, 2, 3, 2, 1, 2, 3]) {"
        " slider.value = value; slider.dispatchEvent(new Event('input')); } }"
    )
    expect(page.locator(MIRROR)).to_contain_text(
        f"at [0, 3, 0, 0] value {arrays['mixed'][0, 3, 0, 0]!s}"
    )
    assert asked[-1][1] == 3
    assert len(asked) <= 3


def test_overflow_is_found_where_tvm_recorded_it(
    page: Page, recorded: Callable[[str], str], corpus: Path
) -> None:
    name = "resnet20_cifar_fp16_overflow"
    index = json.loads((corpus / "tvm" / name / "output_tensors.index.json").read_text("utf-8"))
    truth = next(each for each in index.values() if each["node"] == 38)
    show(page, recorded(name), entry=[38, 0])
    expect(page.locator(".tvmdbg-tensor-health")).to_contain_text(f"{truth['inf']} +Inf")
    assert truth["inf"] == 59
    expect(page.locator(".tvmdbg-tensor-health strong")).to_have_text("⚠ not finite")
    expect(page.get_by_role("combobox", name="Kinds of nodes")).to_contain_text("operators")
    press(page, "]")
    page.wait_for_function(f"document.querySelector('{ROOT}').dataset.entry > '38:0'")


def test_image_is_the_networks_input(
    page: Page, recorded: Callable[[str], str], corpus: Path
) -> None:
    """Each cell of the picture shows the pixel that TVM was given."""
    name = "resnet20_cifar"
    index = json.loads((corpus / "tvm" / name / "output_tensors.index.json").read_text("utf-8"))
    key = next(each["npz_key"] for each in index.values() if each["node"] == 0)
    with np.load(corpus / "tvm" / name / "output_tensors.npz") as file:
        image = file[key]
    show(page, recorded(name), entry=[0, 0], index=[0, 1, 0, 0])
    page.wait_for_timeout(200)
    colors = page.locator(f"{STAGE} canvas").first.evaluate(
        """(canvas, marks) => marks.map(({ x, y, width, height }) => {
            const [across, down] = [x + width / 2, y + height / 2];
            return Array.from(canvas.getContext("2d").getImageData(across, down, 1, 1).data);
        })""",
        inspect(page)["marks"],
    )
    values = image[0, 1].ravel()
    assert len(colors) == values.size
    # Blue falls and red rises with the value on either side of zero.
    warm = np.array([red - blue for red, _, blue, _ in colors])
    assert (warm[values > 0.3] > 0).all()
    assert (warm[values < -0.3] < 0).all()


def test_lanes_that_tvm_left_out_are_told(page: Page, recorded: Callable[[str], str]) -> None:
    show(page, recorded("edge_cases/v0.19/vec4"), entry=[1, 0])
    expect(page.locator(".tvmdbg-tensor-notes")).to_contain_text("stores 32 of 128 bytes")
    press(page, "ArrowRight", "End")
    expect(page.locator(READOUT)).to_contain_text("[7] = ")


def test_other_outputs_of_a_node_are_named(page: Page, recorded: Callable[[str], str]) -> None:
    show(page, recorded("edge_cases/v0.19/split_multi"), entry=[1, 5])
    expect(page.locator(EMPTY)).to_contain_text("other outputs of this node: 1:0, 1:1, 1:2")
    press(page, "[")
    wait_entry(page, "1:2")
