"""Times of operators inside of delegates, against the ticks that their files hold."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.xnnpack_truth import CASES as RECORDED
from tests.formats.executorch.xnnpack_truth import FOLDER, Ticks, ticks, truth
from tvmdbg_widgets import samples
from tvmdbg_widgets.analysis.times.keys import NO_MODULE, WHOLE, modules
from tvmdbg_widgets.analysis.view_columns import graph_columns
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.run import DebugRun

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


def inside(folder: Path) -> list[Ticks]:
    return [each for block in ticks(folder) for each in block if each.operator]


@EDGE
@EACH
def test_times_add_up_to_the_nanosecond(folder: Path, edge: bool) -> None:
    timeline = opened(folder, edge).timeline
    shared, executions = timeline.shared, total(folder, "Method::execute")
    gaps = timeline.account.gap_ns * timeline.executions
    rows = timeline.repeats_ns.sum() + (0 if shared is None else shared.repeats_ns.sum())
    assert rows + gaps == pytest.approx(executions, abs=0.01)
    calls = sum(call.duration_ns for call in opened(folder, edge).delegate_calls())
    assert calls == total(folder, "DELEGATE_CALL")
    for by in ("node", "kind", "part", "group", "name", "module"):
        if by == "module" and not edge:
            continue
        sums = opened(folder, edge).times(by)
        assert sums.total_ns == pytest.approx(executions, abs=0.01)
        work = ~np.isnan(sums.share)
        assert sums.ns[work].sum() == pytest.approx(executions, abs=0.01)


@EDGE
@EACH
def test_events_count_once_and_calls_keep_remaining_time(folder: Path, edge: bool) -> None:
    by_name = {row.label: row.ns for row in opened(folder, edge).times("name")}
    expected: dict[str, int] = {}
    for each in inside(folder):
        expected[each.operator] = expected.get(each.operator, 0) + each.ns
    assert {name: by_name[name] for name in expected} == expected
    rest = total(folder, "DELEGATE_CALL") - sum(expected.values())
    assert by_name["DELEGATE_CALL"] == pytest.approx(rest, abs=0.01)


def nodes_of(run: DebugRun) -> dict[tuple[int, str], int]:
    """Nodes of a program's graph by instruction and operator of the delegate: ``(0, "Add_1")``."""
    return {
        (int(attrs["delegate"].rpartition(" ")[2]), attrs["delegate_node"]): node
        for node, attrs in enumerate(run.graph.attrs)
        if "delegate_node" in attrs
    }


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_every_event_is_on_the_row_of_its_operators(folder: Path) -> None:
    run = opened(folder, False)
    told = truth(folder)
    place = nodes_of(run)
    expected: dict[tuple[int, ...], int] = {}
    listed: dict[tuple[int, ...], int] = {}
    for call in told["calls"]:
        delegate = told["delegates"][call["delegate"]]
        if delegate["method"] != run.parts.executorch.method:
            continue
        types = {each["index"]: each["type"] for each in delegate["nodes"]}
        events = [each for each in ticks(folder)[call["block"]] if each.operator]
        events = [each for each in events if each.instruction == call["instruction_id"]]
        for event, xnodes in zip(events, call["xnodes"], strict=True):
            nodes = tuple(
                sorted(place[call["instruction_id"], f"{types[at]}_{at}"] for at in xnodes)
            )
            expected[nodes] = expected.get(nodes, 0) + event.ns
            listed[nodes] = listed.get(nodes, 0) + 1
    operators = (row for row in run.table() if "outside its operators" not in row.name)
    rows = {row.nodes: row for row in operators if row.slices}
    assert expected
    for nodes, ns in expected.items():
        assert rows[nodes].time_ns * run.timeline.executions == pytest.approx(ns), nodes
        assert rows[nodes].slices == listed[nodes]


@pytest.mark.skipif(not CASES, reason="no TVMDBG_CORPUS")
def test_calls_of_another_method_name_their_method() -> None:
    (folder,) = (path for path in CASES if path.name == "two_methods")
    names = {row.name for row in opened(folder, False).table() if row.op_kind == "delegate"}
    assert names == {
        "XNNPACK, instruction 0 of 'encode'",
        "XNNPACK, instruction 0, outside its operators",
    }
    assert "instruction 0 of encode, run 1" in repr(opened(folder, False).delegate_calls())


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


def test_node_set_belongs_to_common_module() -> None:
    graph = tvmdbg.open(samples.resnet20_cifar).graph
    told = {
        1: ("layers.0.attn.q", "torch.nn.Linear"),
        2: ("layers.0.attn.k", "torch.nn.Linear"),
        3: ("layers.1", "net.Block"),
        4: ("", "torch.export._trace.Wrapper"),
        5: ("", "net.Net"),
        6: ("layers.0.attn", "net.Attention"),
    }
    attrs = [
        {"nn_module_stack": stack, "module_type": kind} if stack else {"module_type": kind}
        for stack, kind in (told.get(node, ("", "")) for node in range(graph.num_nodes))
    ]
    graph = dataclasses.replace(graph, attrs=tuple(attrs))
    groups = [(1, 2), (1, 3), (1, 4), (4, 7), (1, 5), (1, 2, 3), (1, 2)]
    sets = NodeSets(
        np.zeros(0, np.int32),
        np.cumsum([0, *map(len, groups)]),
        np.array([node for each in groups for node in each], np.int32),
        np.ones(len(groups)),
        apart=np.arange(len(groups)) == 6,
    )
    of_node, of_set = modules(graph, sets)
    assert of_node[1] == "layers.0.attn.q (Linear)"
    assert [of_node[node] for node in (4, 5, 7)] == [NO_MODULE, WHOLE, NO_MODULE]
    assert list(of_set) == [
        *("layers.0.attn (Attention)", "layers", "layers.0.attn.q (Linear)", NO_MODULE, WHOLE),
        *("layers", NO_MODULE),
    ]
    assert modules(graph, sets, 1).of_node[1] == "layers.0"
    assert modules(graph, sets, 1).of_node[3] == "layers.1 (Block)"


@pytest.mark.parametrize("name", ["resnet20_cifar", "executorch_xnnpack"])
def test_missing_modules_error_names_file_to_open(name: str) -> None:
    run = tvmdbg.open(getattr(samples, name))
    if name == "executorch_xnnpack":
        run = opened(getattr(samples, name), False)
    with pytest.raises(ValueError, match=r"an ETRecord's edge graph: open\(…, 'etrecord.bin'\)"):
        run.times("module")
    assert "ETRecord" in run.figure("timeline", table_by="module").text


def test_time_outside_operators_is_no_slowest_operator_in_views() -> None:
    run = tvmdbg.open(samples.executorch_xnnpack)
    account = run.timeline.account
    assert account.left.any()
    assert not account.operators[account.left].any()
    columns = graph_columns(run.graph, run.timeline)
    left = columns["callLeft"].astype(bool)
    names = list(columns["callNames"])
    assert {name for name, each in zip(names, left, strict=True) if each} == {
        name for name in names if name.endswith("outside its operators")
    }
    assert "outside its operators" not in run.figure("timeline").text
