"""A linked plot in a page: selection both ways, by pointer and by keys; figures offline."""

import io
from collections.abc import Callable, Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from bokeh.embed import file_html
from bokeh.resources import INLINE
from PIL import Image
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag
from tvmdbg_widgets import plots
from tvmdbg_widgets.run import DebugRun

ROWS = 27
CONVOLUTION = (0x2F, 0x6D, 0xB5)


@pytest.fixture(scope="module")
def times_address(run: DebugRun) -> Iterator[str]:
    with serve(run, plot=plots.link(plots.times(run), run)) as found:
        yield found


def columns(figure: Any) -> dict[str, list[Any]]:
    return dict(figure.renderers[0].data_source.data)


class Plot:
    """One linked plot on a page, driven as a user does."""

    def __init__(self, page: Page, address: str, query: str = "", library: str = "one") -> None:
        self.page = page
        visit(page, f'{address}?views=plot&plot._library="{library}"{query}')
        self.root = page.locator(".tvmdbg-plot")
        expect(self.root).to_have_attribute("data-ready", "true")
        self.frame = self.root.locator(".bk-CartesianFrame").first
        expect(self.frame).to_be_visible()
        self.said = self.root.locator('[role="status"]')

    def session(self, name: str) -> Any:
        return self.page.evaluate(f"() => tvmdbg.models.session.get('{name}')")

    def select(self, *nodes: int) -> None:
        self.page.evaluate("(ids) => tvmdbg.models.session.set('selected', ids)", list(nodes))

    def expect_selected(self, *nodes: int) -> None:
        script = "(ids) => JSON.stringify(tvmdbg.models.session.get('selected')) === ids"
        self.page.wait_for_function(script, arg=str(list(nodes)).replace(" ", ""))

    def row(self, at: int) -> tuple[float, float]:
        """A point in the bar of a row, in the page."""
        box = box_of(self.frame)
        return box["x"] + 40, box["y"] + (at + 0.5) * box["height"] / ROWS

    def color_at_edge(self) -> tuple[int, int, int]:
        """The color of the margin at the left."""
        box = box_of(self.root)
        return self._pixel(box["x"] + 3, box["y"] + 40)

    def expect_edge(self, color: tuple[int, int, int]) -> None:
        """Until the margin has a color."""
        for _ in range(100):
            if _near(found := self.color_at_edge(), color):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(found)

    def color(self, at: int) -> tuple[int, int, int]:
        return self._pixel(*self.row(at))

    def _pixel(self, x: float, y: float) -> tuple[int, int, int]:
        png = self.page.screenshot(clip={"x": x, "y": y - 3, "width": 1, "height": 1})
        with Image.open(io.BytesIO(png)) as image:
            found = image.convert("RGB").getpixel((0, 0))
        assert isinstance(found, tuple)
        return found[:3]

    def expect_lit(self, *rows: int, of: int = 10) -> None:
        """Until just these of the first rows have their full color."""
        self.page.mouse.move(0, 0)  # a tooltip would lie above them
        for _ in range(100):
            lit = [at for at in range(of) if _near(self.color(at), CONVOLUTION)]
            if lit == list(rows):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(lit)


def _near(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < 12


def test_selecting_bars_selects_nodes(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address)
    page.mouse.click(*plot.row(2))
    plot.expect_selected(slowest[2])
    assert plot.session("source") == "plot"
    assert plot.session("entry") == [slowest[2], 0]
    plot.expect_lit(2)
    page.keyboard.down("Shift")
    page.mouse.click(*plot.row(4))
    page.keyboard.up("Shift")
    plot.expect_selected(slowest[2], slowest[4])
    plot.expect_lit(2, 4)
    page.keyboard.press("Escape")
    plot.expect_selected()


def test_selected_nodes_highlight_their_bars(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address)
    plot.expect_lit(*range(10))
    plot.select(slowest[1], slowest[6])
    plot.expect_lit(1, 6)
    told = columns(plots.times(run))
    texts = zip(
        told["operator"], told["time_text"], told["share_text"], told["spread_text"], strict=True
    )
    said = [f"{name}: {', '.join(each)}" for name, *each in texts]
    expect(plot.said).to_have_text(f"{said[1]}; {said[6]}")
    plot.select(0)  # the input, which has no bar
    plot.expect_lit(*range(10))
    assert plot.session("selected") == [0]
    plot.select()
    expect(plot.said).to_have_text("")


def test_plot_opens_on_the_selected_node(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address, f"&session.selected=[{slowest[3]}]")
    plot.expect_lit(3)


def test_plot_has_the_colors_of_the_page(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address)
    assert _near(plot.color_at_edge(), (0xFF, 0xFF, 0xFF))
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    plot.expect_edge((0x16, 0x19, 0x1D))
    expect(plot.root.locator(".bk-Figure")).to_have_count(1)
    expect(plot.frame).to_be_visible()
    page.mouse.click(*plot.row(2))
    plot.expect_selected(slowest[2])
    plot.root.focus()
    page.keyboard.press("ArrowDown")
    plot.expect_selected(slowest[3])
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    plot.expect_edge((0xFF, 0xFF, 0xFF))
    assert plot.session("selected") == [slowest[3]]
    expect(plot.root.locator(".bk-Figure")).to_have_count(1)
    plot.expect_lit(3)


def test_zoom_outlasts_a_change_of_theme(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address)
    (x, third), (_, fourth) = plot.row(2), plot.row(3)
    drag(page, (x, fourth), (x, third))
    page.mouse.click(x, third)
    plot.expect_selected(slowest[3])
    page.keyboard.press("Escape")
    plot.expect_selected()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    plot.expect_edge((0x16, 0x19, 0x1D))
    expect(plot.root.locator(".bk-Figure")).to_have_count(1)
    page.mouse.click(x, third)
    plot.expect_selected(slowest[3])


def test_keys_select_nodes(page: Page, run: DebugRun, times_address: str) -> None:
    slowest = [row.node for row in run.top(ROWS)]
    plot = Plot(page, times_address)
    plot.root.focus()
    page.keyboard.press("ArrowDown")
    plot.expect_selected(slowest[0])
    page.keyboard.press("ArrowDown")
    plot.expect_selected(slowest[1])
    page.keyboard.press("End")
    plot.expect_selected(slowest[-1])
    page.keyboard.press("ArrowUp")
    plot.expect_selected(slowest[-2])
    page.keyboard.press("Escape")
    plot.expect_selected()
    page.keyboard.press("?")
    expect(plot.root.locator(".tvmdbg-help")).to_contain_text("select the next")


def test_dots_of_one_node_are_highlighted_together(page: Page, run: DebugRun) -> None:
    figure = plots.repeats(run)
    with serve(run, plot=plots.link(figure, run)) as address:
        plot = Plot(page, address, library="two")
        plot.select(12)
        expect(plot.said).to_contain_text("#12 conv2d + add + relu")
        assert len((plot.said.text_content() or "").split("; ")) == 5
        plot.root.focus()
        page.keyboard.press("ArrowDown")
        plot.expect_selected(9)


def test_plot_of_two_runs_links_the_column_of_one(page: Page, run: DebugRun) -> None:
    other = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    plot = plots.link(plots.compare_times(run, other), other, nodes="b")
    with serve(other, plot=plot) as address:
        shown = Plot(page, address, '&plot.nodes="b"', library="three")
        shown.select(22)
        expect(shown.said).to_contain_text("#21 ~ #22 conv2d + add + add + relu")


def test_name_from_file_is_not_parsed_as_markup(page: Page) -> None:
    name = "<img src=x onerror=alert(1)>"
    events = '{"traceEvents": [{"ph": "X", "name": "%s", "ts": 0, "dur": 5, "pid": 1, "tid": 1}]}'
    run = tvmdbg.open((events % name).encode())
    with serve(run, plot=plots.link(plots.times(run), run)) as address:
        plot = Plot(page, address, library="four")
        box = box_of(plot.frame)
        page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2)
        expect(page.locator(".bk-Tooltip").first).to_contain_text(name)
        assert page.locator("img").count() == 0


def test_plot_failure_is_reported(page: Page, run: DebugRun) -> None:
    plot = plots.link(plots.times(run), run)
    plot.figure = None
    with serve(run, plot=plot) as address:
        visit(page, f'{address}?views=plot&plot._library="one"')
        root = page.locator(".tvmdbg-plot")
        expect(root).to_contain_text("The plot could not be shown")
        expect(root).to_contain_text("Run the cell again.")


THEMES = ("light", "dark")
DRAWN: dict[str, Callable[[DebugRun, str], Any]] = {
    "times": lambda run, theme: plots.times(run, theme=theme),
    "repeats": lambda run, theme: plots.repeats(run, theme=theme),
    "roofline": lambda run, theme: plots.roofline(run, 5e9, 1e8, theme=theme),
    "histogram": lambda run, theme: plots.histogram(run, 60, theme=theme),
    "channels": lambda run, theme: plots.channels(run, 60, theme=theme),
    "memory": lambda run, theme: plots.memory(run, theme=theme),
    "compare_times": lambda run, theme: plots.compare_times(run, run, theme=theme),
}


@pytest.mark.parametrize(
    ("name", "theme"), mostly_slow(product(DRAWN, THEMES), *zip(DRAWN, cycle(THEMES), strict=False))
)
def test_a_page_of_a_figure_works_offline(
    page: Page, run: DebugRun, tmp_path: Path, name: str, theme: str
) -> None:
    path = tmp_path / "plot.html"
    path.write_text(file_html(DRAWN[name](run, theme), INLINE, name), encoding="utf-8")
    page.context.set_offline(offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    frame = page.locator(".bk-CartesianFrame").first
    expect(frame).to_be_visible()
    page.wait_for_function("Bokeh.documents[0].is_idle")
    assert not [url for url in asked if url.startswith("http")]
