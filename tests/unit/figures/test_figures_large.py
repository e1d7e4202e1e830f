"""What is far larger than any picture is drawn all the same: within the time that one may take."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null, operator

MANY = 20_000


def trace(threads: int) -> bytes:
    events: list[dict[str, Any]] = [
        {"name": f"op{at % 50}", "ph": "X", "ts": at, "dur": 5, "pid": at // 2, "tid": at}
        for at in range(threads)
    ]
    events += [
        {"name": "process_name", "ph": "M", "pid": at, "args": {"name": f"device {at}"}}
        for at in range(threads // 2)
    ]
    return json.dumps({"traceEvents": events}).encode()


def graph(inputs: int, operators: list[tuple[str, list[int]]]) -> bytes:
    nodes = [null(f"x{at}") for at in range(inputs)]
    nodes += [operator(f"n{at}", name, read) for at, (name, read) in enumerate(operators)]
    return graph_json(nodes, shapes=[1])


TWO_BLOCKS = [(f"fused_op{at % (MANY // 2)}", [at]) for at in range(MANY)]


@pytest.mark.parametrize(
    ("data", "view"),
    [
        (trace(MANY), "timeline"),
        (graph(MANY, [("fused_concatenate", list(range(MANY)))]), "graph"),
        (graph(1, TWO_BLOCKS), "graph"),
    ],
    ids=["threads", "inputs of a node", "operators of a block"],
)
def test_figures_of_very_large_inputs_are_drawn(data: bytes, view: str) -> None:
    figure = tvmdbg.open(data).figure(view)
    assert "missing" not in figure.description, figure.text[-200:]


def test_long_slice_names_are_shortened() -> None:
    events = [
        {"name": "n" * 50_000, "ph": "X", "ts": 10 * at, "dur": 9, "pid": 0, "tid": 0}
        for at in range(40)
    ]
    figure = tvmdbg.open(json.dumps({"traceEvents": events}).encode()).figure("timeline")
    assert len(figure.svg) < 100_000
    assert sum(len(each.text) for each in figure.hover) < 100_000
    assert len(figure.text) < 200_000


def test_slices_of_many_threads_are_drawn_unbinned() -> None:
    figure = tvmdbg.open(trace(9_000)).figure("timeline")
    assert "missing" not in figure.description
    assert figure.svg.count("busy") == figure.svg.count(">idle ") == 8
