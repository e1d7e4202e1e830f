"""The tensor inspector on a page whose questions the real Python code answers."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import THEMES, WIDTHS
from tests.ui.graphs import overlap
from tests.ui.host import serve
from tests.ui.pointer import box_of
from tests.ui.tensors import (
    READOUT,
    expect_readout,
    inspect,
    place_read,
    press,
    run_of,
    show,
)
from tests.ui.waits import asking, frames, rest
from tvmdbg_widgets.model.base.number_text import number_text

ROOT = ".tvmdbg-tensor"
STAGE = ".tvmdbg-tensor-stage"
MIRROR = f"{ROOT} > .tvmdbg-mirror"
EMPTY = f"{ROOT} .tvmdbg-message-empty"
LABELLED = (0, 1, 2, 5, 6, 8, 9)  # nodes whose pictures have labels
LOOKS = ((480, "dark"), (900, "light"))


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray[Any, Any]]:
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
        "packed": np.arange(480, dtype=np.int16).reshape(1, 2, 6, 5, 8),
        "maps": maps(),
        "stack": np.arange(2, dtype=np.int8)[:, None, None] + np.zeros((2, 900, 1200), np.int8),
    }


def maps() -> np.ndarray[Any, Any]:
    """300 small planes: the fourth all zero, a NaN in the seventh, in the last its index alone."""
    found = np.random.default_rng(8).normal(size=(300, 12, 10)).astype(np.float32)
    found[3] = 0
    found[6, 2, 2] = np.nan
    found[299] = 299
    return found


@pytest.fixture(scope="module")
def made(
    arrays: dict[str, np.ndarray[Any, Any]], tmp_path_factory: pytest.TempPathFactory, bundles: Path
) -> Iterator[str]:
    """Address of a run that holds the arrays as outputs of nodes 0, 1, …"""
    with serve(run_of(tmp_path_factory.mktemp("made"), arrays)) as address:
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


def until(page: Page, condition: str) -> dict[str, Any]:
    """Wait for what the view says of itself: ``root``, its ``detail`` and ``texts`` of labels.

    Gives the detail of which it was true: a moment later the view may be painting anew.
    """
    detail = page.wait_for_function(
        f"""() => {{
            const root = document.querySelector("{ROOT}");
            const detail = {{}};
            const texts = (labels) => labels.map((label) => label.text).join(" ");
            root.dispatchEvent(new CustomEvent("tvmdbg:inspect", {{ detail }}));
            return {condition} ? JSON.stringify(detail) : null;
        }}"""
    ).json_value()
    return json.loads(detail)


def state(page: Page, model: str, name: str) -> Any:
    return page.evaluate(f"window.tvmdbg.models.{model}.get('{name}')")


def wait_entry(page: Page, entry: str) -> None:
    expect(page.locator(ROOT)).to_have_attribute("data-entry", entry)


def shown(value: Any) -> str:
    """A number as the views write it."""
    return number_text(value).replace("-", "−")


def number(text: str) -> float:
    return float(text.rsplit("=", maxsplit=1)[-1].strip().replace("−", "-"))


def test_header_health_and_statistics_match_the_array(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[1, 0])
    header = page.locator(".tvmdbg-tensor-header")
    for text in ("#1 mixed", "float32", "(3, 4, 8, 6)", "2.3 KiB (2,304)", "⚠ not finite"):
        expect(header).to_contain_text(text)
    negative = int((arrays["mixed"] < 0).sum())
    for text in ("1 NaN", "1 +Inf", "1 −Inf", f"{negative} negative", "573 of 576 finite"):
        expect(page.locator(".tvmdbg-tensor-health")).to_contain_text(text)
    finite = arrays["mixed"][np.isfinite(arrays["mixed"])]
    numbers = page.locator(".tvmdbg-tensor-number").all_inner_texts()
    assert np.float32(number(numbers[0])) == finite.min()
    assert np.float32(number(numbers[1])) == finite.max()
    assert number(numbers[2]) == pytest.approx(float(finite.astype(np.float64).mean()), rel=1e-5)
    assert number(numbers[3]) == pytest.approx(float(finite.astype(np.float64).std()), rel=1e-5)
    expect(page.locator(".tvmdbg-tensor-legend")).to_contain_text("NaN (1)")
    place = page.locator(".tvmdbg-tensor-place")
    expect(place).to_be_hidden()
    page.get_by_role("button", name="Show or hide the file").click()
    expect(place).to_contain_text("output_tensors.params, data at byte")


def test_pointer_reads_the_exact_value(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[1, 0], index=[2, 1, 0, 0])
    box = box_of(page.locator(STAGE))
    for row, col in ((0, 0), (3, 4), (7, 5), (3, 5), (4, 0), (7, 2)):
        cell = next(m for m in inspect(page)["marks"] if (m["row"], m["col"]) == (row, col))
        page.mouse.move(
            box["x"] + cell["x"] + cell["width"] / 2, box["y"] + cell["y"] + cell["height"] / 2
        )
        readout = page.locator(READOUT)
        expect_readout(page, f"[2, 1, {row}, {col}] = ")
        value = arrays["mixed"][2, 1, row, col]
        page.wait_for_function(f"!document.querySelector('{READOUT}').textContent.includes('…')")
        assert np.array_equal(np.float32(number(readout.inner_text())), value, equal_nan=True)


def test_every_value_is_read_by_keys_alone(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[1, 0])
    mirror = page.locator(MIRROR)
    press(page, ".", ".", "ArrowDown", "ArrowDown", "ArrowRight")
    expect(mirror).to_contain_text(f"at [2, 0, 1, 1] value {shown(arrays['mixed'][2, 0, 1, 1])}")
    press(page, ",", "End", "PageDown")
    expect(mirror).to_contain_text(f"at [1, 0, 7, 5] value {shown(arrays['mixed'][1, 0, 7, 5])}")
    press(page, "Home", "PageUp", "End")
    expect(mirror).to_contain_text(f"at [1, 0, 0, 5] value {shown(arrays['mixed'][1, 0, 0, 5])}")
    press(page, "s")
    expect(mirror).to_contain_text(f"at [1, 0, 0, 5] value {shown(arrays['mixed'][1, 0, 0, 5])}")
    expect(page.get_by_label("Axis for rows")).to_have_value("3")
    press(page, "ArrowRight")
    expect(mirror).to_contain_text(f"at [1, 0, 1, 5] value {shown(arrays['mixed'][1, 0, 1, 5])}")
    finite = np.where(np.isfinite(arrays["mixed"]), arrays["mixed"], np.nan)
    lowest = np.unravel_index(np.nanargmin(finite), finite.shape)
    press(page, "m")
    expect(mirror).to_contain_text(f"at [{', '.join(map(str, lowest))}] value")
    press(page, "Escape")
    expect(page.locator(READOUT)).to_be_hidden()
    page.wait_for_function("window.tvmdbg.models.tensor0.get('axes')?.[0] === 3")
    first = json.dumps([int(each) for each in lowest[:2]])
    page.wait_for_function(
        f"String(window.tvmdbg.models.tensor0.get('index').slice(0, 2)) === `${{{first}}}`"
    )


def test_next_nan_or_inf(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0], index=[2, 1, 0, 0])
    mirror = page.locator(MIRROR)
    for index, value in (("2, 1, 3, 5", "NaN"), ("2, 1, 4, 0", "+Inf"), ("2, 1, 7, 2", "−Inf")):
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
    page.get_by_label("Index along axis 1 (number)").fill("3")
    page.keyboard.press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    expect(page.locator(MIRROR)).to_contain_text(
        f"at [1, 3, 0, 0] value {arrays['mixed'][1, 3, 0, 0]!s}"
    )
    page.get_by_label("Axis for columns").select_option("0")
    expect(page.get_by_label("Index along axis 3", exact=True)).to_be_visible()
    expect(page.locator(MIRROR)).to_contain_text("at [1, 3, 0, 0] value")
    page.get_by_label("Axis for rows").select_option("")
    expect(page.get_by_label("Index along axis 2", exact=True)).to_be_visible()
    until(page, "detail.marks.length === 3")


def test_wheel_scrolls_page_until_view_has_focus(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0])
    page.evaluate("document.body.style.height = '4000px'")
    page.locator(STAGE).hover()
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 0")
    expect(page.get_by_label("Index along axis 0 (number)")).to_have_value("0")
    page.evaluate("scrollTo(0, 0)")
    frames(page)
    page.locator(ROOT).focus()
    page.locator(STAGE).hover()
    page.mouse.wheel(0, 100)
    expect(page.get_by_label("Index along axis 0 (number)")).to_have_value("1")
    assert page.evaluate("scrollY") == 0


def test_search_and_stepping_select_in_the_session(page: Page, made: str) -> None:
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
    expect(page.locator(EMPTY)).to_contain_text("No tensor for #40")
    expect(page.locator(STAGE)).to_be_hidden()
    page.evaluate("window.tvmdbg.models.tensor0.set('entry', [1, 0])")
    wait_entry(page, "1:0")
    page.evaluate("window.tvmdbg.models.tensor0.set('index', [1, 2, 0, 0])")
    expect(page.get_by_label("Index along axis 1 (number)")).to_have_value("2")
    page.evaluate("window.tvmdbg.models.tensor0.set('color_map', 'sequential')")
    expect(page.get_by_label("Color map (c)")).to_have_value("sequential")


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
    expect_readout(page, "[99998, 38] = 3999958")
    expect(page.locator(ROOT)).to_be_focused()
    press(page, "ArrowUp", "PageUp")
    expect(table.locator("[aria-selected=true]")).to_have_text(str(99981 * 40 + 38))
    press(page, "v")
    expect(table).to_be_hidden()


def test_whole_numbers_beyond_float_stay_exact(page: Page, made: str) -> None:
    show(page, made, entry=[6, 0])
    press(page, "v", "ArrowRight", "End")
    expect_readout(page, "[0, 2] = 9007199254740993")
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


def test_large_planes_are_captioned_as_downsampled(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[0, 0])
    plot = inspect(page)["plot"]
    box = box_of(page.locator(STAGE))
    caption = page.get_by_text("each cell: mean of")
    expect(caption).to_be_visible()
    page.mouse.move(
        box["x"] + plot["x"] + plot["width"] / 3, box["y"] + plot["y"] + plot["height"] / 3
    )
    expect(page.locator(READOUT)).to_contain_text("=")
    (row, col), text = place_read(page)
    assert 300 < row < 500
    assert 550 < col < 800
    assert np.float32(number(text)) == arrays["wave"][row, col]
    expect(page.locator(".tvmdbg-tensor-readout")).to_contain_text("cell: mean ")
    press(page, "i")
    expect(page.locator(".tvmdbg-tensor-readout")).to_contain_text("some NaN")


def test_colors_by_keys(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0])
    legend = page.locator(".tvmdbg-tensor-legend")
    before = legend.inner_text()
    press(page, "l", "l")
    expect(legend).to_contain_text("including zero and negative")
    expect(page.get_by_label("Color scale")).to_have_value("log")
    press(page, "l")
    expect(legend).to_contain_text("linear within ±")
    press(page, "l", "c", "r")
    expect(page.get_by_label("Color map (c)")).to_have_value("sequential")
    assert legend.inner_text() != before
    page.wait_for_function("window.tvmdbg.models.tensor0.get('color_map') === 'sequential'")


@pytest.mark.parametrize(
    ("node", "text"), [(3, "−2.5"), (4, "This tensor has no values"), (7, "25 NaN"), (2, "axis")]
)
def test_scalar_empty_nan_and_vector_tensors_are_shown(
    page: Page, made: str, node: int, text: str
) -> None:
    show(page, made, entry=[node, 0])
    until(page, f"root.innerText.includes({text!r}) || texts(detail.labels).includes({text!r})")


@pytest.mark.parametrize(
    ("node", "width", "theme"),
    mostly_slow(
        product(LABELLED, WIDTHS, THEMES),
        *((node, *look) for node, look in zip(LABELLED, cycle(LOOKS), strict=False)),
    ),
)
def test_labels_stay_inside_without_overlap(
    page: Page, made: str, node: int, width: int, theme: str
) -> None:
    show(page, made, entry=[node, 0], width=width, theme=theme)
    press(page, "ArrowDown", "ArrowDown", "ArrowRight")
    found = until(page, "detail.labels.length && detail.histogram.labels.length")
    for labels, selector in (
        (found["labels"], STAGE),
        (found["histogram"]["labels"], ".tvmdbg-tensor-histogram"),
    ):
        box = box_of(page.locator(selector))
        assert labels
        for i, one in enumerate(labels):
            assert one["x"] >= 0
            assert one["y"] >= 0
            assert one["x"] + one["width"] <= box["width"]
            assert one["y"] + one["height"] <= box["height"]
            for two in labels[i + 1 :]:
                assert not overlap(one, two), (one, two)
    sideways = page.locator(ROOT).evaluate("root => root.scrollWidth - root.clientWidth")
    assert sideways == 0


def test_failed_answer_is_shown_and_can_be_retried(page: Page, made: str) -> None:
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
    expect(page.get_by_label("Axis for rows")).to_be_visible()
    page.unroute("**/ask")
    page.get_by_role("button", name="Ask for the tensor again").click()
    wait_entry(page, "1:0")
    expect(alert).to_be_hidden()


def test_impossible_layout_is_reported_and_left_by_key(page: Page, made: str) -> None:
    show(page, made, entry=[10, 0], data_layout="NCHW9c")
    alert = page.get_by_role("alert").filter(has_text="could not be read")
    expect(alert).to_contain_text("9c of NCHW9c is axis 4, which has 8")
    press(page, "a")
    expect(alert).to_be_hidden()
    wait_entry(page, "10:0")


def test_statistics_and_picture_show_the_same_tensor(page: Page, made: str) -> None:
    show(page, made, entry=[1, 0])
    numbers = page.locator(".tvmdbg-tensor-statistics")
    before = numbers.inner_text()
    held: list[Any] = []
    page.route(
        "**/ask",
        lambda route: (
            held.append(route)
            if route.request.post_data_json["kind"] == "tensor"
            else route.continue_()
        ),
    )
    with page.expect_response(lambda answer: answer.request.post_data_json["kind"] == "statistics"):
        press(page, "]")
    asking(page, 1)
    press(page, "c")
    frames(page)
    assert numbers.inner_text() == before
    expect(page.locator(".tvmdbg-tensor-facts strong")).to_have_text("#2 vector")
    page.unroute("**/ask")
    wait_entry(page, "2:0")
    assert numbers.inner_text() != before


def refusal(question: str) -> bytes:
    head = json.dumps({"id": question, "error": "the file changed while reading"}).encode()
    return len(head).to_bytes(4, "little") + head


def test_newest_index_wins_while_answers_are_slow(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[1, 0])
    press(page, "ArrowDown")
    expect(page.locator(MIRROR)).to_contain_text("at [0, 0, 0, 0] value")
    rest(page)
    asked = heard(page, "tensor")
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/ask", hold)
    slider = page.get_by_label("Index along axis 1", exact=True)
    slider.evaluate(
        "async slider => { for (const value of [1, 2, 3, 2, 1, 2, 3]) {"
        " slider.value = value; slider.dispatchEvent(new Event('input'));"
        " await new Promise(done => setTimeout(done)); } }"
    )
    asking(page, 2)
    for route in held:
        route.continue_()
    page.unroute("**/ask")
    expect(page.locator(MIRROR)).to_contain_text(
        f"at [0, 3, 0, 0] value {shown(arrays['mixed'][0, 3, 0, 0])}"
    )
    assert [each["index"][1] for each in asked] == [1, 2, 3]


def test_overflow_recorded_by_tvm_is_shown(
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
    rest(page)
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


def test_omitted_lanes_are_reported(page: Page, recorded: Callable[[str], str]) -> None:
    show(page, recorded("edge_cases/v0.19/vec4"), entry=[1, 0])
    expect(page.locator(".tvmdbg-tensor-notes")).to_contain_text("stores 32 of 128 bytes")
    press(page, "ArrowRight", "End")
    expect_readout(page, "[7] = ")


def test_other_outputs_of_a_node_are_named(page: Page, recorded: Callable[[str], str]) -> None:
    show(page, recorded("edge_cases/v0.19/split_multi"), entry=[1, 5])
    expect(page.locator(EMPTY)).to_contain_text("other outputs of this node: #1, #1:1, #1:2")
    press(page, "[")
    wait_entry(page, "1:2")


def viewport(page: Page) -> dict[str, Any]:
    return inspect(page)["viewport"]


def settled(page: Page) -> dict[str, Any]:
    """What is in sight once the tiles for it have come."""
    page.wait_for_function(
        f"""() => {{
            const detail = {{}};
            document.querySelector("{ROOT}").dispatchEvent(
                new CustomEvent("tvmdbg:inspect", {{ detail }}));
            const {{ tile, rowStep, colStep }} = detail.viewport;
            return tile && tile.exact && tile.rowStep <= rowStep && tile.colStep <= colStep;
        }}"""
    )
    frames(page)
    return viewport(page)


def heard(page: Page, kind: str) -> list[dict[str, Any]]:
    """The questions of one kind that go out from now on."""
    asked: list[dict[str, Any]] = []

    def hear(request: Any) -> None:
        question = request.post_data_json if request.url.endswith("/ask") else None
        if isinstance(question, dict) and question.get("kind") == kind:  # it hears later tests, too
            asked.append(question)

    page.on("request", hear)
    return asked


def on_stage(page: Page, across: float, down: float) -> tuple[float, float]:
    """A place of the plot by shares of it, in CSS pixels of the page."""
    box = box_of(page.locator(STAGE))
    plot = inspect(page)["plot"]
    return (
        box["x"] + plot["x"] + across * plot["width"],
        box["y"] + plot["y"] + down * plot["height"],
    )


def test_wheel_zooms_at_the_pointer(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[0, 0])
    press(page, "Escape")
    x, y = on_stage(page, 0.2, 0.3)
    page.mouse.move(x, y)
    before, _ = place_read(page)
    page.keyboard.down("Control")
    for _ in range(14):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    found = settled(page)
    assert (found["rowStep"], found["colStep"]) == (1, 1)
    assert found["across"] > 4
    page.mouse.move(x + 1, y)
    (row, col), text = place_read(page)
    assert abs(row - before[0]) <= 12
    assert abs(col - before[1]) <= 200, "what stands beside a picture is filled first"
    assert np.float32(number(text)) == arrays["wave"][row, col]
    expect(page.locator(".tvmdbg-tensor-overview")).to_be_visible()
    region = json.dumps(found["region"])
    page.wait_for_function(
        f"String(window.tvmdbg.models.tensor0.get('region')) === `${{{region}}}`"
    )
    page.get_by_role("button", name="fit the whole heatmap").press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    expect(page.locator(".tvmdbg-tensor-overview")).to_be_hidden()
    assert viewport(page)["region"] is None
    page.wait_for_function("window.tvmdbg.models.tensor0.get('region') === null")


def test_parts_are_requested_on_a_grid_and_cached(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0])
    rest(page)
    asked = heard(page, "tensor")
    press(page, "+")
    rest(page)
    press(page, "+")
    rest(page)
    first = settled(page)
    assert len(asked) <= 2
    part = asked[-1]["part"]
    assert [part[0] % first["rowStep"], part[1] % first["colStep"]] == [0, 0]
    assert first["tile"]["row"] == part[0]
    assert first["tile"]["rowStep"] == first["rowStep"]
    count = len(asked)
    press(page, "-", "-", "+", "+")
    rest(page)
    assert len(asked) == count, "what was answered is kept"
    region = viewport(page)["region"]
    press(page, "Control+ArrowRight", "Control+ArrowDown")
    moved = settled(page)["region"]
    assert moved[0] > region[0]
    assert moved[1] > region[1]
    press(page, "0")
    assert viewport(page)["region"] is None
    press(page, "+")
    page.get_by_role("button", name="zoom out").click()
    assert viewport(page)["region"] is None


def test_shift_drag_pans_and_double_click_zooms(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0])
    x, y = on_stage(page, 0.5, 0.5)
    page.mouse.dblclick(x, y)
    page.mouse.dblclick(x, y)
    before = settled(page)
    page.mouse.move(x, y)
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(x - 30, y - 20, steps=3)
    page.mouse.move(x - 60, y - 40, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    after = settled(page)
    assert after["col"] - before["col"] == pytest.approx(60 / before["across"], abs=2)
    assert after["row"] - before["row"] == pytest.approx(40 / before["down"], abs=2)
    row, col, rows, cols = after["region"]
    overview = page.locator(".tvmdbg-tensor-overview")
    expect(overview).to_have_attribute(
        "aria-label",
        f"Visible: rows {row} to {row + rows - 1} of 1200,"
        f" columns {col} to {col + cols - 1} of 2000",
    )
    box = box_of(overview)
    page.mouse.click(box["x"] + 2, box["y"] + 2)
    assert settled(page)["region"][:2] == [0, 0]
    page.keyboard.down("Shift")
    page.mouse.dblclick(x, y)
    page.mouse.dblclick(x, y)
    page.keyboard.up("Shift")
    expect(overview).to_be_hidden()


def test_initial_region_is_shown_and_crosshair_stays_visible(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0], region=[580, 980, 40, 40])
    row, col, rows, cols = settled(page)["region"]
    assert row <= 580
    assert col <= 980
    assert row + rows >= 620
    assert col + cols >= 1020
    press(page, "i")
    expect(page.locator(MIRROR)).to_contain_text("at [600, 1001] value NaN")
    press(page, "End")
    right = settled(page)["region"]
    assert right[1] + right[3] == 2000
    page.evaluate("window.tvmdbg.models.tensor0.set('region', null)")
    expect(page.locator(".tvmdbg-tensor-overview")).to_be_hidden()
    assert viewport(page)["region"] is None


def test_regions_are_clipped_to_the_plane_as_in_figures(page: Page, made: str) -> None:
    show(page, made, entry=[0, 0])
    settled(page)
    models = "window.tvmdbg.models.tensor0"
    for given, kept in (
        ("[5000, 5000, 10, 10]", "1199,1999,1,1"),
        ("[1190, 10, 40, 40]", "1190,10,10,40"),
        ("[0, 0, 5000, 5000]", "null"),
    ):
        page.evaluate(f"{models}.set('region', {given})")
        page.wait_for_function(f"String({models}.get('region')) === '{kept}'")


def test_regions_fit_the_plane_that_is_asked_with_them(page: Page, made: str) -> None:
    unfolded = {"entry": [10, 0], "data_layout": "NCHW8c", "axes": [1, 2]}
    show(page, made, **unfolded, region=[9, 1, 4, 3])
    row, _, rows, _ = settled(page)["region"]
    assert (row <= 9, row + rows >= 13) == (True, True)
    models = "window.tvmdbg.models.tensor0"
    page.evaluate(f"{models}.set('entry', [0, 0]); {models}.set('region', [1190, 10, 40, 40])")
    page.wait_for_function(f"String({models}.get('region')) === '1190,10,10,40'")
    assert settled(page)["region"][0] <= 1190


@pytest.fixture
def large(tmp_path: Path, bundles: Path) -> Iterator[str]:
    """Address of a run that nobody has looked at, whose second tensor is sampled first."""
    values = np.random.default_rng(9).integers(0, 256, size=(3000, 3000), dtype=np.uint8)
    with serve(run_of(tmp_path, {"small": values[:4, :4], "large": values})) as address:
        yield address


def test_sample_is_shown_first_and_scan_can_be_stopped(page: Page, large: str) -> None:
    show(page, large, entry=[0, 0])
    held: list[Any] = []

    def hold(route: Any) -> None:
        message = route.request.post_data_json
        if message["kind"] == "tensor" and message["exact"]:
            held.append(route)
        else:
            route.continue_()

    page.route("**/ask", hold)
    page.evaluate("window.tvmdbg.models.tensor0.set('entry', [1, 0])")
    wait_entry(page, "1:0")
    line = page.locator(".tvmdbg-tensor-trust-line")
    expect(line.locator(".tvmdbg-tensor-sampled")).to_be_visible()
    expect(line).to_contain_text("sampled values")
    assert viewport(page)["exact"] is False
    line.get_by_role("button", name="Stop scanning").click()
    expect(line.locator("progress")).to_be_hidden()
    for route in held:
        route.continue_()
    rest(page)
    page.unroute("**/ask")
    assert viewport(page)["exact"] is False
    press(page, "k")
    expect(line).to_contain_text("all values")
    expect(line.locator(".tvmdbg-tensor-sampled")).to_be_hidden()
    assert settled(page)["exact"] is True


def pixels(page: Page) -> dict[str, int]:
    """How often each opaque color occurs in the picture."""
    return page.locator(f"{STAGE} canvas").first.evaluate(
        """canvas => {
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const seen = {};
            for (let i = 0; i < data.length; i += 4) {
                const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
                if (data[i + 3] === 255) seen[key] = (seen[key] ?? 0) + 1;
            }
            return seen;
        }"""
    )


def test_color_changes_send_no_request(page: Page, made: str, arrays: dict[str, Any]) -> None:
    show(page, made, entry=[0, 0])
    rest(page)
    asked = [heard(page, kind) for kind in ("tensor", "statistics", "percentiles", "values")]
    legend = page.locator(".tvmdbg-tensor-legend")
    page.get_by_label("Color range (r)").select_option("robust")
    expect(legend).to_contain_text("below")
    page.get_by_label("Color range (r)").select_option("typed")
    page.get_by_label("Color range from", exact=True).fill("-0.25")
    page.get_by_label("Color range to", exact=True).fill("0.5")
    page.keyboard.press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    finite = arrays["wave"][np.isfinite(arrays["wave"])]
    counts = {"below": (finite < -0.25).sum(), "above": (finite > 0.5).sum()}
    for side, count in counts.items():
        text = legend.get_by_text(side).inner_text()
        bounds = [int(each.replace(",", "")) for each in text.split("(")[1][:-1].split(" to ")]
        assert bounds[0] <= count <= bounds[-1]
    frames(page)
    colors = pixels(page)
    assert colors["95,102,112"] > 100, "below the range"
    assert colors["180,185,194"] > 100, "above the range"
    page.get_by_label("Color scale").select_option("log")
    expect(legend).to_contain_text("logarithmic")
    page.get_by_label("Downsample cells of several values by").select_option("extreme")
    press(page, "e")
    expect(page.get_by_label("Downsample cells of several values by")).to_have_value("mean")
    page.wait_for_function("window.tvmdbg.models.tensor0.get('color_scale') === 'log'")
    assert state(page, "tensor0", "color_range") == [-0.25, 0.5]
    assert asked == [[], [], [], []]
    page.evaluate("window.tvmdbg.models.tensor0.set('color_range', 'plane')")
    expect(page.get_by_label("Color range (r)")).to_have_value("plane")


def test_downsampling_modes_give_different_pictures(page: Page, made: str) -> None:
    """A spike in a cell of many values shows as the largest, not in the mean."""
    show(page, made, entry=[8, 0])
    rest(page)
    seen = set()
    for cells in ("mean", "least", "largest", "extreme"):
        page.get_by_label("Downsample cells of several values by").select_option(cells)
        frames(page)
        seen.add(json.dumps(pixels(page), sort_keys=True))
    assert len(seen) == 4


def test_log_scale_falls_back_to_symlog(page: Page, made: str) -> None:
    show(page, made, entry=[3, 0], color_scale="log")
    expect(page.locator(".tvmdbg-tensor-legend")).to_contain_text("symlog instead of log")


def test_custom_layout_keeps_crosshair_at_its_value(
    page: Page, made: str, arrays: dict[str, Any]
) -> None:
    show(page, made, entry=[10, 0], axes=[2, 3], index=[0, 1, 0, 0, 3])
    stored = arrays["packed"]
    value = stored[0, 1, 1, 1, 3]
    press(page, "ArrowDown", "ArrowDown", "ArrowRight")
    expect_readout(page, f"[0, 1, 1, 1, 3] = {number_text(value)}")
    page.get_by_label("Layout (a)").select_option("custom")
    field = page.get_by_label("Layout, such as NCHW8c")
    expect(field).to_be_focused()
    field.fill("NCHW4c")
    expect(
        page.get_by_role("alert").filter(has_text="4c of NCHW4c is axis 4, which has 8")
    ).to_be_visible()
    page.evaluate("window.tvmdbg.models.tensor0.set('color_scale', 'symlog')")
    page.wait_for_function(
        "document.querySelector('[aria-label^=\"Color scale\"]').value === 'symlog'"
    )
    expect(field).to_be_focused()
    field.fill("NCHW8c")
    field.press("Enter")
    expect(page.locator(ROOT)).to_be_focused()
    expect_readout(page, f"[0, 11, 1, 1] = {number_text(value)}")
    expect(page.get_by_label("Axis for rows")).to_contain_text("H (6)")
    expect(page.get_by_label("Index along C (number)")).to_have_value("11")
    expect(page.locator(".tvmdbg-tensor-trust-line")).to_contain_text("layout NCHW8c (custom)")
    page.get_by_label("Sizes without padding").fill("C=12")
    page.get_by_label("Sizes without padding").press("Enter")
    expect(page.get_by_label("Index along C (number)").locator("..")).to_contain_text("of 12")
    page.wait_for_function("window.tvmdbg.models.tensor0.get('data_layout') === 'NCHW8c'")
    page.get_by_label("Layout (a)").select_option("")
    expect_readout(page, f"[0, 1, 1, 1, 3] = {number_text(value)}")
    expect(page.locator(".tvmdbg-tensor-trust-line")).not_to_contain_text("NCHW8c")


def test_a_stated_layout_is_unfolded_and_its_source_named(
    page: Page, recorded: Callable[[str], str]
) -> None:
    show(page, recorded("resnet20_cifar_nchw8c"), entry=[4, 0])
    expect(page.locator(".tvmdbg-tensor-trust-line")).to_contain_text(
        "layout NCHW8c from out_layout of node 4"
    )
    expect(page.get_by_label("Index along C", exact=True)).to_have_attribute("max", "15")
    assert settled(page)["tile"]["planeCols"] == 32
    press(page, "ArrowRight", "a")
    expect(page.get_by_label("Index along axis 4", exact=True)).to_be_visible()
    press(page, "a")
    expect(page.get_by_label("Index along C", exact=True)).to_be_visible()
    rest(page)
    page.evaluate("window.tvmdbg.models.tensor0.set('data_layout', '')")
    expect(page.get_by_label("Index along axis 4", exact=True)).to_be_visible()


def test_channels_request_only_the_visible_range(page: Page, made: str) -> None:
    asked: list[dict[str, Any]] = heard(page, "channels")
    show(page, made, entry=[11, 0], show="channels")
    grid = until(page, "detail.channels.marks.every((mark) => mark.known)")["channels"]
    assert len(asked) == 1
    assert asked[0]["first"] == 0
    assert asked[0]["count"] < 300
    assert [mark["index"] for mark in grid["marks"]] == list(range(asked[0]["count"]))
    signs = {mark["index"]: mark["signs"] for mark in grid["marks"] if mark["signs"]}
    assert signs == {3: ["dead"], 6: ["NaN"]}
    expect(page.locator(".tvmdbg-tensor-channels")).to_contain_text("1 dead")
    press(page, "End")
    expect(page.locator(MIRROR)).to_contain_text("axis 0 299")
    page.wait_for_function(
        f"""() => {{
            const detail = {{}};
            document.querySelector("{ROOT}").dispatchEvent(
                new CustomEvent("tvmdbg:inspect", {{ detail }}));
            const last = detail.channels.marks.at(-1);
            return last.index === 299 && last.known;
        }}"""
    )
    assert sum(each["count"] for each in asked) < 300
    press(page, "Enter")
    expect(page.get_by_label("Index along axis 0 (number)")).to_have_value("299")
    page.wait_for_function("window.tvmdbg.models.tensor0.get('show') === 'heatmap'")
    press(page, "2", "Home", "ArrowRight", "ArrowRight")
    shown = until(page, "detail.channels.marks.some((mark) => mark.index === 6)")
    mark = next(each for each in shown["channels"]["marks"] if each["index"] == 6)
    page.locator(".tvmdbg-channels-scroll").click(
        position={"x": mark["x"] + 6, "y": mark["y"] + mark["height"] - 6}
    )
    expect(page.get_by_label("Index along axis 0 (number)")).to_have_value("6")
    expect(page.locator(STAGE)).to_be_visible()
    press(page, ",")
    expect(page.get_by_label("Index along axis 0 (number)")).to_have_value("5")
    press(page, "2", "ArrowRight")
    expect(page.locator(MIRROR)).to_contain_text("axis 0 6")


def test_health_strip_links_to_first_inf_and_nan(
    page: Page, recorded: Callable[[str], str]
) -> None:
    show(page, recorded("resnet20_cifar_fp16_overflow"), entry=[2, 0])
    page.get_by_role("button", name="go to the first tensor with Inf").click()
    wait_entry(page, "38:0")
    page.get_by_role("button", name="go to the first tensor with NaN").click()
    page.wait_for_function(f"document.querySelector('{ROOT}').dataset.entry !== '38:0'")
    expect(page.locator(".tvmdbg-tensor-health")).to_contain_text("NaN")
