"""Which nodes of a run each task of a log tuned."""

import json
from typing import Any

import pytest
from unit.tuning import ansor_lines

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null, operator

CONV = [[1, 3, 32, 32], [16, 3, 3, 3], [1, 16, 30, 30]]
DENSE = [[1, 64], [10, 64], [1, 10]]
PREFIX = "tvmgen_default_fused_"


def graph(functions: list[tuple[str, list[list[int]], str]]) -> bytes:
    """A graph in which each function reads inputs of its own."""
    nodes: list[dict[str, Any]] = []
    shapes: list[list[int]] = []
    for at, (name, (*inputs, output), hashed) in enumerate(functions):
        first = len(nodes)
        nodes += [null(f"p{at}_{place}") for place in range(len(inputs))]
        reads = [*range(first, len(nodes))]
        nodes.append(operator(name, name, reads, hash=hashed))
        shapes += [*inputs, output]
    heads = [at for at, node in enumerate(nodes) if node["op"] != "null"]
    return graph_json(nodes, heads=heads, shapes=shapes)


def record(key: list[Any], cost: float | None, error: int = 0) -> str:
    return (
        ansor_lines.line(json.dumps(key), "llvm -keys=cpu", [cost or 1e10], error).decode() + "\n"
    )


def key(hashed: str, shapes: list[list[int]]) -> list[Any]:
    return [hashed * 32, *shapes]


def test_shapes_of_one_task_link_to_it() -> None:
    run = tvmdbg.open(graph([(f"{PREFIX}nn_conv2d", CONV, "x"), (f"{PREFIX}nn_dense", DENSE, "y")]))
    lines = record(key("a", DENSE), 1e-5) + record(key("b", CONV), 2e-3)
    log = tvmdbg.open_tuning(lines.encode())
    links = log.link(run)
    conv, dense = (node for node in range(run.graph.num_nodes) if run.graph.kinds[node] >= 2)
    assert (links.nodes, links.hows) == (((dense,), (conv,)), ("by shapes", "by shapes"))
    assert (links.task_of(conv), links.task_of(0)) == (1, None)


def test_shapes_of_two_tasks_are_ambiguous() -> None:
    run = tvmdbg.open(graph([(f"{PREFIX}nn_conv2d", CONV, "x")]))
    log = tvmdbg.open_tuning((record(key("a", CONV), 1e-5) + record(key("b", CONV), 2e-3)).encode())
    links = log.link(run)
    assert (links.nodes, len(links.ambiguous)) == (((), ()), 1)
    assert "1 node fits several tasks" in repr(links)


def test_printed_table_distinguishes_tasks_of_equal_shapes() -> None:
    run = tvmdbg.open(
        graph(
            [(f"{PREFIX}nn_conv2d_add_nn_relu_7", CONV, "x"), (f"{PREFIX}nn_conv2d_add", CONV, "y")]
        )
    )
    lines = record(key("a", CONV), 1.25e-3) + record(key("b", CONV), 2.5e-3)
    head = "|  ID  | Task Description | Latency (ms) | Speed (GFLOPS) | Trials |\n"
    rule = "-" * 60 + "\n"
    rows = (
        "|    0 | vm_mod_fused_nn_conv2d_add |        2.500 |         10.00 |      1 |\n"
        "|    1 | vm_mod_fused_nn_conv2d_add_nn_relu_2 |        1.250 |         20.00 |      1 |\n"
    )
    table = rule + head + rule + rows + rule + "Estimated total latency: 3.750 ms\tTrials: 2\t"
    table += "Used time : 3 s\tNext ID: 0\t\n"
    log = tvmdbg.open_tuning(lines.encode(), table.encode())
    links = log.link(run)
    relu, add = (node for node in range(run.graph.num_nodes) if run.graph.kinds[node] >= 2)
    assert (links.nodes, set(links.hows)) == (((relu,), (add,)), {"by function name"})


def test_node_status_classifies_operators_by_tuning_result() -> None:
    run = tvmdbg.open(
        graph(
            [
                (f"{PREFIX}nn_conv2d", CONV, "x"),
                (f"{PREFIX}nn_dense", DENSE, "y"),
                (f"{PREFIX}nn_dense_1", [[2, 64], [10, 64], [2, 10]], "z"),
                (f"{PREFIX}add", [[4, 4], [4, 4], [4, 4]], "w"),
            ]
        )
    )
    lines = record(key("a", CONV), 1e-3) + record(key("b", DENSE), None, 6)
    log = tvmdbg.open_tuning(lines.encode())
    status = log.node_status(run)
    told = [status.classes[code] if code >= 0 else None for code in status.codes.tolist()]
    operators = [told[node] for node in range(run.graph.num_nodes) if run.graph.kinds[node] >= 2]
    assert operators == ["tuned", "no valid schedule", "fallback (no task)", None]
    assert sum(log.node_gain(run).values > 0) == 1


def test_a_run_without_a_graph_is_refused() -> None:
    run = tvmdbg.open(json.dumps({"traceEvents": []}).encode())
    log = tvmdbg.open_tuning(record(key("a", CONV), 1e-3).encode())
    with pytest.raises(ValueError, match="has no graph"):
        log.link(run)
