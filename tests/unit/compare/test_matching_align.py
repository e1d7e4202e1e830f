"""Sequences aligned, against the table of all their prefixes."""

import json
import random
import time

import pytest
from formats.tvm.graph_truth import read

from benchmarks.graphs import network, residual_graph
from tvmdbg_widgets.analysis.matching import Certainty, match


def longest(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence."""
    row = [0] * (len(b) + 1)
    for one in a:
        last = row
        row = [0]
        for at, other in enumerate(b):
            row.append(last[at] + 1 if one == other else max(row[at], last[at + 1]))
    return row[-1]


def edited(text: str, edits: int) -> tuple[str, list[int]]:
    """A graph with sigmoids put behind some operators; and what became of each node."""
    written = json.loads(text)
    nodes, attrs = written["nodes"], written["attrs"]
    offsets = written["node_row_ptr"]
    single = [
        i
        for i, node in enumerate(nodes)
        if node["op"] == "tvm_op" and offsets[i + 1] - offsets[i] == 1
    ]
    chosen = set(random.Random(1).sample(single, edits))
    columns = [attrs[name][1] for name in ("shape", "dltype", "storage_id")]
    fresh: list[list[object]] = [[], [], []]
    new: list[dict[str, object]] = []
    became: list[int] = []
    passed: dict[int, int] = {}
    rows = [0]

    def add(node: dict[str, object], entries: range) -> int:
        for to, column in zip(fresh, columns, strict=True):
            to += [column[entry] for entry in entries]
        new.append({**node, "name": f"n{len(new) * 7919 % 1_000_003}"})
        rows.append(len(fresh[0]))
        return len(new) - 1

    for i, node in enumerate(nodes):
        moved = [[passed.get(s, became[s]), *rest] for s, *rest in node["inputs"]]
        entries = range(offsets[i], offsets[i + 1])
        became.append(add({**node, "inputs": moved}, entries))
        if i in chosen:
            function = {"func_name": "fused_sigmoid", "num_inputs": "1", "num_outputs": "1"}
            extra = {"op": "tvm_op", "attrs": {**function, "flatten_data": "0"}}
            passed[i] = add({**extra, "inputs": [[became[i], 0, 0]]}, entries)
    changed = {
        **written,
        "nodes": new,
        "arg_nodes": [i for i, node in enumerate(new) if node["op"] == "null"],
        "heads": [[passed.get(head, became[head]), *rest] for head, *rest in written["heads"]],
        "node_row_ptr": rows,
        "attrs": {
            **attrs,
            **{
                name: [attrs[name][0], values]
                for name, values in zip(("shape", "dltype", "storage_id"), fresh, strict=True)
            },
        },
    }
    return json.dumps(changed), became


@pytest.mark.slow
@pytest.mark.parametrize("make", [network, residual_graph])
@pytest.mark.parametrize("edits", [1, 40])
def test_edited_graphs_are_matched_nearly_as_fast_as_equal_ones(make: object, edits: int) -> None:
    text = make(12_000)  # type: ignore[operator]
    changed, became = edited(text, edits)
    a, b, same = read(text.encode()), read(changed.encode()), read(edited(text, 0)[0].encode())
    took = []
    for other in (same, b):
        begun = time.process_time()
        matching = match(a, other)
        took.append(time.process_time() - begun)
    assert took[1] < 4 * took[0] + 0.2
    right = sum(became[one] == other for one, other in matching.pairs.tolist())
    assert right > 0.995 * a.num_nodes
    sure = matching.pairs[matching.certainty == Certainty.EXACT].tolist()
    assert all(became[one] == other for one, other in sure)
    wrong = sum(became[one] != other for one, other in matching.pairs.tolist())
    assert wrong <= 2 * edits
