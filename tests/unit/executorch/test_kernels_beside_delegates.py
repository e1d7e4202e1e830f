"""Events of programs with several methods, or with one handle in and beside delegates."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.unit.executorch.dumps import Logged, dump_of, number
from tests.unit.executorch.gap_cases import Block, Event, record_of
from tvmdbg_widgets.analysis.executorch.gap_rows import numeric_gap
from tvmdbg_widgets.executorch import Inspector
from tvmdbg_widgets.formats.executorch.assemble import runs_of_others, without_runs
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.event_joins import join_by_handles
from tvmdbg_widgets.formats.executorch.file_notes import execution_of
from tvmdbg_widgets.formats.executorch.run_tensors import event_tensors
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ETDump, ValueType
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, maps_of
from tvmdbg_widgets.model.executorch.event_nodes import REORDERED, UNMAPPED, EventNodes
from tvmdbg_widgets.sources.byte_source import BytesSource

MLP, TRANSFORMER, LISTS = "01_mlp_portable", "04_transformer_portable", "10_multi_output_list"
CALL = Logged("DELEGATE_CALL", 0, 9)
FLOAT = 6


def joined(name: str, handles: dict[str, Any], dump: ETDump, *, issues: int = 0) -> EventNodes:
    """Join a dump to the program of a case as if its instructions had other handles."""
    programs = record_of(name).edge_programs
    record = ETRecord("record", programs, debug_handle_map={"forward": handles})
    nodes, found = join_by_handles(dump, record, "forward", programs["forward"])
    assert len(found) <= issues
    return nodes


def kernel(name: str, instruction: int) -> Logged:
    return Logged(f"native_call_{name}", 0, 1, instruction=instruction)


def test_kernels_do_not_claim_operators_of_a_delegate() -> None:
    dump = dump_of([CALL, kernel("_to_dim_order_copy.out", 1)])
    nodes = joined(MLP, {"0": [1, 1, 2], "1": 2}, dump)
    assert (nodes.of(0), nodes.of(1), nodes.how[1]) == ((5, 6, 7), (), UNMAPPED)
    # A program may write back buffers.
    dump = dump_of([kernel("gelu.out", 0), kernel("copy_", 1)])
    assert joined(MLP, {"0": 2}, dump).of(0) == (7,)
    dump = dump_of([CALL, kernel("view_copy.out", 1), kernel("view_copy.out", 2)])
    nodes = joined(TRANSFORMER, {"0": [3, 3], "1": 3, "2": 3}, dump, issues=9)
    assert (nodes.of(0), nodes.how.tolist()[1:]) == ((22, 23), [REORDERED] * 2)


def test_map_keys_that_are_no_instruction_are_left_out() -> None:
    keys = dict.fromkeys(("0", "-1", "01", "\u0663", "9" * 20, "9" * 5000), 1)
    record = ETRecord("record", debug_handle_map={"forward": keys}, num_outputs={"forward": keys})
    assert maps_of(record, "forward") == ({0: 1}, {}, {0: 1})
    assert joined(MLP, {**keys, "0": 2}, dump_of([kernel("gelu.out", 0)])).of(0) == (7,)


def test_call_outputs_follow_subgraph_order_unless_handles_are_shared() -> None:
    """The program is two branches, which end in nodes 7, of 2 x 6, and 9, of 2 x 3."""
    name = "03d_xnnpack_two_outputs"
    outputs = DebugTensor(FLOAT, (2, 3), (3, 1), 0), DebugTensor(FLOAT, (2, 6), (6, 1), 24)
    logged = [Logged(value=DebugValue(ValueType.TENSOR, each)) for each in outputs]
    dump = dump_of([*logged, CALL])
    graph: Any = tvmdbg.open(case_dir(name) / "etrecord.bin").graph
    buffer = DebugBufferFile(BytesSource(np.repeat([9, 7], [6, 12]).astype(np.float32).tobytes()))
    for more, trust in (({}, Trust.BY_ORDER), ({"1": [5]}, Trust.AMBIGUOUS)):
        nodes = joined(name, {"0": [1, 4, 5, 2, 3], **more}, dump, issues=9)
        tensors, _ = event_tensors(dump, nodes, graph, buffer, run=0, num_outputs={0: 2})
        found = [(each.node, each.numpy().flat[0], each.trust) for each in tensors]
        assert {each[2] for each in found} == {trust}
        assert more or found == [(9, 9, trust), (7, 7, trust)]


def test_numeric_gap_skips_values_of_uncertain_operator() -> None:
    zeros = np.zeros((2, 5, 16), "f4")
    block = Block([Event("DELEGATE_CALL", [3], [zeros])])
    block.events.append(Event("native_call_view_copy.out", 3, [zeros], 1))
    reference = {"aten_view_copy_default": np.zeros((10, 16)), "aten_addmm_default": np.zeros(1)}
    found = numeric_gap([block], record_of(TRANSFORMER), "L1", reference=reference)
    assert not found.rows
    assert all("which operators a delegate ran" in each.reason for each in found.skipped)


def test_gap_uses_method_that_ran() -> None:
    record: Any = record_of(MLP)
    programs = dict.fromkeys(("prefill", "decode"), record.edge_programs["forward"])
    maps = {"prefill": {}, "decode": record.debug_handle_map["forward"]}
    several = replace(record, edge_programs=programs, debug_handle_map=maps)
    dump, buffer = case_dir(MLP) / "etdump.etdp", case_dir(MLP) / "debug_buffer.bin"
    inspector = Inspector(dump, etrecord=several, debug_buffer_path=buffer, method="decode")
    values = {"aten_gelu_default": np.zeros((2, 16))}
    assert len(inspector.calculate_numeric_gap("L1", reference=values).rows) == 1


def test_torch_operators_are_named_as_in_inspector() -> None:
    record = record_of(MLP)
    program = record.edge_programs["forward"]
    nodes = tuple(replace(each, target=f"torch.ops.{each.op_type}") for each in program.nodes)
    record = replace(record, edge_programs={"forward": replace(program, nodes=nodes)})
    inspector = Inspector(case_dir(MLP) / "etdump.etdp", etrecord=record)
    assert ["gelu.default"] in [event.op_types for event in inspector.event_blocks[1].events]


def test_runs_of_several_methods_are_distinguished_by_their_calls() -> None:
    records: dict[str, Any] = {"encode": record_of(MLP), "decode": record_of(LISTS)}
    record = ETRecord(
        "several",
        edge_programs={name: each.edge_programs["forward"] for name, each in records.items()},
        debug_handle_map={name: each.debug_handle_map["forward"] for name, each in records.items()},
    )

    def run(kernels: Sequence[str]) -> list[Logged]:
        return [*(kernel(f"{n}.out", at) for at, n in enumerate(kernels)), Logged(value=number(1))]

    encode = run(("permute_copy", "addmm", "gelu", "permute_copy", "addmm", "_softmax"))
    decode = run(("split_with_sizes_copy", "topk", "cat", "gt"))
    names = ("Default", "Execute", "Execute")
    dump = dump_of([Logged("Method::init", 0, 1, chain=-1)], encode, decode, names=names)
    assert runs_of_others(dump, record, "encode") == {2}
    assert not runs_of_others(dump, record_of(MLP), "forward")
    others = runs_of_others(dump, record, "decode")
    assert (others, execution_of(dump, None, others)) == ({1}, 2)
    # Events are those of the method that is shown.
    own, program = without_runs(dump, others), record.edge_programs["decode"]
    nodes, issues = join_by_handles(own, record, "decode", program)
    assert not issues
    assert not any(nodes.of(event) for event in dump.events_of(1))
    (topk,) = nodes.of(dump.events_of(2)[1])
    assert program.nodes[topk].op_type == "aten.topk.default"
