"""What a doubled size costs, in calls; ``benchmarks/growth.py`` measures the same by the clock."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json
from tests.unit.graph.calls import calls
from tvmdbg_widgets.analysis.layouts.layouts import known_layouts
from tvmdbg_widgets.model.graph.operators import parts


def test_times_of_a_list_are_read_without_a_call_for_each() -> None:
    def opened(repeats: int) -> int:
        text = json.dumps([[1e-6 * i] * repeats for i in range(300)]).encode()
        return calls(lambda: tvmdbg.open(times=text, source=[]))

    opened(2)
    assert opened(40) - opened(2) < 300


def test_a_layout_is_looked_for_as_far_in_a_node_of_many_outputs() -> None:
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


def test_no_walk_looks_for_a_layout_where_the_graph_names_none() -> None:
    value = np.zeros((1, 2), np.float32)
    ops = [Op("data", value)]
    ops += [Op(f"n{i}", value, "fused_add", [(i, 0)]) for i in range(100)]
    parts = tvmdbg.open(graph_json(ops)).parts
    known_layouts(parts, (1, 0))
    assert calls(lambda: known_layouts(parts, (50, 0))) < 200


def test_a_function_may_have_a_number_of_any_length() -> None:
    """Each digit was taken off in turn, with a copy of what is left."""
    assert parts(f"fused_add{'1' * 1_000_000}") == ("add",)
    assert parts("fused_log2_atan21") == ("log2", "atan2")
