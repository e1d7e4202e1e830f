"""Figures of graphs that no compiler wrote: hostile names, odd and very large graphs."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.unit.figures.figure_checks import assert_sound, drawn, root_of, texts
from tvmdbg_widgets.figures.texts import clean
from tvmdbg_widgets.model.base.numbers import fixed, percent
from tvmdbg_widgets.model.tensors.planes import default_axes

HOSTILE = [
    *("<script>alert(1)</script>", "\"' onload='alert(1)", "]]><!-- &amp; &#0; %s {0}"),
    *("\x00\x07\x1b\ufffe\u202eabc", "卷积层" * 40, "🔥" * 60, "x" * 500, "\ud800"),
]


def graph_of(names: list[str], edges: list[tuple[int, int]]) -> str:
    """Graph JSON in which each node reads what the edges say."""
    reads: dict[int, list[int]] = {}
    for source, target in edges:
        reads.setdefault(target, []).append(source)
    nodes = [
        operator(name, name, reads[at]) if at in reads else null(name)
        for at, name in enumerate(names)
    ]
    return json.dumps(document(nodes))


def run_of(names: list[str], edges: list[tuple[int, int]]) -> Any:
    return tvmdbg.open(graph_of(names, edges).encode())


@pytest.mark.parametrize("label", ["", "{name}"])
def test_figure_text_has_one_printable_line_per_node(label: str) -> None:
    names = ["a\n  #7 fake", "\x1b[31mred", "\u202ertl", "nul\0", "x\r\ny", "z" * 100_000]
    run = run_of(names, [(at, at + 1) for at in range(5)])
    for figure in (drawn(run.facts, "graph", label=label), run.figure("debugger")):
        listed = [line for line in figure.text.split("\n") if line.startswith("  #")]
        assert len(listed) == len(names)
        assert figure.text.replace("\n", "").isprintable()
        assert len(figure.text) < 3_000


@pytest.mark.parametrize("direction", ["down", "right"])
def test_graph_with_all_nodes_hidden_is_drawn(direction: str) -> None:
    figure = drawn(
        run_of(["x", "y"], [(0, 1)]).facts, "graph", direction=direction, hidden=["id>=0"]
    )
    assert_sound(figure)
    assert "Shown: 0 nodes of 2" in figure.text


@pytest.mark.parametrize("fold", [True, False])
def test_hostile_names_stay_text(fold: bool) -> None:
    names = ["data", *HOSTILE]
    run = run_of(names, [(at, at + 1) for at in range(len(HOSTILE))])
    figure = drawn(run.facts, "graph", fold_parameters=fold)
    assert_sound(figure)
    assert "<script" not in figure.svg
    assert "\u202e" not in figure.svg
    assert any(" <script>" in text for text in texts(figure))


@given(
    st.lists(
        st.tuples(st.integers(0, 39), st.integers(0, 39)).filter(lambda pair: pair[0] < pair[1]),
        max_size=80,
        unique=True,
    ),
    st.sampled_from(["down", "right"]),
    st.integers(1, 40),
)
def test_any_graph_is_legible(edges: list[tuple[int, int]], direction: str, count: int) -> None:
    kept = [(a, b) for a, b in edges if b < count]
    names = [f"op_{at}_{'w' * (at % 17)}" for at in range(count)]
    assert_sound(drawn(run_of(names, kept).facts, "graph", direction=direction))


def test_large_graph_is_drawn_around_focused_node() -> None:
    edges = [(at, at + 1) for at in range(499)]
    run = run_of([f"op{at}" for at in range(500)], edges)
    figure = drawn(run.facts, "graph", focus=250)
    assert_sound(figure)
    assert 250 in figure.description["drawn"]
    assert 0 not in figure.description["drawn"]
    near = drawn(run.facts, "graph", focus="op250", hops=2)
    assert [node["id"] for node in near.description["nodes"]] == [248, 249, 250, 251, 252]
    assert "no node" in " ".join(texts(drawn(run.facts, "graph", focus="nothing")))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        *(((), (None, None)), ((7,), (None, 0)), ((3, 5), (0, 1)), ((1, 64, 8, 8), (2, 3))),
        *(((64, 64, 3, 3), (0, 1)), ((16, 3, 7, 7), (0, 2)), ((1, 10), (0, 1)), ((10, 1), (1, 0))),
        *(((0, 4), (0, 1)), ((32, 1, 1), (1, 0)), ((1, 1, 512), (0, 2))),
    ],
)
def test_default_axes(shape: tuple[int, ...], axes: tuple[int | None, int | None]) -> None:
    assert default_axes(shape) == axes


def test_percent_rounds_as_the_page_does() -> None:
    assert [percent(each) for each in (0.0625, 0.5125, 0.00005, 0.0, float("nan"))] == [
        *("6.25 %", "51.2 %", "< 0.01 %", "0 %", "unknown"),
    ]


@given(st.text(max_size=60))
def test_cleaned_text_stays_as_it_is(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_graph_figure_text_lists_nodes_and_operands() -> None:
    run = run_of(["x", "fused_nn_conv2d", "fused_add"], [(0, 1), (1, 2), (0, 2)])
    figure = drawn(run.facts, "graph")
    lines = figure.text.splitlines()
    assert lines[1].startswith("  #0 x; float32 1×4")
    assert "#2 add <- #1, #0" in lines[3]
    assert root_of(figure).attrib["width"] == "720"


def test_parameter_with_inputs_can_be_drawn() -> None:
    graph = json.loads(graph_of(["x", "p0", "a"], [(1, 2), (0, 2)]))
    graph["nodes"][1] |= {"op": "null", "inputs": [[0, 0, 0]]}
    run = tvmdbg.open(json.dumps(graph).encode())
    assert_sound(run.figure("graph"))


@pytest.mark.parametrize(("value", "text"), [(1e40, "1" + "0" * 40), (float("inf"), "inf")])
def test_large_numbers_are_written_without_exponent(value: float, text: str) -> None:
    assert fixed(value, 2).startswith(text[:16])
