"""What a delegate debug map covers, counted and shown over a graph."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.executorch.gap_cases import record_of
from tvmdbg_widgets.analysis.executorch.handle_coverage import handle_coverage
from tvmdbg_widgets.formats.executorch.exported_program import graph_of
from tvmdbg_widgets.model.executorch.etrecord import DelegateCall, ETRecord, ExportedProgram
from tvmdbg_widgets.model.executorch.etrecord import ProgramNode as Node
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.recorders.event_tracer import PreprocessResult
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.run.executorch.handle_map import COLUMN, DebugHandleMap

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


def told(found: Any) -> tuple[Any, ...]:
    """Return the identifiers of each operator, and the handles that no operator has."""
    return [each.identifiers for each in found.operators], found.unknown


def test_operators_are_counted_by_their_identifiers() -> None:
    found = handle_coverage(DECOMPOSED, fx(10, 11, 12, 13))
    assert told(found) == ([(0,), (0, 1), (1,), ()], ())
    assert (names(found.shared), names(found.uncovered)) == (["op11"], ["op13"])
    assert names(found.operators_of(1)) == ["op11", "op12"]
    assert found.summary == "2 identifiers: 3 of 4 operators mapped, 1 by several identifiers"
    found = handle_coverage(PreprocessResult(debug_handle_map=FUSED), fx(11, 12, 13))
    assert names(found.operators_of("fused_op_1_2_3")) == ["op11", "op12"]
    assert (found.shared, found.unknown) == ((), (15,))
    assert "no operator has handle 15" in repr(found)
    # An operator of several handles counts once.
    found = handle_coverage({"a": [1, (2, 3)], "b": 3}, fx((1, 2), 3, None))
    assert (*told(found), len(found.covered)) == ([("a",), ("a", "b"), ()], (), 2)
    # Of a call, only its own operators.
    found = handle_coverage({0: [2], 1: [9]}, fx(1, 2, 3, 9), call_handles=[2, 3, 3])
    assert (names(found.operators), names(found.uncovered)) == (["op2", "op3"], ["op3"])
    assert found.unknown == (9,)
    # Without a program, handles are the operators.
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
        Node("x", "placeholder", "x"),
        Node("aten_add", "call_function", "aten.add", debug_handle=10),
        Node("aten_mul", "call_function", "aten.mul", debug_handle=(11, 12)),
    )
    found = handle_coverage(DECOMPOSED, ExportedProgram("edge", nodes, ()))
    operators = {each.name: each.identifiers for each in found.operators}
    assert operators == {"aten_add": (0,), "aten_mul": (0, 1)}


def test_the_table_is_text_html_and_a_data_frame() -> None:
    found = handle_coverage({"<b>": [1]}, fx(1, 2))
    assert repr(found).splitlines()[1:] == [
        "identifier    handles  operators",
        "<b>           1        op1",
        "(not mapped)  2        op2",
    ]
    html = found._repr_html_()
    assert ("<td" in html, "<b>" in html) == (True, False)
    assert found.to_dataframe()["identifiers"].tolist() == [("<b>",), ()]
    many = handle_coverage({at: [at] for at in range(50)}, fx(*range(51)))
    assert repr(many).splitlines()[-2:] == ["39             39       op39", "… and 11 more"]


@pytest.mark.parametrize(
    ("case", "decomposed"),
    [
        ("06a_demo_generated_ids", ("2", "3", "4")),
        ("06b_demo_manual_ids", ("tan_0::sin", "tan_0::cos", "tan_0::div")),
    ],
)
def test_a_real_map_colors_the_graph(case: str, decomposed: tuple[str, ...]) -> None:
    record: Any = record_of(case)
    call, handles = record.delegate_map["forward"]["2"], record.debug_handle_map["forward"]["2"]
    found = DebugHandleMap(call, record, call_handles=handles)
    assert (dict(found), found.uncovered) == (call.identifiers, ())
    shared = [(each.name, each.identifiers) for each in found.shared]
    assert shared == [("aten_tan_default", decomposed)]
    view = found.view(direction="right")
    assert (str(view.color_by), view.direction) == (COLUMN, "right")
    column, graph = view.color_by.column, view._debug_run.graph
    tan = graph.node("aten_tan_default").id
    assert column.classes[column.codes[tan]] == ", ".join(decomposed)
    assert column.codes[graph.node("aten_addmm_default").id] == -1
    bundle, _ = found._repr_mimebundle_()
    for text in (COLUMN, decomposed[0]):
        assert text in bundle["image/svg+xml"]


def test_every_form_of_graph_gives_same_coverage() -> None:
    record: Any = record_of("06b_demo_manual_ids")
    call, program = record.delegate_map["forward"]["2"], record.edge_programs["forward"]
    graph = graph_of(program, file="a")
    run = DebugRun(RunParts("a", graph))
    expected = [f"aten_{each}_default" for each in ("permute_copy", "addmm", "_softmax")]
    for given in (record, program, graph, run):
        found = DebugHandleMap(call, given)
        assert names(found.uncovered) == expected
        assert "not mapped" in found.view().figure().svg
    assert DebugHandleMap(call, run).view()._debug_run is run


def test_a_graph_of_fx_is_listed_but_not_drawn() -> None:
    found = DebugHandleMap(DECOMPOSED, SimpleNamespace(graph=SimpleNamespace(nodes=fx(10, 13))))
    assert (names(found.covered), names(found.uncovered)) == (["op10"], ["op13"])
    assert found.table().unknown == (11, 12)
    assert found._repr_mimebundle_()["text/html"] == found._repr_html_()
    assert repr(found).startswith("DebugHandleMap: 2 identifiers")
    with pytest.raises(ValueError, match="no graph to draw"):
        found.view()
    with pytest.raises(TypeError, match="found int"):
        DebugHandleMap(FUSED, 3)
    with pytest.raises(ValueError, match="which edge program"):
        DebugHandleMap(FUSED, ETRecord("a.bin"))
