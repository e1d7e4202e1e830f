"""What a doubled size costs, in calls; ``benchmarks/growth.py`` measures the same by the clock."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING
from tests.unit.findings.findings_dump import Op, graph_json
from tests.unit.graph.calls import calls
from tvmdbg_widgets.analysis.compare_times.aligned import _connected_groups
from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.analysis.matching import match
from tvmdbg_widgets.analysis.matching.side import GraphSide
from tvmdbg_widgets.analysis.timeline.merged_tree import Frames, merge
from tvmdbg_widgets.analysis.times import operator_rows
from tvmdbg_widgets.formats.tvm import times
from tvmdbg_widgets.model.graph.graph import node_op_kinds
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.graph.roles import with_roles

_FIRST, _REST = slice(-1), slice(1, None)


def test_time_list_is_read_without_a_call_per_value() -> None:
    def opened(repeats: int) -> int:
        text = json.dumps([[1e-6 * i] * repeats for i in range(300)]).encode()
        return calls(lambda: tvmdbg.open(times=text, source=[]))

    opened(2)
    assert opened(40) - opened(2) < 300


def test_layout_search_cost_is_constant_in_output_count() -> None:
    def looked(outputs: int) -> int:
        value = np.zeros((1, 2), np.float32)
        reads = [(1, i) for i in range(outputs)]
        ops = [
            Op("data", value),
            Op("parts", [value] * outputs, "fused_split", [(0, 0)]),
            Op("sum", value, "fused_add", reads),
        ]
        run = tvmdbg.open(graph_json(ops))
        known_layouts(run.parts, (1, 0))
        return calls(lambda: known_layouts(run.parts, (1, outputs - 1)))

    assert looked(1600) == pytest.approx(looked(800), rel=0.1)


def test_layout_search_is_cheap_without_named_layouts() -> None:
    value = np.zeros((1, 2), np.float32)
    ops = [Op("data", value)]
    ops += [Op(f"n{i}", value, "fused_add", [(i, 0)]) for i in range(100)]
    parts = tvmdbg.open(graph_json(ops)).parts
    known_layouts(parts, (1, 0))
    assert calls(lambda: known_layouts(parts, (50, 0))) < 200


def test_op_kinds_are_computed_once_for_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def counting(graph: Any) -> Any:
        nonlocal count
        count += 1
        return node_op_kinds(graph)

    monkeypatch.setattr(operator_rows, "node_op_kinds", counting)
    value = np.zeros((1, 2), np.float32)
    ops = [Op("data", value), *(Op(f"n{i}", value, "fused_add", [(i, 0)]) for i in range(20))]
    assert {row.op_kind for row in tvmdbg.open(graph_json(ops)).table()} == {"elementwise"}
    assert count == 1


def test_equal_nodes_are_matched_without_a_list_of_unmatched_ones_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = np.zeros((1, 2), np.float32)
    ops = [Op("data", value)]
    ops += [Op(f"n{i}", value, "fused_add", [(0, 0)]) for i in range(200)]
    one, other = tvmdbg.open(graph_json(ops)).graph, tvmdbg.open(graph_json(ops[:-10])).graph
    count = 0
    unmatched = GraphSide.unmatched

    def counting(side: GraphSide) -> list[int]:
        nonlocal count
        count += 1
        return unmatched(side)

    monkeypatch.setattr(GraphSide, "unmatched", counting)
    assert len(match(one, other)) == 191
    assert count < 100


@pytest.mark.parametrize("seed", range(3))
def test_long_chains_of_matches_are_joined_in_few_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    order = random.permutation(20_000)
    cuts = np.sort(random.choice(np.arange(1, len(order)), 3, replace=False))
    pieces = np.split(order, cuts)
    ones, others = (np.concatenate([piece[part] for piece in pieces]) for part in (_FIRST, _REST))
    found: list[Any] = []
    assert calls(lambda: found.append(_connected_groups(ones, others, len(order)))) < 500
    expected = np.empty_like(order)
    for piece in pieces:
        expected[piece] = piece.min()
    np.testing.assert_array_equal(found[0], expected)


def test_deeply_nested_fractions_are_summed_in_linear_time() -> None:
    def merged(depth: int) -> int:
        frames = Frames(
            np.arange(depth) - 1, np.zeros(depth, int), np.full(depth, 0.1), np.ones(depth, int)
        )
        total = float(merge(frames, 1).total_ns[0])
        assert total == pytest.approx(depth / 10)
        return calls(lambda: merge(frames, 1))

    assert merged(4000) < 3 * merged(2000)


def test_function_name_with_very_long_number_is_parsed() -> None:
    """Each digit was taken off in turn, with a copy of what is left."""
    assert parts(f"fused_add{'1' * 1_000_000}") == ("add",)
    assert parts("fused_log2_atan21") == ("log2", "atan2")


def test_role_search_cost_grows_about_linearly() -> None:
    def scanned(layers: int) -> int:
        value = np.zeros((2, 3), np.float32)
        ops = [Op("data", value)]
        for _ in range(layers):
            bias, last = len(ops), len(ops) - 1
            ops.append(Op(f"b{bias}", np.zeros((1, 3), np.float32)))
            ops.append(Op(f"a{bias}", value, "fused_add", [(last, 0), (bias, 0)]))
        run = tvmdbg.open(graph_json(ops))
        graph = run.graph
        searched = 0
        search = np.searchsorted

        def counted(array: npt.NDArray[np.int32], *keys: Any, **how: Any) -> Any:
            nonlocal searched
            searched += len(array)
            return search(array, *keys, **how)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(np, "searchsorted", counted)
            with_roles(graph)
        return searched

    assert scanned(200) < 3 * scanned(100)


def test_a_single_table_is_not_compared_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    GROWING["nodes"](tmp_path, 100)

    def compared(*_: object) -> bool:
        raise AssertionError("there is no other table to choose from")

    monkeypatch.setattr(times, "fits", compared)
    monkeypatch.setattr(times, "_agrees", compared)
    run = tvmdbg.open(tmp_path)
    assert len(run.timeline.sources) == 3


def test_traces_and_tables_take_few_calls_per_node(tmp_path: Path) -> None:
    def opened(nodes: int, name: str) -> int:
        folder = tmp_path / f"{nodes}"
        folder.mkdir(exist_ok=True)
        GROWING["nodes in one chain"](folder, nodes)
        return calls(lambda: tvmdbg.open(folder / name))

    opened(50, "trace.json")
    for name, most in (("trace.json", 25), ("table.txt", 90)):
        more = opened(1_100, name) - opened(100, name)
        assert more / 1_000 < most, (name, more)
