"""Kernels and values of programs in which operators of one handle run in and beside delegates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.unit.executorch.dumps import Logged, dump_of
from tests.unit.executorch.gap_cases import Block, Event, record_of
from tvmdbg_widgets.analysis.executorch.gap_rows import numeric_gap
from tvmdbg_widgets.executorch import Inspector
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.event_joins import join_by_handles
from tvmdbg_widgets.formats.executorch.run_tensors import event_tensors
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import Issue
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ETDump, ValueType
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.event_nodes import REORDERED, UNMAPPED, EventNodes
from tvmdbg_widgets.sources.byte_source import BytesSource

CALL = Logged("DELEGATE_CALL", 0, 9)
FLOAT = 6


def joined(
    name: str, handles: Mapping[str, int | Sequence[int]], dump: ETDump
) -> tuple[EventNodes, list[Issue]]:
    """Join a dump to the program of a case as if its instructions had other handles."""
    files = tvmdbg.open(case_dir(name) / "etrecord.bin").parts.executorch
    assert files is not None
    assert files.record is not None
    programs = files.record.edge_programs
    record = ETRecord("record", programs, debug_handle_map={"forward": handles})
    return join_by_handles(dump, record, "forward", programs["forward"])


def kernel(name: str, instruction: int) -> Logged:
    return Logged(f"native_call_{name}", 0, 1, instruction=instruction)


def test_copy_next_to_delegate_does_not_claim_its_operators() -> None:
    dump = dump_of([CALL, kernel("_to_dim_order_copy.out", 1)])
    nodes, issues = joined("01_mlp_portable", {"0": [1, 1, 2], "1": 2}, dump)
    assert nodes.of(0) == (5, 6, 7)
    assert nodes.of(1) == ()
    assert nodes.how[1] == UNMAPPED
    assert not issues


def test_program_that_writes_back_buffers_has_no_issues() -> None:
    dump = dump_of([kernel("gelu.out", 0), kernel("copy_", 1)])
    nodes, issues = joined("01_mlp_portable", {"0": 2}, dump)
    assert nodes.of(0) == (7,)
    assert not issues


def test_order_next_to_delegates_is_marked_uncertain() -> None:
    dump = dump_of([CALL, kernel("view_copy.out", 1), kernel("view_copy.out", 2)])
    nodes, _ = joined("04_transformer_portable", {"0": [3, 3], "1": 3, "2": 3}, dump)
    assert nodes.of(0) == (22, 23)
    assert nodes.how.tolist()[1:] == [REORDERED] * 2


def logged(handles: Mapping[str, int | Sequence[int]]) -> list[tuple[int, float, Trust]]:
    """Return node, first value and trust of what the first of some calls logs as its outputs.

    The program is two branches, which end in nodes 7, of 2 x 6, and 9, of 2 x 3.
    """
    name = "03d_xnnpack_two_outputs"
    outputs = (
        DebugTensor(FLOAT, (2, 3), (3, 1), 0),
        DebugTensor(FLOAT, (2, 6), (6, 1), 24),
    )
    dump = dump_of([*(Logged(value=DebugValue(ValueType.TENSOR, each)) for each in outputs), CALL])
    graph = tvmdbg.open(case_dir(name) / "etrecord.bin").graph
    assert graph is not None
    nodes, _ = joined(name, handles, dump)
    buffer = DebugBufferFile(BytesSource(np.repeat([9, 7], [6, 12]).astype(np.float32).tobytes()))
    tensors, _ = event_tensors(dump, nodes, graph, buffer, run=0, num_outputs={"0": 2})
    return [(each.node, each.numpy().flat[0], each.trust) for each in tensors]


def test_call_outputs_follow_subgraph_order() -> None:
    assert logged({"0": [1, 4, 5, 2, 3]}) == [(9, 9, Trust.BY_ORDER), (7, 7, Trust.BY_ORDER)]


def test_outputs_of_calls_that_share_a_handle_are_ambiguous() -> None:
    assert {trust for *_, trust in logged({"0": [1, 4, 5, 2, 3], "1": [5]})} == {Trust.AMBIGUOUS}


def test_numeric_gap_skips_values_of_uncertain_operator() -> None:
    events = [
        Event("DELEGATE_CALL", [3], [np.zeros((2, 5, 16), "f4")]),
        Event("native_call_view_copy.out", 3, [np.zeros((2, 5, 16), "f4")], 1),
    ]
    reference = {"aten_view_copy_default": np.zeros((10, 16)), "aten_addmm_default": np.zeros(1)}
    record = record_of("04_transformer_portable")
    found = numeric_gap([Block(events)], record, "L1", reference=reference)
    assert not found.rows
    assert all("which operators a delegate ran" in each.reason for each in found.skipped)


def test_gap_uses_method_that_ran() -> None:
    record = record_of("01_mlp_portable")
    program = record.edge_programs["forward"]
    handles = (record.debug_handle_map or {})["forward"]
    several = replace(
        record,
        edge_programs={"prefill": program, "decode": program},
        debug_handle_map={"prefill": {}, "decode": handles},
    )
    folder = case_dir("01_mlp_portable")
    inspector = Inspector(
        folder / "etdump.etdp",
        etrecord=several,
        debug_buffer_path=folder / "debug_buffer.bin",
        method="decode",
    )
    values = {"aten_gelu_default": np.zeros((2, 16))}
    assert len(inspector.calculate_numeric_gap("L1", reference=values).rows) == 1


def test_torch_operators_are_named_as_in_inspector() -> None:
    record = record_of("01_mlp_portable")
    program = record.edge_programs["forward"]
    nodes = tuple(replace(each, target=f"torch.ops.{each.op_type}") for each in program.nodes)
    record = replace(record, edge_programs={"forward": replace(program, nodes=nodes)})
    inspector = Inspector(case_dir("01_mlp_portable") / "etdump.etdp", etrecord=record)
    types = [event.op_types for event in inspector.event_blocks[1].events]
    assert ["gelu.default"] in types
