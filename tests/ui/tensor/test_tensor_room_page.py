"""The tensor inspector where room is short: what a person looks for first is in sight, whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.host import serve, visit
from tests.ui.pointer import sides
from tests.ui.tensors import inspect, run_of
from tests.ui.waits import rest

ROOT = ".tvmdbg-tensor"
OVERFLOW = "tvm/resnet20_cifar_fp16_overflow"
#: What answers the first questions: is it sound, where, of which values, how far to be believed.
FIRST = ("name", "health", "statistics", "stage", "readout")
ARRAYS = {
    "long_" * 40: np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "tiny": np.array(-7.5e-12),
    "many": np.linspace(-1, 1, 2 * 3 * 2 * 3 * 4 * 2 * 5 * 6).reshape(2, 3, 2, 3, 4, 2, 5, 6),
    "none": np.full((3, 4), np.nan, np.float32),
    "wide": np.random.default_rng(5).normal(size=(120, 160)).astype(np.float32),
    "flags": np.arange(12).reshape(3, 4) % 3 == 0,
}


@pytest.fixture(scope="module")
def overflow(corpus: Path, bundles: Path) -> Iterator[str]:
    with serve(tvmdbg.open(corpus / OVERFLOW)) as address:
        yield address


@pytest.fixture(scope="module")
def made(bundles: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(run_of(tmp_path_factory.mktemp("room"), ARRAYS)) as address:
        yield address


#: View, its width and height, and the least size of its picture, CSS px.
ROOMS = [
    ("tensor", (848, 580), (300, 300)),
    ("debugger", (848, 580), (160, 130)),
    ("tensor", (1500, 900), (450, 450)),
    ("debugger", (1500, 900), (250, 250)),
]


def opened(page: Page, address: str, view: str, size: tuple[int, int], theme: str = "light") -> Any:
    """Open a view that shows node 38; gives the inspector."""
    width, height = size
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    query = f"views={view}&width={width}&theme={theme}&session.entry=[38,0]&{view}.height={height}"
    visit(page, f"{address}?{query}")
    root = page.locator(ROOT)
    expect(root).to_have_attribute("data-entry", "38:0")
    expect(root.locator(".tvmdbg-tensor-health")).to_contain_text("59 +Inf")
    rest(page)
    return root


@pytest.mark.parametrize(("view", "size", "least"), ROOMS)
def test_picture_and_first_numbers_are_seen_without_a_scroll(
    page: Page, overflow: str, view: str, size: tuple[int, int], least: tuple[int, int]
) -> None:
    root = opened(page, overflow, view, size)
    left, top, right, bottom = sides(root)
    assert (right - left, bottom - top) <= size
    for name in FIRST:
        x, y, to_x, to_y = sides(root.locator(f".tvmdbg-tensor-{name}").first)
        assert left <= x < to_x <= right, name
        assert top <= y < to_y <= bottom, name
    plot = inspect(page)["plot"]
    assert plot["width"] >= least[0]
    assert plot["height"] >= least[1]
    bar = root.locator(".tvmdbg-tensor-bar")
    before = sides(bar)
    root.evaluate("root => root.querySelectorAll('*').forEach((each) => each.scrollTo(0, 9999))")
    assert sides(bar) == before


@pytest.mark.parametrize(("view", "size", "least"), ROOMS)
def test_every_control_is_whole_in_the_view_or_its_popover(
    page: Page, overflow: str, view: str, size: tuple[int, int], least: tuple[int, int]
) -> None:
    del least
    root = opened(page, overflow, view, size)
    button = root.get_by_role("button", name="View, axes, layout and colors")
    small = view == "debugger" or size[0] < 900
    expect(button).to_be_visible(visible=small)
    controls = root.get_by_role("group", name="Controls")
    expect(controls).to_be_visible(visible=not small)
    if small:
        button.click()
    for label in ("Axis for rows", "Index along C (number)", "Layout (a)", "Color range (r)"):
        x, y, to_x, to_y = sides(controls.get_by_label(label, exact=True))
        assert 0 <= x < to_x <= size[0] + 16, label
        assert 0 <= y < to_y <= size[1] + 16, label
    assert controls.evaluate("each => each.scrollHeight - each.clientHeight") <= 0
    controls.get_by_role("button", name="line plot").click()
    expect(root.locator(".tvmdbg-tensor-along")).to_be_visible()
    if small:
        expect(controls).to_be_visible()
        page.keyboard.press("Escape")
        expect(controls).to_be_hidden()
        expect(root).to_be_focused()


def test_title_keeps_its_id_and_is_cut_in_the_middle(page: Page, overflow: str) -> None:
    root = opened(page, overflow, "debugger", (848, 580))
    name = root.locator(".tvmdbg-tensor-facts > .tvmdbg-tensor-name")
    expect(name).to_have_text("#38 conv2d + … + relu")
    expect(name).to_have_attribute("title", "#38 conv2d + add + add + relu")
    assert name.evaluate("each => each.scrollWidth <= each.clientWidth")
    field = root.get_by_role("combobox", name="Tensor: type")
    assert field.input_value().startswith("#38 conv2d")
    assert field.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.parametrize("part", ["stage", "right"])
def test_wheel_over_a_small_pane_scrolls_the_page(page: Page, overflow: str, part: str) -> None:
    root = opened(page, overflow, "debugger", (848, 580))
    page.evaluate("document.body.style.height = '4000px'")
    root.locator(f".tvmdbg-tensor-{part}").hover()
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 50")


def test_wheel_goes_on_at_the_end_of_an_axis(page: Page, overflow: str) -> None:
    root = opened(page, overflow, "tensor", (848, 580))
    page.evaluate("document.body.style.height = '4000px'")
    page.evaluate("window.tvmdbg.models.tensor0.set('index', [0, 31, 0, 0])")
    rest(page)
    root.focus()
    root.locator(".tvmdbg-tensor-stage").hover()
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 50")
    page.mouse.wheel(0, -100)
    page.wait_for_function("window.tvmdbg.models.tensor0.get('index')[1] === 30")


def test_values_begin_where_the_picture_is_zoomed_to(page: Page, made: str) -> None:
    page.set_viewport_size({"width": 864, "height": 600})
    query = f"tensor.entry=[{list(ARRAYS).index('wide')},0]&tensor.region=[40,60,12,12]"
    visit(page, f"{made}?views=tensor&width=848&tensor.height=580&{query}")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    rest(page)
    region = page.evaluate("window.tvmdbg.models.tensor0.get('region')")
    page.locator(ROOT).focus()
    page.keyboard.press("v")
    cells = page.locator(".tvmdbg-values-grid > [role=gridcell]")
    expect(cells.first).not_to_have_text("…")
    rest(page)
    first = cells.first
    expect(first).to_have_attribute("data-row", str(region[0]))
    expect(first).to_have_attribute("data-col", str(region[1]))
    shown = int(cells.last.get_attribute("data-col") or 0) - region[1] + 1
    assert shown >= 3
    box, grid = sides(page.locator(".tvmdbg-values")), sides(page.locator(".tvmdbg-values-grid"))
    width = sides(first)[2] - sides(first)[0]
    assert box[2] - grid[2] < width + 20  # no further column has room
    expect(page.locator(".tvmdbg-tensor-stage")).to_be_in_viewport(ratio=1)


SEEN = """root => [...root.querySelectorAll(":not(.tvmdbg-mirror)")].filter((each) =>
    each.checkVisibility() && !each.closest(".tvmdbg-mirror, .tvmdbg-tensor-readout-more")
    && [...each.childNodes].some((child) => child.nodeType === 3 && child.data.includes("7.5e")))
    .length"""


@pytest.mark.parametrize("size", [(848, 580), (420, 240), (1500, 900)])
def test_a_scalar_is_shown_once_as_the_picture(
    page: Page, made: str, size: tuple[int, int]
) -> None:
    width, height = size
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    query = f"tensor.entry=[{list(ARRAYS).index('tiny')},0]&tensor.height={height}"
    visit(page, f"{made}?views=tensor&width={width}&{query}")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    page.wait_for_function(
        f"""() => {{
            const detail = {{}};
            document.querySelector("{ROOT}").dispatchEvent(
                new CustomEvent("tvmdbg:inspect", {{ detail }}));
            return detail.labels.length > 0;
        }}"""
    )
    rest(page)
    (label,) = inspect(page)["labels"]
    assert label["text"] == "−7.5e−12"
    assert label["height"] >= 24
    assert page.locator(ROOT).evaluate(SEEN) == 0


RING = """async (bytes) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(bytes)]));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(image, 0, 0);
    const at = (x, y) => context.getImageData(x, y, 1, 1).data.slice(0, 3).join();
    const sides = [];
    for (let y = 8; y < height - 8; y++) sides.push(at(1, y), at(width - 2, y));
    for (let x = 8; x < width - 8; x++) sides.push(at(x, 1), at(x, height - 2));
    return [...new Set(sides)];
}"""


@pytest.mark.parametrize("size", [(848, 580), (420, 240), (1500, 900)])
def test_focus_ring_is_whole(page: Page, overflow: str, size: tuple[int, int]) -> None:
    root = opened(page, overflow, "tensor", size)
    page.keyboard.press("Shift+Tab")
    root.focus()
    rest(page)
    assert len(page.evaluate(RING, list(root.screenshot()))) == 1


@pytest.mark.parametrize("name", list(ARRAYS))
@pytest.mark.parametrize("width", mostly_slow([400, 480, 725], 400))
def test_content_does_not_overflow_narrow_view(
    page: Page, made: str, name: str, width: int
) -> None:
    page.set_viewport_size({"width": width + 16, "height": 1000})
    entry = list(ARRAYS).index(name)
    visit(page, f"{made}?views=tensor&width={width}&tensor.entry=[{entry},0]")
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    rest(page)
    beyond = page.locator(ROOT).evaluate(
        """root => {
            const edge = root.getBoundingClientRect().right;
            const within = ".tvmdbg-mirror, .tvmdbg-values, .tvmdbg-tensor-name";
            return [...root.querySelectorAll("*")].filter((each) =>
                each.checkVisibility() && !each.closest(within) &&
                each.getBoundingClientRect().right > edge + 0.5).map((each) => each.outerHTML);
        }"""
    )
    assert beyond == []


@pytest.mark.parametrize("look", ["hex", "bits"])
def test_non_finite_values_are_marked_in_table_of_bits(
    page: Page, overflow: str, look: str
) -> None:
    visit(page, f'{overflow}?views=tensor&tensor.entry=[38,0]&tensor.value_format="{look}"')
    expect(page.locator(ROOT)).to_have_attribute("data-ready", "true")
    page.locator(ROOT).focus()
    for key in ("v", "i"):
        page.keyboard.press(key)
    chosen = page.locator(".tvmdbg-values-grid > [aria-selected=true]")
    expect(chosen).to_have_class("tvmdbg-values-special")
    page.keyboard.press("ArrowLeft")
    expect(chosen).to_have_attribute("data-col", "13")
    expect(chosen).not_to_have_class("tvmdbg-values-special")
    said = page.locator(f"{ROOT} .tvmdbg-mirror").filter(has_text="[0, 0, 1, 13]")
    expect(said).to_contain_text("bits 0x")
    expect(said).not_to_contain_text("stored at")
