"""Every rule, by one defect in a graph that breaks none."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.tvm.graph_truth import assert_consistent, mutate, read, valid

from tests.graph_json import operator
from tvmdbg_widgets.formats.tvm.graph.log import RULES, GraphLog
from tvmdbg_widgets.model.base.text import IssueSeverity

Change = Callable[[dict[str, Any]], Any]


def node(nid: int, **changes: Any) -> Change:
    return lambda raw: raw["nodes"][nid].update(changes)


def drop(nid: int, key: str) -> Change:
    return lambda raw: raw["nodes"][nid].pop(key)


def attr(nid: int, **changes: Any) -> Change:
    return lambda raw: raw["nodes"][nid]["attrs"].update(changes)


def drop_attr(nid: int, key: str) -> Change:
    return lambda raw: raw["nodes"][nid]["attrs"].pop(key)


def top(**changes: Any) -> Change:
    return lambda raw: raw.update(changes)


def drop_top(key: str) -> Change:
    return lambda raw: raw.pop(key)


def item(key: str, at: int, value: Any) -> Change:
    return lambda raw: raw["attrs"][key][1].__setitem__(at, value)


def graph_attr(key: str, value: Any) -> Change:
    return lambda raw: raw["attrs"].__setitem__(key, value)


def together(*changes: Change) -> Change:
    return lambda raw: [change(raw) for change in changes]


# Rule, what is changed, field path; words of TVM's loader where it has any.
CASES: list[tuple[Any, ...]] = [
    ("top-key-missing", drop_top("heads"), "heads", "bitmask == 1|2|4|8|16"),
    (
        "dtype-flag-disagrees",
        graph_attr("dtype", ["list_int", [0, 0, 0, 0, 0, 4]]),
        "attrs.dtype[1][5]",
    ),
    ("top-key-unknown", top(extra=1), "extra", "key extra is not supported"),
    ("node-not-object", lambda raw: raw["nodes"].__setitem__(1, 5), "nodes[1]", "invalid format"),
    ("node-name", drop(2, "name"), "nodes[2].name", "invalid format"),
    ("node-name", node(2, name=7), "nodes[2].name", "invalid format"),
    ("node-inputs", drop(0, "inputs"), "nodes[0].inputs", "invalid format"),
    ("node-key-unknown", node(3, shape=[2]), "nodes[3].shape", "do not support key shape"),
    ("node-attrs", node(3, attrs=[1]), "nodes[3].attrs"),
    ("node-attrs-missing", drop(3, "attrs"), "nodes[3].attrs"),
    ("node-attrs-incomplete", drop_attr(3, "num_inputs"), "nodes[3].attrs", "invalid format"),
    ("node-attrs-incomplete", node(0, attrs={"a": "b"}), "nodes[0].attrs", "invalid format"),
    ("node-attr-not-string", attr(3, hash=12), "nodes[3].attrs.hash"),
    ("null-node-inputs", node(1, inputs=[[0, 0, 0]]), "nodes[1].inputs"),
    ("op-unknown", node(3, op="relay_op"), "nodes[3].op", "Can only take tvm_op as op"),
    ("op-unknown", drop(0, "op"), "nodes[0].op", "invalid format"),
    (
        "func-name-missing",
        drop_attr(3, "func_name"),
        "nodes[3].attrs.func_name",
        "no such function",
    ),
    ("num-inputs-invalid", attr(3, num_inputs="two"), "nodes[3].attrs.num_inputs"),
    ("num-outputs-invalid", attr(3, num_outputs="-1"), "nodes[3].attrs.num_outputs"),
    ("num-inputs-disagrees", attr(3, num_inputs="3"), "nodes[3].attrs.num_inputs"),
    ("num-outputs-disagrees", attr(2, num_outputs="3"), "node_row_ptr[3] - node_row_ptr[2]"),
    ("flatten-data", attr(3, flatten_data="1"), "nodes[3].attrs.flatten_data"),
    ("flatten-data-invalid", attr(3, flatten_data="yes"), "nodes[3].attrs.flatten_data"),
    ("edge-type", node(4, inputs=[{}]), "nodes[4].inputs[0]"),
    ("edge-type", node(4, inputs=[["3", 0]]), "nodes[4].inputs[0]"),
    ("edge-type", node(4, inputs=[[True, 0, 0]]), "nodes[4].inputs[0]"),
    ("edge-too-short", node(4, inputs=[[3]]), "nodes[4].inputs[0]", "invalid json format"),
    ("edge-too-long", node(4, inputs=[[3, 0, 0, 0]]), "nodes[4].inputs[0]", "invalid json format"),
    ("edge-node-out-of-range", node(4, inputs=[[9, 0, 0]]), "nodes[4].inputs[0][0]"),
    ("edge-output-out-of-range", node(4, inputs=[[2, 2, 0]]), "nodes[4].inputs[0][1]"),
    ("edge-not-topological", node(2, inputs=[[3, 0, 0]]), "nodes[2].inputs[0]"),
    ("cycle", node(2, inputs=[[3, 0, 0]]), "nodes[2].inputs"),
    ("cycle", node(2, inputs=[[2, 0, 0]]), "nodes[2].inputs"),
    ("edge-name-unknown", node(4, inputs=["nobody"]), "nodes[4].inputs[0]"),
    ("control-deps-type", node(3, control_deps=["a"]), "nodes[3].control_deps[0]"),
    ("control-deps-type", node(3, control_deps=1), "nodes[3].control_deps"),
    ("control-dep-out-of-range", node(3, control_deps=[5]), "nodes[3].control_deps[0]"),
    ("control-dep-not-topological", node(3, control_deps=[4]), "nodes[3].control_deps"),
    ("heads-type", top(heads=3), "heads"),
    ("heads-empty", top(heads=[]), "heads"),
    ("head-type", top(heads=[[4, 0, 0], "x"]), "heads[1]"),
    ("head-too-short", top(heads=[[4]]), "heads[0]", "invalid json format"),
    ("head-too-long", top(heads=[[4, 0, 0, 0]]), "heads[0]", "invalid json format"),
    ("head-out-of-range", top(heads=[[5, 0, 0]]), "heads[0]"),
    ("head-out-of-range", top(heads=[[4, 0, 0], [2, 2, 0]]), "heads[1]"),
    ("arg-nodes-type", top(arg_nodes=[0, "1"]), "arg_nodes[1]"),
    ("arg-nodes-type", top(arg_nodes={}), "arg_nodes"),
    ("arg-node-out-of-range", top(arg_nodes=[0, 1, 5]), "arg_nodes[2]"),
    ("arg-node-not-null", top(arg_nodes=[0, 1, 2]), "arg_nodes[2]"),
    ("arg-node-repeated", top(arg_nodes=[0, 1, 1]), "arg_nodes"),
    ("arg-node-missing", top(arg_nodes=[0]), "arg_nodes"),
    ("arg-nodes-unordered", top(arg_nodes=[1, 0]), "arg_nodes"),
    ("node-row-ptr-missing", drop_top("node_row_ptr"), "node_row_ptr"),
    ("node-row-ptr-type", top(node_row_ptr=[0, 1, 2, 4.5, 5, 6]), "node_row_ptr"),
    ("node-row-ptr-length", top(node_row_ptr=[0, 1, 2, 4, 5]), "node_row_ptr"),
    ("node-row-ptr-start", top(node_row_ptr=[1, 1, 2, 4, 5, 6]), "node_row_ptr"),
    ("node-row-ptr-not-monotonic", top(node_row_ptr=[0, 1, 4, 2, 5, 6]), "node_row_ptr"),
    ("node-row-ptr-too-large", top(node_row_ptr=[0, 1, 2, 4, 5, 10**12]), "node_row_ptr"),
    (
        "num-outputs-too-large",
        together(drop_top("node_row_ptr"), attr(2, num_outputs="123456789")),
        "num_outputs",
    ),
    (
        "null-node-outputs",
        top(node_row_ptr=[0, 1, 3, 5, 6, 7]),
        "node_row_ptr[2] - node_row_ptr[1]",
    ),
    ("graph-attrs", top(attrs=[]), "attrs"),
    (
        "graph-attr-missing",
        lambda raw: raw["attrs"].pop("storage_id"),
        "attrs.storage_id",
        "invalid format",
    ),
    (
        "attr-tag",
        graph_attr("storage_id", ["list_str", [0, 1, 2, 3, 4, 4]]),
        "attrs.storage_id[0]",
        'type == "list_int"',
    ),
    ("attr-not-list", graph_attr("dltype", "float32"), "attrs.dltype"),
    ("attr-not-list", graph_attr("dltype", ["list_str", ["a"], 1]), "attrs.dltype"),
    ("attr-dropped", graph_attr("other", ["list_int", [1]]), "attrs.other"),
    (
        "attr-unknown-tag",
        graph_attr("other", ["str", "x"]),
        "attrs.other",
        "cannot skip graph attr other",
    ),
    ("attr-length", lambda raw: raw["attrs"]["shape"][1].pop(), "attrs.shape[1]"),
    ("attr-length", lambda raw: raw["attrs"]["dltype"][1].append("int8"), "attrs.dltype[1]"),
    ("attr-item", item("shape", 1, [2, -1]), "attrs.shape[1][1]"),
    ("attr-item", item("shape", 5, None), "attrs.shape[1][5]"),
    ("attr-item", item("shape", 1, [2, 10**30]), "attrs.shape[1][1]"),
    ("attr-item", item("dltype", 2, 3), "attrs.dltype[1][2]"),
    ("attr-item", item("storage_id", 1, 1.5), "attrs.storage_id[1][1]"),
    ("attr-item", item("storage_id", 1, 2**40), "attrs.storage_id[1][1]"),
    ("attr-item", item("device_index", 5, None), "attrs.device_index[1][5]"),
    ("dltype-unknown", item("dltype", 1, "quux"), "attrs.dltype[1][1]"),
    ("storage-id-negative", item("storage_id", 1, -2), "attrs.storage_id[1][1]"),
    (
        "storage-on-two-devices",
        item("device_index", 5, 2),
        "attrs.storage_id[1][5]",
        "The same pool entry cannot be assigned to multiple devices",
    ),
    (
        "texture-dtype-differs",
        together(
            graph_attr("storage_scope", ["list_str", ["global.texture"] * 6]),
            item("dltype", 5, "float16"),
        ),
        "attrs.storage_id[1][5]",
        "2d texure allocations must be of the same type",
    ),
    ("nop-storage-differs", item("storage_id", 5, 5), "attrs.storage_id[1][5]"),
    ("nop-size-differs", item("shape", 5, [7]), "attrs.shape[1][5]"),
    ("duplicate-name", node(3, name="split"), "nodes[3].name"),
    (
        "metadata-not-last",
        lambda raw: raw.update(metadata={}, heads=raw.pop("heads")),
        "metadata",
        "bitmask",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
def test_rule_reports_one_issue(case: tuple[Any, ...]) -> None:
    rule, change, field, *words = case
    raw = valid()
    change(raw)
    graph = read(raw)
    assert_consistent(graph)
    found = graph.issues.by_rule(rule)
    assert len(found) == 1, graph.issues
    message = found[0].message
    assert field in message.partition(": expected")[0]
    assert "; found " in message
    assert not words or ("TVM's loader: “" in message and words[0] in message)
    assert found[0].file == "graph.json"
    assert "graph.json" in str(found[0])


TEXTS = [
    ("trailing-data", lambda text: text + " }"),
    ("duplicate-key", lambda text: text.replace('"op"', '"op": "null", "op"', 1)),
    ("json-constant", lambda text: text[:-1] + ', "metadata": NaN}'),
    ("lone-surrogate", lambda text: text.replace('"x"', '"\\ud800x"', 1)),
    ("not-unicode", lambda text: text.encode().replace(b'"x"', b'"\xff"', 1)),
    ("lenient-json", lambda text: text.replace("{", "{ # here\n", 1)),
]


@pytest.mark.parametrize(("rule", "change"), TEXTS)
def test_text_rule_reports_one_issue(rule: str, change: Callable[[str], str | bytes]) -> None:
    graph = read(change(json.dumps(valid())))
    assert_consistent(graph)
    assert [issue.rule for issue in graph.issues] == [rule]
    assert graph.num_nodes == 5
    assert len(graph.edge_source) == 4


def test_every_rule_is_tested() -> None:
    tested = {rule for rule, *_ in CASES} | {rule for rule, _ in TEXTS}
    elsewhere = {"edge-ambiguous", "entries-from-nodes", "raw-graph-does-not-match"}
    elsewhere |= {"graph-not-compiled", "dtype-flag-unknown"}
    assert set(RULES) == tested | elsewhere


def test_issue_for_missing_dltype_does_not_mention_tvm() -> None:
    raw = valid()
    raw["attrs"]["storage_scope"] = ["list_str", [""] * 6]
    del raw["attrs"]["dltype"]
    (issue,) = read(raw).issues
    assert issue.rule == "graph-attr-missing"
    assert "TVM" not in issue.message


def test_duplicate_names_in_a_dump() -> None:
    raw = valid()
    raw["nodes"].insert(4, operator("reshape_nop", "__nop", [[3, 0, 0]]))
    raw["nodes"][5]["inputs"] = [[4, 0, 0]]
    raw["heads"] = [[5, 0, 0]]
    raw["node_row_ptr"].append(7)
    for values in raw["attrs"].values():
        values[1].append(values[1][-1])
    graph = read(mutate(raw))
    assert graph.issues.by_rule("duplicate-name")[0].nodes == (4, 5)
    assert graph.issues.by_rule("duplicate-name")[0].severity is IssueSeverity.NOTE


def test_issues_name_the_entries_concerned() -> None:
    raw = valid()
    raw["attrs"]["device_index"][1][5] = 2
    (issue,) = read(raw).issues
    assert issue.nodes == (3, 4)
    assert issue.entries == ((3, 0), (4, 0))


def test_many_issues_of_one_rule_are_counted() -> None:
    raw = valid()
    raw["nodes"] += [{"op": "null", "name": 1, "inputs": []} for _ in range(500)]
    found = read(raw).issues.by_rule("node-name")
    assert len(found) == GraphLog.LIMIT + 1
    assert "500 in all" in found[-1].message


def test_row_ptr_is_rebuilt_from_num_outputs() -> None:
    graph = read({**valid(), "node_row_ptr": [0, 9]})
    assert graph.entry_offsets.tolist() == [0, 1, 2, 4, 5, 6]
