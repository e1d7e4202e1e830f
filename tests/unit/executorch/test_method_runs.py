"""Runs of several methods in one dump."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.executorch.dumps import Logged, dump_of, number
from tests.unit.executorch.gap_cases import record_of
from tvmdbg_widgets.formats.executorch.assemble import runs_of_others, without_runs
from tvmdbg_widgets.formats.executorch.event_joins import join_by_handles
from tvmdbg_widgets.formats.executorch.file_notes import execution_of
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord

CASES = {"encode": "01_mlp_portable", "decode": "10_multi_output_list"}
ENCODE = ("permute_copy", "addmm", "gelu", "permute_copy", "addmm", "_softmax")
DECODE = ("split_with_sizes_copy", "topk", "cat", "gt")


def several() -> ETRecord:
    records = {method: record_of(name) for method, name in CASES.items()}
    return ETRecord(
        "several",
        edge_programs={method: each.edge_programs["forward"] for method, each in records.items()},
        debug_handle_map={
            method: (each.debug_handle_map or {})["forward"] for method, each in records.items()
        },
    )


def dump_of_both() -> ETDump:
    def run(kernels: Sequence[str]) -> list[Logged]:
        names = [Logged(f"native_call_{each}.out", 0, 1, at) for at, each in enumerate(kernels)]
        return [*names, Logged(value=number(1))]

    return dump_of([Logged("Method::init", 0, 1, chain=-1)], run(ENCODE), run(DECODE),
                   names=("Default", "Execute", "Execute"))  # fmt: skip


def test_runs_are_distinguished_by_their_calls() -> None:
    dump, record = dump_of_both(), several()
    assert runs_of_others(dump, record, "encode") == {2}
    assert runs_of_others(dump, record, "decode") == {1}
    assert not runs_of_others(dump, record_of("01_mlp_portable"), "forward")


def test_events_map_to_shown_method() -> None:
    dump, record = dump_of_both(), several()
    others = runs_of_others(dump, record, "decode")
    assert execution_of(dump, None, others) == 2
    own, program = without_runs(dump, others), record.edge_programs["decode"]
    nodes, issues = join_by_handles(own, record, "decode", program)
    assert not issues
    assert not any(nodes.of(event) for event in dump.events_of(1))
    (topk,) = nodes.of(dump.events_of(2)[1])
    assert program.nodes[topk].op_type == "aten.topk.default"
