"""The tensor inspector where room is short: what a person looks for first is in sight, whole."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import looks
from tests.ui.host import serve, visit
from tests.ui.pointer import sides
from tests.ui.tensors import run_of
from tests.ui.waits import rest

ROOT = ".tvmdbg-tensor"
OVERFLOW = "tvm/resnet20_cifar_fp16_overflow"
#: What answers the first questions: is it sound, where, of which values, how far to be believed.
FIRST = ("health", "statistics", "view-bar", "choices", "stage", "histogram", "trusted")
ARRAYS = {
    "long_" * 40: np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "tiny": np.array(-7.5e-12),
    "many": np.linspace(-1, 1, 2 * 3 * 2 * 3 * 4 * 2 * 5 * 6).reshape(2, 3, 2, 3, 4, 2, 5, 6),
    "none": np.full((3, 4), np.nan, np.float32),
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


EDGES = """all => all.map((each) => {
  const { top, bottom } = each.getBoundingClientRect();
  return [top, bottom];
})"""


@pytest.mark.parametrize(("width", "theme"), looks((900, 1200)))
def test_debugger_panel_shows_most_important_parts(
    page: Page, overflow: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width + 16, "height": 960})
    visit(page, f"{overflow}?views=debugger&width={width}&theme={theme}&session.entry=[38,0]")
    panel = page.locator("[data-view=tensor]")
    expect(panel.locator(".tvmdbg-tensor-health")).to_contain_text("59 +Inf")
    expect(page.locator(".tvmdbg-findings")).to_contain_text("74 tensors scanned")
    rest(page)
    left, top, right, bottom = sides(panel)
    for name in FIRST:
        part = panel.locator(f".tvmdbg-tensor-{name}")
        x, y, to_x, to_y = sides(part)
        assert left <= x < to_x <= right, name
        assert top <= y < to_y <= bottom, name
    stage = sides(panel.locator(".tvmdbg-tensor-stage"))
    assert stage[2] - stage[0] > 150
    assert stage[3] - stage[1] > 150
    health = panel.locator(".tvmdbg-tensor-health > :visible")
    low = sides(panel.locator(".tvmdbg-tensor-health"))[3]
    for y, to_y in health.evaluate_all(EDGES):
        assert to_y <= low or y >= low  # whole, or not there
    strip = panel.locator(".tvmdbg-health > button:visible").evaluate_all(EDGES)
    assert len({y for y, _ in strip}) == 1
    panel.get_by_role("button", name="Show or hide more numbers (q)").click()
    expect(panel.locator(".tvmdbg-tensor-health")).to_contain_text("0 NaN")
    nan = panel.locator(".tvmdbg-tensor-health > span", has_text="0 NaN")
    assert sides(nan)[3] <= sides(panel.locator(".tvmdbg-tensor-health"))[3]


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
