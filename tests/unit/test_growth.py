"""What a doubled size costs, in calls; ``benchmarks/growth.py`` measures the same by the clock."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING
from tests.graph_json import chain
from tests.unit.findings.findings_dump import Op, graph_json
from tests.unit.graph.calls import calls
from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.analysis.times import operator_rows
from tvmdbg_widgets.formats.tvm import times
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.graph.roles import with_roles


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


def test_function_name_with_very_long_number_is_parsed() -> None:
    """Each digit was taken off in turn, with a copy of what is left."""
    assert parts(f"fused_add{'1' * 1_000_000}") == ("add",)
    assert parts("fused_log2_atan21") == ("log2", "atan2")


def test_operators_share_one_column_of_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row made the column of all nodes again."""
    made: list[Graph] = []
    monkeypatch.setattr(
        operator_rows, "node_op_kinds", lambda graph: made.append(graph) or node_op_kinds(graph)
    )
    assert len(list(tvmdbg.open(chain(["x", "a", "b", "c"])).table())) == 3
    assert len(made) == 1


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
