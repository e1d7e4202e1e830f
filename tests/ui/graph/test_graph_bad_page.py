"""Graphs that are wrong or out of proportion: drawn as far as they are true, and nothing hangs."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null, operator
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import inspect
from tests.ui.host import serve, visit
from tests.ui.waits import frames, rest

X = null("x")


@pytest.fixture
def view(page: Page) -> Callable[[str], Locator]:
    """Open the graph at an address; gives its root, focused."""

    def opened(address: str) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        visit(page, f"{address}?views=graph&width=960")
        root = page.locator(".tvmdbg-graph")
        expect(root).to_have_attribute("data-ready", "true")
        root.focus()
        return root

    return opened


def drawn(root: Locator) -> list[int]:
    return sorted(mark["id"] for mark in inspect(root)["marks"])


def drive(page: Page, root: Locator) -> None:
    """What a user does who wants to see what it is; a test ends here where something hangs."""
    for key in "0s]ue+-hajakkaxXxgwpcf0":
        page.keyboard.press(key)
    for key in ("ArrowUp", "ArrowDown", "ArrowRight", "Enter", "Escape", "Escape"):
        page.keyboard.press(key)
    frames(page)
    expect(root).not_to_contain_text("could not be")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (
            [
                X,
                operator("a", "fused_add", [[0, 0, 0], [3, 0, 0]]),
                operator("b", "fused_relu", [[1, 0, 0]]),
                operator("c", "fused_tanh", [[2, 0, 0]]),
            ],
            "3 nodes in a circle: 1 'a', 2 'b', 3 'c'",
        ),
        ([X, operator("a", "fused_add", [[1, 0, 0]])], "no node that depends on itself"),
        (
            [
                X,
                operator("a", "fused_add", [[0, 0, 0], [99, 0, 0]]),
                operator("b", "fused_relu", [[1, 7, 0]]),
            ],
            "found 99. The edge leads nowhere.",
        ),
    ],
    ids=["a circle", "a loop", "edges from nowhere"],
)
def test_graph_fault_is_reported_beside_drawn_nodes(
    page: Page, view: Callable[[str], Locator], nodes: list[dict[str, Any]], said: str
) -> None:
    with serve(tvmdbg.open(graph_json(nodes))) as address:
        root = view(address)
        expect(root.get_by_role("complementary")).to_contain_text(said)
        assert drawn(root) == list(range(len(nodes)))
        drive(page, root)


def test_many_dangling_edges_are_listed_up_to_a_limit(
    page: Page, view: Callable[[str], Locator]
) -> None:
    nodes = [operator(f"n{at}", f"f{at}", [[at + 1_000, 0, 0]]) for at in range(1, 40)]
    with serve(tvmdbg.open(graph_json([X, *nodes]))) as address:
        details = view(address).get_by_role("complementary")
        expect(details.get_by_text("The edge leads nowhere")).to_have_count(5)
        expect(details).to_contain_text("more: run.graph.issues")


def test_graph_without_nodes_is_reported(view: Callable[[str], Locator]) -> None:
    with serve(tvmdbg.open(graph_json([]))) as address:
        expect(view(address)).to_contain_text("The graph has no nodes")


def of_one_tensor(edges: int) -> bytes:
    return graph_json([X, operator("a", "fused_add", [0] * edges)])


def of_as_many_tensors(edges: int) -> bytes:
    split = operator("a", "fused_split", [[0, 0, 0]], edges)
    join = operator("b", "fused_concatenate", [[1, at, 0] for at in range(edges)])
    return graph_json([X, split, join])


MADE = [(of_one_tensor, 1), (of_as_many_tensors, 2)]


@pytest.mark.parametrize("edges", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("made", "last"), mostly_slow(MADE, (of_as_many_tensors, 2)))
def test_node_with_many_edges_is_drawn(
    page: Page, view: Callable[[str], Locator], made: Callable[[int], bytes], last: int, edges: int
) -> None:
    with serve(tvmdbg.open(made(edges))) as address:
        root = view(address)
        assert drawn(root) == list(range(last + 1))
        page.evaluate("id => tvmdbg.models.session.set('selected', [id])", last)
        details = root.get_by_role("complementary")
        expect(details).to_contain_text(f"inputs (the first 500 of {edges:,})")
        expect(root.locator(".tvmdbg-mirror")).to_contain_text(f"Node {last} of")
        drive(page, root)


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_readers_of_one_tensor(page: Page, view: Callable[[str], Locator], count: int) -> None:
    readers = [operator("n", "fused_relu", [[0, 0, 0]])] * count
    with serve(tvmdbg.open(graph_json([X, *readers]))) as address:
        root = view(address)
        assert inspect(root)["marks"]
        drive(page, root)
        page.evaluate("tvmdbg.models.session.set('selected', [0])")
        rest(page)
        expect(root.locator(".tvmdbg-mirror")).to_contain_text(f"{count:,} consumers")


@pytest.mark.slow
def test_names_of_ten_megabytes(page: Page, view: Callable[[str], Locator]) -> None:
    size = 10_000_000
    long = operator("a" * size, "f" * size, [[0, 0, 0]])
    with serve(tvmdbg.open(graph_json([null("x" * size), long]))) as address:
        root = view(address)
        assert drawn(root) == [0, 1]
        assert all(len(label["text"]) < 500 for label in inspect(root)["labels"])
        drive(page, root)
