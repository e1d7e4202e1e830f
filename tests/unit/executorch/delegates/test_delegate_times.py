"""Times of operators inside of delegates, against the ticks that their files hold."""

import dataclasses
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.xnnpack_truth import CASES as RECORDED
from tests.formats.executorch.xnnpack_truth import FOLDER, recorded, ticks, truth
from tvmdbg_widgets import samples
from tvmdbg_widgets.analysis.times.keys import NO_MODULE, WHOLE, modules
from tvmdbg_widgets.model.timeline.node_sets import NodeSets, NodeStatistics
from tvmdbg_widgets.run import DebugRun

EXECUTE = "Method::execute"
CASES = [FOLDER / case for case in RECORDED]
#: The sample and the cases, without and with what tells of the edge graph.
FOLDERS = [samples.executorch_xnnpack, *CASES]
EACH = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
EDGE = pytest.mark.parametrize("edge", [False, True], ids=["program", "edge graph"])


@cache
def opened(folder: Path, edge: bool) -> DebugRun:
    files = [path for path in folder.iterdir() if path.suffix in (".pte", ".etdp", ".ptd")]
    if edge or not any(path.suffix == ".pte" for path in files):
        files.append(folder / "etrecord.bin")
    return tvmdbg.open(*files)


def total(folder: Path, name: str) -> int:
    return sum(each.ns for block in ticks(folder) for each in block if each.name == name)


@EDGE
@EACH
def test_times_add_up_to_the_nanosecond(folder: Path, edge: bool) -> None:
    run = opened(folder, edge)
    timeline, shared, executions = run.timeline, run.timeline.shared, total(folder, EXECUTE)
    gaps = timeline.account.gap_ns * timeline.executions
    rows = timeline.repeats_ns.sum() + (0 if shared is None else shared.repeats_ns.sum())
    assert rows + gaps == pytest.approx(executions, abs=0.01)
    whole = total(folder, "DELEGATE_CALL")
    assert sum(call.duration_ns for call in run.delegate_calls()) == whole
    for by in ("node", "kind", "part", "group", "name", *(["module"] if edge else [])):
        sums = run.times(by)
        assert sums.total_ns == pytest.approx(executions, abs=0.01)
        assert sums.ns[~np.isnan(sums.share)].sum() == pytest.approx(executions, abs=0.01)
    # Events count once, and calls keep the remaining time.
    by_name = {row.label: row.ns for row in run.times("name")}
    expected: Counter[str] = Counter()
    for each in (each for block in ticks(folder) for each in block if each.operator):
        expected[each.operator] += each.ns
    assert {name: by_name[name] for name in expected} == expected
    assert by_name["DELEGATE_CALL"] == pytest.approx(whole - expected.total(), abs=0.01)


def nodes_of(run: DebugRun) -> dict[tuple[int, str], int]:
    """Nodes of a program's graph by instruction and operator of the delegate: ``(0, "Add_1")``."""
    return {
        (int(attrs["instruction"]), attrs["delegate_node"]): node
        for node, attrs in enumerate(run.graph.attrs)
        if "delegate_node" in attrs
    }


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_every_event_is_on_the_row_of_its_operators(folder: Path) -> None:
    run = opened(folder, False)
    told = truth(folder)
    place = nodes_of(run)
    expected: dict[tuple[int, ...], list[int]] = {}
    for call in told["calls"]:
        delegate, instruction = told["delegates"][call["delegate"]], call["instruction_id"]
        if delegate["method"] != run.parts.executorch.method:
            continue
        types = {each["index"]: each["type"] for each in delegate["nodes"]}
        events = [each for each in ticks(folder)[call["block"]] if each.operator]
        events = [each for each in events if each.instruction == instruction]
        for event, xnodes in zip(events, call["xnodes"], strict=True):
            nodes = sorted(place[instruction, f"{types[at]}_{at}"] for at in xnodes)
            expected.setdefault(tuple(nodes), []).append(event.ns)
    operators = (row for row in run.table() if "outside its operators" not in row.name)
    rows = {row.nodes: row for row in operators if row.slices}
    assert expected
    for key, ns in expected.items():
        assert rows[key].time_ns * run.timeline.executions == pytest.approx(sum(ns)), key
        assert rows[key].slices == len(ns)


@recorded
def test_calls_of_another_method_name_their_method() -> None:
    (folder,) = (path for path in CASES if path.name == "two_methods")
    run = opened(folder, False)
    names = sorted(row.name for row in run.table() if row.op_kind == "delegate")
    assert names == ["XNNPACK call of 'encode'", "XNNPACK call, outside its operators"]
    assert "XNNPACK call, method encode, run 1" in repr(run.delegate_calls())


def test_module_rows_match_modules_of_their_operators() -> None:
    run = opened(samples.executorch_xnnpack, True)
    by = {row.label: row for row in run.times("module")}
    stacks = [attrs.get("nn_module_stack") for attrs in run.graph.attrs]
    for label, row in by.items():
        path = label.partition(" ")[0]
        if path in stacks:
            told = {stacks[node] for node in row.nodes}
            assert told - {None} == {path}, label
    assert {"in no module", "the model itself", "loading"} <= set(by)
    assert not any("Wrapper" in label for label in by)
    rest = sum(row.time_ns for row in run.table() if "outside its" in row.name)
    lowered = sum(row.time_ns for row in run.table() if "inserted by lowering" in row.name)
    runtime = sum(row.time_ns for row in run.table() if row.op_kind == "runtime")
    assert by["in no module"].ns >= rest + lowered + runtime
    assert run.times("module").notes[0].startswith("Operators that ran as one")


def test_statistics_of_calls_are_computed_once_for_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 0
    statistics = NodeSets.statistics

    def counting(sets: NodeSets) -> NodeStatistics:
        nonlocal count
        count += 1
        return statistics(sets)

    monkeypatch.setattr(NodeSets, "statistics", counting)
    rows = opened(samples.executorch_xnnpack, True).table()
    assert sum(row.node < 0 and row.repeats > 0 for row in rows) == 10
    assert count == 1


def test_node_set_belongs_to_common_module() -> None:
    graph = tvmdbg.open(samples.resnet20_cifar).graph
    q, k = (("layers.0.attn." + name, "torch.nn.Linear") for name in "qk")
    wrapper, net = ("", "torch.export._trace.Wrapper"), ("", "net.Net")
    block, attention = ("layers.1", "net.Block"), ("layers.0.attn", "net.Attention")
    told = {1: q, 2: k, 3: block, 4: wrapper, 5: net, 6: attention}
    named = (told.get(node, ("", "")) for node in range(graph.num_nodes))
    attrs = [
        ({"nn_module_stack": stack} if stack else {}) | {"module_type": kind}
        for stack, kind in named
    ]
    graph = dataclasses.replace(graph, attrs=tuple(attrs))
    groups = [(1, 2), (1, 3), (1, 4), (4, 7), (1, 5), (1, 2, 3), (1, 2)]
    nodes = np.array([node for each in groups for node in each], np.int32)
    offsets, apart = np.cumsum([0, *map(len, groups)]), np.arange(len(groups)) == 6
    sets = NodeSets(np.zeros(0, np.int32), offsets, nodes, np.ones(len(groups)), apart=apart)
    of_node, of_set = modules(graph, sets)
    first = "layers.0.attn.q (Linear)"
    assert [of_node[node] for node in (1, 4, 5, 7)] == [first, NO_MODULE, WHOLE, NO_MODULE]
    common = ["layers.0.attn (Attention)", "layers", first]
    assert list(of_set) == [*common, NO_MODULE, WHOLE, "layers", NO_MODULE]
    of_node, _ = modules(graph, sets, 1)
    assert (of_node[1], of_node[3]) == ("layers.0", "layers.1 (Block)")


@pytest.mark.parametrize("name", ["resnet20_cifar", "executorch_xnnpack"])
def test_missing_modules_error_names_file_to_open(name: str) -> None:
    run = tvmdbg.open(getattr(samples, name))
    if name == "executorch_xnnpack":
        run = opened(getattr(samples, name), False)
    with pytest.raises(ValueError, match=r"an ETRecord's edge graph: open\(…, 'etrecord.bin'\)"):
        run.times("module")
    assert "ETRecord" in run.figure("timeline", table_by="module").text
