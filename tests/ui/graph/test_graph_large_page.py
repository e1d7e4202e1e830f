"""A graph of thousands of nodes in the graph view: whole, in columns, as boxes run together."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import inspected, painted, rest

NODES = 6_000
#: The color of the picture at some places, as [red, green, blue, alpha], by CSS px; as text.
COLORS = """(root, places) => {
  const canvas = root.querySelector(".tvmdbg-graph-base");
  const context = canvas.getContext("2d");
  const ratio = canvas.width / canvas.clientWidth;
  return JSON.stringify(
    JSON.parse(places).map(([x, y]) => [...context.getImageData(x * ratio, y * ratio, 1, 1).data]),
  );
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a page of a network of thousands of nodes."""
    with serve(tvmdbg.open(network(NODES).encode())) as found:
        yield found


@pytest.fixture
def graph(page: Page, address: str) -> Locator:
    """Open the view flat, with each node and parameter a box; gives its root, focused."""
    page.emulate_media(reduced_motion="reduce")
    visit(
        page,
        f"{address}?views=graph&width=900&graph.grouped=false&graph.fold_parameters=false"
        "&graph.wrapped=false",
    )
    painted(page)
    rest(page)
    root = page.locator(".tvmdbg-graph")
    root.focus()
    return root


def fit(page: Page, root: Locator) -> list[dict[str, Any]]:
    """Put the whole graph in columns; returns the marks on the stage."""
    page.keyboard.press("w")
    page.wait_for_function(
        """root => {
          const out = {};
          root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail: out }));
          return out.marks.length >= 6000;
        }""",
        arg=root.element_handle(),
    )
    rest(page)
    return inspected(root)["marks"]


def colors_at(root: Locator, places: list[tuple[float, float]]) -> list[list[int]]:
    return json.loads(root.evaluate(COLORS, json.dumps(places)))


def test_large_graph_in_columns_fits_the_view(page: Page, graph: Locator) -> None:
    marks = fit(page, graph)
    assert {each["id"] for each in marks} >= {0, 1, NODES // 2, NODES - 1}
    canvas = box_of(graph.locator(".tvmdbg-graph-base"))
    for each in marks:
        assert -1 <= each["x"] <= canvas["width"] - each["width"] + 1
        assert -1 <= each["y"] <= canvas["height"] - each["height"] + 1


def test_merged_tiny_boxes_keep_a_legend_color(page: Page, graph: Locator) -> None:
    marks = fit(page, graph)
    assert all(each["height"] < 2 for each in marks)  # CSS px: smaller than can be seen alone
    places = [(each["x"] + each["width"] / 2, each["y"] + each["height"] / 2) for each in marks]
    colors = colors_at(graph, places[::7])
    assert all(alpha == 255 for *_, alpha in colors)
    legend = graph.locator(".tvmdbg-graph-swatch").evaluate_all(
        "all => all.map(each => getComputedStyle(each).backgroundColor)"
    )
    assert {f"rgb({red}, {green}, {blue})" for red, green, blue, _ in colors} <= set(legend)
