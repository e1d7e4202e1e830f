"""What a delegate debug map covers, counted and shown over a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from executorch_cases import case_dir

from tvmdbg_widgets.analysis.executorch.handle_coverage import handle_coverage
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.formats.executorch.exported_program import graph_of
from tvmdbg_widgets.model.executorch.etrecord import (
    DelegateCall,
    ETRecord,
    ExportedProgram,
    ProgramNode,
)
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.recorders.event_tracer import PreprocessResult
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.run.executorch.handle_map import COLUMN, DebugHandleMap
from tvmdbg_widgets.sources.file_source import FileSource

# The two maps of ExecuTorch's documentation, and what it says of them.
DECOMPOSED = {0: (10, 11), 1: (11, 12)}
FUSED = {"fused_op_1_2_3": (11, 12, 15)}


@dataclass
class FxNode:
    name: str
    op: str = "call_function"
    args: tuple[Any, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


def fx(*handles: Any) -> list[FxNode]:
    nodes = [FxNode(f"op{handle}", meta={"debug_handle": handle}) for handle in handles]
    return [FxNode("x", "placeholder"), *nodes, FxNode("output", "output")]


def names(operators: Any) -> list[str]:
    return [each.name for each in operators]


def recorded(case: str) -> tuple[ETRecord, DelegateCall, list[int]]:
    """A demo backend's ETRecord, and the map and the handles of its call."""
    record = read_etrecord(FileSource(case_dir(case) / "etrecord.bin"))
    return record, record.delegate_map["forward"]["2"], record.debug_handle_map["forward"]["2"]


def test_a_decomposed_operator_is_shared() -> None:
    found = handle_coverage(DECOMPOSED, fx(10, 11, 12, 13))
    assert [each.identifiers for each in found.operators] == [(0,), (0, 1), (1,), ()]
    assert names(found.shared) == ["op11"]
    assert names(found.uncovered) == ["op13"]
    assert names(found.operators_of(1)) == ["op11", "op12"]
    assert found.summary == ("2 identifiers: 3 of 4 operators mapped, 1 by several identifiers")


def test_fused_operator_covers_several_and_unknown_handles_are_listed() -> None:
    found = handle_coverage(PreprocessResult(debug_handle_map=FUSED), fx(11, 12, 13))
    assert names(found.operators_of("fused_op_1_2_3")) == ["op11", "op12"]
    assert (found.shared, found.unknown) == ((), (15,))
    assert "no operator has handle 15" in repr(found)


def test_an_operator_of_several_handles_counts_once() -> None:
    found = handle_coverage({"a": [1, (2, 3)], "b": 3}, fx((1, 2), 3, None))
    assert [each.identifiers for each in found.operators] == [("a",), ("a", "b"), ()]
    assert (len(found.covered), found.unknown) == (2, ())


def test_only_operators_of_delegate_call_are_counted() -> None:
    found = handle_coverage({0: [2], 1: [9]}, fx(1, 2, 3, 9), call_handles=[2, 3, 3])
    assert names(found.operators) == ["op2", "op3"]
    assert (names(found.uncovered), found.unknown) == (["op3"], (9,))


def test_handles_are_operators_without_a_program() -> None:
    found = handle_coverage(DECOMPOSED)
    assert names(found.operators) == ["handle 10", "handle 11", "handle 12"]
    assert names(found.shared) == ["handle 11"]
    assert names(handle_coverage(None, call_handles=[4, 4]).uncovered) == ["handle 4"]


@pytest.mark.parametrize("empty", [None, {}, PreprocessResult(), DelegateCall("x", None)])
def test_empty_map_covers_no_operator(empty: Any) -> None:
    found = handle_coverage(empty, fx(1))
    assert (len(found.identifiers), names(found.uncovered)) == (0, ["op1"])


@pytest.mark.parametrize("wrong", [3, "map", [(0, (1,))], {0: "11"}, {0: [1.5]}])
def test_invalid_handle_map_raises(wrong: Any) -> None:
    with pytest.raises(TypeError, match="found"):
        handle_coverage(wrong, fx(1))


def test_exported_program_is_mapped_by_debug_handles() -> None:
    nodes = (
        ProgramNode("x", "placeholder", "x"),
        ProgramNode("aten_add", "call_function", "aten.add", debug_handle=10),
        ProgramNode("aten_mul", "call_function", "aten.mul", debug_handle=(11, 12)),
    )
    found = handle_coverage(DECOMPOSED, ExportedProgram("edge", nodes, ()))
    assert {each.name: each.identifiers for each in found.operators} == {
        "aten_add": (0,),
        "aten_mul": (0, 1),
    }


def test_the_table_is_text_html_and_a_data_frame() -> None:
    found = handle_coverage({"<b>": [1]}, fx(1, 2))
    assert repr(found).splitlines()[1:] == [
        "identifier    handles  operators",
        "<b>           1        op1",
        "(not mapped)  2        op2",
    ]
    assert "<td" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    frame = found.to_dataframe()
    assert frame["identifiers"].tolist() == [("<b>",), ()]


@pytest.mark.parametrize(
    ("case", "decomposed"),
    [
        ("06a_demo_generated_ids", ("2", "3", "4")),
        ("06b_demo_manual_ids", ("tan_0::sin", "tan_0::cos", "tan_0::div")),
    ],
)
def test_a_real_map_colors_the_graph(case: str, decomposed: tuple[str, ...]) -> None:
    record, call, handles = recorded(case)
    found = DebugHandleMap(call, record, call_handles=handles)
    assert dict(found) == call.identifiers
    assert found.uncovered == ()
    assert [(each.name, each.identifiers) for each in found.shared] == [
        ("aten_tan_default", decomposed)
    ]

    view = found.view(direction="right")
    assert (str(view.color_by), view.direction) == (COLUMN, "right")
    column, graph = view.color_by.column, view.debug_run.graph
    tan = graph.node("aten_tan_default").id
    assert column.classes[column.codes[tan]] == ", ".join(decomposed)
    assert column.codes[graph.node("aten_addmm_default").id] == -1

    bundle, _ = found._repr_mimebundle_()
    assert COLUMN in bundle["image/svg+xml"]
    assert decomposed[0] in bundle["image/svg+xml"]


def test_every_form_of_graph_gives_same_coverage() -> None:
    record, call, _ = recorded("06b_demo_manual_ids")
    program = record.edge_programs["forward"]
    graph = graph_of(program, file="a")
    for given in (record, program, graph, DebugRun(RunParts("a", graph))):
        found = DebugHandleMap(call, given)
        assert names(found.uncovered) == [
            "aten_permute_copy_default",
            "aten_addmm_default",
            "aten__softmax_default",
        ]
        assert "not mapped" in found.view().figure().svg
    run = DebugRun(RunParts("a", graph))
    assert DebugHandleMap(call, run).view().debug_run is run


def test_a_graph_of_fx_is_listed_but_not_drawn() -> None:
    found = DebugHandleMap(DECOMPOSED, SimpleNamespace(graph=SimpleNamespace(nodes=fx(10, 13))))
    assert names(found.covered) == ["op10"]
    assert names(found.uncovered) == ["op13"]
    assert found.table().unknown == (11, 12)
    assert found._repr_mimebundle_()["text/html"] == found._repr_html_()
    assert repr(found).startswith("DebugHandleMap: 2 identifiers")
    with pytest.raises(ValueError, match="no graph to draw"):
        found.view()


def test_invalid_graph_raises() -> None:
    with pytest.raises(TypeError, match="found int"):
        DebugHandleMap(FUSED, 3)
    with pytest.raises(ValueError, match="which edge program"):
        DebugHandleMap(FUSED, ETRecord("a.bin"))
